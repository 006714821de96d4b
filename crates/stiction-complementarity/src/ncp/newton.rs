//! Semismooth Newton for the mixed complementarity problem, with two continuation methods as fallbacks.   [NCP-5]
//!
//! Each attempt minimises ½ ‖Φ‖² by Newton steps with a non-monotone line search. If a Newton step is singular or fails, a
//! Levenberg-Marquardt step replaces it, then the gradient [DeLuca1996]. If an attempt ends in a local minimum that is no
//! solution, continuation starts from an easier problem ([`NcpAttempt`]), then other initial guesses are tried. The method
//! never proves infeasibility: without a solution it ends with `BudgetExhausted` or `Breakdown`.

use super::reformulation::{Reformulation, Row};
use super::{Ncp, NcpFunction, NcpSolution, natural_map_between};
use crate::interrupt;
use crate::linalg::{DenseLu, DenseMatrix, SparseMatrix, dot};
use crate::outcome::{Ending, Status};
use crate::problem::OptionError;
use crate::solver::Solver;

/// Options of [`NcpNewton`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct NcpNewtonOptions {
    /// Largest number of Newton steps of all attempts together. Default 3000.
    pub max_iterations: u32,
    /// Residual [NCP-2] at which the method stops. In the units of the rows, default 1e-12, in (0, 1).
    pub target: f64,
    /// The equation that is solved; Fischer-Burmeister by default.
    pub reformulation: Reformulation,
    /// Number of other initial guesses that are tried after the given one. Default 3; 0 uses the given one only.
    pub restarts: u16,
    /// Attempts that are made from each initial guess, in order. Default [`NcpAttempt::ALL`].
    pub attempts: &'static [NcpAttempt],
}

impl Default for NcpNewtonOptions {
    fn default() -> Self {
        Self {
            max_iterations: 3000,
            target: 1e-12,
            reformulation: Reformulation::FischerBurmeister,
            restarts: 3,
            attempts: &NcpAttempt::ALL,
        }
    }
}

/// One attempt: direct, or by continuation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NcpAttempt {
    /// Newton on the problem itself.
    Newton,
    /// Through smoothed equations, μ → 0.   [NCP-6]
    Smoothing,
    /// Through F + λ (z − z⁰), λ → 0.   [NCP-7]
    Proximal,
}

impl NcpAttempt {
    /// All of them, the direct one first.
    pub const ALL: [Self; 3] = [Self::Newton, Self::Smoothing, Self::Proximal];
}

/// Record of one attempt of the last run.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct NcpRecord {
    /// The kind of attempt.
    pub attempt: NcpAttempt,
    /// Number of the initial guess: 0 is the given one.
    pub start: u16,
    /// The best residual so far.
    pub residual: f64,
    /// Newton steps of this attempt.
    pub iterations: u32,
}

/// The equation of one stage: F + λ (z − z⁰) with smoothing μ.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stage {
    pub(super) reformulation: Reformulation,
    pub(super) smoothing: f64,
    pub(super) proximal: f64,
}

/// End of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Halt {
    Reached,
    Stalled,
    Budget,
    NotFinite,
}

/// Values of F, Φ and the merit function at a point.
#[derive(Clone, Debug, Default)]
struct Evaluation {
    z: Vec<f64>,
    f: Vec<f64>,
    phi: Vec<f64>,
    merit: f64,
}

/// Semismooth Newton for [`Ncp`], with its scratch memory.
#[derive(Clone, Debug, Default)]
pub struct NcpNewton {
    pub(crate) options: NcpNewtonOptions,
    here: Evaluation,
    trial: Evaluation,
    pub(super) center: Vec<f64>,
    pub(super) kept: Vec<f64>,
    best: Vec<f64>,
    pub(super) best_residual: f64,
    pub(super) iterations: u32,
    jacobian: SparseMatrix,
    h: DenseMatrix,
    gradient: Vec<f64>,
    direction: Vec<f64>,
    lu: DenseLu,
    records: Vec<NcpRecord>,
}

