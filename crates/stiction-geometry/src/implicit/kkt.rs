//! Newton's method on the equations of the closest points, for given active functions.   [IMP-4]
//!
//! The unknowns are both points, the gap and the multipliers; lengths are measured in units of the pair's. Unlike the stationarity of
//! ½|a₂ − a₁|², whose multipliers vanish with the gap, the system keeps its rank at touching and in overlap.

use nalgebra::{Matrix3, Vector3};

use super::gauss::{MOST_SIDES, MOST_UNKNOWNS, System};
use super::jet::Jet;
use super::multipliers::{MOST_ACTIVE, Multipliers};
use super::pair::{Pair, Side};

/// Full Newton steps for one set of active functions.
const MOST_FULL_STEPS: usize = 12;
/// Damped Newton steps for one set of active functions.
const MOST_STEPS: usize = 30;
/// Norms of the residual at which Newton's method has arrived.
const CONVERGED: f64 = 1e-12;
/// Times a step may be halved.
const MOST_HALVINGS: u32 = 12;
/// Norms of the residual that cannot be bettered.
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

    /// How many unknowns there are.
    pub(super) fn unknowns(&self, pair: &Pair<'_>) -> usize {
        2 * pair.axes + 1 + self.state.lambda.len() + self.state.mu.len()
    }

    /// The left sides of the equations, row by row, without unit.   [IMP-4]
    fn residuals(&self, pair: &Pair<'_>) -> [f64; MOST_UNKNOWNS] {
        let d = pair.axes;
        let mut rows = [0.0; MOST_UNKNOWNS];
        let State { a, b, gap, .. } = self.state;
        let line = (b - a - self.normal * gap) / pair.length;
        let balance = self.normal + self.opposite;
        for k in 0..d {
            rows[k] = line[k];
            rows[d + k] = balance[k];
        }
        rows[2 * d] = (self.normal.norm_squared() - 1.0) / 2.0;
        let (on_a, on_b) = self.active();
        for (row, jet) in rows[2 * d + 1..].iter_mut().zip(on_a.iter().chain(on_b)) {
            *row = jet.value / pair.length;
        }
        rows
    }

    fn merit(&self, pair: &Pair<'_>) -> f64 {
        self.residuals(pair).iter().map(|row| row * row).sum::<f64>().sqrt()
    }

    /// The derivatives of [`Self::residuals`], with `sides` right-hand sides still zero.   [IMP-5]
    pub(super) fn system(&self, pair: &Pair<'_>, sides: usize) -> System {
        let (d, length) = (pair.axes, pair.length);
        let mut system = System::new(self.unknowns(pair), sides);
        let gap = self.state.gap;
        let (on_a, on_b) = self.active();
        for i in 0..d {
            system.add(i, i, -1.0);
            system.add(i, d + i, 1.0);
            system.add(i, 2 * d, -self.normal[i]);
            for j in 0..d {
                system.add(i, j, -gap * self.hessian_a[(i, j)]);
                system.add(d + i, j, length * self.hessian_a[(i, j)]);
                system.add(d + i, d + j, length * self.hessian_b[(i, j)]);
                system.add(2 * d, i, length * self.hessian_a[(i, j)] * self.normal[j]);
            }
        }
        for (k, jet) in on_a.iter().enumerate() {
            let row = 2 * d + 1 + k;
            for i in 0..d {
                system.add(i, row, -gap / length * jet.gradient[i]);
                system.add(d + i, row, jet.gradient[i]);
                system.add(row, i, jet.gradient[i]);
            }
            system.add(2 * d, row, self.normal.dot(&jet.gradient));
        }
        for (k, jet) in on_b.iter().enumerate() {
            let row = 2 * d + 1 + on_a.len() + k;
            for i in 0..d {
                system.add(d + i, row, jet.gradient[i]);
                system.add(row, d + i, jet.gradient[i]);
            }
        }
        system
    }

    /// The state after `fraction` of a step.
    fn stepped(&self, pair: &Pair<'_>, step: &[[f64; MOST_SIDES]; MOST_UNKNOWNS], fraction: f64) -> State {
        let d = pair.axes;
        let mut state = self.state;
        let scale = fraction * pair.length;
        for k in 0..d {
            state.a[k] += scale * step[k][0];
            state.b[k] += scale * step[d + k][0];
        }
        state.gap += scale * step[2 * d][0];
        let multipliers = 2 * d + 1;
        for i in 0..state.lambda.len() {
            state.lambda.add(i, fraction * step[multipliers + i][0]);
        }
        for j in 0..state.mu.len() {
            state.mu.add(j, fraction * step[multipliers + state.lambda.len() + j][0]);
        }
        state
    }

    /// The Newton step of the equations.   [IMP-5]
    fn newton_step(&self, pair: &Pair<'_>) -> [[f64; MOST_SIDES]; MOST_UNKNOWNS] {
        let mut system = self.system(pair, 1);
        for (row, residual) in self.residuals(pair).iter().enumerate().take(self.unknowns(pair)) {
            system.add_to_side(row, 0, -residual);
        }
        system.solve().0
    }

    /// The active functions of B.
    pub(super) fn gradients_of_b(&self) -> &[Jet] {
        self.active().1
    }

    /// ∇²f and ∇²g, weighted by the multipliers.
    pub(super) fn hessians(&self) -> (&Matrix3<f64>, &Matrix3<f64>) {
        (&self.hessian_a, &self.hessian_b)
    }

    /// The change of the normal with a change of the point on A and of the multipliers.
    pub(super) fn normal_change(&self, point: &Vector3<f64>, multipliers: impl Iterator<Item = f64>) -> Vector3<f64> {
        let turned: Vector3<f64> =
            self.active().0.iter().zip(multipliers).map(|(jet, change)| jet.gradient * change).sum();
        self.hessian_a * point + turned
    }
}

/// Newton's method: full steps first, which need no measure of progress; halved steps where those lead nowhere.
///
/// Where corners meet at a small gap the normal moves much and the residual little, so that a residual that grows is no bad sign.
pub(super) fn newton(pair: &Pair<'_>, start: &State) -> Linearised {
    let first = Linearised::new(pair, start);
    let (plain, merit) = full_steps(pair, &first);
    if merit <= CONVERGED { plain } else { halved_steps(pair, first) }
}

/// Full steps while they are finite; the best iterate and its merit.
fn full_steps(pair: &Pair<'_>, first: &Linearised) -> (Linearised, f64) {
    let mut current = first.clone();
    let mut best = (first.clone(), first.merit(pair));
    for _ in 0..MOST_FULL_STEPS {
        let step = current.newton_step(pair);
        current = Linearised::new(pair, &current.stepped(pair, &step, 1.0));
        let merit = current.merit(pair);
        // Near round-off a step that does not help is the last.
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

/// Steps halved until the residual falls.
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
