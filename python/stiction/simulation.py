"""Simulations."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable, Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from . import _stiction
from ._folder import Folder
from ._values import as_toml, vector
from .errors import HandleError, InputError, StateError, StepError
from .frames import Floats, Frame, Site
from .joints import JointCoordinates
from .run import Run, page_in_a_frame
from .scene import Scene

if TYPE_CHECKING:
    from typing_extensions import Self

Controller: TypeAlias = "Callable[[Simulation], object]"

#: Counter of bodies; a number is never reused.
_numbers = itertools.count(1)


class Simulation(JointCoordinates):
    """A scene that can be stepped.

    >>> from stiction import Simulation
    >>> simulation = Simulation.from_toml('''
    ...     [simulation]
    ...     duration = 1.0
    ...     step = 0.01
    ...     gravity = [0.0, -9.81]
    ...     [[body]]
    ...     name = "stone"
    ...     mass = 1.0
    ...     position = [0.0, 10.0]
    ...     [[body.shape]]
    ...     disc = { radius = 0.1 }
    ... ''')
    >>> simulation.step().contacts
    0
    >>> run = simulation.run()
    >>> round(float(run["stone.y"][-1]), 3)
    5.046

    A step either succeeds or raises :class:`StepError` and changes nothing. The arrays of the state (:attr:`q`, :attr:`v`) are read-only and
    always show the current state; they are the same objects until bodies are added or removed. Assigning to the attributes sets the state.
    """

    _scene: Scene | None = None
    _bodies: dict[str, tuple[int, int]] | None = None
    _motors: dict[str, int] | None = None

    # ------------------------------------------------------------------ construction

    @classmethod
    def from_toml(cls, text: str, name: str = "scene", set: Mapping[str, Any] | None = None) -> Self:
        """Creates a simulation from the text of a scene file; ``set`` changes values in it, such as ``{"body.rod.mass": 2.0}``."""
        return cls(text, name, [(path, as_toml(value)) for path, value in (set or {}).items()])

    @classmethod
    def from_file(cls, path: str | PathLike[str], set: Mapping[str, Any] | None = None) -> Self:
        """Creates a simulation from a scene file, or from a robot as :meth:`from_mjcf` and :meth:`from_urdf` with default options."""
        text, notes = _stiction.robot_scene(Path(path))
        made = cls.from_toml(text, str(path), set)
        made.notes = notes
        return made

    @classmethod
    def from_scene(cls, scene: Scene) -> Self:
        """Creates a simulation from a scene made in Python."""
        return cls.from_toml(scene.to_toml(), scene.name)

    @classmethod
    def from_mjcf(
        cls,
        path: str | PathLike[str],
        *,
        asset_root: str | PathLike[str] | None = None,
        keyframe: str | None = None,
        set: Mapping[str, Any] | None = None,
    ) -> Self:
        """Creates a simulation from a MuJoCo model. ``notes`` lists its ignored elements."""
        root = None if asset_root is None else Path(asset_root)
        text, notes = _stiction.robot_scene(Path(path), root, False, keyframe)
        made = cls.from_toml(text, str(path), set)
        made.notes = notes
        return made

    @classmethod
    def from_urdf(
        cls,
        path: str | PathLike[str],
        *,
        asset_root: str | PathLike[str] | None = None,
        free_base: bool = False,
        self_collision: bool = False,
        repair_inertia: bool = False,
        set: Mapping[str, Any] | None = None,
    ) -> Self:
        """Creates a simulation from a robot in URDF. ``notes`` lists its ignored elements."""
        root = None if asset_root is None else Path(asset_root)
        text, notes = _stiction.robot_scene(Path(path), root, free_base, None, self_collision, repair_inertia)
        made = cls.from_toml(text, str(path), set)
        made.notes = notes
        return made

    #: Ignored elements of the files of a robot.
    notes: list[str] = []

    # ------------------------------------------------------------------ bodies

    def _table(self) -> dict[str, tuple[int, int]]:
        """Number and index of every body by name."""
        if self._bodies is None:
            self._bodies = {name: (next(_numbers), index) for index, name in enumerate(self.body_names)}
        return self._bodies

    def body(self, name: str) -> Body:
        """The body with this name."""
        try:
            number, _ = self._table()[name]
        except KeyError:
            raise HandleError(f'there is no body "{name}"; there are {", ".join(self._table())}') from None
        return Body(self, name, number)

    def __getitem__(self, name: str) -> Body:
        return self.body(name)

    def frame(self, name: str) -> Body | Site:
        """The site with this name, otherwise the body: for a link of a robot file, the frame that the file gives to it."""
        return self.site(name) if name in self.site_names else self.body(name)

    def bodies(self) -> Iterator[Body]:
        """All bodies, the world first."""
        return (self.body(name) for name in list(self._table()))

    def _index(self, body: str | Body) -> int:
        if isinstance(body, Body):
            return body._in(self)
        return self.body(body)._in(self)

    # ------------------------------------------------------------------ state

    @property
    def q(self) -> Floats:
        """Coordinates of all dynamic bodies."""
        shown: Floats = _q(self)
        return shown

    @q.setter
    def q(self, values: npt.ArrayLike) -> None:
        self.set_coordinates(q=np.asarray(values))

    @property
    def v(self) -> Floats:
        """Velocities of all dynamic bodies."""
        shown: Floats = _v(self)
        return shown

    @v.setter
    def v(self, values: npt.ArrayLike) -> None:
        self.set_coordinates(v=np.asarray(values))

    # ------------------------------------------------------------------ inputs

    def apply(self, body: str | Body, force: npt.ArrayLike = 0.0, torque: npt.ArrayLike = 0.0) -> None:
        """Applies a force (at the centre of mass, world axes, N) and a torque (N m; one number in the plane) to a body in all following steps."""
        planar = self.dimension == 2
        pushed = vector("force", force, [2] if planar else [3])
        turned = vector("torque", torque, [1] if planar else [3])
        if planar:
            self.hold_wrench(self._index(body), [pushed[0], pushed[1], 0.0], [0.0, 0.0, turned[0]])
        else:
            self.hold_wrench(self._index(body), pushed, turned)

    def command(self, motor: str, value: float) -> None:
        """Sets the control of a motor in all following steps."""
        if self._motors is None:
            self._motors = {name: index for index, name in enumerate(self.motor_names)}
        try:
            index = self._motors[motor]
        except KeyError:
            raise HandleError(f'there is no motor "{motor}"; there are {", ".join(self._motors) or "none"}') from None
        try:
            number = float(value)
        except (TypeError, ValueError) as error:
            raise InputError(f'the control of "{motor}" must be a number: {error}') from None
        self.hold_control(index, number)

    # ------------------------------------------------------------------ running

    def run(
        self,
        duration: float | None = None,
        *,
        steps: int | None = None,
        out: str | PathLike[str] | None = None,
        record_every: int | None = None,
        controller: Controller | None = None,
    ) -> Run:
        """Simulates for a duration, a number of steps, or the duration of the scene, and returns the recorded run.

        ``controller`` is called with the simulation before every step; the inputs that it sets by :meth:`apply`, :meth:`command` and
        ``set_controls`` hold over the step. An exception of the controller ends the run and is raised here.

        The tables are written to the folder ``out``, or to one that lasts as long as the :class:`Run`.
        """
        if duration is not None and steps is not None:
            raise StateError("give a duration or a number of steps, not both")
        if duration is not None and not 0.0 <= float(duration) < float("inf"):
            raise StateError(f"the duration is {duration} s, but must be a finite number that is not negative")
        if steps is None:
            wanted = self.steps_in(self.duration) - self.step_count if duration is None else self.steps_in(float(duration))
            steps = max(wanted, 0)
        if not isinstance(steps, (int, np.integer)) or steps < 0:
            raise StateError(f"the number of steps is {steps}, but must be a whole number that is not negative")
        if record_every is not None and (not isinstance(record_every, (int, np.integer)) or record_every < 1):
            raise StateError(f"record_every is {record_every}, but must be a whole number from 1 on")
        folder = Folder(out)
        recorder = self.recorder(folder.path, self.record_every if record_every is None else int(record_every))
        try:
            if controller is None:
                self.advance(int(steps), recorder)
            else:
                for _ in range(steps):
                    controller(self)
                    self.step_recorded(recorder)
        except BaseException as error:
            recorder.finish(self, "" if isinstance(error, KeyboardInterrupt) else str(error) or type(error).__name__)
            if isinstance(error, StepError):
                error.run = Run(folder.path, folder)
            raise
        recorder.finish(self)
        return Run(folder.path, folder)

    # ------------------------------------------------------------------ changes of the scene

    @property
    def scene(self) -> Scene:
        """The scene, for inspection; :meth:`edit` changes it."""
        if self._scene is None:
            self._scene = Scene.from_toml(self.toml, self.name)
        return self._scene

    def edit(self, change: Callable[[Scene], object]) -> None:
        """Continues with the scene that ``change`` has changed. Remaining bodies keep their motion; new ones start as the scene says.

        On error nothing changes.
        """
        scene = Scene.from_toml(self.toml, self.name)
        before = {body["name"]: body for body in scene.document.get("body", [])}
        change(scene)
        after = {body.get("name"): body for body in scene.document.get("body", [])}
        kept = [name for name, body in before.items() if after.get(name) is body]
        self.continue_with(scene.to_toml(), self.name, kept)
        numbers = self._table()
        self._scene = scene
        self._motors = None
        self._bodies = {
            name: (numbers[name][0] if name in kept or name == "world" else next(_numbers), index)
            for index, name in enumerate(self.body_names)
        }

    def add(self, name: str, *, shapes: list[dict[str, Any]] | None = None, **keys: Any) -> Body:
        """Adds a body, with the keys of a scene file."""

        def change(scene: Scene) -> None:
            made = scene.body(name, **keys)
            for shape in shapes or []:
                made.shape(**shape)

        self.edit(change)
        return self.body(name)

    def remove(self, body: str | Body) -> None:
        """Removes a body, and the contact rules that name it. Its joints, springs and motors must be removed first."""
        name = body.name if isinstance(body, Body) else body
        self._index(body)

        def change(scene: Scene) -> None:
            document = scene.document
            document["body"] = [entry for entry in document.get("body", []) if entry.get("name") != name]
            if "contact" in document:
                document["contact"] = [rule for rule in document["contact"] if name not in rule.get("between", [])]

        self.edit(change)

    # ------------------------------------------------------------------ display

    def __repr__(self) -> str:
        bodies = len(self._table()) - 1
        return f"Simulation({self.name!r}, {self.preset}, {bodies} bodies, t = {self.time:.6g} s of {self.duration:g} s)"

    def _repr_html_(self) -> str:
        with tempfile.TemporaryDirectory(prefix="stiction-") as folder:
            recorder = self.recorder(Path(folder), 1)
            recorder.finish(self)
            return page_in_a_frame(_stiction.view_page([Path(folder)]))


_q = _stiction.Simulation.q.__get__
_v = _stiction.Simulation.v.__get__


class Body(Frame):
    """A body of a simulation. The handle stays with this body, even if another one later takes its name."""

    __slots__ = ("_number", "_simulation", "name")

    def __init__(self, simulation: Simulation, name: str, number: int) -> None:
        self._simulation = simulation
        self._number = number
        self.name = name

    def _in(self, simulation: Simulation) -> int:
        if simulation is not self._simulation:
            raise HandleError(f'body "{self.name}" belongs to another simulation')
        number, index = simulation._table().get(self.name, (0, 0))
        if number != self._number:
            raise HandleError(f'body "{self.name}" was removed')
        return index

    def _place(self) -> int:
        return self._in(self._simulation)

    def _cut(self, numbers: list[float]) -> Floats:
        return np.array(numbers[: self._simulation.dimension])

    @property
    def index(self) -> int:
        """Index in the model."""
        return self._place()

    @property
    def position(self) -> Floats:
        """Position of the centre of mass, m. Assigning sets it and clears the contact memory.

        In reduced coordinates the bodies beyond this one in its tree move along, and a position that the joint of the body does not allow raises
        :class:`StateError`; :meth:`Simulation.set_joint` moves joints, and :meth:`set_pose` sets position and orientation together.
        """
        return self._cut(self._simulation.pose(self._place())[0])

    @position.setter
    def position(self, values: npt.ArrayLike) -> None:
        self._write("q", values, 0, self._simulation.dimension)

    @property
    def orientation(self) -> Floats:
        """Orientation as a unit quaternion, w first."""
        return np.array(self._simulation.pose(self._place())[1])

    @orientation.setter
    def orientation(self, values: npt.ArrayLike) -> None:
        self._write("q", values, 3, 4)

    @property
    def angle(self) -> float:
        """Angle in the plane, rad, counting full turns."""
        (first, last), _ = self._simulation.slots(self._place())
        if self._simulation.dimension != 2 or last - first != 3:
            raise StateError(f'body "{self.name}" has no angle of its own')
        return float(self._simulation.q[first + 2])

    @angle.setter
    def angle(self, value: float) -> None:
        self._write("q", [value], 2, 1)

    def set_pose(self, position: npt.ArrayLike, orientation: npt.ArrayLike) -> None:
        """Sets the position of the centre of mass (m) and the orientation together: a unit quaternion, w first, or an angle in the plane (rad)."""
        planar = self._simulation.dimension == 2
        place = vector("position", position, [2] if planar else [3])
        turned = vector("orientation", orientation, [1] if planar else [4])
        self._write("q", [*place, *turned], 0, len(place) + len(turned))

    @property
    def velocity(self) -> Floats:
        """Velocity of the centre of mass, m/s."""
        return self._cut(self._simulation.twist(self._place())[0])

    @velocity.setter
    def velocity(self, values: npt.ArrayLike) -> None:
        self._write("v", values, 0, self._simulation.dimension)

    @property
    def angular_velocity(self) -> Floats | float:
        """Angular velocity, rad/s: one number in the plane, a vector in world axes in space."""
        turning = self._simulation.twist(self._place())[1]
        return float(turning[2]) if self._simulation.dimension == 2 else np.array(turning)

    @angular_velocity.setter
    def angular_velocity(self, values: npt.ArrayLike) -> None:
        if self._simulation.dimension == 2:
            self._write("v", np.atleast_1d(np.asarray(values)), 2, 1)
        else:
            self._write("v", values, 3, 3)

    def _numbers(self) -> tuple[tuple[list[float], list[float]], tuple[list[float], list[float]]]:
        return self._simulation.pose(self._place()), self._simulation.twist(self._place())

    def jacobian(self, point: npt.ArrayLike = 0.0) -> Floats:
        return self._simulation.jacobian(self, point)

    @property
    def mass(self) -> float | None:
        """Mass, kg; None if the body is not dynamic."""
        return self._simulation.mass(self._place())

    def _write(self, which: str, values: npt.ArrayLike, first: int, count: int) -> None:
        """Sets a range of the coordinates or the velocities of this body."""
        simulation = self._simulation
        index = self._place()
        slots = simulation.slots(index)
        start, end = slots[0 if which == "q" else 1]
        if start + first + count > end:
            raise StateError(f'body "{self.name}" has no such coordinate: it is fixed, prescribed or a particle')
        state = np.array(simulation.q if which == "q" else simulation.v)
        state[start + first : start + first + count] = vector(which, values, [count])
        if which == "q":
            simulation.set_body_coordinates(index, state[start:end])
        else:
            simulation.set_coordinates(v=state)

    def __repr__(self) -> str:
        return f"Body({self.name!r})"
