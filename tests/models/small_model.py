"""SmolLM2-135M-Instruct behind llama.cpp's own server, in a process and an environment of its own.

It is real and weak: it shows what travels on the wire, never what is right.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from types import TracebackType
from typing import Self

from infra.assets import fetched, locked
from infra.checkout import ROOT
from infra.local.places import Places
from judgment.llm.model import ModelChoice
from tests.bench.peers.environments import PythonEnvironment

HERE = Path(__file__).parent
CHOICE = ModelChoice("ollama", "smollm2")
"""As ruling 8 has it, a model of our own is configured as Ollama's, with its address."""


class SmallModel:
    """The running model; use as a context manager. `url` ends in `/v1`.

    Entering raises AssetMissing or PeerUnavailable where weights or runtime cannot be had.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self.url = ""

    def __enter__(self) -> Self:
        """Start it; ready in about a second, once everything is fetched (about 130 MB)."""
        weights = fetched(locked()["smollm2"], Places.default().assets)
        runtime = PythonEnvironment("small_model", locks=HERE, home=ROOT / ".local" / "models")
        self._process = subprocess.Popen(
            [str(runtime.install() / "python"), str(HERE / "serve.py"), str(weights)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().strip() + "/v1"
        assert self.url.startswith("http://127.0.0.1:"), "the model's server did not start"
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop it."""
        assert self._process is not None
        self._process.kill()
        self._process.communicate()
