"""Grasping a nut and pulling it to the origin."""

from __future__ import annotations

import math

import numpy as np

from ...scene import Scene
from ..task import Control, Floats, Outcome, Quantity, State, Task, each, length, progress

OPENING = 0.05  # m, of each jaw at the start
REACH = 0.06  # m, from the palm to the middle of the jaws


class Grasp(Task):
    """Task: close a gripper with two jaws on a hexagonal nut on a table, seen from above, and pull it to the origin.

    **Scene.** The nut (50 g, 2 cm from middle to corner) rests on three support points with friction 0.3. The palm slides along y, the jaws
    slide on it along x; friction between jaws and nut is 0.5. Only that friction pulls the nut: jaws that do not squeeze lose it, and a
    single jaw pushes it aside.

    **Action.** Velocity of the palm, ±1 for ±0.15 m/s; force of the left and of the right jaw, ±1 for ±3 N, positive ones close.

    **Observation.** Position (m), cosine and sine of six times the angle (a nut has sixfold symmetry), velocity (m/s) and angular velocity
    (rad/s) of the nut; position and velocity of the palm; positions and velocities of the jaws along x.

    **Reward.** Reduction of the error, which is the distance of the nut from the origin in units of 5 cm, plus that of the nut from the
    middle between the tips of the jaws in the same units; and 1 for success.

    **Termination.** Success: the nut is within 1 cm of the origin, and held: between the jaws, which are closer than 4.2 cm. Failure: the nut
    is further than 20 cm from the origin.
    """

    substeps = 10
    horizon = 300
    controls = (Control("palm", -0.15, 0.15), Control("left", -3.0, 3.0), Control("right", -3.0, 3.0))
    quantities = (
        Quantity("nut.x", -0.25, 0.25),
        Quantity("nut.y", -0.25, 0.25),
        Quantity("nut.cos6", -1.0, 1.0),
        Quantity("nut.sin6", -1.0, 1.0),
        Quantity("nut.vx", -2.0, 2.0),
        Quantity("nut.vy", -2.0, 2.0),
        Quantity("nut.turning", -50.0, 50.0),
        Quantity("palm.y", -0.25, 0.25),
        Quantity("palm.vy", -2.0, 2.0),
        Quantity("left.x", -0.1, 0.1),
        Quantity("left.vx", -2.0, 2.0),
        Quantity("right.x", -0.1, 0.1),
        Quantity("right.vx", -2.0, 2.0),
    )

    def scene(self) -> Scene:
        scene = Scene(duration=6.0, step=0.002, gravity=[0.0, 0.0, -9.81], dimension=2, name="grasp")
        scene.scheme(coordinates="reduced")
        points = [[0.012 * math.cos(a), 0.012 * math.sin(a)] for a in (math.pi / 2, math.pi * 7 / 6, math.pi * 11 / 6)]
        nut = scene.body("nut", mass=0.05, position=[0.0, 0.12], support={"points": points, "friction": 0.3})
        nut.shape(polygon={"regular": {"sides": 6, "radius": 0.02}})
        scene.body("palm", mass=0.3, inertia=1e-3, position=[0.0, 0.0])
        scene.joint(
            name="palm", kind="prismatic", between=["world", "palm"], anchor=[0.0, 0.0], axis=[0.0, 1.0], limits=[-0.12, 0.12]
        )
        scene.motor(name="palm", joint="palm", velocity=0.0, gain=100.0, force_limits=[-10.0, 10.0])
        for name, side in (("left", -1.0), ("right", 1.0)):
            place = [side * OPENING, REACH]
            scene.body(name, mass=0.1, position=place).shape(box={"size": [0.012, 0.06]})
            # The actuators resist motion: at full force the jaws close with 0.1 m/s. They stop before they meet.
            scene.joint(
                name=name,
                kind="prismatic",
                between=["palm", name],
                anchor=place,
                axis=[-side, 0.0],
                damping=30.0,
                limits=[-0.005, OPENING - 0.007],
            )
            scene.motor(name=name, joint=name, torque=0.0)
        scene.contact_default(friction=0.5)
        return scene

    def start(self, random: np.random.Generator) -> State:
        """The nut within 1 cm along x and 2 cm along y of its nominal position before the open jaws, at any angle."""
        q = self.home.q.copy()
        q[self.where("nut")] = random.uniform([-0.01, 0.115, -math.pi], [0.01, 0.145, math.pi])
        return State(q, self.home.v)

    def observe(self, state: State) -> list[Floats]:
        x, y, angle = self.q(state, "nut")
        seen = [x, y, each(math.cos, 6.0 * angle), each(math.sin, 6.0 * angle), *self.v(state, "nut")]
        seen += [self.q(state, "palm")[1], self.v(state, "palm")[1]]
        for jaw in ("left", "right"):
            seen += [self.q(state, jaw)[0], self.v(state, jaw)[0]]
        return seen

    def measures(self, state: State) -> dict[str, Floats]:
        x, y, _ = self.q(state, "nut")
        left, right = self.q(state, "left")[0], self.q(state, "right")[0]
        off = length(x - (left + right) / 2.0, y - (self.q(state, "palm")[1] + REACH + 0.01))
        return {"distance": length(x, y), "off_the_jaws": off, "gap": right - left - 0.012}

    def _error(self, state: State) -> Floats:
        measures = self.measures(state)
        return (measures["distance"] + measures["off_the_jaws"]) / 0.05

    def evaluate(self, before: State, after: State, actions: Floats) -> Outcome:
        measures = self.measures(after)
        held = (measures["off_the_jaws"] < 0.03) & (measures["gap"] < 0.042)
        success = held & (measures["distance"] < 0.01)
        return progress(self._error(before), self._error(after), success, measures["distance"] > 0.2)
