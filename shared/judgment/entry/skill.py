"""The agent skills as they ship, and the page that says how to install them.

`skills/` at the top of the repository is the only copy: this package holds a link to it, which
the wheel and the Lambda layer turn into files.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from importlib import resources

from judgment.entry.agent_clients import CLIENTS, AgentClient

NAMES = ("sync-judgment", "judgment-preferences")
_FIELD = re.compile(r"^(name|description):[ \t]*(\S.*?)[ \t]*$", re.MULTILINE)


@dataclass(frozen=True)
class Skill:
    """A skill file with the two fields that installers list, and the references beside it.

    `references` maps a path such as `references/http.md` to its text.
    """

    name: str
    description: str
    text: str
    references: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def files(self) -> dict[str, str]:
        """Every file of the skill by its path in the skill's folder."""
        return {"SKILL.md": self.text, **self.references}


def index(skills: Sequence[Skill]) -> str:
    """`/.well-known/skills/index.json`, as Hermes reads it."""
    entries = [
        {"name": skill.name, "description": skill.description, "files": list(skill.files)}
        for skill in skills
    ]
    return json.dumps({"skills": entries}, ensure_ascii=False)


def parse_skill(text: str) -> Skill:
    """A skill from its file. Raises ValueError unless both fields are one-line plain scalars."""
    head = re.match(r"---\n(.*?)\n---\n", text, re.DOTALL)
    fields = dict(_FIELD.findall(head.group(1))) if head else {}
    if fields.keys() != {"name", "description"} or fields["description"][0] in "|>":
        raise ValueError("SKILL.md needs a one-line name and a one-line description")
    values = {key: value.strip("\"'") for key, value in fields.items()}
    return Skill(values["name"], values["description"], text)


def load_skills() -> tuple[Skill, ...]:
    """The skills that this version of the package ships, the judgment profile's first."""
    return tuple(_load(name) for name in NAMES)


def _load(name: str) -> Skill:
    folder = resources.files("judgment.entry").joinpath("skills", name)
    skill = parse_skill(folder.joinpath("SKILL.md").read_text(encoding="utf-8"))
    beside = folder.joinpath("references")
    pages = sorted(beside.iterdir(), key=lambda page: page.name) if beside.is_dir() else []
    references = {
        f"references/{page.name}": page.read_text(encoding="utf-8")
        for page in pages
        if page.name.endswith(".md")
    }
    return replace(skill, references=references)


def install_page(skills: Sequence[Skill], api: str) -> str:
    """A page without scripts: what the first skill says, the lines for each runtime, the others."""
    skill, *others = skills
    clients = "\n".join(_client(client, skill, api) for client in CLIENTS)
    also = "\n".join(_other(other, api) for other in others)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Install the Sync judgment skill</title>
<style>body{{font:1rem/1.5 system-ui,sans-serif;max-width:48rem;margin:2rem auto;padding:0 1rem}}
pre{{white-space:pre-wrap;overflow-wrap:anywhere;padding:.75rem;background:#f4f4f4;color:#111}}
</style>
</head>
<body>
<h1>Install the Sync judgment skill</h1>
<p>{escape(skill.description)}</p>
<p>Mint a key in Sync, put it into the environment variable <code>SYNC_API_KEY</code>, then install
the skill and connect the server. You may read, change and remove the skill: it is one file,
<a href="/skills/sync-skill-v1.md">sync-skill-v1.md</a>, and it never updates itself.</p>
{clients}
<h2>What the skill says</h2>
<pre>{escape(skill.text)}</pre>
{also}
</body>
</html>
"""


def _other(skill: Skill, api: str) -> str:
    """A skill of several files, which are fetched one by one."""
    place = f"{api}/.well-known/skills/{skill.name}"
    lines = (
        f"for f in {' '.join(skill.files)}; do\n"
        f"  curl -fsS --create-dirs {place}/$f -o ~/.claude/skills/{skill.name}/$f\n"
        "done"
    )
    return (
        f"<h2>Another skill: {escape(skill.name)}</h2>\n<p>{escape(skill.description)}</p>\n"
        "<p>Hermes takes it by its address; elsewhere its files go where skills are.</p>\n"
        f"<pre>hermes skills install {escape(place)} --yes</pre>\n<pre>{escape(lines)}</pre>\n"
        f"<pre>{escape(skill.text)}</pre>"
    )


def _client(client: AgentClient, skill: Skill, api: str) -> str:
    install, connect = client.lines(api, skill.name)
    note = "" if client.executed else " <small>(not run by our tests)</small>"
    return (
        f"<h2>{escape(client.name)}{note}</h2>\n"
        f"<pre>{escape(install)}</pre>\n<pre>{escape(connect)}</pre>"
    )
