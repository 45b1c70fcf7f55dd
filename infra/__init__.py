"""Where the product runs: the catalogue of doors, the CDK stacks built from it, the local stack.

`aws_cdk` is imported here and nowhere else; `infra.local` imports no CDK.
"""
