"""Free rotation of one body, and turning bodies that touch the ground."""

from __future__ import annotations

import math

import numpy as np
from scipy.integrate import solve_ivp

from . import scene as scenes
from .program import Bench, Run
from .report import Table

INERTIAS = {"10:20:25": [0.01, 0.02, 0.025], "10:20:29": [0.01, 0.02, 0.029], "1:15:15.5": [0.001, 0.015, 0.0155]}
RATES = [10.0, 50.0, 100.0]  # rad/s about each axis
# Steps of a hundredth of a radian. Longer ones are divided by the program, so that their errors do not depend on them.
COARSEST = {10.0: 0.001, 50.0: 0.0002, 100.0: 0.0001}  # s


def free(inertia: list[float], rate: float, step: float, duration: float) -> dict:
    """One body without forces that turns at the same rate about all three axes."""
    body = {"name": "b", "mass": 1.0, "inertia": inertia, "position": [0.0, 0.0, 0.0], "angular_velocity": [rate] * 3}
    return {"simulation": scenes.simulation(duration, step, [0.0, 0.0, 0.0]), "body": [body]}


def exact_orientation(inertia: list[float], rate: float, time: float) -> np.ndarray:
    """Orientation by Euler's equations, to 1e-12."""
    moments = np.asarray(inertia)

    def derivative(_: float, state: np.ndarray) -> np.ndarray:
        q, w = state[:4], state[4:]
        spin = scenes.product(q, np.concatenate([[0.0], w])) / 2
        return np.concatenate([spin, -np.cross(w, moments * w) / moments])

    start = np.array([1.0, 0.0, 0.0, 0.0, rate, rate, rate])
    return solve_ivp(derivative, (0.0, time), start, method="DOP853", rtol=1e-12, atol=1e-13).y[:4, -1]


def keeps(bench: Bench) -> Table:
    """Energy and angular momentum over 100 s."""
    table = Table("gyro: one free body, h = 10 ms, 100 s", ["inertia", "rad/s", "order", "dL/L", "dE/E"])
    cases = [(name, rate, order) for name in INERTIAS for rate in RATES for order in (1, 2)]

    def measure(case: tuple[str, float, int]) -> Run:
        name, rate, order = case
        scene = scenes.varied(free(INERTIAS[name], rate, 0.01, 10.0 if bench.quick else 100.0), {"order": order})
        return bench.run(f"gyro/keep-{name.replace(':', '-')}-{rate:.0f}-order{order}", scene)

    for case, run in zip(cases, bench.map(measure, cases)):
        if not run.finished:
            table.add([*case, run.error, ""], "a run", False)
            continue
        angular, energy = run.momentum_errors()[1], run.energy_error()
        table.add([*case, angular, energy], "dL 1e-10, dE 1 %", angular <= 1e-10 and energy <= 0.01)
    return table


def order(bench: Bench) -> Table:
    """Orientation after ten radians against Euler's equations, as the step is halved twice."""
    table = Table(
        "gyro: orientation against Euler's equations, steps h, h/2, h/4",
        ["inertia", "rad/s", "order", "h ms", "errors rad", "slopes"],
    )
    cases = [(name, rate, order) for name in INERTIAS for rate in RATES for order in (1, 2)]

    def measure(case: tuple[str, float, int]) -> list[float]:
        name, rate, of = case
        time, errors = 10.0 / rate, []
        exact = exact_orientation(INERTIAS[name], rate, time)
        for halving in range(3):
            step = COARSEST[rate] / 2**halving
            scene = scenes.varied(free(INERTIAS[name], rate, step, time), {"order": of})
            run = bench.run(f"gyro/order-{name.replace(':', '-')}-{rate:.0f}-order{of}-{halving}", scene)
            errors.append(
                scenes.angle_between(run.vectors("b", "qw qx qy qz")[-1], exact) if run.finished else math.nan
            )
        return errors

    for case, errors in zip(cases, bench.map(measure, cases)):
        slopes = [math.log2(a / b) for a, b in zip(errors, errors[1:])]
        cells = [
            *case,
            1e3 * COARSEST[case[1]],
            " ".join(f"{e:.1e}" for e in errors),
            " ".join(f"{s:.2f}" for s in slopes),
        ]
        table.add(cells, "slopes 1.8", all(slope >= 1.8 for slope in slopes))
    return table


COIN_RADIUS, COIN_HALF, COIN_MASS = 0.05, 0.003, 0.1  # m, half the thickness in m, kg


def coin(turn: np.ndarray, lean: float) -> dict:
    """A coin whose axis leans from y towards z, that turns without slip about the lowest point of its edge."""
    axis, lowest = coin_frame(lean)
    body = {
        "name": "coin",
        "mass": COIN_MASS,
        "inertia": scenes.rod_inertia(COIN_MASS, 2 * COIN_HALF, COIN_RADIUS),
        "position": [0.0, 0.0, -lowest[2]],
        "orientation": list(scenes.towards(axis)),
        "velocity": list(-np.cross(turn, lowest)),
        "angular_velocity": list(turn),
        "shape": [{"cylinder": {"half_length": COIN_HALF, "radius": COIN_RADIUS}}],
    }
    return on_ground(body, friction=0.5)


def coin_frame(lean: float) -> tuple[np.ndarray, np.ndarray]:
    """Axis of the coin, and its lowest point from its centre."""
    axis = np.array([0.0, math.cos(lean), math.sin(lean)])
    return axis, COIN_RADIUS * np.array([0.0, math.sin(lean), -math.cos(lean)]) - COIN_HALF * axis


