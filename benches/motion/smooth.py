"""Smooth scenes with independent solutions by scipy to 1e-12."""

from __future__ import annotations

from typing import Callable

import numpy as np
from scipy.integrate import solve_ivp

from . import scene as scenes

G = scenes.GRAVITY
Pose = tuple[np.ndarray, np.ndarray]  # positions of bodies, and their angles or orientations


def solved(derivative: Callable, start: list[float] | np.ndarray, time: float) -> np.ndarray:
    """State at a time."""
    return solve_ivp(derivative, (0.0, time), np.asarray(start), method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]


def plane(bodies: list[dict], joints: list[dict], **more: object) -> dict:
    """Scene in the plane with gravity."""
    return {"simulation": scenes.simulation(0.5, 0.002, [0.0, -G]), "body": bodies, "joint": joints, **more}


MASS, ARM, MOMENT = 1.2, 0.5, 0.08  # of the pendulums, kg, m, kg m²
SPRING = {"stiffness": 60.0, "rest_length": 0.4}
ANCHOR = np.array([0.6, -0.2])  # of the spring


def pendulum(joint: dict, **more: object) -> dict:
    """A body on a hinge at the origin, level at the start; its angle is zero there."""
    body = {"name": "a", "mass": MASS, "inertia": MOMENT, "position": [ARM, 0.0]}
    hinge = {"kind": "revolute", "between": ["world", "a"], "anchor": [0.0, 0.0], **joint}
    return plane([body], [hinge], **more)


def pendulum_pose(torque: Callable[[float, float], float], time: float) -> Pose:
    """Pose of the pendulum with gravity and a torque of angle and rate."""

    def derivative(_: float, state: np.ndarray) -> list[float]:
        angle, rate = state
        return [rate, (torque(angle, rate) - MASS * G * ARM * np.cos(angle)) / (MOMENT + MASS * ARM**2)]

    angle = solved(derivative, [0.0, 0.0], time)[0]
    return np.array([[ARM * np.cos(angle), ARM * np.sin(angle)]]), np.array([angle])


def spring_pendulum() -> dict:
    spring = {"between": ["world", "a"], "points": [ANCHOR, [0.0, 0.0]], **SPRING}
    return pendulum({}, spring=[spring])


def spring_pendulum_pose(time: float) -> Pose:
    def torque(angle: float, _: float) -> float:
        at = ARM * np.array([np.cos(angle), np.sin(angle)])
        line = ANCHOR - at
        length = np.linalg.norm(line)
        force = SPRING["stiffness"] * (length - SPRING["rest_length"]) * line / length
        return at[0] * force[1] - at[1] * force[0]

    return pendulum_pose(torque, time)


def damped_joint() -> dict:
    return pendulum({"stiffness": 8.0, "rest": 0.2, "damping": 0.6})


def damped_joint_pose(time: float) -> Pose:
    return pendulum_pose(lambda angle, rate: -8.0 * (angle - 0.2) - 0.6 * rate, time)


MASSES, LENGTHS = (1.0, 0.7), (0.5, 0.4)  # of the double pendulum: uniform rods


def double_pendulum() -> dict:
    moments = [mass * length**2 / 12 for mass, length in zip(MASSES, LENGTHS)]
    positions = [[LENGTHS[0] / 2, 0.0], [LENGTHS[0], LENGTHS[1] / 2]]
    bodies = [
        {"name": name, "mass": m, "inertia": i, "position": p}
        for name, m, i, p in zip("ab", MASSES, moments, positions)
    ]
    joints = [
        {"kind": "revolute", "between": ["world", "a"], "anchor": [0.0, 0.0]},
        {"kind": "revolute", "between": ["a", "b"], "anchor": [LENGTHS[0], 0.0]},
    ]
    return plane(bodies, joints)


def double_pendulum_pose(time: float) -> Pose:
    (m1, m2), (l1, l2) = MASSES, LENGTHS

    def derivative(_: float, state: np.ndarray) -> list[float]:
        a, b, u, w = state
        coupled = m2 * l1 * l2 / 2
        mass = np.array(
            [[m1 * l1**2 / 3 + m2 * l1**2, coupled * np.cos(a - b)], [coupled * np.cos(a - b), m2 * l2**2 / 3]]
        )
        force = [
            -coupled * np.sin(a - b) * w**2 - (m1 / 2 + m2) * G * l1 * np.cos(a),
            coupled * np.sin(a - b) * u**2 - m2 * G * l2 / 2 * np.cos(b),
        ]
        return [u, w, *np.linalg.solve(mass, force)]

    a, b = solved(derivative, [0.0, np.pi / 2, 0.0, 0.0], time)[:2]
    elbow = l1 * np.array([np.cos(a), np.sin(a)])
    # The second rod points up at the start, where the angle of its body is zero.
    return np.array([elbow / 2, elbow + l2 / 2 * np.array([np.cos(b), np.sin(b)])]), np.array([a, b - np.pi / 2])


INERTIA = np.array([0.02, 0.03, 0.01])
CENTRE = np.array([0.1, 0.2, 0.3])  # of the top, from its point
SPIN = np.array([5.0, 3.0, 1.0])
THROW = np.array([0.5, -0.3, 2.0])


def space(velocity: np.ndarray, position: np.ndarray, joints: list[dict]) -> dict:
    """A body in space with gravity that turns with SPIN."""
    body = {"name": "a", "mass": 1.0, "inertia": INERTIA, "position": position}
    body |= {"velocity": velocity, "angular_velocity": SPIN}
    scene = {"simulation": scenes.simulation(0.5, 0.002, [0.0, 0.0, -G]), "body": [body]}
    return scene | ({"joint": joints} if joints else {})


def turned(inertia: np.ndarray, torque: Callable[[np.ndarray], np.ndarray], time: float) -> np.ndarray:
    """Orientation by Euler's equations, with a torque in body axes that depends on the rotation."""
    inverse = np.linalg.inv(inertia)

    def derivative(_: float, state: np.ndarray) -> np.ndarray:
        q, w = state[:4], state[4:]
        spin = scenes.product(q, np.concatenate([[0.0], w])) / 2
        return np.concatenate([spin, inverse @ (torque(scenes.rotation(q)) - np.cross(w, inertia @ w))])

    return solved(derivative, np.concatenate([[1.0, 0.0, 0.0, 0.0], SPIN]), time)[:4]


def top() -> dict:
    joint = {"kind": "spherical", "between": ["world", "a"], "anchor": [0.0, 0.0, 0.0]}
    return space(np.cross(SPIN, CENTRE), CENTRE, [joint])


def top_pose(time: float) -> Pose:
    about_point = np.diag(INERTIA) + CENTRE @ CENTRE * np.eye(3) - np.outer(CENTRE, CENTRE)
    q = turned(about_point, lambda turn: np.cross(CENTRE, turn.T @ np.array([0.0, 0.0, -G])), time)
    return (scenes.rotation(q) @ CENTRE)[None], q[None]


def thrown() -> dict:
    return space(THROW, np.zeros(3), [])


def thrown_pose(time: float) -> Pose:
    q = turned(np.diag(INERTIA), lambda _: np.zeros(3), time)
    return (THROW * time - np.array([0.0, 0.0, G * time**2 / 2]))[None], q[None]


SMOOTH = {
    "spring pendulum": (spring_pendulum, spring_pendulum_pose),
    "top": (top, top_pose),
    "damped joint": (damped_joint, damped_joint_pose),
    "double pendulum": (double_pendulum, double_pendulum_pose),
    "free body": (thrown, thrown_pose),
}
