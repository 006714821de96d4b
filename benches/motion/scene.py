"""Scenes as dictionaries, and their TOML text."""

from __future__ import annotations

import math

import numpy as np

GRAVITY = 9.81  # m/s²


def value(item: object) -> str:
    """Value as TOML, tables inline."""
    if isinstance(item, bool):
        return "true" if item else "false"
    if isinstance(item, str):
        return f'"{item}"'
    if isinstance(item, dict):
        return "{ " + ", ".join(f"{key} = {value(entry)}" for key, entry in item.items()) + " }"
    if isinstance(item, (list, tuple, np.ndarray)):
        return "[" + ", ".join(value(entry) for entry in item) + "]"
    if isinstance(item, (int, np.integer)):
        return str(int(item))
    return repr(float(item))


def text(scene: dict) -> str:
    """Scene file: one line for every body, joint and other entry of a list."""
    lines = []
    for key, item in scene.items():
        if isinstance(item, list):
            lines.append(f"{key} = [")
            lines.extend(f"    {value(entry)}," for entry in item)
            lines.append("]")
        else:
            lines.append(f"{key} = {value(item)}")
    return "\n".join(lines) + "\n"


def simulation(duration: float, step: float, gravity: list[float], **more: object) -> dict:
    """Table `simulation` in as many dimensions as gravity has."""
    return {"duration": duration, "step": step, "gravity": gravity, "dimension": len(gravity), **more}


def varied(scene: dict, scheme: dict | None = None, **changes: object) -> dict:
    """The scene with another scheme and other values of `simulation`."""
    return {
        **scene,
        "simulation": {**scene["simulation"], **changes},
        "scheme": {**scene.get("scheme", {}), **(scheme or {})},
    }


def rod_inertia(mass: float, length: float, radius: float) -> list[float]:
    """Principal moments of a solid cylinder along its x axis."""
    across = mass * (length**2 / 12 + radius**2 / 4)
    return [mass * radius**2 / 2, across, across]


def quaternion(axis: np.ndarray, angle: float) -> np.ndarray:
    """Unit quaternion (w, x, y, z) of a turn about a unit vector."""
    return np.concatenate([[math.cos(angle / 2)], math.sin(angle / 2) * np.asarray(axis, dtype=float)])


def towards(direction: np.ndarray) -> np.ndarray:
    """Unit quaternion that turns the x axis into a direction."""
    direction = np.asarray(direction, dtype=float) / np.linalg.norm(direction)
    half = np.array([1.0 + direction[0], 0.0, -direction[2], direction[1]])
    if np.linalg.norm(half) < 1e-9:
        return np.array([0.0, 0.0, 0.0, 1.0])
    return half / np.linalg.norm(half)


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Product of two quaternions (w, x, y, z)."""
    w = a[0] * b[0] - a[1:] @ b[1:]
    return np.concatenate([[w], a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])])


def rotation(q: np.ndarray) -> np.ndarray:
    """Rotation matrices of quaternions in the last axis."""
    w, x, y, z = np.moveaxis(np.asarray(q, dtype=float), -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def angle_between(a: np.ndarray, b: np.ndarray) -> float:
    """Angle of the rotation between two orientations, rad."""
    difference = product(a * np.array([1.0, -1.0, -1.0, -1.0]), b)
    return 2.0 * math.atan2(float(np.linalg.norm(difference[1:])), abs(float(difference[0])))
