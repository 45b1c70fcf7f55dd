"""One name per idea: the glossary's words are the code's words."""

from __future__ import annotations

import re
from functools import cache

import pytest

from judgment.contract.routes import ROUTES
from tests.architecture.pages import CODE, pages, prose, rows
from tests.architecture.source import ROOT, named, python_files, tracked

GLOSSARY = ROOT / "docs/glossary.md"


@cache
def _code() -> str:
    kinds = (".py", ".sql", ".toml")
    return "\n".join(
        (ROOT / p).read_text(encoding="utf-8")
        for p in tracked()
        if p.endswith(kinds) and p.startswith(("shared/", "functions/", "infra/", "tests/req"))
    )


def _is_there(name: str) -> bool:
    """A file, a module, a route of the table, or a word of the code."""
    if name in {f"{route.method} {route.path}" for route in ROUTES} or (ROOT / name).exists():
        return True
    module = ROOT / "shared" / name.replace(".", "/")
    if module.is_dir() or module.with_suffix(".py").is_file():
        return True
    return re.search(rf"(?<![A-Za-z]){re.escape(name)}(?![A-Za-z])", _code()) is not None


def _terms() -> list[tuple[str, list[str], str, list[str]]]:
    return [
        (term, CODE.findall(code), meaning, [w for w in re.split(r", *", never) if w != "–"])  # noqa: RUF001
        for term, code, meaning, never in rows(GLOSSARY.read_text(encoding="utf-8"))
    ]


def test_the_glossary_is_in_order_and_says_something_of_each_word() -> None:
    words = [term for term, *_ in _terms()]
    assert len(words) > 30
    assert words == sorted(words, key=str.lower)
    assert len({w.lower() for w in words}) == len(words)
    assert all(meaning.endswith(".") for _, _, meaning, _ in _terms())


def test_every_name_the_glossary_gives_is_a_name_in_the_code() -> None:
    gone = [
        f"{term}: {name}" for term, names, _, _ in _terms() for name in names if not _is_there(name)
    ]
    assert not gone, "\n".join(gone)


def test_every_idea_and_every_door_has_a_word() -> None:
    text = GLOSSARY.read_text(encoding="utf-8")
    ideas = {p.parent.name for p in (ROOT / "shared/judgment").glob("*/__init__.py")}
    assert sorted(i for i in ideas if f"`judgment.{i}`" not in text) == []


@pytest.mark.promise("R-35")
def test_a_word_the_glossary_rules_out_is_not_used() -> None:
    texts = {named(p): p.read_text(encoding="utf-8") for p in python_files("shared", "functions")}
    texts |= {named(p): prose(p) for p in pages() if p != GLOSSARY}
    used = [
        f"{where}: {word} (say: {term})"
        for term, _, _, never in _terms()
        for word in never
        for where, text in texts.items()
        if re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text, re.IGNORECASE)
    ]
    assert not used, "\n".join(used)


@pytest.mark.promise("R-35")
def test_the_owner_profile_file_is_never_just_called_profile_in_code() -> None:
    """Whoever names the file's path calls it by its own name."""
    found = [
        named(path)
        for path in python_files("shared", "functions")
        if "me/profile.md" in path.read_text(encoding="utf-8")
        and "owner_profile_file" not in path.read_text(encoding="utf-8").lower()
    ]
    assert not found, "\n".join(found)
