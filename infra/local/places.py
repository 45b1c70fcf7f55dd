"""Where a stack keeps what: its own state folder, and what all stacks of a checkout share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from infra.checkout import ROOT


@dataclass(frozen=True)
class Places:
    """Files of one stack, below `state`."""

    state: Path

    @classmethod
    def default(cls) -> Places:
        """The stack of `./dev up`."""
        return cls(ROOT / ".local")

    @property
    def lock(self) -> Path:
        """Held while the stack runs; it contains the supervisor's process id."""
        return self.state / "supervisor.pid"

    @property
    def stack_file(self) -> Path:
        """What tests and scripts read; there while the stack serves."""
        return self.state / "stack.json"

    @property
    def ports(self) -> Path:
        """The ports of last time."""
        return self.state / "ports.json"

    @property
    def keys(self) -> Path:
        """Agent keys of the seeded owners, private."""
        return self.state / "keys.json"

    @property
    def secrets(self) -> Path:
        """Secrets that a restart must keep, private."""
        return self.state / "secrets.json"

    @property
    def issuer(self) -> Path:
        """The OIDC issuer's keys and switch, private."""
        return self.state / "issuer.json"

    @property
    def gateway(self) -> Path:
        """The gateway's configuration, private."""
        return self.state / "gateway.json"

    @property
    def children(self) -> Path:
        """Process ids of the parts."""
        return self.state / "children.json"

    @property
    def postgres(self) -> Path:
        """The database cluster."""
        return self.state / "pg"

    @property
    def logs(self) -> Path:
        """One log per door and part."""
        return self.state / "logs"

    @property
    def wire_log(self) -> Path:
        """A line per request of an agent."""
        return self.state / "wire.jsonl"

    @property
    def scratch(self) -> Path:
        """A home and temporary folder for parts, so that they see nobody's real one."""
        return self.state / "tmp"

    @property
    def assets(self) -> Path:
        """Fetched data, shared by all stacks of the checkout."""
        return ROOT / ".local" / "assets"

    def make(self) -> None:
        """Create the folders. Others may pass through (Postgres runs as another user), not look."""
        for folder in (self.state, self.logs, self.scratch):
            folder.mkdir(parents=True, exist_ok=True)
        self.state.chmod(0o711)
        self.logs.chmod(0o700)
        self.scratch.chmod(0o700)
