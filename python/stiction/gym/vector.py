"""Many worlds as one environment of Gymnasium, stepped in parallel by one call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from ..worlds import Worlds
from .task import Flags, Floats, State, Task
from .tasks import task_of


class VectorEnv(gymnasium.vector.VectorEnv[Floats, Floats, Any]):
    """Worlds of one task, stepped in parallel by threads of the simulator.

    ``gymnasium.make_vec("stiction/PlanarPush-v0", 256, vectorization_mode="vector_entry_point")`` creates one. World i with the seed s + i
    gives the same observations, rewards and infos, bit for bit, as the single environment with this seed, on any number of threads.

    ``autoreset_mode`` selects when a world starts its next episode. With ``NEXT_STEP``, the default, it does so in the next call of
    :meth:`step`, whose action for it has no effect and whose reward is 0. With ``SAME_STEP`` it does so at once, with the last observation
    and info of the old episode in ``info["final_obs"]`` and ``info["final_info"]``. Both are as in ``gymnasium.vector.SyncVectorEnv``.
    """

    metadata: dict[str, Any] = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(
        self,
        task: str | Task,
        num_envs: int = 1,
        *,
        max_episode_steps: int | None = None,
        threads: int = 0,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
    ) -> None:
        if render_mode is not None:
            raise ValueError("several worlds cannot be rendered; use a single environment")
        mode = AutoresetMode(autoreset_mode)
        if mode is AutoresetMode.DISABLED:
            raise ValueError("autoreset_mode must be NEXT_STEP or SAME_STEP")
        self.task = task_of(task)
        self.num_envs = num_envs
        self.metadata = {**self.metadata, "autoreset_mode": mode}
        self.single_observation_space = self.task.observation_space
        self.single_action_space = self.task.action_space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        #: The worlds, for inspection.
        self.worlds = Worlds.of(self.task.toml, num_envs, threads=threads)
        self._same_step = mode is AutoresetMode.SAME_STEP
        self._limit = max_episode_steps
        self._steps = np.zeros(num_envs, dtype=np.int64)
        self._over = np.zeros(num_envs, dtype=np.bool_)
        self._randoms = [seeding.np_random()[0] for _ in range(num_envs)]

    def _state(self) -> State:
        return State(np.array(self.worlds.q), np.array(self.worlds.v))

    def _restart(self, which: Flags) -> None:
        for world in np.flatnonzero(which).tolist():
            start = self.task.start(self._randoms[world])
            self.worlds.reset(world, q=start.q, v=start.v)
        self._steps[which] = 0

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Floats, dict[str, Any]]:
        """Starts an episode in every world, with the seeds s, s + 1, … or those given. There are no options."""
        seeds: Sequence[int | None] = [None] * self.num_envs
        if isinstance(seed, Sequence):
            seeds = seed
        elif seed is not None:
            seeds = [int(seed) + k for k in range(self.num_envs)]
        if len(seeds) != self.num_envs:
            raise ValueError(f"there are {len(seeds)} seeds for {self.num_envs} worlds")
        for world, own in enumerate(seeds):
            if own is not None:
                self._randoms[world] = seeding.np_random(own)[0]
        self._over[:] = False
        self._restart(~self._over)
        return self.task.observation(self._state()), {}

    def step(self, actions: Floats) -> tuple[Floats, Floats, Flags, Flags, dict[str, Any]]:
        """Applies the actions over the next steps of the simulation, in every world."""
        actions = np.asarray(actions, dtype=np.float64)
        going = ~self._over
        self._restart(self._over)
        before = self._state()
        self.worlds.set_controls(self.task.controls_of(actions))
        failed = self.worlds.step(self.task.substeps, skip=(~going).tolist())
        after = self._state()
        outcome = self.task.evaluate(before, after, actions)
        self._steps[going] += 1
        late = False if self._limit is None else self._steps >= self._limit
        terminated = going & (outcome.success | outcome.lost)
        truncated = going & ((failed & ~terminated) | late)
        infos: dict[str, Any] = {}
        if going.any():
            for key, values in self.task.info(after, outcome.success).items():
                infos[key], infos[f"_{key}"] = np.where(going, values, np.zeros_like(values)), going.copy()
        for world, failure in self.worlds.failures.items():
            self._add_info(infos, {"failure": str(failure)}, world)
        self._over = terminated | truncated
        observations = self.task.observation(after)
        if self._same_step and self._over.any():
            observations, infos = self._start_at_once(observations, infos)
        return observations, np.where(going, outcome.reward, 0.0), terminated, truncated, infos

    def _start_at_once(self, last: Floats, infos: dict[str, Any]) -> tuple[Floats, dict[str, Any]]:
        """Starts the next episode of finished worlds; their last observation and info become ``final_obs`` and ``final_info``."""
        over, self._over = self._over, np.zeros_like(self._over)
        next_infos: dict[str, Any] = {}
        keys = [key for key in infos if not key.startswith("_")]
        for key in keys:
            values, kept = infos[key], infos[f"_{key}"] & ~over
            if kept.any():
                nothing = None if values.dtype == object else np.zeros_like(values)
                next_infos[key], next_infos[f"_{key}"] = np.where(kept, values, nothing), kept
        for world in np.flatnonzero(over).tolist():
            own = {key: infos[key][world : world + 1].tolist()[0] for key in keys if infos[f"_{key}"][world]}
            self._add_info(next_infos, {"final_obs": last[world], "final_info": own}, world)
        self._restart(over)
        return self.task.observation(self._state()), next_infos
