"""Overhead of a call from Python over the same call in Rust: one step, and a recorded run of 10,000 steps.

    pip install .
    python benches/python_overhead.py [--calls PROGRAM] [scene.toml ...]

Rust is measured by `cargo bench -p stiction --bench calls`, or by that program if it is already built, Python by the installed package.
They alternate, each with the fastest of a few repetitions, and the overhead is the median over the rounds: the speed of a shared machine
changes from minute to minute, and a round is short. Use a release build.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import time
from pathlib import Path

import stiction

ROOT = Path(__file__).resolve().parent.parent
SCENES = ["falling_rod", "four_balls", "stack_of_boxes"]
STEPS = 10_000
TURNS = 5


CALLS = ["cargo", "bench", "--quiet", "--package", "stiction", "--bench", "calls", "--"]


def in_rust(calls: list[str], scene: Path) -> tuple[float, float]:
    """Seconds for all steps, and for the run."""
    command = [*calls, str(scene.resolve()), str(STEPS)]
    printed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    steps, run = printed.split()[-2:]
    return float(steps), float(run)


def stepped(scene: Path) -> float:
    simulation = stiction.Simulation.from_file(scene)
    step = simulation.step
    start = time.perf_counter()
    for _ in range(STEPS):
        step()
    return time.perf_counter() - start


def recorded(scene: Path) -> float:
    simulation = stiction.Simulation.from_file(scene)
    start = time.perf_counter()
    run = simulation.run(steps=STEPS)
    spent = time.perf_counter() - start
    del run  # and its folder, which is not part of the run
    return spent


def in_python(scene: Path) -> tuple[float, float]:
    """The same for the bench; the fastest of the same number of repetitions."""
    return min(stepped(scene) for _ in range(TURNS)), min(recorded(scene) for _ in range(TURNS))


def main() -> None:
    parser = argparse.ArgumentParser(description="Overhead of a call from Python over the same call in Rust.")
    parser.add_argument("--calls", help="the bench `calls`, built")
    parser.add_argument("scenes", nargs="*", type=Path)
    arguments = parser.parse_args()
    calls = [arguments.calls] if arguments.calls else CALLS
    scenes = arguments.scenes or [ROOT / "scenes" / f"{name}.toml" for name in SCENES]
    print(f"{'':18} {'step in Rust':>14} {'in Python':>12} {'above':>10} {'run in Rust':>13} {'in Python':>12} {'above':>8}")
    for scene in scenes:
        turns = [(*in_rust(calls, scene), *in_python(scene)) for _ in range(TURNS)]
        rust, rust_run, python, python_run = (statistics.median(times) for times in zip(*turns, strict=True))
        per_step = 1e6 / STEPS
        above = statistics.median(turn[2] - turn[0] for turn in turns)
        longer = statistics.median(turn[3] / turn[1] for turn in turns) - 1.0
        print(
            f"{scene.stem:18} {rust * per_step:11.2f} µs {python * per_step:9.2f} µs {above * per_step:7.2f} µs"
            f" {rust_run * 1e3:10.1f} ms {python_run * 1e3:9.1f} ms {100 * longer:6.2f} %",
            flush=True,
        )


if __name__ == "__main__":
    main()
