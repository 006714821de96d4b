"""Median errors of motions with contact over steps near 10 ms: an event falls early or late in a step by chance."""

from __future__ import annotations

import math

import numpy as np

from . import scene as scenes
from .program import Bench, Run
from .report import Table

STEPS = [round(0.0095 + 0.00005 * k, 6) for k in range(21)]  # s
SCHEMES = {"order 1": {"order": 1}, "order 2": {"order": 2}, "order 2, substeps 4": {"order": 2, "substeps": 4}}
FINE = 0.0001  # s, step of the reference solutions, by both orders

GROUND = {"name": "ground", "kind": "fixed", "shape": [{"halfspace": {"normal": [0.0, 0.0, 1.0]}}]}
DOWN = [0.0, 0.0, -scenes.GRAVITY]
SLIDE_SPEED, SLIDE_FRICTION = 4.0, 0.5
DROP, RESTITUTION = 1.0, 0.7


def sliding_block() -> dict:
    box = {"box": {"half_extents": [0.2, 0.2, 0.1]}}
    block = {"name": "a", "mass": 1.0, "position": [0.0, 0.0, 0.1], "velocity": [SLIDE_SPEED, 0.0, 0.0], "shape": [box]}
    friction = {"friction": SLIDE_FRICTION}
    return {"simulation": scenes.simulation(1.2, 0.01, DOWN), "contact_default": friction, "body": [GROUND, block]}


def two_spheres() -> dict:
    """A ball that slides and rolls in the valley between two balls until it leaves them."""
    height = 8.78417110772903
    bodies = [
        {"name": "first", "kind": "fixed", "shape": [{"sphere": {"radius": 10.0}}]},
        {"name": "second", "kind": "fixed", "position": [0.0, 11.4, 0.0], "shape": [{"sphere": {"radius": 9.0}}]},
        {"name": "a", "mass": 1.0, "position": [0.0, 6.62105263157895, height], "shape": [{"sphere": {"radius": 1.0}}]},
    ]
    gravity = scenes.simulation(4.0, 0.01, [1.0, 2.6, -9.81])
    return {"simulation": gravity, "contact_default": {"friction": 0.2, "torsion": 0.3}, "body": bodies}


def falling_rod() -> dict:
    """A rod that drops spinning, hits with one end, slaps down, slides and rests."""
    shape = {"capsule": {"half_length": 0.25, "radius": 0.05}}
    rod = {"name": "a", "mass": 1.0, "inertia": 0.002, "position": [0.0, 1.0], "angle": math.radians(30.0)}
    rod |= {"angular_velocity": 4.0, "shape": [shape]}
    table = {"name": "table", "kind": "fixed", "shape": [{"halfspace": {"normal": [0.0, 1.0]}}]}
    gravity = scenes.simulation(1.0, 0.01, [0.0, -9.81])
    return {"simulation": gravity, "contact_default": {"friction": 0.6}, "body": [table, rod]}


def four_spheres() -> dict:
    """A ball thrown onto a table that runs into a row of three."""
    inertia, shape = [0.004] * 3, [{"sphere": {"radius": 0.1}}]
    starts = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.1], [1.20001, 0.0, 0.1], [1.40002, 0.0, 0.1]]
    balls = [
        {"name": n, "mass": 1.0, "inertia": inertia, "position": p, "shape": shape} for n, p in zip("abcd", starts)
    ]
    balls[0]["velocity"] = [1.5, 0.1, 0.0]
    return {
        "simulation": scenes.simulation(1.0, 0.01, DOWN),
        "contact_default": {"friction": 0.4},
        "body": [GROUND, *balls],
    }


def bouncing_ball() -> dict:
    ball = {"name": "a", "mass": 1.0, "position": [0.0, 0.0, DROP + 0.1], "shape": [{"sphere": {"radius": 0.1}}]}
    law = {"restitution": RESTITUTION}
    return {"simulation": scenes.simulation(3.0, 0.01, DOWN), "contact_default": law, "body": [GROUND, ball]}


