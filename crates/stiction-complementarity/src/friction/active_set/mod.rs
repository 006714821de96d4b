//! Dense active-set method for small problems: choose the contact modes, solve for all impulses at once, update the modes.   [SET-1]
//!
//! Gauss-Seidel updates one contact after the other and needs ten or more iterations until they agree. Here a small dense system
//! couples all contacts, and one to three active sets suffice, to rounding. An active set is the mode of every block: open, stick or slip of
//! a contact; at the lower bound, free or at the upper bound of a bounded row. The modes follow from impulses and velocities, so a warm start
//! usually has the right active set. If the active sets cycle, Gauss-Seidel [GS-1] gives another start.
//!
//! The method takes up to [`MAX_CONTACTS`] contacts and bounded rows [SET-9] together: contacts with Coulomb friction in space or in the
//! plane, or without friction [SET-6]. A few rows of joints are eliminated first [SET-7]. If all contacts have friction in space and
//! nothing else is present, the limit is [`MAX_SPATIAL_CONTACTS`]. The method does not apply to other problems. It then returns
//! `Status::Breakdown` with zero impulses, although no computation broke down.

mod bounds;
mod contacts;
mod embedding;
mod factors;
mod joints;
mod modes;
mod sizes;
mod system;

use super::operator::Delassus;
use super::version::Version;
use super::{FrictionProblem, FrictionSolution};
use crate::outcome::{Ending, Status};
use crate::problem::OptionError;
use crate::solver::Solver;
use contacts::{Contacts, SavedImpulses};
use embedding::Embedding;
use joints::Joints;
use modes::ActiveSetCode;
pub use sizes::{MAX_CONTACTS, MAX_SPATIAL_CONTACTS};
use sizes::{MAX_JOINT_ROWS, MAX_ROWS};
use system::System;

/// First compliance of the continuation, relative to the mean diagonal of W: contacts nearly decouple.
const FIRST_COMPLIANCE: f64 = 1e-2;

/// Least compliance of the continuation, relative to the mean diagonal of W: only redundant contacts are affected.
const LAST_COMPLIANCE: f64 = 1e-10;

/// Factor between two compliances of the continuation.
const COMPLIANCE_FACTOR: f64 = 0.1;

/// Residual at the level of rounding errors.
const ROUNDING_RESIDUAL: f64 = 1e-15;

/// Residual above which a solution is refined.
pub(crate) const REFINED_RESIDUAL: f64 = 1e-14;

/// Largest number of refinement steps.
const MAX_REFINEMENTS: u32 = 2;

/// Largest number of active sets of the bounded rows alone, with the warm-started impulses of the contacts fixed.
const MAX_BOUND_UPDATES: u32 = 3;

/// Starts per compliance continuation in problems that are not purely spatial.
///
/// A compliance continuation runs after every start if all contacts are spatial, otherwise after every seventh. The ladder allows six starts
/// and one continuation, so only purely spatial problems get one, after their first start.
const STARTS_PER_CONTINUATION: u32 = 7;

/// Options of [`FrictionActiveSet`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrictionActiveSetOptions {
    /// Residual [CONE-5] at which the method ends. Dimensionless. Default 1e-9; rounding leaves about 1e-15.
    pub tolerance: f64,
    /// Largest number of active sets from one start (initial iterate). Default 8.
    pub max_active_sets: u32,
    /// Largest number of starts. Default 10.
    pub max_starts: u32,
    /// Largest number of compliance continuations, which are long. Default 10.
    pub max_continuations: u32,
    /// Gauss-Seidel iterations between two starts. Default 4.
    pub gauss_seidel_iterations: u32,
}

impl Default for FrictionActiveSetOptions {
    fn default() -> Self {
        Self { tolerance: 1e-9, max_active_sets: 8, max_starts: 10, max_continuations: 10, gauss_seidel_iterations: 4 }
    }
}

