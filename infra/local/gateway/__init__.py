"""The front door of the local stack: API Gateway, Lambda's runners and its event sources.

It turns HTTP into REST-proxy events, asks the authorizer, runs the doors in worker processes,
streams, polls queues, ticks schedules, and refuses what API Gateway would refuse, in the words of
`infra.gateway_responses`. It is not an emulator of SQS, EventBridge or DynamoDB: those are real
services to it, behind AWS_ENDPOINT_URL. It knows no door and no domain.
"""
