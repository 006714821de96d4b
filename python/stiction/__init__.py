"""Exact simulation of multibody systems with intermittent frictional contact.

Contacts stick, slip or separate exactly: there is no artificial contact stiffness and no regularisation parameter to tune. Start with
:class:`Simulation`, or make a scene with :class:`Scene`; docs/python.md is the guide.
"""

from . import errors
from ._stiction import Contacts, StepReport, __version__
from .compare import Comparison, compare
from .design import Design, DesignResult
from .errors import (
    CompareError,
    GradientError,
    HandleError,
    IdentificationError,
    InputError,
    MeasureError,
    ProblemError,
    RecordingError,
    RestoreError,
    SceneError,
    SolveError,
    StateError,
    StepError,
    StictionError,
    StudyError,
)
from .frames import Site
from .gradients import Gradients, gradients
from .identification import Estimate, Identification, IdentificationResult
from .joints import Joint
from .run import Run
from .scene import Scene
from .simulation import Body, Simulation
from .solve import Solution, solve_file, solve_friction, solve_lcp, solve_mixed_lcp
from .study import Study, StudyResult
from .worlds import Worlds

__all__ = [
    "Body",
    "CompareError",
    "Comparison",
    "Contacts",
    "Design",
    "DesignResult",
    "Estimate",
    "GradientError",
    "Gradients",
    "HandleError",
    "Identification",
    "IdentificationError",
    "IdentificationResult",
    "InputError",
    "Joint",
    "MeasureError",
    "ProblemError",
    "RecordingError",
    "RestoreError",
    "Run",
    "Scene",
    "SceneError",
    "Simulation",
    "Site",
    "Solution",
    "SolveError",
    "StateError",
    "StepError",
    "StepReport",
    "StictionError",
    "Study",
    "StudyError",
    "StudyResult",
    "Worlds",
    "__version__",
    "compare",
    "errors",
    "gradients",
    "solve_file",
    "solve_friction",
    "solve_lcp",
    "solve_mixed_lcp",
]
