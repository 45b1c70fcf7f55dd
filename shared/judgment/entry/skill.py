"""The agent skill as it ships, and the page that says how to install it.

`skills/` at the top of the repository is the only copy: this package holds a link to it, which
the wheel and the Lambda layer turn into files.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from html import escape
from importlib import resources

from judgment.entry.agent_clients import CLIENTS, AgentClient

NAME = "sync-judgment"
_FIELD = re.compile(r"^(name|description):[ \t]*(\S.*?)[ \t]*$", re.MULTILINE)


@dataclass(frozen=True)
class Skill:
    """A skill file with the two fields that installers list."""

    name: str
    description: str
    text: str

    def index(self) -> str:
        """`/.well-known/skills/index.json`, as Hermes reads it."""
        entry = {"name": self.name, "description": self.description, "files": ["SKILL.md"]}
        return json.dumps({"skills": [entry]}, ensure_ascii=False)


def parse_skill(text: str) -> Skill:
    """A skill from its file. Raises ValueError unless both fields are one-line plain scalars."""
    head = re.match(r"---\n(.*?)\n---\n", text, re.DOTALL)
    fields = dict(_FIELD.findall(head.group(1))) if head else {}
    if fields.keys() != {"name", "description"} or fields["description"][0] in "|>":
        raise ValueError("SKILL.md needs a one-line name and a one-line description")
    values = {key: value.strip("\"'") for key, value in fields.items()}
    return Skill(values["name"], values["description"], text)


def load_skill() -> Skill:
    """The skill that this version of the package ships."""
    file = resources.files("judgment.entry").joinpath("skills", NAME, "SKILL.md")
    return parse_skill(file.read_text(encoding="utf-8"))


def install_page(skill: Skill, api: str) -> str:
    """A page without scripts: what the skill says, and the lines for each runtime."""
    clients = "\n".join(_client(client, skill, api) for client in CLIENTS)
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
</body>
</html>
"""


def _client(client: AgentClient, skill: Skill, api: str) -> str:
    install, connect = client.lines(api, skill.name)
    note = "" if client.executed else " <small>(not run by our tests)</small>"
    return (
        f"<h2>{escape(client.name)}{note}</h2>\n"
        f"<pre>{escape(install)}</pre>\n<pre>{escape(connect)}</pre>"
    )
