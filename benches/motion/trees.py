"""Random isolated trees: momentum and energy."""

from __future__ import annotations

import numpy as np

from . import scene as scenes
from .program import Bench, Run
from .report import Table

KINDS = ["revolute", "prismatic", "weld", "spherical", "universal", "cylindrical", "planar"]
SLIDE = 0.5  # m/s, fastest slide at the start
DURATION, STEP = 5.0, 0.002  # s
FRACTIONS = {5.0: (0.005, 0.03), 20.0: (None, 0.20)}  # of the energy: median and largest change by rate


def unit(random: np.random.Generator) -> np.ndarray:
    """Random direction."""
    direction = random.normal(size=3)
    return direction / np.linalg.norm(direction)


def tree(seed: int, rate: float, distance: bool) -> dict:
    """Tree of 2 to 30 links without forces; joint rates up to `rate`, mass ratios up to 100, lengths 0.1 to 1 m.

    Links are slender rods along their x axes. A link hangs on a random earlier one. With `distance`, every third joint
    keeps the distance of two points, and the velocities of the scene obey it.
    """
    random = np.random.default_rng([seed, int(rate), int(distance)])
    count = int(random.integers(2, 31))
    bodies: list[dict] = []
    joints: list[dict] = []
    ends: list[np.ndarray] = []  # half of every link, from its centre
    for k in range(count):
        name, length = f"l{k}", random.uniform(0.1, 1.0)
        mass = 10 ** random.uniform(-1.0, 1.0)
        half = 0.5 * length * unit(random)
        if k == 0:
            position, velocity, turn = np.zeros(3), random.uniform(-0.3, 0.3, 3), random.uniform(-rate, rate, 3)
        else:
            parent = int(random.integers(0, k))
            kind = "distance" if distance and k % 3 == 0 else KINDS[int(random.integers(len(KINDS)))]
            joint, position, velocity, turn = hung(random, kind, bodies[parent], ends[parent], half, rate)
            joints.append({"kind": kind, "between": [f"l{parent}", name], **joint})
        ends.append(half)
        bodies.append(
            {
                "name": name,
                "mass": mass,
                "inertia": scenes.rod_inertia(mass, length, 0.15 * length),
                "position": position,
                "orientation": scenes.towards(half),
                "velocity": velocity,
                "angular_velocity": turn,
            }
        )
    return {"simulation": scenes.simulation(DURATION, STEP, [0.0] * 3), "body": bodies, "joint": joints}


def hung(
    random: np.random.Generator, kind: str, parent: dict, end: np.ndarray, half: np.ndarray, rate: float
) -> tuple[dict, np.ndarray, np.ndarray, np.ndarray]:
    """Keys of the joint, and position, velocity and angular velocity of a link at one end of its parent."""
    axis = unit(random)
    second = np.cross(axis, unit(random))
    second /= np.linalg.norm(second)
    anchor = parent["position"] + (end if random.random() < 0.5 else -end)
    omega = parent["angular_velocity"]
    at_anchor = parent["velocity"] + np.cross(omega, anchor - parent["position"])
    across = np.cross(axis, second)
    along = random.uniform(-SLIDE, SLIDE, 2)
    turn, slide, keys = np.zeros(3), np.zeros(3), {"anchor": anchor}
    if kind in ("revolute", "cylindrical", "planar"):
        turn = axis * random.uniform(-rate, rate)
    if kind in ("spherical", "distance"):
        turn = random.uniform(-rate, rate, 3) / np.sqrt(3.0)
    if kind == "universal":
        turn = (axis * random.uniform(-rate, rate) + second * random.uniform(-rate, rate)) / np.sqrt(2.0)
        keys["second_axis"] = second
    if kind in ("prismatic", "cylindrical"):
        slide = axis * along[0]
    if kind == "planar":
        slide = second * along[0] + across * along[1]
    if kind not in ("weld", "spherical", "distance"):
        keys["axis"] = axis
    start = anchor
    if kind == "distance":
        start = anchor + random.uniform(0.1, 0.5) * axis
        keys = {"anchors": [anchor, start]}
        # Only velocities across the line of the two points are allowed.
        slide = second * along[0] + across * along[1]
    position = start + half
    velocity = at_anchor + slide + np.cross(omega + turn, half)
    return keys, position, velocity, omega + turn


