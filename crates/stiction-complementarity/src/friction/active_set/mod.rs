//! Few contacts, solved at once: guess which of them open, stick and slip, solve for all impulses together, look again.   [SET-1]
//!
//! A sweep settles one contact after the other and takes ten or more of them to agree; here the contacts are coupled by a small
//! dense system and agree after one to three, to rounding. The guess comes from the impulses and velocities at hand, so a warm
//! start usually knows it already. Where guesses go round in a circle, sweeps [GS-1] lead to another start. For
//! up to [`MAX_CONTACTS`] contacts with Coulomb friction in space or in the plane, or without friction [SET-6], and rows between bounds [SET-9], and a few
//! rows of joints, which are eliminated first [SET-7]; up to [`MAX_SPATIAL_CONTACTS`] where all are contacts with friction in space. The method says when a problem is none of these.

mod bounds;
mod contacts;
mod embedding;
mod factors;
mod guess;
mod joints;
mod system;

use super::operator::Delassus;
use super::version::Version;
use super::{FrictionProblem, FrictionSolution};
use crate::outcome::{Ending, Status};
use crate::problem::OptionError;
use crate::solver::Solver;
use contacts::{Contacts, Kept, MAX_ROWS};
pub use contacts::{MAX_CONTACTS, MAX_SPATIAL_CONTACTS};
use embedding::Embedding;
use guess::Pattern;
use joints::{Joints, MAX_JOINT_ROWS};
use system::System;

/// Compliance of the first of the softer problems, relative to the mean diagonal of W, of the last one, and the factor between
/// two: from where nearly everything decouples to where only redundant contacts notice.
const SOFTEST: f64 = 1e-2;
const HARDEST: f64 = 1e-10;
const STIFFEN: f64 = 0.1;

/// The residual that rounding leaves.
const ROUNDING: f64 = 1e-15;

/// A solution above this residual is corrected, so often at most.
pub(crate) const REFINED: f64 = 1e-14;
const CORRECTIONS: u32 = 2;

/// Guesses of the bounds that hold beside the first impulses of contacts.
const BOUND_GUESSES: u32 = 3;

/// In mixed problems the last of so many starts tries the path of softer problems, in others each.
const MIXED_STARTS: u32 = 7;

/// Options of [`FrictionActiveSet`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrictionActiveSetOptions {
    /// The residual [CONE-5] at which the method ends. Dimensionless. Default 1e-9; rounding leaves about 1e-15.
    pub tolerance: f64,
    /// Guesses that are tried from one start before sweeps look for another. Default 8.
    pub max_guesses: u32,
    /// How many starts are tried. Default 10.
    pub max_starts: u32,
    /// How often the path of softer problems is tried, which is long. Default 10.
    pub max_paths: u32,
    /// Sweeps between two starts. Default 4.
    pub sweeps: u32,
}

