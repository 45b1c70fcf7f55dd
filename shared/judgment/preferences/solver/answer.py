"""A solution as JSON values and as text: the same solution, the same bytes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from judgment.preferences.solver.words import words

if TYPE_CHECKING:
    from judgment.preferences.solver.solving import Solution


def solution_object(
    solution: Solution, *, trace: bool = True, in_words: bool = False
) -> dict[str, Any]:
    """The ranking, what is out and why, ties, and who was not heard of each ranked option.

    `trace` adds every number and the opinions it rests on: of each participant those on keys that
    some option names, as weight, confidence and staleness, and nothing else of them. `in_words`
    adds the lines. Without either the answer grows with the options alone, but for the silent.
    """
    inputs = solution.trace["inputs"]
    titles = {one["id"]: one["title"] for one in inputs["options"]}
    answer: dict[str, Any] = {
        "policy": inputs["policy"],
        "digest": solution.trace["digest"],
        "ranking": [
            {
                "option": one.option,
                "title": titles[one.option],
                "rank": one.rank,
                "score": one.score,
                "heard": one.heard,
                "of": one.of,
                "silent": solution.trace["options"][one.option]["silent"],
            }
            for one in solution.ranking
        ],
        "excluded": [
            {"option": one.option, "title": titles[one.option], "reasons": list(one.reasons)}
            for one in solution.excluded
        ],
        "ties": solution.trace["ties"],
        "tie_break": solution.trace["tie_break"],
    }
    if trace:
        answer["trace"] = solution.trace
    if in_words:
        answer["words"] = words(solution.trace)
    return answer


def solution_json(solution: Solution, *, trace: bool = True, in_words: bool = False) -> str:
    """`solution_object` in canonical JSON: sorted keys, no spaces, one line with its end."""
    value = solution_object(solution, trace=trace, in_words=in_words)
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False) + "\n"
