//! Over-relaxed ADMM (alternating direction method of multipliers) with the De Saxcé correction.   [ADMM-1] … [ADMM-4]
//!
//! Each iteration solves the equations of motion and then projects onto the laws. One factorisation of W + diag(c + ρ w) serves all
//! iterations until the penalty ρ changes. c is the compliance, w the mean diagonal of W + diag c in each block; ρ is dimensionless. High accuracy takes
//! many iterations, but each one is cheap. The method needs no smoothness and tolerates redundant contacts. With friction the problem is not convex: the correction is updated as a fixed-point iteration, and convergence is
//! common but not proved.

use super::newton::system::{ImpulseSystem, mean_compliant_diagonals};
use super::newton::{copy_warm_start, natural_residual};
use super::{FrictionProblem, FrictionSolution};
use crate::interrupt;
use crate::linalg::SingularRow;
use crate::outcome::{Ending, Status};
use crate::problem::OptionError;
use crate::solver::Solver;

/// Options of [`FrictionAdmm`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrictionAdmmOptions {
    /// Residual [CONE-5] at which the method ends with `Solved`. Dimensionless, default 1e-9.
    pub tolerance: f64,
    /// Largest number of iterations. Default 5000.
    pub max_iterations: u32,
    /// Over-relaxation ω of [ADMM-2], in (0, 2). Default 1.6.
    pub relaxation: f64,
    /// Initial penalty ρ, relative to the mean diagonal w of each block of W + diag c. Dimensionless, default 0.1.
    pub penalty: f64,
    /// Iterations between two evaluations of the residual, after which ρ may change. Default 20.
    pub interval: u32,
    /// Largest number of changes of ρ, each with a factorisation. Default 20.
    pub max_updates: u32,
    /// Factor by which the balanced ρ of [ADMM-4] must differ before ρ changes. Default 3.
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
    /// Rejects options outside of their ranges.
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
/// It ends with `Solved` if the residual is within the tolerance, otherwise with `BudgetExhausted`, or with `Breakdown` if a
/// factorisation failed. The solution is the iterate of least residual. It lies in the cones exactly, unless it is
/// the warm start, which is not projected.
#[derive(Clone, Debug, Default)]
pub struct FrictionAdmm {
    options: FrictionAdmmOptions,
    system: ImpulseSystem,
    /// Mean diagonal w of W + diag c, one number per block.
    weights: Vec<f64>,
    /// Impulses that satisfy the equations of motion.
    r: Vec<f64>,
    /// Impulses that satisfy the laws.
    z: Vec<f64>,
    /// Multiplier λ of r = z; it converges to −û. It is not a slip multiplier.
    multiplier: Vec<f64>,
    right_hand_side: Vec<f64>,
    u: Vec<f64>,
    best: Vec<f64>,
    state: Vec<f64>,
}

/// Primal residual r − z and dual residual, the change of ρ w z; both as energies.
#[derive(Clone, Copy, Default)]
struct AdmmResiduals {
    primal: f64,
    dual: f64,
}

impl FrictionAdmm {
    /// Creates the method with default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates the method with these options, which are validated.
    pub fn with_options(options: FrictionAdmmOptions) -> Result<Self, OptionError> {
        options.validate()?;
        Ok(Self { options, ..Self::default() })
    }

    /// Options of the method.
    pub fn options(&self) -> &FrictionAdmmOptions {
        &self.options
    }

