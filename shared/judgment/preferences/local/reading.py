"""Reading one compiled document, at the price of opening one file.

A session starts with this, so it imports as little as it can and takes no lock: a document is
replaced whole, so what is read is whole.
"""

from __future__ import annotations

from pathlib import Path

from judgment.kit.files import read_private
from judgment.preferences.documents import Document
from judgment.preferences.documents import read_document as parsed
from judgment.preferences.local.places import document_path


def read_document(root: Path, platform: str | None = None) -> Document | None:
    """The compiled document for a platform, or the global one where it has none; None: no document.

    Opens exactly one file. Raises InvalidSignal for a platform that is none, InvalidDocument where
    the file holds no document, and Unavailable where it cannot be read.
    """
    path = document_path(root, platform)
    if platform is not None and not path.exists():
        path = document_path(root, None)
    data = read_private(path)
    if data is None and platform is not None:
        # The platform's document went between the look and the opening: it had no override left.
        path = document_path(root, None)
        data = read_private(path)
    return None if data is None else parsed(data)
