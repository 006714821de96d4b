"""Makes the pictures of docs/gallery.md, and the page itself, with the Python package.

    python scripts/gallery.py                   all pictures, a few minutes
    python scripts/gallery.py stick worlds      some of them
    python scripts/gallery.py --page            the page alone, after a change of its words
    python scripts/gallery.py --check           page and pictures belong together; makes nothing

Needs the package with tables, and matplotlib. Pictures of the page that plays runs also need Chromium; where there is none they stay as they are, and the script says so.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import matplotlib.pyplot as plt
from gallery_pictures import ROOT, Shot, bounce, chain, cube, grasps, hand, laws, plate, quadruped, rod, stick, worlds
from matplotlib.figure import Figure
from PIL import Image

PICTURES = ROOT / "docs" / "pictures"
PAGE = ROOT / "docs" / "gallery.md"

#: The window that the page is drawn in, and what of it is the scene, with and without the plots.
WINDOW = (960, 760)
SCENE = (16, 50, 944, 462)
WITH_PLOTS = (16, 50, 944, 716)
#: A scene that was drawn has more colours than the frame around it.
FEWEST_COLOURS = 1500


@dataclass(frozen=True)
class Picture:
    """An entry of the gallery. ``block`` is what a reader runs; the tests run it too."""

    name: str
    kind: str
    title: str
    says: str
    language: str
    block: str
    make: Callable[[], Figure | Shot]

    @property
    def file(self) -> Path:
        return PICTURES / f"gallery_{self.name}.{self.kind}"


GALLERY = [
    Picture(
        "stick", "svg", "Stick is stick",
        "A box on a slope at 0.99 of the angle of friction. Engines that smooth friction let it creep down for ever; here it stands, to rounding.",
        "python",
        """
slope = {"contact_default.friction": 0.3677}  # the slope has 20°, and tan 20° = 0.3640
box = stiction.Simulation.from_file("scenes/box_on_incline.toml", set=slope).run()
print(box.measure("max(hypot(box.vx, box.vz))"), "m/s at most")
""",
        stick,
    ),
    Picture(
        "rod", "svg", "Painlevé's rod",
        "It hits the table in a state for which rigid-body forces do not exist. Solvers of forces stop or explode there; impulses of a step exist, and the rod tips over, slaps down and rests.",
        "python",
        """
rod = stiction.Simulation.from_file("scenes/falling_rod.toml").run()
print(rod.measure("max(sum_contacts(normal_impulse))"), "N s,", rod["rod.wz"][-1], "rad/s at the end")
""",
        rod,
    ),
    Picture(
        "laws", "svg", "Friction has no favourite direction",
        "A puck pushed off towards seven headings. With a polygon or a box in place of the cone its path bends, and its length depends on the heading; with the exact cone all are straight and equally long.",
        "python",
        """
scene = stiction.Scene(duration=0.6, step=0.001, gravity=[0.0, 0.0, -9.81])
scene.body("floor", kind="fixed").shape(halfspace={"normal": [0.0, 0.0, 1.0]})
scene.body("puck", particle=True, mass=1.0, position=[0.0, 0.0, 0.0], velocity=[0.8, 0.6, 0.0]).shape(point={})
scene.contact_default(friction=0.3)
scene.scheme(friction="polygon", directions=4)  # leave out for the cone, which keeps y / x = 0.75
puck = scene.simulation().run()
print(puck["puck.y"][-1] / puck["puck.x"][-1])
""",
        laws,
    ),
    Picture(
        "bounce", "svg", "Restitution without energy from nowhere",
        "150 throws with friction and restitution. Newton's law, which most engines have (and which a coefficient alone means here too), makes energy in some of them; Poisson's law (`impact`, with friction polygons, which are exact in the plane) in none.",
        "python",
        """