    /// Copies the warm start and computes its multiplier.
    fn initialise(&mut self, problem: &FrictionProblem, guess: Option<&FrictionSolution>) {
        copy_warm_start(guess, problem.rows(), &mut self.z);
        self.system.prepare(problem);
        mean_compliant_diagonals(problem, &mut self.state, &mut self.weights);
        problem.velocities(&self.z, &mut self.u, &mut self.state);
        self.r.clone_from(&self.z);
        self.best.clone_from(&self.z);
        self.right_hand_side.clear();
        self.right_hand_side.resize(problem.rows(), 0.0);
        self.multiplier.clear();
        self.multiplier.extend(self.u.iter().map(|u| -u));
        for (block, law) in problem.laws().iter().enumerate() {
            let range = problem.range(block);
            let correction = law.de_saxce_correction(&self.u[range.clone()]);
            self.multiplier[range.start] -= correction;
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

    /// Makes one iteration: equations of motion, laws, multiplier.   [ADMM-1] [ADMM-2] [ADMM-3]
    fn iterate(&mut self, problem: &FrictionProblem, penalty: f64) -> AdmmResiduals {
        debug_assert_eq!(self.weights.len(), problem.blocks(), "one weight per block");
        for (block, law) in problem.laws().iter().enumerate() {
            let (range, scaled_penalty) = (problem.range(block), penalty * self.weights[block]);
            for k in range.clone() {
                self.right_hand_side[k] = scaled_penalty * self.z[k] - self.multiplier[k] - problem.q()[k];
            }
            // The De Saxcé correction does not change tangential components, so ‖u_T‖ is that of the multiplier −û.
            let correction = law.de_saxce_correction(&self.multiplier[range.clone()]);
            self.right_hand_side[range.start] -= correction;
        }
        self.system.solve(problem, &self.right_hand_side, &mut self.r);
        let (omega, mut residuals) = (self.options.relaxation, AdmmResiduals::default());
        for (block, law) in problem.laws().iter().enumerate() {
            let (range, weight) = (problem.range(block), self.weights[block]);
            let scaled_penalty = penalty * weight;
            let (r, z) = (&self.r[range.clone()], &mut self.z[range.clone()]);
            let (multiplier, old) = (&mut self.multiplier[range.clone()], &mut self.right_hand_side[range]);
            old.copy_from_slice(z);
            for k in 0..r.len() {
                // λ + ρ w r_relaxed: the term −ρ w z follows after the projection.
                let r_relaxed = omega * r[k] + (1.0 - omega) * z[k];
                multiplier[k] += scaled_penalty * r_relaxed;
                z[k] = multiplier[k] / scaled_penalty;
            }
            law.project(z);
            for k in 0..r.len() {
                multiplier[k] = if law.is_equality() { 0.0 } else { multiplier[k] - scaled_penalty * z[k] };
                residuals.primal += weight * (r[k] - z[k]).powi(2);
                residuals.dual += weight * (penalty * (z[k] - old[k])).powi(2);
            }
        }
        residuals
    }

    /// Penalty that balances the relative primal and dual residuals.   [ADMM-4]
    fn balanced_penalty(&self, problem: &FrictionProblem, penalty: f64, residuals: AdmmResiduals) -> f64 {
        let (mut impulses, mut velocities) = (0.0, 0.0);
        for (block, weight) in self.weights.iter().enumerate() {
            for k in problem.range(block) {
                impulses += weight * self.z[k].powi(2).max(self.r[k].powi(2));
                velocities += problem.q()[k].powi(2) / weight;
            }
        }
        let ratio = (residuals.primal * velocities / (residuals.dual * impulses)).sqrt().sqrt();
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
        self.initialise(problem, guess);
        let mut least = natural_residual(problem, &self.z, &self.u);
        let (mut penalty, mut updates, mut iterations) = (options.penalty, 0, 0);
        let mut factored = self.factor(problem, penalty);
        while factored.is_ok()
            && least > options.tolerance
            && iterations < options.max_iterations
            && !interrupt::is_requested()
        {
            let residuals = self.iterate(problem, penalty);
            iterations += 1;
            if iterations % options.interval != 0 && iterations < options.max_iterations {
                continue;
            }
            problem.velocities(&self.z, &mut self.u, &mut self.state);
            let residual = natural_residual(problem, &self.z, &self.u);
            if residual < least {
                least = residual;
                self.best.copy_from_slice(&self.z);
            }
            let balanced = self.balanced_penalty(problem, penalty, residuals);
            let imbalance = (balanced / penalty).max(penalty / balanced);
            if imbalance > options.imbalance && updates < options.max_updates {
                (penalty, updates) = (balanced, updates + 1);
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
