"""Environments of Gymnasium: ``import stiction.gym`` registers them, ``pip install stiction[gym]`` brings what they need.

>>> import gymnasium
>>> import stiction.gym
>>> env = gymnasium.make("stiction/PlanarPush-v0")
>>> observation, info = env.reset(seed=1)
>>> observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
>>> observation.shape
(11,)

``stiction/PlanarPush-v0``, ``stiction/Grasp-v0``, ``stiction/ThreeFingerHand-v0`` and ``stiction/Quadruped-v0``: the classes of the same names in
:mod:`stiction.gym.tasks` say what is seen, done, rewarded and over. :class:`VectorEnv` steps many worlds on all cores. docs/gym.md is the guide.
"""

import gymnasium

from .env import Env
from .task import Control, Outcome, Quantity, State, Task
from .tasks import TASKS, Grasp, PlanarPush, Quadruped, ThreeFingerHand
from .vector import VectorEnv

__all__ = [
    "TASKS",
    "Control",
    "Env",
    "Grasp",
    "Outcome",
    "PlanarPush",
    "Quadruped",
    "Quantity",
    "State",
    "Task",
    "ThreeFingerHand",
    "VectorEnv",
]

for _name, _task in TASKS.items():
    gymnasium.register(
        id=f"stiction/{_name}-v0",
        entry_point="stiction.gym:Env",
        vector_entry_point="stiction.gym:VectorEnv",
        max_episode_steps=_task.horizon,
        kwargs={"task": _name},
    )
