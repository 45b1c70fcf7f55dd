"""The CDK command as a pinned npm package, run by the Node that comes as a Python wheel."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from infra.checkout import ROOT
from infra.node import NODE, NPM

INFRA = ROOT / "infra"
TOOLS = ROOT / ".local" / "cdk"


class CdkFailed(RuntimeError):
    """The CDK command said no; the message holds its last words."""


def ensure_cdk() -> Path:
    """The command's script, after installing the locked package once. Raises CdkFailed."""
    lock = INFRA / "package-lock.json"
    wanted = hashlib.sha256(lock.read_bytes()).hexdigest()
    stamp = TOOLS / ".installed"
    script = TOOLS / "node_modules" / "aws-cdk" / "bin" / "cdk"
    if script.exists() and stamp.exists() and stamp.read_text() == wanted:
        return script
    TOOLS.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copyfile(INFRA / name, TOOLS / name)
    _run([*NPM, "ci", "--no-audit", "--no-fund"], TOOLS, os.environ)
    stamp.write_text(wanted)
    return script


class Cdk:
    """The command against one endpoint. Every call raises CdkFailed when it fails.

    Names and passwords of whoever runs this are kept out: AWS variables are the given ones only.
    """

    def __init__(self, environ: Mapping[str, str], scratch: Path, context: Mapping[str, str]):
        self._script = ensure_cdk()
        self._environ = {
            **{key: value for key, value in os.environ.items() if not key.startswith("AWS_")},
            **environ,
            "CDK_DISABLE_CLI_TELEMETRY": "1",
            "CDK_HOME": str(scratch),
            "JSII_NODE": str(NODE),
            "JUDGMENT_PYTHON": sys.executable,
        }
        self._output = scratch / "cdk.out"
        self._context = [part for pair in context.items() for part in ("-c", "=".join(pair))]

    def bootstrap(self) -> str:
        """Make the account ready for assets."""
        return self._cdk("bootstrap", "aws://000000000000/us-east-1", *self._assembly())

    def synthesize(self) -> str:
        """Run the app, cdk-nag included, and leave the assembly for the other calls."""
        return self._cdk("synth", "--quiet", *self._context, "--output", str(self._output))

    def deploy(self, stack: str) -> str:
        """Deploy one stack of the assembly."""
        return self._cdk("deploy", stack, "--require-approval", "never", *self._assembly())

    def destroy(self, stack: str) -> str:
        """Remove it again."""
        return self._cdk("destroy", stack, "--force", *self._assembly())

    def _assembly(self) -> tuple[str, str]:
        return "--app", str(self._output)

    def _cdk(self, *arguments: str) -> str:
        fixed = ("--ci", "--no-color", "--no-notices", "--no-version-reporting")
        return _run([str(NODE), str(self._script), *arguments, *fixed], INFRA, self._environ)


def _run(command: list[str], folder: Path, environ: Mapping[str, str]) -> str:
    done = subprocess.run(
        command,
        cwd=folder,
        env=dict(environ),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    said = done.stdout + done.stderr
    if done.returncode:
        raise CdkFailed(f"{' '.join(command[1:4])} ended with {done.returncode}:\n{said[-6000:]}")
    return said
