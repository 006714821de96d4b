"""Exceptions of stiction.

Every exception of stiction is a :class:`StictionError`; those for wrong values are also :class:`ValueError`, so that code that does not
know stiction catches them too. After an exception the simulation has the state before the step or the assignment that failed: a run of
many steps stays at the last successful one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .run import Run
    from .solve import Solution


class StictionError(Exception):
    """Base class of all exceptions of stiction."""


class SceneError(StictionError, ValueError):
    """Invalid scene.

    >>> import stiction
    >>> try:
    ...     stiction.Simulation.from_toml("[simulation]\\nduration = -1.0\\nstep = 0.01\\n")
    ... except stiction.SceneError as error:
    ...     print(error.line, error.column)
    2 12
    """

    #: File, or ``--set`` for a value given beside it.
    file: str | None = None
    #: Line and column, from 1, if known.
    line: int | None = None
    column: int | None = None
    #: Description of the error, without the position.
    reason: str | None = None
    #: Suggested correction.
    hint: str | None = None


class StepError(StictionError, RuntimeError):
    """Failed step; the state is the one before it."""

    #: Number of the failed step, and time at its start, s.
    step: int
    time: float
    #: Reason.
    reason: str
    #: Residual of the last method, if the failure is one of a solver.
    residual: float | None = None
    #: Contact, joint or body of the worst row, by name.
    worst: str | None = None
    #: Outcome of the last method, and the methods that were tried.
    status: str | None = None
    rungs: list[str] | None = None
    #: Suggested correction.
    hint: str | None = None
    #: Recording up to here, if a run was recorded.
    run: Run | None = None


class StateError(StictionError, ValueError):
    """Array of the wrong length or type, or with numbers that are not finite."""


class RestoreError(StictionError, ValueError):
    """Saved state that is damaged, of another version, or of another simulation."""


class InputError(StictionError, ValueError):
    """Invalid force or control."""


class HandleError(StictionError, LookupError):
    """Unknown or removed body, joint or motor."""


class ProblemError(StictionError, ValueError):
    """Malformed complementarity problem, or unsuitable method."""


class SolveError(StictionError, RuntimeError):
    """Unsolved problem; the result of the method is in ``solution``."""

    solution: Solution


class MeasureError(StictionError, ValueError):
    """Malformed expression, or one without a value for the run."""

    text: str
    #: First invalid byte, and one past the last.
    span: tuple[int, int]
    reason: str
    hint: str | None = None


class RecordingError(StictionError, ValueError):
    """Recording that cannot be written or read."""


class GradientError(StictionError, RuntimeError):
    """Step without a derivative."""


class StudyError(StictionError, ValueError):
    """Study or design that cannot be run, or a folder with other content."""


class IdentificationError(StictionError, RuntimeError):
    """Failed identification."""


class CompareError(StictionError, ValueError):
    """Comparison of schemes that cannot be made."""
