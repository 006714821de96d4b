//! Problems with the structure of frictional contact: copositive, degenerate, with dependent rows.
//!
//! Unknowns are the velocity u and z = (normal impulses, impulses along directions, slip bounds), and the rows are
//! −M u + Jᵀ p + M v = 0, w = (N u, D u + E σ, μ p_n − Eᵀ p_f).

use crate::generate::{Seed, distance, lemke, product, transpose};
use std::f64::consts::FRAC_1_SQRT_2 as S;
use stiction_complementarity::{
    DenseMatrix, Lcp, LcpEnumeration, LcpLemke, MixedLcp, MixedLcpSchur, MixedLcpSolution, Solver, SparseMatrix,
    Status, Tolerance, solve,
};

pub(crate) const EIGHT: [[f64; 2]; 8] =
    [[1.0, 0.0], [S, S], [0.0, 1.0], [-S, S], [-1.0, 0.0], [-S, -S], [0.0, -1.0], [S, -S]];

/// Contact rows over free bodies with a diagonal mass matrix.
pub(crate) struct Scene {
    pub(crate) mass: Vec<f64>,
    pub(crate) velocity: Vec<f64>,
    /// Per contact: the normal row, then the direction rows, as dense rows of J.
    pub(crate) contacts: Vec<Vec<Vec<f64>>>,
    pub(crate) mu: f64,
}

impl Scene {
    fn directions(&self) -> usize {
        self.contacts.first().map_or(0, |rows| rows.len() - 1)
    }

    /// z is ordered contact by contact: normal, directions, slip bound.
    pub(crate) fn mixed(&self) -> MixedLcp {
        let per = self.directions() + 2;
        let (nu, nz) = (self.mass.len(), self.contacts.len() * per);
        let mut problem = MixedLcp::default();
        problem.clear(nu, nz);
        let (equality, pairs) = (&mut problem.equality, &mut problem.complementarity);
        for k in 0..nu {
            equality.on_free.push(k, -self.mass[k]);
            equality.on_free.finish_row();
            equality.constant[k] = self.mass[k] * self.velocity[k];
            for (c, rows) in self.contacts.iter().enumerate() {
                for (r, row) in rows.iter().enumerate().filter(|(_, row)| row[k] != 0.0) {
                    equality.on_complementary.push(c * per + r, row[k]);
                }
            }
            equality.on_complementary.finish_row();
        }
        for (c, rows) in self.contacts.iter().enumerate() {
            let slip = c * per + per - 1;
            for (r, row) in rows.iter().enumerate() {
                push_dense(&mut pairs.on_free, row);
                if r > 0 {
                    pairs.on_complementary.push(slip, 1.0);
                }
                pairs.on_complementary.finish_row();
            }
            pairs.on_free.finish_row();
            pairs.on_complementary.push(c * per, self.mu);
            (1..per - 1).for_each(|r| pairs.on_complementary.push(c * per + r, -1.0));
            pairs.on_complementary.finish_row();
        }
        problem
    }

    /// The same problem with the velocity eliminated in closed form: u = v + M⁻¹ Jᵀ p.
    pub(crate) fn lcp(&self) -> Lcp {
        let per = self.directions() + 2;
        let nz = self.contacts.len() * per;
        let mut j = DenseMatrix::zeros(nz, self.mass.len());
        for (c, rows) in self.contacts.iter().enumerate() {
            for (r, row) in rows.iter().enumerate() {
                j.row_mut(c * per + r).copy_from_slice(row);
            }
        }
        let mut by_mass = transpose(&j);
        for (k, mass) in self.mass.iter().enumerate() {
            by_mass.row_mut(k).iter_mut().for_each(|x| *x /= mass);
        }
        let mut m = product(&j, &by_mass);
        for c in 0..self.contacts.len() {
            let slip = c * per + per - 1;
            for r in 1..per - 1 {
                m[(c * per + r, slip)] = 1.0;
                m[(slip, c * per + r)] = -1.0;
            }
            m[(slip, c * per)] = self.mu;
        }
        let mut q = vec![0.0; nz];
        j.mul_add_into(&self.velocity, &mut q);
        Lcp::new(m, q).unwrap()
    }

