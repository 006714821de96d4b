//! Mehrotra's initial iterate (start): impulses of a Tikhonov-regularised problem without cones, translated into the cones.   [CONE-12]

use super::cones::{Row, mean_diagonals};
use super::step::START_ACCURACY;
use super::{FrictionInteriorPoint, FrictionProblem, InteriorPointFailure, soc};
use crate::friction::law::norm;

impl FrictionInteriorPoint {
    /// Computes the initial iterate: a point inside all cones and close to the impulses of the regularised problem without cones.
    ///
    /// `tikhonov_weight` is the weight of the Tikhonov regularisation, as a fraction of trace(W_ii)/rows.
    pub(super) fn find_initial_iterate(
        &mut self,
        problem: &FrictionProblem,
        tikhonov_weight: f64,
    ) -> Result<(), InteriorPointFailure> {
        mean_diagonals(problem, &mut self.right_hand_side, &mut self.mean_diagonals);
        self.linearised_laws
            .set_regularisation(problem, &self.cones, tikhonov_weight, &self.mean_diagonals)
            .map_err(|singular| self.linearised_laws.failure(singular, 0))?;
        let factored = self.system.factor(problem, &self.cones, &self.linearised_laws);
        factored.map_err(|singular| InteriorPointFailure::Singular { iteration: 0, row: singular.row })?;

        let prescribed = self.cones.rows.iter().map(|row| if let Row::Prescribed(value) = row { *value } else { 0.0 });
        self.point.r.clear();
        self.point.r.extend(prescribed);
        self.point.y.clear();
        self.point.refresh(problem, &self.cones, &mut self.state);
        self.right_hand_side.clear();
        self.right_hand_side.extend(self.point.infeasibility.iter().map(|u| -u));
        let tolerance = START_ACCURACY * norm(&self.right_hand_side);
        let laws = (&self.cones, &self.linearised_laws);
        self.system.solve(problem, laws, (&self.right_hand_side, tolerance), &mut self.direction.r);
        self.point.r.iter_mut().zip(&self.direction.r).for_each(|(r, d)| *r += d);
        self.translate_into_cones(problem);
        Ok(())
    }

    /// Translates the vectors into the cones: x ← x + δ e/√w and y ← y + ε √w e.
    ///
    /// Two translations follow each other. In the first δ and ε are 1.5 times the least ones that move all vectors into their cones. In the
    /// second δ = ½ Σ xᵀy / Σ y₀/√w and ε = ½ Σ xᵀy / Σ x₀ √w, with sums over the cones. w is the mean diagonal of W in the block, so that
    /// heavy and light bodies are translated alike and xᵀy does not depend on mass. The dual vectors belong to the velocities of the
    /// translated impulses, so a large primal translation leads to a large dual one.
    fn translate_into_cones(&mut self, problem: &FrictionProblem) {
        self.point.refresh(problem, &self.cones, &mut self.state);
        let distance = self.largest_distance(&self.point.x, f64::sqrt);
        self.translate((1.5 * distance, 0.0));
        self.point.refresh(problem, &self.cones, &mut self.state);
        self.point.y.extend(self.cones.list.iter().map(|cone| cone.dual(&self.point.u)));
        let distance = self.largest_distance(&self.point.y, |w| 1.0 / w.sqrt());
        self.translate((0.0, 1.5 * distance));
        debug_assert!(
            self.point.x.len() == self.cones.list.len() && self.point.y.len() == self.cones.list.len(),
            "one primal and one dual vector per cone"
        );
        let (mut sum, mut sum_x, mut sum_y) = (0.0, 0.0, 0.0);
        for ((cone, x), y) in self.cones.list.iter().zip(&self.point.x).zip(&self.point.y) {
            let root = self.mean_diagonals[cone.block].sqrt();
            sum += soc::dot(x, y);
            sum_x += x[0] * root;
            sum_y += y[0] / root;
        }
        let mean_translation = |total: f64| if total > 0.0 { 0.5 * sum / total } else { 0.0 };
        self.translate((mean_translation(sum_y), mean_translation(sum_x)));
        self.point.refresh(problem, &self.cones, &mut self.state);
    }

    /// Largest violation −(x₀ − ‖x_T‖) of a cone by its point, times a function of w; zero if all points are inside.
    fn largest_distance(&self, points: &[soc::Vector], weight: impl Fn(f64) -> f64) -> f64 {
        debug_assert_eq!(points.len(), self.cones.list.len(), "one point per cone");
        let eigenvalues = self
            .cones
            .list
            .iter()
            .zip(points)
            .map(|(cone, x)| weight(self.mean_diagonals[cone.block]) * soc::smaller_eigenvalue(x));
        eigenvalues.fold(0.0, |largest, eigenvalue| f64::max(largest, -eigenvalue))
    }

    /// Translates all primal and dual vectors by these amounts, weighted by w. Before the dual vectors are known only the primal ones.
    fn translate(&mut self, (primal, dual): (f64, f64)) {
        for (k, cone) in self.cones.list.iter().enumerate() {
            let root = self.mean_diagonals[cone.block].sqrt();
            cone.translate_normal(primal / root, &mut self.point.r);
            if let Some(x) = self.point.x.get_mut(k) {
                *x = cone.vector(&self.point.r);
            }
            if let Some(y) = self.point.y.get_mut(k) {
                y[0] += dual * root;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::*;
    use crate::friction::{Bodies, Law};
    use crate::linalg::BlockMatrix;

    /// Failure of a run on one planar contact with two rows. A zero weight leaves L zero for the initial iterate.
    fn failure(tikhonov_weight: f64) -> Option<InteriorPointFailure> {
        let mut jacobian = BlockMatrix::default();
        jacobian.clear([2], [2]);
        jacobian.push(0, &[1.0, 0.0, 0.0, 1.0]);
        jacobian.finish_row();
        let bodies = Bodies::new(jacobian, vec![1.0, 0.0, 0.0, 1.0]).unwrap();
        let laws = vec![Law::Cone { rows: 2, mu: 0.5 }];
        let problem = FrictionProblem::new(Operator::MatrixFree(bodies), laws, vec![-1.0, 0.1]).unwrap();
        let mut method = FrictionInteriorPoint::new();
        let ending = method.run_from((&[tikhonov_weight], 5), &problem, &mut FrictionSolution::default());
        assert_eq!(ending.status == Status::Breakdown, method.last_failure().is_some());
        method.last_failure()
    }

    #[test]
    fn a_singular_block_is_not_called_an_overflow() {
        assert_eq!(failure(START_WEIGHTS[0]), None);
        assert_eq!(failure(0.0), Some(InteriorPointFailure::Singular { iteration: 0, row: 0 }));
        assert_eq!(failure(f64::INFINITY), Some(InteriorPointFailure::Overflow { iteration: 0 }));
    }
}
