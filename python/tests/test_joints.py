"""Joint coordinates, dynamics, sites: against MuJoCo and closed forms."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from conftest import ROOT, SCENES

import stiction
from stiction import Simulation

FOLDER = ROOT / "crates/stiction/tests/suite/joint_dynamics"


def close(ours: npt.ArrayLike, theirs: npt.ArrayLike) -> None:
    """Equal to 1e-9 of the largest entry."""
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert ours.shape == theirs.shape
    assert np.max(np.abs(ours - theirs)) < 1e-9 * max(np.max(np.abs(theirs)), 1e-3)


def compare(simulation: Simulation, state: dict[str, Any], motors: list[str]) -> None:
    """Compares all quantities with those of MuJoCo at one state."""
    names = simulation.qvel_names
    order = [state["qvel_names"].index(name) for name in names]

    def theirs(key: str) -> npt.NDArray[np.float64]:
        return np.array(state[key])[order]

    simulation.set_configuration([state["qpos"][name] for name in simulation.qpos_names], theirs("qvel"))
    for motor, control in zip(motors, state["ctrl"], strict=True):
        simulation.command(motor, control)
    close(simulation.qvel, theirs("qvel"))
    close(simulation.mass_matrix(), theirs("mass")[:, order])
    close(simulation.bias(), theirs("bias"))
    close(simulation.passive_force(), theirs("passive"))
    close(simulation.actuator_force(), theirs("actuator"))
    close(simulation.inverse_dynamics(theirs("acceleration")), theirs("inverse"))
    close(simulation.forward_dynamics(theirs("inverse")), theirs("acceleration"))
    for name, values in state["sites"].items():
        site = simulation.site(name)
        close(site.position, values["position"])
        close(site.rotation.ravel(), values["rotation"])
        close(site.twist, values["twist"])
        close(site.jacobian(), np.array(values["jacobian"])[:, order])
    for name, (position, rotation) in state["frames"].items():
        frame = simulation.frame(name)
        close(frame.pose[:3, 3], position)
        close(frame.rotation.ravel(), rotation)
    for name, position in state["centres"].items():
        if name in simulation.body_names:
            body = simulation.body(name)
            joint_twist = body.jacobian() @ simulation.qvel
            close(body.twist, joint_twist)
            # Bodies with others fixed to them have another centre of mass.
            if name != "fore":
                close(body.position, position)


@pytest.mark.parametrize("name", ["arm", "walker"])
@pytest.mark.parametrize("coordinates", ["reduced", "maximal"])
def test_dynamics_are_those_stored_from_mujoco(name: str, coordinates: str) -> None:
    if (name, coordinates) == ("walker", "maximal"):
        pytest.skip("joints in series need reduced coordinates")
    stored = json.loads((FOLDER / f"{name}.json").read_text())
    simulation = Simulation.from_mjcf(FOLDER / f"{name}.xml", set={"scheme.coordinates": coordinates})
    for state in stored["states"]:
        compare(simulation, state, stored["motors"])


def test_dynamics_are_those_of_mujoco_at_new_states() -> None:
    mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed")
    spec = importlib.util.spec_from_file_location("joint_dynamics", ROOT / "scripts/joint_dynamics.py")
    assert spec is not None and spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    for path in FOLDER.glob("*.xml"):
        model = mujoco.MjModel.from_xml_path(str(path))
        simulation = Simulation.from_mjcf(path)
        random = np.random.default_rng(5)
        for _ in range(10):
            compare(simulation, script.state(model, random), [model.actuator(a).name for a in range(model.nu)])


def test_joints_are_set_by_name_and_the_bodies_follow() -> None:
    arm = Simulation.from_mjcf(FOLDER / "arm.xml")
    shoulder, elbow = arm.joint("shoulder"), arm.joint("elbow")
    assert [joint.name for joint in arm.joints()] == ["shoulder", "elbow"] == arm.qpos_names == arm.qvel_names
    assert shoulder.position == pytest.approx(np.radians(20.0))
    tool = arm.site("tool")
    before = tool.position
    elbow.position = 0.7
    elbow.velocity = -1.5
    assert elbow.position == pytest.approx(0.7, abs=1e-15) and elbow.velocity == pytest.approx(-1.5, abs=1e-15)
    assert shoulder.position == pytest.approx(np.radians(20.0)) and shoulder.velocity == 0.0
    assert np.linalg.norm(tool.position - before) > 0.1
    close(arm.jacobian(tool) @ arm.qvel, tool.twist)
    assert tool.body == "fore" and elbow.kind == "revolute" and elbow.qpos_indices == [1]
    # A small step of the joint moves the tool as the Jacobian says.
    place, h = tool.position, 1e-6
    arm.qpos = [np.radians(20.0), 0.7 + h]
    assert np.allclose((tool.position - place) / h, arm.jacobian(tool)[:3, 1], atol=1e-5)


def test_efforts_are_forces_of_motors() -> None:
    arm = Simulation.from_mjcf(FOLDER / "arm.xml")
    shoulder, elbow = arm.joint("shoulder"), arm.joint("elbow")
    shoulder.effort = 4.5
    assert shoulder.effort == pytest.approx(4.5) and arm.actuator_force()[0] == pytest.approx(4.5)
    with pytest.raises(stiction.StateError, match="beyond the limits"):
        shoulder.effort = 6.1
    with pytest.raises(stiction.StateError, match="servo"):
        elbow.effort = 1.0
    assert shoulder.effort == pytest.approx(4.5)
    # Gravity compensation by inverse dynamics holds still.
    scene = stiction.Scene(duration=1.0, step=0.001, gravity=[0.0, -9.81])
    scene.body("rod", mass=1.0, inertia=0.1, position=[0.5, 0.0])
    scene.joint(name="pivot", kind="revolute", between=["world", "rod"], anchor=[0.0, 0.0])
    scene.motor(name="drive", joint="pivot", torque=0.0)
    rod = scene.simulation()

    def hold(sim: Simulation) -> None:
        sim.joint("pivot").effort = sim.inverse_dynamics([0.0])[0]

    rod.run(0.2, controller=hold)
    assert rod.joint("pivot").position == pytest.approx(0.0, abs=1e-9)


def test_what_cannot_be_set_is_refused() -> None:
    bar = Simulation.from_file(SCENES / "four_bar.toml")
    closing = next(joint for joint in bar.joints() if not joint.qpos_indices)
    before = bar.save()
    with pytest.raises(stiction.StateError, match="closes a loop"):
        closing.position = 0.1
    assert isinstance(closing.position, float)
    for wrong in ([0.0], [np.nan] * len(bar.qpos)):
        with pytest.raises(stiction.StateError):
            bar.qpos = np.array(wrong)
    with pytest.raises(stiction.StateError):
        bar.inverse_dynamics([1.0] * 20)
    with pytest.raises(stiction.HandleError, match='no joint "elbow"'):
        bar.joint("elbow")
    with pytest.raises(stiction.HandleError, match='no site "tool"'):
        bar.site("tool")
    assert bar.save() == before


def test_quaternions_of_a_free_base_are_named_and_checked() -> None:
    walker = Simulation.from_mjcf(FOLDER / "walker.xml")
    names = walker.qpos_names
    assert names[:7] == ["base.x", "base.y", "base.z", "base.qw", "base.qx", "base.qy", "base.qz"]
    assert {"hip.w", "hip.x", "knee", "lift", "turn", "pan", "tilt"} <= set(names)
    q = walker.qpos
    q[3:7] = [2.0, 0.0, 0.0, 0.0]
    with pytest.raises(stiction.StateError, match="base.qw"):
        walker.qpos = q
    hip = walker.joint("hip")
    hip.position = [np.cos(0.2), 0.0, np.sin(0.2), 0.0]
    assert np.allclose(hip.position, [np.cos(0.2), 0.0, np.sin(0.2), 0.0], atol=1e-14)
    assert len(walker.joint("hip").velocity) == 3  # type: ignore[arg-type]


def test_fixed_links_of_a_urdf_are_frames(tmp_path: Path) -> None:
    path = tmp_path / "arm.urdf"
    path.write_text("""
        <robot name="arm">
          <link name="base"/>
          <link name="upper">
            <inertial><origin xyz="0.2 0 0"/><mass value="1"/>
              <inertia ixx="0.01" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial>
          </link>
          <link name="tool0"/>
          <joint name="shoulder" type="continuous"><parent link="base"/><child link="upper"/>
            <origin xyz="0 0 1"/><axis xyz="0 1 0"/></joint>
          <joint name="flange" type="fixed"><parent link="upper"/><child link="tool0"/><origin xyz="0.5 0 0"/></joint>
        </robot>
    """)
    arm = Simulation.from_urdf(path)
    assert arm.joint("shoulder").position == 0.0
    arm.joint("shoulder").position = np.pi / 2
    assert np.allclose(arm.frame("tool0").pose[:3, 3], [0.0, 0.0, 0.5], atol=1e-12)
    assert np.allclose(arm.frame("upper").pose[:3, 3], [0.0, 0.0, 1.0], atol=1e-12)
    assert np.allclose(arm.body("upper").position, [0.0, 0.0, 0.8], atol=1e-12)
    assert np.allclose(arm.frame("base").pose, np.eye(4))
