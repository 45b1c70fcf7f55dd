"""The emulator of SQS, EventBridge, Scheduler, DynamoDB and Secrets Manager, in its own venv.

It is pinned by a hashed list, bound to 127.0.0.1, and started with an environment in which there
is nothing but its own settings: by default it would listen on every address and hand its whole
environment on.
"""

from __future__ import annotations

import hashlib
import http.client
import ssl
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from infra.checkout import ROOT
from infra.local.children import Child, ChildFailed, last_words
from infra.uv import find_uv

if TYPE_CHECKING:
    from infra.local.places import Places

ENVIRONMENT = ROOT / ".local" / "venvs" / "ministack"
LOCK = ROOT / "infra" / "local" / "ministack.lock"
_READY_SECONDS = 30.0


def ensure_environment() -> Path:
    """The venv's Python, after installing the locked packages once. Raises ChildFailed."""
    python = ENVIRONMENT / "bin" / "python"
    stamp = ENVIRONMENT / ".installed"
    wanted = hashlib.sha256(LOCK.read_bytes()).hexdigest()
    if stamp.exists() and stamp.read_text() == wanted and python.exists():
        return python
    if uv := find_uv():
        _install([uv, "venv", "-q", "--clear", "--python", sys.executable, str(ENVIRONMENT)])
        pip = [uv, "pip", "install", "-q", "--python", str(python)]
    else:
        _install([sys.executable, "-m", "venv", "--clear", str(ENVIRONMENT)])
        pip = [str(python), "-m", "pip", "install", "-q"]
    _install([*pip, "--require-hashes", "--no-deps", "-r", str(LOCK)])
    stamp.write_text(wanted)
    return python


def ministack(places: Places, port: int, extra: Mapping[str, str] | None = None) -> Child:
    """The emulator as a child that is not started yet; `extra` are settings of its own."""
    python = ensure_environment()
    environ = {
        "PATH": f"{python.parent}:/usr/bin:/bin",
        "HOME": str(places.scratch),
        "TMPDIR": str(places.scratch),
        "LANG": "C.UTF-8",
        "BIND_HOST": "127.0.0.1",
        "MINISTACK_HOST": "127.0.0.1",
        "GATEWAY_PORT": str(port),
        "IOT_MTLS_ENABLED": "0",
        "SFTP_ENABLED": "0",
        "LAMBDA_ACCOUNT_CONCURRENCY": "8",
        "LOG_LEVEL": "WARNING",
        **(extra or {}),
    }
    return Child(
        "ministack",
        [str(python), "-m", "ministack"],
        environ=environ,
        log=places.logs / "ministack.log",
        folder=places.scratch,
    )


def wait_until_ready(child: Child, port: int, *, tls: bool = False) -> None:
    """Raises ChildFailed when the emulator ends or does not answer in time.

    With `tls` its certificate is not looked at: this only asks whether it is up.
    """
    deadline = time.monotonic() + _READY_SECONDS
    while True:
        child.ensure_running()
        connection = _connection(port, tls)
        try:
            connection.request("GET", "/_ministack/health")
            if connection.getresponse().status == 200:
                return
        except OSError:
            if time.monotonic() > deadline:
                raise ChildFailed(f"ministack is silent:\n{last_words(child.log)}") from None
        finally:
            connection.close()
        time.sleep(0.03)


def _connection(port: int, tls: bool) -> http.client.HTTPConnection:
    if not tls:
        return http.client.HTTPConnection("127.0.0.1", port, timeout=2)
    unchecked = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    unchecked.check_hostname = False
    unchecked.verify_mode = ssl.CERT_NONE
    return http.client.HTTPSConnection("127.0.0.1", port, timeout=2, context=unchecked)


def _install(command: list[str]) -> None:
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise ChildFailed(f"ministack could not be installed:\n{result.stderr[-1500:]}")