def at(run: Run, time: float) -> np.ndarray:
    """Positions of the moving bodies at a time, by cubic interpolation between steps."""
    axes = "xyz"[: len(run.scene["simulation"]["gravity"])]
    row = int(np.clip(np.searchsorted(run.t, time) - 1, 0, len(run.t) - 2))
    width = run.t[row + 1] - run.t[row]
    s = (time - run.t[row]) / width
    found = []
    for body in run.scene["body"]:
        if body.get("kind") == "fixed":
            continue
        p = run.vectors(body["name"], " ".join(axes))[row : row + 2]
        v = width * run.vectors(body["name"], " ".join(f"v{axis}" for axis in axes))[row : row + 2]
        ends = (1 + 2 * s) * (1 - s) ** 2 * p[0] + s**2 * (3 - 2 * s) * p[1]
        found.append(ends + s * (1 - s) ** 2 * v[0] - s**2 * (1 - s) * v[1])
    return np.array(found)


def largest_distance(run: Run, exact: np.ndarray) -> float:
    """Largest distance of a body from the reference at the end."""
    return float(np.max(np.linalg.norm(at(run, float(run.scene["end"])) - exact, axis=-1)))


def bounce_error(run: Run) -> float:
    """Largest relative error of the first four apexes, which fall by the square of the restitution."""
    height = run.columns["a.z"] - 0.1
    apexes = [height[k] for k in range(1, len(height) - 1) if height[k - 1] < height[k] >= height[k + 1]]
    if len(apexes) < 4:
        return math.nan
    return max(abs(apex / (DROP * RESTITUTION ** (2 * k)) - 1) for k, apex in enumerate(apexes[:4], start=1))


def reference(bench: Bench, name: str, scene: dict) -> tuple[np.ndarray, float]:
    """Positions at the end with order 2 and a fine step, and how far Richardson's value of order 1 is from them."""
    end = scene["simulation"]["duration"]
    fine = [
        bench.run(f"medians/{name}-reference-{key}", scenes.varied(scene, {"order": order}, step=step))
        for key, order, step in [("second", 2, FINE), ("first", 1, FINE), ("half", 1, FINE / 2)]
    ]
    second, first, half = (at(run, end) for run in fine)
    return second, float(np.max(np.linalg.norm(2 * half - first - second, axis=-1)))


def table(bench: Bench) -> Table:
    """Medians over the steps for both orders and for substeps."""
    result = Table(
        "orders: medians over 21 steps from 9.5 to 10.5 ms",
        ["scene", "error", *SCHEMES, "doubt of the reference"],
    )
    slide = SLIDE_SPEED**2 / (2 * SLIDE_FRICTION * scenes.GRAVITY)
    for name, scene in [
        ("sliding block", sliding_block()),
        ("two spheres", two_spheres()),
        ("falling rod", falling_rod()),
        ("four spheres", four_spheres()),
        ("bouncing ball", bouncing_ball()),
    ]:
        file, doubt, exact = name.replace(" ", "-"), 0.0, np.array([[slide, 0.0, 0.1]])
        end = scene["simulation"]["duration"]
        if name not in ("sliding block", "bouncing ball"):
            exact, doubt = reference(bench, file, scene)

        def measure(case: tuple[str, float]) -> float:
            scheme, step = case
            run = bench.run(
                f"medians/{file}-{scheme.replace(', ', '-').replace(' ', '')}-{step}",
                scenes.varied(scene, SCHEMES[scheme], step=step),
            )
            run.scene["end"] = end
            if not run.finished:
                return math.nan
            return bounce_error(run) if name == "bouncing ball" else largest_distance(run, exact)

        middle = [float(np.median(bench.map(measure, [(scheme, step) for step in STEPS]))) for scheme in SCHEMES]
        result.add([name, "apexes" if name == "bouncing ball" else "m", *middle, doubt], *verdict(name, middle))
    return result


def verdict(name: str, middle: list[float]) -> tuple[str, bool]:
    """What is asked of the medians of order 1, order 2, and order 2 with substeps."""
    first, second, substeps = middle
    if name == "bouncing ball":
        return "order 2 within 1 %", second <= 0.01
    if name in ("sliding block", "two spheres"):
        return "order 2 at most half", second <= first / 2
    return "order 2 not worse, substeps half", second <= first and substeps <= first / 2
