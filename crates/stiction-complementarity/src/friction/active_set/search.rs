//! Search over active sets: initial iterates (starts), continuation in compliance, and refinement. It is the same for all kinds of contacts.   [SET-1]

use super::embedding::Embedding;
use super::equalities::Equalities;
use super::{FrictionActiveSetOptions, Loaded};
use crate::friction::operator::Delassus;
use crate::friction::{FrictionProblem, FrictionSolution};
use crate::interrupt;
use crate::outcome::{Ending, Status};
use std::fmt::Debug;

/// First compliance of the continuation, relative to the mean diagonal of W: eigenvalues of W far below it no longer matter.
const FIRST_COMPLIANCE: f64 = 1e-2;

/// Least compliance of the continuation, relative to the mean diagonal of W: only redundant contacts are affected.
const LAST_COMPLIANCE: f64 = 1e-10;

/// Factor between two compliances of the continuation.
const COMPLIANCE_FACTOR: f64 = 0.1;

/// Residual at the level of rounding errors.
const ROUNDING_RESIDUAL: f64 = 1e-15;

/// Residual above which a solution is refined: corrected once more with the contact modes that were found.
pub(crate) const REFINED_RESIDUAL: f64 = 1e-14;

/// Largest number of refinement steps.
const MAX_REFINEMENTS: u32 = 2;

/// Largest number of active sets of the bounded rows alone, with the warm-started impulses of the contacts fixed.
const MAX_BOUND_UPDATES: u32 = 3;

/// Starts per compliance continuation in problems that are not purely spatial: not all blocks are contacts with friction in space.
///
/// A compliance continuation runs after every initial iterate if all contacts are spatial, otherwise after every seventh. The ladder allows
/// six initial iterates and one continuation, so only purely spatial problems get one, after the first. That for islands allows two initial iterates and
/// no continuation.
const STARTS_PER_CONTINUATION: u32 = 7;

/// Contacts and bounded rows with impulses, velocities, modes and the linear system of a step.
pub(super) trait ContactSet: Clone + Debug + Default {
    /// Linear system of a step with fixed modes.
    type System: Clone + Debug + Default;
    /// Saved copy of all impulses.
    type Saved: Clone + Debug + Default;
    /// Active set as a number: the modes of all contacts, without the directions of slip.
    type Code: Copy + Debug + PartialEq;

    /// Loads contacts and matrix of a problem: W + diag c row by row with `n` entries per row, bitwise symmetric or not.
    fn load_matrix(&mut self, from: (&Embedding, &Equalities), w: (&[f64], usize), symmetric: bool);
    /// Loads free velocities, their norm and the warm start, which is projected onto the laws.
    fn load(&mut self, from: (&Embedding, &Equalities), velocities: (&[f64], f64), guess: &[f64]);
    /// Norm of the free velocities.
    fn scale(&self) -> f64;
    /// Norm of the natural map, not divided by ‖q‖.   [CONE-5]
    fn residual(&self) -> f64;
    /// Saves the impulses.
    fn save(&self, saved: &mut Self::Saved);
    /// Restores saved impulses.
    fn restore(&mut self, saved: &Self::Saved);
    /// Writes the impulses into those of the problem.
    fn write(&self, embedding: &Embedding, r: &mut [f64]);
    /// Present active set.
    fn active_set(&self) -> Self::Code;
    /// True if any contact slips.
    fn slips(&self) -> bool;
    /// Updates all modes from r − ρ u and projects the impulses onto their modes.   [SET-1]
    ///
    /// Returns true if any mode changed, or if the impulse of a slipping contact was not on the boundary of its cone.
    fn update_modes(&mut self) -> bool;
    /// Updates the modes of the bounded rows alone; returns true if any changed.   [SET-8]
    fn update_bound_modes(&mut self) -> bool;
    /// True if a bounded row without impulse is violated while contacts have impulses.   [SET-8]
    fn has_violated_bounds(&self) -> bool;
    /// Sets the modes of the contacts from their warm-started impulses alone.   [SET-8]
    fn set_modes_from_impulses(&mut self);
    /// Replaces the compliance of the continuation, relative to the mean diagonal of W.   [SET-3]
    fn set_compliance(&mut self, relative: f64);
    /// Makes one Gauss-Seidel iteration with exact local solutions.   [GS-1]
    fn iterate_gauss_seidel(&mut self);
    /// Sets u to the velocities of the whole problem at impulses `r`, and changes q so that u = W r + q still holds.
    fn set_velocities(&mut self, embedding: &Embedding, problem: (&[f64], &[f64]), r: &[f64]);
    /// Makes one Newton step with the present modes; returns false if the system is singular.
    fn step(&mut self, system: &mut Self::System) -> bool;
    /// Repeats the step with the factors of the last one; returns false if there are none.
    fn refine(&mut self, system: &mut Self::System) -> bool;
    /// Invalidates the factors.
    fn clear_factors(system: &mut Self::System);
}

