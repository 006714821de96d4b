//! Mehrotra's start: the impulses of stiff springs, shifted into the cones.   [CONE-12]

use super::cones::{Row, typical_diagonal};
use super::step::ACCURATE;
use super::{FrictionInteriorPoint, FrictionProblem, InteriorPointFailure, soc};
use crate::friction::law::norm;

impl FrictionInteriorPoint {
    /// A point inside all cones, not far from where the impulses will be. `spring` is the compliance of the springs as a
    /// fraction of trace(W_ii)/rows.
    pub(super) fn start(&mut self, problem: &FrictionProblem, spring: f64) -> Result<(), InteriorPointFailure> {
        typical_diagonal(problem, &mut self.right_side, &mut self.diagonal);
        if !self.locals.springs(problem, &self.cones, spring, &self.diagonal) {
            return Err(InteriorPointFailure::Overflow { iteration: 0 });
        }
        let factored = self.system.factor(problem, &self.cones, &self.locals);
        factored.map_err(|singular| InteriorPointFailure::Singular { iteration: 0, row: singular.row })?;

        let fixed = self.cones.rows.iter().map(|row| if let Row::Fixed(value) = row { *value } else { 0.0 });
        self.point.r.clear();
        self.point.r.extend(fixed);
        self.point.y.clear();
        self.point.refresh(problem, &self.cones, &mut self.state);
        self.right_side.clear();
        self.right_side.extend(self.point.defect.iter().map(|u| -u));
        let enough = ACCURATE * norm(&self.right_side);
        self.system.solve(problem, &self.locals, (&self.right_side, enough), &mut self.direction.r);
        self.point.r.iter_mut().zip(&self.direction.r).for_each(|(r, d)| *r += d);
        self.shift_into_cones(problem);
        Ok(())
    }

    /// x ← x + δ e/√w and y ← y + ε √w e with the least shifts δ and ε into the cones, one and a half times, and then by half
    /// the mean complementarity; w is the typical diagonal of W in the block, so that heavy and light bodies are shifted
    /// alike and xᵀy stays the same for all. The duals are those of the velocities that the shifted impulses cause: a large
    /// shift of the one calls for a large shift of the other.
    fn shift_into_cones(&mut self, problem: &FrictionProblem) {
        self.point.refresh(problem, &self.cones, &mut self.state);
        let outside = self.worst_depth(&self.point.x, f64::sqrt);
        self.shift((1.5 * outside, 0.0));
        self.point.refresh(problem, &self.cones, &mut self.state);
        self.point.y.extend(self.cones.list.iter().map(|cone| cone.dual(&self.point.u)));
        let outside = self.worst_depth(&self.point.y, |w| 1.0 / w.sqrt());
        self.shift((0.0, 1.5 * outside));
        let (mut sum, mut sum_x, mut sum_y) = (0.0, 0.0, 0.0);
        for ((cone, x), y) in self.cones.list.iter().zip(&self.point.x).zip(&self.point.y) {
            let root = self.diagonal[cone.block].sqrt();
            sum += soc::dot(x, y);
            sum_x += x[0] * root;
            sum_y += y[0] / root;
        }
        let share = |total: f64| if total > 0.0 { 0.5 * sum / total } else { 0.0 };
        self.shift((share(sum_y), share(sum_x)));
        self.point.refresh(problem, &self.cones, &mut self.state);
    }

    /// The largest distance from a cone, each weighted by a function of w; zero when all points are inside.
    fn worst_depth(&self, points: &[soc::Vector], weight: impl Fn(f64) -> f64) -> f64 {
        let depths =
            self.cones.list.iter().zip(points).map(|(cone, x)| weight(self.diagonal[cone.block]) * soc::depth(x));
        depths.fold(0.0, |worst, depth| f64::max(worst, -depth))
    }

    fn shift(&mut self, (primal, dual): (f64, f64)) {
        for (k, cone) in self.cones.list.iter().enumerate() {
            let root = self.diagonal[cone.block].sqrt();
            cone.raise(primal / root, &mut self.point.r);
            if let Some(x) = self.point.x.get_mut(k) {
                *x = cone.vector(&self.point.r);
            }
            if let Some(y) = self.point.y.get_mut(k) {
                y[0] += dual * root;
            }
        }
    }
}
