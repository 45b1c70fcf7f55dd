"""What is installed is pinned by digest, and no list remembers where it was downloaded."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

from tests.architecture.source import ROOT, named, tracked

LOCKS = [ROOT / p for p in tracked() if p.endswith(".lock") and p != "layers/assets.lock"]
NPM_LOCKS = [ROOT / p for p in tracked() if p.endswith("package-lock.json")]


def _pins(lock: Path) -> dict[str, str]:
    """Each pin of a requirements list with the rest of its logical line."""
    text = re.sub(r"\\\n", " ", lock.read_text(encoding="utf-8"))
    lines = [line for line in text.splitlines() if line and not line.lstrip().startswith("#")]
    return {line.split()[0]: line for line in lines}


@pytest.mark.promise("R-29", "P1-1")
@pytest.mark.parametrize("lock", LOCKS, ids=named)
def test_every_pin_of_a_python_list_has_its_digest_and_no_address(lock: Path) -> None:
    pins = _pins(lock)
    assert pins
    for name, line in pins.items():
        assert re.fullmatch(r"[A-Za-z0-9._-]+(\[[a-z,-]+\])?==[A-Za-z0-9.+!_-]+", name), name
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", line), name
    assert not re.search(r"https?://|--(extra-)?index-url\s", lock.read_text(encoding="utf-8"))


@pytest.mark.promise("R-29")
@pytest.mark.parametrize("lock", NPM_LOCKS, ids=named)
def test_every_package_of_an_npm_list_has_its_digest_and_no_address(lock: Path) -> None:
    packages = json.loads(lock.read_text(encoding="utf-8"))["packages"]
    for name, package in packages.items():
        assert "resolved" not in package, name
        if name and not package.get("link") and not package.get("inBundle"):
            assert re.match(r"sha(256|384|512)-", package.get("integrity", "")), name


@pytest.mark.promise("R-29", "P1-1-assets")
def test_every_asset_has_its_digests() -> None:
    assets = tomllib.loads((ROOT / "layers/assets.lock").read_text(encoding="utf-8"))
    rows = [
        row for table in assets.values() for row in (table if isinstance(table, list) else [table])
    ]
    assert rows
    for row in rows:
        assert {"name", "version", "sha256", "file"} <= row.keys()
        assert all(
            re.fullmatch(r"[0-9a-f]{64}", value) for key, value in row.items() if "sha256" in key
        )


def test_the_list_holds_every_package_the_project_asks_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    asked = [*project["dependencies"], *(line for extra in extras for line in extra)]
    names = {re.split(r"[\[<>=;~! ]", line)[0].lower() for line in asked}
    pinned = {re.split(r"[\[=]", pin)[0].lower() for pin in _pins(ROOT / "requirements.lock")}
    assert names - pinned == set()


def test_no_list_is_committed_that_records_addresses() -> None:
    banned = {"uv.lock", "poetry.lock", "Pipfile.lock", "yarn.lock", "pnpm-lock.yaml"}
    assert {p for p in tracked() if Path(p).name in banned} == set()


@pytest.mark.promise("R-44")
def test_no_interpreter_is_ever_downloaded() -> None:
    exported = re.findall(
        r"^export .*UV_PYTHON_DOWNLOADS=(\w+)", (ROOT / "dev").read_text(), re.MULTILINE
    )
    assert exported == ["never"]
    others = [
        name
        for name in tracked()
        if name.endswith((".py", ".sh", ".toml", "run"))
        and re.search(r"UV_PYTHON_DOWNLOADS\W+(auto|manual|automatic)", (ROOT / name).read_text())
    ]
    assert others == []


@pytest.mark.promise("R-44")
def test_the_tests_run_on_the_lambdas_interpreter_too_where_it_is_found() -> None:
    task = (ROOT / "dev").read_text(encoding="utf-8")
    assert re.search(r"^test\)\n(    .*\n)*    other_python\n", task, re.MULTILINE)
    assert '"Python 3.13"*) version=3.11 ;; *) version=3.13 ;;' in task
    assert re.search(r'python\$version/bin/python" -m pytest .*tests/unit tests/contract', task)
    assert (
        tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"]
        == ">=3.11"
    )
