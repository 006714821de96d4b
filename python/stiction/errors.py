"""What can go wrong, as a tree of exceptions.

Every exception of stiction is a :class:`StictionError`; those for wrong values are also :class:`ValueError`, so that code that knows
nothing of stiction catches them too. Whatever is raised, the simulation is as it was before the step or the
assignment that failed: a run of many steps stays where the failed one found it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .run import Run
    from .solve import Solution


class StictionError(Exception):
    """The root of all."""


class SceneError(StictionError, ValueError):
    """A scene is refused.

    >>> import stiction
    >>> try:
    ...     stiction.Simulation.from_toml("[simulation]\\nduration = -1.0\\nstep = 0.01\\n")
    ... except stiction.SceneError as error:
    ...     print(error.line, error.column)
    2 12
    """

    #: The file, or ``--set`` for a value given beside it.
    file: str | None = None
    #: Line and column, from 1, where there is a place.
    line: int | None = None
    column: int | None = None
    #: What is wrong, without the place.
    reason: str | None = None
    #: What to do about it.
    hint: str | None = None


class StepError(StictionError, RuntimeError):
    """A step did not happen; the state is as it was before it."""

    #: Number the step would have had, and time at its start, s.
    step: int
    time: float
    #: Why.
    reason: str
    #: Residual of the last method, where it is about one.
    residual: float | None = None
    #: The contact, joint or body of the worst row, by name.
    worst: str | None = None
    #: How the last method ended, and the methods that were tried.
    status: str | None = None
    rungs: list[str] | None = None
    #: What to try next.
    hint: str | None = None
    #: What was recorded up to here, where a run ended so.
    run: Run | None = None


class StateError(StictionError, ValueError):
    """An array has the wrong length, kind of number, or numbers that are not finite."""


class RestoreError(StictionError, ValueError):
    """A saved state is damaged, of another version, or of another simulation."""


class InputError(StictionError, ValueError):
    """A force or a control that cannot be given."""


class HandleError(StictionError, LookupError):
    """There is no such body, joint or motor, or not any more."""


class ProblemError(StictionError, ValueError):
    """A complementarity problem is malformed, or a method does not fit it."""


class SolveError(StictionError, RuntimeError):
    """No solution was found; what was found is in ``solution``."""

    solution: Solution


class MeasureError(StictionError, ValueError):
    """An expression over a run is malformed or has no value."""

    text: str
    #: First character at fault, and one past the last, in bytes.
    span: tuple[int, int]
    reason: str
    hint: str | None = None


class RecordingError(StictionError, ValueError):
    """A recording cannot be written, or read back."""


class GradientError(StictionError, RuntimeError):
    """A step has no derivative."""


class StudyError(StictionError, ValueError):
    """A study or a design cannot be made, or its folder holds something else."""


class IdentificationError(StictionError, RuntimeError):
    """Nothing could be identified."""


class CompareError(StictionError, ValueError):
    """Schemes cannot be compared so."""
