//! Takes the drift out of constraints: positions of joints and closed gaps, velocities of everything that does not move.
//!
//! ```text
//! Δq = −M⁻¹ Jᵀ W⁺ Φ,     Δv = −M⁻¹ Jᵀ W⁺ (J v + ∂Φ/∂t)                                          [REF-5]
//! ```

use nalgebra::DVector;
use stiction_multibody::ContactId;

use super::{
    balance::{Mode, scale_of, solve},
    geometry::Eyes,
    instant::{Depth, Instant, Trouble},
    motion::Motion,
};

/// Rounds of Newton's method for positions: drift is tiny, and the second squares what the first leaves.
const ROUNDS: usize = 2;

/// Projects q onto Φ = 0, ψ = 0 and then v onto the velocities that keep it there, with no slip where contacts stick.   [REF-5]
pub(super) fn project(
    eyes: &mut Eyes,
    motion: &mut Motion,
    time: f64,
    closed: &[(ContactId, Mode)],
) -> Result<(), Trouble> {
    if closed.is_empty() && eyes.model.joint_rows() == 0 {
        return Ok(());
    }
    let ids: Vec<_> = closed.iter().map(|(id, _)| *id).collect();
    for _ in 0..ROUNDS {
        let at = Instant::new(eyes, motion, time, &ids, Depth::Velocities)?;
        let rows: Vec<_> = (0..at.joint_rows).chain(at.contacts.iter().map(|block| block.first)).collect();
        let step = correction(&at, &rows, &at.value);
        motion.shift(eyes.model, step.as_slice());
        motion.normalise(eyes.model);
    }
    let at = Instant::new(eyes, motion, time, &ids, Depth::Velocities)?;
    let mut rows: Vec<_> = (0..at.joint_rows).collect();
    for (block, (_, mode)) in at.contacts.iter().zip(closed) {
        let count = if *mode == Mode::Stick { block.rows } else { 1 };
        rows.extend(block.first..block.first + count);
    }
    let step = correction(&at, &rows, &at.rate);
    motion.v.iter_mut().zip(step.iter()).for_each(|(v, dv)| *v += dv);
    Ok(())
}

/// −M⁻¹ Jᵀ W⁺ error over some of the rows.
fn correction(at: &Instant, rows: &[usize], error: &DVector<f64>) -> DVector<f64> {
    let matrix = at.delassus.select_rows(rows.iter()).select_columns(rows.iter());
    let target = -error.select_rows(rows.iter());
    let scale = DVector::from_iterator(rows.len(), rows.iter().map(|&row| scale_of(at.delassus[(row, row)])));
    let (impulse, _) = solve(matrix, &target, &scale);
    at.response.select_columns(rows.iter()) * impulse
}
