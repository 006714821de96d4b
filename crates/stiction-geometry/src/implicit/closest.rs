//! The closest points of two convex solids: separated, touching or overlapping.

use nalgebra::{Point3, Unit, Vector3};

use super::active_set::{binding, initial_active_set, residual, solve, with_complete_points};
use super::barrier;
use super::convex::Convex;
use super::formula;
use super::kkt::{Linearised, State};
use super::multipliers::{Multipliers, nearest_in_cone};
use super::nearest;
use super::pair::{Pair, Side};
use super::programs::{Distance, Growth};
use super::responses::is_least_depth;
use crate::Pose;

/// Largest residual at which a solution is accepted at once.
const ACCEPTED: f64 = 1e-11;

/// The closest points of two convex solids in world coordinates, with their certificate.   [IMP-4]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Closest {
    /// Point on A.
    pub point_a: Point3<f64>,
    /// Point on B.
    pub point_b: Point3<f64>,
    /// Unit normal from A to B.
    pub normal: Unit<Vector3<f64>>,
    /// Signed distance: positive for separation, the negative depth for overlap.
    pub gap: f64,
    /// Active functions of A: n = Σ λ ∇f.
    pub multipliers_a: Multipliers,
    /// Active functions of B: n = −Σ μ ∇g.
    pub multipliers_b: Multipliers,
    /// Largest violation of the conditions, lengths in units of the smaller solid.
    pub residual: f64,
    /// False if other points or normals are equally good: flat on flat, concentric balls.
    pub unique: bool,
}

/// Buffers of [`closest`], reused between calls; they carry no information from one call to the next.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    barrier: barrier::Buffers,
    gradients: Vec<(usize, Vector3<f64>)>,
}

/// Returns the closest points of A and B; for overlap, a pair of points with opposite normals at a local minimum of
/// the depth.
///
/// Without a `start` the result is a function of the poses alone. A warm start from a nearby pose is faster, and for
/// overlap it selects the minimum near the start. The residual shows whether the search succeeded.
pub fn closest(a: (&Convex, &Pose), b: (&Convex, &Pose), start: Option<&Closest>, scratch: &mut Scratch) -> Closest {
    let pair = Pair::new(a, b);
    if let Some((state, unique)) = formula::closest(&pair) {
        return report(&pair, &Linearised::new(&pair, &state), a.1, unique);
    }
    // The normal of a half-space does not depend on the height: a solid deep below it is lifted first.
    let lift = pair.levelling().unwrap_or_default();
    let mut search = Search { pair: pair.moved(&lift), best: None, scratch };
    if let Some(start) = start {
        search.warm(start, a.1, &lift);
    }
    if !search.is_done() {
        search.try_supports();
    }
    if !search.is_done() {
        search.try_growth();
    }
    if !search.is_done() {
        search.try_faces();
    }
    if !search.is_done() {
        search.try_distance();
    }
    let Some((found, ..)) = search.best else { return failed(&pair, a.1) };
    let mut state = with_complete_points(&pair.moved(&lift), &found.state, &mut search.scratch.gradients);
    state.b -= lift;
    state.gap -= found.normal.dot(&lift);
    let found = Linearised::new(&pair, &state);
    let unique = found.system(&pair, 0).solve().1 == found.unknowns(&pair);
    report(&pair, &found, a.1, unique)
}

/// The search for a pair of points.
struct Search<'a, 's> {
    pair: Pair<'a>,
    /// Best solution so far, its residual, and whether it is final.
    best: Option<(Linearised, f64, bool)>,
    scratch: &'s mut Scratch,
}

impl Search<'_, '_> {
    fn is_done(&self) -> bool {
        self.best.as_ref().is_some_and(|best| best.2)
    }

    /// Runs Newton's method from a state and keeps the result if it is better than the best so far.
    fn attempt(&mut self, start: &State) {
        if start.lambda.is_empty() || start.mu.is_empty() {
            return;
        }
        let found = solve(&self.pair, start, &mut self.scratch.gradients);
        let residual = residual(&self.pair, &found);
        let is_final = residual <= ACCEPTED && (found.state.gap > 0.0 || is_least_depth(&self.pair, &found));
        let is_better = self.best.as_ref().is_none_or(|best| (is_final, -residual) > (best.2, -best.1));
        if is_better {
            self.best = Some((found, residual, is_final));
        }
    }

    /// Starts from the solution at a nearby pose.
    fn warm(&mut self, start: &Closest, pose_a: &Pose, lift: &Vector3<f64>) {
        let a = pose_a.inverse_transform_point(&start.point_a).coords;
        let b = pose_a.inverse_transform_point(&start.point_b).coords + lift;
        let gap = start.gap + (pose_a.inverse_transform_vector(&start.normal)).dot(lift);
        let fits = |side: Side, multipliers: &Multipliers| {
            multipliers.iter().all(|(k, m)| k < self.pair.functions(side) && m.is_finite())
        };
        if fits(Side::A, &start.multipliers_a) && fits(Side::B, &start.multipliers_b) {
            let (lambda, mu) = (start.multipliers_a, start.multipliers_b);
            self.attempt(&State { a, b, gap, lambda, mu });
        }
    }

