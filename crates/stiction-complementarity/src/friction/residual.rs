//! The ruler of frictional problems: by how much impulses miss the laws of all blocks.   [CONE-5]

use super::law::Law;
use super::operator::Delassus;
use super::version::Version;
use super::{FrictionProblem, FrictionSolution};
use crate::problem::{Problem, Residual};
use std::cell::RefCell;

/// What the ruler keeps so that measuring allocates nothing, and measures the same impulses of the same problem once.
struct Memory {
    /// Velocities and operator state: scratch memory only.
    u: Vec<f64>,
    state: Vec<f64>,
    last: Measurement,
}

/// Impulses that were measured, with the problem and the residual.
struct Measurement {
    of: Option<(Version, Residual)>,
    r: Vec<f64>,
}

impl Measurement {
    /// The residual of impulses, where it was these that were measured.
    fn recall(&self, version: Version, r: &[f64]) -> Option<Residual> {
        self.of.filter(|(of, _)| *of == version && self.r == r).map(|(_, residual)| residual)
    }

    fn note(&mut self, version: Version, r: &[f64], residual: Residual) {
        self.of = Some((version, residual));
        self.r.clear();
        self.r.extend_from_slice(r);
    }
}

thread_local! {
    static MEMORY: RefCell<Memory> = const {
        RefCell::new(Memory { u: Vec::new(), state: Vec::new(), last: Measurement { of: None, r: Vec::new() } })
    };
}

impl<W: Delassus> Problem for FrictionProblem<W> {
    type Solution = FrictionSolution;

    /// ‖r − P_K(r − û)‖₂ / ‖q‖₂; the row is the first of the worst block.   [CONE-5]
    fn residual(&self, solution: &FrictionSolution) -> Residual {
        let r = &solution.r;
        if r.len() != self.rows() {
            return Residual::immeasurable(0);
        }
        MEMORY.with_borrow_mut(|Memory { u, state, last }| {
            last.recall(self.version, r).unwrap_or_else(|| {
                let residual = self.measure_velocities(r, u, state);
                last.note(self.version, r, residual);
                residual
            })
        })
    }
}

impl<W: Delassus> FrictionProblem<W> {
    /// The residual [CONE-5] of impulses r, as many as rows, with their velocities in `u`; `state` is scratch memory.
    pub(crate) fn measure(&self, r: &[f64], u: &mut Vec<f64>, state: &mut Vec<f64>) -> Residual {
        let residual = self.measure_velocities(r, u, state);
        MEMORY.with_borrow_mut(|memory| memory.last.note(self.version, r, residual));
        residual
    }

    fn measure_velocities(&self, r: &[f64], u: &mut Vec<f64>, state: &mut Vec<f64>) -> Residual {
        self.velocities(r, u, state);
        let scale = self.scale();
        let (mut r, mut u, mut unit) = (r, &u[..], 1.0);
        if !(scale > 1e-140 && scale < 1e140) {
            // Squares would leave the range of numbers: everything in the unit of q.
            unit = 1.0 / scale;
            state.clear();
            state.extend(r.iter().chain(u).map(|x| x * unit));
            (r, u) = state.split_at(r.len());
        }
        let is_finite = |x: &[f64]| x.iter().all(|x| x.is_finite());
        let all_finite = is_finite(r) && is_finite(u);
        let (mut sum, mut worst) = (0.0, (0.0, 0));
        for (block, law) in self.laws.iter().enumerate() {
            let range = self.range(block);
            let (r, u) = (&r[range.clone()], &u[range.clone()]);
            let violation = violation(&law.in_unit(unit), r, u);
            if violation.is_nan() || !(all_finite || (is_finite(r) && is_finite(u))) {
                return Residual::immeasurable(range.start);
            }
            sum += violation;
            if violation > worst.0 {
                worst = (violation, range.start);
            }
        }
        Residual { value: sum.sqrt() / (scale * unit), row: worst.1 }
    }
}

/// Squared length of r − P_K(r − û) for one law.   [CONE-5]
pub(super) fn violation(law: &Law, r: &[f64], u: &[f64]) -> f64 {
    match (law, r.len()) {
        (Law::Equality { .. }, _) => u.iter().map(|u| u * u).sum(),
        (_, 1) => violation_of::<1>(law, r, u),
        (_, 2) => violation_of::<2>(law, r, u),
        (_, 3) => violation_of::<3>(law, r, u),
        (_, 4) => violation_of::<4>(law, r, u),
        _ => violation_of::<5>(law, r, u),
    }
}

/// The same for a contact of N rows.
///
/// A component that the projection leaves alone counts as û itself: r − (r − û) would lose a velocity that is small against
/// a huge impulse, and a contact that nothing can stop would look solved.
fn violation_of<const N: usize>(law: &Law, r: &[f64], u: &[f64]) -> f64 {
    let (Some(r), Some(u)) = (r.first_chunk::<N>(), u.first_chunk::<N>()) else { return f64::INFINITY };
    let shift = law.shift(u);
    let mut moved: [f64; N] = std::array::from_fn(|k| r[k] - u[k]);
    moved[0] -= shift;
    let mut projected = moved;
    law.project(&mut projected);
    let mut sum = 0.0;
    for k in 0..N {
        let shifted = if k == 0 { u[k] + shift } else { u[k] };
        let away = if projected[k] == moved[k] { shifted } else { r[k] - projected[k] };
        sum += away * away;
    }
    sum
}
