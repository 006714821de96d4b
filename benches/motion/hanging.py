"""Energy of what hangs from the world and falls from the level."""

from __future__ import annotations

from . import scene as scenes
from .program import Bench, Run
from .report import Table


def links(count: int, length: float, mass: float, joint: str) -> dict:
    """A level chain along x, fixed at the world by its first joint; hinges are along y."""
    bodies, joints, before = [], [], "world"
    for k in range(count):
        name = f"l{k}"
        inertia = scenes.rod_inertia(mass, length, 0.1 * length)
        bodies.append({"name": name, "mass": mass, "inertia": inertia, "position": [(k + 0.5) * length, 0.0, 0.0]})
        hinge = {"axis": [0.0, 1.0, 0.0]} if joint == "revolute" else {}
        joints.append({"kind": joint, "between": [before, name], "anchor": [k * length, 0.0, 0.0], **hinge})
        before = name
    return {
        "simulation": scenes.simulation(10.0, 0.002, [0.0, 0.0, -scenes.GRAVITY]),
        "body": bodies,
        "joint": joints,
    }


def beams() -> dict:
    """Three beams on spherical joints, pushed sideways so that they leave the plane."""
    scene = links(3, 1.0, 5.0, "spherical")
    turn = 0.5  # rad/s about the vertical through the first joint
    for body in scene["body"]:
        body["velocity"] = [0.0, turn * body["position"][0], 0.0]
        body["angular_velocity"] = [0.0, 0.0, turn]
    return scene


def tables(bench: Bench) -> list[Table]:
    """Largest change of the energy over the largest kinetic energy."""
    table = Table(
        "hanging: energy from the level, largest change over the largest kinetic energy",
        ["scene", "h ms", "s", "coordinates", "order", "dE/T"],
    )
    cases = []
    for order in (1, 2):
        for coordinates in ("reduced", "divide-and-conquer", "maximal"):
            cases.append(("3 beams", beams(), 0.002, 10.0, coordinates, order, 0.01))
        for joint in ("revolute", "spherical"):
            for count in (64, 256):
                scene = links(count, 0.1, 0.1, joint)
                cases.append((f"{count} links, {joint}", scene, 0.001, 2.0, "reduced", order, 0.02))

    def measure(case: tuple) -> Run:
        name, scene, step, duration, coordinates, order, _ = case
        scene = scenes.varied(scene, {"coordinates": coordinates, "order": order}, step=step, duration=duration)
        file = f"hanging/{name.replace(', ', '-').replace(' ', '-')}-{coordinates}-order{order}"
        return bench.run(file, scene, "--record-every", "1" if len(scene["body"]) < 10 else "5")

    for case, run in zip(cases, bench.map(measure, cases)):
        name, _, step, duration, coordinates, order, most = case
        error = run.energy_error() if run.finished else run.error
        holds = isinstance(error, float) and error <= most
        table.add([name, 1e3 * step, duration, coordinates, order, error], f"{100 * most:.0f} %", holds)
    return [table]
