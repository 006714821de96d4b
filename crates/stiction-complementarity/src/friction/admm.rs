//! Over-relaxed ADMM (alternating directions) with De Saxcé's shift: linear algebra and laws take turns.   [ADMM-1] … [ADMM-4]
//!
//! One factorisation of W + diag(ρ w) serves all iterations until ρ changes. Slow to the last digits, but each iteration is
//! cheap, nothing has to be smooth, and redundant contacts do no harm. With friction the problem is not convex: then the
//! shift follows the iterates as a fixed point, and convergence is common but not proved.

use super::newton::system::{ImpulseSystem, mean_diagonals};
use super::newton::{natural_map, start_from};
use super::{FrictionProblem, FrictionSolution, Law};
use crate::linalg::SingularRow;
use crate::outcome::{Ending, Status};
use crate::problem::OptionError;
use crate::solver::Solver;

/// Options of [`FrictionAdmm`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrictionAdmmOptions {
    /// `Solved` is claimed at residual ≤ `tolerance`, the residual of [CONE-5]. Dimensionless, default 1e-9.
    pub tolerance: f64,
    /// Iterations, the unit of the budget. Default 5000.
    pub max_iterations: u32,
    /// Over-relaxation ω of [ADMM-2], in (0, 2). Default 1.6.
    pub relaxation: f64,
    /// First penalty ρ, relative to the mean diagonal w of each block of W. Dimensionless, default 0.1.
    pub penalty: f64,
    /// Iterations between two measurements, each with a chance to change ρ. Default 20.
    pub interval: u32,
    /// Changes of ρ, each with a factorisation; afterwards ρ stays. Default 20.
    pub max_updates: u32,
    /// ρ changes when the better value [ADMM-4] differs by more than this factor. Default 3.
    pub imbalance: f64,
}

impl Default for FrictionAdmmOptions {
    fn default() -> Self {
        Self {
            tolerance: 1e-9,
            max_iterations: 5000,
            relaxation: 1.6,
            penalty: 0.1,
            interval: 20,
            max_updates: 20,
            imbalance: 3.0,
        }
    }
}

impl FrictionAdmmOptions {
    /// Refuses numbers that make no sense.
    pub fn validate(&self) -> Result<(), OptionError> {
        let inside = |name, value: f64, (low, high): (f64, f64), range| {
            if value > low && value < high { Ok(()) } else { Err(OptionError { name, value, range }) }
        };
        inside("tolerance", self.tolerance, (0.0, f64::INFINITY), "(0, ∞)")?;
        inside("relaxation", self.relaxation, (0.0, 2.0), "(0, 2)")?;
        inside("penalty", self.penalty, (0.0, f64::INFINITY), "(0, ∞)")?;
        inside("imbalance", self.imbalance, (1.0, f64::INFINITY), "(1, ∞)")?;
        inside("interval", f64::from(self.interval), (0.0, f64::INFINITY), "[1, ∞)")
    }
}

/// ADMM for frictional contact.
///
/// Claims `Solved` only when the measured residual is within its tolerance, otherwise `BudgetExhausted`, or `Breakdown` when
/// a factorisation failed. The answer is the measured iterate of least residual and lies in the cones exactly.
#[derive(Clone, Debug, Default)]
pub struct FrictionAdmm {
    options: FrictionAdmmOptions,
    system: ImpulseSystem,
    /// Mean diagonal w of W, one number per block.
    weights: Vec<f64>,
    /// Impulses that satisfy the equations of motion, and those that satisfy the laws.
    r: Vec<f64>,
    z: Vec<f64>,
    /// Multiplier of r = z; it tends to −û.
    multiplier: Vec<f64>,
    right_side: Vec<f64>,
    u: Vec<f64>,
    best: Vec<f64>,
    state: Vec<f64>,
}

/// How far an iteration was from rest: r − z and the change of ρ w z, both as energies.
#[derive(Clone, Copy, Default)]
struct Gaps {
    primal: f64,
    dual: f64,
}

impl FrictionAdmm {
    /// The method with default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// The method with these options.
    pub fn with_options(options: FrictionAdmmOptions) -> Result<Self, OptionError> {
        options.validate()?;
        Ok(Self { options, ..Self::default() })
    }

    /// The options in force.
    pub fn options(&self) -> &FrictionAdmmOptions {
        &self.options
    }

    /// Begins at the guess, with the multiplier that belongs to it.
    fn start(&mut self, problem: &FrictionProblem, guess: Option<&FrictionSolution>) {
        start_from(guess, problem.rows(), &mut self.z);
        self.system.prepare(problem);
        mean_diagonals(problem, &mut self.state, &mut self.weights);
        problem.velocities(&self.z, &mut self.u, &mut self.state);
        self.r.clone_from(&self.z);
        self.best.clone_from(&self.z);
        self.right_side.clear();
        self.right_side.resize(problem.rows(), 0.0);
        self.multiplier.clear();
        self.multiplier.extend(self.u.iter().map(|u| -u));
        for (block, law) in problem.laws().iter().enumerate() {
            let range = problem.range(block);
            let shift = law.shift(&self.u[range.clone()]);
            self.multiplier[range.start] -= shift;
        }
    }

