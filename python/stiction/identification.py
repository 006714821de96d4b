"""Identifications: parameters of a scene from recorded motions."""

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
    """A value with what is known of its accuracy."""

    name: str
    value: float
    deviation: float | None
    #: Where it is with 95 % confidence; none where it cannot be seen or is at a bound.
    interval: tuple[float, float] | None
    unit: str


@dataclass(frozen=True)
class IdentificationResult:
    """What an identification found. ``report`` is what `stiction identify` writes to summary.json."""

    report: dict[str, Any]
    _of: Identification

    def estimates(self, method: str | None = None) -> dict[str, Estimate]:
        """The parameters by name: those of a method, or of the first."""
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
        """How motions that were held out are predicted."""
        import pandas

        return pandas.json_normalize(self.report["predictions"])

    def simulation(self) -> Simulation:
        """The simulation of the scene with what was found."""
        values = [estimate.value for estimate in self.estimates().values()]
        return Simulation.from_toml(self._of.scene_with(values), self._of.name)


class Identification(_stiction.Identification):
    """An identification file with its recordings."""

    @classmethod
    def from_file(cls, path: str | PathLike[str]) -> Identification:
        """Reads an identification file, its scene and its recordings."""
        return cls(Path(path))

    def run(self, progress: Callable[[int], object] | None = None) -> IdentificationResult:
        """Identifies by all methods of the file. ``progress`` is called with the number of parts that are done."""
        return IdentificationResult(json.loads(self.identify(progress)), self)

    def __repr__(self) -> str:
        return f"Identification({self.name!r}, unknowns: {', '.join(self.unknowns)})"


def _estimate(entry: dict[str, Any]) -> Estimate:
    interval = entry["interval"]
    between = None if interval is None else (float(interval[0]), float(interval[1]))
    return Estimate(entry["name"], float(entry["value"]), entry["deviation"], between, entry["unit"])
