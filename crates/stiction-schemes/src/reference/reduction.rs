//! Independent coordinates: a local parametrisation of the configurations that joints allow.
//!
//! With W = J₀ᵀ and M₀ at the start of a substep and N a basis of the null space of J₀, the coordinates are u = R q with R = Nᵀ M₀. The
//! joints do not constrain them. Linear combinations of stages are combinations of their u, and the dependent rest follows from the
//! constraints themselves,
//!
//! ```text
//! R (q − q_stage) = 0,   Φ(q, t) = 0      ⇔      q = q_stage ⊕ M₀⁻¹ J₀ᵀ μ,   Φ(q, t) = 0
//! R (v − v_stage) = 0,   J v + ∂Φ/∂t = 0   ⇔      v = v_stage + M₀⁻¹ J₀ᵀ ν,   J v + ∂Φ/∂t = 0            [STAB-8]
//! ```

use nalgebra::{DMatrix, DVector};

use super::{
    balance::{scale_of, solve},
    geometry::ContactFinder,
    instant::{Instant, InstantError, Level},
    motion::Motion,
};

/// Largest number of Newton iterations. A stage that needs more is too far from the point where the coordinates were chosen.
const MAX_ITERATIONS: u32 = 12;

/// Errors of joints that are rounding, as a fraction of 1 or the largest coordinate.
const ROUNDING: f64 = 1e-14;

/// Directions M₀⁻¹ J₀ᵀ along which the dependent coordinates are sought.
pub(super) struct Chart {
    directions: DMatrix<f64>,
}

impl Chart {
    /// Chooses the coordinates for the substep that starts here.
    pub(super) fn new(finder: &mut ContactFinder, motion: &Motion, time: f64) -> Result<Self, InstantError> {
        Ok(Self { directions: Instant::new(finder, motion, time, &[], Level::Velocities)?.response })
    }

    /// Replaces the dependent part of a stage by the solution of the constraints for its independent part.   [STAB-8]
    pub(super) fn restore(
        &self,
        finder: &mut ContactFinder,
        motion: &mut Motion,
        time: f64,
    ) -> Result<(), InstantError> {
        let size = motion.q.iter().fold(1.0, |most: f64, q| most.max(q.abs()));
        let mut before = f64::INFINITY;
        for _ in 0..MAX_ITERATIONS {
            let at = Instant::new(finder, motion, time, &[], Level::Velocities)?;
            let error = at.value.amax();
            // If rounding prevents that the error halves again, it is accepted.
            if error <= ROUNDING * size || (error <= 100.0 * ROUNDING * size && error > 0.5 * before) {
                let change = &self.directions * self.multipliers(&at, &at.rate);
                motion.v.iter_mut().zip(change.iter()).for_each(|(v, dv)| *v += dv);
                return Ok(());
            }
            before = error;
            motion.shift(finder.model, (&self.directions * self.multipliers(&at, &at.value)).as_slice());
        }
        Err(InstantError::OutOfChart)
    }

    /// μ with J M₀⁻¹ J₀ᵀ μ = −error.
    fn multipliers(&self, at: &Instant, error: &DVector<f64>) -> DVector<f64> {
        let scale = DVector::from_iterator(error.len(), at.delassus.diagonal().iter().map(|&w| scale_of(w)));
        solve(&at.jacobian * &self.directions, &-error, &scale).0
    }
}
