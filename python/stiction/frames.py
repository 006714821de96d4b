"""Frames of bodies and sites: pose, twist and Jacobian."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from . import _stiction
from ._values import vector

if TYPE_CHECKING:
    from .joints import JointCoordinates

Floats: TypeAlias = npt.NDArray[np.float64]


class Frame:
    """Pose and twist of a frame: a body (at its centre of mass) or a site."""

    __slots__ = ()

    def _numbers(self) -> tuple[tuple[list[float], list[float]], tuple[list[float], list[float]]]:
        """Pose and twist."""
        raise NotImplementedError

    def jacobian(self, point: npt.ArrayLike = 0.0) -> Floats:
        """Jacobian of a point given in this frame; default: its origin. See :meth:`Simulation.jacobian`."""
        raise NotImplementedError

    @property
    def rotation(self) -> Floats:
        """Rotation matrix: its columns are the axes of the frame in the world."""
        return matrix_of(self._numbers()[0][1])

    @property
    def pose(self) -> Floats:
        """Pose as a 4×4 matrix: point in the world = pose @ [point in the frame, 1]."""
        (position, turned), _ = self._numbers()
        pose = np.eye(4)
        pose[:3, :3] = matrix_of(turned)
        pose[:3, 3] = position
        return pose

    @property
    def twist(self) -> Floats:
        """Six numbers: velocity of the origin (m/s), then angular velocity (rad/s), in world axes."""
        _, (linear, angular) = self._numbers()
        return np.array([*linear, *angular])


class Site(Frame):
    """A site of a simulation, by its name: a frame on a body, without mass and shape."""

    __slots__ = ("_simulation", "name")

    def __init__(self, simulation: JointCoordinates, name: str) -> None:
        self._simulation = simulation
        self.name = name

    def _numbers(self) -> tuple[tuple[list[float], list[float]], tuple[list[float], list[float]]]:
        return _stiction.site_pose(self._simulation, self.name), _stiction.site_twist(self._simulation, self.name)

    @property
    def body(self) -> str:
        """Name of the body that carries it."""
        index, _ = _stiction.site_on_body(self._simulation, self.name)
        return self._simulation.body_names[index]

    @property
    def position(self) -> Floats:
        """Position of its origin, m."""
        return np.array(self._numbers()[0][0][: self._simulation.dimension])

    @property
    def orientation(self) -> Floats:
        """Orientation as a unit quaternion, w first."""
        return np.array(self._numbers()[0][1])

    @property
    def velocity(self) -> Floats:
        """Velocity of its origin, m/s."""
        return np.array(self._numbers()[1][0][: self._simulation.dimension])

    @property
    def angular_velocity(self) -> float | Floats:
        """Angular velocity, rad/s: one number in the plane, a vector in world axes in space."""
        turning = self._numbers()[1][1]
        return float(turning[2]) if self._simulation.dimension == 2 else np.array(turning)

    def jacobian(self, point: npt.ArrayLike = 0.0) -> Floats:
        planar = self._simulation.dimension == 2
        given = vector("point", point, [2] if planar else [3])
        index, (position, turned) = _stiction.site_on_body(self._simulation, self.name)
        x, y, z = np.array(position) + matrix_of(turned) @ np.array([given[0], given[1], 0.0 if planar else given[2]])
        return _stiction.jacobian(self._simulation, index, (float(x), float(y), float(z)))

    def __repr__(self) -> str:
        return f"Site({self.name!r}, on {self.body!r})"


def matrix_of(quaternion: npt.ArrayLike) -> Floats:
    """Rotation matrix of a unit quaternion, w first."""
    w, x, y, z = (float(part) for part in np.asarray(quaternion))
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
