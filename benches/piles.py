#!/usr/bin/env python3
"""Stacks, a pyramid and piles in stiction, MuJoCo and Rapier: time of a step, mean and worst.

usage: piles.py [STICTION] [--scenes NAME ...] [--rounds N] [--seed N] [--json FILE]

STICTION is the program, built with --release; without it cargo builds it. Needs the packages mujoco and rapier3d.

Boxes of 0.2 m or spheres of 0.2 m, 1 kg, friction 0.5, on a floor. All engines run on one thread with their default settings;
bodies of Rapier do not sleep, so that every step is a step. Engines take turns. Motions repeat exactly, so the time of a step is the least
of all rounds, and `mean` and `worst` are those of these least times. `speed` is the largest velocity component at the end.
"""

import argparse
import json
import math
import pathlib
import random
import subprocess
import tempfile
import time

import mujoco
import rapier3d

ROOT = pathlib.Path(__file__).resolve().parent.parent
ACCURACIES = ["exact", "balanced", "real-time"]

# Name: kind, number of bodies (rows of the pyramid), step (s), number of steps.
SCENES = {
    "stack-10": ("stack", 10, 0.002, 500),
    "stack-11": ("stack", 11, 0.002, 500),
    "pyramid-55": ("pyramid", 10, 0.002, 300),
    "tumble-10": ("tumble", 10, 0.01, 250),
    "tumble-30": ("tumble", 30, 0.01, 250),
    "tumble-100": ("tumble", 100, 0.01, 250),
    "boxes-300": ("boxes", 300, 0.01, 100),
    "boxes-1000": ("boxes", 1000, 0.01, 100),
    "spheres-300": ("spheres", 300, 0.01, 150),
    "spheres-666": ("spheres", 666, 0.01, 150),
}


def places(kind, n, seed):
    """Position and unit quaternion (w, x, y, z) of each body."""
    if kind == "stack":
        return [((0.0, 0.0, 0.1 + 0.2 * i), (1.0, 0.0, 0.0, 0.0)) for i in range(n)]
    if kind == "pyramid":
        rows = [(row, i - (n - row - 1) / 2) for row in range(n) for i in range(n - row)]
        return [((0.202 * x, 0.0, 0.1 + 0.2 * row), (1.0, 0.0, 0.0, 0.0)) for row, x in rows]
    draw = random.Random(seed)
    side = max(1, math.ceil(round((n / 2) ** (1 / 3), 3)))
    pitch = 0.36 if kind == "tumble" else 0.22
    made = []
    for k in range(n):
        level, (y, x) = k // side**2, divmod(k % side**2, side)
        middle = (side - 1) / 2
        position = [c * pitch + draw.uniform(-0.008, 0.008) for c in (x - middle, y - middle, level)]
        position[2] += 0.3
        turn = {
            "tumble": lambda: [draw.gauss(0, 1) for _ in range(4)],
            "boxes": lambda: [1.0, 0.0, 0.0, draw.uniform(-0.025, 0.025)],
            "spheres": lambda: [1.0, 0.0, 0.0, 0.0],
        }[kind]()
        length = math.hypot(*turn)
        made.append((tuple(position), tuple(c / length for c in turn)))
    return made


class Times:
    """Least time of each step over all rounds, s."""

    def __init__(self):
        self.least = None

    def see(self, times):
        self.least = times if self.least is None else [min(pair) for pair in zip(self.least, times)]

    def mean(self):
        return sum(self.least) / len(self.least)

    def worst(self):
        return max(self.least)


