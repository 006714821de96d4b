"""Joint-space quantities of MuJoCo at random states, for the tests of joint coordinates and dynamics.

    pip install mujoco numpy
    python scripts/joint_dynamics.py

writes ``crates/stiction/tests/suite/joint_dynamics/NAME.json`` for each ``NAME.xml`` beside it. Values are MuJoCo's, in the joint coordinates of
stiction: a free body has its centre of mass as origin, where MuJoCo has the frame of the body, and a ball joint has the axes that were those of the
world at the start, where MuJoCo has those of the body.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

FOLDER = Path(__file__).resolve().parents[1] / "crates/stiction/tests/suite/joint_dynamics"
STATES = 3


def rotation(quaternion: Any) -> Any:
    matrix = np.zeros(9)
    mujoco.mju_quat2Mat(matrix, np.asarray(quaternion, dtype=float))
    return matrix.reshape(3, 3)


def cross(v: Any) -> Any:
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


class Coordinates:
    """Joint coordinates of stiction from those of MuJoCo: u = W v, u̇ = W v̇ + drift."""

    def __init__(self, model: Any, data: Any) -> None:
        start = mujoco.MjData(model)
        mujoco.mj_kinematics(model, start)
        self.w = np.eye(model.nv)
        self.drift = np.zeros(model.nv)
        self.qpos: dict[str, float] = {}
        self.names = [""] * model.nv
        for j in range(model.njnt):
            name, body = model.joint(j).name, int(model.jnt_bodyid[j])
            q, v = int(model.jnt_qposadr[j]), int(model.jnt_dofadr[j])
            kind = int(model.jnt_type[j])
            if kind == mujoco.mjtJoint.mjJNT_FREE:
                owner, c = model.body(body).name, model.body_ipos[body]
                turned, omega = rotation(data.qpos[q + 3 : q + 7]), data.qvel[v + 3 : v + 6]
                self.w[v : v + 3, v + 3 : v + 6] = -turned @ cross(c)
                self.drift[v : v + 3] = turned @ np.cross(omega, np.cross(omega, c))
                place = data.qpos[q : q + 3] + turned @ c
                self.qpos |= {f"{owner}.{a}": float(x) for a, x in zip("xyz", place)}
                self.qpos |= {f"{owner}.q{a}": float(x) for a, x in zip("wxyz", data.qpos[q + 3 : q + 7])}
                self.names[v : v + 6] = [f"{owner}.{kind}{a}" for kind in "vw" for a in "xyz"]
            elif kind == mujoco.mjtJoint.mjJNT_BALL:
                turned = start.xmat[body].reshape(3, 3)
                self.w[v : v + 3, v : v + 3] = turned
                e = data.qpos[q : q + 4]
                self.qpos |= {f"{name}.w": float(e[0])}
                self.qpos |= {f"{name}.{a}": float(x) for a, x in zip("xyz", turned @ e[1:])}
                self.names[v : v + 3] = [f"{name}.{a}" for a in "xyz"]
            else:
                self.qpos[name] = float(data.qpos[q])
                self.names[v] = name

    def force(self, of_mujoco: Any) -> Any:
        return np.linalg.solve(self.w.T, of_mujoco)

    def jacobian(self, of_mujoco: Any) -> Any:
        return np.linalg.solve(self.w.T, of_mujoco.T).T


def state(model: Any, random: Any) -> dict[str, Any]:
    """All quantities at one random state."""
    data = mujoco.MjData(model)
    for j in range(model.njnt):
        q, kind = int(model.jnt_qposadr[j]), int(model.jnt_type[j])
        if kind == mujoco.mjtJoint.mjJNT_FREE:
            data.qpos[q : q + 3] = random.uniform(-1, 1, 3)
            q += 3
        if kind in (mujoco.mjtJoint.mjJNT_FREE, mujoco.mjtJoint.mjJNT_BALL):
            e = random.normal(size=4)
            data.qpos[q : q + 4] = e / np.linalg.norm(e)
        else:
            data.qpos[q] = random.uniform(-1, 1)
    data.qvel[:] = random.uniform(-3, 3, model.nv)
    data.ctrl[:] = random.uniform(-1, 1, model.nu)
    mujoco.mj_forward(model, data)
    at = Coordinates(model, data)
    mass = np.zeros((model.nv, model.nv))
    try:
        mujoco.mj_fullM(model, mass, data.qM)
    except (TypeError, AttributeError):
        mujoco.mj_fullM(model, data, mass)
    bias, passive, actuator = data.qfrc_bias.copy(), data.qfrc_passive.copy(), data.qfrc_actuator.copy()
    frames = {model.body(b).name: [data.xpos[b].tolist(), data.xmat[b].tolist()] for b in range(1, model.nbody)}
    sites = {}
    for s in range(model.nsite):
        linear, angular, twist = np.zeros((3, model.nv)), np.zeros((3, model.nv)), np.zeros(6)
        mujoco.mj_jacSite(model, data, linear, angular, s)
        mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_SITE, s, twist, 0)
        sites[model.site(s).name] = {
            "position": data.site_xpos[s].tolist(),
            "rotation": data.site_xmat[s].tolist(),
            "twist": [*twist[3:], *twist[:3]],
            "jacobian": at.jacobian(np.vstack([linear, angular])).tolist(),
        }
    acceleration = random.uniform(-5, 5, model.nv)
    data.qacc[:] = acceleration
    mujoco.mj_inverse(model, data)
    m = at.jacobian(at.force(mass))
    return {
        "qpos": at.qpos,
        "qvel_names": at.names,
        "qvel": (at.w @ data.qvel).tolist(),
        "ctrl": data.ctrl.tolist(),
        "mass": m.tolist(),
        "bias": (at.force(bias) - m @ at.drift).tolist(),
        "passive": at.force(passive).tolist(),
        "actuator": at.force(actuator).tolist(),
        "acceleration": (at.w @ acceleration + at.drift).tolist(),
        "inverse": at.force(data.qfrc_inverse + passive).tolist(),
        "frames": frames,
        "centres": {model.body(b).name: data.xipos[b].tolist() for b in range(1, model.nbody)},
        "sites": sites,
    }


def main() -> None:
    for path in sorted(FOLDER.glob("*.xml")):
        model = mujoco.MjModel.from_xml_path(str(path))
        random = np.random.default_rng(34)
        values = {
            "source": f"MuJoCo {mujoco.__version__}, written by scripts/joint_dynamics.py",
            "motors": [model.actuator(a).name for a in range(model.nu)],
            "states": [state(model, random) for _ in range(STATES)],
        }
        path.with_suffix(".json").write_text(json.dumps(values) + "\n")
        print(path.stem, model.nv, "velocities")


if __name__ == "__main__":
    main()
