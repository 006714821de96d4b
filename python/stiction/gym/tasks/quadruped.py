"""Walking on four legs."""

from __future__ import annotations

import math

import numpy as np

from ...scene import Scene
from ..task import Control, Floats, Outcome, Quantity, State, Task, each

LEGS = {"front left": (0.2, 0.12), "front right": (0.2, -0.12), "rear left": (-0.2, 0.12), "rear right": (-0.2, -0.12)}
JOINTS = tuple(f"{leg} {joint}" for leg in LEGS for joint in ("hip", "knee"))
LINK = 0.2  # m, length of thigh and shank
FOOT = 0.03  # m, radius of the feet
BEND = math.radians(35.0)  # thighs lean back by this, shanks forward
TORQUE = 20.0  # N m
GOAL = 2.0  # m


class Quadruped(Task):
    """Task: a quadruped with eight motors walks forward, along x, without falling.

    **Scene.** A torso of 6 kg on four legs of two links (0.35 and 0.3 kg, 20 cm) with round feet; hips and knees turn about the lateral axis
    and have limits, damping and armature. Friction on the floor is 0.8. The robot does not collide with itself.

    **Action.** Torques of the motors, hip and knee of each leg: ±1 is ±20 N m. Nothing else holds the legs: without torque they collapse.

    **Observation.** Height (m) and orientation (a quaternion, w first) of the torso, its velocity (m/s) and angular velocity (rad/s), world axes; angles
    (rad, from the start) and speeds (rad/s) of the joints.

    **Reward.** Distance forward in the step, in metres, times 10; plus 0.05 per step, minus 0.02 times the mean square of the actions; and 1 for success.

    **Termination.** Success: 2 m forward. Failure: the torso is lower than 17 cm or tilted by more than 60°.
    """

    substeps = 5
    horizon = 500
    controls = tuple(Control(joint, -TORQUE, TORQUE) for joint in JOINTS)
    quantities = (
        Quantity("height", -1.0, 2.0),
        *(Quantity(f"orientation.{part}", -1.0, 1.0) for part in "wxyz"),
        *(Quantity(f"velocity.{axis}", -10.0, 10.0) for axis in "xyz"),
        *(Quantity(f"turning.{axis}", -40.0, 40.0) for axis in "xyz"),
        *(Quantity(f"{joint}.angle", -math.pi, math.pi) for joint in JOINTS),
        *(Quantity(f"{joint}.speed", -100.0, 100.0) for joint in JOINTS),
    )

    def _legs(self, bends: dict[str, tuple[float, float]], height: float) -> dict[str, list[float]]:
        """Position and quaternion of every body, for a level torso and these leg angles: thighs back, shanks forward from the vertical."""
        poses = {"torso": [0.0, 0.0, height, 1.0, 0.0, 0.0, 0.0]}
        for leg, (x, y) in LEGS.items():
            z = height
            for link, lean in (("thigh", bends[leg][0]), ("shank", -bends[leg][1])):
                # The x axis of a link points from its upper to its lower end.
                angle = math.pi / 2.0 + lean
                along, down = LINK * math.cos(angle), LINK * math.sin(angle)
                middle = [x + along / 2.0, y, z - down / 2.0]
                poses[f"{leg} {link}"] = [*middle, math.cos(angle / 2.0), 0.0, math.sin(angle / 2.0), 0.0]
                x, z = x + along, z - down
        return poses

    def scene(self) -> Scene:
        scene = Scene(duration=10.0, step=0.004, gravity=[0.0, 0.0, -9.81], name="quadruped")
        scene.scheme(coordinates="reduced")
        scene.contact_default(friction=0.8)
        scene.body("floor", kind="fixed").shape(halfspace={"normal": [0.0, 0.0, 1.0]}, groups=[0], meets=[1])
        mine = {"groups": [1], "meets": [0]}
        poses = self._legs({leg: (BEND, BEND) for leg in LEGS}, 2.0 * LINK * math.cos(BEND) + FOOT)
        torso = scene.body("torso", mass=6.0, position=poses["torso"][:3])
        torso.shape(box={"size": [0.5, 0.18, 0.1]}, **mine)
        for leg, (x, y) in LEGS.items():
            places = {name: (poses[f"{leg} {name}"][:3], poses[f"{leg} {name}"][3:]) for name in ("thigh", "shank")}
            thigh = scene.body(f"{leg} thigh", mass=0.35, position=places["thigh"][0], orientation=places["thigh"][1])
            thigh.shape(capsule={"half_length": LINK / 2.0, "radius": 0.02}, **mine)
            inertia = [1e-4, 1.2e-3, 1.2e-3]
            shank = scene.body(
                f"{leg} shank", mass=0.3, inertia=inertia, position=places["shank"][0], orientation=places["shank"][1]
            )
            shank.shape(capsule={"half_length": LINK / 2.0, "radius": 0.02}, **mine)
            shank.shape(sphere={"radius": FOOT}, position=[LINK / 2.0, 0.0, 0.0], **mine)
            hip, knee = np.array([x, y, poses["torso"][2]]), np.array(places["thigh"][0])
            hinges = (
                ("hip", "torso", f"{leg} thigh", hip, ["-60 deg", "60 deg"]),
                ("knee", f"{leg} thigh", f"{leg} shank", 2.0 * knee - hip, ["-75 deg", "60 deg"]),
            )
            for joint, above, below, place, limits in hinges:
                name = f"{leg} {joint}"
                turning = {"kind": "revolute", "axis": [0.0, 1.0, 0.0], "limits": limits, "damping": 0.2, "armature": 0.01}
                scene.joint(name=name, between=[above, below], anchor=place, **turning)
                scene.motor(name=name, joint=name, torque=0.0)
        return scene

    def start(self, random: np.random.Generator) -> State:
        """Legs bent up to 0.1 rad more or less, the lowest foot 1 mm above the floor, with a speed up to 0.1 m/s along x and y."""
        leans = BEND + random.uniform(-0.1, 0.1, (len(LEGS), 2))
        bends = {leg: (float(lean[0]), float(lean[1])) for leg, lean in zip(LEGS, leans, strict=True)}
        height = max(LINK * (math.cos(thigh) + math.cos(shank)) for thigh, shank in bends.values()) + FOOT + 0.001
        q, v = self.home.q.copy(), self.home.v.copy()
        speed = random.uniform(-0.1, 0.1, 2)
        for body, pose in self._legs(bends, height).items():
            q[self.where(body)] = pose
            v[self.speeds(body)] = *speed, 0.0, 0.0, 0.0, 0.0
        return State(q, v)

    def observe(self, state: State) -> list[Floats]:
        torso, twist = self.q(state, "torso"), self.v(state, "torso")
        w, x, y, z = torso[3:]
        # The axis of all joints: the y axis of the torso.
        axis = (2.0 * (x * y - w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z + w * x))
        angles, speeds = [], []
        for leg in LEGS:
            bodies = ("torso", f"{leg} thigh", f"{leg} shank")
            for (above, below), home in zip(zip(bodies, bodies[1:], strict=False), (math.pi / 2.0 + BEND, -2.0 * BEND), strict=True):
                angles.append(_angle_between(self.q(state, above)[3:], self.q(state, below)[3:], home))
                turning = zip(self.v(state, below)[3:], self.v(state, above)[3:], axis, strict=True)
                parts = [(lower - upper) * along for lower, upper, along in turning]
                speeds.append(parts[0] + parts[1] + parts[2])
        return [torso[2], w, x, y, z, *twist, *angles, *speeds]

    def measures(self, state: State) -> dict[str, Floats]:
        x, _, height, _, qx, qy, _ = self.q(state, "torso")
        return {"x": x.copy(), "height": height.copy(), "upright": 1.0 - 2.0 * (qx * qx + qy * qy)}

    def evaluate(self, before: State, after: State, actions: Floats) -> Outcome:
        then, now = self.measures(before), self.measures(after)
        effort = sum(actions[:, k] * actions[:, k] for k in range(actions.shape[1])) / actions.shape[1]
        success = now["x"] > GOAL
        lost = (now["height"] < 0.17) | (now["upright"] < 0.5)
        return Outcome(10.0 * (now["x"] - then["x"]) + 0.05 - 0.02 * effort + success, success, lost)


def _angle_between(a: list[Floats], b: list[Floats], home: float) -> Floats:
    """Angle of b about the y axis of a, relative to the initial one, from -π to π: twice that of the quaternion ā b."""
    (aw, ax, ay, az), (bw, bx, by, bz) = a, b
    w = aw * bw + ax * bx + ay * by + az * bz
    y = aw * by + ax * bz - ay * bw - az * bx
    return each(lambda y, w: math.remainder(2.0 * math.atan2(y, w) - home, 2.0 * math.pi), y, w)
