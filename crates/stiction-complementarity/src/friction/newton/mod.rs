//! Semismooth Newton on the map of Alart and Curnier, with a proximal term: the polisher.
//!
//! Started near a solution, where Gauss-Seidel or an interior point left off, it takes a few steps to rounding level. It is
//! no globaliser: from far away the line search keeps it honest, but it may run out of steps. The equations are in
//! `docs/theory/cones.md`, section "Semismooth Newton".

mod alart_curnier;
mod options;
pub(crate) mod system;

pub use options::FrictionNewtonOptions;

use crate::friction::law::MAX_CONTACT_ROWS;
use crate::friction::{Delassus, FrictionProblem, FrictionSolution, Law};
use crate::outcome::{Ending, Status};
use crate::problem::OptionError;
use crate::solver::Solver;
use system::{ImpulseSystem, mean_diagonals};

/// Accepted merits that the line search looks back on.
const MEMORY: usize = 5;

/// Semismooth Newton for frictional contact.   [NEWTON-1] … [NEWTON-5]
///
/// Claims `Solved` when the measured residual is within its tolerance (or, where rounding stops progress, within the
/// acceptable one), `BudgetExhausted` when the steps run out and `Breakdown` when no step helps any more. The answer is
/// always the iterate of least residual.
#[derive(Clone, Debug, Default)]
pub struct FrictionNewton {
    options: FrictionNewtonOptions,
    system: ImpulseSystem,
    /// ρ of each row, kg; the map is divided by its root so that its squared length is an energy.
    rho: Vec<f64>,
    /// Velocities at r, and the point r̄ the proximal term pulls towards.
    u: Vec<f64>,
    anchor: Vec<f64>,
    map: Vec<f64>,
    step: Vec<f64>,
    /// Change of u along the step.
    change: Vec<f64>,
    correction: Vec<f64>,
    trial_r: Vec<f64>,
    trial_u: Vec<f64>,
    best: Vec<f64>,
    state: Vec<f64>,
}

/// The numbers that steer the iteration.
struct Course {
    /// Proximal weight α, relative to the diagonal of W.
    alpha: f64,
    /// Merit when the anchor was set.
    anchor_merit: f64,
    /// Steps since the anchor was set.
    since_anchor: u32,
    /// The last accepted merits since then, in a ring.
    merits: [f64; MEMORY],
    accepted: usize,
    /// Failures in a row, of the line search or of the factorisation.
    failures: u32,
}

impl Course {
    fn remember(&mut self, merit: f64) {
        self.merits[self.accepted % MEMORY] = merit;
        self.accepted += 1;
    }

    fn worst_remembered(&self) -> f64 {
        self.merits[..self.accepted.min(MEMORY)].iter().copied().fold(0.0, f64::max)
    }

    fn restart(&mut self, merit: f64) {
        (self.anchor_merit, self.since_anchor, self.accepted) = (merit, 0, 0);
        self.remember(merit);
    }
}

impl FrictionNewton {
    /// The method with default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// The method with these options.
    pub fn with_options(options: FrictionNewtonOptions) -> Result<Self, OptionError> {
        options.validate()?;
        Ok(Self { options, ..Self::default() })
    }

    /// The options in force.
    pub fn options(&self) -> &FrictionNewtonOptions {
        &self.options
    }

    /// Makes room, copies the guess and finds the parameters ρ.
    fn start(&mut self, problem: &FrictionProblem, guess: Option<&FrictionSolution>, r: &mut Vec<f64>) {
        let n = problem.rows();
        start_from(guess, n, r);
        self.system.prepare(problem);
        scale_rows(problem, &mut self.state, &mut self.map, &mut self.rho);
        for vector in [
            &mut self.map,
            &mut self.step,
            &mut self.change,
            &mut self.correction,
            &mut self.trial_r,
            &mut self.trial_u,
        ] {
            vector.clear();
            vector.resize(n, 0.0);
        }
        self.best.clone_from(r);
        self.anchor.clone_from(r);
        problem.velocities(r, &mut self.u, &mut self.state);
    }

    /// One Newton step on the proximal problem; the length of the step taken, or nothing when it failed.
    fn advance(&mut self, problem: &FrictionProblem, r: &mut Vec<f64>, course: &mut Course) -> Option<f64> {
        self.linearise(problem, r, course.alpha);
        self.system.factor(problem).ok()?;
        self.solve_for_step(problem);
        let bound = course.worst_remembered();
        let mut length = 1.0;
        for _ in 0..=self.options.max_halvings {
            for i in 0..r.len() {
                self.trial_r[i] = r[i] + length * self.step[i];
                self.trial_u[i] = self.u[i] + length * self.change[i];
            }
            let merit = evaluate(problem, &self.rho, (&self.trial_r, &self.trial_u), Some((course.alpha, &self.anchor)), &mut self.map);
            if merit <= (1.0 - 2.0 * self.options.sufficient_decrease * length) * bound {
                std::mem::swap(r, &mut self.trial_r);
                problem.velocities(r, &mut self.u, &mut self.state);
                course.remember(merit);
                return Some(length);
            }
            length *= 0.5;
        }
        None
    }

