//! Diagnostics of a problem: pointedness of the friction cone, uniqueness of the impulses, and range of each normal impulse.
//!
//! Velocities of a frictional problem are usually unique while impulses are not. A table on four legs has one equilibrium and many
//! distributions of its weight. Each diagnostic is a convex program over the same cones [CONE-21] [CONE-22], solved by Clarabel.
//! They are meant for inspection of a problem, not for the inner loop.

use super::law::{Kind, norm};
use super::reference::{ConeProgram, dense_operator};
use super::{Delassus, FrictionProblem, FrictionSolution, Law};

/// Relative size below which a quadratic form or a velocity counts as zero. Dimensionless; Clarabel leaves errors of about 1e-10.
const ZERO: f64 = 1e-8;

/// Result of [`pointed`]: can admissible impulses cancel each other?
#[derive(Clone, Debug, PartialEq)]
pub enum Pointed {
    /// No r in K with a nonzero impulse at a contact or limit has W r = 0, so these impulses are bounded by the loads. Impulses of redundant
    /// joints alone are not tested; they may be unbounded.
    Yes,
    /// Nonzero admissible impulses give zero velocities, as in a wedged body. Impulses can grow without bound.
    No {
        /// Such impulses, with normal components that sum to one.
        r: Vec<f64>,
    },
    /// The cone program was not solved.
    Unknown,
}

/// Tests if the friction cone of the bodies, {H r : r ∈ K}, is pointed: min { rᵀ W r : r ∈ K, Σ r_N = 1 } > 0 [Anitescu2004, sec. 2.3].   [CONE-21]
pub fn pointed<W: Delassus>(problem: &FrictionProblem<W>) -> Pointed {
    let w = dense_operator(problem);
    let mut program = ConeProgram::new(problem, &w);
    let normals: Vec<(usize, f64)> = contacts(problem).map(|(_, normal)| (normal, 1.0)).collect();
    if normals.is_empty() {
        return Pointed::Yes;
    }
    program.require(&normals, 1.0);
    let Some(r) = program.solve(&vec![0.0; problem.rows()]) else { return Pointed::Unknown };
    let largest = (0..problem.rows()).fold(0.0_f64, |largest, i| largest.max(w[i * problem.rows() + i]));
    if quadratic_form(&w, &r) > ZERO * largest { Pointed::Yes } else { Pointed::No { r } }
}

/// Range of the (normal) impulse of one contact or one-sided limit over all solutions with the same velocities.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImpulseRange {
    /// Block of the contact or limit.
    pub block: usize,
    /// Least normal impulse, N s.
    pub least: f64,
    /// Largest normal impulse, N s.
    pub most: f64,
}

/// Uniqueness of the impulses of a solution.
#[derive(Clone, Debug, PartialEq)]
pub struct ImpulseReport {
    /// Minimum-norm impulses among those with the same velocities, N s.
    pub least_norm: Vec<f64>,
    /// Range of every normal impulse, N s.
    pub ranges: Vec<ImpulseRange>,
}

impl ImpulseReport {
    /// True if the range of every normal impulse is at most `tolerance` times the largest normal impulse.
    pub fn unique(&self, tolerance: f64) -> bool {
        let largest = self.ranges.iter().fold(0.0_f64, |largest, range| largest.max(range.most.abs()));
        self.ranges.iter().all(|range| range.most - range.least <= tolerance * largest)
    }
}

/// Finds the minimum-norm impulses with the velocities of `solution`, and the range of each normal impulse.   [CONE-22]
///
/// The admissible set is { r ∈ K : W r = W r*, r_i = 0 if contact i is open, r_T = −μ r_N u_T/‖u_T‖ if it slips }, with the compliance in W.
/// The equations of the modes are imposed on each part of the friction of a contact; bounded rows keep their whole set.
/// Returns `None` if a cone program was not solved.
pub fn impulse_report<W: Delassus>(problem: &FrictionProblem<W>, solution: &FrictionSolution) -> Option<ImpulseReport> {
    let n = problem.rows();
    let w = dense_operator(problem);
    debug_assert_eq!(solution.r.len(), n, "one impulse per row");
    let (mut u, mut state) = (Vec::new(), Vec::new());
    problem.velocities(&solution.r, &mut u, &mut state);
    // Quadratic term: the identity for the norm, zero for the linear programs.
    let identity: Vec<f64> = (0..n * n).map(|k| if k / n == k % n { 1.0 } else { 0.0 }).collect();
    let (mut norm, mut linear) = (ConeProgram::new(problem, &identity), ConeProgram::new(problem, &vec![0.0; n * n]));
    for program in [&mut norm, &mut linear] {
        for i in 0..n {
            let row: Vec<(usize, f64)> = (0..n).map(|j| (j, w[i * n + j])).filter(|(_, w)| *w != 0.0).collect();
            let target = row.iter().map(|&(j, w)| w * solution.r[j]).sum();
            program.require(&row, target);
        }
        for (block, law) in problem.laws().iter().enumerate() {
            require_mode(program, law, &u[problem.range(block)], problem.range(block).start, problem.scale());
        }
    }
    let least_norm = norm.solve(&vec![0.0; n])?;
    let mut objective = vec![0.0; n];
    let mut ranges = Vec::new();
    for (block, normal) in contacts(problem) {
        let mut extreme = |sign: f64| {
            objective[normal] = sign;
            let r = linear.solve(&objective);
            objective[normal] = 0.0;
            r.map(|r| r[normal])
        };
        ranges.push(ImpulseRange { block, least: extreme(1.0)?, most: extreme(-1.0)? });
    }
    Some(ImpulseReport { least_norm, ranges })
}

