//! One step: scale, linearise, solve, and how far to go.

use super::cones::{Cones, Row, shift, shift_gradient};
use super::soc::{self, Scaling, UNIT, Vector};
use super::{FrictionInteriorPoint, FrictionProblem, InteriorPointFailure};
use crate::friction::law::norm;

/// The share of the way to the boundary of the cones that a step goes at most.
const STEP_FRACTION: f64 = 0.99;

/// Infeasibility alone never keeps the gap above this fraction of what it was: one contact may not hold up all others.
const HELD_GAP: f64 = 0.5;

/// Relative error to which the start is refined.
pub(super) const ACCURATE: f64 = 1e-7;

/// The direction that is followed is refined to this share of the infeasibility it is to remove, or of what the tolerance allows.
const ENOUGH: (f64, f64) = (0.03, 0.01);

/// A direction with a larger relative error than this is computed again with more regularisation.
const GOOD_DIRECTION: f64 = 1e-4;

/// Regularisation of the scalings as a fraction of trace(W_ii)/rows: first, last, growth where rounding demands more, and
/// decay where it does not.
const FLOOR: (f64, f64) = (1e-12, 1e-5);
const FLOOR_GROWTH: f64 = 1e3;
const FLOOR_DECAY: f64 = 0.1;

/// Impulses, velocities and cone vectors of one iterate.
#[derive(Clone, Debug, Default)]
pub(super) struct Point {
    pub(super) r: Vec<f64>,
    pub(super) u: Vec<f64>,
    pub(super) x: Vec<Vector>,
    pub(super) y: Vec<Vector>,
    /// u − Σ Aᵀ g⁻¹(y): what is missing from the law.   [CONE-8]
    pub(super) defect: Vec<f64>,
}

/// A change of the iterate.
#[derive(Clone, Debug, Default)]
pub(super) struct Direction {
    pub(super) r: Vec<f64>,
    x: Vec<Vector>,
    y: Vec<Vector>,
}

impl Point {
    /// Everything that follows from r and y.
    pub(super) fn refresh(&mut self, problem: &FrictionProblem, cones: &Cones, state: &mut Vec<f64>) {
        problem.velocities(&self.r, &mut self.u, state);
        self.x.clear();
        self.x.extend(cones.list.iter().map(|cone| cone.vector(&self.r)));
        self.defect.clear();
        self.defect.extend_from_slice(&self.u);
        for (cone, y) in cones.list.iter().zip(&self.y) {
            let mut unshifted = *y;
            unshifted[0] -= shift(y);
            cone.transpose_add(-1.0, &unshifted, &mut self.defect);
        }
        for (defect, row) in self.defect.iter_mut().zip(&cones.rows) {
            if let Row::Fixed(_) = row {
                *defect = 0.0;
            }
        }
    }

    /// ‖u − Σ Aᵀ g⁻¹(y)‖₂.
    pub(super) fn infeasibility(&self) -> f64 {
        norm(&self.defect)
    }

    /// Mean of xᵀy over the cones; zero when there are none.
    pub(super) fn gap(&self) -> f64 {
        let sum: f64 = self.x.iter().zip(&self.y).map(|(x, y)| soc::dot(x, y)).sum();
        sum / self.x.len().max(1) as f64
    }

    /// Residual of the impulses with the velocities at hand.   [CONE-5]
    pub(super) fn natural_residual(&self, problem: &FrictionProblem) -> f64 {
        let squares = (0..problem.blocks()).map(|block| problem.violation(block, &self.r, &self.u));
        squares.sum::<f64>().sqrt() / problem.scale()
    }
}

impl FrictionInteriorPoint {
    /// Right sides for x ∘ y = 0 to first order: δy + K δx = −y.
    pub(super) fn aim_at_zero(&mut self) {
        self.targets.clear();
        self.targets.extend(self.point.y.iter().map(|y| y.map(|y| -y)));
    }

    /// Right sides for x ∘ y = τ e to second order along the predictor:
    /// δy + K δx = F (λ \ (τ e − λ∘λ − (F δx)∘(F⁻¹ δy))).   [CONE-12]
    pub(super) fn aim_at(&mut self, tau: f64) {
        let predictor = self.direction.x.iter().zip(&self.direction.y);
        self.targets.clear();
        self.targets.extend(self.scalings.iter().zip(predictor).map(|(scaling, (dx, dy))| {
            let curvature = soc::product(&scaling.apply(dx), &scaling.apply_inverse(dy));
            let square = soc::product(&scaling.lambda, &scaling.lambda);
            let missing = soc::add(&soc::add(&UNIT.map(|one| tau * one), -1.0, &square), -1.0, &curvature);
            scaling.apply(&soc::quotient(&scaling.lambda, &missing))
        }));
    }