impl FrictionActiveSetOptions {
    /// Rejects options outside of their ranges.
    pub fn validate(&self) -> Result<(), OptionError> {
        if !(self.tolerance > 0.0 && self.tolerance.is_finite()) {
            return Err(OptionError { name: "tolerance", value: self.tolerance, range: "(0, ∞)" });
        }
        Ok(())
    }
}

/// Dense active-set method for small problems, with scratch memory of fixed size.   [SET-1]
#[derive(Clone, Debug, Default)]
pub struct FrictionActiveSet {
    options: FrictionActiveSetOptions,
    contacts: Contacts,
    system: System,
    embedding: Embedding,
    joints: Joints,
    /// Active sets visited from the present start.
    visited: Vec<ActiveSetCode>,
    saved: Checkpoints,
    /// W + diag c, row by row; unused if the operator stores W densely and there are neither joints nor compliance.
    w: Vec<f64>,
    /// Version of the matrices that are loaded.
    matrix_version: Option<Version>,
}

/// Saved impulses of the contacts.
#[derive(Clone, Debug, Default)]
struct Checkpoints {
    /// Impulses at the present start.
    start: SavedImpulses,
    /// Impulses before the last step.
    previous: SavedImpulses,
    /// Impulses of least residual within tolerance. Their velocities may be inconsistent with their modes, as at the stick-slip transition.
    best: SavedImpulses,
}

impl FrictionActiveSet {
    /// Largest number of rows of a problem to which the method applies.
    pub const MOST_ROWS: usize = MAX_ROWS + MAX_JOINT_ROWS;

    /// Creates the method with default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates the method with these options, which are validated.
    pub fn with_options(options: FrictionActiveSetOptions) -> Result<Self, OptionError> {
        options.validate()?;
        Ok(Self { options, ..Self::default() })
    }

    /// True if the method applies: at most [`MAX_CONTACTS`] contacts (cones of two or three rows) and bounded rows together, of at most
    /// 72 rows, and at most twelve rows of joints. A problem of spatial contacts alone has at most [`MAX_SPATIAL_CONTACTS`].
    pub fn applies<W: Delassus>(problem: &FrictionProblem<W>) -> bool {
        embedding::fits(problem)
    }

    /// Loads a problem; returns false if the method does not apply or the joints are redundant.
    fn load<W: Delassus>(&mut self, problem: &FrictionProblem<W>, guess: Option<&FrictionSolution>) -> bool {
        if self.matrix_version != Some(problem.matrix_version()) {
            self.matrix_version = None;
            if !self.load_matrix(problem) {
                return false;
            }
            self.matrix_version = Some(problem.matrix_version());
        }
        let Self { embedding, joints, contacts, system, .. } = self;
        system.clear_factors();
        joints.load_velocities(embedding.joint_rows(), problem.q());
        let fits = |guess: &&FrictionSolution| guess.r.len() == problem.rows() && guess.r.iter().all(|r| r.is_finite());
        let guess = guess.filter(fits).map_or(&[][..], |guess| &guess.r);
        contacts.load((embedding, joints), (problem.q(), problem.scale()), guess);
        true
    }

    /// Loads everything that does not depend on the free velocities.
    fn load_matrix<W: Delassus>(&mut self, problem: &FrictionProblem<W>) -> bool {
        let n = problem.rows();
        if !Self::applies(problem) {
            return false;
        }
        let Self { embedding, joints, contacts, w, .. } = self;
        embedding.read(problem);
        let unmodified = embedding.joint_rows().is_empty() && problem.compliance().is_empty();
        let w = if let (true, Some(dense)) = (unmodified, problem.operator().dense()) {
            dense
        } else {
            w.resize(n * n, 0.0);
            if !problem.operator().assemble(w) {
                return false;
            }
            let diagonal = w.iter_mut().step_by(n + 1);
            diagonal.zip(problem.compliance()).for_each(|(w, c)| *w += c);
            w
        };
        if !joints.factor(embedding.joint_rows(), w, n) {
            return false;
        }
        joints.couple(embedding, w, n);
        contacts.load_matrix((embedding, joints), (w, n), problem.operator().is_symmetric());
        true
    }

