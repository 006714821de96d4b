//! One predictor-corrector step: scaling, linearisation, direction and step length.

use super::cones::{Cones, Row, correction_gradient, de_saxce_correction};
use super::soc::{self, Scaling, UNIT, Vector};
use super::{FrictionInteriorPoint, FrictionProblem, InteriorPointFailure};
use crate::friction::law::norm;

/// Fraction of the step to the boundary of the cones that is taken at most.
const BOUNDARY_FRACTION: f64 = 0.99;

/// Largest centring parameter due to infeasibility alone: one contact must not stop the decrease of the gap of all others.
const MAX_INFEASIBILITY_CENTRING: f64 = 0.5;

/// Relative error to which the linear system of the initial iterate is refined.
pub(super) const START_ACCURACY: f64 = 1e-7;

/// Error to which the direction of the corrector is refined, as a fraction of the infeasibility.
const INFEASIBILITY_FRACTION: f64 = 0.03;

/// Error below which that direction is not refined any further, as a fraction of the tolerance times the scale of the problem.
const TOLERANCE_FRACTION: f64 = 0.01;

/// Largest relative error of a direction. With a larger one it is computed again with more regularisation, up to the largest.
const MAX_DIRECTION_ERROR: f64 = 1e-4;

/// Least and largest regularisation of the scalings, as a fraction of trace(W_ii)/rows.
const REGULARISATION_RANGE: (f64, f64) = (1e-12, 1e-5);

/// Factor on the regularisation if the error of the direction is too large.
const REGULARISATION_GROWTH: f64 = 1e3;

/// Factor on the regularisation after a direction; below the least one it becomes zero.
const REGULARISATION_DECAY: f64 = 0.1;

/// Impulses, velocities and cone vectors of one iterate.
#[derive(Clone, Debug, Default)]
pub(super) struct Point {
    pub(super) r: Vec<f64>,
    pub(super) u: Vec<f64>,
    pub(super) x: Vec<Vector>,
    pub(super) y: Vec<Vector>,
    /// Infeasibility u − Σ Aᵀ g⁻¹(y).   [CONE-8]
    pub(super) infeasibility: Vec<f64>,
}

/// Change of the iterate.
#[derive(Clone, Debug, Default)]
pub(super) struct Direction {
    pub(super) r: Vec<f64>,
    x: Vec<Vector>,
    y: Vec<Vector>,
}

impl Point {
    /// Recomputes u, x and the infeasibility from r and y.
    pub(super) fn refresh(&mut self, problem: &FrictionProblem, cones: &Cones, state: &mut Vec<f64>) {
        problem.velocities(&self.r, &mut self.u, state);
        self.x.clear();
        self.x.extend(cones.list.iter().map(|cone| cone.vector(&self.r)));
        self.infeasibility.clear();
        self.infeasibility.extend_from_slice(&self.u);
        for (cone, y) in cones.list.iter().zip(&self.y) {
            let mut uncorrected = *y;
            uncorrected[0] -= de_saxce_correction(y);
            cone.transpose_add(-1.0, &uncorrected, &mut self.infeasibility);
        }
        for (infeasibility, row) in self.infeasibility.iter_mut().zip(&cones.rows) {
            if let Row::Prescribed(_) = row {
                *infeasibility = 0.0;
            }
        }
    }

    /// Norm ‖u − Σ Aᵀ g⁻¹(y)‖₂ of the infeasibility.
    pub(super) fn infeasibility_norm(&self) -> f64 {
        norm(&self.infeasibility)
    }

    /// Complementarity gap: mean of xᵀy over the cones; zero if there are none.
    pub(super) fn gap(&self) -> f64 {
        let sum: f64 = self.x.iter().zip(&self.y).map(|(x, y)| soc::dot(x, y)).sum();
        sum / self.x.len().max(1) as f64
    }

