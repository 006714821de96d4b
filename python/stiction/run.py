"""Recorded runs."""

from __future__ import annotations

import html
import json
import shutil
from collections.abc import Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from . import _stiction
from ._folder import Folder
from .errors import RecordingError

if TYPE_CHECKING:
    import pandas
    import pyarrow

Column: TypeAlias = "npt.NDArray[np.float64] | npt.NDArray[np.int64] | list[str]"


class Table(Mapping[str, Column]):
    """Columns by name, read on demand."""

    def __init__(self, path: Path, names: list[str], read: Any) -> None:
        self._path = path
        self._names = names
        self._read = read
        self._columns: dict[str, Column] = {}

    def __getitem__(self, name: str) -> Column:
        if name not in self._columns:
            self._columns[name] = self._read(name)
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def to_pandas(self) -> pandas.DataFrame:
        """The table as a pandas data frame."""
        import pandas

        return pandas.DataFrame({name: self[name] for name in self})

    def to_arrow(self) -> pyarrow.Table:
        """The table as an Arrow table."""
        import pyarrow.parquet

        return pyarrow.parquet.read_table(self._path)


class Run(Mapping[str, Column]):
    """A recorded run: columns of the trajectory by name, ``run["rod.y"]``, and more.

    A run made without ``out`` lasts as long as this object; :meth:`save` keeps it. :meth:`open` reads one that the program or an earlier
    session has recorded, bit for bit.
    """

    def __init__(self, folder: str | PathLike[str], keep: Folder | None = None) -> None:
        self.folder = Path(folder)
        self._keep = keep
        self._tables = _stiction.Tables(self.folder)
        #: One row per recorded moment.
        self.trajectory = Table(self.folder / "trajectory.parquet", self._tables.columns, self._tables.column)
        #: One row per contact and recorded moment.
        self.contacts = Table(
            self.folder / "contacts.parquet", self._tables.contact_columns, self._tables.contact_column
        )

    @classmethod
    def open(cls, folder: str | PathLike[str]) -> Run:
        """The run recorded in a folder."""
        return cls(folder)

    def __getitem__(self, name: str) -> Column:
        try:
            return self.trajectory[name]
        except KeyError:
            near = [known for known in self.trajectory if known.split(".")[0] == name.split(".")[0]]
            among = near or list(self.trajectory)
            raise KeyError(f"there is no column {name!r}; there are {', '.join(among[:12])} …") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.trajectory)

    def __len__(self) -> int:
        return len(self.trajectory)

    @property
    def t(self) -> npt.NDArray[np.float64]:
        """Time of every recorded moment, s."""
        return np.asarray(self.trajectory["t"], dtype=np.float64)

    @property
    def frames(self) -> int:
        """Number of recorded moments, including the initial state."""
        return self._tables.frames

    @property
    def summary(self) -> dict[str, Any]:
        """Summary of the run: energy, residuals, penetration, events."""
        try:
            loaded: dict[str, Any] = json.loads((self.folder / "summary.json").read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise RecordingError(f"the summary of {self.folder} cannot be read: {error}") from None
        return loaded

    def measure(self, expression: str) -> float | npt.NDArray[np.float64]:
        """Value of an expression over the columns, such as ``"max(abs(rod.vy))"``: a number, or one per recorded moment."""
        value: float | npt.NDArray[np.float64] = self._tables.measure(expression)
        return value

    def to_pandas(self) -> pandas.DataFrame:
        """The trajectory as a pandas data frame."""
        return self.trajectory.to_pandas()

    def to_arrow(self) -> pyarrow.Table:
        """The trajectory as an Arrow table."""
        return self.trajectory.to_arrow()

    def save(self, folder: str | PathLike[str]) -> Run:
        """Copies the files to another folder, and returns the run there."""
        target = Path(folder)
        target.mkdir(parents=True, exist_ok=True)
        for file in sorted(self.folder.iterdir()):
            shutil.copy2(file, target / file.name)
        return Run(target)

    def page(self, path: str | PathLike[str] | None = None) -> str:
        """A self-contained page that plays the run in any browser; also written to ``path``."""
        page = _stiction.view_page([self.folder])
        if path is not None:
            Path(path).write_text(page, encoding="utf-8")
        return page

    def _repr_html_(self) -> str:
        return page_in_a_frame(self.page())

    def __repr__(self) -> str:
        t = self.t
        return f"Run({self.frames} moments from {t[0]:g} to {t[-1]:g} s, {len(self)} columns)"


def page_in_a_frame(page: str) -> str:
    """A page inside another one, for notebooks."""
    return (
        f'<iframe srcdoc="{html.escape(page, quote=True)}" sandbox="allow-scripts allow-downloads" '
        'style="width:100%;height:600px;border:0"></iframe>'
    )
