"""The adapter of the port `ChatModels` for every OpenAI-compatible endpoint.

A model is asked with tools; one that has none is asked for a text or a call by a schema. Which
models take neither tools, nor a schema, nor a count of tokens while they stream is learned from
their refusals, which cost nothing, and remembered by this process. Nothing is tried again but what
was refused for its form: whether to ask once more is the turn's to decide.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from judgment.llm.calling import RESERVE_SECONDS, Patience, Switchboard, cost_of
from judgment.llm.chat import ChatFailure, ChatMessage, Completed, TextPiece, ToolUse
from judgment.llm.chat_body import streaming_body
from judgment.llm.completion import MOST_TOKENS, Usage
from judgment.llm.model import ModelCall, ModelFailure
from judgment.llm.structured_tools import WrongShape, answered, repair, structured_body
from judgment.llm.trouble_words import Failure, told

if TYPE_CHECKING:
    from judgment.contract.models import ModelRole
    from judgment.kit.deadline import Deadline
    from judgment.llm.chat import ToolOffer
    from judgment.llm.chat_line import ChatLine, Refused
    from judgment.llm.chat_stream import Heard
    from judgment.llm.keys import ModelKeys
    from judgment.llm.model import FailureCode, ModelChoice, Outcome
    from judgment.llm.settings import ModelsConfigured

REMEMBERED = 200
LINGER_SECONDS = 5.0
"""How long, at most, an answer that has ended is listened to for its tokens."""
_SCHEMA_WORDS = ("response_format", "json_schema", "structured output", "structured_output")

Stopped = Callable[[], bool]


class ChatClient:
    """Conversing models by the operator's settings and owners' choices."""

    def __init__(self, config: ModelsConfigured, keys: ModelKeys, patience: Patience | None = None):
        self._config = config
        self._patience = patience or Patience(config.timeout_seconds)
        self._switchboard = Switchboard(config, keys, self._patience)
        self._learned: set[tuple[str, str]] = set()

    def choice(self, role: ModelRole, own: ModelChoice | None = None) -> ModelChoice | None:
        """As the port: the owner's own choice, else the operator's, else None."""
        return own or self._config.roles.get(role)

    def ready(self, choice: ModelChoice) -> bool:
        """As the port."""
        return self._switchboard.reaches(choice)

    def window(self, choice: ModelChoice) -> int:
        """As the port."""
        return self._config.window(choice)

    def converse(
        self,
        choice: ModelChoice,
        role: ModelRole,
        messages: Sequence[ChatMessage],
        tools: Sequence[ToolOffer],
        *,
        deadline: Deadline,
        stopped: Stopped = lambda: False,
    ) -> Iterator[TextPiece | Completed]:
        """As the port. Raises ChatFailure."""
        from judgment.llm.chat_line import ChatLine
        from judgment.llm.streaming_transport import NobodyListens

        account = _Account(role, choice, self._config, self._patience.monotonic)
        try:
            reach = self._switchboard.reach(choice)
        except ModelFailure:
            raise account.failure("not_configured", Failure("missing credential")) from None
        with ChatLine(reach, stopped, self._patience.monotonic) as line:
            asking = _Asking(line, choice, messages, tools, account, self._seconds(deadline), self)
            try:
                yield from asking.answer()
            except NobodyListens:
                return

    def knows(self, choice: ModelChoice, what: str) -> bool:
        """Whether the model is known not to take that."""
        return (choice.label, what) in self._learned

    def learn(self, choice: ModelChoice, what: str) -> None:
        """Remember that it does not."""
        if len(self._learned) >= REMEMBERED:
            self._learned.clear()
        self._learned.add((choice.label, what))

    def has_tools(self, choice: ModelChoice) -> bool:
        """Whether tools go beside the prompt."""
        return not (self._config.without_tools(choice) or self.knows(choice, "tools"))

    def _seconds(self, deadline: Deadline) -> Callable[[], float]:
        """How long the next piece may take."""
        longest = self._patience.timeout_seconds
        return lambda: min(longest, deadline.remaining() - RESERVE_SECONDS)


class _Account:
    """What an answer costs, from when it was asked for."""

    def __init__(
        self,
        role: ModelRole,
        choice: ModelChoice,
        config: ModelsConfigured,
        monotonic: Callable[[], float],
    ):
        self._role: ModelRole = role
        self._choice = choice
        self._price = config.price(choice)
        self._monotonic = monotonic
        self._begun = monotonic()
        self.usage: Usage | None = None

    def add(self, usage: Usage | None) -> None:
        """Tokens that a provider counted; those of several requests are added up."""
        if usage is None:
            return
        before = self.usage or Usage()
        self.usage = Usage(
            min(before.prompt_tokens + usage.prompt_tokens, MOST_TOKENS),
            min(before.completion_tokens + usage.completion_tokens, MOST_TOKENS),
        )

    def call(self, outcome: Outcome) -> ModelCall:
        """The call as it is accounted."""
        used = self.usage or Usage()
        passed = round(1000 * (self._monotonic() - self._begun))
        return ModelCall(
            role=self._role,
            provider=self._choice.provider,
            model=self._choice.model,
            prompt_tokens=used.prompt_tokens,
            completion_tokens=used.completion_tokens,
            cost_usd=cost_of(self.usage, self._price),
            milliseconds=min(max(passed, 0), MOST_TOKENS),
            outcome=outcome,
        )

    def failure(self, code: FailureCode, failure: Failure) -> ChatFailure:
        """The failure as the turn hears of it."""
        trouble, message = told(failure)
        return ChatFailure(trouble, message, self.call(code))


@dataclass
class _Asking:
    """One `converse`: requests until one is taken, then its answer."""

    line: ChatLine
    choice: ModelChoice
    messages: Sequence[ChatMessage]
    tools: Sequence[ToolOffer]
    account: _Account
    patience: Callable[[], float]
    client: ChatClient

    def answer(self) -> Iterator[TextPiece | Completed]:
        """The pieces and the end. Raises ChatFailure, NobodyListens."""
        from judgment.llm.chat_line import Refused
        from judgment.llm.chat_stream import StreamFailed

        while True:
            way = self._streamed if self.client.has_tools(self.choice) else self._structured
            told_any = False
            try:
                for piece in way():
                    told_any = True
                    yield piece
            except Refused as refused:
                if not told_any and self._learns_from(refused):
                    continue
                raise self.account.failure(refused.code, refused.failure) from None
            except StreamFailed as failed:
                raise self.account.failure("provider_error", failed.failure) from None
            return

    def _streamed(self) -> Iterator[TextPiece | Completed]:
        from judgment.llm.chat_line import Refused
        from judgment.llm.chat_stream import Heard

        counted = not self.client.knows(self.choice, "stream_options")
        body = streaming_body(self.messages, self.tools, counted=counted)
        heard, said = Heard(), list[str]()
        try:
            for text in self._texts(body, heard):
                said.append(text)
                yield TextPiece(text)
        except Refused as refused:
            if not heard.ended or refused.code not in ("timeout", "unreachable"):
                raise  # else all was said, and only the tokens are not counted
        finally:
            self.account.add(heard.usage)
        if not heard.ended and not heard.is_message:
            raise Refused("provider_error", Failure("the stream broke off"))
        yield self._completed("".join(said), heard.calls.finished(), heard)

    def _texts(self, body: dict[str, object], heard: Heard) -> Iterator[str]:
        """What is said, none of it empty, while `heard` takes in the rest."""

        def patience() -> float:
            return min(self.patience(), LINGER_SECONDS) if heard.ended else self.patience()

        asked = {"model": self.choice.model, **body}
        for one in self.line.objects(asked, patience):
            if text := heard.take(one):
                yield text
        if text := heard.rest():
            yield text

    def _structured(self) -> Iterator[TextPiece | Completed]:
        """One object for an answer, asked for once more where it has another shape."""
        told_of = list(self.messages)
        for attempt in (1, 2):
            text, heard = self._whole(told_of)
            if not text.strip():
                yield self._completed("", (), heard)
                return
            try:
                answer = answered(text, self.tools, f"call_{secrets.token_hex(8)}")
            except WrongShape as wrong:
                if attempt == 2:
                    break
                told_of += [ChatMessage("assistant", text), ChatMessage("user", repair(str(wrong)))]
                continue
            if isinstance(answer, ToolUse):
                yield self._completed("", (answer,), heard)
                return
            if answer:
                yield TextPiece(answer)
            yield self._completed(answer, (), heard)
            return
        raise self.account.failure("invalid_output", Failure("the answer has no usable form"))

    def _whole(self, messages: Sequence[ChatMessage]) -> tuple[str, Heard]:
        from judgment.llm.chat_stream import Heard

        with_schema = not self.client.knows(self.choice, "schemas")
        body = structured_body(messages, self.tools, with_schema=with_schema)
        heard = Heard()
        text = "".join(self._texts(body, heard))
        self.account.add(heard.usage)
        return text, heard

    def _completed(self, text: str, calls: tuple[ToolUse, ...], heard: Heard) -> Completed:
        version = self.choice.version(heard.model)
        return Completed(text, calls, heard.reason, self.account.call("ok"), version)

    def _learns_from(self, refused: Refused) -> bool:
        """Whether asking in another form may help; each form is given up once."""
        if not refused.of_the_request:
            return False
        said = refused.failure.text
        for what, words in _FORMS:
            if any(word in said for word in words) and not self.client.knows(self.choice, what):
                if what == "tools" and not self.tools:
                    continue
                self.client.learn(self.choice, what)
                return True
        return False


_FORMS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("stream_options", ("stream_options", "include_usage")),
    (
        "tools",
        (
            *("not support tools", "tools are not supported", "tool use is not supported"),
            *("not support tool", "does not support function", "tool calling is not supported"),
            *("found that support tool use", "enable-auto-tool-choice", "tools param requires"),
        ),
    ),
    ("schemas", _SCHEMA_WORDS),
)
