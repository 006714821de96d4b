"""Identification: parameters of a scene from recorded motions."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _stiction
from .errors import IdentificationError
from .simulation import Simulation

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class Estimate:
    """An estimate with its uncertainty."""

    name: str
    value: float
    deviation: float | None
    #: Interval of 95 % confidence; None if it is not observable or at a bound.
    interval: tuple[float, float] | None
    unit: str


@dataclass(frozen=True)
class IdentificationResult:
    """Results of an identification. ``report`` is the content of summary.json of `stiction identify`."""

    report: dict[str, Any]
    _of: Identification

    def estimates(self, method: str | None = None) -> dict[str, Estimate]:
        """Estimates by name: those of a method, or of the first."""
        for found in self.report["methods"]:
            if method is None or found["method"] == method:
                return {entry["name"]: _estimate(entry) for entry in found["estimates"]}
        raise IdentificationError(f"there is no method {method!r} among {self.methods}")

    @property
    def methods(self) -> list[str]:
        """The methods that ran."""
        return [str(found["method"]) for found in self.report["methods"]]

    @property
    def predictions(self) -> pandas.DataFrame:
        """Prediction errors of held-out motions."""
        import pandas

        return pandas.json_normalize(self.report["predictions"])

    def simulation(self) -> Simulation:
        """Simulation of the scene with the estimates."""
        values = [estimate.value for estimate in self.estimates().values()]
        return Simulation.from_toml(self._of.scene_with(values), self._of.name)


class Identification(_stiction.Identification):
    """An identification file with its recordings."""

    @classmethod
    def from_file(cls, path: str | PathLike[str]) -> Identification:
        """Reads an identification file, its scene and its recordings."""
        return cls(Path(path))

    def run(self, progress: Callable[[int], object] | None = None) -> IdentificationResult:
        """Runs all methods of the file. ``progress`` is called with the number of completed parts."""
        return IdentificationResult(json.loads(self.identify(progress)), self)

    def __repr__(self) -> str:
        return f"Identification({self.name!r}, unknowns: {', '.join(self.unknowns)})"


def _estimate(entry: dict[str, Any]) -> Estimate:
    interval = entry["interval"]
    between = None if interval is None else (float(interval[0]), float(interval[1]))
    return Estimate(entry["name"], float(entry["value"]), entry["deviation"], between, entry["unit"])
