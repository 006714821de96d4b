//! Projection that removes drift of constraints: positions of joints and closed gaps, velocities of all rows at rest.
//!
//! ```text
//! Δq = −M⁻¹ Jᵀ W⁺ Φ,     Δv = −M⁻¹ Jᵀ W⁺ (J v + ∂Φ/∂t)                                          [REF-5]
//! ```

use nalgebra::DVector;
use stiction_multibody::ContactId;

use super::{
    balance::{Mode, scale_of, solve},
    geometry::ContactFinder,
    instant::{Instant, InstantError, Level},
    motion::Motion,
};
use stiction_stepping::{Manifold, Stabilisation};

/// Iterations of Newton's method for positions. Drift is tiny, and the second iteration squares the error of the first.
const MAX_ITERATIONS: usize = 2;

/// Projects q onto Φ = 0, ψ = 0 and then v onto the tangent velocities, without slip of sticking contacts. Joints are projected only onto
/// the manifolds of the scheme.   [REF-5] [STAB-5]
pub(super) fn project(
    finder: &mut ContactFinder,
    motion: &mut Motion,
    time: f64,
    closed: &[(ContactId, Mode)],
    by: Stabilisation,
) -> Result<(), InstantError> {
    let manifold = match by {
        Stabilisation::Usual => Some(Manifold::Both),
        Stabilisation::Projection(manifold) => Some(manifold),
        _ => None,
    };
    let (positions, velocities) = manifold.map_or((false, false), |m| (m.has_positions(), m.has_velocities()));
    if closed.is_empty() && (finder.model.joint_rows() == 0 || !(positions || velocities)) {
        return Ok(());
    }
    let ids: Vec<_> = closed.iter().map(|(id, _)| *id).collect();
    for _ in 0..MAX_ITERATIONS {
        let at = Instant::new(finder, motion, time, &ids, Level::Velocities)?;
        let step = correction(&at, &at.position_rows(), &errors_to_remove(&at, &at.value, positions));
        motion.shift(finder.model, step.as_slice());
        motion.normalise(finder.model);
    }
    let at = Instant::new(finder, motion, time, &ids, Level::Velocities)?;
    let rows = at.velocity_rows(closed.iter().map(|(_, mode)| *mode));
    let step = correction(&at, &rows, &errors_to_remove(&at, &at.rate, velocities));
    motion.v.iter_mut().zip(step.iter()).for_each(|(v, dv)| *v += dv);
    Ok(())
}

/// Errors to remove: all, or only those of contacts.
fn errors_to_remove(at: &Instant, error: &DVector<f64>, joints: bool) -> DVector<f64> {
    let mut error = error.clone();
    if !joints {
        error.rows_mut(0, at.joint_rows).fill(0.0);
    }
    error
}

/// −M⁻¹ Jᵀ W⁺ error over some of the rows.
pub(super) fn correction(at: &Instant, rows: &[usize], error: &DVector<f64>) -> DVector<f64> {
    let matrix = at.delassus.select_rows(rows.iter()).select_columns(rows.iter());
    let target = -error.select_rows(rows.iter());
    let scale = DVector::from_iterator(rows.len(), rows.iter().map(|&row| scale_of(at.delassus[(row, row)])));
    let (impulse, _) = solve(matrix, &target, &scale);
    at.response.select_columns(rows.iter()) * impulse
}
