//! Equations of the present modes: a dense system over the blocks that are not at a bound.   [SET-4]

use super::modes::{Driving, DrivingBlock, Mode};
use crate::friction::law::Kind;
use crate::friction::operator::Delassus;
use crate::friction::{FrictionProblem, Law};
use crate::linalg::{DenseLu, dot};

/// Proximal term on the diagonal, relative to that of W + diag c, or to its mean if that is larger. Along undetermined impulses the step is the violation
/// of the velocities divided by this term.
const PROXIMAL: f64 = 1e-11;

/// Linear system of a step with fixed modes.
#[derive(Clone, Debug, Default)]
pub(super) struct System {
    /// W + diag c, row by row.
    w: Vec<f64>,
    /// Mean diagonal entry of W + diag c.
    mean_diagonal: f64,
    /// Rows of the problem that are unknowns.
    active: Vec<usize>,
    matrix: Vec<f64>,
    right_hand_side: Vec<f64>,
    solution: Vec<f64>,
    lu: DenseLu,
}

impl System {
    /// Assembles W + diag c; returns false if the operator cannot be assembled or its trace is not positive.
    pub(super) fn load(&mut self, problem: &FrictionProblem) -> bool {
        let n = problem.rows();
        self.w.clear();
        self.w.resize(n * n, 0.0);
        if !problem.operator().assemble(&mut self.w) {
            return false;
        }
        for (row, c) in problem.compliance().iter().enumerate() {
            self.w[row * (n + 1)] += c;
        }
        self.mean_diagonal = self.w.iter().step_by(n + 1).sum::<f64>() / n.max(1) as f64;
        self.mean_diagonal > 0.0
    }

    /// Solves for the step of all impulses; returns false if the system is singular.
    ///
    /// It leads to u = 0 in sticking blocks. In slipping ones it leads to u_N = 0, to r_T on the boundary of the cone and, to first order, to u_T
    /// opposite to r_T. It is zero for blocks at a bound. With a driving block it is the step per unit of the driving variable that keeps all other equations.
    pub(super) fn solve(
        &mut self,
        problem: &FrictionProblem,
        modes: &[Mode],
        (r, u): (&[f64], &[f64]),
        driving: Option<&DrivingBlock>,
        step: &mut Vec<f64>,
    ) -> bool {
        let n = problem.rows();
        step.clear();
        step.resize(n, 0.0);
        self.active.clear();
        let closed = modes.iter().enumerate().filter(|(_, mode)| matches!(mode, Mode::Stick | Mode::Slip(_)));
        self.active.extend(closed.flat_map(|(block, _)| problem.range(block)));
        let size = self.active.len();
        if size == 0 {
            return true;
        }
        self.matrix.clear();
        self.matrix.resize(size * size, 0.0);
        self.right_hand_side.clear();
        let (mut first, mut driving_rows) = (0, None);
        for (block, mode) in modes.iter().enumerate() {
            let range = problem.range(block);
            let (law, r, u) = (&problem.laws()[block], &r[range.clone()], &u[range.clone()]);
            match mode {
                Mode::Open | Mode::Upper => continue,
                _ if driving.is_some_and(|driving| driving.block == block) => {
                    driving_rows = Some((first, range.len() - 1));
                }
                _ => {}
            }
            match mode {
                Mode::Open | Mode::Upper => {}
                Mode::Stick => {
                    range.clone().for_each(|row| self.copy_row(row, first + row - range.start, n));
                    self.right_hand_side.extend(u.iter().map(|u| -u));
                }
                Mode::Slip(e) => self.write_slip_rows(law, (range.start, first), n, (r, u, e)),
            }
            first += range.len();
        }
        debug_assert!(first == size && self.right_hand_side.len() == size, "the rows of all active blocks are filled");
        for (k, row) in self.active.iter().enumerate() {
            self.matrix[k * (size + 1)] += PROXIMAL * self.w[row * (n + 1)].max(self.mean_diagonal);
        }
        debug_assert_eq!(driving.is_some(), driving_rows.is_some(), "the driving block is not at a bound");
        if let (Some(driving), Some(rows)) = (driving, driving_rows) {
            self.write_driving_rows(&driving.variable, rows);
        }
        let matrix = &self.matrix;
        if self.lu.factor(size, |target| target.copy_from_slice(matrix)).is_err() {
            return false;
        }
        self.solution.clear();
        self.solution.resize(size, 0.0);
        self.lu.solve(&self.right_hand_side, &mut self.solution);
        self.active.iter().zip(&self.solution).for_each(|(&row, x)| step[row] = *x);
        self.solution.iter().all(|x| x.is_finite())
    }

