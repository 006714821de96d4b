//! Stick recovery: replaces slip that is too slow for the residual to resolve by stick.
//!
//! At the limit of sticking with redundant contacts the residual [CONE-5] hardly distinguishes slow slip from stick. Let a box creep with
//! velocity ε at exactly the friction angle. Its friction impulses are on the boundary of their cones, but turned by +φ and −φ against each
//! other. Across the slip they cancel; along it they push with cos φ ≈ 1 − φ²/2 of their size. This deficit accounts for a slip ε ~ φ². Each
//! impulse is off the direction of slip by φ only, so the violation is ε φ ~ ε^(3/2). A solution within the tolerance may therefore creep with
//! tolerance^(2/3). Stick recovery, the last operation of a solve, computes impulses that are not turned against each other and with which the
//! slow contacts do not move. They are accepted if they are within the tolerance as well.

use super::law::Kind;
use super::{Delassus, FrictionProblem};
use crate::linalg::dot;
use crate::problem::Problem;

/// Largest number of conjugate gradient steps. Small problems need as many as the rank of W, at most six per body.
const MAX_CG_STEPS: usize = 60;

/// A contact with a normal impulse is slow if all its velocity components are at most this times tolerance^(2/3) times the scale ‖q‖ of the problem.
const SLOW_FACTOR: f64 = 10.0;

/// Number of passes that update the weights with the normal impulses, the final correction included.
const PASSES: u32 = 4;

/// Squared relative residual at which conjugate gradients stop; a smaller one is rounding of W.
const CG_TOLERANCE_SQUARED: f64 = 1e-26;

/// Fraction of the largest Rayleigh quotient pᵀ A p/pᵀ p, with A = √D W √D, up to which W counts as singular along a search direction p.
const SINGULAR_CURVATURE: f64 = 1e-11;

/// Fraction of the scale of the problem below which velocities are rounding errors.
const ROUNDING_VELOCITY: f64 = 1e-13;

/// Largest velocity that conjugate gradients may leave, as a multiple of the largest one before; a larger one means that W is too close to singular.
const MAX_VELOCITY_GROWTH: f64 = 100.0;

/// Stick recovery with its scratch memory.   [STICK-1]
#[derive(Clone, Debug, Default)]
pub(crate) struct StickRecovery {
    /// Root √D of the weight D of each row: √r_N of its contact, one for equalities, zero in rows that are not changed.
    weight: Vec<f64>,
    u: Vec<f64>,
    /// Scaled change s of the impulses: δr = √D s.
    change: Vec<f64>,
    /// Residual, search direction p, √D p and √D W √D p of conjugate gradients.
    residual: Vec<f64>,
    direction: Vec<f64>,
    weighted: Vec<f64>,
    product: Vec<f64>,
    state: Vec<f64>,
    candidate: super::FrictionSolution,
}

impl StickRecovery {
    /// Replaces `r` by impulses with which equalities and slow contacts move less, if these are within `tolerance`.
    ///
    /// Their velocity is zero if conjugate gradients converge; any smaller largest velocity is accepted. Of all impulses with zero velocity
    /// there it looks for those that minimise Σ (‖r_T‖² + (r_N − r_N⁰)²) / r_N⁰. This distributes friction in proportion
    /// to the normal impulses, so that no contact reaches its friction limit before the others.   [STICK-1]
    pub(crate) fn run<W: Delassus>(&mut self, problem: &FrictionProblem<W>, tolerance: f64, r: &mut [f64]) {
        problem.velocities(r, &mut self.u, &mut self.state);
        self.run_evaluated(problem, tolerance, r);
    }

    /// Residual of the impulses. It keeps their velocities for [`Self::run_evaluated`].
    pub(crate) fn evaluate<W: Delassus>(&mut self, problem: &FrictionProblem<W>, r: &[f64]) -> f64 {
        problem.residual_with_velocities(r, &mut self.u, &mut self.state).value
    }

    /// Runs [`Self::run`] with the velocities of the last [`Self::evaluate`], which must belong to the same impulses.
    pub(crate) fn run_evaluated<W: Delassus>(&mut self, problem: &FrictionProblem<W>, tolerance: f64, r: &mut [f64]) {
        debug_assert_eq!(self.u.len(), problem.rows(), "velocities of this problem are known");
        let scale = problem.scale();
        self.select_slow_rows(problem, SLOW_FACTOR * libm::cbrt(tolerance * tolerance) * scale, r);
        let initial = self.largest_slow_velocity();
        if initial <= ROUNDING_VELOCITY * scale {
            return;
        }
        self.candidate.r.clear();
        self.candidate.r.extend_from_slice(r);
        // Normal impulses change slightly with friction, and the weights follow them.
        for pass in 0..PASSES {
            let last = pass + 1 == PASSES;
            self.update_weights(problem, last);
            problem.velocities(&self.candidate.r, &mut self.u, &mut self.state);
            self.conjugate_gradients(problem);
            if !last && self.largest_cg_residual() > MAX_VELOCITY_GROWTH * initial {
                return;
            }
            let change = self.change.iter().zip(&self.weight).map(|(change, weight)| change * weight);
            self.candidate.r.iter_mut().zip(change).for_each(|(r, change)| *r += change);
        }
        if problem.residual(&self.candidate).value <= tolerance {
            problem.velocities(&self.candidate.r, &mut self.u, &mut self.state);
            if self.largest_slow_velocity() < initial {
                r.copy_from_slice(&self.candidate.r);
            }
        }
    }

