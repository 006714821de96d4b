"""Forces, controls, controllers, and scenes that change while they run (B22, B23 of the list of bad inputs)."""

from __future__ import annotations

import os
import resource
from typing import Any

import numpy as np
import pytest
from conftest import sliding_box

import stiction
from stiction import HandleError, Scene, Simulation, StateError


def pendulum() -> Simulation:
    scene = Scene(duration=1.0, step=0.002, gravity=[0.0, -9.81], name="pendulum")
    rod = scene.body("rod", mass=1.0, inertia=0.1, position=[0.5, 0.0])
    rod.shape(capsule={"half_length": 0.4, "radius": 0.05})
    scene.joint(name="pivot", kind="revolute", between=["world", "rod"], anchor=[0.0, 0.0])
    scene.motor(name="drive", joint="pivot", torque=0.0)
    return scene.simulation()


def test_a_held_force_accelerates() -> None:
    simulation = Scene(duration=1.0, step=0.01, gravity=[0.0, 0.0], name="free")
    simulation.body("stone", mass=2.0, inertia=0.5, position=[0.0, 0.0]).shape(disc={"radius": 0.1})
    free = simulation.simulation()
    free.apply("stone", force=[4.0, 0.0], torque=1.0)
    free.advance(100)
    assert free.v == pytest.approx([2.0, 0.0, 2.0])
    free.release_wrenches()
    free.advance(10)
    assert free.v == pytest.approx([2.0, 0.0, 2.0])


def test_a_motor_follows_its_command() -> None:
    simulation = pendulum()
    hold = 1.0 * 9.81 * 0.5
    simulation.command("drive", hold)
    simulation.advance(100)
    assert simulation["rod"].angle == pytest.approx(0.0, abs=1e-9)
    simulation.set_controls([0.0])
    simulation.advance(100)
    assert simulation["rod"].angle < -0.1


def test_a_driven_joint_that_was_put_elsewhere_is_recorded() -> None:
    simulation = pendulum()
    simulation.q = [0.0, -0.5, -np.pi / 2]
    run = simulation.run(steps=5)
    assert run.frames == 6
    assert np.asarray(run["rod.angle"])[0] == pytest.approx(-np.pi / 2)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e12, -1e12, "much", None, [1.0]])
def test_controls_that_cannot_be_are_refused(value: Any) -> None:
    simulation = pendulum()
    simulation.step()
    before = simulation.save()
    with pytest.raises(stiction.InputError):
        simulation.command("drive", value)
    with pytest.raises(stiction.StictionError):
        simulation.set_controls([value])
    assert simulation.save() == before
    other = pendulum()
    other.step()
    simulation.step()
    other.step()
    assert simulation.save() == other.save(), "the motor has the control it had"


@pytest.mark.parametrize(
    ("force", "torque"),
    [([float("nan"), 0.0], 0.0), ([1e12, 0.0], 0.0), ([1.0], 0.0), ([1.0, 2.0, 3.0], 0.0), ([0.0, 0.0], float("inf")), ("x", 0.0)],
)
def test_forces_that_cannot_be_are_refused(box: Simulation, force: Any, torque: Any) -> None:
    before = box.save()
    with pytest.raises(stiction.InputError):
        box.apply("box", force=force, torque=torque)
    assert box.save() == before


def test_forces_on_what_does_not_move_are_refused(box: Simulation) -> None:
    with pytest.raises(stiction.InputError, match="only dynamic bodies"):
        box.apply("floor", force=[1.0, 0.0])


def test_handles_know_where_they_belong(box: Simulation) -> None:
    other = sliding_box().simulation()
    foreign = other["box"]
    with pytest.raises(stiction.HandleError, match="another simulation"):
        box.apply(foreign, force=[1.0, 0.0])
    with pytest.raises(stiction.HandleError, match="no body"):
        box.apply("bx", force=[1.0, 0.0])
    with pytest.raises(stiction.HandleError):
        pendulum().command("drve", 1.0)
    with pytest.raises(stiction.HandleError):
        box.joint_wrench("none")
    with pytest.raises(stiction.HandleError):
        box.pose(99)


def test_handles_of_removed_bodies_stay_dead(box: Simulation) -> None:
    box.step()
    handle = box["box"]
    box.remove("box")
    with pytest.raises(stiction.HandleError, match="removed"):
        _ = handle.position
    with pytest.raises(stiction.HandleError):
        box.apply(handle, force=[1.0, 0.0])
    again = box.add("box", mass=1.0, position=[0.0, 0.25], shapes=[{"box": {"size": [1.0, 0.5]}}])
    assert again.position.tolist() == [0.0, 0.25]
    with pytest.raises(stiction.HandleError, match="removed"):
        _ = handle.position


def test_bodies_come_and_go_while_others_move_on(box: Simulation) -> None:
    """Removed while in contact, added in penetration, teleported, toggled between fixed and dynamic."""
    box.advance(10)
    x, v = box["box"].position[0], box["box"].velocity[0]
    box.add("stone", mass=1.0, position=[0.0, 0.6], shapes=[{"disc": {"radius": 0.2}}])
    assert (box["box"].position[0], box["box"].velocity[0]) == (x, v), "the box moves on"
    assert box.time == pytest.approx(0.01)
    box.advance(10)
    box["stone"].position = [5.0, 3.0]
    box.advance(10)
    box.remove("stone")
    box.advance(10)

    def toggle(scene: Scene) -> None:
        bodies = scene.document["body"]
        place = next(k for k, body in enumerate(bodies) if body["name"] == "box")
        body = dict(bodies[place], position=box["box"].position.tolist())
        body["kind"] = "dynamic" if body.get("kind") == "fixed" else "fixed"
        if body["kind"] == "fixed":
            body.pop("velocity", None)
            body.pop("mass")
        else:
            body["mass"] = 1.0
        bodies[place] = body

    for _ in range(6):
        box.edit(toggle)
        box.step()


