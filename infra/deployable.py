"""Resource types that the emulator's CloudFormation makes, of those a Service stack may want.

An emulator check compares this list with the emulator itself.
"""

from __future__ import annotations

DEPLOYABLE = frozenset(
    {
        "AWS::ApiGateway::Account",
        "AWS::ApiGateway::Authorizer",
        "AWS::ApiGateway::Deployment",
        "AWS::ApiGateway::GatewayResponse",
        "AWS::ApiGateway::Method",
        "AWS::ApiGateway::Resource",
        "AWS::ApiGateway::RestApi",
        "AWS::ApiGateway::Stage",
        "AWS::CDK::Metadata",
        "AWS::CloudWatch::Alarm",
        "AWS::DynamoDB::Table",
        "AWS::Events::EventBus",
        "AWS::Events::Rule",
        "AWS::IAM::Policy",
        "AWS::IAM::Role",
        "AWS::Lambda::EventSourceMapping",
        "AWS::Lambda::Function",
        "AWS::Lambda::LayerVersion",
        "AWS::Lambda::Permission",
        "AWS::Logs::LogGroup",
        "AWS::Logs::MetricFilter",
        "AWS::SNS::Subscription",
        "AWS::SNS::Topic",
        "AWS::SNS::TopicPolicy",
        "AWS::SQS::Queue",
        "AWS::SQS::QueuePolicy",
        "AWS::Scheduler::Schedule",
        "AWS::SecretsManager::Secret",
    }
)
