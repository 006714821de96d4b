//! Dense active-set method for small problems: choose the contact modes, solve for all impulses at once, update the modes.   [SET-1]
//!
//! Gauss-Seidel updates one contact after the other and needs ten or more iterations until they agree. Here a small dense system
//! couples all contacts, and one to three active sets suffice, to rounding. An active set is the mode of every block: open, stick or slip of
//! a contact; at the lower bound, free (between its bounds) or at the upper bound of a bounded row. The modes follow from impulses and velocities, so a warm start
//! usually has the right active set. If the active sets cycle, Gauss-Seidel [GS-1] gives another initial iterate.
//!
//! The method takes up to [`MAX_CONTACTS`] contacts and bounded rows [SET-9] together, with every law of friction. Coulomb friction in space
//! or in the plane has an implementation of its own [SET-6]; if any contact has torsion or rolling friction, all contacts use the general one, in which
//! each part of the friction (group of rows with one limit) has its own mode [SET-10]. A few rows of equalities (joints and couplings) are eliminated first [SET-7]. If all contacts have friction in
//! space and nothing else is present, the limit is [`MAX_SPATIAL_CONTACTS`]. The method does not apply to other problems. It then returns
//! `Status::Breakdown` with zero impulses, although no computation broke down.

mod bounds;
mod contacts;
mod coulomb;
mod embedding;
mod equalities;
mod factors;
mod general;
mod modes;
mod search;
mod sizes;
mod system;

use super::operator::Delassus;
use super::version::Version;
use super::{FrictionProblem, FrictionSolution};
use crate::outcome::{Ending, Status};
use crate::problem::OptionError;
use crate::solver::Solver;
use contacts::Contacts;
use embedding::{Embedding, Fit};
use equalities::Equalities;
use general::GeneralContacts;
pub(crate) use search::REFINED_RESIDUAL;
use search::{ContactSet, Search};
pub use sizes::{MAX_CONTACTS, MAX_SPATIAL_CONTACTS};
use sizes::{MAX_EQUALITY_ROWS, MAX_ROWS};

/// Options of [`FrictionActiveSet`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrictionActiveSetOptions {
    /// Residual [CONE-5] at which the method ends. Dimensionless. Default 1e-9; rounding leaves about 1e-15.
    pub tolerance: f64,
    /// Largest number of active sets from one initial iterate. Default 8.
    pub max_active_sets: u32,
    /// Largest number of initial iterates. Default 10.
    pub max_starts: u32,
    /// Largest number of continuations over decreasing compliance, each of which solves many active sets [SET-3]. Default 10.
    pub max_continuations: u32,
    /// Gauss-Seidel iterations between two initial iterates. Default 4.
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
    /// Search with Coulomb friction in space or in the plane.
    coulomb: Search<Contacts>,
    /// Search with any law of friction; none before the first problem that needs it.
    general: Option<Box<Search<GeneralContacts>>>,
    loaded: Loaded,
}

/// Everything of the loaded problem that does not depend on the laws of friction.
#[derive(Clone, Debug, Default)]
struct Loaded {
    embedding: Embedding,
    equalities: Equalities,
    /// W + diag c, row by row; unused if the operator stores W densely and there are neither equalities nor compliance.
    w: Vec<f64>,
    /// Version of the matrices that are loaded.
    matrix_version: Option<Version>,
    /// Implementation that applies to the contacts of the problem.
    fit: Fit,
}

impl FrictionActiveSet {
    /// Largest number of rows of a problem to which the method applies, those of equalities included.
    pub const MAX_PROBLEM_ROWS: usize = MAX_ROWS + MAX_EQUALITY_ROWS;

    /// Creates the method with default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates the method with these options, which are validated.
    pub fn with_options(options: FrictionActiveSetOptions) -> Result<Self, OptionError> {
        options.validate()?;
        Ok(Self { options, ..Self::default() })
    }

    /// Options of the method.
    pub fn options(&self) -> FrictionActiveSetOptions {
        self.options
    }

    /// True if the method applies: at most [`MAX_CONTACTS`] contacts and bounded rows together, of at most 72 rows, and at most twelve rows
    /// of equalities. A problem of spatial contacts alone has at most [`MAX_SPATIAL_CONTACTS`].
    pub fn applies<W: Delassus>(problem: &FrictionProblem<W>) -> bool {
        embedding::fit(problem) != Fit::No
    }
}

impl Loaded {
    /// Loads a problem; returns false if the method does not apply or the equalities are redundant.
    fn load<W: Delassus, C: ContactSet>(
        &mut self,
        search: &mut Search<C>,
        problem: &FrictionProblem<W>,
        guess: Option<&FrictionSolution>,
    ) -> bool {
        if self.matrix_version != Some(problem.matrix_version()) {
            self.matrix_version = None;
            if !self.load_matrix(search, problem) {
                return false;
            }
            self.matrix_version = Some(problem.matrix_version());
        }
        let Self { embedding, equalities, .. } = self;
        C::clear_factors(&mut search.system);
        equalities.load_velocities(embedding.equality_rows(), problem.q());
        let fits = |guess: &&FrictionSolution| guess.r.len() == problem.rows() && guess.r.iter().all(|r| r.is_finite());
        let guess = guess.filter(fits).map_or(&[][..], |guess| &guess.r);
        search.contacts.load((embedding, equalities), (problem.q(), problem.scale()), guess);
        true
    }

    /// Loads everything that does not depend on the free velocities.
    fn load_matrix<W: Delassus, C: ContactSet>(
        &mut self,
        search: &mut Search<C>,
        problem: &FrictionProblem<W>,
    ) -> bool {
        let n = problem.rows();
        let Self { embedding, equalities, w, .. } = self;
        embedding.read(problem);
        let unmodified = embedding.equality_rows().is_empty() && problem.compliance().is_empty();
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
        if !equalities.factor(embedding.equality_rows(), w, n) {
            return false;
        }
        equalities.couple(embedding, w, n);
        search.contacts.load_matrix((embedding, equalities), (w, n), problem.operator().is_symmetric());
        true
    }
}

impl<W: Delassus> Solver<FrictionProblem<W>> for FrictionActiveSet {
    /// Runs the method. If it does not apply, or the equalities are redundant, it ends with `Status::Breakdown` and zero impulses.
    fn run(
        &mut self,
        problem: &FrictionProblem<W>,
        guess: Option<&FrictionSolution>,
        solution: &mut FrictionSolution,
    ) -> Ending {
        solution.r.clear();
        solution.r.resize(problem.rows(), 0.0);
        let Self { options, coulomb, general, loaded } = self;
        let same = loaded.matrix_version == Some(problem.matrix_version());
        let fit = if same { loaded.fit } else { embedding::fit(problem) };
        loaded.fit = fit;
        match fit {
            Fit::No => Ending::new(Status::Breakdown, 0),
            Fit::Coulomb => coulomb.run(options, loaded, problem, guess, solution),
            Fit::General => general.get_or_insert_default().run(options, loaded, problem, guess, solution),
        }
    }
}