/// Number of past merits that the non-monotone line search compares with.
const MEMORY: usize = 6;

/// Armijo's constant. Dimensionless.
const DECREASE: f64 = 1e-4;

/// Shortest step of the line search, as a fraction of the full step. Dimensionless.
const SHORTEST_STEP: f64 = 1e-9;

impl NcpNewton {
    /// Largest residual of a claim of success, in the units of the rows; the caller measures the residual again.
    const CLAIMED: f64 = 1e-6;

    /// The method with its default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// The method with these options; returns an error for an option out of range.
    pub fn with_options(options: NcpNewtonOptions) -> Result<Self, OptionError> {
        let value = options.target;
        if !(value > 0.0 && value < 1.0) {
            return Err(OptionError { name: "target", value, range: "(0, 1)" });
        }
        Ok(Self { options, ..Self::default() })
    }

    /// Every attempt of the last run, in order.
    pub fn records(&self) -> &[NcpRecord] {
        &self.records
    }

    /// Sets the current point to `z` at the start of a stage.
    pub(super) fn set_point(&mut self, z: &[f64]) {
        self.here.z.clear();
        self.here.z.extend_from_slice(z);
    }

    /// The current point.
    pub(super) fn point(&self) -> &[f64] {
        &self.here.z
    }

    /// Minimises ½ ‖Φ‖² until the stage is solved or stalls.   [NCP-5]
    pub(super) fn descend<F: NcpFunction>(&mut self, function: &F, stage: Stage, target: f64, steps: u32) -> Halt {
        self.here.evaluate(function, stage, &self.center);
        if !self.here.merit.is_finite() {
            return Halt::NotFinite;
        }
        let mut recent = [self.here.merit; MEMORY];
        let mut slow = 0;
        for step in 0..=steps {
            self.update_best(function);
            let plain = stage.smoothing == 0.0 && stage.proximal == 0.0;
            let error = if plain { self.best_residual } else { self.here.error() };
            if error <= target {
                return Halt::Reached;
            }
            if step == steps || self.iterations >= self.options.max_iterations || interrupt::is_requested() {
                return Halt::Budget;
            }
            let before = self.here.merit;
            recent[step as usize % MEMORY] = before;
            let reference = recent.iter().fold(0.0, |largest: f64, merit| largest.max(*merit));
            self.iterations += 1;
            self.assemble(function, stage);
            if !self.advance(function, stage, reference) {
                return Halt::Stalled;
            }
            slow = if self.here.merit > 0.99 * before { slow + 1 } else { 0 };
            if slow > 2 * MEMORY {
                return Halt::Stalled;
            }
        }
        Halt::Budget
    }

    /// Stores the current point if its natural-map residual of the problem itself is the smallest so far.   [NCP-2]
    fn update_best<F: NcpFunction>(&mut self, function: &F) {
        let rows = self.here.z.iter().zip(&self.here.f).enumerate();
        let residual =
            rows.fold(0.0, |worst: f64, (i, (&z, &f))| worst.max(natural_map_between(z, f, function.bounds(i)).abs()));
        if residual < self.best_residual {
            self.best_residual = residual;
            self.best.clone_from(&self.here.z);
        }
    }

    /// Largest entry of ∂F/∂z at the initial guess.
    pub(super) fn largest_slope<F: NcpFunction>(&mut self, function: &F) -> f64 {
        function.jacobian(&self.center, &mut self.jacobian);
        let rows = 0..self.jacobian.finished_rows();
        let jacobian = &self.jacobian;
        rows.flat_map(|i| jacobian.row(i)).fold(0.0, |size: f64, (_, slope)| size.max(slope.abs()))
    }

