"""What the pictures of the gallery show: simulations and figures of them. scripts/gallery.py makes the files."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from stiction import Run, Scene, Simulation, Study, Worlds

ROOT = Path(__file__).resolve().parents[1]
SCENES = ROOT / "scenes"
G = 9.81
BLUE, GREEN, RED, VIOLET = "#3274a1", "#3a923a", "#c03d3e", "#9372b2"

plt.rcParams.update(
    {
        "font.size": 13,
        "axes.grid": True,
        "grid.alpha": 0.3,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "legend.frameon": False,
        "svg.hashsalt": "stiction",  # the same picture has the same bytes
        "svg.fonttype": "none",
    }
)


@dataclass(frozen=True)
class Shot:
    """A picture of the page that plays a run."""

    run: Run
    moment: float  # s
    #: Whether the energies below the scene are kept.
    plots: bool = False


def ground(scene: Scene) -> Scene:
    """With a floor, horizontal in the plane or in space."""
    up = [0.0] * (len(scene.document["simulation"]["gravity"]) - 1) + [1.0]
    scene.body("floor", kind="fixed").shape(halfspace={"normal": up})
    return scene


def stick() -> Figure:
    alpha, mu, slow, h = np.arctan(0.99 * 0.5), 0.5, 0.01, 0.001
    scene = ground(Scene(duration=2.0, step=h, gravity=[G * np.sin(alpha), -G * np.cos(alpha)], name="slope"))
    scene.body("box", mass=1.0, position=[0.0, 0.1]).shape(box={"size": [0.4, 0.2]})
    scene.contact_default(friction=mu)
    run = scene.simulation().run(record_every=10)

    # Friction that grows with the speed up to `slow`, as others have it, by implicit steps of the same length.
    way, speed = [0.0], 0.0
    for _ in range(2000):
        speed = (speed + h * G * np.sin(alpha)) / (1 + h * mu * G * np.cos(alpha) / slow)
        way.append(way[-1] + h * speed)

    figure, axes = plt.subplots(figsize=(8, 3.6), layout="constrained")
    axes.plot(np.arange(2001) * h, 1000 * np.array(way), color=RED, lw=2.5, label="friction smoothed below 1 cm/s: creeps for ever")
    axes.plot(run.t, 1000 * run["box.x"], "k", lw=2.5, label=f"stiction: fastest {np.abs(run['box.vx']).max():.0e} m/s")
    axes.set(xlabel="t (s)", ylabel="way down the slope (mm)", ylim=(-1.5, 24))
    axes.legend(loc="upper left")
    return figure


def rod() -> Figure:
    run = Simulation.from_file(SCENES / "falling_rod.toml").run()
    angle = run["rod.angle"]
    figure, (scene, graph) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained", width_ratios=[1.5, 1])
    colours = plt.get_cmap("viridis")
    moments = [m for m in range(0, len(run.t), 10) if run.t[m] < 0.62]
    for m in moments:
        ends = np.outer([-0.25, 0.25], [np.cos(angle[m]), np.sin(angle[m])]) + [run["rod.x"][m], run["rod.y"][m]]
        scene.plot(*ends.T, color=colours(run.t[m] / 0.65), lw=7, solid_capstyle="round", alpha=0.85)
    scene.axhspan(-0.09, 0.0, color="0.85", zorder=0)
    scene.set(aspect="equal", xlabel="x (m)", ylabel="y (m)", ylim=(-0.09, 1.2), xlim=(-0.62, 0.62), title="every 25 ms")
    force = np.asarray(run.measure("sum_contacts(normal_impulse)"))
    graph.plot(run.t, force, color=BLUE, lw=2)
    graph.set(xlabel="t (s)", ylabel="normal impulse of a step (N s)", title="two impacts, then rest")
    return figure


def laws() -> Figure:
    choices: dict[str, tuple[dict[str, object], str]] = {
        "exact cone": ({}, "k"),
        "8 directions": ({"friction": "polygon", "directions": 8}, BLUE),
        "4 directions": ({"friction": "polygon", "directions": 4}, RED),
        "box": ({"friction": "box"}, VIOLET),
    }
    figure, axes = plt.subplots(figsize=(8, 4.6), layout="constrained")
    for name, (law, colour) in choices.items():
        order = 4 if name == "exact cone" else 3  # above the others where paths agree
        for heading in np.radians([0, 15, 30, 45, 60, 75, 90]):
            scene = ground(Scene(duration=0.6, step=0.001, gravity=[0.0, 0.0, -G], name="puck"))
            velocity = [np.cos(heading), np.sin(heading), 0.0]
            scene.body("puck", particle=True, mass=1.0, position=[0.0, 0.0, 0.0], velocity=velocity).shape(point={})
            scene.contact_default(friction=0.3, first_direction=[1.0, 0.0, 0.0])
            scene.scheme(**law)
            run = scene.simulation().run(record_every=5)
            x, y = 100 * run["puck.x"], 100 * run["puck.y"]
            axes.plot(x, y, color=colour, lw=2.6 if name == "exact cone" else 1.6, zorder=order, label=name if heading == 0 else None)
            axes.plot(x[-1], y[-1], "o", ms=5, color=colour, zorder=order)
    axes.set(xlabel="x (cm)", ylabel="y (cm)", aspect="equal", title="a puck pushed off towards seven headings")
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


def bounce() -> Figure:
    def throw(law: str, seed: int) -> tuple[Run, float]:
        """A square or a lath is thrown on a floor; with which restitution."""
        random = np.random.default_rng(seed)
        scene = ground(Scene(duration=0.45, step=0.0005, gravity=[0.0, -G], name="throw"))
        angle, vx, spin = random.uniform([-1.4, -3.0, -15.0], [1.4, 3.0, 15.0])
        box = scene.body("box", mass=1.0, position=[0.0, 0.5], angle=angle, velocity=[vx, -2.0], angular_velocity=spin)
        box.shape(box={"size": [0.4, 0.04] if seed % 2 else [0.2, 0.2]})
        restitution = random.uniform(0.5, 1.0)
        scene.contact_default(friction=random.uniform(0.2, 1.5), restitution=restitution)
        scene.scheme(friction="polygon", impact=law)
        return scene.simulation().run(), restitution

    # Newton's law is drawn first, Poisson's over it.
    figure, (graph, cloud) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    gained: dict[str, list[float]] = {}
    for law, name, colour in [("newton", "Newton's law", RED), ("poisson", "Poisson's law", "k")]:
        points = []
        for seed in range(150):
            run, restitution = throw(law, seed)
            energy = np.asarray(run["total"], dtype=np.float64)
            before = int(np.argmax(np.abs(np.diff(energy)) > 1e-3))  # J; in flight a step changes it by m g² h²/2 = 12 µJ
            points.append((restitution, energy[before + 1 :].max() / energy[before]))
            gained.setdefault(law, []).append(float(energy[before + 1 :].max() - energy[before]))
        cloud.plot(*np.array(points).T, "o", color=colour, ms=5, alpha=0.7, mec="none", label=name)
        worst, _ = throw(law, int(np.argmax(gained["newton"])))
        graph.plot(worst.t, worst["total"], color=colour, lw=2.5, label=name)
    assert max(gained["poisson"]) < 0 < max(gained["newton"]), "the page says so"
    graph.set(xlabel="t (s)", ylabel="energy (J)", ylim=(0, None), title="one throw")
    graph.legend(loc="lower left")
    cloud.axhline(1.0, color="k", ls=":", lw=1.5)
    cloud.set(xlabel="restitution", ylabel="energy after impact / before", title="150 throws")
    return figure


def plate() -> Figure:
    figure, panels = plt.subplots(1, 2, figsize=(9.4, 4.8), layout="constrained")
    for axes, name, starts in [
        (panels[0], "learned_circle", [(r * np.cos(a), r * np.sin(a)) for r in (3, 6, 9) for a in np.arange(5) * 0.4 * np.pi]),
        (panels[1], "learned_saddle", [(s * x, y) for s in (-1, 1) for x in (3, 6, 9) for y in (-3, -1, 1, 3)]),
    ]:
        home = Simulation.from_file(SCENES / "plate" / f"{name}.toml", set={"simulation.step": 5e-4})
        height = float(home["particle"].position[2])
        colours = plt.get_cmap("viridis")
        for x, y in starts:
            particle = Simulation.from_file(
                SCENES / "plate" / f"{name}.toml",
                set={"simulation.step": 5e-4, "simulation.duration": 3.0, "body.particle.position": [x / 100, y / 100, height]},
            )
            run = particle.run(record_every=20)
            tone = colours(min(1.0, np.hypot(x, y) / 11))
            axes.plot(100 * run["particle.x"], 100 * run["particle.y"], color=tone, lw=2)
            axes.plot(x, y, "o", ms=5, color=tone)
        axes.axis("equal")
        axes.set(xlabel="x (cm)", ylabel="y (cm)", title={"learned_circle": "a plate that turns and heaves", "learned_saddle": "one that tilts and shakes"}[name])
    return figure


def grasps() -> Figure:
    text = (ROOT / "studies" / "grasp_map.toml").read_text(encoding="utf-8")
    text = text[: text.index("# Both kinds of friction medium")].replace("../scenes/", f"{SCENES.as_posix()}/")
    text += '[variants.medium]\nparameters.jaws = { uniform = [0.33, 0.66], ends = "(]" }\n'
    text += '[variants.high]\nparameters.jaws = { uniform = [0.66, 0.99], ends = "(]" }\n'
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "grasps.toml"
        file.write_text(text, encoding="utf-8")
        result = Study.from_file(file, trials=10).run(Path(folder) / "out")
        tables = {name: result.cells(name) for name in ("medium", "high")}
        shares = {name: result.success(name)[0] for name in tables}
    figure, panels = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained", sharey=True)
    for axes, (name, cells) in zip(panels, tables.items(), strict=True):
        grid = cells.pivot(index="y", columns="x", values="success_rate")
        shown = axes.pcolormesh(1000 * grid.columns, 1000 * grid.index, grid, vmin=0, vmax=1, cmap="viridis")
        axes.grid(False)
        axes.set(xlabel="gear starts at x (mm)", title=f"jaws with {name} friction: {100 * shares[name]:.0f} %")
    panels[0].set_ylabel("and y (mm)")
    figure.colorbar(shown, ax=panels, label="share of good grasps")
    return figure


def chain() -> Shot:
    run = Simulation.from_file(SCENES / "falling_chain.toml").run()
    return Shot(run, 0.3)


def quadruped() -> Shot:
    run = Simulation.from_mjcf(SCENES / "quadruped.xml", keyframe="pushed").run(2.0)
    return Shot(run, 0.4, plots=True)


def hand() -> Shot:
    run = Simulation.from_file(SCENES / "hand_grasp.toml", set={"contact_default.friction": 1.0}).run()
    assert float(run["kinetic"][-1]) < 1e-12, "the page says that it is held"
    return Shot(run, 0.65)


def cube() -> Figure:
    frame, mu, restitution = 1 / 148, 0.2, 0.35
    random = np.random.default_rng(3)
    turned = random.normal(size=4)
    q = np.r_[0.0, 0.0, 0.25, turned / np.linalg.norm(turned)]
    v = np.r_[1.5, 0.0, -0.5, random.normal(0.0, 8.0, 3)]

    def film(friction: float) -> tuple[np.ndarray, np.ndarray]:
        scene = ground(Scene(duration=1.0, step=frame / 8, gravity=[0.0, 0.0, -G], name="toss"))
        scene.body("cube", mass=0.37, position=[0.0, 0.0, 0.2]).shape(box={"size": [0.1, 0.1, 0.1]})
        scene.contact_default(friction=friction, restitution=restitution)
        simulation = scene.simulation()
        simulation.q, simulation.v = q, v
        places, falling = [np.array(simulation.q[:3])], [simulation.v[2]]
        for _ in range(90):
            simulation.advance(8)
            places.append(np.array(simulation.q[:3]))
            falling.append(simulation.v[2])
        return np.array(places), np.flatnonzero(np.abs(np.diff(falling) + G * frame) > 0.02)

    truth, hits = film(mu)
    second = int(hits[hits > hits[0] + 1][0])
    tried = np.linspace(0.1, 0.3, 201)
    off = [np.linalg.norm(film(friction)[0] - truth, axis=1) for friction in tried]
    figure, panels = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for axes, rows, title in [(panels[0], second + 1, "to the second impact"), (panels[1], 91, "over the whole toss")]:
        axes.plot(tried, [100 * np.sqrt(np.mean(way[:rows] ** 2)) for way in off], color=RED, lw=2)
        axes.axvline(mu, color="k", ls=":", lw=2)
        axes.set(xlabel="friction in the simulation", ylabel="off by (cm)", title=title)
    return figure


def worlds() -> Figure:
    scene = ground(Scene(duration=2.0, step=0.005, gravity=[0.0, 0.0, -G], name="die"))
    scene.body("die", mass=0.1, position=[0.0, 0.0, 0.3]).shape(box={"size": [0.05, 0.05, 0.05]})
    scene.contact_default(friction=0.3, restitution=0.3)
    dice = Worlds.of(scene, 400)
    start = np.array(dice.q[0])
    for k in range(400):
        dice.reset(k, q=start, v=[1.0, 0.0, 0.0, 0.0, 10.0 + 0.5 * (k % 20), 5.0 + 0.5 * (k // 20)])
    failed = dice.step(300)
    assert not failed.any()
    w, x, y, z = np.array(dice.q[:, 3:]).T
    up = np.stack([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], axis=1)  # the vertical in the frame of the die
    face = 2 * np.abs(up).argmax(axis=1) + (up[np.arange(400), np.abs(up).argmax(axis=1)] < 0)
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
    colours = matplotlib.colors.ListedColormap([BLUE, "#8fb8d4", GREEN, "#93cf93", RED, "#e5a3a3"])
    shown = left.imshow(face.reshape(20, 20), origin="lower", extent=(9.75, 19.75, 4.75, 14.75), cmap=colours, vmin=-0.5, vmax=5.5, aspect="auto")
    left.grid(False)
    left.set(xlabel="spin about y (rad/s)", ylabel="spin about z (rad/s)", title="which face is up")
    figure.colorbar(shown, ax=[left, right], ticks=range(6), shrink=0.8).set_ticklabels(["+x", "−x", "+y", "−y", "+z", "−z"])
    right.scatter(dice.q[:, 0], dice.q[:, 1], c=face, cmap=colours, vmin=-0.5, vmax=5.5, s=26, edgecolor="w", lw=0.4)
    right.set(xlabel="x (m)", ylabel="y (m)", title="where it lies")
    return figure