/// Search with its contacts and scratch memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Search<C: ContactSet> {
    pub(super) contacts: C,
    pub(super) system: C::System,
    /// Active sets since the last call of [`Self::iterate_active_sets`] began.
    visited: Vec<C::Code>,
    saved: Checkpoints<C::Saved>,
    /// True if a continuation changed W by rounding errors since it was loaded.
    pub(super) modified: bool,
}

/// Context of the search: options, positions of the rows of contacts, equalities, and W + diag c if it was assembled.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    pub(super) options: &'a FrictionActiveSetOptions,
    pub(super) embedding: &'a Embedding,
    pub(super) equalities: &'a Equalities,
    pub(super) w: &'a [f64],
}

/// Saved impulses of the contacts.
#[derive(Clone, Debug, Default)]
struct Checkpoints<S> {
    /// Impulses at the present initial iterate.
    start: S,
    /// Impulses before the last step.
    previous: S,
    /// Impulses of least residual within tolerance. Their velocities may be inconsistent with their modes, as at the stick-slip transition.
    best: S,
}

impl<C: ContactSet> Search<C> {
    /// Refines a solution with its own active set while the residual decreases: sticking contacts then stick to rounding.
    ///
    /// The velocities are those of the whole problem, because the elimination of equalities loses digits if masses differ.   [SET-7]
    fn refine(&mut self, context: Context, q: &[f64], r: &mut [f64]) {
        let mut before = f64::INFINITY;
        for refinement in 0..=MAX_REFINEMENTS {
            self.write(context, q, r);
            if !context.embedding.equality_rows().is_empty() {
                self.contacts.set_velocities(context.embedding, (context.w, q), r);
            }
            let residual = self.contacts.residual();
            if residual.is_nan() || residual >= before {
                if refinement > 0 {
                    self.write_previous(context, q, r);
                }
                return;
            }
            if refinement == MAX_REFINEMENTS || residual <= REFINED_RESIDUAL * self.contacts.scale() {
                return;
            }
            self.contacts.save(&mut self.saved.previous);
            before = residual;
            // The modes are unset if the initial iterate or a Gauss-Seidel iterate was the solution.
            let _ = self.contacts.update_modes();
            if !(self.contacts.refine(&mut self.system) || self.contacts.step(&mut self.system)) {
                return self.write_previous(context, q, r);
            }
            // Contacts with nearly zero impulse may change their mode; the factors belong to the active set before.
            if self.contacts.update_modes() {
                let better = self.contacts.residual() < before;
                return if better { self.write(context, q, r) } else { self.write_previous(context, q, r) };
            }
        }
    }

    /// Restores the impulses before the last step and writes them.
    fn write_previous(&mut self, context: Context, q: &[f64], r: &mut [f64]) {
        self.contacts.restore(&self.saved.previous);
        self.write(context, q, r);
    }

    /// r ← impulses of the contacts and those of the equalities that follow from them.
    fn write(&self, context: Context, q: &[f64], r: &mut [f64]) {
        self.contacts.write(context.embedding, r);
        context.equalities.recover_impulses(context.embedding.equality_rows(), context.w, q, r);
    }

