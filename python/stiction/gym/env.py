"""One world as an environment of Gymnasium."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from .. import _stiction
from ..errors import StepError
from .task import Floats, State, Task
from .tasks import task_of


class Env(gymnasium.Env[Floats, Floats]):
    """An environment around a task: the name of one of :data:`stiction.gym.TASKS`, or a :class:`stiction.gym.Task`.

    The same seed and the same actions give the same observations, bit for bit. A failed step ends the episode as truncated, with the
    reason in ``info["failure"]``.

    ``render_mode="html"`` returns a self-contained page that plays the episode so far, ``"ansi"`` the observation as text.
    """

    metadata: dict[str, Any] = {"render_modes": ["html", "ansi"], "render_fps": 50}

    def __init__(self, task: str | Task, render_mode: str | None = None) -> None:
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise ValueError(f'the render mode is "{render_mode}", but must be one of {self.metadata["render_modes"]}')
        self.task = task_of(task)
        self.metadata = {**self.metadata, "render_fps": round(1.0 / (self.task.substeps * self.task.step_size))}
        self.render_mode = render_mode
        self.observation_space = self.task.observation_space
        self.action_space = self.task.action_space
        #: The simulation, for inspection.
        self.simulation = self.task.simulation()
        self._home = self.simulation.save()
        self._start = self._home
        self._actions: list[Floats] = []

    def _state(self) -> State:
        return State(np.array(self.simulation.q)[None], np.array(self.simulation.v)[None])

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Floats, dict[str, Any]]:
        """Starts an episode. There are no options."""
        super().reset(seed=seed)
        start = self.task.start(self.np_random)
        self.simulation.restore(self._home)
        self.simulation.set_coordinates(q=start.q, v=start.v)
        if self.render_mode == "html":
            self._start, self._actions = self.simulation.save(), []
        return self.task.observation(self._state())[0], {}

    def step(self, action: Floats) -> tuple[Floats, float, bool, bool, dict[str, Any]]:
        """Applies the action over the next steps of the simulation."""
        actions = np.asarray(action, dtype=np.float64)[None]
        before = self._state()
        self.simulation.set_controls(self.task.controls_of(actions)[0])
        if self.render_mode == "html":
            self._actions.append(actions[0].copy())
        failure = None
        try:
            self.simulation.advance(self.task.substeps)
        except StepError as error:
            failure = str(error)
        after = self._state()
        outcome = self.task.evaluate(before, after, actions)
        info = {key: values[0].item() for key, values in self.task.info(after, outcome.success).items()}
        if failure is not None:
            info["failure"] = failure
        over = bool(outcome.success[0] or outcome.lost[0])
        return self.task.observation(after)[0], float(outcome.reward[0]), over, failure is not None and not over, info

    def render(self) -> str | None:
        """The episode so far as a page, or the observation as text, depending on the render mode."""
        if self.render_mode == "html":
            return self._page()
        return self._text() if self.render_mode == "ansi" else None

    def _text(self) -> str:
        seen = zip(self.task.quantities, self.task.observation(self._state())[0].tolist(), strict=True)
        lines = [f"{quantity.name:24} {value: .6g}" for quantity, value in seen]
        return "\n".join([f"{type(self.task).__name__} at {self.simulation.time:.4g} s", *lines])

    def _page(self) -> str:
        """Repeats the actions from the start, which gives the same bits, and records."""
        again = self.task.simulation()
        again.restore(self._start)
        with tempfile.TemporaryDirectory(prefix="stiction-") as folder:
            recorder = again.recorder(Path(folder), 1)
            failure = None
            try:
                for action in self._actions:
                    again.set_controls(self.task.controls_of(action[None])[0])
                    again.advance(self.task.substeps, recorder)
            except StepError as error:
                failure = str(error)
            recorder.finish(again, failure)
            return _stiction.view_page([Path(folder)])