    /// Starts from an estimate by the support functions, for separated solids.   [IMP-15]
    fn try_supports(&mut self) {
        let Some((a, b)) = nearest::estimate(&self.pair) else { return };
        let Some(normal) = Unit::try_new(b - a, 0.0) else { return };
        let Scratch { gradients, .. } = &mut *self.scratch;
        // Estimates lie inside: functions near zero, to the error of the estimate, are active.
        let band = 1e-2 * self.pair.length;
        let lambda = initial_active_set(&self.pair, Side::A, &a, &normal, band, gradients);
        let mu = initial_active_set(&self.pair, Side::B, &b, &-normal.into_inner(), band, gradients);
        self.attempt(&State { a, b, gap: (b - a).norm(), lambda, mu });
    }

    /// Starts from the point where both solids touch after equal growth or shrinkage.   [IMP-6]
    fn try_growth(&mut self) {
        let pair = self.pair.clone();
        let growth = Growth { pair: &pair };
        let mut iterate = barrier::start(&growth, growth.start(), 0.3, &mut self.scratch.barrier);
        for goal in [1e-2, 1e-4, 1e-7, 1e-10] {
            let arrived = barrier::advance(&growth, &mut iterate, goal, &mut self.scratch.barrier);
            let x: Vector3<f64> = iterate.y.fixed_rows::<3>(0) * pair.length;
            let Some(normal) = self.dual_normal(&x, &x) else { return };
            let state = self.state_near(&x, &x, &normal);
            self.attempt(&state);
            // A solution that is not a minimum of the depth (vertex against vertex) does not improve.
            let is_solved = self.best.as_ref().is_some_and(|best| best.1 <= ACCEPTED);
            if is_solved || !arrived {
                return;
            }
        }
    }

    /// Returns the normal from A to B given by the multipliers of the interior point.
    fn dual_normal(&self, a: &Vector3<f64>, b: &Vector3<f64>) -> Option<Vector3<f64>> {
        let count = self.pair.functions(Side::A);
        let both = count + self.pair.functions(Side::B);
        debug_assert_eq!(self.scratch.barrier.duals.len(), both, "one multiplier per function");
        let sum: Vector3<f64> = (0..)
            .zip(&self.scratch.barrier.duals)
            .map(|(k, z)| {
                if k < count {
                    self.pair.jet(Side::A, k, a).gradient * *z
                } else {
                    self.pair.jet(Side::B, k - count, b).gradient * -z
                }
            })
            .sum();
        Unit::try_new(sum, 1e-14).map(Unit::into_inner)
    }

