"""Designs: parameters of a scene that minimise an objective."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from . import _stiction
from .errors import StudyError
from .study import Engine


@dataclass(frozen=True)
class DesignResult:
    """Results of a search. ``report`` is the content of results.json of `stiction design`."""

    report: dict[str, Any]

    @property
    def parameters(self) -> dict[str, float]:
        """The best parameters."""
        return {chosen["name"]: float(chosen["value"]) for chosen in self.report["parameters"]}

    @property
    def objective(self) -> float | None:
        """Best objective; None if every evaluation failed."""
        value = self.report["objective"]
        return None if value is None else float(value)

    @property
    def evaluations(self) -> int:
        """Number of distinct points that were evaluated."""
        return int(self.report["evaluations"])


class Design(_stiction.Design):
    """A design file. The result is the same on any number of threads and machines."""

    def __init__(self, path: str | PathLike[str]) -> None:
        self._path = Path(path)

    @classmethod
    def from_file(cls, path: str | PathLike[str]) -> Design:
        """Reads a design file."""
        return cls(path)

    def run(
        self,
        *,
        engine: Engine = "local",
        threads: int = 0,
        log: str | PathLike[str] | None = None,
        resume: bool = False,
        progress: Callable[[int], object] | None = None,
        address: str | None = None,
    ) -> DesignResult:
        """Searches from all starts.

        ``engine="ray"`` searches from each start on another worker, which pays off for designs with several starts. Evaluations are stored in
        the file ``log``, from which an interrupted search continues with ``resume``.
        """
        lines: list[str] = []
        if engine == "ray":
            from ._ray import search_starts

            known = self.known(Path(log)) if log is not None and resume else []
            lines = search_starts(self, self._path, known, address, progress)
        elif engine != "local":
            raise StudyError(f'there is no engine {engine!r}: "local" or "ray"')
        return DesignResult(self.search(threads, None if log is None else Path(log), resume, lines, progress))

    def __repr__(self) -> str:
        return f"Design({self.name!r}, parameters: {', '.join(self.parameters)})"