    /// Adds a contact of body `a` at arm `arm_a` against body `b` (or the ground) with an upright tangent basis.
    fn touch(&mut self, a: (usize, [f64; 3]), b: Option<(usize, [f64; 3])>, axes: [[f64; 3]; 3]) {
        let along = |axis: [f64; 3]| {
            let mut row = vec![0.0; self.mass.len()];
            for (body, arm, sign) in
                [Some((a.0, a.1, 1.0)), b.map(|(body, arm)| (body, arm, -1.0))].into_iter().flatten()
            {
                let moment = cross(arm, axis);
                for k in 0..3 {
                    row[6 * body + k] += sign * axis[k];
                    row[6 * body + 3 + k] += sign * moment[k];
                }
            }
            row
        };
        let [normal, t1, t2] = axes;
        let mut rows = vec![along(normal)];
        rows.extend(EIGHT.map(|[c, s]| along([0, 1, 2].map(|k| c * t1[k] + s * t2[k]))));
        self.contacts.push(rows);
    }
}

fn push_dense(matrix: &mut SparseMatrix, row: &[f64]) {
    for (k, &value) in row.iter().enumerate().filter(|(_, value)| **value != 0.0) {
        matrix.push(k, value);
    }
    matrix.finish_row();
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

const UPRIGHT: [[f64; 3]; 3] = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];

/// A box standing on its four lower corners: 4 coplanar contacts, 40 rows, rank 6.
pub(crate) fn standing_box(velocity: [f64; 6]) -> Scene {
    let mut scene =
        Scene { mass: vec![2.0, 2.0, 2.0, 0.3, 0.4, 0.5], velocity: velocity.to_vec(), contacts: vec![], mu: 0.5 };
    for (x, y) in [(0.3, 0.2), (-0.3, 0.2), (-0.3, -0.2), (0.3, -0.2)] {
        scene.touch((0, [x, y, -0.1]), None, UPRIGHT);
    }
    scene
}

