//! Few contacts, solved at once: guess which of them open, stick and slip, solve for all impulses together, look again.   [SET-1]
//!
//! A sweep settles one contact after the other and takes ten or more of them to agree; here the contacts are coupled by a small
//! dense system and agree after one to three, to rounding. The guess comes from the impulses and velocities at hand, so a warm
//! start usually knows it already. Where guesses go round in a circle, sweeps [GS-1] lead to another start. For
//! spatial contacts with Coulomb friction only, up to [`MAX_CONTACTS`]; the method says when a problem is none of these.

mod contacts;
mod system;

use super::operator::Delassus;
use super::{FrictionProblem, FrictionSolution};
use crate::outcome::{Ending, Status};
use crate::problem::OptionError;
use crate::solver::Solver;
use contacts::Contacts;
pub use contacts::MAX_CONTACTS;
use system::System;

/// Compliance of the first of the softer problems, relative to the mean diagonal of W, of the last one, and the factor between
/// two: from where nearly everything decouples to where only redundant contacts notice.
const SOFTEST: f64 = 1e-2;
const HARDEST: f64 = 1e-10;
const STIFFEN: f64 = 0.1;

/// The residual that rounding leaves.
const ROUNDING: f64 = 1e-15;

/// Options of [`FrictionActiveSet`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrictionActiveSetOptions {
    /// The residual [CONE-5] at which the method ends. Dimensionless. Default 1e-9; rounding leaves about 1e-15.
    pub tolerance: f64,
    /// Guesses that are tried from one start before sweeps look for another. Default 8.
    pub max_guesses: u32,
    /// How many starts are tried. Default 10.
    pub max_starts: u32,
    /// Sweeps between two starts. Default 4.
    pub sweeps: u32,
}

impl Default for FrictionActiveSetOptions {
    fn default() -> Self {
        Self { tolerance: 1e-9, max_guesses: 8, max_starts: 10, sweeps: 4 }
    }
}

impl FrictionActiveSetOptions {
    /// Refuses numbers that make no sense.
    pub fn validate(&self) -> Result<(), OptionError> {
        if !(self.tolerance > 0.0 && self.tolerance.is_finite()) {
            return Err(OptionError { name: "tolerance", value: self.tolerance, range: "(0, ∞)" });
        }
        Ok(())
    }
}

/// Active sets for few spatial contacts, with scratch memory of fixed size.   [SET-1]
#[derive(Clone, Debug, Default)]
pub struct FrictionActiveSet {
    options: FrictionActiveSetOptions,
    contacts: Contacts,
    system: System,
    /// W, row by row.
    w: Vec<f64>,
}

impl FrictionActiveSet {
    /// With default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// With these options, once they make sense.
    pub fn with_options(options: FrictionActiveSetOptions) -> Result<Self, OptionError> {
        options.validate()?;
        Ok(Self { options, ..Self::default() })
    }

    /// Whether the method is made for this problem: at most [`MAX_CONTACTS`] blocks, all of them cones of three rows.
    pub fn applies<W: Delassus>(problem: &FrictionProblem<W>) -> bool {
        problem.blocks() <= MAX_CONTACTS && problem.laws().iter().all(|law| contacts::friction_of(law).is_some())
    }

    /// Guesses from where the contacts are until the problem is solved or they lead nowhere. Counts the systems solved.
    fn try_guesses(&mut self, accepted: f64, count: &mut u32) -> bool {
        let Self { options, contacts, system, .. } = self;
        contacts.guess();
        for _ in 0..options.max_guesses {
            *count += 1;
            if !system.step(contacts) {
                return false;
            }
            // Impulses lie in their cones once the guess is confirmed; before that there is nothing to measure.
            if !contacts.guess() && contacts.residual() <= accepted {
                return true;
            }
        }
        false
    }

    /// The path of softer problems that ends at the given one: a compliance makes every guess decidable, and where it is small
    /// enough the guesses are those of the rigid problem.   [SET-3]
    fn try_soft(&mut self, accepted: f64, count: &mut u32) -> bool {
        let mut compliance = SOFTEST;
        while compliance >= HARDEST {
            self.contacts.soften(compliance);
            let _ = self.try_guesses(accepted, count);
            compliance *= STIFFEN;
        }
        self.contacts.soften(0.0);
        self.try_guesses(accepted, count)
    }

    fn iterate(&mut self) -> Ending {
        let accepted = self.options.tolerance * self.contacts.scale();
        // A start within tolerance is not yet an answer: taken as it is step after step, its error would add up.
        if self.contacts.residual() <= ROUNDING * self.contacts.scale() {
            return Ending::new(Status::Solved, 0);
        }
        let mut count = 0;
        for start in 0..self.options.max_starts {
            if start > 0 {
                for _ in 0..self.options.sweeps {
                    self.contacts.sweep();
                }
                if self.contacts.residual() <= accepted {
                    return Ending::new(Status::Solved, count);
                }
            }
            let kept = self.contacts.impulses();
            if self.try_guesses(accepted, &mut count) {
                return Ending::new(Status::Solved, count);
            }
            self.contacts.set_impulses(&kept);
            if self.try_soft(accepted, &mut count) {
                return Ending::new(Status::Solved, count);
            }
            self.contacts.set_impulses(&kept);
        }
        Ending::new(Status::BudgetExhausted, count)
    }
}

impl<W: Delassus> Solver<FrictionProblem<W>> for FrictionActiveSet {
    /// Ends with `Breakdown` where the method does not apply.
    fn run(
        &mut self,
        problem: &FrictionProblem<W>,
        guess: Option<&FrictionSolution>,
        solution: &mut FrictionSolution,
    ) -> Ending {
        solution.r.clear();
        solution.r.resize(problem.rows(), 0.0);
        self.w.clear();
        self.w.resize(problem.rows() * problem.rows(), 0.0);
        if !Self::applies(problem) || !problem.operator().explicit(&mut self.w) {
            return Ending::new(Status::Breakdown, 0);
        }
        self.contacts.load(problem, &self.w, guess);
        let ending = self.iterate();
        self.contacts.write(&mut solution.r);
        ending
    }
}
