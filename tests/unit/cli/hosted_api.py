"""The preferences API on this machine: the contract's routes, in memory, over real HTTP.

It answers with the contract's own models and takes nothing that they refuse. What the doors really
decide is tested with them; here it is what the command line makes of their answers.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote, urlsplit

from pydantic import BaseModel, ValidationError

from judgment.contract import preferences as wire
from judgment.contract.preference_routes import PREFERENCE_ROUTES
from judgment.kit.clock import utc_now
from judgment.preferences.compiling import compile_signals
from judgment.preferences.documents import view
from judgment.preferences.explaining import why
from judgment.preferences.keys import glob_matches
from judgment.preferences.shapes import entry_shape, signal_shape
from judgment.preferences.signals import captured_from
from judgment.preferences.solver import options_from, participants_from, solve, words
from tests.fakes.listening import Listening, QuietHandler

if TYPE_CHECKING:
    from judgment.contract.route import Route
    from judgment.preferences.model import Signal

TOKEN, KEY = "owner-token-" + "t" * 40, "sync_" + "k" * 43
WRONG = {"code": "unauthorized", "error": "Unauthorized", "message": "Missing or invalid key."}


class Api(Listening):
    """`trouble` is answered instead of everything, `declined` keys are refused with their batch;
    after `trouble_after` captures it is down for captures.

    `page` is how many entries one answer holds at most. `asked` is every request by order.
    """

    def __init__(self) -> None:
        self.signals: list[Signal] = []
        self.events: list[wire.ConsentEvent] = []
        self.links: list[wire.LedgerEntry] = []
        self.asked: list[tuple[str, str, str | None]] = []
        self.trouble: tuple[int, Any] | None = None
        self.trouble_after: int | None = None
        self.declined: set[str] = set()
        self.page = 1_000
        super().__init__(_handler(self))

    def count(self, method: str, ending: str) -> int:
        """How many requests so far were of a method to paths that end so."""
        return sum(one[0] == method and one[1].endswith(ending) for one in self.asked)

    def answer(self, method: str, target: str, credential: str | None, body: bytes) -> Any:
        """The status and the body of a request."""
        path, query = urlsplit(target).path, dict(parse_qsl(urlsplit(target).query))
        self.asked.append((method, path, credential))
        if self.trouble is not None:
            return self.trouble
        found = _route(method, path)
        if found is None:
            return 404, {"code": "not_found", "message": "There is no such route."}
        route, arguments = found
        if credential != f"Bearer {TOKEN if route.auth == 'owner' else KEY}":
            return 401, WRONG
        try:
            asked = _model(route.query).model_validate_strings(query) if route.query else None
            stated = _model(route.request).model_validate_json(body) if route.request else None
        except ValidationError as wrong:
            return 400, {"code": "invalid_request", "message": wrong.errors()[0]["msg"]}
        ending = path.partition("/preferences")[2].split("/")[1:2]
        act: Callable[..., Any] = getattr(self, f"_{method.lower()}_{''.join(ending)}")
        answered = act(*arguments, asked or stated)
        if isinstance(answered, BaseModel):
            if route.response is not None:
                _model(route.response).model_validate_json(answered.model_dump_json())
            return route.status, answered.model_dump(mode="json")
        return answered

    def _get_(self, asked: wire.PreferencesQuery) -> Any:
        now = utc_now()
        documents = compile_signals(self.signals, now).documents
        document = documents.get(asked.platform, documents[None])
        entries = [entry_shape(one, is_self=asked.audience is None) for one in view(document, now)]
        if asked.audience is not None:
            entries = [one for one in entries if self._is_open(one.key, asked)]
            self._write_down(asked, [one.key for one in entries])
        start = int(asked.cursor or 0)
        end = start + min(asked.limit, self.page)
        return wire.Preferences(
            platform=asked.platform,
            audience=asked.audience or "self",
            as_of=now,
            compiled_at=now,
            total=len(entries),
            pending=0,
            quarantined=0,
            entries=entries[start:end],
            next_cursor=str(end) if end < len(entries) else None,
        )

    def _is_open(self, key: str, asked: wire.PreferencesQuery) -> bool:
        live = [one for one in self.events if one.live and one.audience == asked.audience]
        return any(
            glob_matches(one.key_glob, key) and asked.purpose in ("read", one.level) for one in live
        )

    def _write_down(self, asked: wire.PreferencesQuery, keys: list[str]) -> None:
        link = wire.LedgerEntry(
            position=len(self.links) + 1,
            at=utc_now(),
            kind="disclosure" if keys else "denial",
            audience=asked.audience or "",
            purpose=asked.purpose,
            platform=asked.platform,
            keys=keys,
            by="owner",
            correlation_id="",
            hash="0" * 64,
        )
        self.links.append(link)

    def _post_signals(self, stated: wire.CaptureRequest) -> Any:
        if self.trouble_after is not None and self.count("POST", "/signals") > self.trouble_after:
            return 503, {"code": "unavailable", "message": "Later."}
        if any(one.key in self.declined for one in stated.signals):
            return 400, {"code": "invalid_request", "message": "This key is not wanted."}
        now = utc_now()
        kept: list[wire.CapturedSignal] = []
        for one in stated.signals:
            body = one.model_dump(mode="json", exclude={"id", "corrects"}, exclude_unset=True)
            signal = captured_from({"v": 1, **body}, received_at=now)
            assert one.id is None or str(one.id) == signal.id
            is_new = signal.id not in {held.id for held in self.signals}
            if is_new:
                position = len(self.signals) + 1
                self.signals.append(replace(signal, position=position, recorded_at=now))
            kept.append(_kept(signal, is_new, len(self.signals)))
        return wire.Captured(signals=kept)

    def _get_signals(self, asked: wire.SignalsQuery) -> Any:
        found = [signal_shape(one) for one in self.signals if asked.key in (None, one.key)]
        start = int(asked.cursor or 0)
        end = start + min(asked.limit, self.page)
        cursor = str(end) if end < len(found) else None
        return wire.SignalPage(signals=found[start:end], next_cursor=cursor)

    def _delete_signals(self, name: str, _: None) -> Any:
        self.signals = [one for one in self.signals if one.id != name]
        return 204, None

    def _get_why(self, asked: wire.WhyQuery) -> Any:
        now = utc_now()
        found = why(self.signals, asked.key, now, asked.platform)
        candidates = [
            wire.Candidate(
                signal=signal_shape(one.signal),
                weight=one.weight,
                stale=one.stale,
                verdict=one.verdict,
                by=one.by,
            )
            for one in found.candidates
        ]
        return wire.Why(
            key=asked.key,
            platform=asked.platform,
            as_of=now,
            winner=found.winner,
            candidates=candidates,
            omitted=0,
        )

    def _post_solve(self, stated: wire.SolveRequest) -> Any:
        """Nobody but the asker has opened anything here."""
        now = utc_now()
        held = view(compile_signals(self.signals, now).documents[None], now)
        mine = {one.key: one.weight for one in held}
        people = [
            {"id": one.id or "me", "weights": mine if one.is_self else one.weights}
            for one in stated.participants
            if one.owner is None
        ]
        found = solve(
            options_from([one.model_dump() for one in stated.options]),
            participants_from(people),
            policy=stated.policy,
            normalise=stated.normalise,
            veto_below=stated.veto_below,
            forced_order=stated.forced_order,
        )
        return wire.Solved(
            policy=stated.policy,
            ranking=[
                wire.RankedOption(option=one.option, rank=one.rank, score=one.score)
                for one in found.ranking
            ],
            excluded=[
                wire.ExcludedOption(option=one.option, reason=one.reason) for one in found.excluded
            ],
            without_consent=[one.owner for one in stated.participants if one.owner is not None],
            trace=found.trace,
            words=words(found.trace) if stated.words else [],
        )

    def _get_consent(self, _: None) -> Any:
        return wire.Consent(events=self.events)

    def _post_consent(self, stated: wire.GrantRequest | wire.RevokeRequest) -> Any:
        event = wire.ConsentEvent(
            id=uuid.uuid4(),
            effect=getattr(stated, "effect", "revoke"),
            key_glob=stated.key_glob,
            audience=stated.audience,
            level=stated.level,
            expires=getattr(stated, "expires", None),
            made_at=utc_now(),
            live=isinstance(stated, wire.GrantRequest),
        )
        if not event.live:
            ended = {one.id for one in self.events if one.audience == stated.audience}
            self.events = [
                one.model_copy(update={"live": False}) if one.id in ended else one
                for one in self.events
            ]
        self.events.append(event)
        return event

    def _get_ledger(self, asked: wire.LedgerQuery | None) -> Any:
        if asked is None:
            length = len(self.links)
            return wire.LedgerVerification(
                intact=True, length=length, head="0" * 64 if length else "", problems=[]
            )
        start = int(asked.cursor or 0)
        end = start + min(asked.limit, self.page)
        newest = self.links[::-1]
        cursor = str(end) if end < len(newest) else None
        return wire.LedgerPage(entries=newest[start:end], next_cursor=cursor)


def _handler(api: Api) -> type[QuietHandler]:
    class Handler(QuietHandler):
        def _answer(self) -> None:
            body = self.sent()
            answered = api.answer(self.command, self.path, self.headers["Authorization"], body)
            status, content = answered
            raw = content if isinstance(content, bytes) else json.dumps(content).encode()
            self.give(status, b"" if status == 204 else raw)

        do_GET = do_POST = do_DELETE = _answer

    return Handler


def _route(method: str, path: str) -> tuple[Route, list[str]] | None:
    words = path.split("/")
    for route in PREFERENCE_ROUTES:
        pattern = route.path.split("/")
        if route.method == method and len(pattern) == len(words):
            pairs = list(zip(pattern, words, strict=True))
            if all(one == word or one.startswith("{") for one, word in pairs):
                return route, [unquote(word) for one, word in pairs if one.startswith("{")]
    return None


def _model(name: str | None) -> type[BaseModel]:
    module, _, kind = (name or "").partition(":")
    return getattr(import_module(f"judgment.contract.{module}"), kind)


def _kept(signal: Signal, is_new: bool, position: int) -> wire.CapturedSignal:
    return wire.CapturedSignal(
        id=signal.id,
        position=position,
        key=signal.key,
        scope=signal.scope,
        observed_at=signal.observed_at,
        recorded_at=utc_now(),
        supersedes=signal.supersedes,
        flags=[],
        is_new=is_new,
    )
