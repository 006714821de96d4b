"""Orders of smooth motions against independent solutions."""

from __future__ import annotations

import itertools
import math

import numpy as np

from . import medians
from . import scene as scenes
from .program import Bench, Run
from .report import Table
from .smooth import SMOOTH

STEPS = [0.004, 0.002, 0.001]  # s
TIME = 0.4  # s
LEAST = {1: 0.9, 2: 1.8}  # slope by order


def error(run: Run, name: str) -> float:
    """Largest error of a position in m or of an orientation in rad at the end."""
    if not run.finished:
        return math.nan
    positions, turns = SMOOTH[name][1](TIME)
    worst = 0.0
    for body, position, turn in zip(run.scene["body"], positions, turns):
        names = " ".join("xyz"[: len(position)])
        worst = max(worst, float(np.linalg.norm(run.vectors(body["name"], names)[-1] - position)))
        if len(position) == 2:
            worst = max(worst, abs(float(run.columns[f"{body['name']}.angle"][-1] - turn)))
        else:
            worst = max(worst, scenes.angle_between(run.vectors(body["name"], "qw qx qy qz")[-1], turn))
    return worst


def slopes(bench: Bench) -> Table:
    """Errors at 0.4 s in all coordinates, as the step is halved twice."""
    table = Table(
        f"orders: errors at {TIME:g} s, 4, 2, 1 ms",
        ["scene", "coordinates", "order", "errors, m or rad", "slopes"],
    )
    cases = list(itertools.product(SMOOTH, ("maximal", "reduced", "divide-and-conquer"), (1, 2)))

    def measure(case: tuple[str, str, int]) -> list[float]:
        name, coordinates, order = case
        errors = []
        for step in STEPS:
            scheme = {"coordinates": coordinates, "order": order}
            scene = scenes.varied(SMOOTH[name][0](), scheme, duration=TIME, step=step)
            errors.append(
                error(bench.run(f"orders/{name.replace(' ', '-')}-{coordinates}-{order}-{step}", scene), name)
            )
        return errors

    for case, errors in zip(cases, bench.map(measure, cases)):
        found = [math.log2(a / b) for a, b in zip(errors, errors[1:])]
        least = LEAST[case[2]]
        cells = [*case, " ".join(f"{e:.1e}" for e in errors), " ".join(f"{slope:.2f}" for slope in found)]
        table.add(cells, f"slopes {least}", all(slope >= least for slope in found))
    return table


def tables(bench: Bench) -> list[Table]:
    """All tables of the group."""
    return [slopes(bench), medians.table(bench)]
