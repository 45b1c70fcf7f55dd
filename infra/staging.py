"""Lays our own code out the way Lambda wants it: a folder per door, a folder for the shared layer.

One import path everywhere: a door's archive holds `functions/<door>/` under its dotted name, and
the contract layer holds `python/judgment/`. Copies only; third-party code is `infra.layers`.
"""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path

from infra.checkout import ROOT

BUILD = ROOT / "layers" / "build"

STREAM_WRAPPER_NAME = "stream-door"
_STREAM_WRAPPER = """\
#!/bin/sh
export PYTHONPATH="$LAMBDA_TASK_ROOT:/opt/python${PYTHONPATH:+:$PYTHONPATH}"
exec /var/lang/bin/python3.13 -m judgment.entry.streaming
"""

_LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.pyc", ".DS_Store")


class StagingError(FileNotFoundError):
    """A door of the catalogue has no code."""


def stage_door(handler: str, *, build: Path = BUILD) -> Path:
    """Copy the package that holds `handler` (a dotted module) and return the archive's folder.

    Parents get an empty `__init__`, so that the archive holds one door and nothing beside it.
    Raises StagingError where the module is missing.
    """
    module = Path(*handler.split("."))
    package = module.parent
    if not (ROOT / module).with_suffix(".py").is_file():
        raise StagingError(f"{handler} has no file {module}.py")
    target = _fresh(build / "doors" / "-".join(package.parts))
    shutil.copytree(ROOT / package, target / package, ignore=_LEFT_OUT)
    for parent in list(package.parents)[:-1]:
        (target / parent / "__init__.py").touch()
    return target


def stage_contract(*, build: Path = BUILD) -> Path:
    """Copy `judgment` and the files the wheel carries with it; return the layer's folder.

    What ships beside the package is read from pyproject's `force-include`, so that the wheel and
    the layer cannot differ. The executable that starts a streaming door's loop lies beside it.
    """
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"][
        "targets"
    ]["wheel"]
    target = _fresh(build / "contract")
    for source in wheel["packages"]:
        name = Path(source).name
        shutil.copytree(ROOT / source, target / "python" / name, ignore=_LEFT_OUT)
    for source, destination in wheel.get("force-include", {}).items():
        place = target / "python" / destination
        place.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / source).is_dir():
            shutil.copytree(ROOT / source, place, ignore=_LEFT_OUT, dirs_exist_ok=True)
        else:
            shutil.copyfile(ROOT / source, place)
    wrapper = target / STREAM_WRAPPER_NAME
    wrapper.write_text(_STREAM_WRAPPER)
    wrapper.chmod(0o755)
    return target


def _fresh(folder: Path) -> Path:
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    return folder
