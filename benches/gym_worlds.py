"""Actions per second of the environments of stiction.gym: one world in Python, and many on threads.

    python benches/gym_worlds.py [task ...]

Actions are random, the same for every number of threads, and finished episodes restart. An action is several steps of the simulation
(the column "steps" counts these). The installed build is measured: use a release build.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import gymnasium

import stiction.gym

SECONDS = 2.0  # for each measurement


def rate(act: Callable[[], None], worlds: int) -> float:
    """Actions per second, of all worlds together."""
    act()
    calls, start = 0, time.perf_counter()
    while (spent := time.perf_counter() - start) < SECONDS:
        act()
        calls += 1
    return calls * worlds / spent


def alone(name: str) -> float:
    env = gymnasium.make(f"stiction/{name}-v0")
    env.reset(seed=0)
    env.action_space.seed(0)

    def act() -> None:
        _, _, terminated, truncated, _ = env.step(env.action_space.sample())
        if terminated or truncated:
            env.reset()

    return rate(act, 1)


def beside(name: str, worlds: int, threads: int) -> float:
    env = gymnasium.make_vec(f"stiction/{name}-v0", worlds, vectorization_mode="vector_entry_point", threads=threads)
    env.reset(seed=0)
    env.action_space.seed(0)

    def act() -> None:
        env.step(env.action_space.sample())

    return rate(act, worlds)


def main() -> None:
    print(f"{'task':16} {'worlds':>7} {'threads':>8} {'actions/s':>10} {'steps/s':>10}", flush=True)
    for name in sys.argv[1:] or stiction.gym.TASKS:
        substeps = stiction.gym.TASKS[name].substeps

        def show(worlds: str, threads: str, actions: float) -> None:
            print(f"{name:16} {worlds:>7} {threads:>8} {actions:10.0f} {actions * substeps:10.0f}", flush=True)

        show("Env", "-", alone(name))
        for worlds in (1, 16, 256):
            for threads in (1, 2):
                show(str(worlds), str(threads), beside(name, worlds, threads))


if __name__ == "__main__":
    main()
