"""Complementarity problems without mechanics.

>>> import stiction
>>> solution = stiction.solve_lcp([[2.0, 1.0], [1.0, 2.0]], [-5.0, -6.0])
>>> [round(float(z), 12) for z in solution.z]
[1.333333333333, 2.333333333333]
"""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _stiction
from .errors import ProblemError, SolveError


@dataclass(frozen=True)
class Solution:
    """Result of a method."""

    #: True if it is a solution, by the residual of the problem.
    solved: bool
    status: str
    residual: float
    #: Description of the worst row or contact.
    worst: str
    iterations: int
    #: Methods that were tried; the last one gave the result.
    rungs: list[str]
    hint: str | None
    #: The unknowns by their symbols: ``z``; ``u`` and ``z``; or the impulses ``r``.
    unknowns: dict[str, npt.NDArray[np.float64]]

    def __getattr__(self, name: str) -> npt.NDArray[np.float64]:
        unknowns: dict[str, npt.NDArray[np.float64]] = self.__dict__.get("unknowns", {})
        if name in unknowns:
            return unknowns[name]
        raise AttributeError(name)


def _solve(kind: str, given: Any, method: str, tolerance: float | None, check: bool) -> Solution:
    found = _stiction.solve_problem(kind, given, method, tolerance)
    names = ["solved", "status", "residual", "worst", "iterations", "rungs", "hint"]
    solution = Solution(**{name: found.pop(name) for name in names}, unknowns=found)
    if check and not solution.solved:
        text = f"not solved ({solution.status}, residual {solution.residual:.3e}, worst at {solution.worst})"
        error = SolveError(text if solution.hint is None else f"{text}; {solution.hint}")
        error.solution = solution
        raise error
    return solution


def solve_lcp(
    M: npt.ArrayLike,
    q: npt.ArrayLike,
    *,
    method: str = "ladder",
    tolerance: float | None = None,
    check: bool = True,
) -> Solution:
    """z ≥ 0, w = M z + q ≥ 0, zᵀ w = 0.

    Raises :class:`SolveError` if no method solves it; with ``check=False`` the result has ``solved`` false instead.
    """
    return _solve("lcp", {"M": M, "q": q}, method, tolerance, check)


def solve_mixed_lcp(
    A: npt.ArrayLike,
    C: npt.ArrayLike,
    D: npt.ArrayLike,
    B: npt.ArrayLike,
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    *,
    method: str = "ladder",
    tolerance: float | None = None,
    check: bool = True,
) -> Solution:
    """0 = A u + C z + a with u free; z ≥ 0, w = D u + B z + b ≥ 0, zᵀ w = 0."""
    return _solve("mixed", {"A": A, "C": C, "D": D, "B": B, "a": a, "b": b}, method, tolerance, check)


def solve_friction(
    W: npt.ArrayLike,
    q: npt.ArrayLike,
    mu: npt.ArrayLike,
    mu_r: npt.ArrayLike | None = None,
    *,
    method: str = "ladder",
    tolerance: float | None = None,
    check: bool = True,
) -> Solution:
    """Impulses r in Coulomb's cones with u = W r + q, the normal component of every contact first.

    Contacts have 2 rows (plane), 3 (space) or 4 (with torsion): as many as ``q`` has for each number of ``mu``. With
    ``mu_r``, the coefficients of rolling friction, there are 1 more row in the plane and 2 more in space.
    """
    given = {"W": W, "q": q, "mu": mu} | ({} if mu_r is None else {"mu_r": mu_r})
    return _solve("friction", given, method, tolerance, check)


def solve_file(
    path: str | PathLike[str], *, method: str = "ladder", tolerance: float | None = None, check: bool = True
) -> Solution:
    """Solves a problem file, such as the one of a failed step."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise ProblemError(f"{path} cannot be read: {error}") from None
    return _solve("file", text, method, tolerance, check)
