"""The client of OpenAI-compatible providers: the port's promises, and the wire's many troubles."""

from __future__ import annotations

import json
import time
import zlib
from collections.abc import Iterator

import pytest

from judgment.kit.deadline import Deadline
from judgment.llm.model import FailureCode, ModelChoice, ModelFailure, Said
from judgment.llm.transport import ANSWER_BYTES
from tests.fakes.model_trouble import Cut, Drip, Flood, HangUp, Late, Raw, Trouble, completion
from tests.fakes.model_wire import Fail, Reply
from tests.unit.llm.port import GOOD, PROMPT, Counted, ModelsPort, ask, failure
from tests.unit.llm.wired import KEY, Wired, wired


@pytest.fixture
def subject() -> Iterator[Wired]:
    with wired() as client:
        yield client


class TestModelClient(ModelsPort):
    """The client keeps what the port promises."""


@pytest.mark.promise("P2-1")
def test_a_request_holds_the_model_the_messages_and_the_answers_schema_and_nothing_else(
    subject: Wired,
):
    ask(subject)
    [turn] = subject.server.turns
    assert turn.body.keys() == {"model", "messages", "response_format"}
    assert turn.body["model"] == "fake-model"
    assert turn.body["messages"] == [
        {"role": "system", "content": "You count."},
        {"role": "user", "content": "How many?"},
    ]
    wanted = turn.body["response_format"]
    assert wanted["type"] == "json_schema"
    assert (wanted["json_schema"]["name"], wanted["json_schema"]["strict"]) == ("Counted", True)


def test_no_header_says_more_than_it_must(subject: Wired, monkeypatch: pytest.MonkeyPatch):
    for name, value in (
        ("OPENAI_ORG_ID", "our-org"),
        ("OPENAI_PROJECT_ID", "our-project"),
        ("OPENAI_CUSTOM_HEADERS", "X-Ours: yes"),
        ("OPENAI_API_KEY", "another-key"),
        ("OPENAI_ADMIN_KEY", "admin-key"),
        ("HTTP_PROXY", "http://127.0.0.1:1"),
    ):
        monkeypatch.setenv(name, value)
    ask(subject)
    [headers] = subject.server.headers
    assert {name.lower() for name in headers} == {
        *("host", "accept", "accept-encoding", "content-type", "content-length"),
        *("user-agent", "authorization"),
    }
    assert headers["Authorization"] == f"Bearer {KEY}"


def test_without_a_key_none_is_sent(subject: Wired):
    subject.keys.given = None
    ask(subject)
    assert "Authorization" not in subject.server.headers[0]


@pytest.mark.promise("P2-1")
@pytest.mark.parametrize("status", [400, 422])
def test_a_provider_that_takes_no_schema_gets_it_in_the_prompt_and_is_remembered(
    subject: Wired, status: int
):
    subject.script(Fail(status, "Unsupported parameter: response_format"), GOOD)
    answer = ask(subject)
    assert [call.outcome for call in answer.calls] == ["provider_error", "ok"]
    first, second = subject.server.turns
    assert "response_format" in first.body
    assert "response_format" not in second.body
    assert '"number"' in second.body["messages"][0]["content"]
    assert second.body["messages"][0]["content"].startswith("You count.")
    assert "response_format" not in (ask(subject), subject.server.turns[-1])[1].body


def test_a_refused_schema_costs_no_attempt(subject: Wired):
    refused = Fail(400, "json_schema is not supported")
    subject.script(refused, Fail(500), GOOD)
    answer = ask(subject)
    assert [call.outcome for call in answer.calls] == ["provider_error", "provider_error", "ok"]


def test_a_provider_that_refuses_without_a_schema_too_is_given_up(subject: Wired):
    subject.script(Fail(400, "response_format"))
    assert [call.outcome for call in failure(subject).calls] == ["provider_error"] * 2


def test_another_complaint_about_the_request_is_no_reason_to_repeat_it(subject: Wired):
    subject.script(Fail(400, "The prompt is too long."))
    assert [call.outcome for call in failure(subject).calls] == ["provider_error"]


