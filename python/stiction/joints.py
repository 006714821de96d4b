"""Joints, and dynamics in joint coordinates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from . import _stiction
from ._values import vector
from .errors import HandleError
from .frames import Floats, Site

if TYPE_CHECKING:
    from .simulation import Body


class JointCoordinates(_stiction.Simulation):
    """The part of :class:`Simulation` that speaks of joints: coordinates, dynamics, sites.

    All vectors of velocities, forces and accelerations have the entries of :attr:`qvel_names`.
    """

    # ------------------------------------------------------------------ joint coordinates

    def joint(self, name: str) -> Joint:
        """The joint with this name."""
        if name not in self.joint_names:
            raise HandleError(f'there is no joint "{name}"; there are {", ".join(self.joint_names) or "none"}')
        return Joint(self, name)

    def joints(self) -> Iterator[Joint]:
        """All joints."""
        return (Joint(self, name) for name in self.joint_names)

    @property
    def qpos(self) -> Floats:
        """Joint coordinates of the whole model, m, rad or quaternions, as a new array. Assigning sets them and places all bodies; contacts are forgotten."""
        return _stiction.qpos(self)

    @qpos.setter
    def qpos(self, values: npt.ArrayLike) -> None:
        _stiction.set_joint_coordinates(self, qpos=np.asarray(values))

    @property
    def qvel(self) -> Floats:
        """Joint velocities of the whole model, m/s or rad/s, as a new array. Assigning sets them, and the velocities of all bodies."""
        return _stiction.qvel(self)

    @qvel.setter
    def qvel(self, values: npt.ArrayLike) -> None:
        _stiction.set_joint_coordinates(self, qvel=np.asarray(values))

    def set_configuration(self, qpos: npt.ArrayLike, qvel: npt.ArrayLike | None = None) -> None:
        """Sets joint coordinates and joint velocities together; without ``qvel`` the model is at rest."""
        speeds = np.zeros(len(self.qvel_names)) if qvel is None else np.asarray(qvel)
        _stiction.set_joint_coordinates(self, np.asarray(qpos), speeds)

    @property
    def qpos_names(self) -> list[str]:
        """Names of the entries of :attr:`qpos`.

        ``elbow`` for a joint with one, ``rail[1]`` for the second of several, ``wrist.w``, ``wrist.x`` … for the quaternion of a ball joint, ``base.x`` …
        ``base.qw`` … for a free body.
        """
        return _stiction.joint_coordinate_names(self)[0]

    @property
    def qvel_names(self) -> list[str]:
        """Names of the entries of :attr:`qvel`, of forces, and of rows and columns of the mass matrix."""
        return _stiction.joint_coordinate_names(self)[1]

    # ------------------------------------------------------------------ dynamics

    def mass_matrix(self) -> Floats:
        """Mass matrix in joint coordinates, with the inertia of rotors (``armature``)."""
        return _stiction.mass_matrix(self)

    def bias(self) -> Floats:
        """Bias force in joint coordinates: Coriolis, centrifugal and gravity forces (``qfrc_bias`` in MuJoCo)."""
        return _stiction.joint_forces(self, "bias")

    def inverse_dynamics(self, qacc: npt.ArrayLike) -> Floats:
        """Force M q̈ + b that gives the joint acceleration ``qacc``, without contacts, limits, friction, passive forces and closed loops."""
        return _stiction.inverse_dynamics(self, np.asarray(qacc, dtype=float))

    def forward_dynamics(self, effort: npt.ArrayLike | None = None) -> Floats:
        """Joint acceleration M⁻¹ (τ − b) of the force ``effort``, the inverse of :meth:`inverse_dynamics`. Default: motors and passive forces."""
        if effort is None:
            effort = self.actuator_force() + self.passive_force()
        return _stiction.forward_dynamics(self, np.asarray(effort, dtype=float))

    def actuator_force(self) -> Floats:
        """Force of the motors in joint coordinates, at the present state and controls."""
        return _stiction.joint_forces(self, "actuator")

    def passive_force(self) -> Floats:
        """Force of springs and dampers, loads and applied wrenches in joint coordinates; without dry friction and limits."""
        return _stiction.joint_forces(self, "passive")

    def jacobian(self, body: str | Body | Site, point: npt.ArrayLike = 0.0) -> Floats:
        """Jacobian of a point of a body, given in the body frame; default: the centre of mass. Of a site: of its origin.

        Six rows: velocity of the point, then angular velocity, in world axes. ``jacobian @ qvel`` is the twist.
        """
        if isinstance(body, Site):
            return body.jacobian(point)
        index = self._index(body)
        planar = self.dimension == 2
        given = vector("point", point, [2] if planar else [3])
        return _stiction.jacobian(self, index, (given[0], given[1], 0.0 if planar else given[2]))

    def _index(self, body: str | Body) -> int:
        raise NotImplementedError

    # ------------------------------------------------------------------ sites

    def site(self, name: str) -> Site:
        """The site with this name: a named frame on a body."""
        if name not in self.site_names:
            raise HandleError(f'there is no site "{name}"; there are {", ".join(self.site_names) or "none"}')
        return Site(self, name)

    def sites(self) -> Iterator[Site]:
        """All sites."""
        return (Site(self, name) for name in self.site_names)

    @property
    def site_names(self) -> list[str]:
        """Names of the sites."""
        return _stiction.site_names(self)


class Joint:
    """A joint of a simulation, by its name.

    ``position``, ``velocity`` and ``effort`` are a number for a joint with one DOF, otherwise an array.
    """

    __slots__ = ("_simulation", "name")

    def __init__(self, simulation: JointCoordinates, name: str) -> None:
        self._simulation = simulation
        self.name = name

    @property
    def kind(self) -> str:
        """Kind, as in a scene file: ``revolute``, ``prismatic``, ``spherical`` …"""
        return _stiction.joint_facts(self._simulation, self.name)[0]

    @property
    def qpos_indices(self) -> list[int]:
        """Places in :attr:`Simulation.qpos`; none for a joint that closes a loop."""
        places = _stiction.joint_facts(self._simulation, self.name)[1]
        return [] if places is None else places[0]

    @property
    def qvel_indices(self) -> list[int]:
        """Places in :attr:`Simulation.qvel`, forces and the mass matrix; none for a joint that closes a loop."""
        places = _stiction.joint_facts(self._simulation, self.name)[1]
        return [] if places is None else places[1]

    @property
    def position(self) -> float | Floats:
        """Position, m or rad; of a ball joint a unit quaternion (w first) of the body farther from the root against the other, 1 where the scene begins.

        Assigning places the bodies beyond the joint; they keep their joint velocities. A joint that closes a loop cannot be set.
        """
        return self._value("position")

    @position.setter
    def position(self, values: npt.ArrayLike) -> None:
        self._set("position", values)

    @property
    def velocity(self) -> float | Floats:
        """Velocity, m/s or rad/s; of a ball joint an angular velocity in the axes of the body farther from the root. Assigning sets it."""
        return self._value("velocity")

    @velocity.setter
    def velocity(self, values: npt.ArrayLike) -> None:
        self._set("velocity", values)

    @property
    def effort(self) -> float | Floats:
        """Force (N) or torque (N m) of the motors of the joint at the present state and controls; passive forces, limits and friction are not part of it.

        Assigning sets the control of the motor to that which gives this force in all following steps. The joint needs one motor for each DOF that is not
        a servo, and the force must be within its limits.
        """
        return self._value("effort")

    @effort.setter
    def effort(self, values: npt.ArrayLike) -> None:
        self._set("effort", values)

    @property
    def wrench(self) -> tuple[Floats, Floats]:
        """Force (N) and torque (N m, about its centre of mass) on the second body over the last step, world axes."""
        force, torque = self._simulation.joint_wrench(self.name)
        return np.array(force), np.array(torque)

    def _value(self, what: str) -> float | Floats:
        values = _stiction.joint_value(self._simulation, self.name, what)
        return float(values[0]) if len(values) == 1 else values

    def _set(self, what: str, values: npt.ArrayLike) -> None:
        _stiction.set_joint_value(self._simulation, self.name, what, np.atleast_1d(np.asarray(values)))

    def __repr__(self) -> str:
        return f"Joint({self.name!r}, {self.kind})"