    /// Writes the map at r, with the proximal term, and the blocks A + B (c + α/ρ) and B of its derivative.   [NEWTON-3]
    fn linearise(&mut self, problem: &FrictionProblem, r: &[f64], alpha: f64) {
        evaluate(problem, &self.rho, (r, &self.u), Some((alpha, &self.anchor)), &mut self.map);
        for (block, law) in problem.laws().iter().enumerate() {
            let range = problem.range(block);
            let n = range.len();
            let rho = &self.rho[range.clone()];
            let u = &mut self.trial_u[range.clone()];
            proximal_velocities(rho, alpha, (&r[range.clone()], &self.anchor[range.clone()], &self.u[range.clone()]), u);
            let (a, b) = self.system.blocks_mut(block);
            alart_curnier::derivative(law, rho, &r[range.clone()], u, a, b);
            let compliance = problem.compliance().get(range).unwrap_or(&[]);
            for column in 0..n {
                let weight = alpha / rho[column] + compliance.get(column).copied().unwrap_or(0.0);
                for row in 0..n {
                    a[row * n + column] += b[row * n + column] * weight;
                }
            }
        }
    }

    /// Newton's step A x + B W x = −f, refined once, and the change of the velocities along it.   [NEWTON-4]
    fn solve_for_step(&mut self, problem: &FrictionProblem) {
        self.map.iter_mut().for_each(|f| *f = -*f);
        self.system.solve(problem, &self.map, &mut self.step);
        problem.operator().apply(&self.step, &mut self.change, &mut self.state);
        self.system.subtract_product(&self.step, &self.change, &mut self.map);
        self.system.solve(problem, &self.map, &mut self.correction);
        self.step.iter_mut().zip(&self.correction).for_each(|(x, dx)| *x += dx);
        problem.operator().apply(&self.step, &mut self.change, &mut self.state);
        let compliant = self.change.iter_mut().zip(problem.compliance().iter().zip(&self.step));
        compliant.for_each(|(du, (c, dr))| *du += c * dr);
    }

    /// Sets the anchor to r: the proximal term vanishes there.
    fn anchor_at(&mut self, problem: &FrictionProblem, r: &[f64], course: &mut Course) {
        self.anchor.copy_from_slice(r);
        course.restart(evaluate(problem, &self.rho, (r, &self.u), None, &mut self.map));
    }

    /// After a step: a proximal problem solved well enough gives the next anchor and a smaller weight; one that takes
    /// too long, or a failed step, a larger weight. False when enlarging is no longer possible.
    fn steer(&mut self, problem: &FrictionProblem, r: &[f64], taken: Option<f64>, course: &mut Course) -> bool {
        let options = self.options;
        course.since_anchor += 1;
        let merit = course.merits[(course.accepted + MEMORY - 1) % MEMORY];
        if taken.is_some() {
            course.failures = 0;
            // Merits are squares, the option speaks of lengths.
            if merit <= options.inner_accuracy.powi(2) * course.anchor_merit {
                course.alpha = (course.alpha * options.shrink).max(options.least_proximal);
                self.anchor_at(problem, r, course);
            } else if course.since_anchor >= options.inner_steps {
                course.alpha = (course.alpha / options.shrink).min(options.largest_proximal);
                self.anchor_at(problem, r, course);
            }
            return true;
        }
        course.failures += 1;
        course.alpha = (course.alpha / options.shrink.powi(2)).min(options.largest_proximal);
        self.anchor_at(problem, r, course);
        course.failures <= options.max_failures
    }
}

impl Solver<FrictionProblem> for FrictionNewton {
    fn run(
        &mut self,
        problem: &FrictionProblem,
        guess: Option<&FrictionSolution>,
        solution: &mut FrictionSolution,
    ) -> Ending {
        let options = self.options;
        self.start(problem, guess, &mut solution.r);
        let mut course = Course {
            alpha: options.proximal,
            anchor_merit: 0.0,
            since_anchor: 0,
            merits: [0.0; MEMORY],
            accepted: 0,
            failures: 0,
        };
        self.anchor_at(problem, &solution.r, &mut course);
        let mut least = natural_map(problem, &solution.r, &self.u);
        let (mut steps, mut status) = (0, Status::BudgetExhausted);
        while least > options.tolerance && steps < options.max_steps {
            let taken = self.advance(problem, &mut solution.r, &mut course);
            steps += 1;
            let residual = natural_map(problem, &solution.r, &self.u);
            if residual < least {
                least = residual;
                self.best.copy_from_slice(&solution.r);
            }
            if !self.steer(problem, &solution.r, taken, &mut course) {
                status = Status::Breakdown;
                break;
            }
        }
        solution.r.copy_from_slice(&self.best);
        let stopped_by_rounding = status == Status::Breakdown && least <= options.acceptable;
        let solved = least <= options.tolerance || stopped_by_rounding;
        Ending::new(if solved { Status::Solved } else { status }, steps)
    }
}