    /// Iterates from the present active set until it is consistent and within tolerance, the active sets cycle (not if all blocks are spatial contacts),
    /// the system is singular or the budget is spent. True if an iterate was within tolerance; its impulses are restored.
    ///
    /// `accepted` is the largest norm of the natural map of a solution. `count` counts the active sets, with a linear system each. Systems of
    /// bounded rows alone and of the refinement are not counted.
    fn iterate_active_sets(&mut self, context: Context, accepted: f64, count: &mut u32) -> bool {
        let spatial = context.embedding.is_purely_spatial();
        let Self { contacts, system, visited, saved, .. } = self;
        let options = context.options;
        visited.clear();
        visited.reserve(options.max_active_sets as usize);
        let (mut least, mut within_tolerance) = (accepted, false);
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
            if !contacts.step(system) {
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
                (least, within_tolerance) = (residual, true);
                contacts.save(&mut saved.best);
            }
            // A consistent active set leaves modes and impulses unchanged, inside their cones.
            if !contacts.update_modes() && residual <= accepted {
                return true;
            }
        }
        if within_tolerance {
            contacts.restore(&saved.best);
        }
        within_tolerance
    }

    /// Runs a continuation over decreasing compliance that ends at the given problem.   [SET-3]
    ///
    /// Compliance makes every active set regular. If it is small enough, the active set is that of the rigid problem.
    fn continue_in_compliance(&mut self, context: Context, accepted: f64, count: &mut u32) -> bool {
        // Adding and removing compliance changes W by rounding errors, so the matrix is loaded again next time.
        self.modified = true;
        let mut compliance = FIRST_COMPLIANCE;
        while compliance >= LAST_COMPLIANCE && !interrupt::is_requested() {
            self.contacts.set_compliance(compliance);
            self.contacts.update_modes();
            let _ = self.iterate_active_sets(context, accepted, count);
            compliance *= COMPLIANCE_FACTOR;
        }
        self.contacts.set_compliance(0.0);
        self.contacts.update_modes();
        self.iterate_active_sets(context, accepted, count)
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
            if !self.contacts.step(&mut self.system) {
                self.contacts.restore(&self.saved.start);
                return;
            }
        }
    }

    /// Starts from the modes that the warm-started impulses imply, if limits without impulse are violated.   [SET-8]
    ///
    /// The velocities do not take part in these modes, because the limits distort them.
    fn try_modes_of_impulses(&mut self, context: Context, accepted: f64, count: &mut u32) -> bool {
        if !self.contacts.has_violated_bounds() {
            return false;
        }
        self.solve_bounded_rows();
        self.contacts.save(&mut self.saved.start);
        self.contacts.set_modes_from_impulses();
        let solved = self.iterate_active_sets(context, accepted, count);
        if !solved {
            self.contacts.restore(&self.saved.start);
        }
        solved
    }

    /// Iterates from one initial iterate after the other until one of them leads to a solution, and writes it. If none
    /// does, it writes the last initial iterate. `solution` has the rows of the
    /// problem and is zero.
    pub(super) fn run<W: Delassus>(
        &mut self,
        options: &FrictionActiveSetOptions,
        loaded: &mut Loaded,
        problem: &FrictionProblem<W>,
        guess: Option<&FrictionSolution>,
        solution: &mut FrictionSolution,
    ) -> Ending {
        if !loaded.load(self, problem, guess) {
            return Ending::new(Status::Breakdown, 0);
        }
        let Loaded { embedding, equalities, w, .. } = &*loaded;
        let context = Context { options, embedding, equalities, w };
        let accepted = options.tolerance * self.contacts.scale();
        // A warm start within tolerance is not accepted as it is: in a simulation its error would accumulate.
        let solved_at_start = self.contacts.residual() <= ROUNDING_RESIDUAL * self.contacts.scale();
        let mut count = 0;
        let mut solved = solved_at_start || self.try_modes_of_impulses(context, accepted, &mut count);
        let starts_per_continuation = if embedding.is_purely_spatial() { 1 } else { STARTS_PER_CONTINUATION };
        let (mut start, mut continuations, mut before) = (0, 0, None);
        while !solved && start < options.max_starts && !interrupt::is_requested() {
            if start > 0 {
                for _ in 0..options.gauss_seidel_iterations {
                    self.contacts.iterate_gauss_seidel();
                }
                if self.contacts.residual() <= accepted {
                    solved = true;
                    break;
                }
            }
            start += 1;
            self.contacts.save(&mut self.saved.start);
            self.contacts.update_modes();
            // Without slip an active set determines the impulses, whatever the initial iterate.
            let first = Some(self.contacts.active_set()).filter(|_| !self.contacts.slips());
            let same = first.is_some() && first == before;
            before = first;
            solved = !same && self.iterate_active_sets(context, accepted, &mut count);
            if !solved && start.is_multiple_of(starts_per_continuation) && continuations < options.max_continuations {
                self.contacts.restore(&self.saved.start);
                continuations += 1;
                solved = self.continue_in_compliance(context, accepted, &mut count);
            }
            if !solved {
                self.contacts.restore(&self.saved.start);
            }
        }
        if solved {
            self.refine(context, problem.q(), &mut solution.r);
        } else {
            self.write(context, problem.q(), &mut solution.r);
        }
        if std::mem::take(&mut self.modified) {
            loaded.matrix_version = None;
        }
        Ending::new(if solved { Status::Solved } else { Status::BudgetExhausted }, count)
    }
}
