"""From what a model said to an answer: read, validated, complained of once, or given up.

The part of `Models.ask` that is the same whatever speaks, so that the fake of the port cannot
behave otherwise than the client: at most one more attempt after a transient failure, at most one
repair, each call accounted for.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic

from pydantic import ValidationError

from judgment.llm.model import (
    Answer,
    Check,
    FailureCode,
    ModelCall,
    ModelFailure,
    Said,
    Shape,
)
from judgment.llm.schema import property_names, schema_of

_SAID_SAFELY = frozenset(
    {
        *("missing", "extra_forbidden", "json_invalid", "literal_error", "enum", "none_required"),
        *("string_type", "int_type", "float_type", "bool_type", "list_type", "dict_type"),
        *("model_type", "int_from_float", "int_parsing", "float_parsing", "bool_parsing"),
        *("string_too_short", "string_too_long", "string_pattern_mismatch", "finite_number"),
        *("too_short", "too_long", "multiple_of", "union_tag_not_found"),
        *("greater_than", "greater_than_equal", "less_than", "less_than_equal"),
    }
)
"""Pydantic's errors whose words hold nothing of the input."""
SHOWN_COMPLAINTS = 20
SHOWN_CHARACTERS = 300


@dataclass(frozen=True)
class Heard:
    """One successful call: what was said, by which model (`provider:model`), at what cost."""

    text: str = field(repr=False)
    model_version: str
    call: ModelCall


@dataclass(frozen=True)
class Unheard:
    """One call that brought nothing. `call` is None where none was made.

    `again` says whether the same request may fare better, `retry_after_seconds` how soon at the
    earliest, where the provider said so. `otherwise`: the request was not understood, and whoever
    attempts has learned to put it in another way; that may happen once in an ask.
    """

    code: FailureCode
    call: ModelCall | None
    again: bool = False
    retry_after_seconds: float | None = None
    otherwise: bool = False


Attempt = Callable[[Sequence[Said]], "Heard | Unheard"]
Pause = Callable[["float | None"], bool]
"""Waits before the second attempt, for the seconds a provider asked for; False: no time is left."""


@dataclass
class Asking(Generic[Shape]):
    """One `ask` on its way; used once."""

    attempt: Attempt
    pause: Pause
    shape: type[Shape]
    check: Check[Shape] | None = None
    calls: list[ModelCall] = field(default_factory=list[ModelCall])
    attempts_left: int = 2

    def answer(self, prompt: Sequence[Said]) -> Answer[Shape]:
        """The answer to the prompt. Raises ModelFailure with every call that was made."""
        heard = self._hear(prompt)
        value, complaints = read_answer(heard.text, self.shape, self.check)
        if value is None:
            self._wrong()
            told = Said("user", repair_text(complaints, self.shape))
            heard = self._hear((*prompt, Said("assistant", heard.text), told))
            value, complaints = read_answer(heard.text, self.shape, self.check)
        if value is None:
            self._wrong()
            raise ModelFailure("invalid_output", self.calls, complaints=complaints)
        return Answer(value, heard.model_version, tuple(self.calls))

    def _hear(self, prompt: Sequence[Said]) -> Heard:
        while True:
            heard = self.attempt(prompt)
            if heard.call is not None:
                self.calls.append(heard.call)
            if isinstance(heard, Heard):
                return heard
            if heard.otherwise:
                continue
            self.attempts_left -= 1
            wait = heard.retry_after_seconds
            if not (heard.again and self.attempts_left and self.pause(wait)):
                raise ModelFailure(heard.code, self.calls, retry_after_seconds=wait)

    def _wrong(self) -> None:
        self.calls[-1] = replace(self.calls[-1], outcome="invalid_output")


def read_answer(
    text: str, shape: type[Shape], check: Check[Shape] | None = None
) -> tuple[Shape | None, tuple[str, ...]]:
    """The validated value, or None and what is wrong with it, in words fit for the model."""
    bare = _without_fence(text)
    try:
        _refuse_odd_json(bare)
        value = shape.model_validate_json(bare)
    except ValidationError as error:
        return None, _complaints(error, shape)
    except (ValueError, RecursionError) as error:
        return None, (f"not JSON of this schema: {type(error).__name__}",)
    complaints = tuple(check(value)) if check else ()
    return (None, complaints) if complaints else (value, ())


def repair_text(complaints: Sequence[str], shape: type[Shape]) -> str:
    """What a model is told about its wrong answer; nothing but the complaints and the schema."""
    listed = "\n".join(f"- {c[:SHOWN_CHARACTERS]}" for c in complaints[:SHOWN_COMPLAINTS])
    return (
        f"That answer cannot be used:\n{listed}\n"
        "Answer again. Mend exactly this and keep the rest.\n" + schema_text(shape)
    )


def schema_text(shape: type[Shape]) -> str:
    """The shape in words, for a provider that takes no schema beside the prompt."""
    schema = json.dumps(schema_of(shape).schema, ensure_ascii=False, separators=(",", ":"))
    return (
        f"Answer with one JSON object alone, no other text, that fits this JSON Schema:\n{schema}"
    )


def _complaints(error: ValidationError, shape: type[Shape]) -> tuple[str, ...]:
    """Where and why, without a word of the answer: its own keys and values are left out."""
    known = property_names(shape)
    found: list[str] = []
    for problem in error.errors(include_url=False, include_context=False, include_input=False):
        place = ".".join(
            str(p) if isinstance(p, int) or p in known else "?" for p in problem["loc"]
        )
        kind = problem["type"]
        why = problem["msg"] if kind in _SAID_SAFELY else f"is not valid ({kind})"
        found.append(f"{place or 'answer'}: {why}")
    return tuple(dict.fromkeys(found))


def _without_fence(text: str) -> str:
    bare = text.strip()
    if bare.startswith("```") and bare.endswith("```") and "\n" in bare:
        return bare[bare.index("\n") : -3].strip()
    return bare


def _refuse_odd_json(text: str) -> None:
    """Numbers that are none, the character no database text can hold. Raises ValueError."""

    def number(written: str) -> float:
        value = float(written)
        if not math.isfinite(value):
            raise ValueError("a number out of range")
        return value

    def constant(written: str) -> Any:
        raise ValueError("not a number of JSON")

    if "\\u0000" in text:
        raise ValueError("a NUL character")
    json.loads(text, parse_float=number, parse_constant=constant)
