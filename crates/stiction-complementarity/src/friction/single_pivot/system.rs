//! The equations of the present modes, as a dense system over the blocks that are not at a bound.   [SET-4]

use super::modes::{Drive, Driven, Mode};
use crate::friction::operator::Delassus;
use crate::friction::{FrictionProblem, Law};
use crate::linalg::{DenseLu, dot};

/// Added to the diagonal, relative to that of W: where impulses are open, the step along them is as long as the velocities contradict
/// each other, times the inverse of this.
const PROXIMAL: f64 = 1e-11;

#[derive(Clone, Debug, Default)]
pub(super) struct System {
    /// W + diag c, row by row, and the mean of its diagonal.
    w: Vec<f64>,
    mean: f64,
    /// Rows of the problem that are unknowns.
    active: Vec<usize>,
    matrix: Vec<f64>,
    right_side: Vec<f64>,
    solution: Vec<f64>,
    lu: DenseLu,
}

impl System {
    /// Takes over W; false where the operator cannot tell it.
    pub(super) fn load(&mut self, problem: &FrictionProblem) -> bool {
        let n = problem.rows();
        self.w.clear();
        self.w.resize(n * n, 0.0);
        if !problem.operator().explicit(&mut self.w) {
            return false;
        }
        for (row, c) in problem.compliance().iter().enumerate() {
            self.w[row * (n + 1)] += c;
        }
        self.mean = self.w.iter().step_by(n + 1).sum::<f64>() / n.max(1) as f64;
        self.mean > 0.0
    }

    /// The step of all impulses: u = 0 where blocks stick; u_N = 0, r_T on the boundary and u_T along it where they slip; zero
    /// where they are at a bound. With a driven block it is the step per unit of the drive that changes nothing of this. False when the
    /// system is singular.
    pub(super) fn solve(
        &mut self,
        problem: &FrictionProblem,
        modes: &[Mode],
        (r, u): (&[f64], &[f64]),
        driven: Option<&Driven>,
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
        self.right_side.clear();
        let (mut first, mut driven_at) = (0, None);
        for (block, mode) in modes.iter().enumerate() {
            let range = problem.range(block);
            let (law, r, u) = (&problem.laws()[block], &r[range.clone()], &u[range.clone()]);
            match mode {
                Mode::Open | Mode::Upper => continue,
                _ if driven.is_some_and(|driven| driven.block == block) => driven_at = Some((first, range.len() - 1)),
                _ => {}
            }
            match mode {
                Mode::Open | Mode::Upper => {}
                Mode::Stick => {
                    range.clone().for_each(|row| self.copy_row(row, first + row - range.start, n));
                    self.right_side.extend(u.iter().map(|u| -u));
                }
                Mode::Slip(e) => self.slip_rows(law, (range.start, first), n, (r, u, e)),
            }
            first += range.len();
        }
        for (k, row) in self.active.iter().enumerate() {
            self.matrix[k * (size + 1)] += PROXIMAL * self.w[row * (n + 1)].max(self.mean);
        }
        if let (Some(driven), Some(first)) = (driven, driven_at) {
            self.joint_space_rows(&driven.drive, first);
        }
        let matrix = &self.matrix;
        if self.lu.factor(size, |target| target.copy_from_slice(matrix)).is_err() {
            return false;
        }
        self.solution.clear();
        self.solution.resize(size, 0.0);
        self.lu.solve(&self.right_side, &mut self.solution);
        self.active.iter().zip(&self.solution).for_each(|(&row, x)| step[row] = *x);
        self.solution.iter().all(|x| x.is_finite())
    }

    /// The right side of a drive: nothing changes but, at unit rate, what is driven.
    fn joint_space_rows(&mut self, drive: &Drive, (first, tangents): (usize, usize)) {
        let size = self.active.len();
        self.right_side.fill(0.0);
        match drive {
            Drive::Close(_) | Drive::Lower => {
                self.matrix[first * size..(first + 1) * size].fill(0.0);
                self.matrix[first * (size + 1)] = self.mean;
                self.right_side[first] = if *drive == Drive::Lower { -self.mean } else { self.mean };
            }
            Drive::Hold(e) => {
                let rows = self.right_side[first + 1..].iter_mut().zip(e);
                rows.take(tangents).for_each(|(right_side, e)| *right_side = self.mean * e);
            }
        }
    }

    /// Row `row` of W, for the unknowns, as row `to` of the matrix.
    fn copy_row(&mut self, row: usize, to: usize, n: usize) {
        let size = self.active.len();
        let target = &mut self.matrix[to * size..(to + 1) * size];
        target.iter_mut().zip(&self.active).for_each(|(target, &column)| *target = self.w[row * n + column]);
    }

    /// u_N + (W δr)_N = 0, and e eᵀ (δr_T + μ e δr_N) w + P (u_T + (W δr)_T + λ δr_T) = 0 with P = I − e eᵀ, λ = e·u_T/(μ r_N), not
    /// less than 0; where r_N = 0 there is no direction to turn, and δr_T = −μ e δr_N.
    fn slip_rows(&mut self, law: &Law, (row, first): (usize, usize), n: usize, (r, u, e): (&[f64], &[f64], &[f64])) {
        let size = self.active.len();
        let Law::Cone { mu, .. } = *law else { return };
        let d = r.len() - 1;
        let e = &e[..d];
        (0..=d).for_each(|k| self.copy_row(row + k, first + k, n));
        let (limit, speed) = (mu * r[0], dot(e, &u[1..]));
        let lambda = if limit > 0.0 { speed.max(0.0) / limit } else { 0.0 };
        // P (W δr)_T: take the part along e out of the tangential rows, column by column.
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
        let frozen = limit <= 0.0;
        for k in 0..d {
            let target = &mut self.matrix[(first + 1 + k) * size..(first + 2 + k) * size];
            if frozen {
                // No impulse, no direction to turn.
                target.fill(0.0);
                target[first + 1 + k] = self.mean;
                target[first] = self.mean * mu * e[k];
                continue;
            }
            target[first] += self.mean * mu * e[k];
            for l in 0..d {
                let projector = f64::from(u8::from(k == l)) - e[k] * e[l];
                target[first + 1 + l] += self.mean * e[k] * e[l] + lambda * projector;
            }
        }
        self.right_side.push(-u[0]);
        self.right_side.extend((0..d).map(|k| if frozen { 0.0 } else { -(u[1 + k] - speed * e[k]) }));
    }
}