    /// Refines a solution with its own active set while the residual decreases: sticking contacts then stick to rounding.
    ///
    /// The velocities are those of the whole problem, because the elimination of joints loses digits if masses differ.   [SET-7]
    fn refine(&mut self, q: &[f64], r: &mut [f64]) {
        let mut before = f64::INFINITY;
        for refinement in 0..=MAX_REFINEMENTS {
            self.write(q, r);
            if !self.embedding.joint_rows().is_empty() {
                self.contacts.set_velocities(&self.embedding, (&self.w, q), r);
            }
            let residual = self.contacts.residual();
            if residual.is_nan() || residual >= before {
                if refinement > 0 {
                    self.write_previous(q, r);
                }
                return;
            }
            if refinement == MAX_REFINEMENTS || residual <= REFINED_RESIDUAL * self.contacts.scale() {
                return;
            }
            self.contacts.save(&mut self.saved.previous);
            before = residual;
            // The modes are unset if the start or a Gauss-Seidel iterate was the solution.
            let _ = self.contacts.update_modes();
            if !(self.system.refine(&mut self.contacts) || self.system.step(&mut self.contacts)) {
                return self.write_previous(q, r);
            }
            // Contacts with nearly zero impulse may change their mode; the factors belong to the active set before.
            if self.contacts.update_modes() {
                let better = self.contacts.residual() < before;
                return if better { self.write(q, r) } else { self.write_previous(q, r) };
            }
        }
    }

    /// Restores the impulses before the last step and writes them.
    fn write_previous(&mut self, q: &[f64], r: &mut [f64]) {
        self.contacts.restore(&self.saved.previous);
        self.write(q, r);
    }

    /// r ← impulses of the contacts and the joint reactions that follow from them.
    fn write(&self, q: &[f64], r: &mut [f64]) {
        self.embedding.write(self.contacts.impulses(), r);
        self.joints.recover_impulses(self.embedding.joint_rows(), &self.w, q, r);
    }

    /// Iterates from the present active set until the problem is solved or the active sets cycle. `count` counts the systems solved.
    fn iterate_active_sets(&mut self, accepted: f64, count: &mut u32) -> bool {
        let spatial = self.embedding.is_spatial();
        let Self { options, contacts, system, visited, saved, .. } = self;
        visited.clear();
        visited.reserve(options.max_active_sets as usize);
        let (mut least, mut near) = (accepted, false);
        for _ in 0..options.max_active_sets {
            // An active set that returns after another one means cycling. With spatial contacts only, slip directions turn, and the
            // iteration often leaves the cycle.
            let active_set = contacts.active_set();
            if !spatial && visited.last() != Some(&active_set) && visited.contains(&active_set) {
                break;
            }
            visited.push(active_set);
            *count += 1;
            contacts.save(&mut saved.previous);
            if !system.step(contacts) {
                break;
            }
            let residual = contacts.residual();
            // A natural map larger than ‖q‖: the active set has more equations than the bodies can satisfy. After some Gauss-Seidel
            // iterations the modes are more reliable, unless they are the same.
            if !spatial && residual > contacts.scale() {
                contacts.restore(&saved.previous);
                (0..options.gauss_seidel_iterations / 2).for_each(|_| contacts.iterate_gauss_seidel());
                contacts.update_modes();
                if contacts.active_set() == active_set {
                    break;
                }
                continue;
            }
            if residual <= least {
                (least, near) = (residual, true);
                contacts.save(&mut saved.best);
            }
            // A consistent active set leaves modes and impulses unchanged, inside their cones.
            if !contacts.update_modes() && residual <= accepted {
                return true;
            }
        }
        if near {
            contacts.restore(&saved.best);
        }
        near
    }