    /// Replaces the right-hand side, and for a bound the first row of the driving block: the driving variable increases at unit rate, all other equations
    /// are kept.   [SET-5]
    fn write_driving_rows(&mut self, variable: &Driving, (first, tangents): (usize, usize)) {
        let size = self.active.len();
        self.right_hand_side.fill(0.0);
        match variable {
            Driving::LowerBound(_) | Driving::UpperBound => {
                self.matrix[first * size..(first + 1) * size].fill(0.0);
                self.matrix[first * (size + 1)] = self.mean_diagonal;
                self.right_hand_side[first] =
                    if *variable == Driving::UpperBound { -self.mean_diagonal } else { self.mean_diagonal };
            }
            Driving::Slip(e) => {
                let rows = self.right_hand_side[first + 1..].iter_mut().zip(e);
                rows.take(tangents).for_each(|(right_hand_side, e)| *right_hand_side = self.mean_diagonal * e);
            }
        }
    }

    /// Copies row `row` of W, restricted to the unknowns, to row `to` of the matrix.
    fn copy_row(&mut self, row: usize, to: usize, n: usize) {
        let size = self.active.len();
        let target = &mut self.matrix[to * size..(to + 1) * size];
        target.iter_mut().zip(&self.active).for_each(|(target, &column)| *target = self.w[row * n + column]);
    }

    /// Writes the rows of a slipping contact: u_N + (W δr)_N = 0 and e eᵀ (δr_T + μ e δr_N) w + P (u_T + (W δr)_T + λ δr_T) = 0.
    ///
    /// Here P = I − e eᵀ, λ = max(0, e·u_T/(μ r_N)), and the mean diagonal w of W + diag c gives both terms the same unit. If
    /// r_N = 0, the slip direction does not rotate and δr_T = −μ e δr_N.
    fn write_slip_rows(
        &mut self,
        law: &Law,
        (row, first): (usize, usize),
        n: usize,
        (r, u, e): (&[f64], &[f64], &[f64]),
    ) {
        let size = self.active.len();
        let Kind::Contact(parts) = law.kind() else {
            debug_assert!(false, "only contacts with friction slip");
            return;
        };
        let mu = parts.mu();
        let d = r.len() - 1;
        let e = &e[..d];
        (0..=d).for_each(|k| self.copy_row(row + k, first + k, n));
        let (limit, speed) = (mu * r[0], dot(e, &u[1..]));
        let lambda = if limit > 0.0 { speed.max(0.0) / limit } else { 0.0 };
        // P (W δr)_T: the component along e is subtracted from the tangential rows, column by column.
        let tangential = &mut self.matrix[(first + 1) * size..(first + 1 + d) * size];
        if let ([e0, e1], (first, second)) = (e, tangential.split_at_mut(size)) {
            for (a, b) in first.iter_mut().zip(second) {
                let along = e0 * *a + e1 * *b;
                (*a, *b) = (*a - along * e0, *b - along * e1);
            }
        } else {
            for column in 0..size {
                let along: f64 = (0..d).map(|k| e[k] * tangential[k * size + column]).sum();
                (0..d).for_each(|k| tangential[k * size + column] -= along * e[k]);
            }
        }
        let no_rotation = limit <= 0.0;
        for k in 0..d {
            let target = &mut self.matrix[(first + 1 + k) * size..(first + 2 + k) * size];
            if no_rotation {
                // Without impulse there is no slip direction to rotate.
                target.fill(0.0);
                target[first + 1 + k] = self.mean_diagonal;
                target[first] = self.mean_diagonal * mu * e[k];
                continue;
            }
            target[first] += self.mean_diagonal * mu * e[k];
            for l in 0..d {
                let projector = f64::from(u8::from(k == l)) - e[k] * e[l];
                target[first + 1 + l] += self.mean_diagonal * e[k] * e[l] + lambda * projector;
            }
        }
        self.right_hand_side.push(-u[0]);
        self.right_hand_side.extend((0..d).map(|k| if no_rotation { 0.0 } else { -(u[1 + k] - speed * e[k]) }));
    }
}