/// Blocks of contacts and limits with their normal rows.
fn contacts<W: Delassus>(problem: &FrictionProblem<W>) -> impl Iterator<Item = (usize, usize)> + '_ {
    let is_contact = |law: &Law| match law.kind() {
        Kind::Contact(_) => true,
        Kind::Bounded { lower, upper } => lower == 0.0 && upper == f64::INFINITY,
        Kind::Equality => false,
    };
    problem.laws().iter().enumerate().filter(move |(_, law)| is_contact(law)).map(|(b, _)| (b, problem.range(b).start))
}

/// Adds the equations of the contact mode: zero impulse if open, friction opposite to the slip if slipping.
fn require_mode(program: &mut ConeProgram, law: &Law, u: &[f64], normal: usize, scale: f64) {
    let (Kind::Contact(parts), [u_n, ..]) = (law.kind(), u) else { return };
    if *u_n > ZERO * scale {
        return (0..u.len()).for_each(|k| program.require(&[(normal + k, 1.0)], 0.0));
    }
    for part in parts.iter() {
        let speed = norm(&u[part.range()]);
        for k in part.range().filter(|_| speed > ZERO * scale) {
            program.require(&[(normal + k, 1.0), (normal, part.mu * u[k] / speed)], 0.0);
        }
    }
}

/// rᵀ W r.
fn quadratic_form(w: &[f64], r: &[f64]) -> f64 {
    let n = r.len();
    debug_assert_eq!(w.len(), n * n, "W is square");
    (0..n).map(|i| r[i] * (0..n).map(|j| w[i * n + j] * r[j]).sum::<f64>()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::friction::Bodies;
    use crate::linalg::BlockMatrix;

    /// Normal and one tangential row at a point of a planar body: columns vx, vy, ω.
    fn rows(normal: [f64; 2], arm: [f64; 2]) -> [f64; 6] {
        let tangent = [-normal[1], normal[0]];
        let turn = |d: [f64; 2]| arm[0] * d[1] - arm[1] * d[0];
        [normal[0], normal[1], turn(normal), tangent[0], tangent[1], turn(tangent)]
    }

    fn body(contacts: &[[f64; 6]], mu: f64, free: [f64; 3]) -> FrictionProblem {
        let mut jacobian = BlockMatrix::default();
        jacobian.clear(contacts.iter().map(|_| 2), [3]);
        let mut q = Vec::new();
        for block in contacts {
            jacobian.push(0, block);
            jacobian.finish_row();
            q.extend(block.chunks_exact(3).map(|row| row.iter().zip(free).map(|(a, v)| a * v).sum::<f64>()));
        }
        let bodies = Bodies::new(jacobian, vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.1]).unwrap();
        let laws = vec![Law::Cone { rows: 2, mu }; contacts.len()];
        FrictionProblem::new(super::super::Operator::MatrixFree(bodies), laws, q).unwrap()
    }

    #[test]
    fn a_slider_between_two_walls_is_wedged_and_a_box_on_the_floor_is_not() {
        let wedged = body(&[rows([1.0, 0.0], [-0.1, 0.0]), rows([-1.0, 0.0], [0.1, 0.0])], 0.5, [0.0, -0.1, 0.0]);
        let Pointed::No { r } = pointed(&wedged) else { panic!("impulses of opposite walls cancel") };
        assert!((r[0] - 0.5).abs() < 1e-6 && (r[2] - 0.5).abs() < 1e-6, "{r:?}");
        let resting = body(&[rows([0.0, 1.0], [-0.5, -0.5]), rows([0.0, 1.0], [0.5, -0.5])], 0.5, [0.0, -0.1, 0.0]);
        assert_eq!(pointed(&resting), Pointed::Yes);
    }

    /// Table of unit weight on four legs in space: the force of each leg ranges from zero to one half.
    #[test]
    fn a_table_on_four_legs_carries_its_weight_in_many_ways() {
        let legs = [[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]];
        let mut jacobian = BlockMatrix::default();
        jacobian.clear([1; 4], [3]);
        for [x, y] in legs {
            // Vertical velocity of a leg: vz + ωx y − ωy x.
            jacobian.push(0, &[1.0, y, -x]);
            jacobian.finish_row();
        }
        let bodies = Bodies::new(jacobian, vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]).unwrap();
        let laws = vec![Law::Bounded { lower: 0.0, upper: f64::INFINITY }; 4];
        let problem = FrictionProblem::new(super::super::Operator::MatrixFree(bodies), laws, vec![-1.0; 4]).unwrap();
        let solution = FrictionSolution { r: vec![0.5, 0.0, 0.0, 0.5] };
        let report = impulse_report(&problem, &solution).unwrap();
        assert!(report.least_norm.iter().all(|r| (r - 0.25).abs() < 1e-6), "{:?}", report.least_norm);
        assert!(!report.unique(1e-3));
        for range in &report.ranges {
            assert!(range.least.abs() < 1e-6 && (range.most - 0.5).abs() < 1e-6, "{range:?}");
        }
    }
}
