"""Pushing a box to a target."""

from __future__ import annotations

import math

import numpy as np

from ...scene import Scene
from ..task import Control, Floats, Outcome, Quantity, State, Task, each, length, progress, turn

SPEED = 0.3  # m/s, of the pusher


class PlanarPush(Task):
    """Task: push a square box on a table, seen from above, with a round pusher to the middle of the table and align it.

    **Scene.** The box (0.5 kg, 10 cm) rests on four support points with friction 0.35; the pusher (a disc of 1.5 cm) is on two prismatic
    joints, with friction 0.3 between the two. The simulation is exact about sticking, sliding and rotation of the box at the pusher.

    **Action.** Velocity of the pusher along x and y: ±1 is ±0.3 m/s, which two motors of at most 20 N follow.

    **Observation.** Position (m), cosine and sine of the angle, velocity (m/s) and angular velocity (rad/s) of the box; position and velocity
    of the pusher.

    **Reward.** Reduction of the error, which is the distance from the middle in units of 10 cm, plus the angle to the nearest aligned
    position (multiples of a quarter turn) in units of 45°, plus a tenth of the distance of the pusher from the box in units of 10 cm; and 1
    for success.

    **Termination.** Success: within 1.5 cm and 0.15 rad. Failure: the box is further than 45 cm from the middle.
    """

    substeps = 4
    horizon = 400
    controls = (Control("along x", -SPEED, SPEED), Control("along y", -SPEED, SPEED))
    quantities = (
        Quantity("box.x", -0.6, 0.6),
        Quantity("box.y", -0.6, 0.6),
        Quantity("box.cos", -1.0, 1.0),
        Quantity("box.sin", -1.0, 1.0),
        Quantity("box.vx", -2.0, 2.0),
        Quantity("box.vy", -2.0, 2.0),
        Quantity("box.turning", -20.0, 20.0),
        Quantity("pusher.x", -0.6, 0.6),
        Quantity("pusher.y", -0.6, 0.6),
        Quantity("pusher.vx", -2.0, 2.0),
        Quantity("pusher.vy", -2.0, 2.0),
    )

    def scene(self) -> Scene:
        scene = Scene(duration=8.0, step=0.005, gravity=[0.0, 0.0, -9.81], dimension=2, name="planar_push")
        scene.scheme(coordinates="reduced")
        corners = [[0.04, 0.04], [-0.04, 0.04], [-0.04, -0.04], [0.04, -0.04]]
        support = {"points": corners, "loads": [1.0] * 4, "friction": 0.35}
        scene.body("box", mass=0.5, position=[0.0, 0.0], support=support).shape(box={"size": [0.1, 0.1]})
        scene.body("carriage", mass=0.2, inertia=1e-4, position=[-0.4, 0.0])
        scene.body("pusher", mass=0.2, position=[-0.4, 0.0]).shape(disc={"radius": 0.015})
        rails = (("along x", "world", "carriage", [1.0, 0.0]), ("along y", "carriage", "pusher", [0.0, 1.0]))
        for name, below, above, axis in rails:
            scene.joint(name=name, kind="prismatic", between=[below, above], anchor=[-0.4, 0.0], axis=axis)
            scene.motor(name=name, joint=name, velocity=0.0, gain=100.0, force_limits=[-20.0, 20.0])
        scene.contact_default(friction=0.3)
        return scene

    def start(self, random: np.random.Generator) -> State:
        """The box anywhere within 20 cm of the middle along x, 15 cm along y, at any angle; the pusher left of it."""
        q = self.home.q.copy()
        x, y, angle, height = random.uniform([-0.2, -0.15, -math.pi, -0.15], [0.2, 0.15, math.pi, 0.15])
        q[self.where("box")] = x, y, angle
        q[self.where("pusher")] = -0.4, height, 0.0
        return State(q, self.home.v)

    def observe(self, state: State) -> list[Floats]:
        x, y, angle = self.q(state, "box")
        pusher_x, pusher_y, _ = self.q(state, "pusher")
        pusher_vx, pusher_vy, _ = self.v(state, "pusher")
        seen = [x, y, each(math.cos, angle), each(math.sin, angle), *self.v(state, "box")]
        return [*seen, pusher_x, pusher_y, pusher_vx, pusher_vy]

    def measures(self, state: State) -> dict[str, Floats]:
        x, y, angle = self.q(state, "box")
        return {"distance": length(x, y), "angle": turn(4.0 * angle) / 4.0}

    def _error(self, state: State) -> Floats:
        x, y, _ = self.q(state, "box")
        pusher_x, pusher_y, _ = self.q(state, "pusher")
        measures = self.measures(state)
        away = length(pusher_x - x, pusher_y - y)
        return measures["distance"] / 0.1 + np.abs(measures["angle"]) / (math.pi / 4.0) + 0.1 * away / 0.1

    def evaluate(self, before: State, after: State, actions: Floats) -> Outcome:
        measures = self.measures(after)
        success = (measures["distance"] < 0.015) & (np.abs(measures["angle"]) < 0.15)
        return progress(self._error(before), self._error(after), success, measures["distance"] > 0.45)
