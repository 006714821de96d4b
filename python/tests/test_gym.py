"""Environments of Gymnasium."""

from __future__ import annotations

import math
import re
import subprocess
import sys
import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from conftest import ROOT
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import stiction.gym
from stiction import Scene, StictionError
from stiction.gym import TASKS, Control, Env, Outcome, Quantity, State, Task, VectorEnv
from stiction.gym.task import Floats, progress
from stiction.gym.tasks import three_finger_hand as hand

every_task = pytest.mark.parametrize("name", TASKS)


def same(a: Any, b: Any) -> bool:
    """The same bits, through dictionaries and arrays of objects."""
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype == object:
        return all(y is None if x is None else same(x, y) for x, y in zip(a.flat, b.flat, strict=True))
    return bool(a.tobytes() == b.tobytes())


def episode(env: gymnasium.Env[Floats, Floats], policy: Any, seed: int) -> tuple[dict[str, Any], int]:
    """The last info of an episode, and how many steps it had."""
    observation, _ = env.reset(seed=seed)
    steps, over = 0, False
    info: dict[str, Any] = {}
    while not over:
        observation, _, terminated, truncated, info = env.step(np.clip(policy(observation), -1.0, 1.0))
        steps, over = steps + 1, terminated or truncated
    return info, steps


def test_stiction_alone_does_not_need_gymnasium() -> None:
    code = "import sys, stiction; sys.exit('gymnasium' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@every_task
