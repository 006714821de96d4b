#!/usr/bin/env python3
"""Mass matrices, bias forces and accelerations of robots against Pinocchio.

usage: pinocchio_check.py STICTION ROBOT[:free][:root=DIR]...

STICTION is the program; a robot is a URDF, whose root moves freely with `:free`, or an MJCF. Every robot is compared at ten random
states. Exit code 1 when a number differs by more than 1e-9 of the greatest of its kind.

Conventions: the velocity of a free root is in world axes here and in those of the body in Pinocchio, quaternions begin with
w here and end with it there, and a joint without limits is an angle here and a point of the circle there.
"""

import json
import subprocess
import sys
import tempfile

import numpy as np
import pinocchio as pin

ACCURACY = 1e-9
STATES = 10


def ours(program, robot, options, state):
    """Output of `stiction check --dynamics`."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(state, file)
        file.flush()
        command = [program, "check", robot, "--dynamics", file.name, "--json", *options]
        found = subprocess.run(command, capture_output=True, text=True, check=False)
    if found.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: {found.stderr}")
    return json.loads(found.stdout)


def build(robot, free):
    """Model of Pinocchio; mimic joints move independently."""
    if not robot.endswith(".urdf"):
        return pin.buildModelFromMJCF(robot)
    if free:
        return pin.buildModelFromUrdf(robot, pin.JointModelFreeFlyer())
    return pin.buildModelFromUrdf(robot)


def coordinates(joint, values):
    """Coordinates of one joint in Pinocchio."""
    if joint.nv == 6:
        x, y, z, w, i, j, k = values
        return [x, y, z, i, j, k, w]
    if joint.nv == 1 and joint.nq == 2:
        return [np.cos(values[0]), np.sin(values[0])]
    if joint.nv == 1:
        return values
    raise SystemExit(f"a joint of {joint.nv} velocities is not supported here")


def compare(program, robot, free, options, rng):
    """Largest relative differences at one random state: mass matrix, bias forces, accelerations."""
    model = build(robot, free)
    data = model.createData()
    names = ours(program, robot, options, {})["velocities"]
    assert model.nv == len(names), f"{robot}: {model.nv} velocities in Pinocchio, {len(names)} here"
    worst = np.zeros(3)
    for _ in range(STATES):
        # Our coordinates, joint by joint in our order, and their indices in Pinocchio.
        q, v, tau = [], rng.uniform(-1, 1, model.nv), rng.uniform(-1, 1, model.nv)
        theirs, places, turn = np.zeros(model.nq), [], np.eye(model.nv)
        position = 0
        while position < len(names):
            name = names[position]
            if name.endswith(".vx"):
                identifier, dof = 1, 6
                quaternion = rng.normal(size=4)
                own = [*rng.uniform(-1, 1, 3), *(quaternion / np.linalg.norm(quaternion))]
            else:
                identifier, dof = model.getJointId(name), 1
                own = [rng.uniform(-1.5, 1.5)]
            joint = model.joints[identifier]
            assert joint.nv == dof, f"{robot}: {name} has {joint.nv} velocities in Pinocchio"
            theirs[joint.idx_q : joint.idx_q + joint.nq] = coordinates(joint, own)
            if dof == 6:
                w, i, j, k = own[3:]
                turn[position : position + 3, position : position + 3] = pin.Quaternion(w, i, j, k).matrix()
            places.extend(range(joint.idx_v, joint.idx_v + dof))
            q.extend(own)
            position += dof
        # v = turn v', where v' are the velocities of Pinocchio in our order.
        local = turn.T @ v
        permuted = np.zeros(model.nv)
        permuted[places] = local
        forces = np.zeros(model.nv)
        forces[places] = turn.T @ tau
        mass = pin.crba(model, data, theirs)
        mass = (np.triu(mass) + np.triu(mass, 1).T)[np.ix_(places, places)]
        bias = pin.nonLinearEffects(model, data, theirs, permuted)[places]
        acceleration = pin.aba(model, data, theirs, permuted, forces)[places]
        # The axes of a free root turn in Pinocchio: v̇ = turn v̇' + (ω × velocity of the root, 0).
        drift = np.zeros(model.nv)
        if free or names[0].endswith(".vx"):
            drift[:3] = turn[:3, :3] @ np.cross(local[3:6], local[:3])
        mass = turn @ mass @ turn.T
        bias = turn @ bias - mass @ drift
        acceleration = turn @ acceleration + drift
        found = ours(program, robot, options, {"q": q, "v": v.tolist(), "tau": tau.tolist()})
        for kind, (own, expected) in enumerate(
            [(found["mass_matrix"], mass), (found["bias"], bias), (found["acceleration"], acceleration)]
        ):
            difference = np.abs(np.array(own) - expected).max() / np.abs(expected).max()
            worst[kind] = max(worst[kind], difference)
    return model.nv, worst


def main():
    program, *robots = sys.argv[1:]
    rng = np.random.default_rng(7)
    failed = False
    print(f"{'robot':40} {'dof':>4} {'M':>9} {'bias':>9} {'acceleration':>12}")
    for argument in robots:
        robot, *words = argument.split(":")
        free = "free" in words
        options = ["--free-base"] if free else []
        for word in words:
            if word.startswith("root="):
                options += ["--asset-root", word.removeprefix("root=")]
        dof, worst = compare(program, robot, free, options, rng)
        failed |= bool((worst > ACCURACY).any())
        name = "/".join(robot.split("/")[-2:]) + (" (free)" if free else "")
        print(f"{name:40} {dof:4} {worst[0]:9.1e} {worst[1]:9.1e} {worst[2]:12.1e}")
    if failed:
        raise SystemExit(f"numbers differ by more than {ACCURACY}")


if __name__ == "__main__":
    main()
