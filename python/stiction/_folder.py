"""Folders of results."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from os import PathLike
from pathlib import Path


class Folder:
    """The requested folder, or a temporary one that is removed with this object, without a warning."""

    def __init__(self, out: str | PathLike[str] | None) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="stiction-") if out is None else out)
        if out is None:
            weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)
