//! Newton's method on the KKT equations of the closest points, for a given active set.   [IMP-4]
//!
//! The unknowns are both points, the gap and the multipliers; lengths are in units of the pair's length. Unlike the
//! stationarity conditions of ½|a₂ − a₁|², whose multipliers vanish with the gap, the system keeps its rank for
//! touching and overlapping solids. The step of a₂ is eliminated from each linear system.

use nalgebra::{Matrix3, Vector3};

use super::gauss::{MOST_UNKNOWNS, System};
use super::jet::Jet;
use super::multipliers::{MOST_ACTIVE, Multipliers};
use super::pair::{Pair, Side};

/// Largest number of full Newton steps for one active set.
const MOST_FULL_STEPS: usize = 12;
/// Largest number of damped Newton steps for one active set.
const MOST_STEPS: usize = 30;
/// Norm of the residual at which Newton's method has converged.
const CONVERGED: f64 = 1e-12;
/// Largest number of halvings of a step.
const MOST_HALVINGS: u32 = 12;
/// Norm of the residual at round-off, where it cannot improve.
const ROUND_OFF: f64 = 1e-15;

/// Two points with a gap and multipliers, in the frame of A.
#[derive(Clone, Copy, Debug)]
pub(super) struct State {
    pub(super) a: Vector3<f64>,
    pub(super) b: Vector3<f64>,
    pub(super) gap: f64,
    pub(super) lambda: Multipliers,
    pub(super) mu: Multipliers,
}

/// A change of a [`State`].
struct Step {
    a: Vector3<f64>,
    b: Vector3<f64>,
    gap: f64,
    lambda: [f64; MOST_ACTIVE],
    mu: [f64; MOST_ACTIVE],
}

/// A state with the active functions evaluated there.
#[derive(Clone, Debug)]
pub(super) struct Linearised {
    pub(super) state: State,
    jets_a: [Jet; MOST_ACTIVE],
    jets_b: [Jet; MOST_ACTIVE],
    /// n = Σ λ ∇f.
    pub(super) normal: Vector3<f64>,
    /// Σ μ ∇g.
    pub(super) opposite: Vector3<f64>,
    hessian_a: Matrix3<f64>,
    hessian_b: Matrix3<f64>,
}

impl Linearised {
    pub(super) fn new(pair: &Pair<'_>, state: &State) -> Self {
        let jets_a = evaluate(pair, Side::A, &state.lambda, &state.a);
        let jets_b = evaluate(pair, Side::B, &state.mu, &state.b);
        let (normal, hessian_a) = sums(&state.lambda, &jets_a);
        let (opposite, hessian_b) = sums(&state.mu, &jets_b);
        Self { state: *state, jets_a, jets_b, normal, opposite, hessian_a, hessian_b }
    }

    fn active(&self) -> (&[Jet], &[Jet]) {
        (&self.jets_a[..self.state.lambda.len()], &self.jets_b[..self.state.mu.len()])
    }

    /// Returns the number of unknowns of the reduced linear system: a₁, ψ, λ, μ.
    pub(super) fn unknowns(&self, pair: &Pair<'_>) -> usize {
        pair.axes + 1 + self.state.lambda.len() + self.state.mu.len()
    }

    /// Returns (a₂ − a₁ − ψ n) in units of the pair's length.   [IMP-4]
    fn off_line(&self, pair: &Pair<'_>) -> Vector3<f64> {
        (self.state.b - self.state.a - self.normal * self.state.gap) / pair.length
    }

    /// Returns the residuals of the other equations, row by row, without unit: balance, |n| = 1, f = 0, g =
    /// 0.   [IMP-4]
    fn residuals(&self, pair: &Pair<'_>) -> [f64; MOST_UNKNOWNS] {
        let d = pair.axes;
        let mut rows = [0.0; MOST_UNKNOWNS];
        let balance = self.normal + self.opposite;
        rows[..d].copy_from_slice(&balance.as_slice()[..d]);
        rows[d] = (self.normal.norm_squared() - 1.0) / 2.0;
        let (on_a, on_b) = self.active();
        debug_assert!(d + 1 + on_a.len() + on_b.len() <= MOST_UNKNOWNS, "every active function has a row");
        for (row, jet) in rows[d + 1..].iter_mut().zip(on_a.iter().chain(on_b)) {
            *row = jet.value / pair.length;
        }
        rows
    }

