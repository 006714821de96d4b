//! Accuracies, names and records of the rungs.

/// Accuracy of a solve. The residuals below are those of a ladder on its own; steps of simulations have those of the [`Policy`](super::Policy).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Accuracy {
    /// Residual 1e-2. Gauss-Seidel makes at most fifty iterations; above this residual the other rungs follow, except the last resort.
    RealTime,
    /// Residual 1e-4.
    Balanced,
    /// Residual 1e-8.
    #[default]
    Exact,
}

impl Accuracy {
    /// Largest residual [CONE-5] of a solution of this accuracy.
    pub fn tolerance(self) -> f64 {
        match self {
            Self::RealTime => 1e-2,
            Self::Balanced => 1e-4,
            Self::Exact => 1e-8,
        }
    }

    /// Name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::RealTime => "real-time",
            Self::Balanced => "balanced",
            Self::Exact => "exact",
        }
    }
}

/// Rung of [`FrictionLadder`](super::FrictionLadder): one solver method with its start, the initial iterate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FrictionRung {
    /// Dense active-set method, for small problems.
    ActiveSet,
    /// Linear solve of problems of equalities alone: joints and couplings without contacts.
    Linear,
    /// Single-pivot method from the last start of the active-set method, or from zero if that has a smaller residual. If the result is
    /// acceptable, the active-set method runs once more to refine it.
    SinglePivot,
    /// Gauss-Seidel from the warm start.
    WarmGaussSeidel,
    /// Gauss-Seidel from zero.
    ColdGaussSeidel,
    /// Semismooth Newton from the result of Gauss-Seidel.
    SemismoothNewton,
    /// Proximal Newton in body velocities from the warm start, or zero without one, which Gauss-Seidel first improves if it is far off [PROX-6].
    ProximalNewton,
    /// Proximal Newton in body velocities after Gauss-Seidel from zero.
    ColdProximalNewton,
    /// Interior point from its first start, then a few Gauss-Seidel iterations and semismooth Newton.
    InteriorPoint,
    /// Single-pivot method from the best impulses so far.
    LateSinglePivot,
    /// Interior point from its second start, then a few Gauss-Seidel iterations and semismooth Newton.
    InteriorPointRestart,
    /// Pseudo-transient continuation from the result of Gauss-Seidel, or from the best impulses before it if that was skipped.
    PseudoTransient,
}

impl FrictionRung {
    /// True for the last resort, which is too slow to improve a solution that is acceptable already.
    pub(super) fn is_last_resort(self) -> bool {
        matches!(self, Self::PseudoTransient)
    }

    /// Name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::ActiveSet => "active-set",
            Self::Linear => "linear",
            Self::SinglePivot => "single-pivot",
            Self::WarmGaussSeidel => "warm-gauss-seidel",
            Self::ColdGaussSeidel => "cold-gauss-seidel",
            Self::SemismoothNewton => "semismooth-newton",
            Self::ProximalNewton => "proximal-newton",
            Self::ColdProximalNewton => "cold-proximal-newton",
            Self::InteriorPoint => "interior-point",
            Self::LateSinglePivot => "late-single-pivot",
            Self::InteriorPointRestart => "interior-point-restart",
            Self::PseudoTransient => "pseudo-transient",
        }
    }
}

/// Record of one rung of the last run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrictionRungRecord {
    /// Rung that was run.
    pub rung: FrictionRung,
    /// Residual [CONE-5] of its impulses.
    pub residual: f64,
    /// Iterations: active sets, pivots, Gauss-Seidel iterations and steps of Newton's method or the interior point, summed over the methods of the rung.
    pub iterations: u32,
}
