//! Where the ruler cannot tell a slow slip from stick, it is stick.
//!
//! At the edge of sticking, with redundant contacts, the residual [CONE-5] is blind to slow slip: impulses on the edge of
//! their cones may push against each other across the direction of slip, at an angle φ ~ √ε that makes up for a slip ε, and the
//! violation is only ε φ ~ ε^(3/2). So a solution within tolerance may creep with tolerance^(2/3). This last step looks for
//! impulses without such inner tension with which the slow contacts do not move at all, and takes them if they are within
//! tolerance as well.

use super::{Delassus, FrictionProblem, Law};
use crate::linalg::dot;
use crate::problem::Problem;

/// Conjugate gradient steps; few contacts need as many as the rank of W, at most six per body.
const STEPS: usize = 60;

/// Contacts slower than this times tolerance^(2/3) are slow.
const MARGIN: f64 = 10.0;

/// Times the shares of friction follow the normal impulses, the last correction included.
const PASSES: u32 = 4;

/// The share of the first residual at which conjugate gradients stop, squared: beyond that W is only rounding.
const ENOUGH: f64 = 1e-26;

/// The share of the largest stiffness below which a direction counts as singular.
const SINGULAR: f64 = 1e-11;

/// Velocities below this share of the scale are rounding.
const ROUNDING: f64 = 1e-13;

/// Where conjugate gradients leave so many times the velocity that is there already, W is too close to singular for them.
const HOPELESS: f64 = 100.0;

/// Scratch memory of [`Settle::run`].
#[derive(Clone, Debug, Default)]
pub(crate) struct StickRecovery {
    /// Root of the weight of each row: √r_N of its contact; zero in rows that are left alone.
    weight: Vec<f64>,
    u: Vec<f64>,
    change: Vec<f64>,
    residual: Vec<f64>,
    direction: Vec<f64>,
    weighted: Vec<f64>,
    image: Vec<f64>,
    state: Vec<f64>,
    candidate: super::FrictionSolution,
}

impl StickRecovery {
    /// Replaces `r` by the impulses with which joints and slow contacts do not move, if these are within `tolerance`.
    ///
    /// Of all such impulses the ones that minimise Σ (‖r_T‖² + (r_N − r_N⁰)²) / r_N⁰: friction is shared in proportion to the
    /// normal impulses, so that no contact comes to its edge before the others.   [STICK-1]
    pub(crate) fn run<W: Delassus>(&mut self, problem: &FrictionProblem<W>, tolerance: f64, r: &mut [f64]) {
        problem.velocities(r, &mut self.u, &mut self.state);
        self.run_measured(problem, tolerance, r);
    }

    /// The residual of impulses; [`Self::run_measured`] may follow.
    pub(crate) fn measure<W: Delassus>(&mut self, problem: &FrictionProblem<W>, r: &[f64]) -> f64 {
        problem.measure(r, &mut self.u, &mut self.state).value
    }

    /// [`Self::run`] for the impulses that were measured last.
    pub(crate) fn run_measured<W: Delassus>(&mut self, problem: &FrictionProblem<W>, tolerance: f64, r: &mut [f64]) {
        let scale = problem.scale();
        self.choose(problem, MARGIN * libm::cbrt(tolerance * tolerance) * scale, r);
        let worst = self.worst();
        if worst <= ROUNDING * scale {
            return;
        }
        self.candidate.r.clear();
        self.candidate.r.extend_from_slice(r);
        // Normal impulses change a little with the friction they balance, and the shares follow them.
        for pass in 0..PASSES {
            let last = pass + 1 == PASSES;
            self.weigh(problem, last);
            problem.velocities(&self.candidate.r, &mut self.u, &mut self.state);
            self.solve(problem);
            if !last && self.left() > HOPELESS * worst {
                return;
            }
            let change = self.change.iter().zip(&self.weight).map(|(change, weight)| change * weight);
            self.candidate.r.iter_mut().zip(change).for_each(|(r, change)| *r += change);
        }
        if problem.residual(&self.candidate).value <= tolerance {
            problem.velocities(&self.candidate.r, &mut self.u, &mut self.state);
            if self.worst() < worst {
                r.copy_from_slice(&self.candidate.r);
            }
        }
    }