impl Default for FrictionActiveSetOptions {
    fn default() -> Self {
        Self { tolerance: 1e-9, max_guesses: 8, max_starts: 10, max_paths: 10, sweeps: 4 }
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

/// Active sets for few contacts, with scratch memory of fixed size.   [SET-1]
#[derive(Clone, Debug, Default)]
pub struct FrictionActiveSet {
    options: FrictionActiveSetOptions,
    contacts: Contacts,
    system: System,
    embedding: Embedding,
    joints: Joints,
    /// What was guessed from the present start.
    guessed: Vec<Pattern>,
    kept: KeptImpulses,
    /// W + diag c, row by row, where joints or compliance ask for a copy.
    w: Vec<f64>,
    /// The problem whose W is in all of these.
    matrix: Option<Version>,
}

/// Impulses of contacts to come back to.
#[derive(Clone, Debug, Default)]
struct KeptImpulses {
    /// Where the present guesses start.
    start: Kept,
    /// Before the last step.
    last: Kept,
    /// The nearest within tolerance although the guesses that led there are not confirmed: at the edge of sticking they may never be.
    nearest: Kept,
}

impl FrictionActiveSet {
    /// The most rows of a problem that fits.
    pub const MOST_ROWS: usize = MAX_ROWS + MAX_JOINT_ROWS;

    /// With default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// With these options, once they make sense.
    pub fn with_options(options: FrictionActiveSetOptions) -> Result<Self, OptionError> {
        options.validate()?;
        Ok(Self { options, ..Self::default() })
    }

    /// Whether the method is made for this problem: at most [`MAX_CONTACTS`] contacts (cones of two or three rows) and bounded rows together,
    /// of at most 72 rows, and at most twelve rows of joints.
    pub fn applies<W: Delassus>(problem: &FrictionProblem<W>) -> bool {
        embedding::fits(problem)
    }

    /// Takes over a problem; false where it does not fit or its joints are redundant.
    fn load<W: Delassus>(&mut self, problem: &FrictionProblem<W>, guess: Option<&FrictionSolution>) -> bool {
        if self.matrix != Some(problem.matrix_version()) {
            self.matrix = None;
            if !self.load_matrix(problem) {
                return false;
            }
            self.matrix = Some(problem.matrix_version());
        }
        let Self { embedding, joints, contacts, system, .. } = self;
        system.forget();
        joints.free(embedding.joint_rows(), problem.q());
        let fits = |guess: &&FrictionSolution| guess.r.len() == problem.rows() && guess.r.iter().all(|r| r.is_finite());
        let guess = guess.filter(fits).map_or(&[][..], |guess| &guess.r);
        contacts.load((embedding, joints), (problem.q(), problem.scale()), guess);
        true
    }

    /// What does not depend on the free velocities.
    fn load_matrix<W: Delassus>(&mut self, problem: &FrictionProblem<W>) -> bool {
        let n = problem.rows();
        if !Self::applies(problem) {
            return false;
        }
        let Self { embedding, joints, contacts, w, .. } = self;
        embedding.read(problem);
        let as_it_is = embedding.joint_rows().is_empty() && problem.compliance().is_empty();
        let w = if let (true, Some(dense)) = (as_it_is, problem.operator().dense()) {
            dense
        } else {
            w.resize(n * n, 0.0);
            if !problem.operator().explicit(w) {
                return false;
            }
            let diagonal = w.iter_mut().step_by(n + 1);
            diagonal.zip(problem.compliance()).for_each(|(w, c)| *w += c);
            w
        };
        if !joints.factor(embedding.joint_rows(), w, n) {
            return false;
        }
        joints.prepare(embedding, w, n);
        contacts.load_matrix((embedding, joints), (w, n), problem.operator().is_symmetric());
        true
    }

    /// A few more steps of the guess that the solution confirms, as long as they help: what sticks then sticks to rounding. With the velocities of the
    /// problem as it was before joints were eliminated: that loses digits where masses differ.   [SET-7]
    fn refine(&mut self, q: &[f64], r: &mut [f64]) {
        let mut before = f64::INFINITY;
        for correction in 0..=CORRECTIONS {
            self.write(q, r);
            if !self.embedding.joint_rows().is_empty() {
                self.contacts.correct(&self.embedding, (&self.w, q), r);
            }
            let residual = self.contacts.residual();
            if residual.is_nan() || residual >= before {
                if correction > 0 {
                    self.write_kept(q, r);
                }
                return;
            }
            if correction == CORRECTIONS || residual <= REFINED * self.contacts.scale() {
                return;
            }
            self.contacts.keep(&mut self.kept.last);
            before = residual;
            // A start that was a solution, or sweeps that led to one, left no guess.
            let _ = self.contacts.guess();
            if !(self.system.correct(&mut self.contacts) || self.system.step(&mut self.contacts)) {
                return self.write_kept(q, r);
            }
            // What hardly touches may now be guessed otherwise; the factors are those of the guess before.
            if self.contacts.guess() {
                let better = self.contacts.residual() < before;
                return if better { self.write(q, r) } else { self.write_kept(q, r) };
            }
        }
    }

    /// Goes back to the impulses before the last step, and writes them.
    fn write_kept(&mut self, q: &[f64], r: &mut [f64]) {
        self.contacts.restore(&self.kept.last);
        self.write(q, r);
    }

    /// Impulses of contacts and, with them, of joints.
    fn write(&self, q: &[f64], r: &mut [f64]) {
        self.embedding.write(self.contacts.impulses(), r);
        self.joints.recover(self.embedding.joint_rows(), &self.w, q, r);
    }

    /// Guesses, from what is guessed already, until the problem is solved or they lead nowhere. Counts the systems solved.
    fn try_guesses(&mut self, accepted: f64, count: &mut u32) -> bool {
        let plain = self.embedding.is_plain();
        let Self { options, contacts, system, guessed, kept, .. } = self;
        guessed.clear();
        guessed.reserve(options.max_guesses as usize);
        let (mut least, mut near) = (accepted, false);
        for _ in 0..options.max_guesses {
            // Guesses that came before, and not just now, go round in a circle; spatial contacts alone, whose directions turn, find out of it more often.
            let pattern = contacts.pattern();
            if !plain && guessed.last() != Some(&pattern) && guessed.contains(&pattern) {
                break;
            }
            guessed.push(pattern);
            *count += 1;
            contacts.keep(&mut kept.last);
            if !system.step(contacts) {
                break;
            }
            let residual = contacts.residual();
            // Worse than no impulses at all: more was stopped than the bodies can do at once. Contacts that sweeps brought closer to
            // each other guess better, unless they guess the same.
            if !plain && residual > contacts.scale() {
                contacts.restore(&kept.last);
                (0..options.sweeps / 2).for_each(|_| contacts.sweep());
                contacts.guess();
                if contacts.pattern() == pattern {
                    break;
                }
                continue;
            }
            if residual <= least {
                (least, near) = (residual, true);
                contacts.keep(&mut kept.nearest);
            }
            // A guess that is confirmed leaves impulses where they are, in their cones.
            if !contacts.guess() && residual <= accepted {
                return true;
            }
        }
        if near {
            contacts.restore(&kept.nearest);
        }
        near
    }

    /// The path of softer problems that ends at the given one: a compliance makes every guess decidable, and where it is small
    /// enough the guesses are those of the rigid problem.   [SET-3]
    fn try_compliant(&mut self, accepted: f64, count: &mut u32) -> bool {
        // Rounding leaves another W behind.
        self.matrix = None;
        let mut compliance = SOFTEST;
        while compliance >= HARDEST {
            self.contacts.add_compliance(compliance);
            self.contacts.guess();
            let _ = self.try_guesses(accepted, count);
            compliance *= STIFFEN;
        }
        self.contacts.add_compliance(0.0);
        self.contacts.guess();
        self.try_guesses(accepted, count)
    }

    /// Bounds that nothing holds yet are met first, with the impulses of contacts as they are: a limit that was forgotten would make every contact look as if
    /// it opened or slid.   [SET-8]
    fn meet_bounds(&mut self) {
        self.contacts.keep(&mut self.kept.start);
        for guess in 0..BOUND_GUESSES {
            // Before the first step the guesses are those of another problem.
            if !self.contacts.guess_bounds() && guess > 0 {
                return;
            }
            if !self.system.step(&mut self.contacts) {
                self.contacts.restore(&self.kept.start);
                return;
            }
        }
    }

    /// Where bounds were unmet: contacts first do what they did before, whatever bounds make of their velocities meanwhile.   [SET-8]
    fn try_recalled(&mut self, accepted: f64, count: &mut u32) -> bool {
        if !self.contacts.has_unmet_bounds() {
            return false;
        }
        self.meet_bounds();
        self.contacts.keep(&mut self.kept.start);
        self.contacts.recall();
        let solved = self.try_guesses(accepted, count);
        if !solved {
            self.contacts.restore(&self.kept.start);
        }
        solved
    }

    fn iterate(&mut self) -> Ending {
        let accepted = self.options.tolerance * self.contacts.scale();
        // A start within tolerance is not yet an answer: taken as it is step after step, its error would add up.
        if self.contacts.residual() <= ROUNDING * self.contacts.scale() {
            return Ending::new(Status::Solved, 0);
        }
        let starts_per_path = if self.embedding.is_plain() { 1 } else { MIXED_STARTS };
        let (mut count, mut paths) = (0, 0);
        if self.try_recalled(accepted, &mut count) {
            return Ending::new(Status::Solved, count);
        }
        let mut before = None;
        for start in 0..self.options.max_starts {
            if start > 0 {
                for _ in 0..self.options.sweeps {
                    self.contacts.sweep();
                }
                if self.contacts.residual() <= accepted {
                    return Ending::new(Status::Solved, count);
                }
            }
            self.contacts.keep(&mut self.kept.start);
            self.contacts.guess();
            // Where nothing slips, the same guess leads to the same impulses, wherever it is made.
            let first = Some(self.contacts.pattern()).filter(|_| !self.contacts.slips());
            let same = first.is_some() && first == before;
            before = first;
            if !same && self.try_guesses(accepted, &mut count) {
                return Ending::new(Status::Solved, count);
            }
            self.contacts.restore(&self.kept.start);
            if (start + 1).is_multiple_of(starts_per_path) && paths < self.options.max_paths {
                paths += 1;
                if self.try_compliant(accepted, &mut count) {
                    return Ending::new(Status::Solved, count);
                }
            }
            self.contacts.restore(&self.kept.start);
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
        if !self.load(problem, guess) {
            return Ending::new(Status::Breakdown, 0);
        }
        let ending = self.iterate();
        if ending.status == Status::Solved {
            self.refine(problem.q(), &mut solution.r);
        } else {
            self.write(problem.q(), &mut solution.r);
        }
        ending
    }
}
