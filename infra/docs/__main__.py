"""`python -m infra.docs` writes the generated documents; `--check` only names the stale ones."""

from __future__ import annotations

import argparse
import sys

from infra.checkout import ROOT
from infra.docs.pages import stale, write


def main(arguments: list[str] | None = None) -> int:
    """0 when every document is current (after writing them, unless `--check`), else 1."""
    parser = argparse.ArgumentParser(prog="python -m infra.docs", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, name what is stale")
    if not parser.parse_args(arguments).check:
        for path in write(ROOT):
            print(f"wrote {path}")
        return 0
    behind = stale(ROOT)
    for path in behind:
        print(f"stale: {path} (run ./dev docs)", file=sys.stderr)
    return 1 if behind else 0


if __name__ == "__main__":
    sys.exit(main())
