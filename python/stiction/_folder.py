"""Where results are written."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from os import PathLike
from pathlib import Path


class Folder:
    """The folder that somebody wants, or one that lasts as long as this object, without a word of warning at its end."""

    def __init__(self, out: str | PathLike[str] | None) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="stiction-") if out is None else out)
        if out is None:
            weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)