    /// The largest velocity in a row that should not move.
    fn worst(&self) -> f64 {
        let slow = self.u.iter().zip(&self.weight).filter(|(_, weight)| **weight > 0.0);
        slow.fold(0.0, |worst, (u, _)| worst.max(u.abs()))
    }

    /// The largest velocity that conjugate gradients left in such a row.
    fn left(&self) -> f64 {
        let slow = self.residual.iter().zip(&self.weight).filter(|(_, weight)| **weight > 0.0);
        slow.fold(0.0, |left, (residual, weight)| left.max(residual.abs() / weight))
    }

    /// Marks the rows of joints and slow contacts by a weight.
    fn choose<W: Delassus>(&mut self, problem: &FrictionProblem<W>, threshold: f64, r: &[f64]) {
        self.weight.clear();
        for (block, law) in problem.laws().iter().enumerate() {
            let range = problem.range(block);
            let slow = match law {
                Law::Equality { .. } => true,
                Law::Boxed { .. } => false,
                Law::Cone { .. } | Law::Rolling { .. } => {
                    r.get(range.start).is_some_and(|normal| *normal > 0.0)
                        && self.u.get(range.clone()).is_some_and(|u| u.iter().all(|u| u.abs() <= threshold))
                }
            };
            self.weight.extend(range.map(|_| if slow { 1.0 } else { 0.0 }));
        }
    }

    /// Weights of the slow contacts by their present normal impulses; their friction starts from nothing, or from what it
    /// is for the last correction.
    fn weigh<W: Delassus>(&mut self, problem: &FrictionProblem<W>, last: bool) {
        for (block, law) in problem.laws().iter().enumerate() {
            let range = problem.range(block);
            let (Some(weight), Some(start)) = (self.weight.get_mut(range.clone()), self.candidate.r.get_mut(range))
            else {
                continue;
            };
            if let (Law::Cone { .. } | Law::Rolling { .. }, [normal, friction @ ..]) = (law, start)
                && weight.first().is_some_and(|weight| *weight > 0.0)
            {
                weight.fill(normal.max(f64::MIN_POSITIVE).sqrt());
                if !last {
                    friction.fill(0.0);
                }
            }
        }
    }

    /// Conjugate gradients on √D W √D s = −√D u with D the weights. W is singular where contacts are redundant, but the system has a
    /// solution (u is a velocity the bodies can have), and from s = 0 the method finds the shortest.
    fn solve<W: Delassus>(&mut self, problem: &FrictionProblem<W>) {
        let Self { weight, u, change, residual, direction, weighted, image, state, .. } = self;
        residual.clear();
        residual.extend(u.iter().zip(&*weight).map(|(u, weight)| -u * weight));
        direction.clone_from(residual);
        change.clear();
        change.resize(u.len(), 0.0);
        image.resize(u.len(), 0.0);
        let mut square = dot(residual, residual);
        let enough = square * ENOUGH;
        let mut stiffest = 0.0_f64;
        for _ in 0..STEPS {
            if square <= enough {
                break;
            }
            weighted.clear();
            weighted.extend(direction.iter().zip(&*weight).map(|(d, weight)| d * weight));
            problem.operator().apply(weighted, image, state);
            image.iter_mut().zip(problem.compliance()).zip(&*weighted).for_each(|((i, c), d)| *i += c * d);
            image.iter_mut().zip(&*weight).for_each(|(i, weight)| *i *= weight);
            let curvature = dot(direction, image);
            // Directions in which W is only rounding are those of inner tension, which is to stay as small as it is.
            let stiffness = curvature / dot(direction, direction);
            stiffest = stiffest.max(stiffness);
            if !(stiffness > SINGULAR * stiffest && stiffness.is_finite()) {
                break;
            }
            let length = square / curvature;
            change.iter_mut().zip(&*direction).for_each(|(c, d)| *c += length * d);
            residual.iter_mut().zip(&*image).for_each(|(r, i)| *r -= length * i);
            let next = dot(residual, residual);
            let factor = next / square;
            square = next;
            direction.iter_mut().zip(&*residual).for_each(|(d, r)| *d = r + factor * *d);
        }
    }
}
