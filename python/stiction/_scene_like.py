"""Scenes in all accepted forms."""

from __future__ import annotations

from pathlib import Path
from typing import TypeAlias

from . import _stiction
from .scene import Scene
from .simulation import Simulation

#: A scene made in Python, a simulation, a file by its ``Path``, or the text of a scene file.
SceneLike: TypeAlias = "Scene | Simulation | Path | str"


def text_and_name(scene: SceneLike) -> tuple[str, str]:
    """Text of a scene file, and its name for messages."""
    if isinstance(scene, Simulation):
        return scene.toml, scene.name
    if isinstance(scene, Scene):
        return scene.to_toml(), scene.name
    if isinstance(scene, Path):
        text, _ = _stiction.robot_scene(scene)
        return text, str(scene)
    return scene, "scene"
