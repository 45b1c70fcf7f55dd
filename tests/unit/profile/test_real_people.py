"""Where tests find real people's data, and what they say without it."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

import pytest

from tests.unit.profile import real_people
from tests.unit.profile.real_people import FILE, ROOT, real_file

if TYPE_CHECKING:
    from pathlib import Path

look = real_file.__wrapped__


@pytest.mark.promise("R-43")
def test_one_variable_says_where_the_data_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / FILE).write_bytes(b"the data")
    monkeypatch.setenv("JUDGMENT_DATA", str(tmp_path))
    assert look() == b"the data"


@pytest.mark.promise("R-43")
def test_without_data_a_test_is_skipped_with_the_places_it_looked_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGMENT_DATA", str(tmp_path))
    monkeypatch.setattr(real_people, "ROOT", tmp_path / "checkout")
    with pytest.raises(pytest.skip.Exception, match="JUDGMENT_DATA"):
        look()


@pytest.mark.promise("R-43")
def test_a_run_prints_what_was_skipped_and_why() -> None:
    options = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]
    assert "-ra" in options["ini_options"]["addopts"].split()