def test_a_prompt_without_a_system_message_gets_the_schema_in_one(subject: Wired):
    subject.script(Fail(400, "response_format"), GOOD)
    subject.models.ask(
        subject.choice, "summary", [Said("user", "Go.")], Counted, deadline=Deadline.after(9)
    )
    assert [m["role"] for m in subject.server.turns[1].body["messages"]] == ["system", "user"]


def moved(place: str) -> Raw:
    return Raw(status=307, headers={"Location": place})


def said_in(charset: str) -> Raw:
    body = zlib.compress(b"x" * 9_999_999)
    return Raw(body, status=400, headers={"Content-Type": f"text/plain; charset={charset}"})


TROUBLES: list[tuple[str, Reply | Trouble, FailureCode, int]] = [
    ("a body that ends too early", Cut(), "unreachable", 2),
    ("a closed connection", HangUp(), "unreachable", 2),
    ("truncated JSON", Raw(b'{"choices": [{"mess'), "provider_error", 1),
    ("no JSON", Raw(b"<html>Bad gateway</html>", headers={}), "provider_error", 1),
    ("JSON said to be HTML", Raw(b"x", headers={"Content-Type": "text/html"}), "provider_error", 1),
    ("an empty body", Raw(b""), "provider_error", 1),
    ("a list", Raw(b"[]"), "provider_error", 1),
    ("deep JSON", Raw(b"[" * 200_000), "provider_error", 1),
    ("bytes that are no text", Raw(b'{"choices": "\xff\xfe"}'), "provider_error", 1),
    ("an object without choices", Raw(b"{}"), "provider_error", 1),
    ("no choice", Raw(b'{"choices": []}'), "provider_error", 1),
    ("choices of a wrong type", Raw(b'{"choices": {"0": 1}}'), "provider_error", 1),
    ("a choice of a wrong type", Raw(b'{"choices": ["x"]}'), "provider_error", 1),
    ("a message of a wrong type", completion(message=[]), "provider_error", 1),
    ("content of a wrong type", completion({"number": 3}), "provider_error", 1),
    ("an error within status 200", Raw(b'{"error": {"code": 502}}'), "provider_error", 2),
    ("a rate limit within status 200", Raw(b'{"error": {"code": 429}}'), "rate_limited", 2),
    ("an error for a reason", completion("{", finish_reason="error"), "provider_error", 1),
    ("no content", completion(None), "empty", 1),
    ("white space", completion(" \n\t"), "empty", 1),
    ("a call of a tool", completion(None, finish_reason="tool_calls"), "empty", 1),
    ("a refusal", completion("", message={"refusal": "I won't."}), "refused", 1),
    ("a filter", completion("{}", finish_reason="content_filter"), "refused", 1),
    ("an answer cut at its length", completion("{", finish_reason="length"), "truncated", 1),
    ("10 MB", Flood(10_485_760), "too_large", 1),
    ("10 MB without a length", Flood(10_485_760, announced=False), "too_large", 1),
    ("10 MB within status 500", Raw(b"x" * 10_485_760, status=500), "too_large", 1),
    ("gzip", Raw(b"\x1f\x8b", headers={"Content-Encoding": "gzip"}), "too_large", 1),
    ("401", Fail(401), "unauthorized", 1),
    ("403", Fail(403), "unauthorized", 1),
    ("402", Fail(402), "provider_error", 1),
    ("404", Fail(404), "provider_error", 1),
    ("408", Fail(408), "provider_error", 2),
    ("429", Fail(429), "rate_limited", 2),
    ("500", Fail(500), "provider_error", 2),
    ("529", Fail(529), "provider_error", 2),
    (
        "a redirect",
        Raw(status=302, headers={"Location": "/v1/chat/completions"}),
        "provider_error",
        1,
    ),
    (
        "a redirect elsewhere",
        Raw(status=307, headers={"Location": "http://[::1]:1/"}),
        "provider_error",
        1,
    ),
    ("an error in a codec that raises", said_in("idna"), "provider_error", 1),
    ("an error in a codec of bytes", said_in("rot13"), "provider_error", 1),
    ("an error in a codec that unpacks", said_in("zlib"), "provider_error", 1),
    ("a status nobody knows", Raw(status=299), "provider_error", 1),
    ("no content by its status", Raw(status=204, headers={}), "provider_error", 1),
]


