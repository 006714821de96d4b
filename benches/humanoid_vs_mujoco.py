#!/usr/bin/env python3
"""Humanoids that fall and lie, in stiction and in MuJoCo: steps per second.

usage: humanoid_vs_mujoco.py [STICTION] [--models FOLDER] [--repeat N]

STICTION is the program, built with --release; without it cargo builds it. Models are those of the packages dm_control and gymnasium:
installed, or in FOLDER as scripts/fetch_models.py writes them. Needs the package mujoco.

Both start from the reference pose at rest without control, and make 1000 steps of 5 ms. There are N rounds; in each the program and
MuJoCo make five runs, each in one process and from the start, and the fastest run of all rounds counts. Reading the model is not timed:
the program times its own steps, and in MuJoCo one call of mj_step makes all steps, without Python in between.
"""

import argparse
import importlib.util
import json
import pathlib
import subprocess
import time

import mujoco

STEP = 0.005
STEPS = 1000
RUNS = 5
HUMANOIDS = ["dm_control/suite/humanoid.xml", "gymnasium/envs/mujoco/assets/humanoid.xml"]
ROOT = pathlib.Path(__file__).resolve().parent.parent

DIFFERENCES = """
The two do not solve the same problem:
  stiction  Contacts, joint limits and friction are rigid, friction has a round cone, and every step is solved to a residual of 1e-8
            (`balanced`: 1e-4). Penetration is the error of a step only. Counted are all contacts that a step might close.
  MuJoCo    Contacts and limits are compliant (solref, solimp), friction has a pyramid unless the model asks for cones, and creeps. Penetration is by
            design. Counted are the contacts within the margin of the model. RK4 solves four problems a step, EULER one.
            Sensors of the model are computed.
`stiction check MODEL` lists ignored elements. Falls are sensitive: after the first impact the motions differ in detail."""


def arguments():
    parser = argparse.ArgumentParser(description="Humanoids in stiction and in MuJoCo: steps per second.")
    parser.add_argument("program", nargs="?", metavar="STICTION", help="the program; built by default")
    parser.add_argument("--models", type=pathlib.Path, metavar="FOLDER", help="as written by scripts/fetch_models.py")
    parser.add_argument("--repeat", type=int, default=10, metavar="N", help="rounds of five runs; the fastest run counts (10)")
    return parser.parse_args()


def built():
    """The program of this checkout, in release."""
    command = ["cargo", "build", "--release", "--quiet", "--package", "stiction-cli", "--message-format=json"]
    made = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout
    return next(path for line in made.splitlines() if (path := json.loads(line).get("executable")))


def located(name, folder):
    """File of a model, or None if neither folder nor package has it."""
    package, _, inside = name.partition("/")
    if folder is None:
        found = importlib.util.find_spec(package)
        path = found and pathlib.Path(found.origin).parent / inside
    else:
        path = folder / name
    return path if path and path.is_file() else None


class Ours:
    """The program at one accuracy."""

    def __init__(self, program, model, accuracy):
        self.command = [program, "bench", "--scene", model, "--steps", str(STEPS), "--repeat", str(RUNS), "--json"]
        self.command += ["--set", f"simulation.step={STEP}", "--accuracy", accuracy]
        self.title = f"stiction, {accuracy}"
        self.found = None
        self.least = float("inf")

    def measure(self):
        made = subprocess.run(self.command, capture_output=True, text=True, check=False)
        if made.returncode != 0:
            raise SystemExit(made.stderr)
        self.found = json.loads(made.stdout)
        self.least = min(self.least, self.found["wall_seconds"])

    def contacts(self):
        return self.found["contacts_max"], self.found["contacts_final"]

    def penetration(self):
        return self.found["penetration_max"], self.found["penetration_final"]


class Theirs:
    """MuJoCo with the options of the model, or with its default integrator and solver."""

    def __init__(self, model, by_default):
        self.model = mujoco.MjModel.from_xml_path(str(model))
        settings = self.model.opt
        settings.timestep = STEP
        if by_default:
            settings.integrator, settings.solver = mujoco.mjtIntegrator.mjINT_EULER, mujoco.mjtSolver.mjSOL_NEWTON
        integrator, solver = mujoco.mjtIntegrator(settings.integrator), mujoco.mjtSolver(settings.solver)
        self.title = f"MuJoCo, {integrator.name.removeprefix('mjINT_')}, {solver.name.removeprefix('mjSOL_')}"
        self.met = self.overlaps()
        self.least = float("inf")

    def measure(self):
        for _ in range(RUNS):
            data = mujoco.MjData(self.model)
            started = time.perf_counter()
            mujoco.mj_step(self.model, data, STEPS)
            self.least = min(self.least, time.perf_counter() - started)

    def overlaps(self):
        """Number of contacts and deepest overlap of every step."""
        data = mujoco.MjData(self.model)
        met = []
        for _ in range(STEPS):
            mujoco.mj_step(self.model, data)
            met.append((data.ncon, max((-contact.dist for contact in data.contact if contact.dist < 0), default=0.0)))
        if any(warning.number for warning in data.warning):
            raise SystemExit(f"{self.title} gives warnings for this motion: it cannot be compared")
        return met

    def contacts(self):
        return max(count for count, _ in self.met), self.met[-1][0]

    def penetration(self):
        return max(depth for _, depth in self.met), self.met[-1][1]


def compare(program, model, repeat):
    ours = [Ours(program, model, accuracy) for accuracy in ("exact", "balanced")]
    theirs = [Theirs(model, by_default) for by_default in (False, True)]
    runs = {run.title: run for run in ours + theirs}
    for _ in range(repeat):
        for run in runs.values():
            run.measure()
    least = {title: run.least for title, run in runs.items()}
    print(f"{'':24} {'steps/s':>8} {'µs/step':>8} {'contacts':>9} {'at end':>7} {'sunk (m)':>9} {'at end':>9}")
    for title, run in runs.items():
        (most, last), (deepest, deep) = run.contacts(), run.penetration()
        rate = f"{STEPS / least[title]:8.0f} {1e6 * least[title] / STEPS:8.1f}"
        print(f"{title:24} {rate} {most:9} {last:7} {deepest:9.1e} {deep:9.1e}")
    fastest = min(least[run.title] for run in theirs)
    for run in ours:
        print(f"{run.title}: {fastest / least[run.title]:.2f} times the steps per second of MuJoCo, at its fastest")


def main():
    options = arguments()
    program = options.program or built()
    found = {name: located(name, options.models) for name in HUMANOIDS}
    if not any(found.values()):
        raise SystemExit("no humanoid: pip install dm_control gymnasium, or give --models FOLDER (scripts/fetch_models.py)")
    print(f"MuJoCo {mujoco.__version__}; {STEPS} steps of {STEP} s, fastest of {RUNS * options.repeat} runs")
    for name, model in found.items():
        print(f"\n{name}")
        if model:
            compare(program, model, options.repeat)
        else:
            print("not there")
    print(DIFFERENCES)


if __name__ == "__main__":
    main()
