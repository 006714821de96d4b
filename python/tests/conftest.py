"""Shared helpers of the tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stiction import Scene, Simulation

ROOT = Path(__file__).resolve().parents[2]
SCENES = ROOT / "scenes"


# Files that need packages of the long tests alone.
LONG_FILES = ("test_notebooks.py", "test_ray.py")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="also run the notebooks, Ray and tests marked `long`")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Without --long the files of long tests are not even imported."""
    return True if collection_path.name in LONG_FILES and not config.getoption("--long") else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Without --long the tests marked `long` are deselected, which pytest counts."""
    if config.getoption("--long"):
        return
    long = [item for item in items if item.get_closest_marker("long")]
    items[:] = [item for item in items if item not in long]
    config.hook.pytest_deselected(items=long)


def sliding_box(**simulation: Any) -> Scene:
    """A box of 1 kg on a floor with friction 0.5, pushed off with 1 m/s."""
    scene = Scene(duration=1.0, step=0.001, gravity=[0.0, -9.81], name="sliding_box", **simulation)
    scene.body("floor", kind="fixed").shape(halfspace={"normal": [0.0, 1.0]})
    box = scene.body("box", mass=1.0, position=[0.0, 0.25], velocity=[1.0, 0.0])
    box.shape(box={"size": [1.0, 0.5]})
    scene.contact_default(friction=0.5)
    return scene


@pytest.fixture
def box() -> Simulation:
    return sliding_box().simulation()


@pytest.fixture
def ball() -> Simulation:
    """A ball in space above a table."""
    scene = Scene(duration=1.0, step=0.005, gravity=[0.0, 0.0, -9.81], name="ball")
    scene.body("table", kind="fixed").shape(halfspace={"normal": [0.0, 0.0, 1.0]})
    scene.body("ball", mass=0.5, position=[0.0, 0.0, 0.3]).shape(sphere={"radius": 0.1})
    scene.contact_default(friction=0.3, restitution=0.5)
    return scene.simulation()