scene = stiction.Scene(duration=0.45, step=0.0005, gravity=[0.0, -9.81])
scene.body("floor", kind="fixed").shape(halfspace={"normal": [0.0, 1.0]})
scene.body("box", mass=1.0, position=[0.0, 0.5], angle=0.6, velocity=[1.0, -2.0], angular_velocity=8.0).shape(box={"size": [0.4, 0.04]})
scene.contact_default(friction=0.8, restitution=0.9)
scene.scheme(friction="polygon", impact="poisson")  # or "newton"
energy = scene.simulation().run()["total"]
print(energy[0], "J before,", energy[-1], "J after")
""",
        bounce,
    ),
    Picture(
        "plate", "svg", "A plate that carries particles",
        "3 s on plates that vibrate at 33 Hz, with motions that were searched for. What moves a particle is what is left when stick and slip of hundreds of periods are averaged: an error of friction in each would drown it.",
        "python",
        """
plate = stiction.Simulation.from_file("scenes/plate/learned_circle.toml", set={"simulation.step": 5e-4})
run = plate.run(3.0)
print(run["particle.x"][-1], run["particle.y"][-1])
""",
        plate,
    ),
    Picture(
        "grasps", "png", "A map of grasps",
        "From which places of a gear do two jaws end on its outermost teeth? 8400 trials with friction drawn at random; with more friction the jaws catch, and the map shrinks. The whole map has 100 800 trials: [grasp_map.md](grasp_map.md).",
        "sh",
        """
stiction sweep studies/grasp_map.toml
""",
        grasps,
    ),
    Picture(
        "chain", "png", "A chain that does not come apart",
        "Twelve links fall on a table. In reduced coordinates the joints hold to rounding however hard the links hit; where links lie, each contact that slips (orange) has the full friction of its normal force (blue), against its slip.",
        "sh",
        """
stiction run scenes/falling_chain.toml
stiction view out/falling_chain --open
""",
        chain,
    ),
    Picture(
        "quadruped", "png", "A robot that was pushed",
        "A file in MuJoCo's format, read as it is. Feet that stand (green) do not skate, and in the plot one sees where the energy goes: into impacts.",
        "sh",
        """
stiction run scenes/quadruped.xml --keyframe pushed --duration 2
stiction view out/quadruped --open
""",
        quadruped,
    ),
    Picture(
        "hand", "png", "A hand that holds by friction",
        "Three fingers touch a glass past its widest place and would squeeze it out; friction 1 holds it. Arrows are the forces of the contacts, each inside its cone, and the glass does not creep out of the hand.",
        "sh",
        """
stiction run scenes/hand_grasp.toml --set contact_default.friction=1
stiction view out/hand_grasp --open
""",
        hand,
    ),
    Picture(
        "cube", "svg", "What a toss tells of friction",
        "How far a simulated cube is off when its friction is wrong. Up to the second impact a valley that a search can follow; over the whole toss teeth, because corners decide. Friction and restitution from short pieces, with intervals: [notebook 4](../python/notebooks/4_identify_a_cube.ipynb), [identify.md](identify.md).",
        "sh",
        """
stiction identify identifications/sliding_block.toml
""",
        cube,
    ),
    Picture(
        "worlds", "png", "Four hundred worlds",
        "A die thrown with 400 spins, side by side. Chaos is no excuse: the same throws give the same faces, bit for bit, on any number of threads.",
        "python",
        """
