"""Without the extra everything else works, and what is missing is said with how to get it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.architecture.source import ROOT

CODE = """
import sys
sys.modules["fulcra_api"] = None
from judgment.kit.errors import Unavailable
from judgment.preferences.fulcra.client import Settings
from judgment.preferences.fulcra.store import FulcraStore
try:
    FulcraStore.open(Settings())
except Unavailable as refusal:
    print(refusal.message)
"""


@pytest.mark.promise("P3-fulcra")
def test_a_missing_package_is_named_with_its_extra() -> None:
    done = subprocess.run(
        [sys.executable, "-c", CODE],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT / "shared")},
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "The Fulcra store needs the extra `fulcra`: pip install 'judgment[fulcra]'\n"
    )


@pytest.mark.promise("P3-fulcra")
def test_nothing_of_the_package_is_loaded_before_an_account_is_opened() -> None:
    code = (
        "import sys, judgment.preferences.fulcra.store\n"
        "print(sorted(n for n in sys.modules if n.split('.')[0] in"
        " ('fulcra_api', 'jsonschema', 'dateparser', 'click', 'pydantic', 'httpx')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT / "shared")},
    )
    assert done.stdout == "[]\n"
