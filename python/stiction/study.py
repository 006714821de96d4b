"""Monte Carlo studies: many simulations, and what they say together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from . import _stiction
from ._folder import Folder
from .errors import StudyError

if TYPE_CHECKING:
    import pandas
    import pyarrow

Engine = Literal["local", "ray"]


@dataclass(frozen=True)
class StudyResult:
    """What a study found. ``report`` is what `stiction sweep` writes to summary.json; the table has one row per trial."""

    report: dict[str, Any]
    folder: Path
    _keep: Folder | None = field(default=None, repr=False)

    @property
    def made(self) -> int:
        """Trials that were made: the first so many."""
        return int(self.report["made"])

    @property
    def complete(self) -> bool:
        """Whether all were."""
        return bool(self.report["ending"] == "complete")

    def success(self, variant: str | None = None) -> tuple[float, float, float]:
        """The success rate with its interval: of a variant, or of the first."""
        counted = self._variant(variant)["all"]["success"]
        return _success_rate(counted), float(counted["low"]), float(counted["high"])

    def _variant(self, name: str | None) -> dict[str, Any]:
        for variant in self.report["variants"]:
            if name is None or variant["name"] == name:
                found: dict[str, Any] = variant
                return found
        raise StudyError(f"there is no variant {name!r}")

    def cells(self, variant: str | None = None) -> pandas.DataFrame:
        """The cells of the grid: values of the grid parameters, successes (``hits`` of ``of`` trials), the ``success_rate`` with its
        interval from ``low`` to ``high``, and trials that failed."""
        import pandas

        names = [axis["name"] for axis in self.report["grid"]]
        rows = []
        for cell in self._variant(variant)["cells"]:
            counted = cell["success"]
            at = dict(zip(names, cell["at"], strict=True))
            rows.append({**at, "success_rate": _success_rate(counted), **counted, "failed": cell["failed"]})
        return pandas.DataFrame(rows)

    def to_arrow(self) -> pyarrow.Table:
        """All trials as a table of Arrow."""
        import pyarrow.parquet

        return pyarrow.parquet.read_table(self.folder / "trials.parquet")

    def to_pandas(self) -> pandas.DataFrame:
        """All trials as a data frame."""
        import pandas

        return pandas.read_parquet(self.folder / "trials.parquet")


def _success_rate(counted: dict[str, Any]) -> float:
    """Successes over trials; zero of no trials."""
    return float(counted["hits"]) / max(int(counted["of"]), 1)


class Study(_stiction.Study):
    """A study file, ready to run.

    A trial is a function of the study and its number alone, so the results are the same bits on any number of threads, in any order, and
    on any machines of a Ray cluster.
    """

    @classmethod
    def from_file(cls, path: str | PathLike[str], *, trials: int | None = None, seed: int | None = None) -> Study:
        """Reads a study file; ``trials`` (per cell) and ``seed`` may differ from those of the file."""
        return cls(Path(path), trials, seed)

    def run(
        self,
        out: str | PathLike[str] | None = None,
        *,
        engine: Engine = "local",
        threads: int = 0,
        resume: bool = False,
        fresh: bool = False,
        max_seconds: float | None = None,
        progress: Callable[[int], object] | None = None,
        address: str | None = None,
        batch: int | None = None,
    ) -> StudyResult:
        """Makes all trials and says what they found.

        ``engine="local"`` uses the cores of this machine (``threads``, 0 for all); ``engine="ray"`` spreads batches of trials over a Ray
        cluster: the one at ``address``, or the one that is connected already, or one that is started on this machine for the purpose.
        A folder that holds trials is continued with ``resume`` and started anew with ``fresh``. ``progress`` is called now and then
        with the number of trials that are finished; what it raises ends the study, and what was made stays in the folder.
        """
        keep = Folder(out)
        folder = keep.path
        if engine == "local":
            report = self.make_all(folder, threads, resume, fresh, max_seconds, progress)
        elif engine == "ray":
            from ._ray import make_study

            report = make_study(self, folder, (resume, fresh), address, batch, progress, max_seconds)
        else:
            raise StudyError(f'there is no engine {engine!r}: "local" or "ray"')
        return StudyResult(report, folder, keep)

    def __repr__(self) -> str:
        return f"Study({self.name!r}, {self.count} trials)"
