"""An observation: a sentence together with the numbers it is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Value = str | int | float


@dataclass(frozen=True)
class Observation:
    """`text` is `template` filled with `numbers`, always; nothing else may speak of an owner.

    `about` says what is observed: `category:<name>:<aspect>`, `signal:<name>`, `rule:<trigger>`.
    """

    about: str
    template: str
    numbers: Mapping[str, Value]

    @property
    def text(self) -> str:
        """The sentence."""
        return self.template.format_map(self.numbers)

    def to_json(self) -> dict[str, Any]:
        """The pair, for a model's input facts and for tests."""
        return {"about": self.about, "template": self.template, "numbers": dict(self.numbers)}