def rolling_coin() -> dict:
    """A coin that rolls in a circle with constant lean, by the balance of angular momentum."""
    lean, precession = 0.2, np.array([0.0, 0.0, -2.0])
    axis, lowest = coin_frame(lean)
    along, across, _ = scenes.rod_inertia(COIN_MASS, 2 * COIN_HALF, COIN_RADIUS)

    def unbalance(spin: float) -> float:
        turn = precession + spin * axis
        momentum = across * turn + (along - across) * (axis @ turn) * axis
        acceleration = np.cross(precession, -np.cross(turn, lowest))
        force = COIN_MASS * (acceleration + np.array([0.0, 0.0, scenes.GRAVITY]))
        return float((np.cross(precession, momentum) - np.cross(lowest, force))[0])

    spin = -unbalance(0.0) / (unbalance(1.0) - unbalance(0.0))
    return coin(precession + spin * axis, lean)


def spinning_coin() -> dict:
    """A coin that turns about a diameter through its lowest point, a little faster than steadily, so that it nods."""
    lean, rate = 0.2, 30.0
    axis, _ = coin_frame(lean)
    return coin(rate * (np.array([0.0, 0.0, 1.0]) - math.sin(lean) * axis), lean)


def tippe_top() -> dict:
    """A ball whose centre of mass lies below its centre, spun about the vertical and a little inclined."""
    radius, below, mass, incline = 0.02, 0.003, 0.02, 0.1
    turn = scenes.quaternion([1.0, 0.0, 0.0], incline)
    up = scenes.rotation(turn) @ np.array([0.0, 0.0, 1.0])
    body = {
        "name": "top",
        "mass": mass,
        "inertia": [0.4 * mass * radius**2] * 3,
        "position": list(np.array([0.0, 0.0, radius]) - below * up),
        "orientation": list(turn),
        "angular_velocity": list(100.0 * up),
        "shape": [{"sphere": {"radius": radius}, "position": [0.0, 0.0, below]}],
    }
    return on_ground(body, friction=0.3)


def on_ground(body: dict, friction: float) -> dict:
    """A body on the level ground."""
    ground = {"name": "ground", "kind": "fixed", "shape": [{"halfspace": {"normal": [0.0, 0.0, 1.0]}}]}
    return {
        "simulation": scenes.simulation(1.0, 0.001, [0.0, 0.0, -scenes.GRAVITY]),
        "contact_default": {"friction": friction},
        "body": [ground, body],
    }


TOUCHING = {
    "spinning coin": (spinning_coin(), "coin", 0.05, 0.5),
    "rolling coin": (rolling_coin(), "coin", 0.05, 0.5),
    "tippe top": (tippe_top(), "top", 0.02, 0.5),
}
STEPS = [0.002, 0.001, 0.0005, 0.00025, 0.000125]  # s


def sampled(run: Run, body: str, radius: float, every: int) -> np.ndarray:
    """Positions, and directions of the three body axes times the radius, at common times."""
    rows = slice(None, None, every)
    axes = scenes.rotation(run.vectors(body, "qw qx qy qz")[rows]).reshape(-1, 9)
    return np.hstack([run.vectors(body, "x y z")[rows], radius * axes])


def touching(bench: Bench) -> Table:
    """Errors of first order at 2, 1 and 0.5 ms, against Richardson's extrapolation from 0.25 and 0.125 ms."""
    table = Table(
        "gyro: turning bodies on the ground, order 1, mean error over 0.5 s",
        ["scene", "2 ms, m", "1 ms", "0.5 ms", "ratios"],
    )

    def measure(name: str) -> list[float] | str:
        scene, body, radius, duration = TOUCHING[name]
        paths = []
        for step in STEPS:
            run = bench.run(f"gyro/{name.replace(' ', '-')}-{step}", scenes.varied(scene, duration=duration, step=step))
            if not run.finished:
                return run.error
            paths.append(sampled(run, body, radius, round(STEPS[0] / step)))
        exact = 2 * paths[-1] - paths[-2]
        return [float(np.mean(np.linalg.norm(path - exact, axis=1))) for path in paths[:3]]

    for name, errors in zip(TOUCHING, bench.map(measure, TOUCHING)):
        if isinstance(errors, str):
            table.add([name, errors, "", "", ""], "a run", False)
            continue
        ratios = [a / b for a, b in zip(errors, errors[1:])]
        table.add([name, *errors, " ".join(f"{r:.2f}" for r in ratios)], "ratios 1.8", min(ratios) >= 1.8)
    return table


def rolling_energy(bench: Bench) -> Table:
    """Energy of a coin that rolls without slip."""
    table = Table("gyro: energy of a rolling coin, 2 s", ["order", "h ms", "dE/E"])
    cases = [(order, step) for order in (1, 2) for step in (0.004, 0.002, 0.001)]

    def measure(case: tuple[int, float]) -> Run:
        of, step = case
        scene = scenes.varied(rolling_coin(), {"order": of}, duration=2.0, step=step)
        return bench.run(f"gyro/rolling-energy-{of}-{step}", scene)

    for (of, step), run in zip(cases, bench.map(measure, cases)):
        error = run.energy_error() if run.finished else run.error
        holds = isinstance(error, float) and error <= 0.01
        table.add([of, 1e3 * step, error], "1 %" if of == 2 else "", holds if of == 2 else None)
    return table


def tables(bench: Bench) -> list[Table]:
    """All tables of the group."""
    return [keeps(bench), order(bench), touching(bench), rolling_energy(bench)]
