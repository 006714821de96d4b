//! What a user can act on: is the friction cone pointed, are the forces unique, and how far may they range?
//!
//! Velocities of a frictional problem are usually unique where impulses are not: a table on four legs stands in one way
//! and carries its weight in many. These questions are convex programs over the same cones [CONE-21] [CONE-22], solved by
//! Clarabel; they are for looking at a problem, not for the inner loop.

use super::reference::{ConeProgram, dense_operator};
use super::{Delassus, FrictionProblem, FrictionSolution, Law};

/// Relative size below which a quadratic form or a velocity counts as zero in these questions. Dimensionless; Clarabel
/// leaves about 1e-10.
const ZERO: f64 = 1e-8;

/// Whether impulses can cancel inside the friction cones.
#[derive(Clone, Debug, PartialEq)]
pub enum Pointed {
    /// No admissible impulses other than zero give zero velocities: impulses are bounded by what they balance.
    Yes,
    /// These impulses, normal sum one, are admissible and move nothing: a wedged body. Impulses can grow without bound.
    No {
        /// The impulses.
        r: Vec<f64>,
    },
    /// The program was not solved.
    Unknown,
}

/// Whether the friction cone is pointed: min { rᵀ W r : r ∈ K, Σ r_N = 1 } > 0 [Anitescu2004, sec. 2.3].   [CONE-21]
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
    if quadratic(&w, &r) > ZERO * largest { Pointed::Yes } else { Pointed::No { r } }
}

/// Normal impulse of one contact over all solutions with the velocities of a given one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ForceRange {
    /// The block of the contact.
    pub block: usize,
    /// The least normal impulse, N s.
    pub least: f64,
    /// The largest normal impulse, N s.
    pub most: f64,
}

/// How unique the impulses of a solution are.
#[derive(Clone, Debug, PartialEq)]
pub struct ForceReport {
    /// The impulses of least norm among those with the same velocities.
    pub least_norm: Vec<f64>,
    /// The range of every normal impulse.
    pub ranges: Vec<ForceRange>,
}

impl ForceReport {
    /// Whether every normal impulse is determined to `tolerance` times the largest one.
    pub fn unique(&self, tolerance: f64) -> bool {
        let largest = self.ranges.iter().fold(0.0_f64, |largest, range| largest.max(range.most.abs()));
        self.ranges.iter().all(|range| range.most - range.least <= tolerance * largest)
    }
}

/// All admissible impulses with the velocities of `solution`: their least norm and the range of each normal impulse.
/// `None` when a program was not solved.   [CONE-22]
///
/// The admissible set is { r ∈ K : W r = W r*, r_i = 0 where contact i opens, r_T = −μ r_N u_T/‖u_T‖ where it slips }.
pub fn force_report<W: Delassus>(problem: &FrictionProblem<W>, solution: &FrictionSolution) -> Option<ForceReport> {
    let n = problem.rows();
    let w = dense_operator(problem);
    let (mut u, mut state) = (Vec::new(), Vec::new());
    problem.velocities(&solution.r, &mut u, &mut state);
    // The identity instead of W: the objective is the norm, or linear.
    let identity: Vec<f64> = (0..n * n).map(|k| if k / n == k % n { 1.0 } else { 0.0 }).collect();
    let (mut norm, mut linear) = (ConeProgram::new(problem, &identity), ConeProgram::new(problem, &vec![0.0; n * n]));
    for program in [&mut norm, &mut linear] {
        for i in 0..n {
            let row: Vec<(usize, f64)> = (0..n).map(|j| (j, w[i * n + j])).filter(|(_, w)| *w != 0.0).collect();
            let target = row.iter().map(|&(j, w)| w * solution.r[j]).sum();
            program.require(&row, target);
        }
        for (block, law) in problem.laws().iter().enumerate() {
            hold_regime(program, law, &u[problem.range(block)], problem.range(block).start, problem.scale());
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
        ranges.push(ForceRange { block, least: extreme(1.0)?, most: extreme(-1.0)? });
    }
    Some(ForceReport { least_norm, ranges })
}

/// Blocks of contacts and limits, with their normal rows.
fn contacts<W: Delassus>(problem: &FrictionProblem<W>) -> impl Iterator<Item = (usize, usize)> + '_ {
    let is_contact = |law: &Law| match *law {
        Law::Cone { .. } | Law::Rolling { .. } => true,
        Law::Boxed { lower, upper } => lower == 0.0 && upper == f64::INFINITY,
        Law::Equality { .. } => false,
    };
    problem.laws().iter().enumerate().filter(move |(_, law)| is_contact(law)).map(|(b, _)| (b, problem.range(b).start))
}

/// An open contact carries nothing; a slipping one has friction against the slip.
fn hold_regime(program: &mut ConeProgram, law: &Law, u: &[f64], normal: usize, scale: f64) {
    let (Law::Cone { mu, .. }, [u_n, u_t @ ..]) = (law, u) else { return };
    let speed = super::law::norm(u_t);
    if *u_n > ZERO * scale {
        (0..u.len()).for_each(|k| program.require(&[(normal + k, 1.0)], 0.0));
    } else if speed > ZERO * scale {
        for (k, u_t) in u_t.iter().enumerate() {
            program.require(&[(normal + 1 + k, 1.0), (normal, mu * u_t / speed)], 0.0);
        }
    }
}

fn quadratic(w: &[f64], r: &[f64]) -> f64 {
    let n = r.len();
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
        let Pointed::No { r } = pointed(&wedged) else { panic!("walls that press against each other cancel") };
        assert!((r[0] - 0.5).abs() < 1e-6 && (r[2] - 0.5).abs() < 1e-6, "{r:?}");
        let resting = body(&[rows([0.0, 1.0], [-0.5, -0.5]), rows([0.0, 1.0], [0.5, -0.5])], 0.5, [0.0, -0.1, 0.0]);
        assert_eq!(pointed(&resting), Pointed::Yes);
    }

    /// A table on four legs in space, weight one: each leg may carry from nothing to half of it.
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
        let laws = vec![Law::Boxed { lower: 0.0, upper: f64::INFINITY }; 4];
        let problem = FrictionProblem::new(super::super::Operator::MatrixFree(bodies), laws, vec![-1.0; 4]).unwrap();
        let solution = FrictionSolution { r: vec![0.5, 0.0, 0.0, 0.5] };
        let report = force_report(&problem, &solution).unwrap();
        assert!(report.least_norm.iter().all(|r| (r - 0.25).abs() < 1e-6), "{:?}", report.least_norm);
        assert!(!report.unique(1e-3));
        for range in &report.ranges {
            assert!(range.least.abs() < 1e-6 && (range.most - 0.5).abs() < 1e-6, "{range:?}");
        }
    }
}
