"""No key, prompt or answer reaches a log, an error's text, a trace or a repr, at any level."""

from __future__ import annotations

import io
import logging
import traceback
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from judgment.kit.deadline import Deadline
from judgment.llm.keys import StoredKeys
from judgment.llm.model import Answer, ModelFailure, Said
from judgment.llm.settings import ModelSettings, configured
from tests.fakes.model_trouble import Cut, Flood, HangUp, Late, Raw, Trouble, completion
from tests.fakes.model_wire import Fail, Reply, Say
from tests.unit.llm.port import Counted
from tests.unit.llm.wired import KEY, Wired, wired

PROMPT_MARK, ANSWER_MARK = "what-the-owner-wrote", "what-the-model-said"
MARKS = (KEY, PROMPT_MARK, ANSWER_MARK)
GOOD = '{"number": 3, "inner": {"label": "a b c"}}'


@pytest.fixture
def subject() -> Iterator[Wired]:
    with wired(timeout_seconds=0.6) as client:
        yield client


@pytest.fixture
def logged() -> Iterator[io.StringIO]:
    """Everything any logger says, with handlers at the root and on each talkative library."""
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(logging.Formatter("%(name)s %(levelname)s %(message)s %(args)s"))
    names = ("", "openai", "openai._base_client", "httpx", "httpcore", "httpcore.http11")
    before = {name: logging.getLogger(name).level for name in names}
    for name in names:
        logging.getLogger(name).addHandler(handler)
        logging.getLogger(name).setLevel(logging.DEBUG)
    yield written
    for name, level in before.items():
        logging.getLogger(name).removeHandler(handler)
        logging.getLogger(name).setLevel(level)


def echoing(status: int) -> Raw:
    """What some providers do: quote the request in the error."""
    text = f'{{"error": {{"message": "bad key {KEY} for {PROMPT_MARK} {ANSWER_MARK}"}}}}'
    return Raw(text.encode(), status)


REPLIES: list[Reply | Trouble] = [
    Say(GOOD),
    Say(f'{{"{ANSWER_MARK}": "{ANSWER_MARK}"}}'),
    Say(ANSWER_MARK),
    completion("", message={"refusal": ANSWER_MARK}),
    completion(ANSWER_MARK, finish_reason="length"),
    Raw(ANSWER_MARK.encode()),
    echoing(400),
    echoing(401),
    echoing(429),
    echoing(500),
    Raw(status=302, headers={"Location": f"/{ANSWER_MARK}?{PROMPT_MARK}"}),
    Fail(200, ANSWER_MARK, {"X-Said": ANSWER_MARK, "Set-Cookie": ANSWER_MARK}),
    Cut(ANSWER_MARK.encode()),
    HangUp(),
    Flood(2 * 1_048_576),
    Late(60),
]


def ask(subject: Wired) -> Answer[Counted] | ModelFailure:
    prompt = [Said("system", f"Count {PROMPT_MARK}."), Said("user", PROMPT_MARK)]
    try:
        return subject.models.ask(
            subject.choice, "summary", prompt, Counted, deadline=Deadline.after(9)
        )
    except ModelFailure as failed:
        return failed


def told(failed: BaseException) -> str:
    """All that a log could make of an error, chained ones included."""
    chain: list[BaseException] = []
    here: BaseException | None = failed
    while here is not None:
        chain.append(here)
        here = here.__cause__ or here.__context__
    texts = [repr(e) + str(e) + repr(vars(e)) for e in chain]
    return "".join([*texts, *traceback.format_exception(failed)])


@pytest.mark.promise("P2-1-accounts")
@pytest.mark.parametrize("reply", REPLIES, ids=lambda r: type(r).__name__)
def test_nothing_that_was_said_is_logged_or_in_an_error(
    subject: Wired, logged: io.StringIO, reply: Reply | Trouble
):
    subject.script(reply)
    came = ask(subject)
    assert PROMPT_MARK in subject.server.told, "the test asked indeed"
    assert KEY in str(subject.server.headers)
    words = logged.getvalue() + (told(came) if isinstance(came, ModelFailure) else repr(came))
    assert not [mark for mark in MARKS if mark in words]
    assert "openai" not in logged.getvalue()


def test_other_calls_of_the_same_libraries_are_logged_as_before(
    subject: Wired, logged: io.StringIO
):
    subject.script(Say(GOOD))
    ask(subject)
    assert "httpx" not in logged.getvalue()
    httpx.get(subject.server.url + "/v1/models")
    assert "httpx" in logged.getvalue()


@pytest.mark.promise("P2-1-accounts")
def test_no_repr_shows_a_key_or_what_was_said(subject: Wired):
    subject.script(Say(GOOD))
    answer = ask(subject)
    assert isinstance(answer, Answer)
    client: Any = subject.client(openrouter_api_key=KEY)
    config = configured(ModelSettings(openrouter_api_key=KEY))
    keys = StoredKeys(config, lambda _: KEY.encode)
    assert keys.key(subject.choice) == KEY
    shown = [
        config,
        *(answer, answer.calls, Said("user", PROMPT_MARK)),
        *(client, client._config, client._switchboard, subject.settings, keys),
    ]
    for thing in shown:
        assert not [m for m in (*MARKS, "a b c") if m in repr(thing)], type(thing)