    /// Factorises W + diag(c + ρ w).   [ADMM-1]
    fn factor(&mut self, problem: &FrictionProblem, penalty: f64) -> Result<(), SingularRow> {
        for (block, weight) in self.weights.iter().enumerate() {
            let range = problem.range(block);
            let n = range.len();
            let compliance = problem.compliance().get(range).unwrap_or(&[]);
            let (a, b) = self.system.blocks_mut(block);
            a.fill(0.0);
            b.fill(0.0);
            for k in 0..n {
                a[k * (n + 1)] = penalty * weight + compliance.get(k).copied().unwrap_or(0.0);
                b[k * (n + 1)] = 1.0;
            }
        }
        self.system.factor(problem)
    }

    /// One iteration: equations of motion, laws, multiplier.   [ADMM-1] [ADMM-2] [ADMM-3]
    fn iterate(&mut self, problem: &FrictionProblem, penalty: f64) -> Gaps {
        for (block, law) in problem.laws().iter().enumerate() {
            let (range, rho) = (problem.range(block), penalty * self.weights[block]);
            for k in range.clone() {
                self.right_side[k] = rho * self.z[k] - self.multiplier[k] - problem.q()[k];
            }
            // The shift leaves tangential components alone, so ‖u_T‖ can be read off the multiplier −û.
            let shift = law.shift(&self.multiplier[range.clone()]);
            self.right_side[range.start] -= shift;
        }
        self.system.solve(problem, &self.right_side, &mut self.r);
        let (omega, mut gaps) = (self.options.relaxation, Gaps::default());
        for (block, law) in problem.laws().iter().enumerate() {
            let (range, weight) = (problem.range(block), self.weights[block]);
            let rho = penalty * weight;
            let (r, z) = (&self.r[range.clone()], &mut self.z[range.clone()]);
            let (multiplier, old) = (&mut self.multiplier[range.clone()], &mut self.right_side[range]);
            old.copy_from_slice(z);
            for k in 0..r.len() {
                // λ + ρ (r̂ − z) without the z that is not known yet.
                let relaxed = omega * r[k] + (1.0 - omega) * z[k];
                multiplier[k] += rho * relaxed;
                z[k] = multiplier[k] / rho;
            }
            law.project(z);
            for k in 0..r.len() {
                multiplier[k] = if matches!(law, Law::Equality { .. }) { 0.0 } else { multiplier[k] - rho * z[k] };
                gaps.primal += weight * (r[k] - z[k]).powi(2);
                gaps.dual += weight * (penalty * (z[k] - old[k])).powi(2);
            }
        }
        gaps
    }

    /// The penalty that balances both gaps, each relative to what it is compared with.   [ADMM-4]
    fn balanced(&self, problem: &FrictionProblem, penalty: f64, gaps: Gaps) -> f64 {
        let (mut impulses, mut velocities) = (0.0, 0.0);
        for (block, weight) in self.weights.iter().enumerate() {
            for k in problem.range(block) {
                impulses += weight * self.z[k].powi(2).max(self.r[k].powi(2));
                velocities += problem.q()[k].powi(2) / weight;
            }
        }
        let ratio = (gaps.primal * velocities / (gaps.dual * impulses)).sqrt().sqrt();
        if ratio.is_finite() && ratio > 0.0 { penalty * ratio.clamp(0.05, 20.0) } else { penalty }
    }
}

impl Solver<FrictionProblem> for FrictionAdmm {
    fn run(
        &mut self,
        problem: &FrictionProblem,
        guess: Option<&FrictionSolution>,
        solution: &mut FrictionSolution,
    ) -> Ending {
        let options = self.options;
        self.start(problem, guess);
        let mut least = natural_map(problem, &self.z, &self.u);
        let (mut penalty, mut updates, mut iterations) = (options.penalty, 0, 0);
        let mut factored = self.factor(problem, penalty);
        while factored.is_ok() && least > options.tolerance && iterations < options.max_iterations {
            let gaps = self.iterate(problem, penalty);
            iterations += 1;
            if iterations % options.interval != 0 && iterations < options.max_iterations {
                continue;
            }
            problem.velocities(&self.z, &mut self.u, &mut self.state);
            let residual = natural_map(problem, &self.z, &self.u);
            if residual < least {
                least = residual;
                self.best.copy_from_slice(&self.z);
            }
            let better = self.balanced(problem, penalty, gaps);
            let apart = (better / penalty).max(penalty / better);
            if apart > options.imbalance && updates < options.max_updates {
                (penalty, updates) = (better, updates + 1);
                factored = self.factor(problem, penalty);
            }
        }
        solution.r.clone_from(&self.best);
        let status = match factored {
            _ if least <= options.tolerance => Status::Solved,
            Ok(()) => Status::BudgetExhausted,
            Err(_) => Status::Breakdown,
        };
        Ending::new(status, iterations)
    }
}
