"""Time of a step of chains over the number of links."""

from __future__ import annotations

import math

import numpy as np

from . import scene as scenes
from .program import Bench
from .report import Table

CASES = [
    ("maximal", 4, 25.0),
    ("maximal", 32, 150.0),
    ("reduced", 4, None),
    ("reduced", 32, None),
    ("reduced", 256, None),
]


def chain(count: int) -> dict:
    """Rods on hinges that lean to either side by turns, fixed at the world."""
    bodies, joints, before, anchor = [], [], "world", np.zeros(3)
    for k in range(count):
        lean = 0.3 if k % 2 == 0 else -0.3
        along = np.array([math.sin(lean), 0.0, -math.cos(lean)]) * 0.1
        name = f"l{k}"
        bodies.append(
            {
                "name": name,
                "mass": 0.1,
                "inertia": scenes.rod_inertia(0.1, 0.1, 0.01),
                "position": list(anchor + along / 2),
                "orientation": list(scenes.towards(along)),
            }
        )
        joints.append({"kind": "revolute", "between": [before, name], "anchor": list(anchor), "axis": [0.0, 1.0, 0.0]})
        before, anchor = name, anchor + along
    return {
        "simulation": scenes.simulation(1.0, 0.001, [0.0, 0.0, -scenes.GRAVITY]),
        "body": bodies,
        "joint": joints,
    }


def tables(bench: Bench) -> list[Table]:
    """Fastest repetition; one run at a time, whatever the number of jobs."""
    table = Table(
        "chains: time of a step without contact, h = 1 ms", ["coordinates", "links", "µs per step", "µs per link"]
    )
    times = {}
    for coordinates, count, most in CASES:
        scene = scenes.varied(chain(count), {"coordinates": coordinates})
        time = bench.microseconds(f"chains/{coordinates}-{count}", scene, 40, 20 if bench.quick else 100)
        times[coordinates, count] = time
        asked = "a run" if most is None else f"{most:.0f} µs"
        table.add(
            [coordinates, count, time, time / count], asked, not math.isnan(time) and (most is None or time <= most)
        )
    exponent = math.log(times["reduced", 256] / times["reduced", 32]) / math.log(8)
    table.add(["reduced", "32 to 256", f"exponent {exponent:.2f}", ""], "1.25", exponent <= 1.25)
    return [table]