    /// Residual of the impulses with the present velocities.   [CONE-5]
    pub(super) fn natural_residual(&self, problem: &FrictionProblem) -> f64 {
        let squares = (0..problem.blocks()).map(|block| problem.violation_squared(block, &self.r, &self.u));
        squares.sum::<f64>().sqrt() / problem.scale()
    }
}

impl FrictionInteriorPoint {
    /// Sets the right-hand sides of the predictor, x ∘ y = 0 to first order: δy + Θ δx = −y.
    pub(super) fn set_predictor_targets(&mut self) {
        self.targets.clear();
        self.targets.extend(self.point.y.iter().map(|y| y.map(|y| -y)));
    }

    /// Sets the right-hand sides of the corrector, x ∘ y = τ e to second order along the predictor:
    /// δy + Θ δx = F (λ \ (τ e − λ∘λ − (F δx)∘(F⁻¹ δy))).   [CONE-12]
    pub(super) fn set_corrector_targets(&mut self, tau: f64) {
        let predictor = self.direction.x.iter().zip(&self.direction.y);
        self.targets.clear();
        self.targets.extend(self.scalings.iter().zip(predictor).map(|(scaling, (dx, dy))| {
            let curvature = soc::product(&scaling.apply(dx), &scaling.apply_inverse(dy));
            let square = soc::product(&scaling.lambda, &scaling.lambda);
            let target = soc::add(&soc::add(&UNIT.map(|one| tau * one), -1.0, &square), -1.0, &curvature);
            scaling.apply(&soc::quotient(&scaling.lambda, &target))
        }));
    }

    /// Computes the direction at the current point: scaling, factorisation, predictor and corrector.
    ///
    /// The predictor, with τ = 0, determines the target of the corrector. The regularisation is increased until the error of the corrector
    /// is small: if sliding contacts leave impulses undetermined, the matrix becomes singular as the gap tends to zero.
    pub(super) fn find_direction(
        &mut self,
        problem: &FrictionProblem,
        iteration: u32,
        (gap, initial): (f64, (f64, f64)),
    ) -> Result<(), InteriorPointFailure> {
        loop {
            let factored = self.factorise(problem, iteration);
            let mut error = f64::INFINITY;
            if factored.is_ok() {
                self.set_predictor_targets();
                self.solve(problem, f64::INFINITY);
                self.set_corrector_targets(self.centring(gap, initial) * gap);
                let least = TOLERANCE_FRACTION * self.options.tolerance * problem.scale();
                let tolerance = (INFEASIBILITY_FRACTION * self.point.infeasibility_norm()).max(least);
                error = self.solve(problem, tolerance);
            }
            if error <= MAX_DIRECTION_ERROR || self.regularisation >= REGULARISATION_RANGE.1 {
                let decays = self.regularisation > REGULARISATION_RANGE.0;
                self.regularisation = if decays { REGULARISATION_DECAY * self.regularisation } else { 0.0 };
                return factored;
            }
            let larger = REGULARISATION_GROWTH * self.regularisation;
            self.regularisation = larger.clamp(REGULARISATION_RANGE.0, REGULARISATION_RANGE.1);
        }
    }

    /// Computes scalings, linearised laws and factors at the current point.   [CONE-9] [CONE-10]
    fn factorise(&mut self, problem: &FrictionProblem, iteration: u32) -> Result<(), InteriorPointFailure> {
        let Point { x, y, .. } = &self.point;
        let count = self.cones.list.len();
        debug_assert!(x.len() == count && y.len() == count, "one primal and one dual vector per cone");
        self.scalings.clear();
        self.scalings.extend(self.cones.list.iter().zip(x).zip(y).map(|((cone, x), y)| {
            debug_assert!(cone.block < self.mean_diagonals.len(), "one mean diagonal per block");
            let regularisation = self.regularisation * self.mean_diagonals.get(cone.block).copied().unwrap_or(0.0);
            Scaling::new(x, y, regularisation)
        }));
        self.linearised_laws
            .linearise(problem, &self.cones, (y, &self.scalings), (&self.mean_diagonals, self.correction_weight))
            .map_err(|singular| self.linearised_laws.failure(singular, iteration))?;
        let factored = self.system.factor(problem, &self.cones, &self.linearised_laws);
        factored.map_err(|singular| InteriorPointFailure::Singular { iteration, row: singular.row })
    }

