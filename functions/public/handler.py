"""Static answers, made once when the door opens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from functions.public.wiring import wire
from judgment import VERSION
from judgment.contract.health import Health
from judgment.entry.http import HttpDoor, Reply, Request
from judgment.entry.opening import opened_on_first_call
from judgment.entry.skill import Skill, index, install_page
from judgment.kit.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgment.entry.observability import Telemetry

MARKDOWN = "text/markdown; charset=utf-8"
HTML = "text/html; charset=utf-8"
_WELL_KNOWN = "/.well-known/skills/"
_NO_SCRIPT = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
}


def build(skills: Sequence[Skill], api: str, telemetry: Telemetry) -> HttpDoor:
    """The door over these parts; `api` is the public address, without a trailing slash.

    The first skill is the one that has an address of its own.
    """
    page = Reply(install_page(skills, api), content_type=HTML, headers=_NO_SCRIPT)
    markdown = Reply(skills[0].text, content_type=MARKDOWN)
    files = {"index.json": Reply(index(skills))} | {
        f"{skill.name}/{path}": Reply(text, content_type=MARKDOWN)
        for skill in skills
        for path, text in skill.files.items()
    }

    def well_known(request: Request) -> Reply:
        file = str(request.event.get("path", "")).removeprefix(_WELL_KNOWN)
        if file not in files:
            raise NotFound
        return files[file]

    def nothing(_: Request) -> Reply:
        raise NotFound

    return HttpDoor(
        "public",
        {
            "GET /health": lambda _: Health(version=VERSION),
            "GET /.well-known/skills/{path+}": well_known,
            "GET /docs/agent-skill": lambda _: page,
            "GET /skills/sync-skill-v1.md": lambda _: markdown,
            "ANY /": nothing,
            "ANY /{path+}": nothing,
        },
        telemetry,
    )


handler = opened_on_first_call(lambda: build(*wire()))
