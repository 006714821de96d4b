"""Stepping, state, handles."""

from __future__ import annotations

import gc
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import SCENES, sliding_box

import stiction
from stiction import Scene, Simulation


def test_a_box_slides_and_stops(box: Simulation) -> None:
    while box.time < 0.5:
        assert box.step().residual < 1e-9
    assert box["box"].position[0] == pytest.approx(1.0 / (2 * 0.5 * 9.81), abs=1e-3)
    assert abs(box["box"].velocity[0]) < 1e-15
    assert set(box.contacts.mode.tolist()) == {1}


def test_energy_without_a_source_is_counted_and_stops_the_run() -> None:
    text = """
        [simulation]
        duration = 2.0
        step = 0.01
        gravity = [0.0, 0.0, 0.0]
        [scheme]
        velocity_terms = "explicit"
        [[body]]
        name = "b"
        mass = 1.0
        inertia = [0.01, 0.02, 0.025]
        angular_velocity = [50.0, 50.0, 50.0]
    """
    simulation = Simulation.from_toml(text)
    with pytest.raises(stiction.StepError, match='body "b"') as stopped:
        for _ in range(200):
            simulation.step()
    assert stopped.value.worst == "b"
    account = simulation.energy_account()
    assert account["initial"] == pytest.approx(68.75) and account["fraction"] > 0.01


def test_a_scene_made_in_python_moves_like_its_file() -> None:
    """The same bits, whether the scene is written as TOML or made by calls."""
    text = """
        [simulation]
        duration = 1.0
        step = 0.001
        gravity = [0.0, -9.81]
        [contact_default]
        friction = 0.5
        [[body]]
        name = "floor"
        kind = "fixed"
        [[body.shape]]
        halfspace = { normal = [0.0, 1.0] }
        [[body]]
        name = "box"
        mass = 1.0
        position = [0.0, 0.25]
        velocity = [1.0, 0.0]
        [[body.shape]]
        box = { size = [1.0, 0.5] }
    """
    made, written = sliding_box().simulation(), Simulation.from_toml(text)
    for _ in range(300):
        made.step()
        written.step()
        assert made.q.tobytes() == written.q.tobytes()
        assert made.v.tobytes() == written.v.tobytes()


@pytest.mark.parametrize("path", sorted(SCENES.glob("*.toml")), ids=lambda path: path.stem)
def test_every_scene_of_the_house_survives_python(path: Path) -> None:
    """Read as tables, written again, stepped: the same bits as from the file."""
    from_file = Simulation.from_file(str(path))
    rewritten = Scene.from_file(str(path)).simulation()
    for _ in range(3):
        from_file.step()
        rewritten.step()
    assert from_file.q.tobytes() == rewritten.q.tobytes()
    assert from_file.v.tobytes() == rewritten.v.tobytes()


def test_rolling_and_torsional_friction_stop_two_balls() -> None:
    simulation = Simulation.from_file(SCENES / "rolling_ball.toml")
    rate = 0.01 * 9.81 / 0.14
    while simulation.time < 0.5:
        assert simulation.step().rung == "active-set"
        contacts = simulation.contacts
        assert np.linalg.norm(contacts.rolling_impulse, axis=1)[0] == pytest.approx(0.01 * contacts.normal_impulse[0])
        assert simulation["rolling"].velocity[0] == pytest.approx(0.7 - rate * simulation.time, abs=1e-12)
    while simulation.time < 1.5:
        simulation.step()
    assert np.abs(simulation.v).max() < 1e-14


def test_values_are_set_by_path() -> None:
    simulation = Simulation.from_file(SCENES / "sliding_box.toml", set={"simulation.step": 0.002, "contact_default.friction": 0.1})
    assert simulation.step_size == 0.002


def test_the_state_is_shown_without_copies_and_read_only(box: Simulation) -> None:
    q = box.q
    box.step()
    assert box.q is q, "the same array at all times"
    assert q[0] > 0.0, "and it shows the present"
    with pytest.raises(ValueError, match="read-only"):
        q[0] = 1.0
    for array in (q, box.v):
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.setflags(write=True)
    del box
    gc.collect()
    assert q[0] > 0.0, "it outlives the simulation"


@pytest.mark.parametrize("speed", [1e308, -2e9])
def test_speeds_that_a_scene_may_not_have_are_refused(box: Simulation, speed: float) -> None:
    before = box.v.copy()
    with pytest.raises(stiction.StateError, match="at most 1e9 m/s"):
        box.v = [0.0, speed, 0.0]
    assert np.array_equal(box.v, before), "nothing changed"
    with pytest.raises(stiction.StateError, match="at most 1e9 m/s"):
        box["box"].velocity = [speed, 0.0]
    with pytest.raises(stiction.StateError, match="at most 1e9 m/s"):
        stiction.Worlds.of(box, 1).reset(0, v=[0.0, 0.0, speed])


def test_assigning_the_state_puts_bodies_elsewhere(box: Simulation) -> None:
    box.step()
    box.q = [1.0, 2.0, 0.5]
    box.v = np.array([0, 0, 1])
    assert box["box"].position.tolist() == [1.0, 2.0]
    assert box["box"].angle == 0.5
    assert box["box"].angular_velocity == 1.0
    box["box"].position = (3.0, 4.0)
    box["box"].velocity = (-1.0, 0.0)
    assert box.q.tolist() == [3.0, 4.0, 0.5]
    assert box.v.tolist() == [-1.0, 0.0, 1.0]