    /// H = ∂Φ/∂z and the gradient Hᵀ Φ.   [NCP-5]
    fn assemble<F: NcpFunction>(&mut self, function: &F, stage: Stage) {
        let n = function.size();
        function.jacobian(&self.here.z, &mut self.jacobian);
        self.h.reset(n, n);
        self.gradient.clear();
        self.gradient.resize(n, 0.0);
        for i in 0..n {
            let Row { on_z, on_f, .. } = self.here.row(function, stage, &self.center, i);
            let row = self.h.row_mut(i);
            self.jacobian.row(i).for_each(|(j, value)| row[j] += on_f * value);
            row[i] += on_z + on_f * stage.proximal;
            let phi = self.here.phi[i];
            self.gradient.iter_mut().zip(&*row).for_each(|(g, h)| *g += h * phi);
        }
    }

    /// Steps along the first direction that lowers the merit: Newton, Levenberg-Marquardt, gradient.
    fn advance<F: NcpFunction>(&mut self, function: &F, stage: Stage, reference: f64) -> bool {
        if self.newton_direction() && self.search(function, stage, reference) {
            return true;
        }
        let size = self.h.as_slice().iter().fold(0.0, |size: f64, h| size.max(h.abs()));
        for damping in [1e-8, 1e-4, 1e-1] {
            if self.damped_direction(damping * size * size) && self.search(function, stage, self.here.merit) {
                return true;
            }
        }
        let length = dot(&self.gradient, &self.gradient);
        let scale = if length > 0.0 { 2.0 * self.here.merit / length } else { 0.0 };
        self.direction.clear();
        self.direction.extend(self.gradient.iter().map(|g| -scale * g));
        scale.is_finite() && scale > 0.0 && self.search(function, stage, self.here.merit)
    }

    /// Solves H d = −Φ; false if H is singular.
    fn newton_direction(&mut self) -> bool {
        let h = &self.h;
        self.direction.resize(h.rows(), 0.0);
        if self.lu.factor(h.rows(), |a| a.copy_from_slice(h.as_slice())).is_err() {
            return false;
        }
        self.lu.solve(&self.here.phi, &mut self.direction);
        self.direction.iter_mut().for_each(|d| *d = -*d);
        true
    }

    /// Solves (Hᵀ H + σ I) d = −Hᵀ Φ; σ = `damping` but at most ½ ‖Φ‖², so that it vanishes at a solution.
    fn damped_direction(&mut self, damping: f64) -> bool {
        let (h, n) = (&self.h, self.h.rows());
        let damping = damping.min(self.here.merit).max(f64::MIN_POSITIVE);
        let factored = self.lu.factor(n, |a| {
            for row in h.as_slice().chunks_exact(n) {
                for (x, a) in row.iter().zip(a.chunks_exact_mut(n)).filter(|(x, _)| **x != 0.0) {
                    a.iter_mut().zip(row).for_each(|(a, y)| *a += x * y);
                }
            }
            a.iter_mut().step_by(n + 1).for_each(|a| *a += damping);
        });
        if factored.is_err() {
            return false;
        }
        self.lu.solve(&self.gradient, &mut self.direction);
        self.direction.iter_mut().for_each(|d| *d = -*d);
        true
    }

    /// Halves the step until the merit is below `reference` by Armijo's rule; false, without a step, if none is.
    fn search<F: NcpFunction>(&mut self, function: &F, stage: Stage, reference: f64) -> bool {
        let slope = dot(&self.gradient, &self.direction);
        if !(slope < 0.0 && slope.is_finite()) {
            return false;
        }
        let mut step = 1.0;
        while step >= SHORTEST_STEP {
            self.trial.z.clear();
            self.trial.z.extend(self.here.z.iter().zip(&self.direction).map(|(z, d)| z + step * d));
            self.trial.evaluate(function, stage, &self.center);
            // A NaN compares false, so a step out of the domain of F is refused.
            if self.trial.merit <= reference + DECREASE * step * slope {
                std::mem::swap(&mut self.here, &mut self.trial);
                return true;
            }
            step *= 0.5;
        }
        false
    }