@pytest.mark.promise("P2-1", "P2-refuse-provider")
@pytest.mark.parametrize(
    ("reply", "code", "calls"), [pytest.param(*t[1:], id=t[0]) for t in TROUBLES]
)
def test_whatever_a_provider_does_ends_in_one_word_and_every_call_is_on_the_record(
    subject: Wired, reply: Reply | Trouble, code: FailureCode, calls: int
):
    subject.script(reply)
    failed = failure(subject)
    assert failed.code == code
    assert [call.outcome for call in failed.calls] == [code] * calls
    assert len(subject.server.turns) == calls
    assert failed.__cause__ is None
    assert failed.__context__ is None


def test_nobody_there_is_unreachable(subject: Wired):
    models = subject.client(openai_compatible_base_url="http://127.0.0.1:1/v1")
    with pytest.raises(ModelFailure) as caught:
        models.ask(subject.choice, "summary", PROMPT, Counted, deadline=Deadline.after(9))
    assert [call.outcome for call in caught.value.calls] == ["unreachable"] * 2


@pytest.mark.parametrize("host", ["nobody.invalid", "a..b", "x" * 80 + ".invalid"])
def test_a_name_that_cannot_be_resolved_is_unreachable(subject: Wired, host: str):
    models = subject.client(openai_compatible_base_url=f"http://{host}/v1")
    with pytest.raises(ModelFailure) as caught:
        models.ask(subject.choice, "summary", PROMPT, Counted, deadline=Deadline.after(9))
    assert caught.value.code in ("unreachable", "timeout")


def test_the_largest_answer_that_is_read_is_a_mebibyte(subject: Wired):
    head = completion(GOOD + " ").body
    fill = b" " * (ANSWER_BYTES - len(head))
    subject.script(Raw(head + fill))
    assert ask(subject).value.number == 3
    subject.script(Raw(head + fill + b" "))
    assert failure(subject).code == "too_large"


SLOW: list[Trouble] = [Late(60), Drip(0.05), Drip(0.05, in_head=True)]


@pytest.mark.promise("P2-1", "P2-refuse-provider")
@pytest.mark.parametrize("reply", SLOW, ids=["late", "drip", "dripping head"])
def test_a_slow_provider_is_left_in_time_however_it_is_slow(reply: Trouble):
    with wired(timeout_seconds=0.6) as subject:
        subject.script(reply)
        begun = time.monotonic()
        failed = failure(subject, left=30.0)
        assert time.monotonic() - begun < 5
        assert [call.outcome for call in failed.calls] == ["timeout"] * 2
        assert all(500 <= call.milliseconds < 2_000 for call in failed.calls)


@pytest.mark.promise("P2-refuse-provider")
@pytest.mark.parametrize("reply", SLOW, ids=["late", "drip", "dripping head"])
def test_the_deadline_goes_before_the_timeout_and_a_second_is_left_of_it(
    subject: Wired, reply: Trouble
):
    subject.script(reply)
    deadline = Deadline.after(1.8)
    with pytest.raises(ModelFailure) as caught:
        subject.models.ask(subject.choice, "summary", PROMPT, Counted, deadline=deadline)
    assert deadline.remaining() > 0.5
    assert [call.outcome for call in caught.value.calls] == ["timeout"]


def test_a_repair_for_which_there_is_no_time_is_not_asked_for(subject: Wired):
    left = iter([20.0, 1.2, 1.2, 1.2])
    subject.script("wrong", GOOD)
    with pytest.raises(ModelFailure) as caught:
        subject.models.ask(
            subject.choice, "summary", PROMPT, Counted, deadline=Deadline(lambda: next(left))
        )
    assert caught.value.code == "timeout"
    assert [call.outcome for call in caught.value.calls] == ["invalid_output"]