def test_a_change_that_is_no_scene_changes_nothing(box: Simulation) -> None:
    box.step()
    before, names = box.save(), box.body_names
    with pytest.raises(stiction.SceneError):
        box.add("box", mass=1.0, position=[0.0, 1.0])
    with pytest.raises(stiction.SceneError):
        box.add("stone", mass=-1.0, position=[0.0, 1.0])
    with pytest.raises(ZeroDivisionError):
        box.edit(lambda scene: 1 / 0)
    assert (box.save(), box.body_names) == (before, names)


#: A hundred thousand take minutes: STICTION_CYCLES=100000 asks for them.
CYCLES = int(os.environ.get("STICTION_CYCLES", "4000"))


@pytest.mark.long
def test_coming_and_going_leaves_no_memory_behind(box: Simulation) -> None:
    """And a handle never means a body that came later under the same name."""
    handles = []

    def cycle(count: int) -> None:
        for k in range(count):
            stone = box.add("stone", mass=1.0, position=[0.0, 0.9], shapes=[{"disc": {"radius": 0.2}}])
            if k % 100 == 0:
                handles.append(stone)
            box.step()
            box.remove(stone)

    cycle(400)
    first = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    cycle(CYCLES)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - first
    assert grown < 4000, f"{grown} kB more after {CYCLES} cycles"
    box.add("stone", mass=1.0, position=[0.0, 0.9], shapes=[{"disc": {"radius": 0.2}}])
    for handle in handles:
        with pytest.raises(stiction.HandleError, match="removed"):
            _ = handle.position


def test_a_controller_is_asked_before_every_step() -> None:
    simulation = pendulum()
    times: list[float] = []

    def balance(sim: Simulation) -> None:
        times.append(sim.time)
        rod = sim["rod"]
        sim.command("drive", 9.81 * 0.5 * np.cos(rod.angle) - 20.0 * (rod.angle - 0.3) - 4.0 * sim.v[2])

    run = simulation.run(controller=balance)
    assert len(times) == 500
    assert times[0] == 0.0
    assert simulation["rod"].angle == pytest.approx(0.3, abs=1e-2)
    assert run.frames == 501


def test_what_a_controller_raises_ends_the_run(box: Simulation) -> None:
    class Enough(Exception):
        pass

    def stop(sim: Simulation) -> None:
        if sim.step_count == 10:
            raise Enough

    other = sliding_box().simulation()
    other.advance(10)
    with pytest.raises(Enough):
        box.run(controller=stop)
    assert box.save() == other.save(), "the state is that before the step"
    box.run(duration=0.01)


@pytest.mark.parametrize(
    "wrong",
    [{"duration": -1.0}, {"duration": float("nan")}, {"duration": float("inf")}, {"steps": -1}, {"steps": 1.5}, {"record_every": 0}],
    ids=str,
)
def test_runs_of_no_length_are_refused(box: Simulation, wrong: dict[str, Any]) -> None:
    before = box.save()
    with pytest.raises(stiction.StateError):
        box.run(**wrong)
    assert box.save() == before


ARM = """
[simulation]
duration = 1.0
step = 0.01
gravity = [0.0, 0.0]
[[body]]
name = "upper"
mass = 1.0
inertia = 0.1
position = [0.5, 0.0]
[[body]]
name = "lower"
mass = 1.0
inertia = 0.1
position = [1.5, 0.0]
[[joint]]
name = "shoulder"
kind = "revolute"
between = ["world", "upper"]
anchor = [0.0, 0.0]
[[joint]]
name = "elbow"
kind = "revolute"
between = ["upper", "lower"]
anchor = [1.0, 0.0]
"""


@pytest.mark.parametrize("coordinates", ["maximal", "reduced", "divide-and-conquer"])
def test_joints_move_the_bodies_beyond_them(coordinates: str) -> None:
    simulation = Simulation.from_toml(ARM, set={"scheme.coordinates": coordinates, "joint.elbow.initial": np.pi / 2})
    assert simulation["lower"].position == pytest.approx([1.0, 0.5], abs=1e-12)
    simulation.set_joint("shoulder", np.pi / 2)
    for _ in range(3):
        assert simulation["lower"].position == pytest.approx([-0.5, 1.0], abs=1e-9)
        assert simulation.joint_coordinate("elbow") == pytest.approx(np.pi / 2)
        simulation.step()
    with pytest.raises(HandleError, match="no joint"):
        simulation.set_joint("wrist", 0.0)


@pytest.mark.parametrize("coordinates", ["reduced", "divide-and-conquer"])
def test_poses_that_joints_do_not_allow_are_refused(coordinates: str) -> None:
    simulation = Simulation.from_toml(ARM, set={"scheme.coordinates": coordinates})
    before = simulation.q.copy()
    with pytest.raises(StateError, match='"shoulder".*set_joint'):
        simulation["upper"].position = [0.5, 0.2]
    with pytest.raises(StateError, match="set_joint"):
        simulation.q = [0.5, 0.2, 0.0, 1.5, 0.0, 0.0]
    assert (simulation.q == before).all()
    simulation["upper"].set_pose([0.0, 0.5], np.pi / 2)
    simulation.step()
    assert simulation["lower"].position == pytest.approx([0.0, 1.5], abs=1e-9)