class Ours:
    """The program at one accuracy, without recording."""

    def __init__(self, program, accuracy, kind, bodies, step, steps, folder):
        file = folder / "pile.toml"
        file.write_text(self.scene(kind, bodies, step, steps))
        self.title = f"stiction, {accuracy}"
        self.command = [program, "bench", "--scene", file, "--accuracy", accuracy, "--step-times", "--json"]
        self.times = Times()

    @staticmethod
    def scene(kind, bodies, step, steps):
        shape = "sphere = { radius = 0.1 }" if kind == "spheres" else "box = { half_extents = [0.1, 0.1, 0.1] }"
        parts = [
            f"[simulation]\nduration = {steps * step!r}\nstep = {step}\ngravity = [0.0, 0.0, -9.81]\n",
            "[contact_default]\nfriction = 0.5\n",
            '[[body]]\nname = "floor"\nkind = "fixed"\n[[body.shape]]\nhalfspace = { normal = [0.0, 0.0, 1.0] }\n',
        ]
        for i, (position, turn) in enumerate(bodies):
            place = f"position = {list(position)}\norientation = {list(turn)}"
            parts.append(f'[[body]]\nname = "b{i}"\nmass = 1.0\n{place}\n[[body.shape]]\n{shape}\n')
        return "\n".join(parts)

    def measure(self):
        made = subprocess.run(self.command, capture_output=True, text=True, check=False)
        if made.returncode != 0:
            raise RuntimeError(made.stderr.strip())
        self.found = json.loads(made.stdout)
        self.times.see(self.found["step_seconds"])

    def facts(self):
        found = self.found
        return {
            "contacts": found["contacts_max"],
            "penetration": found["penetration_final"],
            "speed": found["speed_final"],
            "residual": found["residual_max"],
            "above_aim": found["steps_above_aim"] / found["steps"],
        }


class Mujoco:
    """MuJoCo with its default options."""

    title = "MuJoCo"

    def __init__(self, kind, bodies, step, steps):
        shape = 'type="sphere" size=".1"' if kind == "spheres" else 'type="box" size=".1 .1 .1"'
        parts = [f'<mujoco><option timestep="{step}"/><worldbody><geom type="plane" size="50 50 1" friction=".5 0 0"/>']
        for position, turn in bodies:
            pos, quat = (" ".join(map(repr, numbers)) for numbers in (position, turn))
            parts.append(f'<body pos="{pos}" quat="{quat}"><freejoint/><geom {shape} mass="1" friction=".5 0 0"/></body>')
        self.model = mujoco.MjModel.from_xml_string("\n".join(parts) + "</worldbody></mujoco>")
        self.steps = steps
        self.times = Times()

    def measure(self):
        data = mujoco.MjData(self.model)
        times, self.contacts = [], 0
        for _ in range(self.steps):
            started = time.perf_counter()
            mujoco.mj_step(self.model, data)
            times.append(time.perf_counter() - started)
            self.contacts = max(self.contacts, data.ncon)
        if any(warning.number for warning in data.warning):
            raise RuntimeError("MuJoCo gives warnings for this motion")
        self.times.see(times)
        self.data = data

    def facts(self):
        deepest = max((-contact.dist for contact in self.data.contact if contact.dist < 0), default=0.0)
        return {"contacts": self.contacts, "penetration": deepest, "speed": float(abs(self.data.qvel).max())}


class Rapier:
    """Rapier with its default parameters, on one thread, without sleep."""

    title = "Rapier"

    def __init__(self, kind, bodies, step, steps):
        self.kind, self.bodies, self.step, self.steps = kind, bodies, step, steps
        self.times = Times()

    def world(self):
        world = rapier3d.PhysicsWorld(gravity=(0.0, 0.0, -9.81))
        world.set_num_threads(1)
        world.auto_update_query = False
        world.integration_parameters.dt = self.step
        floor = rapier3d.Collider.halfspace((0.0, 0.0, 1.0)).friction(0.5)
        world.add_collider(floor.build())
        made = []
        for position, (w, x, y, z) in self.bodies:
            shape = rapier3d.Collider.ball(0.1) if self.kind == "spheres" else rapier3d.Collider.cuboid(0.1, 0.1, 0.1)
            pose = rapier3d.Isometry3(translation=position, rotation=rapier3d.Quaternion(x, y, z, w))
            body = rapier3d.RigidBody.dynamic().position(pose).can_sleep(False)
            made.append(world.add_body(body.build(), colliders=[shape.mass(1.0).friction(0.5).build()]))
        return world, made

    def measure(self):
        world, self.made = self.world()
        times = []
        for _ in range(self.steps):
            started = time.perf_counter()
            world.step()
            times.append(time.perf_counter() - started)
        self.times.see(times)
        self.end = world

    def facts(self):
        bodies = [self.end.rigid_bodies[handle] for handle in self.made]
        components = (abs(c) for body in bodies for vector in (body.linvel, body.angvel) for c in (vector.x, vector.y, vector.z))
        return {"speed": max(components)}