@pytest.mark.parametrize(
    "values",
    [
        [1.0, 2.0],
        [[1.0, 2.0, 3.0]],
        [1.0, float("nan"), 0.0],
        [1.0, float("inf"), 0.0],
        ["a", "b", "c"],
        [1 + 2j, 0.0, 0.0],
        None,
        [True, False, True],
        np.array([1.0, 2.0, 3.0], dtype=object),
    ],
)
def test_wrong_arrays_are_refused_and_nothing_changes(box: Simulation, values: Any) -> None:
    box.step()
    before = box.save()
    with pytest.raises(stiction.StateError):
        box.q = values
    assert box.save() == before


def test_a_quaternion_must_have_unit_length(ball: Simulation) -> None:
    before = ball.save()
    q = np.array(ball.q)
    q[3:7] = [1.0, 1.0, 0.0, 0.0]
    with pytest.raises(stiction.RestoreError, match="quaternion"):
        ball.q = q
    assert ball.save() == before


def test_saved_in_the_middle_of_an_impact_it_goes_on_with_the_same_bits(ball: Simulation) -> None:
    while not ball.events():
        ball.step()
    saved = ball.save()
    other = Simulation.from_toml(ball.toml)
    other.restore(saved)
    for _ in range(100):
        ball.step()
        other.step()
        assert ball.q.tobytes() == other.q.tobytes()
        assert ball.v.tobytes() == other.v.tobytes()


def test_damaged_saves_are_refused_and_nothing_changes(ball: Simulation) -> None:
    for _ in range(60):
        ball.step()
    saved, before = ball.save(), ball.save()
    damaged = [saved[: len(saved) // 2], saved.replace('"stiction_state":4', '"stiction_state":5'), "", "{}", saved + "x"]
    for text in damaged:
        with pytest.raises(stiction.RestoreError):
            ball.restore(text)
        assert ball.save() == before
    for place in range(0, len(saved), 7):
        text = saved[:place] + chr(ord(saved[place]) ^ 1) + saved[place + 1 :]
        with pytest.raises(stiction.RestoreError):
            ball.restore(text)
        assert ball.save() == before


def test_saves_of_another_scene_are_refused(ball: Simulation, box: Simulation) -> None:
    with pytest.raises(stiction.RestoreError):
        ball.restore(box.save())


def test_contacts_are_arrays(box: Simulation) -> None:
    box.step()
    contacts = box.contacts
    assert box.contacts is contacts, "made once a step"
    assert contacts.point.shape == (len(contacts), 3)
    assert contacts.normal_impulse.sum() == pytest.approx(9.81 * 0.001)
    names = box.body_names
    assert {names[k] for k in contacts.body_a} | {names[k] for k in contacts.body_b} == {"floor", "box"}
    box.step()
    assert box.contacts is not contacts


def test_other_threads_run_while_a_simulation_does() -> None:
    """The interpreter is free in `run`: two threads are no slower than one after the other, and give the same bits."""
    alone = sliding_box().simulation()
    alone.advance(500)
    results: list[bytes] = []

    def work() -> None:
        simulation = sliding_box().simulation()
        simulation.advance(500)
        results.append(simulation.q.tobytes())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert results == [alone.q.tobytes()] * 4


def test_a_simulation_in_use_by_another_thread_is_refused_not_shared() -> None:
    simulation = sliding_box().simulation()
    refused = threading.Event()
    done = threading.Event()

    def look() -> None:
        while not done.is_set():
            try:
                simulation.save()
            except RuntimeError:
                refused.set()

    thread = threading.Thread(target=look)
    thread.start()
    try:
        simulation.advance(20_000)
    except RuntimeError:
        refused.set()
    done.set()
    thread.join()
    assert refused.is_set()


URDF = """
<robot name="arm">
  <link name="base"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="fore"><inertial><origin xyz="0.5 0 0"/><mass value="1"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="elbow" type="continuous"><parent link="base"/><child link="fore"/><axis xyz="0 1 0"/></joint>
</robot>
"""


def test_robots_come_from_their_own_files(tmp_path: Path) -> None:
    arm = tmp_path / "arm.urdf"
    arm.write_text(URDF)
    fixed, free = Simulation.from_urdf(arm), Simulation.from_urdf(arm, free_base=True)
    fixed.step()
    free.step()
    assert "elbow" in fixed.joint_names
    assert len(free.v) > len(fixed.v)
    models = sorted(SCENES.glob("*.xml"))
    assert models
    for model in models:
        simulation = Simulation.from_mjcf(model)
        simulation.step()
        assert isinstance(simulation.notes, list)


def test_contacts_have_the_names_of_tables_and_messages(box: Simulation) -> None:
    box.step()
    assert len(box.contact_names) == len(box.contacts) == 2
    assert all(name.startswith("floor/box") for name in box.contact_names)


def test_a_scene_comes_in_any_form(tmp_path: Path) -> None:
    scene = sliding_box()
    scene.save(tmp_path / "box.toml")
    forms: list[Any] = [scene, scene.simulation(), tmp_path / "box.toml", scene.to_toml()]
    assert len({stiction.Worlds.of(form, 2).q.tobytes() for form in forms}) == 1
    slopes = [stiction.gradients(form, {"contact_default.friction": 0.5}, steps=3).dv for form in forms]
    assert all((slope == slopes[0]).all() for slope in slopes)