scene = stiction.Scene(duration=2.0, step=0.005, gravity=[0.0, 0.0, -9.81])
scene.body("floor", kind="fixed").shape(halfspace={"normal": [0.0, 0.0, 1.0]})
scene.body("die", mass=0.1, position=[0.0, 0.0, 0.3]).shape(box={"size": [0.05, 0.05, 0.05]})
scene.contact_default(friction=0.3, restitution=0.3)
dice = stiction.Worlds.of(scene, 400)
for k in range(400):
    dice.reset(k, v=[1.0, 0.0, 0.0, 0.0, 10.0 + 0.5 * (k % 20), 5.0 + 0.5 * (k // 20)])
dice.step(100)
print(dice.q[:, :2])
""",
        worlds,
    ),
]

HEAD = """# Gallery

What `python scripts/gallery.py` makes with the package, and how to have it yourself; `python scripts/gallery.py stick` makes one of them. Run the blocks in the folder of the clone; those in Python begin with `import stiction`.
"""


def page() -> str:
    """The text of docs/gallery.md."""
    parts = [HEAD]
    for picture in GALLERY:
        shown = f"![{picture.title}](pictures/{picture.file.name})"
        parts.append(f"## {picture.title}\n\n{shown}\n\n{picture.says}\n\n```{picture.language}\n{picture.block.strip()}\n```\n")
    return "\n".join(parts)


def photograph(shot: Shot, file: Path, browser: str) -> None:
    """Screenshot of the page of a run at a moment, by headless Chromium."""
    with tempfile.TemporaryDirectory() as folder:
        html, whole = Path(folder) / "view.html", Path(folder) / "whole.png"
        shot.run.page(html)
        drawing = ["--disable-gpu", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
        window = ["--headless", "--no-sandbox", "--hide-scrollbars", "--window-size={},{}".format(*WINDOW)]
        address = f"{html.as_uri()}#t={shot.moment}"
        # On a busy machine the screenshot may be taken before the scene is drawn: then it is repeated with more time.
        for patience in (5_000, 20_000, 60_000, 60_000, 60_000):
            call = [browser, *window, *drawing, f"--virtual-time-budget={patience}", f"--screenshot={whole}", address]
            subprocess.run(call, check=True, capture_output=True, timeout=240)
            seen = Image.open(whole).convert("RGB")
            colours = seen.crop(SCENE).getcolors(WINDOW[0] * WINDOW[1])
            if colours is not None and len(colours) > FEWEST_COLOURS:
                seen.crop(WITH_PLOTS if shot.plots else SCENE).quantize(256, Image.Quantize.MAXCOVERAGE).save(file, optimize=True)
                return
        raise RuntimeError(f"{browser} did not draw the scene in {file.name}; try again on a less busy machine")


def make(picture: Picture, browser: str | None) -> None:
    made = picture.make()
    if isinstance(made, Figure):
        still = {"metadata": {"Date": None}} if picture.kind == "svg" else {"dpi": 90}
        made.savefig(picture.file, **still)
        plt.close(made)
    elif browser is None:
        print(f"{picture.name}: skipped, there is no Chromium on this machine to draw it")
        return
    else:
        photograph(made, picture.file, browser)
    print(f"{picture.name}: {picture.file.relative_to(ROOT)}, {picture.file.stat().st_size / 1000:.0f} kB")


def complaints() -> list[str]:
    """Errors of the committed page and its pictures."""
    wrong = [f"{picture.file.relative_to(ROOT)} is missing" for picture in GALLERY if not picture.file.is_file()]
    if not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != page():
        wrong.append("docs/gallery.md differs from the output of the script: run python scripts/gallery.py --page")
    known = {picture.file.name for picture in GALLERY}
    wrong += [f"docs/pictures/{file.name} is not a picture of the gallery" for file in PICTURES.glob("gallery_*") if file.name not in known]
    size = sum(file.stat().st_size for file in PICTURES.glob("gallery_*"))
    if size > 1_500_000:
        wrong.append(f"the pictures have {size / 1e6:.1f} MB, more than the limit of 1.5 MB")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description="Makes the pictures of docs/gallery.md, and the page.")
    names = [picture.name for picture in GALLERY]
    parser.add_argument("names", nargs="*", metavar="PICTURE", help=f"some of {', '.join(names)}; default: all")
    parser.add_argument("--page", action="store_true", help="write the page only")
    parser.add_argument("--check", action="store_true", help="list missing and outdated files, and write nothing")
    given = parser.parse_args()
    if unknown := set(given.names) - set(names):
        parser.error(f"there is no picture {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    if not given.check:
        PAGE.write_text(page(), encoding="utf-8")
    if not given.check and not given.page:
        browser = next(filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])), None)
        for picture in GALLERY:
            if not given.names or picture.name in given.names:
                make(picture, browser)
    wrong = complaints()
    print("\n".join(wrong) or "page and pictures are consistent")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