/// r ← the guess, or zero where there is none that fits.
pub(crate) fn start_from(guess: Option<&FrictionSolution>, rows: usize, r: &mut Vec<f64>) {
    r.clear();
    match guess {
        Some(guess) if guess.r.len() == rows && guess.r.iter().all(|x| x.is_finite()) => r.extend_from_slice(&guess.r),
        _ => r.resize(rows, 0.0),
    }
}

/// The problem's residual at r, with the velocities u known; infinite where it cannot be measured.   [CONE-5]
pub(crate) fn natural_map(problem: &FrictionProblem, r: &[f64], u: &[f64]) -> f64 {
    let sum: f64 = (0..problem.blocks()).map(|block| problem.violation(block, r, u)).sum();
    let finite = sum.is_finite() && r.iter().chain(u).all(|x| x.is_finite());
    if finite { sum.sqrt() / problem.scale() } else { f64::INFINITY }
}

/// f ← the map at (r, u) with the proximal term; the answer is its squared length, weighted by 1/ρ.   [NEWTON-3]
fn evaluate(
    problem: &FrictionProblem,
    rho: &[f64],
    (r, u): (&[f64], &[f64]),
    proximal: Option<(f64, &[f64])>,
    f: &mut [f64],
) -> f64 {
    let mut merit = 0.0;
    let mut moved = [0.0; MAX_CONTACT_ROWS];
    for (block, law) in problem.laws().iter().enumerate() {
        let range = problem.range(block);
        let (rho, r, u, f) = (&rho[range.clone()], &r[range.clone()], &u[range.clone()], &mut f[range.clone()]);
        match (proximal, law) {
            (Some((alpha, anchor)), Law::Equality { .. }) => {
                // Equality blocks may be long: ρ (u + α (r − r̄)/ρ) directly.
                let terms = rho.iter().zip(u).zip(r.iter().zip(&anchor[range]));
                f.iter_mut().zip(terms).for_each(|(f, ((rho, u), (r, anchor)))| *f = rho * u + alpha * (r - anchor));
            }
            (Some((alpha, anchor)), _) => {
                let moved = &mut moved[..r.len()];
                proximal_velocities(rho, alpha, (r, &anchor[range], u), moved);
                alart_curnier::map(law, rho, r, moved, f);
            }
            (None, _) => alart_curnier::map(law, rho, r, u, f),
        }
        merit += f.iter().zip(rho).map(|(f, rho)| f * f / rho).sum::<f64>();
    }
    merit
}

/// out ← u + α/ρ (r − r̄): the velocities of the proximal problem.   [NEWTON-3]
fn proximal_velocities(rho: &[f64], alpha: f64, (r, anchor, u): (&[f64], &[f64], &[f64]), out: &mut [f64]) {
    for (i, out) in out.iter_mut().enumerate() {
        *out = u[i] + alpha / rho[i] * (r[i] - anchor[i]);
    }
}

/// ρ of each row: one over the mean diagonal entry of W among the normal component, each disc, and each row of a joint.
fn scale_rows(problem: &FrictionProblem, scratch: &mut Vec<f64>, means: &mut Vec<f64>, rho: &mut Vec<f64>) {
    mean_diagonals(problem, scratch, means);
    rho.clear();
    for (block, law) in problem.laws().iter().enumerate() {
        let n = law.rows();
        scratch.clear();
        scratch.resize(n * n, 0.0);
        problem.operator().diagonal(block, scratch);
        let compliance = problem.compliance().get(problem.range(block)).unwrap_or(&[]);
        let entry = |k: usize| scratch[k * (n + 1)] + compliance.get(k).copied().unwrap_or(0.0);
        let mut k = 0;
        while k < n {
            let end = alart_curnier::disc_end(law, k);
            let mean = (k..end).map(entry).sum::<f64>() / (end - k) as f64;
            // A row that nothing moves, or one far smaller than its block, takes the scale of the block.
            let scale = if mean > 1e-6 * means[block] && mean.is_finite() { mean } else { means[block] };
            rho.extend((k..end).map(|_| 1.0 / scale));
            k = end;
        }
    }
}
