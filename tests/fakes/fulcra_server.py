"""The named context store on 127.0.0.1: routes and shapes of the reference, section 3.

It stands where the real service stands, so that the real package can be tried against it; it was
written from the reference and from the package's source, and proves nothing about the service.
Strict where the service is said to be strict: credentials, a length for every body, a base type in
the path of annotations, a schema, identifiers that are UUIDs, a window for every read, absolute
paths, an upload that keeps to what was announced. Trouble is put in the way by `trouble`.
"""

from __future__ import annotations

import json
import re
import threading
import urllib.parse
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.fakes.fulcra_account import Account, Refused, instant
from tests.fakes.fulcra_login import Sessions
from tests.fakes.listening import Listening, QuietHandler

JSON = {"Content-Type": "application/json"}
RANGE = re.compile(r'\{__name__="(Event/[0-9a-f-]{36})"\}\[([1-9]\d*)s\] @ (\d+)')
FILES = r"/input/v1/file(?:_upload)?"


@dataclass
class Trouble:
    """What happens to the next `times` requests (None: to all) whose path begins so.

    A `status` is answered with `body`; without a status the connection is cut, or, with `silent`,
    nothing is said until the server stops. `after` lets the request have its effect first.
    """

    path: str
    status: int | None = None
    body: str = '{"detail":"injected"}'
    times: int | None = None
    method: str | None = None
    silent: bool = False
    after: bool = False

    def meets(self, method: str, path: str) -> bool:
        """Whether this request is one of them; counts it."""
        if self.times == 0 or not path.startswith(self.path) or self.method not in (None, method):
            return False
        if self.times is not None:
            self.times -= 1
        return True


@dataclass(frozen=True)
class Request:
    """What was asked. `token` is what came as a bearer."""

    method: str
    path: str
    query: dict[str, list[str]]
    content_type: str
    body: bytes
    token: str | None
    user_agent: str

    def one(self, name: str) -> str:
        """A query parameter that must be there."""
        if name not in self.query:
            raise Refused(422, [{"loc": ["query", name], "msg": "Field required"}])
        return self.query[name][0]


@dataclass(frozen=True)
class Answer:
    """What is said back."""

    status: int
    body: bytes
    headers: dict[str, str]


def said(value: Any, status: int = 200) -> Answer:
    """An answer in JSON."""
    return Answer(status, json.dumps(value).encode(), JSON)


class FulcraServer(Listening):
    """Use as a context manager. `asked` holds the requests in order of arrival."""

    def __init__(self, account: Account | None = None, sessions: Sessions | None = None):
        super().__init__(_handler_for(self))
        self.account = account or Account()
        self.sessions = sessions or Sessions(self.account.userid)
        self.trouble: list[Trouble] = []
        self.asked: list[Request] = []
        self.stopped = threading.Event()
        self._announced: dict[str, dict[str, Any]] = {}
        self._lock = threading.Lock()
        self._routes = _routes(self)

    @property
    def audience(self) -> str:
        """What the package is to be told as its audience: the API's own address."""
        return self.url + "/"

    def __exit__(self, *gone: Any) -> None:
        """Stop listening, and let go of whoever waits."""
        self.stopped.set()
        super().__exit__(*gone)

    def count(self, method: str, path: str) -> int:
        """How many requests so far were of that method, to paths that begin so."""
        return sum(asked.method == method and asked.path.startswith(path) for asked in self.asked)

    def answer(self, request: Request) -> Answer:
        """The route's answer, or the refusal."""
        with self._lock:
            try:
                if not request.path.startswith("/signed/"):
                    self.sessions.check(request.token)
                for method, pattern, act in self._routes:
                    found = re.fullmatch(pattern, request.path)
                    if found and method == request.method:
                        return act(request, *found.groups())
                raise Refused(404, "Not Found")
            except Refused as refused:
                return said({"detail": refused.detail}, refused.status)

    def ingest(self, request: Request, data_type: str) -> Answer:
        """Records of one type, one JSON object a line, or one object."""
        version = request.one("api_version")
        lines = [request.body]
        if request.content_type == "application/x-jsonl":
            lines = [line for line in request.body.split(b"\n") if line]
        elif request.content_type != "application/json":
            raise Refused(415, "content type")
        records = [parsed(line) for line in lines]
        return said({"upload_id": self.account.ingest(data_type, version, records)}, 201)

    def create_type(self, request: Request) -> Answer:
        """Make a type; the answer is where to find it."""
        body = parsed(request.body)
        made = self.account.add_type(
            body.get("name"), body.get("description"), body.get("record_spec")
        )
        return Answer(303, b"", {"Location": f"/input/v1/data_type/{made}"})

    def change_type(self, request: Request, identifier: str) -> Answer:
        """Archive a type or bring it back."""
        self.account.types[identifier].deprecated = bool(parsed(request.body)["deprecated"])
        return Answer(303, b"", {"Location": f"/input/v1/data_type/{identifier}"})

    def show_type(self, _: Request, identifier: str) -> Answer:
        """A type's entry."""
        if identifier not in self.account.types:
            raise Refused(404, "no such data type")
        return said(self.account.types[identifier].entry())

    def catalogue(self, request: Request) -> Answer:
        """All types; `fulcra_userid` narrows to one person's."""
        owner = request.query.get("fulcra_userid", [None])[0]
        entries = [kept.entry() for kept in self.account.types.values()]
        return said([entry for entry in entries if owner in (None, entry["fulcra_userid"])])

    def show_schema(self, _: Request, data_type: str, version: str) -> Answer:
        """The schema of a type's records."""
        return said(self.account.schema_of(data_type, version))

    def records(self, request: Request) -> Answer:
        """Records of a type within a window, as JSON lines."""
        found = RANGE.fullmatch(request.one("q"))
        if found is None:
            raise Refused(422, "this query is not understood")
        end = float(found[3])
        events = self.account.events(found[1], end - float(found[2]), end)
        lines = "".join(json.dumps(event) + "\n" for event in events)
        return Answer(200, lines.encode(), {"Content-Type": "application/x-jsonl"})

    def moments(self, request: Request, definition: str | None) -> Answer:
        """Moment annotations within a window; `source_id` may narrow them."""
        start, end = instant(request.one("start_time")), instant(request.one("end_time"))
        return said(self.account.moments(definition, start, end))

    def annotations(self, _: Request) -> Answer:
        """All annotation definitions."""
        return said(self.account.annotations)

    def user(self, _: Request) -> Answer:
        """Who is signed in."""
        return said({"userid": self.account.userid})

    def show_file(self, _: Request, identifier: str) -> Answer:
        """One version's entry."""
        return said(self.account.version(identifier))

    def list_files(self, request: Request) -> Answer:
        """Versions in a folder by their state."""
        states = request.query.get("state", ["uploaded"])[0].split(",")
        name = request.query.get("name", [None])[0]
        return said(self.account.listed(request.one("path"), name, states))

    def announce(self, request: Request) -> Answer:
        """The first step of an upload: where the bytes may be sent."""
        body = parsed(request.body)
        if not str(body.get("path", "")).startswith("/") or "/" in str(body.get("name", "/")):
            raise Refused(422, [{"loc": ["body", "path"], "msg": "path must be absolute"}])
        place = str(uuid.uuid4())
        self._announced[place] = body
        return said({"id": place, "url": f"{self.url}/signed/{place}", "file": body}, 201)

    def take_bytes(self, request: Request, place: str) -> Answer:
        """The second step: bytes of the announced length and type."""
        body = self._announced.pop(place, None)
        expected = body and (body["content_length"], body["content_type"])
        if body is None or expected != (len(request.body), request.content_type):
            raise Refused(403, "SignatureDoesNotMatch")
        self.account.store(body["path"], body["name"], body["content_type"], request.body)
        return Answer(204, b"", {})

    def remove(self, _: Request, identifier: str) -> Answer:
        """Take a version away; nothing is erased."""
        self.account.version(identifier)["state"] = "deleted"
        return Answer(204, b"", {})

    def download(self, _: Request, identifier: str) -> Answer:
        """The bytes of a version."""
        self.account.version(identifier)
        return Answer(200, self.account.bytes_of[identifier], {})


