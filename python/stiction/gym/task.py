"""Tasks: a scene with motors, observations, rewards and termination conditions.

A task is written once, for states of any number of worlds (a row each); :class:`stiction.gym.Env` and :class:`stiction.gym.VectorEnv` are
wrappers around it. It has no state of its own, so its results for a world depend on the state of that world alone.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Box

from ..scene import Scene
from ..simulation import Simulation

Floats: TypeAlias = npt.NDArray[np.float64]
Flags: TypeAlias = npt.NDArray[np.bool_]


class State(NamedTuple):
    """Coordinates and velocities, a row for each world."""

    q: Floats
    v: Floats


class Outcome(NamedTuple):
    """Reward of a step, and termination by success or failure: one value for each world."""

    reward: Floats
    success: Flags
    lost: Flags


class Quantity(NamedTuple):
    """One number of an observation, and its bounds, to which it is clipped."""

    name: str
    low: float
    high: float


class Control(NamedTuple):
    """A motor, and the controls of the actions -1 and 1."""

    motor: str
    low: float
    high: float


class Task(ABC):
    """A scene with motors, observations, rewards and termination conditions.

    To make your own task, set the four values below and write the five methods; ``Env(task=...)`` and ``VectorEnv(task=...)`` accept it.
    """

    #: Simulation steps per action.
    substeps: ClassVar[int]
    #: Number of actions after which ``gymnasium.make`` truncates an episode.
    horizon: ClassVar[int]
    quantities: ClassVar[tuple[Quantity, ...]]
    #: All motors of the scene, in its order.
    controls: ClassVar[tuple[Control, ...]]

    def __init__(self) -> None:
        self.toml = self.scene().to_toml()
        simulation = self.simulation()
        motors = [control.motor for control in self.controls]
        if simulation.motor_names != motors:
            raise ValueError(f"the scene has the motors {simulation.motor_names}, the task those of {motors}")
        self._slots = {name: simulation.slots(index) for index, name in enumerate(simulation.body_names)}
        #: Initial state of the scene.
        self.home = State(np.array(simulation.q), np.array(simulation.v))
        self.step_size = simulation.step_size
        seen = np.array([quantity[1:] for quantity in self.quantities], dtype=np.float64)
        driven = np.array([control[1:] for control in self.controls], dtype=np.float64)
        self.observation_space = Box(seen[:, 0], seen[:, 1], dtype=np.float64)
        self.action_space = Box(-1.0, 1.0, (len(driven),), dtype=np.float64)
        self._middle, self._half = (driven[:, 0] + driven[:, 1]) / 2.0, (driven[:, 1] - driven[:, 0]) / 2.0

    @abstractmethod
    def scene(self) -> Scene:
        """The scene, with every body at a valid initial state."""

    @abstractmethod
    def start(self, random: np.random.Generator) -> State:
        """Coordinates and velocities at the start of an episode, of one world."""

    @abstractmethod
    def observe(self, state: State) -> list[Floats]:
        """Observed quantities, a column each."""

    @abstractmethod
    def evaluate(self, before: State, after: State, actions: Floats) -> Outcome:
        """Reward and termination of the step from one state to another."""

    @abstractmethod
    def measures(self, state: State) -> dict[str, Floats]:
        """Additional entries of ``info``, one value for each world."""

    def simulation(self) -> Simulation:
        """A simulation of the scene."""
        return Simulation.from_toml(self.toml, type(self).__name__)

    def observation(self, state: State) -> Floats:
        """Observation: a row for each world, within the bounds of the space."""
        columns = np.stack(self.observe(state), axis=1)
        return np.clip(columns, self.observation_space.low, self.observation_space.high)

    def controls_of(self, actions: Floats) -> Floats:
        """Controls of actions; actions are clipped to their bounds."""
        if actions.shape[1:] != self.action_space.shape:
            raise ValueError(f"an action has the shape {actions.shape[1:]}, but {self.action_space.shape} is needed")
        return self._middle + self._half * np.clip(actions, -1.0, 1.0)

    def where(self, body: str) -> slice:
        """Indices of a body among the coordinates."""
        return slice(*self._slots[body][0])

    def speeds(self, body: str) -> slice:
        """Indices of a body among the velocities."""
        return slice(*self._slots[body][1])

    def q(self, state: State, body: str) -> list[Floats]:
        """Coordinates of a body, a column each: x, y, angle in the plane; x, y, z and a quaternion, w first, in space."""
        return [state.q[:, place] for place in range(*self._slots[body][0])]

    def v(self, state: State, body: str) -> list[Floats]:
        """Velocities of a body, a column each."""
        return [state.v[:, place] for place in range(*self._slots[body][1])]

    def info(self, state: State, success: Flags) -> dict[str, Any]:
        """Entries of ``info`` after a step: an array for each key."""
        return {"is_success": success, **self.measures(state)}


def each(function: Callable[..., float], *columns: Floats) -> Floats:
    """A function of scalars, applied to each world.

    The functions of numpy may give different last bits in long and short arrays; these do not, so that a world does not depend on others.
    """
    return np.array([function(*numbers) for numbers in zip(*(column.tolist() for column in columns), strict=True)])


def length(*components: Floats) -> Floats:
    """Length of vectors, for each world."""
    total = components[0] * components[0]
    for component in components[1:]:
        total = total + component * component
    return np.sqrt(total)


def turn(angle: Floats) -> Floats:
    """The angle from -π to π."""
    return each(lambda x: math.remainder(x, 2.0 * math.pi), angle)


def progress(before: Floats, after: Floats, success: Flags, lost: Flags) -> Outcome:
    """Reward from the reduction of an error, plus 1 for success."""
    return Outcome(before - after + success, success, lost)
