"""Derivatives of runs, exact to rounding, by differentiation of the solved contact problem of every step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _stiction
from ._scene_like import SceneLike, text_and_name
from .errors import GradientError


@dataclass(frozen=True)
class Gradients:
    """States after every step and their derivatives with respect to every unknown."""

    unknowns: list[str]
    #: Time after every step, s.
    t: npt.NDArray[np.float64]
    #: Coordinates and velocities: steps × numbers.
    q: npt.NDArray[np.float64]
    v: npt.NDArray[np.float64]
    #: Derivatives of displacements (rotations about the world axes) and of velocities: steps × velocities × unknowns.
    dq: npt.NDArray[np.float64]
    dv: npt.NDArray[np.float64]


def gradients(
    of: SceneLike,
    unknowns: Mapping[str, float],
    *,
    steps: int,
    start: list[tuple[str, int]] | None = None,
) -> Gradients:
    """Derivatives of the motion with respect to values of the scene and, by ``start``, components of the initial state.

    ``unknowns`` are paths of the scene with their values; ``start`` names components as ``("q", 0)`` or ``("v", 2)``, by the index of the
    velocity in the model.

    >>> import stiction
    >>> scene = stiction.Scene(duration=1.0, step=0.01, gravity=[0.0, -9.81])
    >>> _ = scene.body("floor", kind="fixed").shape(halfspace={"normal": [0.0, 1.0]})
    >>> box = scene.body("box", mass=1.0, position=[0.0, 0.1], velocity=[2.0, 0.0])
    >>> _ = box.shape(box={"size": [0.2, 0.2]})
    >>> scene.contact_default(friction=0.4)
    >>> found = stiction.gradients(scene, {"contact_default.friction": 0.4}, steps=10)
    >>> round(float(found.dv[-1, 0, 0]), 6)  # a sliding box loses μ g t
    -0.981
    """
    text, name = text_and_name(of)
    asked: list[tuple[str, str, float]] = [("value", path, float(value)) for path, value in unknowns.items()]
    for which, place in start or []:
        if which not in ("q", "v"):
            raise GradientError(f'components of the initial state are of "q" or "v", not of {which!r}')
        asked.append((which, "", float(place)))
    if not asked:
        raise GradientError("no unknowns are given: name a value of the scene or a component of the initial state")
    t, q, v, dq, dv = _stiction.gradients(text, name, asked, steps)
    names = list(unknowns) + [f"{which}[{place}]" for which, place in start or []]
    stacked: list[Any] = [np.array(part) for part in (t, q, v, dq, dv)]
    return Gradients(names, *stacked)
