//! Accelerations and forces for given contact modes.
//!
//! Of [REF-1] the rows of joints, of closed normals and of sticking tangents are zero. A slipping contact has the friction force −μ N σ/|σ|
//! in its tangents, which makes the system for the remaining forces λ, r = C λ, unsymmetric:
//!
//! ```text
//! A λ = −b_active,     A = W_active C                                                          [REF-3]
//! ```

use nalgebra::{DMatrix, DVector};

use super::instant::Instant;

/// Mode of a contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Mode {
    /// Touches without force.
    Open,
    /// Sticks.
    Stick,
    /// Slips. The direction, a unit vector in the scaled friction rows, is that at the start of the substep.
    Slip([f64; 3]),
}

/// Accelerations and forces.
#[derive(Clone)]
pub(super) struct Balance {
    /// r of all rows, N or N m.
    pub(super) force: DVector<f64>,
    /// W r + b: the accelerations of all rows.
    pub(super) rate: DVector<f64>,
    /// v̇.
    pub(super) acceleration: DVector<f64>,
    /// True if other forces give the same accelerations; these are then the smallest ones.
    pub(super) redundant: bool,
}

/// Smallest slip that has a direction, m/s.
const MIN_DIRECTED_SLIP: f64 = 1e-10;

/// Direction of `slip`, or its opposite if it has passed zero since it was `start`. Friction stays smooth until the stop is located.
fn direction(slip: [f64; 3], start: [f64; 3]) -> [f64; 3] {
    let size = norm(slip);
    if size < MIN_DIRECTED_SLIP {
        return start;
    }
    let sign = if dot(slip, start) < 0.0 { -1.0 } else { 1.0 };
    slip.map(|s| sign * s / size)
}

pub(super) fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

pub(super) fn norm(a: [f64; 3]) -> f64 {
    dot(a, a).sqrt()
}

/// Solves [REF-3] for the given modes.
pub(super) fn balance(at: &Instant, modes: &[Mode]) -> Balance {
    debug_assert_eq!(at.contacts.len(), modes.len(), "every closed contact has a mode");
    debug_assert_eq!(at.contacts.len(), at.touches.len(), "every closed contact has rows");
    let rows = at.free_rate.len();
    let mut active: Vec<usize> = (0..at.joint_rows).collect();
    for (block, mode) in at.contacts.iter().zip(modes) {
        match mode {
            Mode::Open => {}
            Mode::Slip(_) => active.push(block.first),
            Mode::Stick => active.extend(block.first..block.first + block.rows),
        }
    }
    let mut spread = DMatrix::zeros(rows, active.len());
    for (column, &row) in active.iter().enumerate() {
        spread[(row, column)] = 1.0;
    }
    for (contact, (block, mode)) in at.contacts.iter().zip(modes).enumerate() {
        let (Mode::Slip(start), Some(column)) = (mode, active.iter().position(|&row| row == block.first)) else {
            continue;
        };
        let (Some(touch), towards) = (at.touches.get(contact), direction(at.friction_of(contact, &at.rate), *start))
        else {
            continue;
        };
        for k in 1..block.rows {
            spread[(block.first + k, column)] = -touch.mu * towards[k - 1];
        }
    }
    let matrix = &at.delassus * &spread;
    let matrix = matrix.select_rows(active.iter());
    let target = -at.free_rate.select_rows(active.iter());
    let scale = DVector::from_iterator(active.len(), active.iter().map(|&row| scale_of(at.delassus[(row, row)])));
    let (solution, redundant) = solve(matrix, &target, &scale);
    let force = spread * solution;
    let rate = &at.delassus * &force + &at.free_rate;
    let acceleration = &at.free + &at.response * &force;
    Balance { force, rate, acceleration, redundant }
}

/// 1/√W_ii: in this unit every row of W has a one on the diagonal.
pub(super) fn scale_of(diagonal: f64) -> f64 {
    if diagonal > 0.0 { 1.0 / diagonal.sqrt() } else { 1.0 }
}

/// Largest pivot or singular value that counts as zero, as a fraction of the largest. Rows so nearly dependent are redundant.
const DEPENDENT: f64 = 1e-10;

/// Solves A x = b in the units `scale`. A singular system is solved by least squares of least norm; the flag is then true.
pub(super) fn solve(mut matrix: DMatrix<f64>, target: &DVector<f64>, scale: &DVector<f64>) -> (DVector<f64>, bool) {
    if target.is_empty() {
        return (DVector::zeros(0), false);
    }
    for (row, s) in scale.iter().enumerate() {
        matrix.row_mut(row).scale_mut(*s);
        matrix.column_mut(row).scale_mut(*s);
    }
    let target = target.component_mul(scale);
    let factors = matrix.clone().lu();
    let pivots = factors.u().diagonal().abs();
    if pivots.min() > DEPENDENT * pivots.max()
        && let Some(mut x) = factors.solve(&target)
    {
        // One step of iterative refinement.
        let rest = &target - &matrix * &x;
        if let Some(correction) = factors.solve(&rest) {
            x += correction;
        }
        return (x.component_mul(scale), false);
    }
    let parts = matrix.svd(true, true);
    let largest = parts.singular_values.max();
    let x = parts.solve(&target, DEPENDENT * largest).unwrap_or_else(|_| DVector::zeros(target.len()));
    (x.component_mul(scale), true)
}