/// Four balls in a row on the ground: 7 contacts, 70 rows.
pub(crate) fn four_balls(seed: &mut Seed) -> Scene {
    let mass = [1.0, 1.0, 1.0, 0.004, 0.004, 0.004].repeat(4);
    let velocity = seed.vector(24).iter().map(|v| 0.3 * v - 0.05).collect();
    let mut scene = Scene { mass, velocity, contacts: vec![], mu: 0.4 };
    for body in 0..4 {
        scene.touch((body, [0.0, 0.0, -0.1]), None, UPRIGHT);
    }
    for body in 0..3 {
        let axes = [[-1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        scene.touch((body, [0.1, 0.0, 0.0]), Some((body + 1, [-0.1, 0.0, 0.0])), axes);
    }
    scene
}

fn solve_mixed(problem: &MixedLcp) -> (Status, f64, MixedLcpSolution) {
    let mut solution = MixedLcpSolution::default();
    let mut method = MixedLcpSchur::new(LcpLemke::new());
    let outcome = solve(&mut method, problem, None, &mut solution, &Tolerance::default());
    let (status, residual) = (outcome.status, outcome.residual.value);
    (status, residual, solution)
}

#[test]
fn a_standing_box_stands_still_to_round_off() {
    for velocity in [
        [0.0, 0.0, -0.0981, 0.0, 0.0, 0.0],
        [0.01, -0.02, -0.0981, 0.0, 0.0, 0.0],
        [0.01, 0.001, -0.0981, 0.01, -0.02, 0.02],
    ] {
        let (status, residual, solution) = solve_mixed(&standing_box(velocity).mixed());
        assert_eq!(status, Status::Solved);
        assert!(residual <= 1e-16, "residual {residual:e}");
        assert!(distance(&solution.free, &[0.0; 6]) <= 1e-16, "{:?}", solution.free);
    }
}

#[test]
fn a_fast_box_slides_by_coulomb() {
    let (status, _, solution) = solve_mixed(&standing_box([1.0, 0.0, -0.0981, 0.0, 0.0, 0.0]).mixed());
    assert_eq!(status, Status::Solved);
    // The friction acts 0.1 under the centre; the normal impulses balance its moment, so the box does not tip.
    assert!(distance(&solution.free, &[1.0 - 0.5 * 0.0981, 0.0, 0.0, 0.0, 0.0, 0.0]) <= 1e-15, "{:?}", solution.free);
}

#[test]
fn random_states_of_the_box_and_the_balls_are_solved_to_round_off() {
    let mut seed = Seed(11);
    let mut worst = 0.0_f64;
    for trial in 0..300 {
        let scene =
            if trial % 2 == 0 { standing_box(std::array::from_fn(|_| seed.real())) } else { four_balls(&mut seed) };
        let problem = scene.lcp();
        let outcome = lemke(&problem);
        assert_eq!(outcome.status, Status::Solved, "trial {trial}: {:?}", outcome.residual);
        assert!(outcome.iterations <= 2 * problem.size() as u32, "trial {trial}: {} pivots", outcome.iterations);
        worst = worst.max(outcome.residual.value);
    }
    assert!(worst <= 1e-14, "worst residual {worst:e}");
}

#[test]
fn resting_balls_are_solved_whatever_the_ties() {
    // All balls fall with the same speed and touch: every ratio test ties.
    let mut seed = Seed(12);
    let mut scene = four_balls(&mut seed);
    scene.velocity = [0.0, 0.0, -0.0981, 0.0, 0.0, 0.0].repeat(4);
    let (status, residual, solution) = solve_mixed(&scene.mixed());
    assert_eq!(status, Status::Solved);
    assert!(residual <= 1e-16);
    assert!(distance(&solution.free, &[0.0; 24]) <= 1e-16);
}

#[test]
fn units_do_not_matter() {
    for (mass_scale, velocity_scale) in [(1e-6, 1e3), (1e6, 1e-3), (1e3, 1e-6), (1.0, 1e-12)] {
        let mut scene = standing_box([0.02 * velocity_scale, 0.0, -0.0981 * velocity_scale, 0.0, 0.0, 0.0]);
        scene.mass.iter_mut().for_each(|mass| *mass *= mass_scale);
        let (status, _, solution) = solve_mixed(&scene.mixed());
        assert_eq!(status, Status::Solved, "{mass_scale:e} {velocity_scale:e}");
        assert!(distance(&solution.free, &[0.0; 6]) <= 1e-15 * velocity_scale, "{:?}", solution.free);
    }
}

/// Planar bodies with few contacts, small enough to enumerate; `seed` selects repeated rows.
fn planar(seed: &mut Seed) -> Scene {
    let mut scene =
        Scene { mass: vec![1.0, 1.0, 0.1 + seed.real().abs()], velocity: seed.vector(3), contacts: vec![], mu: 0.4 };
    let count = 1 + seed.below(3);
    let arm = seed.real();
    for c in 0..count {
        // Every third scene repeats a contact, every other one mirrors it.
        let x = if seed.below(3) == 0 { arm } else { arm * if c == 0 { 1.0 } else { -1.0 } };
        let tangent = vec![1.0, 0.0, 0.5];
        scene.contacts.push(vec![vec![0.0, 1.0, x], tangent.clone(), tangent.iter().map(|t| -t).collect()]);
    }
    scene
}

#[test]
fn planar_contacts_agree_with_enumeration() {
    let mut seed = Seed(13);
    for trial in 0..200 {
        let scene = planar(&mut seed);
        let problem = scene.lcp();
        let outcome = lemke(&problem);
        let all = LcpEnumeration::new().all(&problem).unwrap();
        assert!(!all.solutions.is_empty(), "trial {trial}");
        assert_eq!(outcome.status, Status::Solved, "trial {trial}: {:?}", outcome.residual);
        assert!(outcome.residual.value <= 1e-14, "trial {trial}: {:?}", outcome.residual);
        let normal_velocity = |z: &[f64]| problem.w(0, z);
        let near = |w: f64| (w - normal_velocity(&outcome.solution.z)).abs() <= 1e-9;
        assert!(all.solutions.iter().any(|known| near(normal_velocity(&known.z))), "trial {trial}");
    }
}

#[test]
fn eliminating_by_the_solver_or_by_hand_gives_the_same_problem() {
    let mut seed = Seed(14);
    let scene = four_balls(&mut seed);
    let mut method = MixedLcpSchur::new(LcpLemke::new());
    let _ = method.run(&scene.mixed(), None, &mut MixedLcpSolution::default());
    let by_hand = scene.lcp();
    assert!(distance(method.reduced().m().as_slice(), by_hand.m().as_slice()) <= 1e-14);
    assert!(distance(method.reduced().q(), by_hand.q()) <= 1e-15);
}