def parsed(body: bytes) -> Any:
    """JSON as the service reads it: without NaN or infinities."""

    def refuse(name: str) -> float:
        raise ValueError(name)

    try:
        return json.loads(body, parse_constant=refuse)
    except ValueError as error:
        raise Refused(422, [{"loc": ["body"], "msg": "JSON decode error"}]) from error


def _routes(server: FulcraServer) -> list[tuple[str, str, Callable[..., Answer]]]:
    return [
        ("POST", r"/ingest/v1/record/(.+)", server.ingest),
        ("POST", r"/input/v1/data_type/Event", server.create_type),
        ("GET", r"/input/v1/data_type/(Event/[^/]+)", server.show_type),
        ("PUT", r"/input/v1/data_type/(Event/[^/]+)", server.change_type),
        ("GET", r"/data/v1/catalog", server.catalogue),
        ("GET", r"/data/v1/catalog/(.+)/(v1|v1alpha1)/schema", server.show_schema),
        ("GET", r"/data/v1/records", server.records),
        ("GET", r"/data/v1alpha1/event/MomentAnnotation(?:/([^/]+))?", server.moments),
        ("GET", r"/user/v1alpha1/annotation", server.annotations),
        ("GET", r"/user/v1alpha1/info", server.user),
        ("GET", FILES, server.list_files),
        ("POST", FILES, server.announce),
        ("GET", FILES + r"/([^/]+)/download", server.download),
        ("GET", FILES + r"/([^/]+)", server.show_file),
        ("DELETE", FILES + r"/([^/]+)", server.remove),
        ("POST", r"/signed/([^/]+)", server.take_bytes),
    ]


def _handler_for(server: FulcraServer) -> type[QuietHandler]:
    class Handler(QuietHandler):
        def _serve(self) -> None:
            split = urllib.parse.urlsplit(self.path)
            if self.command == "POST" and "Content-Length" not in self.headers:
                self.give(411)
                return
            bearer = self.headers.get("Authorization", "")
            request = Request(
                self.command,
                split.path,
                urllib.parse.parse_qs(split.query),
                self.headers.get("Content-Type", ""),
                self.sent(),
                bearer[7:] if bearer.startswith("Bearer ") else None,
                self.headers.get("User-Agent", ""),
            )
            server.asked.append(request)
            met = (t for t in server.trouble if t.meets(request.method, request.path))
            trouble = next(met, None)
            answer = server.answer(request) if trouble is None or trouble.after else None
            if trouble is None and answer is not None:
                self.give(answer.status, answer.body, answer.headers)
            elif trouble is not None and trouble.status is not None:
                self.give(trouble.status, trouble.body.encode(), JSON)
            else:
                if trouble is not None and trouble.silent:
                    server.stopped.wait()
                self.close_connection = True

        do_GET = do_POST = do_PUT = do_DELETE = _serve

    return Handler