    /// Makes all attempts from all initial guesses in order until the target is reached.
    pub(crate) fn search_all<F: NcpFunction>(
        &mut self,
        function: &F,
        guess: Option<&[f64]>,
        z: &mut Vec<f64>,
    ) -> Ending {
        let n = function.size();
        let guess = guess.filter(|guess| guess.len() == n && guess.iter().all(|z| z.is_finite()));
        self.records.clear();
        (self.best_residual, self.iterations) = (f64::INFINITY, 0);
        z.clear();
        z.extend((0..n).map(|i| start(function, guess, i, 0)));
        self.best.clone_from(z);
        let mut halt = Halt::Stalled;
        'starts: for number in 0..=self.options.restarts {
            self.center.clear();
            self.center.extend((0..n).map(|i| start(function, guess, i, number)));
            for &attempt in self.options.attempts {
                let before = self.iterations;
                halt = self.attempt(function, attempt);
                let (residual, iterations) = (self.best_residual, self.iterations - before);
                self.records.push(NcpRecord { attempt, start: number, residual, iterations });
                if residual <= self.options.target || self.iterations >= self.options.max_iterations {
                    break 'starts;
                }
            }
            if self.best_residual <= Self::CLAIMED {
                break;
            }
        }
        z.clone_from(&self.best);
        let status = match halt {
            _ if self.best_residual <= Self::CLAIMED => Status::Solved,
            _ if self.iterations >= self.options.max_iterations => Status::BudgetExhausted,
            Halt::Budget => Status::BudgetExhausted,
            _ => Status::Breakdown,
        };
        Ending::new(status, self.iterations)
    }
}

/// Initial guess number `number` of variable i: the given one (or zero), then points spread around it, within the bounds.
fn start<F: NcpFunction>(function: &F, guess: Option<&[f64]>, i: usize, number: u16) -> f64 {
    const GOLDEN_RATIO: f64 = 0.618_033_988_749_894_8;
    let (lower, upper) = function.bounds(i);
    let base = guess.and_then(|guess| guess.get(i)).copied().unwrap_or(0.0);
    let spread = if number == 0 { 0.0 } else { f64::from(number) * (1.0 + base.abs()) };
    let offset = 2.0 * ((i as f64 + 1.0) * f64::from(number) * GOLDEN_RATIO).fract() - 1.0;
    // A variable with a lower bound is moved upwards only.
    let offset = if lower > f64::NEG_INFINITY { offset.abs() } else { offset };
    (base + spread * offset).max(lower).min(upper)
}

impl Evaluation {
    /// Φ_i with its slopes at the stored z and F.
    fn row<F: NcpFunction>(&self, function: &F, stage: Stage, center: &[f64], i: usize) -> Row {
        let (z, f) = (self.z[i], self.f[i] + stage.proximal * (self.z[i] - center[i]));
        stage.reformulation.row(z, f, function.bounds(i), stage.smoothing)
    }

    /// Computes F, Φ and ½ ‖Φ‖² at z.
    fn evaluate<F: NcpFunction>(&mut self, function: &F, stage: Stage, center: &[f64]) {
        let n = self.z.len();
        self.f.resize(n, 0.0);
        function.value(&self.z, &mut self.f);
        let mut phi = std::mem::take(&mut self.phi);
        phi.clear();
        phi.extend((0..n).map(|i| self.row(function, stage, center, i).value));
        self.merit = 0.5 * dot(&phi, &phi);
        // min() drops a NaN, so F itself is checked too.
        if !self.f.iter().all(|f| f.is_finite()) {
            self.merit = f64::NAN;
        }
        self.phi = phi;
    }

    /// ‖Φ‖∞.
    fn error(&self) -> f64 {
        self.phi.iter().fold(0.0, |worst: f64, phi| worst.max(phi.abs()))
    }
}

impl<F: NcpFunction> Solver<Ncp<F>> for NcpNewton {
    fn run(&mut self, problem: &Ncp<F>, guess: Option<&NcpSolution>, solution: &mut NcpSolution) -> Ending {
        self.search_all(problem.function(), guess.map(|guess| guess.z.as_slice()), &mut solution.z)
    }
}
