//! The names of the rungs, how far a solve goes, and what is recorded of it.

/// How far a solve goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Accuracy {
    /// Residual 1e-2, by at most fifty sweeps where these get there, and by the cheap rungs where not.
    RealTime,
    /// Residual 1e-4.
    Balanced,
    /// Residual 1e-8.
    #[default]
    Exact,
}

impl Accuracy {
    /// The residual [CONE-5] asked for.
    pub fn tolerance(self) -> f64 {
        match self {
            Self::RealTime => 1e-2,
            Self::Balanced => 1e-4,
            Self::Exact => 1e-8,
        }
    }

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::RealTime => "real-time",
            Self::Balanced => "balanced",
            Self::Exact => "exact",
        }
    }
}

/// One rung of [`FrictionLadder`](super::FrictionLadder).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FrictionRung {
    /// Active sets, where contacts are few.
    ActiveSet,
    /// Gauss-Seidel from the guess.
    WarmGaussSeidel,
    /// Gauss-Seidel from zero.
    ColdGaussSeidel,
    /// Semismooth Newton from where the sweeps ended.
    Newton,
    /// The interior point from its first start, a few sweeps, and Newton.
    InteriorPoint,
    /// One change of mode at a time, from the best answer so far.
    SinglePivot,
    /// More sweeps from where the first ones ended, and Newton.
    MoreGaussSeidel,
    /// The interior point from its second start, a few sweeps, and Newton.
    SecondStart,
    /// The interior point from its third start, a few sweeps, and Newton.
    ThirdStart,
    /// ADMM and Newton.
    Admm,
    /// Pseudo-transient continuation, from the best answer so far and from where the sweeps ended.
    PseudoTransient,
    /// Many relaxed sweeps, and Newton.
    RelaxedGaussSeidel,
    /// De Saxcé's fixed point over cone programs.
    Reference,
}

impl FrictionRung {
    /// Whether it costs so much that an acceptable answer is not improved by it.
    pub(super) fn is_expensive(self) -> bool {
        matches!(
            self,
            Self::ThirdStart | Self::Admm | Self::PseudoTransient | Self::RelaxedGaussSeidel | Self::Reference
        )
    }

    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::ActiveSet => "active-set",
            Self::WarmGaussSeidel => "warm-gauss-seidel",
            Self::ColdGaussSeidel => "cold-gauss-seidel",
            Self::Newton => "newton",
            Self::InteriorPoint => "interior-point",
            Self::SinglePivot => "exchange",
            Self::MoreGaussSeidel => "more-gauss-seidel",
            Self::SecondStart => "second-start",
            Self::ThirdStart => "third-start",
            Self::Admm => "admm",
            Self::PseudoTransient => "transient",
            Self::RelaxedGaussSeidel => "relaxed-gauss-seidel",
            Self::Reference => "reference",
        }
    }
}

/// What one rung of the last run achieved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrictionRungRecord {
    /// The rung.
    pub rung: FrictionRung,
    /// The residual of its answer.
    pub residual: f64,
    /// Its iterations: sweeps, steps or programs.
    pub iterations: u32,
}
