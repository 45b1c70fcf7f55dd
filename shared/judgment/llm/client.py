"""The adapter of the port `Models` for every OpenAI-compatible endpoint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from judgment.llm.answering import Asking, Heard, Unheard, schema_text
from judgment.llm.calling import Caller, Patience, Switchboard, sendable
from judgment.llm.completion import read_completion
from judgment.llm.schema import schema_of

if TYPE_CHECKING:
    from pydantic import BaseModel

    from judgment.contract.models import ModelRole
    from judgment.kit.deadline import Deadline
    from judgment.llm.keys import ModelKeys
    from judgment.llm.line import Trouble
    from judgment.llm.model import Answer, Check, ModelChoice, Said, Shape
    from judgment.llm.settings import ModelsConfigured

REMEMBERED_MODELS = 100


class ModelClient:
    """Models by the operator's settings and owners' choices.

    Which models take no schema beside the prompt is learned from their refusal, which costs
    nothing, and remembered by this process.
    """

    def __init__(self, config: ModelsConfigured, keys: ModelKeys, patience: Patience | None = None):
        self._config = config
        self._patience = patience or Patience(config.timeout_seconds)
        self._switchboard = Switchboard(config, keys, self._patience)
        self._without_schemas: set[str] = set()

    def choice(self, role: ModelRole, own: ModelChoice | None = None) -> ModelChoice | None:
        """As the port: the owner's own choice, else the operator's, else None."""
        return own or self._config.roles.get(role)

    def ready(self, choice: ModelChoice) -> bool:
        """As the port."""
        return self._switchboard.reaches(choice)

    def ask(
        self,
        choice: ModelChoice,
        role: ModelRole,
        prompt: Sequence[Said],
        shape: type[Shape],
        *,
        deadline: Deadline,
        check: Check[Shape] | None = None,
    ) -> Answer[Shape]:
        """As the port. Raises ModelFailure, at the latest a second before the deadline."""
        with self._switchboard.connected(role, choice) as caller:
            question = _Question(caller, choice, shape, deadline, self)
            asking = Asking(
                question.attempt, lambda wait: self._patience.pause(deadline, wait), shape, check
            )
            return asking.answer(prompt)

    def seconds(self, deadline: Deadline) -> float:
        """For one more call; 0 when it is too late."""
        return self._patience.seconds(deadline)

    def takes_schemas(self, choice: ModelChoice) -> bool:
        """Whether the model is not known to refuse them."""
        return choice.label not in self._without_schemas

    def refuses_schemas(self, choice: ModelChoice) -> None:
        """Remember that it does."""
        if len(self._without_schemas) >= REMEMBERED_MODELS:
            self._without_schemas.clear()
        self._without_schemas.add(choice.label)


@dataclass(frozen=True)
class _Question:
    """One `ask`: how a prompt becomes a body, and what comes back becomes Heard or Unheard."""

    caller: Caller
    choice: ModelChoice
    shape: type[BaseModel]
    deadline: Deadline
    client: ModelClient

    def attempt(self, prompt: Sequence[Said]) -> Heard | Unheard:
        from judgment.llm.line import Received

        seconds = self.client.seconds(self.deadline)
        if seconds == 0:
            return Unheard("timeout", None)
        with_schema = self.client.takes_schemas(self.choice)
        body = _body(prompt, self.shape, with_schema=with_schema)
        received = self.caller.post("chat", body, seconds)
        if not isinstance(received, Received):
            return self._trouble(received, with_schema=with_schema)
        completion = read_completion(received.body)
        if completion.failure is not None:
            call = self.caller.call(completion.failure, completion.usage)
            return Unheard(completion.failure, call)
        version = self.choice.version(completion.model)
        return Heard(completion.text, version, self.caller.call("ok", completion.usage))

    def _trouble(self, trouble: Trouble, *, with_schema: bool) -> Unheard:
        call = self.caller.call(trouble.code)
        if trouble.no_schemas and with_schema:
            self.client.refuses_schemas(self.choice)
            return Unheard(trouble.code, call, otherwise=True)
        return Unheard(trouble.code, call, trouble.again, trouble.retry_after_seconds)


def _body(prompt: Sequence[Said], shape: type[BaseModel], *, with_schema: bool) -> dict[str, Any]:
    """The request's messages, and the answer's schema beside them or in the first of them."""
    messages = [{"role": said.speaker, "content": sendable(said.text)} for said in prompt]
    if not with_schema:
        if messages and messages[0]["role"] == "system":
            messages[0]["content"] += "\n\n" + schema_text(shape)
        else:
            messages.insert(0, {"role": "system", "content": schema_text(shape)})
        return {"messages": messages}
    answer = schema_of(shape)
    wanted = {"name": answer.name, "schema": answer.schema, "strict": answer.strict}
    return {
        "messages": messages,
        "response_format": {"type": "json_schema", "json_schema": wanted},
    }