    /// Solves for the direction of the present targets, refined to an error of `tolerance`; returns the relative error, or zero if it is
    /// within the tolerance.   [CONE-10] [CONE-11]
    pub(super) fn solve(&mut self, problem: &FrictionProblem, tolerance: f64) -> f64 {
        self.right_hand_side.clear();
        self.right_hand_side.extend(self.point.infeasibility.iter().map(|x| -x));
        for ((cone, y), target) in self.cones.list.iter().zip(&self.point.y).zip(&self.targets) {
            let mut moved = *target;
            moved[0] -= self.correction_weight * soc::dot(&correction_gradient(y), target);
            cone.transpose_add(1.0, &moved, &mut self.right_hand_side);
        }
        let error = self.system.solve(
            problem,
            (&self.cones, &self.linearised_laws),
            (&self.right_hand_side, tolerance),
            &mut self.direction.r,
        );
        self.direction.x.clear();
        self.direction.x.extend(self.cones.list.iter().map(|cone| cone.linear(&self.direction.r)));
        self.direction.y.clear();
        let scaled = self.scalings.iter().zip(&self.direction.x).zip(&self.targets);
        self.direction.y.extend(scaled.map(|((scaling, dx), target)| soc::add(target, -1.0, &scaling.apply_theta(dx))));
        error
    }

    /// Largest step length inside all cones, at most 2.
    fn max_step(&self) -> f64 {
        let primal = self.point.x.iter().zip(&self.direction.x);
        let dual = self.point.y.iter().zip(&self.direction.y);
        primal.chain(dual).fold(2.0, |step, (x, d)| step.min(soc::max_step(x, d)))
    }

    /// Step length by the fraction-to-boundary rule, at most 1.
    pub(super) fn interior_step(&self) -> f64 {
        (BOUNDARY_FRACTION * self.max_step()).min(1.0)
    }

    /// Centring parameter σ of the target τ = σ · gap.   [CONE-12]
    ///
    /// It is Mehrotra's cube of the relative gap after the predictor, and at least so large that the gap does not decrease faster than the
    /// infeasibility.
    pub(super) fn centring(&self, gap: f64, (infeasibility_0, gap_0): (f64, f64)) -> f64 {
        if self.cones.list.is_empty() {
            return 0.0;
        }
        let step = self.max_step().min(1.0);
        let Point { x, y, .. } = &self.point;
        let pairs = x.iter().zip(&self.direction.x).zip(y.iter().zip(&self.direction.y));
        let predicted: f64 =
            pairs.map(|((x, dx), (y, dy))| soc::dot(&soc::add(x, step, dx), &soc::add(y, step, dy))).sum();
        let predicted = predicted / (gap * x.len() as f64);
        let infeasible = (1.0 - step) * self.point.infeasibility_norm() / infeasibility_0.max(f64::MIN_POSITIVE);
        let least = (infeasible * gap_0 / gap).min(MAX_INFEASIBILITY_CENTRING);
        (predicted * predicted * predicted).max(least).clamp(0.0, 1.0)
    }

    /// Moves the iterate by a step along the direction.
    pub(super) fn advance(&mut self, problem: &FrictionProblem, step: f64) {
        self.point.r.iter_mut().zip(&self.direction.r).for_each(|(r, d)| *r += step * d);
        self.point.y.iter_mut().zip(&self.direction.y).for_each(|(y, d)| *y = soc::add(y, step, d));
        self.point.refresh(problem, &self.cones, &mut self.state);
    }
}
