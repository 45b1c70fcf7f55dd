"""What `public` touches: nothing but the skills in its own package."""

from __future__ import annotations

import os
from dataclasses import dataclass

from judgment.entry.observability import Telemetry
from judgment.entry.skill import Skill, load_skills
from judgment.kit.settings import read_settings


@dataclass(frozen=True)
class Settings:
    """Environment of `public`: the address that its pages tell agents to call."""

    api_url: str


def wire() -> tuple[tuple[Skill, ...], str, Telemetry]:
    """The door's parts. Raises SettingError."""
    settings = read_settings(Settings, os.environ)
    return load_skills(), settings.api_url.rstrip("/"), Telemetry("public")