def cases(bench: Bench) -> list[tuple[str, float, bool, int]]:
    """Coordinates, rate, with distance joints or without, and number of trees."""
    many, few = (30, 6) if bench.quick else (250, 25)
    chosen = [("reduced", rate, False, many) for rate in FRACTIONS]
    chosen += [("reduced", rate, True, 2 * few) for rate in FRACTIONS]
    chosen += [(other, rate, False, few) for other in ("divide-and-conquer", "maximal") for rate in FRACTIONS]
    return chosen + [(other, 5.0, True, few) for other in ("divide-and-conquer", "maximal")]


def measure(bench: Bench, coordinates: str, rate: float, distance: bool, seed: int) -> tuple[Run, list[float]]:
    """Run of a tree, with the changes of its energy, momentum and angular momentum."""
    kind = "distance" if distance else "joints"
    scene = scenes.varied(tree(seed, rate, distance), {"coordinates": coordinates})
    run = bench.run(f"trees/{coordinates}-{rate:.0f}-{kind}-{seed}", scene, "--record-every", "5")
    if not run.finished:
        return run, []
    total = run.columns["total"]
    linear, angular = run.momentum_errors()
    return run, [float(np.max(np.abs(total / total[0] - 1.0))), linear, angular]


def tables(bench: Bench) -> list[Table]:
    """One row for each kind of tree, and one for each tree that fails."""
    head = [
        "coordinates",
        "rad/s",
        "joints",
        "trees",
        "not run",
        "dE median",
        "dE largest (seed)",
        "dP",
        "dL (seed)",
        "halved",
    ]
    table = Table("trees: isolated, random, 5 s at 2 ms", head)
    bad = Table("trees that fail, the smallest first", ["scene", "links", "what"])
    for coordinates, rate, distance, count in cases(bench):
        done = bench.map(lambda seed: measure(bench, coordinates, rate, distance, seed), range(count))
        median, most = FRACTIONS[rate]
        kept = [(seed, *errors) for seed, (_, errors) in enumerate(done) if errors]
        if not kept:
            table.add([coordinates, rate, distance, count, count, *[""] * 5], "runs", False)
            continue
        energies = [row[1] for row in kept]
        typical = float(np.median(energies))
        worst, spun = max(kept, key=lambda row: row[1]), max(kept, key=lambda row: row[3])
        linear = max(row[2] for row in kept)
        halved = sum((run.summary.get("halved") or {}).get("steps", 0) for run, _ in done)
        holds = len(kept) == count and (median is None or typical <= median) and worst[1] <= most
        holds = holds and linear <= 1e-10 and spun[3] <= 1e-8
        asked = (
            f"dE {'' if median is None else f'median {100 * median:.1f} %, '}all {100 * most:.0f} %, dP 1e-10, dL 1e-8"
        )
        kind = "with distance" if distance else "all others"
        row = [coordinates, rate, kind, count, count - len(kept), typical, f"{worst[1]:.1e} ({worst[0]})", linear]
        table.add([*row, f"{spun[3]:.1e} ({spun[0]})", halved], asked, holds)
        for seed, (run, errors) in enumerate(done):
            if not errors or errors[0] > most or errors[1] > 1e-10 or errors[2] > 1e-8:
                what = f"dE {errors[0]:.1e}, dP {errors[1]:.1e}, dL {errors[2]:.1e}" if errors else run.error
                name = f"{coordinates}-{rate:.0f}-{'distance' if distance else 'joints'}-{seed}"
                bad.add([name, len(run.scene["body"]), what], "", None)
    bad.rows.sort(key=lambda row: int(row[1]))
    return [table, bad] if bad.rows else [table]