@pytest.mark.parametrize(
    ("header", "naps"),
    [("3", [3.0]), ("0", [0.0]), ("-5", [0.0]), ("soon", [0.5]), ("nan", [0.5]), ("", [0.5])],
)
def test_the_wait_a_provider_asks_for_is_kept(subject: Wired, header: str, naps: list[float]):
    subject.script(Fail(429, headers={"Retry-After": header}), GOOD)
    ask(subject)
    assert subject.slept.naps == naps


@pytest.mark.parametrize("header", ["60", "1e300", "Fri, 31 Dec 9999 23:59:59 GMT"])
def test_a_wait_that_does_not_fit_is_handed_on(subject: Wired, header: str):
    subject.script(Fail(503, headers={"Retry-After": header}), GOOD)
    failed = failure(subject, left=20.0)
    assert subject.slept.naps == []
    assert failed.retry_after_seconds is not None
    assert failed.retry_after_seconds >= 60
    assert len(failed.calls) == 1


@pytest.mark.parametrize(
    ("usage", "tokens", "cost"),
    [
        (None, (0, 0), None),
        ({}, (0, 0), None),
        ({"prompt_tokens": 1_000_000, "completion_tokens": 0}, (1_000_000, 0), 40.0),
        ({"prompt_tokens": -5, "completion_tokens": "7"}, (0, 0), 0.0),
        ({"prompt_tokens": True, "completion_tokens": 1.5}, (0, 0), 0.0),
        ({"prompt_tokens": 10**30}, (2**31 - 1, 0), pytest.approx(85899.34588)),
        ([1], (0, 0), None),
    ],
)
def test_tokens_are_what_the_provider_counted_and_nothing_where_it_did_not(
    subject: Wired, usage: object, tokens: tuple[int, int], cost: float | None
):
    body = json.loads(completion(GOOD).body) | {"usage": usage}
    subject.script(Raw(json.dumps(body).encode()))
    [call] = ask(subject).calls
    assert (call.prompt_tokens, call.completion_tokens) == tokens
    assert call.cost_usd == cost


def test_a_model_without_a_price_has_no_cost(subject: Wired):
    models = subject.client(model_prices=None)
    answer = models.ask(subject.choice, "summary", PROMPT, Counted, deadline=Deadline.after(9))
    assert answer.calls[0].cost_usd is None


@pytest.mark.parametrize(
    ("named", "version"),
    [
        ("fake-model-2026-11", "openai-compatible:fake-model-2026-11"),
        (None, "openai-compatible:fake-model"),
        ("", "openai-compatible:fake-model"),
        ("x" * 201, "openai-compatible:fake-model"),
        ("new\nline", "openai-compatible:fake-model"),
        (7, "openai-compatible:fake-model"),
    ],
)
def test_the_version_is_what_the_provider_says_has_spoken(
    subject: Wired, named: object, version: str
):
    body = json.loads(completion(GOOD).body) | {"model": named}
    subject.script(Raw(json.dumps(body).encode()))
    assert ask(subject).model_version == version


def test_a_prompt_with_half_a_surrogate_pair_can_be_sent(subject: Wired):
    subject.models.ask(
        subject.choice,
        "summary",
        [Said("user", "a\ud800b")],
        Counted,
        deadline=Deadline.after(9),
    )
    assert subject.prompts() == ["a?b"]


def test_a_provider_without_an_address_is_not_configured(subject: Wired):
    models = subject.client(openai_compatible_base_url=None, model_summary=None)
    assert models.choice("summary") is None
    own = ModelChoice("openai-compatible", "x")
    assert not models.ready(own)
    assert subject.models.ready(subject.choice)
    with pytest.raises(ModelFailure) as caught:
        models.ask(own, "summary", PROMPT, Counted, deadline=Deadline.after(9))
    assert (caught.value.code, caught.value.calls) == ("not_configured", ())
