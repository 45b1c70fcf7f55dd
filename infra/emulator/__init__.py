"""Deploys the Service stack into the emulator with the real CDK command, and uses it there.

It shows that CloudFormation's view of the product is whole: routes, rights, layers, wiring. It
is no way to develop; `./dev up` is.
"""
