"""Closed linkages in all coordinates: that they run, agree, and keep their joints closed."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import numpy as np

from . import scene as scenes
from .linkages import LINKAGES
from .program import Bench, Run
from .report import Table

COORDINATES = ["maximal", "reduced", "divide-and-conquer"]
STEPS = [0.004, 0.002, 0.001]  # s
AGREEMENT = 1.0  # s, when coordinates are compared
NEGLIGIBLE = 0.01  # of what halving the step changes
ROUNDING = 1e-9  # m, below which differences and errors are not expected to fall


def positions(run: Run, time: float) -> np.ndarray | None:
    """Positions of all bodies at a recorded time."""
    if not run.columns or run.t[-1] < time - 1e-9:
        return None
    row = int(np.argmin(np.abs(run.t - time)))
    names = " ".join("xyz"[: len(run.scene["simulation"]["gravity"])])
    return np.array([run.vectors(body["name"], names)[row] for body in run.scene["body"]])


def distance(a: np.ndarray | None, b: np.ndarray | None) -> float:
    """Largest distance of a body between two runs."""
    return math.nan if a is None or b is None else float(np.max(np.linalg.norm(a - b, axis=-1)))


def falls(values: list[float], ratio: float, small: float = ROUNDING) -> bool:
    """Whether values fall by a ratio each time, or are small."""
    if not all(map(math.isfinite, values)):
        return False
    return all(b <= small or a >= ratio * b for a, b in zip(values, values[1:]))


def cells(values: list[float]) -> str:
    return " ".join(f"{value:.1e}" for value in values)


def runs_of(bench: Bench, order: int) -> dict[tuple[str, str, float], Run]:
    """Runs of every linkage in all coordinates and steps."""
    duration = 2.0 if bench.quick else 10.0
    cases = list(itertools.product(LINKAGES, COORDINATES, STEPS))

    def measure(case: tuple[str, str, float]) -> Run:
        name, coordinates, step = case
        scheme = {"coordinates": coordinates, "order": order}
        scene = scenes.varied(LINKAGES[name](), scheme, duration=duration, step=step)
        return bench.run(f"loops/{name}-{coordinates}-order{order}-{step}", scene)

    return dict(zip(cases, bench.map(measure, cases)))


def tables_of(bench: Bench, order: int) -> list[Table]:
    """Runs and joint errors, and agreement between coordinates."""
    done = runs_of(bench, order)
    milliseconds = ", ".join(f"{1e3 * step:g}" for step in STEPS)
    seconds = 2 if bench.quick else 10
    closed = Table(
        f"loops: order {order}, {seconds} s at {milliseconds} ms",
        ["linkage", "coordinates", "largest joint error", "dE/T", "not run"],
    )
    agree = Table(
        f"loops: order {order}, distance of bodies between coordinates at {AGREEMENT:g} s, {milliseconds} ms",
        ["linkage", "coordinates", "largest distance, m", "from itself at half the step"],
    )
    for name in LINKAGES:
        for coordinates in COORDINATES:
            runs = [done[name, coordinates, step] for step in STEPS]
            errors = [run.summary["joint_error"]["max"] if run.finished else math.nan for run in runs]
            energies = [run.energy_error() if run.finished else math.nan for run in runs]
            failed = next((run.error for run in runs if not run.finished), "")
            holds = not failed and falls(errors[1:], 3.0)
            closed.add([name, coordinates, cells(errors), cells(energies), failed], "last falls by 3", holds)
        ends = {key: positions(run, AGREEMENT) for key, run in done.items()}
        for one, other in itertools.combinations(COORDINATES, 2):
            differences = [distance(ends[name, one, step], ends[name, other, step]) for step in STEPS]
            own = [distance(ends[name, one, a], ends[name, one, b]) for a, b in zip(STEPS, STEPS[1:])]
            ratio = 1.7 if order == 1 else 3.2
            # Differences far below the error of the scheme do not count: there the last bits decide.
            small = max(ROUNDING, NEGLIGIBLE * own[-1])
            asked = f"falls by {ratio} or {100 * NEGLIGIBLE:g} % of the last"
            agree.add(
                [name, f"{one}, {other}", cells(differences), cells(own)], asked, falls(differences, ratio, small)
            )
    return [closed, agree]


def projected(bench: Bench) -> Table:
    """Joint errors with projection of positions, where it is not refused."""
    table = Table("loops: projection of positions, 2 ms", ["linkage", "coordinates", "order", "largest joint error"])
    cases = list(itertools.product(LINKAGES, COORDINATES, (1, 2)))

    def measure(case: tuple[str, str, int]) -> Run:
        name, coordinates, order = case
        scheme = {"coordinates": coordinates, "order": order, "stabilisation": {"projection": "positions"}}
        scene = scenes.varied(LINKAGES[name](), scheme, duration=2.0 if bench.quick else 10.0)
        return bench.run(f"loops/{name}-{coordinates}-order{order}-projected", scene)

    for case, run in zip(cases, bench.map(measure, cases)):
        if run.code == 2:
            table.add([*case, f"refused: {run.error[:70]}…"], "", None)
            continue
        error = run.summary["joint_error"]["max"] if run.finished else run.error
        table.add([*case, error], "1e-10", isinstance(error, float) and error < 1e-10)
    return table


def given(bench: Bench, folder: Path) -> Table:
    """Scenes of a folder: those with joints and without contact must run to their end, unless refused."""
    table = Table(f"loops: scenes of {folder.name}", ["scene", "coordinates", "ending"])
    jointed = [path for path in sorted(folder.glob("*.toml")) if "joint" in path.read_text()]
    cases = list(itertools.product(jointed, COORDINATES))

    def measure(case: tuple[Path, str]) -> Run:
        path, coordinates = case
        set_coordinates = f'scheme.coordinates="{coordinates}"'
        return bench.run(f"loops/given-{path.stem}-{coordinates}", path.read_text(), "--set", set_coordinates)

    for (path, coordinates), run in zip(cases, bench.map(measure, cases)):
        smooth = run.summary.get("contacts_max", 0) == 0 and run.code != 2
        ending = "finished" if run.finished else run.error[:140]
        table.add([path.stem, coordinates, ending], "finished" if smooth else "", run.finished if smooth else None)
    return table


def tables(bench: Bench, folder: Path | None) -> list[Table]:
    """All tables of the group."""
    more = [given(bench, folder)] if folder else []
    return [*tables_of(bench, 1), *tables_of(bench, 2), projected(bench), *more]
