"""Telling a package registry that is out of reach from a pin that is wrong."""

from __future__ import annotations

import re
from typing import NoReturn

import pytest

# uv's and npm's own words, met by cutting them off.
_OUT_OF_REACH = re.compile(
    r"error sending request|network was disabled|operation timed out"
    r"|ENOTFOUND|ECONNREFUSED|EAI_AGAIN|ETIMEDOUT|ENETUNREACH|uv is needed"
)


def skip_if_unreachable(failure: Exception) -> NoReturn:
    """Skip where no registry answered or no uv is there (`./dev` brings one); else raise it."""
    if _OUT_OF_REACH.search(str(failure)):
        pytest.skip(f"nothing can be fetched here: {failure}")
    raise failure
