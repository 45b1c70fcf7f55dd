"""What must differ in front of the model: with the skill, without it, with access off, untrained.

Source: seed 000 §13, step 16. The same assertions hold for every runtime.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import httpx

from tests.e2e.agents.consulting import Consultation, consult
from tests.e2e.agents.workbench import INSTALLED
from tests.fakes.twin import GENERIC, PERSONAL, UNTRAINED, WITHOUT, context_block

if TYPE_CHECKING:
    from tests.e2e.agents.runtimes import Runtime
    from tests.e2e.running import RunningStack

Case = Literal["skill", "no skill", "access off", "untrained"]
CASES: tuple[Case, ...] = ("skill", "no skill", "access off", "untrained")
_OWNERS = {"skill": "demo", "no skill": "demo", "access off": "disabled", "untrained": "cold"}


@dataclass(frozen=True)
class Difference:
    """The check of one runtime on one stack."""

    runtime: Runtime
    stack: RunningStack
    folder: Path

    def holds(self, case: Case) -> None:
        """Consult in that case and check what the model received and said."""
        owner = self.stack.owners[_OWNERS[case]]
        seen = consult(
            self.runtime,
            self.folder,
            self.stack.api_url,
            owner.agent_key,
            skill=case != "no skill",
        )
        self._record(case, seen)
        assert len(seen.tools) == 2, "both tools are offered in every case"
        assert seen.knew_the_skill is seen.read_the_skill is (case != "no skill")
        block = self.profile_block()
        {
            "skill": self._personal,
            "no skill": self._generic,
            "access off": self._refused,
            "untrained": self._cold,
        }[case](seen, block)

    def profile_block(self) -> str:
        """The demo owner's context block, over REST."""
        reply = httpx.get(
            f"{self.stack.api_url}/api/agent/v1/profile",
            headers=self.stack.owners["demo"].agent,
            timeout=30,
        )
        return reply.raise_for_status().json()["agent_context_block"]

    @staticmethod
    def _personal(seen: Consultation, block: str) -> None:
        assert context_block("\n".join(seen.results)) == block
        assert PERSONAL in seen.answer
        assert block.strip().splitlines()[0] in seen.answer

    @staticmethod
    def _generic(seen: Consultation, block: str) -> None:
        assert seen.results == ()
        assert block.strip().splitlines()[0] not in seen.told
        assert GENERIC in seen.answer

    @staticmethod
    def _refused(seen: Consultation, block: str) -> None:
        assert "profile_access_disabled" in "\n".join(seen.results)
        assert context_block("\n".join(seen.results)) is None
        assert WITHOUT in seen.answer

    @staticmethod
    def _cold(seen: Consultation, block: str) -> None:
        assert context_block("\n".join(seen.results)) == ""
        assert UNTRAINED in seen.answer

    def _record(self, case: Case, seen: Consultation) -> None:
        """Keep what was received, for a person to read: `.local/agents/received/`."""
        folder = INSTALLED / "received" / self.runtime.name.replace(" ", "-").lower()
        folder.mkdir(parents=True, exist_ok=True)
        facts = {
            "knew_the_skill": seen.knew_the_skill,
            "read_the_skill": seen.read_the_skill,
            "tools": seen.tools,
            "turns": len(seen.turns),
            "told_characters": len(seen.turns[0].told),
            "results": [result[:4_000] for result in seen.results],
            "answer": seen.answer,
        }
        (folder / f"{case.replace(' ', '-')}.json").write_text(json.dumps(facts, indent=1))
