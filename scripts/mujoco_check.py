#!/usr/bin/env python3
"""Springs, damping, rotors and actuators of a robot in motion against MuJoCo.

usage: mujoco_check.py STICTION

scripts/drives.xml moves for 0.05 s: here in steps of h and h/2, in MuJoCo by the Runge-Kutta method in steps so small that its own
error is negligible. The scheme is of first order: the difference must halve with the step, and after Richardson extrapolation of the two
the rest must be second order, below 1e-3. Exit code 1 otherwise.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import mujoco
import numpy as np

ROBOT = str(pathlib.Path(__file__).with_name("drives.xml"))
DURATION = 0.05
STEP = 5e-4
LEFT = 1e-3


def theirs():
    """Positions of the centres of mass and angular velocities of all bodies, by name."""
    model = mujoco.MjModel.from_xml_path(ROBOT)
    model.opt.timestep = 5e-5
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    mujoco.mj_normalizeQuat(model, data.qpos)
    for _ in range(round(DURATION / model.opt.timestep)):
        mujoco.mj_step(model, data)
    mujoco.mj_fwdPosition(model, data)
    mujoco.mj_fwdVelocity(model, data)
    found = {}
    for body in range(1, model.nbody):
        velocity = np.zeros(6)
        mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_BODY, body, velocity, 0)
        found[model.body(body).name] = np.concatenate([data.xipos[body], velocity[:3]])
    return found


def ours(program, step):
    with tempfile.TemporaryDirectory() as folder:
        options = ["--keyframe", "go", "--step", str(step), "--duration", str(DURATION), "--out", folder, "--json"]
        found = subprocess.run([program, "run", ROBOT, *options], capture_output=True, text=True, check=False)
    if found.returncode != 0:
        raise SystemExit(found.stderr)
    bodies = json.loads(found.stdout)["bodies"]
    return {name: np.array(body["position"] + body["angular_velocity"]) for name, body in bodies.items()}


def main():
    (program,) = sys.argv[1:]
    expected, coarse, fine = theirs(), ours(program, STEP), ours(program, STEP / 2)
    failed = False
    print(f"{'body':12} {'at h':>9} {'at h/2':>9} {'extrapolated':>13}")
    for name, truth in expected.items():
        at = [np.abs(state[name] - truth).max() for state in (coarse, fine)]
        left = np.abs(2 * fine[name] - coarse[name] - truth).max()
        failed |= not (at[1] < 0.6 * at[0] and left < LEFT)
        print(f"{name:12} {at[0]:9.2e} {at[1]:9.2e} {left:13.2e}")
    if failed:
        raise SystemExit("the motions do not converge to each other")


if __name__ == "__main__":
    main()
