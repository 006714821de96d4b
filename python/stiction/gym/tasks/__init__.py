"""The tasks of the environments, by name."""

from __future__ import annotations

from ..task import Task
from .grasp import Grasp
from .planar_push import PlanarPush
from .quadruped import Quadruped
from .three_finger_hand import ThreeFingerHand

__all__ = ["TASKS", "Grasp", "PlanarPush", "Quadruped", "ThreeFingerHand", "task_of"]

#: The tasks that ``import stiction.gym`` registers, by the name in their id.
TASKS: dict[str, type[Task]] = {task.__name__: task for task in (PlanarPush, Grasp, ThreeFingerHand, Quadruped)}


def task_of(task: str | Task) -> Task:
    """The task called so, or the task itself."""
    if isinstance(task, Task):
        return task
    if task not in TASKS:
        raise ValueError(f'there is no task "{task}"; there are {", ".join(TASKS)}')
    return TASKS[task]()
