"""Random scenes of a generator: endings, account of energy, momentum of isolated scenes.

The generator is a Python file with `gen(seed)`, which gives the TOML text and a dictionary: `cls` ("isolated" where
nothing acts from outside), `preset`, and `bodies` with their `name`, mass `m` in kg and principal moments `I` in kg m².
"""

from __future__ import annotations

import collections
import importlib.util
import re
from pathlib import Path

from .program import Bench, Run, momentum_errors
from .report import Table

UNEXPLAINED = 0.01
NO_LINEAR = {"quasistatic", "reference"}  # presets without inertia, or from event to event


def generator(path: Path) -> object:
    """The generator as a module."""
    spec = importlib.util.spec_from_file_location("generator_of_scenes", path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def plain(error: str) -> str:
    """Error without its numbers and names, so that like errors are counted together."""
    return re.sub(r'"[^"]*"', '"…"', re.sub(r"-?\d[\d.]*(e[+-]?\d+)?", "#", error))[:110]


def tables(bench: Bench, path: Path, seeds: range) -> list[Table]:
    """Tables of the endings, the energy and the momentum."""
    made = generator(path)
    scenes = {seed: made.gen(seed) for seed in seeds}
    runs = dict(zip(seeds, bench.map(lambda seed: bench.run(f"random/s{seed}", scenes[seed][0]), seeds)))
    return [endings(runs), energy(runs, scenes), momentum(runs, scenes)]


def endings(runs: dict[int, Run]) -> Table:
    """Exit codes with their errors."""
    table = Table(f"random: endings of {len(runs)} scenes", ["exit code", "scenes", "error", "seeds"])
    groups = collections.defaultdict(list)
    for seed, run in runs.items():
        groups[run.code, plain(run.error)].append(seed)
    for (code, error), seeds in sorted(groups.items(), key=lambda item: (item[0][0], -len(item[1]))):
        first = ", ".join(map(str, seeds[:5])) + (", …" if len(seeds) > 5 else "") if code else ""
        table.add([code, len(seeds), error, first], "code 0 or 1", code in (0, 1))
    infinite = [seed for seed, run in runs.items() if not run.finite]
    table.add(
        ["", len(infinite), "numbers that are not finite", ", ".join(map(str, infinite[:5]))], "none", not infinite
    )
    return table


def energy(runs: dict[int, Run], scenes: dict) -> Table:
    """Unexplained gain over the largest kinetic energy so far and the work."""
    table = Table("random: unexplained gain of energy", ["preset", "scenes", "without account", "largest", "above 1 %"])
    by_preset = collections.defaultdict(list)
    for seed, run in runs.items():
        account = run.summary.get("energy", {}).get("unexplained")
        by_preset[scenes[seed][1]["preset"]].append((account["fraction"] if account else None, seed))
    for preset, found in sorted(by_preset.items()):
        known = [(fraction, seed) for fraction, seed in found if fraction is not None]
        if not known:
            table.add([preset, len(found), len(found), "", ""], "", None)
            continue
        over = [f"{seed} ({fraction:.1%})" for fraction, seed in sorted(known, reverse=True) if fraction > UNEXPLAINED]
        cells = [preset, len(found), len(found) - len(known), float(max(known)[0]), ", ".join(over[:8])]
        table.add(cells, "1 %", not over)
    return table


def momentum(runs: dict[int, Run], scenes: dict) -> Table:
    """Changes of the momentum of isolated scenes, over the sums of absolute values."""
    table = Table("random: momentum of isolated scenes", ["preset", "scenes", "dP (seed)", "dL (seed)"])
    by_preset = collections.defaultdict(list)
    for seed, run in runs.items():
        made = scenes[seed][1]
        if made["cls"] == "isolated" and len(run.columns.get("t", [])) > 1:
            bodies = [(body["name"], body["m"], body["I"]) for body in made["bodies"]]
            by_preset[made["preset"]].append((*momentum_errors(run, bodies), seed))
    for preset, found in sorted(by_preset.items()):
        linear, angular = max(found, key=lambda row: row[0]), max(found, key=lambda row: row[1])
        cells = [preset, len(found), f"{linear[0]:.1e} ({linear[2]})", f"{angular[1]:.1e} ({angular[2]})"]
        if preset in NO_LINEAR:
            table.add(cells, "", None)
        else:
            table.add(cells, "dP 1e-10, dL 1e-8", linear[0] <= 1e-10 and angular[1] <= 1e-8)
    return table
