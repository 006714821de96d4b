"""Turning a disc between three fingers."""

from __future__ import annotations

import math

import numpy as np

from ...scene import Scene
from ..task import Control, Floats, Outcome, Quantity, State, Task, each, length, progress

FINGERS = ("first", "second", "third")
JOINTS = tuple(f"{finger} {joint}" for finger in FINGERS for joint in ("knuckle", "elbow"))
DISC = 0.03  # m, radius of the disc
THICKNESS = 0.008  # m, radius of the fingers
PALM = 0.1  # m, from the middle to the knuckles
PROXIMAL, DISTAL = 0.06, 0.05  # m, lengths of the links


def _bent() -> tuple[float, float]:
    """Angles of knuckle and elbow of a finger on the x axis whose tip is 2 mm short of the disc: the law of cosines."""
    reach = PALM - DISC - THICKNESS - 0.002
    inner = math.acos((PROXIMAL**2 + reach**2 - DISTAL**2) / (2.0 * PROXIMAL * reach))
    outer = math.acos((PROXIMAL**2 + DISTAL**2 - reach**2) / (2.0 * PROXIMAL * DISTAL))
    return math.pi - inner, math.pi - outer


class ThreeFingerHand(Task):
    """Task: three fingers around a disc on a table, seen from above, turn the disc until its mark points along x.

    **Scene.** The friction of the disc (0.1 kg, radius 3 cm) on the table is 0.2, with an ellipsoidal limit surface of radius 1.33 cm. The
    knuckles lie on a circle of 10 cm, a third of a turn apart; each finger has two links, its tip 2 mm from the disc at the start. Friction
    between fingers and disc is 0.8: the disc turns only as far as fingertips roll and stick, and they have to let go to turn it further.

    **Action.** Targets of the servos of the six joints (knuckle and elbow of each finger), relative to the start: ±1 is ±0.6 rad.

    **Observation.** Position (m) of the disc, cosine and sine of its angle, velocity (m/s) and angular velocity (rad/s); angles (rad, relative
    to the start) and velocities (rad/s) of the joints.

    **Reward.** Reduction of the error, which is the angle of the disc in radians plus its distance from the middle in units of 5 cm; and 1
    for success.

    **Termination.** Success: within 0.05 rad and 2 cm, and slower than 1 rad/s. Failure: the disc is further than 8 cm from the middle.
    """

    substeps = 8
    horizon = 300
    controls = tuple(Control(joint, -0.6, 0.6) for joint in JOINTS)
    quantities = (
        Quantity("disc.x", -0.1, 0.1),
        Quantity("disc.y", -0.1, 0.1),
        Quantity("disc.cos", -1.0, 1.0),
        Quantity("disc.sin", -1.0, 1.0),
        Quantity("disc.vx", -3.0, 3.0),
        Quantity("disc.vy", -3.0, 3.0),
        Quantity("disc.turning", -60.0, 60.0),
        *(Quantity(f"{joint}.angle", -3.2, 3.2) for joint in JOINTS),
        *(Quantity(f"{joint}.speed", -60.0, 60.0) for joint in JOINTS),
    )

    def scene(self) -> Scene:
        scene = Scene(duration=6.0, step=0.0025, gravity=[0.0, 0.0, -9.81], dimension=2, name="three_finger_hand")
        scene.scheme(coordinates="reduced")
        support = {"limit_surface": {"lever": 0.0133}, "friction": 0.2}
        scene.body("disc", mass=0.1, position=[0.0, 0.0], support=support).shape(disc={"radius": DISC})
        knuckle, elbow = _bent()
        for number, finger in enumerate(FINGERS):
            around = 2.0 * math.pi * number / 3.0
            first, second = around + knuckle, around + knuckle + elbow
            root = np.array([math.cos(around), math.sin(around)]) * PALM
            middle = root + np.array([math.cos(first), math.sin(first)]) * PROXIMAL
            tip = middle + np.array([math.cos(second), math.sin(second)]) * DISTAL
            links = (("proximal", root, middle, first, PROXIMAL), ("distal", middle, tip, second, DISTAL))
            for link, begin, end, angle, size in links:
                body = scene.body(f"{finger} {link}", mass=0.04, position=(begin + end) / 2.0, angle=angle)
                body.shape(capsule={"half_length": size / 2.0, "radius": THICKNESS})
            hinges = (("knuckle", "world", "proximal", root), ("elbow", "proximal", "distal", middle))
            for joint, below, above, place in hinges:
                parent = below if below == "world" else f"{finger} {below}"
                name = f"{finger} {joint}"
                between = [parent, f"{finger} {above}"]
                scene.joint(name=name, kind="revolute", between=between, anchor=place, armature=1e-4, damping=0.005)
                scene.motor(name=name, joint=name, position=0.0, stiffness=2.0, damping=0.03, force_limits=[-0.8, 0.8])
        scene.contact_default(friction=0.8)
        return scene

    def start(self, random: np.random.Generator) -> State:
        """The disc turned by 0.2 to 0.6 rad, in either direction."""
        q = self.home.q.copy()
        angle = random.uniform(0.2, 0.6) * random.choice([-1.0, 1.0])
        q[self.where("disc")] = 0.0, 0.0, angle
        return State(q, self.home.v)

    def observe(self, state: State) -> list[Floats]:
        x, y, angle = self.q(state, "disc")
        seen = [x, y, each(math.cos, angle), each(math.sin, angle), *self.v(state, "disc")]
        home = State(self.home.q[None], self.home.v[None])
        angles, speeds = [], []
        for finger in FINGERS:
            first, second = (self.q(state, f"{finger} {link}")[2] for link in ("proximal", "distal"))
            first_home, second_home = (self.q(home, f"{finger} {link}")[2] for link in ("proximal", "distal"))
            angles += [first - first_home, (second - first) - (second_home - first_home)]
            first_turning, second_turning = (self.v(state, f"{finger} {link}")[2] for link in ("proximal", "distal"))
            speeds += [first_turning, second_turning - first_turning]
        return [*seen, *angles, *speeds]

    def measures(self, state: State) -> dict[str, Floats]:
        x, y, angle = self.q(state, "disc")
        return {"angle": angle.copy(), "distance": length(x, y)}

    def _error(self, state: State) -> Floats:
        measures = self.measures(state)
        return np.abs(measures["angle"]) + measures["distance"] / 0.05

    def evaluate(self, before: State, after: State, actions: Floats) -> Outcome:
        measures = self.measures(after)
        slow = np.abs(self.v(after, "disc")[2]) < 1.0
        success = (np.abs(measures["angle"]) < 0.05) & (measures["distance"] < 0.02) & slow
        return progress(self._error(before), self._error(after), success, measures["distance"] > 0.08)