    /// Returns points on the surfaces near `a` and `b`, with the active set of the interior point.
    fn state_near(&mut self, a: &Vector3<f64>, b: &Vector3<f64>, normal: &Vector3<f64>) -> State {
        let on_surface = |pair: &Pair<'_>, side: Side, x: &Vector3<f64>| {
            let jets = (0..pair.functions(side)).map(|k| pair.jet(side, k, x));
            let highest = jets.reduce(|best, jet| if jet.value > best.value { jet } else { best });
            highest.map_or(*x, |jet| x - jet.gradient * (jet.value / jet.gradient.norm_squared().max(1e-6)))
        };
        let (a, b) = (on_surface(&self.pair, Side::A, a), on_surface(&self.pair, Side::B, b));
        let lambda = self.active(Side::A, &a, normal);
        let mu = self.active(Side::B, &b, &-normal);
        State { a, b, gap: normal.dot(&(b - a)), lambda, mu }
    }

    /// Returns the functions whose multipliers exceed their slacks.
    fn active(&mut self, side: Side, x: &Vector3<f64>, outward: &Vector3<f64>) -> Multipliers {
        let count = self.pair.functions(side);
        let first = if side == Side::A { 0 } else { self.pair.functions(Side::A) };
        let Scratch { barrier, gradients } = &mut *self.scratch;
        debug_assert!(first + count <= barrier.slacks.len(), "the interior point has a slack for every function");
        debug_assert_eq!(barrier.duals.len(), barrier.slacks.len(), "one multiplier per slack");
        gradients.clear();
        for k in 0..count {
            let [slack, dual] = [&barrier.slacks, &barrier.duals].map(|v| v.get(first + k).copied().unwrap_or(0.0));
            if dual > slack {
                gradients.push((k, self.pair.jet(side, k, x).gradient));
            }
        }
        let found = nearest_in_cone(outward, gradients);
        if found.is_empty() {
            return initial_active_set(&self.pair, side, x, outward, binding(&self.pair), gradients);
        }
        found
    }

    /// Starts, for overlap, from the flat function with the smallest depth of the other solid.
    fn try_faces(&mut self) {
        let [of_a, of_b] = [Side::A, Side::B].map(|side| self.pair.shallowest_face(side));
        let owner = if of_a.map(|face| face.gap) >= of_b.map(|face| face.gap) { Side::A } else { Side::B };
        let Some(face) = (if owner == Side::A { of_a } else { of_b }) else { return };
        let on_face = face.point - face.outward * face.gap;
        let (other, flat) = (owner.other(), Multipliers::single(face.function, 1.0));
        let band = binding(&self.pair);
        let met = initial_active_set(&self.pair, other, &face.point, &-face.outward, band, &mut self.scratch.gradients);
        let gap = face.gap;
        self.attempt(&match owner {
            Side::A => State { a: on_face, b: face.point, gap, lambda: flat, mu: met },
            Side::B => State { a: face.point, b: on_face, gap, lambda: met, mu: flat },
        });
    }

    /// Starts from the closest points of the solids after B was moved out along the normal.   [IMP-9]
    ///
    /// The solution does not change if B moves along its normal, and with B clear of A the problem is convex. Each
    /// round can only reduce the depth; it converges faster the nearer the moved B is to touching.
    fn try_distance(&mut self) {
        let found = self.best.as_ref().map(|best| best.0.normal).filter(|n| n.iter().all(|x| x.is_finite()));
        let centres = self.pair.interior(Side::B) - self.pair.interior(Side::A);
        for direction in [self.pair.flat_normal(), found, Some(centres), Some(Vector3::x())].into_iter().flatten() {
            if let Some(normal) = Unit::try_new(direction, 1e-12).filter(|_| !self.is_done()) {
                self.try_distance_along(normal.into_inner());
            }
        }
    }

    /// Does the same as [`Self::try_distance`], first along `normal`.
    fn try_distance_along(&mut self, mut normal: Vector3<f64>) {
        const ROUNDS: usize = 24;
        let original = self.pair.clone();
        let mut shift =
            self.best.as_ref().map_or(0.0, |best| 1.5 * (-best.0.state.gap).clamp(0.0, 10.0 * original.length));
        let mut precision = 1e-5;
        for _ in 0..ROUNDS {
            let moved = original.moved(&(normal * shift));
            let Some((a, b)) = self.distance(&moved, precision) else { return };
            let between = b - a;
            if between.norm() <= 0.05 * shift + 1e-12 * original.length {
                shift = 30.0 * shift + 1e-9 * original.length;
                continue;
            }
            self.pair = moved;
            let next = between / between.norm();
            let mut state = self.state_near(&a, &b, &next);
            self.pair = original.clone();
            state.b -= normal * shift;
            state.gap = next.dot(&(state.b - state.a));
            self.attempt(&state);
            if self.is_done() {
                return;
            }
            normal = next;
            precision = f64::max(1e-2 * precision, 1e-15);
            shift = 1.5 * (-state.gap).max(0.0);
        }
    }

    /// Returns the closest points by the interior point, to a complementarity of `precision` times their squared
    /// distance.   [IMP-8]
    fn distance(&mut self, pair: &Pair<'_>, precision: f64) -> Option<(Vector3<f64>, Vector3<f64>)> {
        const LEAST_GOAL: f64 = 1e-22;
        for thickness in [0.0, 0.01] {
            let program = Distance { pair, thickness };
            let Some(y) = program.start() else { continue };
            let mut iterate = barrier::start(&program, y, 0.3, &mut self.scratch.barrier);
            let mut goal = 1e-4;
            while barrier::advance(&program, &mut iterate, goal, &mut self.scratch.barrier) && goal > LEAST_GOAL {
                let enough = precision * (iterate.y.fixed_rows::<3>(3) - iterate.y.fixed_rows::<3>(0)).norm_squared();
                if goal <= enough {
                    break;
                }
                goal = (0.01 * goal).min(enough).max(0.1 * LEAST_GOAL);
            }
            let points = [0, 3].map(|first| iterate.y.fixed_rows::<3>(first) * pair.length);
            return Some((points[0], points[1]));
        }
        None
    }
}

/// Returns the result of a failed search: an infinite residual and a gap that is NaN.
fn failed(pair: &Pair<'_>, pose_a: &Pose) -> Closest {
    let normal = Vector3::ith(pair.axes - 1, 1.0);
    Closest {
        point_a: Point3::from(pose_a.translation.vector),
        point_b: Point3::from(pose_a.translation.vector),
        normal: Unit::new_unchecked(normal),
        gap: f64::NAN,
        multipliers_a: Multipliers::default(),
        multipliers_b: Multipliers::default(),
        residual: f64::INFINITY,
        unique: false,
    }
}

/// Returns a solution in world coordinates.
fn report(pair: &Pair<'_>, found: &Linearised, pose_a: &Pose, unique: bool) -> Closest {
    Closest {
        point_a: pose_a * Point3::from(found.state.a),
        point_b: pose_a * Point3::from(found.state.b),
        normal: Unit::new_normalize(pose_a.rotation * found.normal),
        gap: found.state.gap,
        multipliers_a: found.state.lambda,
        multipliers_b: found.state.mu,
        residual: residual(pair, found),
        unique,
    }
}