    /// Runs a continuation over decreasing compliance that ends at the given problem.   [SET-3]
    ///
    /// Compliance makes every active set regular. If it is small enough, the active set is that of the rigid problem.
    fn continue_in_compliance(&mut self, accepted: f64, count: &mut u32) -> bool {
        // Adding and removing compliance changes W by rounding errors, so the matrix is loaded again next time.
        self.matrix_version = None;
        let mut compliance = FIRST_COMPLIANCE;
        while compliance >= LAST_COMPLIANCE {
            self.contacts.set_compliance(compliance);
            self.contacts.update_modes();
            let _ = self.iterate_active_sets(accepted, count);
            compliance *= COMPLIANCE_FACTOR;
        }
        self.contacts.set_compliance(0.0);
        self.contacts.update_modes();
        self.iterate_active_sets(accepted, count)
    }

    /// Solves for the bounded rows alone, with the impulses of the contacts fixed.   [SET-8]
    ///
    /// The velocities of a violated limit without impulse would make every contact seem to open or slip.
    fn solve_bounded_rows(&mut self) {
        self.contacts.save(&mut self.saved.start);
        for update in 0..MAX_BOUND_UPDATES {
            // Before the first step the modes are those of another problem, so "unchanged" means nothing.
            if !self.contacts.update_bound_modes() && update > 0 {
                return;
            }
            if !self.system.step(&mut self.contacts) {
                self.contacts.restore(&self.saved.start);
                return;
            }
        }
    }

    /// Starts from the modes that the warm-started impulses imply, if limits without impulse are violated.   [SET-8]
    ///
    /// The velocities do not take part in these modes, because the limits distort them.
    fn try_modes_of_impulses(&mut self, accepted: f64, count: &mut u32) -> bool {
        if !self.contacts.has_violated_bounds() {
            return false;
        }
        self.solve_bounded_rows();
        self.contacts.save(&mut self.saved.start);
        self.contacts.set_modes_from_impulses();
        let solved = self.iterate_active_sets(accepted, count);
        if !solved {
            self.contacts.restore(&self.saved.start);
        }
        solved
    }

    /// Iterates from one start after the other until one of them leads to a solution.
    fn iterate(&mut self) -> Ending {
        let accepted = self.options.tolerance * self.contacts.scale();
        // A warm start within tolerance is not accepted as it is: in a simulation its error would accumulate.
        if self.contacts.residual() <= ROUNDING_RESIDUAL * self.contacts.scale() {
            return Ending::new(Status::Solved, 0);
        }
        let starts_per_continuation = if self.embedding.is_spatial() { 1 } else { STARTS_PER_CONTINUATION };
        let (mut count, mut continuations) = (0, 0);
        if self.try_modes_of_impulses(accepted, &mut count) {
            return Ending::new(Status::Solved, count);
        }
        let mut before = None;
        for start in 0..self.options.max_starts {
            if start > 0 {
                for _ in 0..self.options.gauss_seidel_iterations {
                    self.contacts.iterate_gauss_seidel();
                }
                if self.contacts.residual() <= accepted {
                    return Ending::new(Status::Solved, count);
                }
            }
            self.contacts.save(&mut self.saved.start);
            self.contacts.update_modes();
            // Without slip an active set determines the impulses, whatever the start.
            let first = Some(self.contacts.active_set()).filter(|_| !self.contacts.slips());
            let same = first.is_some() && first == before;
            before = first;
            if !same && self.iterate_active_sets(accepted, &mut count) {
                return Ending::new(Status::Solved, count);
            }
            self.contacts.restore(&self.saved.start);
            if (start + 1).is_multiple_of(starts_per_continuation) && continuations < self.options.max_continuations {
                continuations += 1;
                if self.continue_in_compliance(accepted, &mut count) {
                    return Ending::new(Status::Solved, count);
                }
            }
            self.contacts.restore(&self.saved.start);
        }
        Ending::new(Status::BudgetExhausted, count)
    }
}

impl<W: Delassus> Solver<FrictionProblem<W>> for FrictionActiveSet {
    /// Runs the method. If it does not apply, or the joints are redundant, it ends with `Status::Breakdown` and zero impulses.
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