def built():
    """The program of this checkout, in release."""
    command = ["cargo", "build", "--release", "--quiet", "--package", "stiction-cli", "--message-format=json"]
    made = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout
    return next(path for line in made.splitlines() if (path := json.loads(line).get("executable")))


def measured(program, name, rounds, seed, folder):
    """Rows of a scene, one for each engine; a run that stops has its message instead of numbers."""
    kind, n, step, steps = SCENES[name]
    bodies = places(kind, n, seed)
    engines = [Mujoco(kind, bodies, step, steps), Rapier(kind, bodies, step, steps)]
    engines += [Ours(program, accuracy, kind, bodies, step, steps, folder) for accuracy in ACCURACIES]
    stopped = {}
    for _ in range(rounds):
        for engine in engines:
            if engine.title not in stopped:
                try:
                    engine.measure()
                except RuntimeError as error:
                    stopped[engine.title] = str(error)
    return [
        {"scene": name, "seed": seed, "engine": engine.title}
        | (
            {"stopped": stopped[engine.title]}
            if engine.title in stopped
            else {"mean": engine.times.mean(), "worst": engine.times.worst()} | engine.facts()
        )
        for engine in engines
    ]


def show(rows):
    """A table of one scene; ratios are to MuJoCo."""
    peer = rows[0]
    print(f"\n{peer['scene']}, seed {peer['seed']}")
    heading = f"{'':20} {'mean µs':>9} {'of MuJoCo':>9} {'worst µs':>9} {'of MuJoCo':>9}"
    print(f"{heading} {'contacts':>8} {'sunk m':>8} {'speed':>8} {'residual':>8} {'above aim':>9}")
    for row in rows:
        if "stopped" in row:
            print(f"{row['engine']:20} {row['stopped']}")
            continue
        mean, worst = row["mean"], row["worst"]
        times = f"{1e6 * mean:9.1f} {mean / peer['mean']:9.2f} {1e6 * worst:9.0f} {worst / peer['worst']:9.2f}"
        facts = [("contacts", "8"), ("penetration", "8.1e"), ("speed", "8.1e"), ("residual", "8.1e"), ("above_aim", "9.1%")]
        others = [format(row[key], form) if key in row else "-".rjust(int(form[0])) for key, form in facts]
        print(f"{row['engine']:20} {times} {' '.join(others)}", flush=True)


def main():
    parser = argparse.ArgumentParser(description="Piles in stiction, MuJoCo and Rapier: time of a step.")
    parser.add_argument("program", nargs="?", metavar="STICTION", help="the program; built by default")
    parser.add_argument("--scenes", nargs="+", choices=SCENES, default=list(SCENES), metavar="NAME", help=", ".join(SCENES))
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="runs of every engine, by turns (3)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="seed of the places (1)")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="all rows as JSON lines, added to the file")
    options = parser.parse_args()
    program = options.program or built()
    print(f"MuJoCo {mujoco.__version__}, Rapier {rapier3d.__version__}; least of {options.rounds} rounds, step by step")
    with tempfile.TemporaryDirectory() as folder:
        for name in options.scenes:
            rows = measured(program, name, options.rounds, options.seed, pathlib.Path(folder))
            show(rows)
            if options.json:
                with options.json.open("a", encoding="utf-8") as file:
                    file.writelines(json.dumps(row) + "\n" for row in rows)


if __name__ == "__main__":
    main()
