"""Closed linkages: a planar four-bar, Bennett's linkage, a delta robot and a Stewart platform."""

from __future__ import annotations

import math

import numpy as np

from . import scene as scenes


def assembled(bodies: list[dict], joints: list[dict], gravity: list[float], **more: object) -> dict:
    """Scene of bodies and joints."""
    return {"simulation": scenes.simulation(10.0, 0.002, gravity), "body": bodies, "joint": joints, **more}


def four_bar() -> dict:
    """Crank-rocker in the plane: bars of 0.4, 0.9 and 0.8 m on a base of 1 m, so that it never becomes flat."""
    ground, crank, coupler, rocker = 1.0, 0.4, 0.9, 0.8
    start = 1.0  # rad
    a = np.array([crank * math.cos(start), crank * math.sin(start)])
    base = np.array([ground, 0.0])
    far = np.linalg.norm(base - a)
    along = (coupler**2 - rocker**2 + far**2) / (2 * far)
    across = math.sqrt(coupler**2 - along**2)
    direction = (base - a) / far
    b = a + along * direction + across * np.array([-direction[1], direction[0]])
    ends = [("crank", np.zeros(2), a, 1.0), ("coupler", a, b, 2.0), ("rocker", b, base, 1.5)]
    bodies, joints, before = [], [], "world"
    for name, start_point, end_point, mass in ends:
        length = float(np.linalg.norm(end_point - start_point))
        middle = (start_point + end_point) / 2
        bodies.append({"name": name, "mass": mass, "inertia": mass * length**2 / 12, "position": middle})
        joints.append({"kind": "revolute", "between": [before, name], "anchor": start_point})
        before = name
    joints.append({"kind": "revolute", "between": ["rocker", "world"], "anchor": base})
    return assembled(bodies, joints, [0.0, -scenes.GRAVITY])


def bennett() -> dict:
    """Bennett's linkage with sin alpha / a = sin beta / b: three rows are redundant by its shape alone."""
    a, alpha, b, first = 1.0, math.radians(30.0), 0.6, 1.1
    beta = math.asin(b * math.sin(alpha) / a)
    second = 2 * math.atan(math.sin((beta + alpha) / 2) / math.sin((beta - alpha) / 2) / math.tan(first / 2))
    at, turn = np.zeros(3), np.eye(3)
    frames = [(at, turn)]
    for angle, length, twist in [(first, a, alpha), (second, b, beta), (-first, a, alpha), (-second, b, beta)]:
        turn = turn @ scenes.rotation(scenes.quaternion([0.0, 0.0, 1.0], angle))
        at = at + turn @ np.array([length, 0.0, 0.0])
        turn = turn @ scenes.rotation(scenes.quaternion([1.0, 0.0, 0.0], twist))
        frames.append((at, turn))
    assert np.linalg.norm(at) < 1e-12 and np.linalg.norm(turn - np.eye(3)) < 1e-12, "the loop is closed"
    names = ["world", "l0", "l1", "l2", "world"]
    bodies, joints = [], []
    for k in range(4):
        if k < 3:
            middle = (frames[k][0] + frames[k + 1][0]) / 2
            bodies.append({"name": f"l{k}", "mass": 0.5, "inertia": [0.04, 0.05, 0.03], "position": middle})
        axis = frames[k][1][:, 2]
        joints.append({"kind": "revolute", "between": names[k : k + 2], "anchor": frames[k][0], "axis": axis})
    return assembled(bodies, joints, [0.3, 0.2, -scenes.GRAVITY])


def bar(name: str, start: np.ndarray, end: np.ndarray, mass: float) -> dict:
    """Slender rod from one point to another."""
    length = float(np.linalg.norm(end - start))
    return {
        "name": name,
        "mass": mass,
        "inertia": scenes.rod_inertia(mass, length, 0.05 * length),
        "position": (start + end) / 2,
        "orientation": scenes.towards(end - start),
    }


SPRING = {"stiffness": 8.0}  # N m/rad, of the arms: rods and arms never lie in one line