    /// Largest velocity among the rows of equalities and of slow contacts.
    fn largest_slow_velocity(&self) -> f64 {
        let slow = self.u.iter().zip(&self.weight).filter(|(_, weight)| **weight > 0.0);
        slow.fold(0.0, |largest, (u, _)| largest.max(u.abs()))
    }

    /// Largest velocity that conjugate gradients left in these rows.
    fn largest_cg_residual(&self) -> f64 {
        let slow = self.residual.iter().zip(&self.weight).filter(|(_, weight)| **weight > 0.0);
        slow.fold(0.0, |largest, (residual, weight)| largest.max(residual.abs() / weight))
    }

    /// Marks the rows of equalities and of slow contacts by weight one, all others by zero.
    fn select_slow_rows<W: Delassus>(&mut self, problem: &FrictionProblem<W>, threshold: f64, r: &[f64]) {
        self.weight.clear();
        for (block, law) in problem.laws().iter().enumerate() {
            let range = problem.range(block);
            let slow = match law.kind() {
                Kind::Equality => true,
                Kind::Bounded { .. } => false,
                Kind::Contact(_) => {
                    r.get(range.start).is_some_and(|normal| *normal > 0.0)
                        && self.u.get(range.clone()).is_some_and(|u| u.iter().all(|u| u.abs() <= threshold))
                }
            };
            self.weight.extend(range.map(|_| if slow { 1.0 } else { 0.0 }));
        }
        debug_assert_eq!(self.weight.len(), problem.rows(), "one weight per row");
    }

    /// Sets the weights of the slow contacts to √r_N of their present normal impulses.
    ///
    /// Their friction is set to zero, except in the last pass, which corrects the friction it has.
    fn update_weights<W: Delassus>(&mut self, problem: &FrictionProblem<W>, last: bool) {
        for (block, law) in problem.laws().iter().enumerate() {
            let range = problem.range(block);
            let (Some(weight), Some(start)) = (self.weight.get_mut(range.clone()), self.candidate.r.get_mut(range))
            else {
                debug_assert!(false, "weights and impulses cover all rows");
                continue;
            };
            if let (Kind::Contact(_), [normal, friction @ ..]) = (law.kind(), start)
                && weight.first().is_some_and(|weight| *weight > 0.0)
            {
                weight.fill(normal.max(f64::MIN_POSITIVE).sqrt());
                if !last {
                    friction.fill(0.0);
                }
            }
        }
    }

    /// Solves √D (W + diag c) √D s = −√D u by conjugate gradients, D the weights and c the compliance.
    ///
    /// W is singular if contacts are redundant. The system is consistent, because u is a velocity of the bodies, and from s = 0 the
    /// iteration converges to the minimum-norm solution.
    fn conjugate_gradients<W: Delassus>(&mut self, problem: &FrictionProblem<W>) {
        debug_assert_eq!(self.weight.len(), self.u.len(), "one weight per velocity");
        let Self { weight, u, change, residual, direction, weighted, product, state, .. } = self;
        residual.clear();
        residual.extend(u.iter().zip(&*weight).map(|(u, weight)| -u * weight));
        direction.clone_from(residual);
        change.clear();
        change.resize(u.len(), 0.0);
        product.resize(u.len(), 0.0);
        let mut square = dot(residual, residual);
        let target = square * CG_TOLERANCE_SQUARED;
        let mut largest_quotient = 0.0_f64;
        for _ in 0..MAX_CG_STEPS {
            if square <= target {
                break;
            }
            weighted.clear();
            weighted.extend(direction.iter().zip(&*weight).map(|(d, weight)| d * weight));
            problem.operator().apply(weighted, product, state);
            product.iter_mut().zip(problem.compliance()).zip(&*weighted).for_each(|((i, c), d)| *i += c * d);
            product.iter_mut().zip(&*weight).for_each(|(i, weight)| *i *= weight);
            let curvature = dot(direction, product);
            // Impulses along which W is only rounding are in balance among themselves (internal forces); they must not grow.
            let quotient = curvature / dot(direction, direction);
            largest_quotient = largest_quotient.max(quotient);
            if !(quotient > SINGULAR_CURVATURE * largest_quotient && quotient.is_finite()) {
                break;
            }
            let length = square / curvature;
            change.iter_mut().zip(&*direction).for_each(|(c, d)| *c += length * d);
            residual.iter_mut().zip(&*product).for_each(|(r, i)| *r -= length * i);
            let next = dot(residual, residual);
            let factor = next / square;
            square = next;
            direction.iter_mut().zip(&*residual).for_each(|(d, r)| *d = r + factor * *d);
        }
    }
}
