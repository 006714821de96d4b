"""Comparison of schemes: one scene with several schemes and step sizes, and the errors of each."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _stiction
from ._scene_like import SceneLike, text_and_name
from .simulation import Simulation

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class Comparison:
    """Results of a comparison; ``data`` is the content of compare.json of `stiction compare`."""

    data: dict[str, Any]

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Rows, one per scheme and step size."""
        rows: list[dict[str, Any]] = self.data["rows"]
        return rows

    @property
    def truth(self) -> dict[str, Any]:
        """Reference solution."""
        truth: dict[str, Any] = self.data["truth"]
        return truth

    @property
    def refusals(self) -> list[dict[str, Any]]:
        """Schemes that do not support this scene, with the reason."""
        refusals: list[dict[str, Any]] = self.data["refusals"]
        return refusals

    def to_pandas(self) -> pandas.DataFrame:
        """The rows as a data frame, with errors as columns."""
        import pandas

        return pandas.json_normalize(self.rows)


def compare(
    of: SceneLike,
    presets: Sequence[str] = ("ncp", "stewart-trinkle", "anitescu-potra"),
    steps: Sequence[float] | None = None,
    *,
    until: float | None = None,
) -> Comparison:
    """Runs a scene with every preset and every step size (by default that of the scene and half of it).

    >>> import stiction
    >>> scene = stiction.Scene(duration=0.5, step=0.05, gravity=[0.0, -9.81])
    >>> _ = scene.body("stone", mass=1.0, position=[0.0, 10.0]).shape(disc={"radius": 0.1})
    >>> found = stiction.compare(scene, ["ncp", "moreau-jean"])
    >>> [(row["preset"], row["step"]) for row in found.rows]
    [('ncp', 0.05), ('ncp', 0.025), ('moreau-jean', 0.05), ('moreau-jean', 0.025)]
    """
    text, name = text_and_name(of)
    if steps is None:
        h = Simulation.from_toml(text, name).step_size
        steps = [h, h / 2]
    return Comparison(json.loads(_stiction.compare_schemes(text, name, list(presets), list(steps), until)))
