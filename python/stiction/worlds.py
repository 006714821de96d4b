"""Many simulations of one scene, stepped in parallel."""

from __future__ import annotations

from . import _stiction
from ._scene_like import SceneLike, text_and_name


class Worlds(_stiction.Worlds):
    """Simulations of one scene that one call steps independently, on all cores.

    >>> from stiction import Scene, Worlds
    >>> scene = Scene(duration=1.0, step=0.01, gravity=[0.0, -9.81])
    >>> _ = scene.body("stone", mass=1.0, position=[0.0, 1.0]).shape(disc={"radius": 0.1})
    >>> worlds = Worlds.of(scene, 8)
    >>> worlds.reset(3, q=[2.0, 5.0, 0.0])
    >>> bool(worlds.step(10).any())  # whether any could not go on
    False
    >>> worlds.q.shape
    (8, 3)
    """

    @classmethod
    def of(cls, scene: SceneLike, count: int, *, threads: int = 0) -> Worlds:
        """Creates worlds of a scene, a simulation, a scene file (a ``Path``), or the text of one."""
        text, name = text_and_name(scene)
        return cls(text, name, count, threads)
