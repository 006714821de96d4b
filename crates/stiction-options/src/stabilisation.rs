//! Stabilisation against drift: small errors in joints and gaps that every step adds and no velocity row removes.

use super::error::SchemeError;

/// Method that keeps errors in joints, and by projection penetrations, small. The equations are in `docs/theory/stabilisation.md`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Stabilisation {
    /// Stabilisation of the method itself. Time-stepping has the weights γ within the step [STEP-2], [STEP-3]; the reference projects onto
    /// both manifolds. The θ-method, where γ of contacts would add energy, has that of joints.
    #[default]
    Usual,
    /// Joint errors obey Φ̈ + a Φ̇ + b Φ = 0 (Baumgarte).   [STAB-1] [STAB-2]
    Baumgarte {
        /// a, 1/s.
        damping: f64,
        /// b, 1/s².
        stiffness: f64,
    },
    /// A term −α F(z) (Φ, Φ̇) in the equations of motion: joint errors decay as e^(−αt) (Ascher).   [STAB-3] [STAB-4]
    Ascher {
        /// α, 1/s.
        rate: f64,
    },
    /// Positions and velocities are projected after the step, with the mass matrix as metric.   [STAB-5]
    Projection(Manifold),
    /// Additional multipliers keep positions on the joints, the index-2 form of the equations of motion.   [STAB-6] [STAB-7]
    Multiplier,
    /// The reference integrates independent coordinates u = R q only.   [STAB-8]
    Reduction,
}

/// Manifold onto which a projection maps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manifold {
    /// Joints are closed and bodies apart: Φ = 0, ψ ≥ 0.
    Positions,
    /// Joints do not move apart: Φ̇ = 0.
    Velocities,
    /// Positions, then velocities.
    Both,
}

impl Manifold {
    /// Name in scene files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Positions => "positions",
            Self::Velocities => "velocities",
            Self::Both => "both",
        }
    }

    /// True if positions are projected.
    pub fn has_positions(self) -> bool {
        self != Self::Velocities
    }

    /// True if velocities are projected.
    pub fn has_velocities(self) -> bool {
        self != Self::Positions
    }
}

/// Largest coefficients of Baumgarte, 1/s and 1/s², and largest rate of Ascher, 1/s.
const LARGEST: f64 = 1e12;

pub(super) const FIELD: &str = "stabilisation";

impl Stabilisation {
    /// Name in scene files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Usual => "usual",
            Self::Baumgarte { .. } => "baumgarte",
            Self::Ascher { .. } => "ascher",
            Self::Projection(_) => "projection",
            Self::Multiplier => "multiplier",
            Self::Reduction => "reduction",
        }
    }

    /// Checks the numbers.
    pub(super) fn validate(self) -> Result<(), SchemeError> {
        let numbers = match self {
            Self::Baumgarte { damping, stiffness } => [("damping", damping), ("stiffness", stiffness)],
            Self::Ascher { rate } => [("rate", rate); 2],
            _ => return Ok(()),
        };
        match numbers.into_iter().find(|(_, x)| !(*x > 0.0 && *x <= LARGEST)) {
            Some((name, x)) => {
                let reason = format!("the {name} must be positive and at most {LARGEST:e}, but is {x}");
                Err(SchemeError { field: FIELD, reason })
            }
            None => Ok(()),
        }
    }
}