def delta_robot() -> dict:
    """Three arms on hinges below a base, each with two rods on spherical joints, and a platform that swings below."""
    base, platform, arm, width = 0.2, 0.08, 0.3, 0.05  # m
    lean, depth = 0.3, 0.75  # rad of the arms below the level, m of the platform below the base
    centre = np.array([0.0, 0.0, -depth])
    bodies = [{"name": "platform", "mass": 1.0, "inertia": [0.004, 0.004, 0.008], "position": centre}]
    joints = []
    for k in range(3):
        turn = 2 * math.pi * k / 3
        out, side = np.array([math.cos(turn), math.sin(turn), 0.0]), np.array([-math.sin(turn), math.cos(turn), 0.0])
        shoulder = base * out
        elbow = shoulder + arm * (math.cos(lean) * out - math.sin(lean) * np.array([0.0, 0.0, 1.0]))
        # Unequal masses, so that the platform does not fall straight.
        bodies.append(bar(f"arm{k}", shoulder, elbow, 0.4 + 0.2 * k))
        joints.append({"kind": "revolute", "between": ["world", f"arm{k}"], "anchor": shoulder, "axis": side, **SPRING})
        for s in (-1, 1):
            name = f"rod{k}{'ab'[s > 0]}"
            top, bottom = elbow + s * width * side, centre + platform * out + s * width * side
            bodies.append(bar(name, top, bottom, 0.1))
            joints.append({"kind": "spherical", "between": [f"arm{k}", name], "anchor": top})
            joints.append({"kind": "spherical", "between": [name, "platform"], "anchor": bottom})
    return assembled(bodies, joints, [0.0, 0.0, -scenes.GRAVITY])


def stewart_platform() -> dict:
    """A platform on six legs of two parts with springs, universal joints below and spherical ones above."""
    low, high, height = 0.5, 0.3, 0.6  # m
    bodies = [{"name": "platform", "mass": 4.0, "inertia": [0.09, 0.11, 0.2], "position": [0.0, 0.0, height]}]
    joints = []
    for k in range(6):
        pair, s = divmod(k, 2)
        angle = 2 * math.pi * pair / 3
        foot_angle, head_angle = angle + (0.2 if s else -0.2), angle + (0.8 if s else -0.8)
        foot = low * np.array([math.cos(foot_angle), math.sin(foot_angle), 0.0])
        head = high * np.array([math.cos(head_angle), math.sin(head_angle), 0.0]) + np.array([0.0, 0.0, height])
        along = (head - foot) / np.linalg.norm(head - foot)
        first = np.cross(along, [0.0, 0.0, 1.0])
        first /= np.linalg.norm(first)
        middle = (foot + head) / 2
        bodies += [bar(f"low{k}", foot, middle, 0.3), bar(f"high{k}", middle, head, 0.2)]
        second = np.cross(along, first)
        universal = {"kind": "universal", "between": ["world", f"low{k}"], "anchor": foot}
        joints.append({**universal, "axis": first, "second_axis": second})
        slide = {"kind": "prismatic", "between": [f"low{k}", f"high{k}"], "anchor": middle, "axis": along}
        # The springs bear less than the weight and differ, so that the platform sinks, tilts and turns.
        joints.append({**slide, "stiffness": 400.0 + 40.0 * k, "rest": 0.01})
        joints.append({"kind": "spherical", "between": [f"high{k}", "platform"], "anchor": head})
    return assembled(bodies, joints, [0.0, 0.0, -scenes.GRAVITY])


def hung_pair() -> dict:
    """Two pendulums on parallel hinges, their tips tied by a bar: one pull along it is redundant."""
    inertia, flat = [3e-4, 1e-5, 3e-4], [1e-5, 3e-4, 3e-4]
    bodies = [
        {"name": "a", "mass": 0.1, "inertia": inertia, "position": [0.0, -0.1, 0.5]},
        {"name": "b", "mass": 0.1, "inertia": inertia, "position": [0.2, -0.1, 0.5]},
        {"name": "bar", "mass": 0.1, "inertia": flat, "position": [0.1, -0.2, 0.5]},
    ]
    joints = [
        {"kind": "revolute", "between": ["world", "a"], "anchor": [0.0, 0.0, 0.5], "axis": [1.0, 0.0, 0.0]},
        {"kind": "revolute", "between": ["world", "b"], "anchor": [0.2, 0.0, 0.5], "axis": [1.0, 0.0, 0.0]},
        {"kind": "spherical", "between": ["a", "bar"], "anchor": [0.0, -0.2, 0.5]},
        {"kind": "spherical", "between": ["b", "bar"], "anchor": [0.2, -0.2, 0.5]},
    ]
    return assembled(bodies, joints, [0.0, 0.0, -scenes.GRAVITY])


LINKAGES = {
    "four-bar": four_bar,
    "bennett": bennett,
    "hung-pair": hung_pair,
    "delta": delta_robot,
    "stewart": stewart_platform,
}
