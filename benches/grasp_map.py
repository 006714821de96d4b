#!/usr/bin/env python3
"""Speed of the maps of grasps: trials and steps per second, scaling from one thread to two, memory by the number of trials.

    cargo build --release --package stiction-cli
    python3 benches/grasp_map.py                  # a part of the map in a minute or two
    python3 benches/grasp_map.py --full           # all 100,800 trials, of polygons and of smooth teeth
    python3 benches/grasp_map.py --full polygon   # of polygons only

Python's standard library is enough.
"""

import json
import os
import pathlib
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "stiction"
STUDIES = {"polygon": "grasp_map", "implicit": "grasp_map_implicit"}


def sweep(study, trials, jobs):
    """Runs this many trials in each cell; returns the summary, wall and processor seconds, and the peak memory in MiB."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = [PROGRAM, "sweep", ROOT / "studies" / f"{study}.toml", "--trials", trials, "--jobs", jobs, "--out", folder]
        arguments = [str(argument) for argument in arguments]
        started = time.perf_counter()
        child = os.posix_spawn(arguments[0], arguments, os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])
        _, status, usage = os.wait4(child, 0)
        wall = time.perf_counter() - started
        if status != 0:
            sys.exit(f"stiction sweep {study} ended with status {os.waitstatus_to_exitcode(status)}")
        made = json.loads((pathlib.Path(folder) / "summary.json").read_text())
        return made, wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def report(name, trials, jobs):
    made, wall, processor, memory = sweep(STUDIES[name], trials, jobs)
    count, steps = made["made"], made["steps"]
    failed = sum(failure["count"] for failure in made["failures"])
    print(
        f"{name:9}{jobs:8}{count:10}{failed:8}{steps:12}{wall:10.1f}{count / wall:11.1f}"
        f"{count / processor:16.1f}{steps / processor:17.0f}{memory:10.1f}",
        flush=True,
    )
    return wall, count


def main():
    names = [word for word in sys.argv[1:] if word in STUDIES] or list(STUDIES)
    full = "--full" in sys.argv
    print("model     threads    trials  failed       steps  wall (s)   trials/s  trials/(core s)   steps/(core s)  most MiB")
    for name in names:
        if full:
            report(name, 30, 2)
            continue
        one, _ = report(name, 1, 1)
        two, _ = report(name, 1, 2)
        report(name, 3, 2)
        print(f"          from one thread to two {one / two:.2f} times as fast: {50 * one / two:.0f} % of the ideal")


main()
