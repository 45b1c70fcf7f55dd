"""What the three stacks are called, for those who must not import CDK to know it."""

from __future__ import annotations

DATA = "Judgment-Data"
SERVICE = "Judgment-Service"
EDGE = "Judgment-Edge"
