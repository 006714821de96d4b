"""Smooth motion and linkages: what is asked of them, measured by runs of the program.

    pip install numpy scipy pyarrow
    python3 benches/motion.py PROGRAM [--only GROUP,...] [--jobs N] [--quick] [--out DIR]

Prints tables with what is asked and whether it holds, and ends with exit code 1 if something fails. Groups:

    gyro      free rotation of one body; coins and a tippe top on the ground
    hanging   energy of beams and chains that hang from the world
    chains    time of a step of chains without contact
    trees     momentum and energy of random isolated trees
    loops     closed linkages in all coordinates; with --scenes DIR, those of a folder too
    orders    slopes of smooth motions; slides, impacts and bounces at steps near 10 ms
    random    random scenes; needs --random-scenes FILE.py, whose interface benches/motion/random_scenes.py describes
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from motion import chains, gyro, hanging, loops, orders, random_scenes, trees
from motion.program import Bench

GROUPS = ["gyro", "hanging", "chains", "trees", "loops", "orders", "random"]


def arguments() -> argparse.Namespace:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="the program `stiction`, a release build")
    parser.add_argument("--only", default=",".join(GROUPS), help="groups, separated by commas")
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time; those of `chains` are timed one by one")
    parser.add_argument("--quick", action="store_true", help="fewer trees and repetitions, shorter runs")
    parser.add_argument("--out", type=Path, help="folder for the scenes; a temporary one unless given")
    parser.add_argument("--scenes", type=Path, help="folder of scenes with loops, each run in all coordinates")
    parser.add_argument("--random-scenes", type=Path, help="generator of random scenes")
    parser.add_argument("--seeds", default="0..200", help="seeds A..B of the generator, without B")
    chosen = parser.parse_args()
    unknown = set(chosen.only.split(",")) - set(GROUPS)
    if unknown:
        parser.error(f"no such group: {', '.join(sorted(unknown))}; there are {', '.join(GROUPS)}")
    return chosen


def main() -> int:
    """Measures the groups and prints their tables."""
    chosen = arguments()
    only = chosen.only.split(",")
    if not chosen.random_scenes and "random" in only:
        if only == ["random"]:
            raise SystemExit("the group random needs --random-scenes FILE.py")
        only.remove("random")
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(chosen.program, chosen.out or Path(folder), chosen.jobs, chosen.quick)
        for group in only:
            begin = time.monotonic()
            for table in tables(group, bench, chosen):
                print(table, flush=True)
                failures += table.failures
            print(f"\n{group}: {time.monotonic() - begin:.0f} s", file=sys.stderr)
    print(f"\n{failures} of the rows above fail." if failures else "\nAll rows hold.")
    return 1 if failures else 0


def tables(group: str, bench: Bench, chosen: argparse.Namespace) -> list:
    """Tables of one group."""
    if group == "loops":
        return loops.tables(bench, chosen.scenes)
    if group == "random":
        first, last = map(int, chosen.seeds.split(".."))
        return random_scenes.tables(bench, chosen.random_scenes, range(first, last))
    simple = {"gyro": gyro, "hanging": hanging, "chains": chains, "trees": trees, "orders": orders}
    return simple[group].tables(bench)


if __name__ == "__main__":
    sys.exit(main())
