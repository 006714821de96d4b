"""Scenes made in Python: the tables of a scene file, one call each.

>>> from stiction import Scene
>>> scene = Scene(duration=1.0, step=0.01, gravity=[0.0, -9.81])
>>> scene.body("floor", kind="fixed").shape(halfspace={"normal": [0.0, 1.0]})
Body('floor')
>>> scene.body("ball", mass=1.0, position=[0.0, 0.5]).shape(disc={"radius": 0.1})
Body('ball')
>>> scene.contact_default(friction=0.5)
>>> simulation = scene.simulation()
>>> simulation.dimension
2

Keys are those of the file, which ``stiction schema`` and docs/scene.md describe. Unknown keys are rejected when the scene is used, with a
hint.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _stiction
from ._values import as_json, plain

if TYPE_CHECKING:
    from .simulation import Simulation


class Body:
    """A body of a scene that is being made."""

    def __init__(self, table: dict[str, Any]) -> None:
        self._table = table

    @property
    def name(self) -> str:
        return str(self._table["name"])

    def shape(self, **keys: Any) -> Body:
        """Adds a shape: one of the shapes of the file format by name, and keys beside it."""
        self._table.setdefault("shape", []).append(plain(keys))
        return self

    def __repr__(self) -> str:
        return f"Body({self.name!r})"


class Scene:
    """A scene: bodies, joints, forces and options of the simulation."""

    def __init__(
        self,
        *,
        duration: float,
        step: float,
        preset: str | None = None,
        gravity: Any = None,
        name: str = "scene",
        **simulation: Any,
    ) -> None:
        keys = {"duration": float(duration), "step": float(step), "preset": preset, "gravity": gravity, **simulation}
        self.name = name
        self.document: dict[str, Any] = {
            "simulation": {key: plain(value) for key, value in keys.items() if value is not None}
        }

    @classmethod
    def from_toml(cls, text: str, name: str = "scene") -> Scene:
        """The tables of a scene file, which may be changed."""
        scene = cls.__new__(cls)
        scene.name = name
        scene.document = json.loads(_stiction.scene_to_json(text, name))
        return scene

    @classmethod
    def from_file(cls, path: str | PathLike[str]) -> Scene:
        """Reads a scene from a file, or a robot (URDF, MJCF)."""
        text, _ = _stiction.robot_scene(Path(path))
        return cls.from_toml(text, Path(path).stem)

    def _add(self, table: str, keys: Mapping[str, Any]) -> dict[str, Any]:
        entry: dict[str, Any] = {key: plain(value) for key, value in keys.items() if value is not None}
        self.document.setdefault(table, []).append(entry)
        return entry

    def body(self, name: str, **keys: Any) -> Body:
        """Adds a body."""
        return Body(self._add("body", {"name": name, **keys}))

    def joint(self, **keys: Any) -> None:
        """Adds a joint."""
        self._add("joint", keys)

    def motor(self, **keys: Any) -> None:
        """Adds a motor."""
        self._add("motor", keys)

    def site(self, **keys: Any) -> None:
        """Adds a site: a named frame on a body."""
        self._add("site", keys)

    def spring(self, **keys: Any) -> None:
        """Adds a spring."""
        self._add("spring", keys)

    def damper(self, **keys: Any) -> None:
        """Adds a damper."""
        self._add("damper", keys)

    def load(self, **keys: Any) -> None:
        """Adds a load."""
        self._add("load", keys)

    def contact(self, between: Any, **keys: Any) -> None:
        """Adds the contact rule of a pair of bodies."""
        self._add("contact", {"between": between, **keys})

    def contact_default(self, **keys: Any) -> None:
        """Sets the contact rule of all other pairs."""
        self.document.setdefault("contact_default", {}).update(plain(keys))

    def scheme(self, **keys: Any) -> None:
        """Sets options of the scheme."""
        self.document.setdefault("scheme", {}).update(plain(keys))

    def table(self, name: str, **keys: Any) -> None:
        """Adds an entry to any other list of the file, such as ``coupling`` or ``material``."""
        self._add(name, keys)

    def to_toml(self) -> str:
        """Text of the scene file."""
        return _stiction.scene_from_json(as_json(self.document))

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the scene file."""
        Path(path).write_text(self.to_toml(), encoding="utf-8")

    def simulation(self) -> Simulation:
        """Simulation of the scene."""
        from .simulation import Simulation

        return Simulation.from_toml(self.to_toml(), self.name)

    def __repr__(self) -> str:
        bodies = ", ".join(str(body.get("name")) for body in self.document.get("body", []))
        return f"Scene({self.name!r}, bodies: {bodies})"
