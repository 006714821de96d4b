"""Runs of the program, and what their recordings say."""

from __future__ import annotations

import json
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable, Iterable, TypeVar

import numpy as np
import pyarrow.parquet

from . import scene as scenes

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass
class Run:
    """Outcome of one run: exit code, first line of the error, summary, and the columns of its trajectory."""

    scene: dict
    code: int
    error: str
    summary: dict = field(default_factory=dict)
    columns: dict[str, np.ndarray] = field(default_factory=dict)

    @property
    def finished(self) -> bool:
        return self.code == 0 and self.summary.get("ending") == "finished"

    @property
    def finite(self) -> bool:
        return all(np.isfinite(column).all() for column in self.columns.values())

    @property
    def t(self) -> np.ndarray:
        return self.columns["t"]

    def vectors(self, body: str, names: str) -> np.ndarray:
        """Columns of a body side by side, such as `x y z`, a row for every recorded step."""
        return np.stack([self.columns[f"{body}.{name}"] for name in names.split()], axis=-1)

    def energy_error(self) -> float:
        """Largest change of the total energy over the largest kinetic energy."""
        total = self.columns["total"]
        return float(np.max(np.abs(total - total[0])) / np.max(self.columns["kinetic"]))

    def momentum_errors(self) -> tuple[float, float]:
        """Largest changes of the linear and angular momentum, over the sums of absolute values over the bodies."""
        bodies = [(body["name"], body["mass"], body["inertia"]) for body in self.scene["body"]]
        return momentum_errors(self, bodies)


def momentum_errors(run: Run, bodies: list[tuple[str, float, list[float]]]) -> tuple[float, float]:
    """The same for bodies in space given by name, mass and principal moments."""
    changes, sums = [0.0, 0.0], [0.0, 0.0]
    for name, mass, inertia in bodies:
        position, linear = run.vectors(name, "x y z"), mass * run.vectors(name, "vx vy vz")
        turn = scenes.rotation(run.vectors(name, "qw qx qy qz"))
        spin = np.einsum(
            "nij,j,nkj,nk->ni", turn, np.asarray(inertia, dtype=float), turn, run.vectors(name, "wx wy wz")
        )
        for kind, parts in enumerate([[linear], [np.cross(position, linear), spin]]):
            for part in parts:
                changes[kind] = changes[kind] + (part - part[0])
                sums[kind] = sums[kind] + np.linalg.norm(part, axis=1)
    worst = []
    for change, size in zip(changes, sums):
        size = np.maximum(np.maximum(size, size[0]), 1e-300)
        worst.append(float(np.max(np.linalg.norm(change, axis=1) / size)))
    return worst[0], worst[1]


@dataclass
class Bench:
    """The program under test, the folder of its scenes, and how much is run."""

    program: str
    folder: Path
    jobs: int
    quick: bool
    limit: float = 600.0  # s of wall time for one run

    def map(self, task: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
        """Results in the order of the items, of as many threads as there are jobs."""
        with ThreadPoolExecutor(self.jobs) as pool:
            return list(pool.map(task, items))

    def write(self, name: str, scene: dict | str) -> Path:
        """Writes the scene NAME.toml."""
        path = self.folder / f"{name}.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(scene if isinstance(scene, str) else scenes.text(scene))
        return path

    def run(self, name: str, scene: dict | str, *options: str) -> Run:
        """Runs a scene and reads its recording, which is deleted; the scene stays."""
        path = self.write(name, scene)
        out = path.with_suffix(".run")
        shutil.rmtree(out, ignore_errors=True)
        command = [self.program, "run", str(path), "--out", str(out), "--json", *options]
        content = scene if isinstance(scene, dict) else {}
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=self.limit)
        except subprocess.TimeoutExpired:
            shutil.rmtree(out, ignore_errors=True)
            return Run(content, -1, f"not finished within {self.limit:.0f} s")
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        run = Run(content, done.returncode, first_error(lines) if done.returncode else "")
        try:
            run.summary = json.loads((out / "summary.json").read_text())
            table = pyarrow.parquet.read_table(out / "trajectory.parquet")
            numbers = [name for name in table.column_names if name != "rung"]
            run.columns = {name: table.column(name).to_numpy().astype(float) for name in numbers}
        except (OSError, ValueError) as error:
            run.error = run.error or f"no recording: {error}"
        shutil.rmtree(out, ignore_errors=True)
        return run

    def microseconds(self, name: str, scene: dict, steps: int, repeat: int) -> float:
        """Time per step of the fastest repetition, without recording, by `stiction bench`; NaN if it does not run."""
        path = self.write(name, scene)
        command = [
            self.program,
            "bench",
            "--scene",
            str(path),
            "--steps",
            str(steps),
            "--repeat",
            str(repeat),
            "--json",
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=self.limit)
        if done.returncode != 0:
            return float("nan")
        report = json.loads(done.stdout)
        return 1e6 * float(report["wall_seconds"]) / steps


def first_error(lines: list[str]) -> str:
    """First line that says what is wrong."""
    errors = [line for line in lines if "error" in line.lower()]
    return (errors or lines or [""])[0].strip()