    fn merit(&self, pair: &Pair<'_>) -> f64 {
        let rows = self.residuals(pair);
        (rows.iter().map(|row| row * row).sum::<f64>() + self.off_line(pair).norm_squared()).sqrt()
    }

    /// Returns the derivatives of [`Self::residuals`] along ∂a₂ = (1 + ψF) ∂a₁ + n ∂ψ + ψ Σ ∇f ∂λ with F = Σ λ ∇²f,
    /// and `sides` zero right-hand sides.   [IMP-5]
    pub(super) fn system(&self, pair: &Pair<'_>, sides: usize) -> System {
        let (d, length, gap) = (pair.axes, pair.length, self.state.gap);
        let mut system = System::new(self.unknowns(pair), sides);
        let (on_a, on_b) = self.active();
        let moved = Matrix3::identity() + self.hessian_a * gap;
        let balance = (self.hessian_a + self.hessian_b * moved) * length;
        let by_gap = self.hessian_b * self.normal * length;
        let bent = self.hessian_a * self.normal * length;
        for i in 0..d {
            for j in 0..d {
                system.set(i, j, balance[(i, j)]);
            }
            system.set(i, d, by_gap[i]);
            system.set(d, i, bent[i]);
        }
        for (k, jet) in on_a.iter().enumerate() {
            let row = d + 1 + k;
            let by_multiplier = jet.gradient + self.hessian_b * jet.gradient * gap;
            for i in 0..d {
                system.set(i, row, by_multiplier[i]);
                system.set(row, i, jet.gradient[i]);
            }
            system.set(d, row, self.normal.dot(&jet.gradient));
        }
        for (k, jet) in on_b.iter().enumerate() {
            let row = d + 1 + on_a.len() + k;
            let by_point = moved * jet.gradient;
            for i in 0..d {
                system.set(i, row, jet.gradient[i]);
                system.set(row, i, by_point[i]);
            }
            system.set(row, d, jet.gradient.dot(&self.normal));
            for (column, on_a) in on_a.iter().enumerate() {
                system.set(row, d + 1 + column, gap / length * jet.gradient.dot(&on_a.gradient));
            }
        }
        system
    }

    /// Returns the Newton step of the equations. The residual a₂ − a₁ − ψ n enters the right-hand side.   [IMP-5]
    fn newton_step(&self, pair: &Pair<'_>) -> Step {
        let (d, length) = (pair.axes, pair.length);
        let mut system = self.system(pair, 1);
        let off_line = self.off_line(pair);
        let pulled = self.hessian_b * off_line * length;
        let first_of_b = d + 1 + self.state.lambda.len();
        for (row, residual) in self.residuals(pair).iter().enumerate().take(self.unknowns(pair)) {
            let from_line = if row < d {
                pulled[row]
            } else {
                let jet = row.checked_sub(first_of_b).and_then(|k| self.jets_b.get(k));
                jet.map_or(0.0, |jet| jet.gradient.dot(&off_line))
            };
            system.set_side(row, 0, from_line - residual);
        }
        let solution = system.solve().0;
        debug_assert!(first_of_b + MOST_ACTIVE <= MOST_UNKNOWNS, "every multiplier has a row");
        let at = |row: usize| solution.get(row).map_or(0.0, |row| row[0]);
        let mut a = Vector3::zeros();
        for k in 0..d {
            a[k] = at(k) * length;
        }
        let gap = at(d) * length;
        let lambda = std::array::from_fn(|i| at(d + 1 + i));
        let mu = std::array::from_fn(|j| at(first_of_b + j));
        let turn = self.normal_change(&a, lambda.into_iter());
        let b = a + self.normal * gap + turn * self.state.gap - off_line * length;
        Step { a, b, gap, lambda, mu }
    }