def test_the_checker_has_nothing_to_say(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gymnasium.make(f"stiction/{name}-v0")
        assert env.spec is not None and env.spec.max_episode_steps == TASKS[name].horizon
        check_env(env.unwrapped)


@every_task
def test_the_same_seed_gives_the_same_bits(name: str) -> None:
    def bits(seed: int) -> list[bytes]:
        env = Env(name)
        env.action_space.seed(3)
        seen = [env.reset(seed=seed)[0].tobytes()]
        for _ in range(15):
            observation, reward, *_ = env.step(env.action_space.sample())
            assert observation in env.observation_space
            seen.append(observation.tobytes() + np.float64(reward).tobytes())
        # The next episode goes on with the same source of chance.
        return [*seen, env.reset()[0].tobytes()]

    assert bits(7) == bits(7)
    assert all(mine != other for mine, other in zip(bits(7), bits(8), strict=True))


@every_task
@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_many_worlds_move_as_each_alone(name: str, mode: AutoresetMode) -> None:
    """Observations, rewards, ends and infos, over the ends of episodes too, against single environments one after the other."""
    key, limit = f"stiction/{name}-v0", 11
    alone = SyncVectorEnv([lambda: gymnasium.make(key, max_episode_steps=limit)] * 3, autoreset_mode=mode)
    beside = gymnasium.make_vec(
        key, 3, vectorization_mode="vector_entry_point", max_episode_steps=limit, autoreset_mode=mode, threads=2
    )
    assert isinstance(beside, VectorEnv)
    assert beside.worlds.threads == 2
    assert beside.metadata["autoreset_mode"] is mode
    assert beside.observation_space == alone.observation_space
    assert beside.action_space == alone.action_space
    assert same(beside.reset(seed=5)[0], alone.reset(seed=5)[0])
    beside.action_space.seed(0)
    ends = 0
    for step in range(30):
        actions = beside.action_space.sample()
        mine, other = beside.step(actions), alone.step(actions)
        assert all(same(a, b) for a, b in zip(mine, other, strict=True)), f"step {step}: {mine} is not {other}"
        assert mine[0] in beside.observation_space
        ends += int(np.sum(mine[2] | mine[3]))
    assert ends >= 6


def grip(seen: Floats) -> list[float]:
    """Opens, reaches over the nut, closes, pulls."""
    nut, palm, gap = seen[1], seen[7], seen[11] - seen[9] - 0.012
    short = nut - 0.07 - palm
    if gap < 0.043:
        return [np.clip(-15.0 * nut, -0.5, 0.5), 1.0, 1.0]
    return [20.0 * short, -0.2, -0.2] if abs(short) > 0.004 else [0.0, 0.5, 0.5]


def test_a_grasp_succeeds_and_needs_its_squeeze() -> None:
    env = gymnasium.make("stiction/Grasp-v0")
    assert [episode(env, grip, seed)[0]["is_success"] for seed in range(3)] == [True] * 3
    # Jaws that close on the nut but then only lean on it with a twentieth of the force leave it behind.
    weak = lambda seen: [a if k == 0 or a < 1.0 else 0.05 for k, a in enumerate(grip(seen))]  # noqa: E731
    info, steps = episode(env, weak, 0)
    assert not info["is_success"] and steps == stiction.gym.Grasp.horizon


class Roll:
    """Fingertips press 4 mm into the disc and go around it against its angle: inverse kinematics by the law of cosines."""

    def __init__(self) -> None:
        self.steps, self.around = 0, 0.0

    def __call__(self, seen: Floats) -> Floats:
        self.steps += 1
        if self.steps > 10:
            self.around -= 0.05 * math.atan2(seen[3], seen[2])
        radius = hand.DISC + hand.THICKNESS - 0.004
        x, y = radius * math.cos(self.around) - hand.PALM, radius * math.sin(self.around)
        reach = math.hypot(x, y)
        inner = math.acos((hand.PROXIMAL**2 + reach**2 - hand.DISTAL**2) / (2 * hand.PROXIMAL * reach))
        outer = math.acos((hand.PROXIMAL**2 + hand.DISTAL**2 - reach**2) / (2 * hand.PROXIMAL * hand.DISTAL))
        knuckle, elbow = hand._bent()
        bend = [math.atan2(y, x) % (2 * math.pi) - inner - knuckle, math.pi - outer - elbow]
        return np.array(bend * 3) / 0.6


@pytest.mark.parametrize("seed", [0, 2])
def test_the_hand_turns_the_disc_either_way(seed: int) -> None:
    info, steps = episode(gymnasium.make("stiction/ThreeFingerHand-v0"), Roll(), seed)
    assert info["is_success"] and steps < 100
    assert info["distance"] < 1e-3


def test_the_quadruped_stands_by_its_torques_alone() -> None:
    env = gymnasium.make("stiction/Quadruped-v0", max_episode_steps=150)
    info, steps = episode(env, lambda seen: (-30.0 * seen[11:19] - seen[19:27]) / 20.0, 0)
    assert steps == 150 and info["height"] > 0.3 and abs(info["x"]) < 0.2
    info, steps = episode(env, lambda seen: np.zeros(8), 0)
    assert steps < 50 and info["height"] < 0.17


def test_the_box_goes_where_it_is_pushed() -> None:
    env = gymnasium.make("stiction/PlanarPush-v0").unwrapped
    assert isinstance(env, Env)
    observation, _ = env.reset(seed=1)
    before = observation[:2].copy()
    worth = 0.0
    for _ in range(150):
        # Towards the box.
        way = observation[:2] - observation[7:9]
        observation, reward, *_ = env.step(way / np.hypot(*way))
        worth += reward
    moved = observation[:2] - before
    assert np.hypot(*moved) > 0.05 and moved[0] > 0.0
    task, start = env.task, State(env.simulation.q[None], env.simulation.v[None])
    assert task.measures(start)["distance"][0] == pytest.approx(float(np.hypot(*observation[:2])), rel=1e-12)
    assert math.isfinite(worth)


class Press(Task):
    """Two plates close, whatever is between them. A slide with a motor moves elsewhere; a box is between the plates or, by chance, above them."""

    substeps = 4
    horizon = 10
    controls = (Control("slide", -1.0, 1.0),)
    quantities = (Quantity("box.y", -1.0, 5.0),)

    def scene(self) -> Scene:
        scene = Scene(duration=1.0, step=0.01, gravity=[0.0, 0.0])
        for name, motion in (("left", "-0.16 + 0.5*t"), ("right", "0.16 - 0.5*t")):
            plate = scene.body(name, kind="kinematic", position=[-0.16 if name == "left" else 0.16, 0.0], motion={"x": motion})
            plate.shape(box={"size": [0.1, 0.4]})
        scene.body("box", mass=1.0, position=[0.0, 0.0]).shape(box={"size": [0.2, 0.2]})
        scene.body("sled", mass=1.0, inertia=0.01, position=[3.0, 0.0])
        scene.scheme(coordinates="reduced")
        scene.joint(name="slide", kind="prismatic", between=["world", "sled"], anchor=[3.0, 0.0], axis=[1.0, 0.0])
        scene.motor(name="slide", joint="slide", velocity=0.0, gain=10.0)
        return scene

    def start(self, random: np.random.Generator) -> State:
        q = self.home.q.copy()
        q[1] = random.choice([0.0, 1.0])
        return State(q, self.home.v)

    def observe(self, state: State) -> list[Floats]:
        return [self.q(state, "box")[1]]

    def measures(self, state: State) -> dict[str, Floats]:
        return {}

    def evaluate(self, before: State, after: State, actions: Floats) -> Outcome:
        never = np.zeros(len(after.q), dtype=np.bool_)
        return progress(np.zeros(len(after.q)), np.zeros(len(after.q)), never, never)


def test_a_step_that_cannot_be_solved_ends_the_episode() -> None:
    task, count = Press(), 6
    singles = [Env(task) for _ in range(count)]
    beside = VectorEnv(task, count)
    observations, _ = beside.reset(seed=0)
    actions = np.zeros((count, 1))
    _, _, terminated, truncated, infos = beside.step(actions)
    assert not terminated.any()
    assert 0 < truncated.sum() < count
    for world, env in enumerate(singles):
        assert same(env.reset(seed=world)[0], observations[world])
        _, _, over, cut, info = env.step(actions[world])
        assert not over
        assert cut == truncated[world] == (observations[world, 0] < 0.5) == ("failure" in info)
        assert infos["_failure"][world] == cut
        assert infos["failure"][world] == info.get("failure")
    # The next call starts the next episode where one ended.
    _, rewards, _, _, _ = beside.step(actions)
    assert (rewards[truncated] == 0.0).all()
    assert (beside.worlds.times()[truncated] == 0.0).all()


@every_task
def test_episodes_can_be_looked_at(name: str) -> None:
    page = Env(name, render_mode="html")
    page.reset(seed=1)
    empty = page.render()
    for _ in range(3):
        page.step(page.action_space.sample())
    assert isinstance(empty, str)
    played = page.render()
    assert isinstance(played, str) and "<html" in played and played != empty
    text = Env(name, render_mode="ansi")
    text.reset(seed=1)
    shown = text.render()
    assert isinstance(shown, str) and all(quantity.name in shown for quantity in text.task.quantities)


def test_what_is_wrong_is_said() -> None:
    with pytest.raises(ValueError, match="there are PlanarPush, Grasp, ThreeFingerHand, Quadruped"):
        Env("Juggle")
    with pytest.raises(ValueError, match="html"):
        Env("Grasp", render_mode="rgb_array")
    with pytest.raises(ValueError, match="NEXT_STEP or SAME_STEP"):
        VectorEnv("Grasp", 2, autoreset_mode=AutoresetMode.DISABLED)
    with pytest.raises(ValueError, match="3 seeds for 2 worlds"):
        VectorEnv("Grasp", 2).reset(seed=[1, 2, 3])
    env = Env("Grasp")
    env.reset(seed=0)
    with pytest.raises(StictionError):
        env.step(np.array([math.nan, 0.0, 0.0]))
    for wrong in (np.zeros(1), np.zeros(5)):
        with pytest.raises(ValueError, match=r"but \(3,\) is needed"):
            env.step(wrong)


def test_the_examples_of_the_guide_run(capsys: pytest.CaptureFixture[str]) -> None:
    examples = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "gym.md").read_text(encoding="utf-8"), re.DOTALL)
    assert len(examples) == 3
    for example in examples:
        exec(compile(example, "docs/gym.md", "exec"), {})
        assert capsys.readouterr().out