    /// Scales, factorises and solves twice at the current point: for the predictor, straight to τ = 0, which decides the target of the
    /// corrector, and for the corrector, which is followed. With as much regularisation as rounding demands: where sliding contacts leave the
    /// impulses undetermined, the matrix becomes singular with the gap.
    pub(super) fn find_direction(
        &mut self,
        problem: &FrictionProblem,
        iteration: u32,
        (gap, initial): (f64, (f64, f64)),
    ) -> Result<(), InteriorPointFailure> {
        loop {
            let factored = self.rescale(problem, iteration);
            let mut error = f64::INFINITY;
            if factored.is_ok() {
                self.aim_at_zero();
                self.solve(problem, f64::INFINITY);
                self.aim_at(self.centring(gap, initial) * gap);
                let least = ENOUGH.1 * self.options.tolerance * problem.scale();
                let enough = (ENOUGH.0 * self.point.infeasibility()).max(least);
                error = self.solve(problem, enough);
            }
            if error <= GOOD_DIRECTION || self.floor >= FLOOR.1 {
                self.floor = if self.floor > FLOOR.0 { FLOOR_DECAY * self.floor } else { 0.0 };
                return factored;
            }
            self.floor = (FLOOR_GROWTH * self.floor).clamp(FLOOR.0, FLOOR.1);
        }
    }

    /// Scalings, linearised laws and factors at the current point.   [CONE-9] [CONE-10]
    fn rescale(&mut self, problem: &FrictionProblem, iteration: u32) -> Result<(), InteriorPointFailure> {
        let Point { x, y, .. } = &self.point;
        self.scalings.clear();
        self.scalings.extend(self.cones.list.iter().zip(x).zip(y).map(|((cone, x), y)| {
            let floor = self.floor * self.diagonal.get(cone.block).copied().unwrap_or(0.0);
            Scaling::new(x, y, floor)
        }));
        if !self.locals.linearise(problem, &self.cones, (y, &self.scalings), (&self.diagonal, self.share)) {
            return Err(InteriorPointFailure::Overflow { iteration });
        }
        let factored = self.system.factor(problem, &self.cones, &self.locals);
        factored.map_err(|singular| InteriorPointFailure::Singular { iteration, row: singular.row })
    }

    /// The direction that belongs to `targets`, to this relative error where rounding allows; returns what is left of it.   [CONE-10] [CONE-11]
    pub(super) fn solve(&mut self, problem: &FrictionProblem, enough: f64) -> f64 {
        self.right_side.clear();
        self.right_side.extend(self.point.defect.iter().map(|defect| -defect));
        for ((cone, y), target) in self.cones.list.iter().zip(&self.point.y).zip(&self.targets) {
            let mut moved = *target;
            moved[0] -= self.share * soc::dot(&shift_gradient(y), target);
            cone.transpose_add(1.0, &moved, &mut self.right_side);
        }
        let error = self.system.solve(problem, &self.locals, (&self.right_side, enough), &mut self.direction.r);
        self.direction.x.clear();
        self.direction.x.extend(self.cones.list.iter().map(|cone| cone.linear(&self.direction.r)));
        self.direction.y.clear();
        let scaled = self.scalings.iter().zip(&self.direction.x).zip(&self.targets);
        self.direction
            .y
            .extend(scaled.map(|((scaling, dx), target)| soc::add(target, -1.0, &scaling.apply_square(dx))));
        error
    }

    /// How far the direction may be followed inside all cones, at most 2.
    fn longest_step(&self) -> f64 {
        let primal = self.point.x.iter().zip(&self.direction.x);
        let dual = self.point.y.iter().zip(&self.direction.y);
        primal.chain(dual).fold(2.0, |step, (x, d)| step.min(soc::longest_step(x, d)))
    }

    /// The full step, or most of the way to the boundary.
    pub(super) fn interior_step(&self) -> f64 {
        (STEP_FRACTION * self.longest_step()).min(1.0)
    }

    /// σ of the target τ = σ · gap: Mehrotra's cube of what the predictor leaves, and so much that the gap does not run ahead
    /// of the infeasibility.   [CONE-12]
    pub(super) fn centring(&self, gap: f64, (infeasibility_0, gap_0): (f64, f64)) -> f64 {
        if self.cones.list.is_empty() {
            return 0.0;
        }
        let step = self.longest_step().min(1.0);
        let Point { x, y, .. } = &self.point;
        let pairs = x.iter().zip(&self.direction.x).zip(y.iter().zip(&self.direction.y));
        let left: f64 = pairs.map(|((x, dx), (y, dy))| soc::dot(&soc::add(x, step, dx), &soc::add(y, step, dy))).sum();
        let left = left / (gap * x.len() as f64);
        let infeasible = (1.0 - step) * self.point.infeasibility() / infeasibility_0.max(f64::MIN_POSITIVE);
        let held = (infeasible * gap_0 / gap).min(HELD_GAP);
        (left * left * left).max(held).clamp(0.0, 1.0)
    }

    /// Follows the direction.
    pub(super) fn advance(&mut self, problem: &FrictionProblem, step: f64) {
        self.point.r.iter_mut().zip(&self.direction.r).for_each(|(r, d)| *r += step * d);
        self.point.y.iter_mut().zip(&self.direction.y).for_each(|(y, d)| *y = soc::add(y, step, d));
        self.point.refresh(problem, &self.cones, &mut self.state);
    }
}