    /// Returns the state after a `fraction` of a step, limited by the size of the shapes.
    fn stepped(&self, pair: &Pair<'_>, step: &Step, fraction: f64) -> State {
        let mut state = self.state;
        let way = step.a.norm().max(step.b.norm());
        let fraction = fraction.min(pair.reach / way.max(f64::MIN_POSITIVE));
        state.a += step.a * fraction;
        state.b += step.b * fraction;
        state.gap += step.gap * fraction;
        for (i, change) in step.lambda.iter().enumerate().take(state.lambda.len()) {
            state.lambda.add(i, fraction * change);
        }
        for (j, change) in step.mu.iter().enumerate().take(state.mu.len()) {
            state.mu.add(j, fraction * change);
        }
        state
    }

    /// Returns the active functions of B.
    pub(super) fn gradients_of_b(&self) -> &[Jet] {
        self.active().1
    }

    /// Returns Σ μ ∇²g.
    pub(super) fn hessian_of_b(&self) -> &Matrix3<f64> {
        &self.hessian_b
    }

    /// Returns the change of the normal for a change of the point on A and of the multipliers.
    pub(super) fn normal_change(&self, point: &Vector3<f64>, multipliers: impl Iterator<Item = f64>) -> Vector3<f64> {
        let turned: Vector3<f64> =
            self.active().0.iter().zip(multipliers).map(|(jet, change)| jet.gradient * change).sum();
        self.hessian_a * point + turned
    }
}

/// Runs Newton's method: full steps first, without a merit function, then damped steps if those fail.
///
/// For vertices at a small gap the normal changes much and the residual little, so a growing residual does not mean
/// failure.
pub(super) fn newton(pair: &Pair<'_>, start: &State) -> Linearised {
    let first = Linearised::new(pair, start);
    let (plain, merit) = full_steps(pair, &first);
    if merit <= CONVERGED { plain } else { halved_steps(pair, first) }
}

/// Takes full steps while they are finite; returns the best iterate and its merit.
fn full_steps(pair: &Pair<'_>, first: &Linearised) -> (Linearised, f64) {
    let mut current = first.clone();
    let mut best = (first.clone(), first.merit(pair));
    for _ in 0..MOST_FULL_STEPS {
        let step = current.newton_step(pair);
        current = Linearised::new(pair, &current.stepped(pair, &step, 1.0));
        let merit = current.merit(pair);
        // Near round-off, the first step without improvement is the last.
        if !merit.is_finite() || (best.1 <= CONVERGED && merit >= best.1) {
            break;
        }
        if merit < best.1 {
            best = (current.clone(), merit);
        }
        if merit <= ROUND_OFF {
            break;
        }
    }
    best
}

/// Takes steps, each halved until the residual decreases.
fn halved_steps(pair: &Pair<'_>, first: Linearised) -> Linearised {
    let mut current = first;
    let mut merit = current.merit(pair);
    for _ in 0..MOST_STEPS {
        if merit <= ROUND_OFF || merit.is_nan() {
            break;
        }
        let step = current.newton_step(pair);
        let better = (0..MOST_HALVINGS).find_map(|halvings| {
            let fraction = 1.0 / f64::from(1 << halvings);
            let trial = Linearised::new(pair, &current.stepped(pair, &step, fraction));
            let trial_merit = trial.merit(pair);
            (trial_merit < merit * (1.0 - 1e-4 * fraction)).then_some((trial, trial_merit))
        });
        let Some((next, next_merit)) = better else { break };
        (current, merit) = (next, next_merit);
    }
    current
}

fn evaluate(pair: &Pair<'_>, side: Side, multipliers: &Multipliers, x: &Vector3<f64>) -> [Jet; MOST_ACTIVE] {
    let mut jets = [Jet::ZERO; MOST_ACTIVE];
    for (jet, (k, _)) in jets.iter_mut().zip(multipliers.iter()) {
        *jet = pair.jet(side, k, x);
    }
    jets
}

fn sums(multipliers: &Multipliers, jets: &[Jet; MOST_ACTIVE]) -> (Vector3<f64>, Matrix3<f64>) {
    multipliers.iter().zip(jets).fold((Vector3::zeros(), Matrix3::zeros()), |(gradient, hessian), ((_, m), jet)| {
        (gradient + jet.gradient * m, hessian + jet.hessian * m)
    })
}
