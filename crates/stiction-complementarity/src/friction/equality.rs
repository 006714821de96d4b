//! Problems of equalities alone, W r + q = 0: joints and couplings without contacts. Linear algebra, no cones.   [EQ-1]
//!
//! W is positive semidefinite, and singular if equalities are redundant. W + ε D, with the diagonal D of W (compliance included), is regular and is
//! factorised by blocks (of weak rows D is larger, see [`WEAK`]). The iterations r ← r − (W + ε D)⁻¹ (W r + q) from r = 0 are those of the proximal-point
//! method. If the system is consistent, they converge to the solution of least norm √(rᵀ D r); two or three of them reach rounding level. If it is inconsistent
//! (equalities contradict each other), the residual of the contradicting rows remains, and the problem is not solved.
//!
//! Rows that are almost redundant, with eigenvalues of D⁻¹ W far below ε, count as redundant: those of an overconstrained loop are redundant up
//! to its joint errors, and solving them exactly would lock the loop.

use super::operator::Bodies;
use super::version::Version;
use super::{FrictionProblem, FrictionSolution, Law, Operator};
use crate::linalg::{BlockMatrix, BlockSparseLu, dot};
use crate::outcome::{Ending, Status};

/// Regularisation ε: the fraction of the diagonal of W that is added to it. Dimensionless.
///
/// Rounding of the factors, about 1e-15 of the diagonal, must be small beside it, and it must be small beside the eigenvalues of D⁻¹ W.
const REGULARISATION: f64 = 1e-9;

/// Fraction of the largest diagonal entry of W up to which a row is zero by rounding. Dimensionless.
const VANISHED: f64 = 1e-20;

/// Fraction of the largest diagonal entry of W in a block (a joint) up to which one of its rows is weak. Dimensionless.
///
/// All rates of a row may be zero but for the joint errors, such as those of the rows out of the plane in a planar mechanism. Relative to its own entry it
/// would not be small and would count as independent. So D of a weak row is the largest entry of its joint. Entries of position rows and angle rows differ by the square of the size of the mechanism in metres: at
/// 1e-6 this difference makes no row weak from a millimetre to a kilometre.
const WEAK: f64 = 1e-6;

/// Residual at the level of rounding errors, at which iterations end. Dimensionless.
const ROUNDING_RESIDUAL: f64 = 1e-15;

/// Largest residual of a guess that is returned as the solution, without a solve. Dimensionless.
///
/// A guess has so small a residual in two cases: at rest, and after the rates that it leaves were subtracted from q as inconsistent [EQ-2]. The value
/// lies between [`ROUNDING_RESIDUAL`] and the tolerances of the ladder. Guesses that are kept at larger residuals add up to impulses of redundant joints
/// that are not those of least norm.
const SOLVED_GUESS: f64 = 1e-12;

/// Largest number of iterations.
const MAX_ITERATIONS: u32 = 60;

/// Number of times that the inconsistent part of q is subtracted and the impulses are computed again.
///
/// Let κ be the component of q along an almost redundant direction with eigenvalue λ of D⁻¹ W, scaled by D. The impulses of n iterations cancel the
/// fraction f = 1 − (ε/(λ + ε))ⁿ of it, and after k subtractions the fraction f^(k + 1). They move bodies at κ f^(k + 1)/√λ. For λ = ε/100 and n = 1
/// that is 3000 κ without a subtraction, 30 κ after one and 0.3 κ after two; for n = 2, 6000 κ, 120 κ and 2.4 κ. n is 1 if the inconsistent part is
/// more than half of q, and usually 2 otherwise.
const SUBTRACTIONS: u32 = 2;

/// Largest average number of pairs of blocks that share a body, per block; with more, factors fill in and the method does not apply: bodies with very many
/// joints or couplings.
const MAX_COUPLINGS: usize = 64;

/// Method for problems of equalities alone; the symbolic analysis is kept while the sparsity pattern stays the same.   [EQ-1]
#[derive(Clone, Debug)]
pub(crate) struct EqualitySolver {
    lu: BlockSparseLu,
    /// Block sizes and coupled pairs of blocks of the analysed pattern.
    sizes: Vec<usize>,
    pairs: Vec<(usize, usize)>,
    /// The same of the present problem.
    new_sizes: Vec<usize>,
    new_pairs: Vec<(usize, usize)>,
    /// Positions of the diagonal blocks in `lu`.
    diagonal: Vec<usize>,
    /// Positions of each pair and of its transpose in `lu`, in the order of `pairs`.
    positions: Vec<(usize, usize)>,
    /// Version of the matrices that are factorised; none if they are not regular.
    factorised: Option<Version>,
    has_run: bool,
    /// Block of the product Hᵀ M⁻¹ H: scratch memory.
    product: Vec<f64>,
    /// Iterate, its velocities, correction, inconsistent part of q: scratch memory.
    r: Vec<f64>,
    u: Vec<f64>,
    correction: Vec<f64>,
    inconsistent: Vec<f64>,
    state: Vec<f64>,
}

impl Default for EqualitySolver {
    /// Creates an empty method that accepts every pivot: those of redundant rows are as small as ε.
    fn default() -> Self {
        Self {
            lu: BlockSparseLu::with_pivot_bound(0.0),
            sizes: Vec::new(),
            pairs: Vec::new(),
            new_sizes: Vec::new(),
            new_pairs: Vec::new(),
            diagonal: Vec::new(),
            positions: Vec::new(),
            factorised: None,
            has_run: false,
            product: Vec::new(),
            r: Vec::new(),
            u: Vec::new(),
            correction: Vec::new(),
            inconsistent: Vec::new(),
            state: Vec::new(),
        }
    }
}

impl EqualitySolver {
    /// True if all laws are equalities.
    pub(crate) fn applies(problem: &FrictionProblem) -> bool {
        problem.laws().iter().all(|law| matches!(law, Law::Equality { .. }))
    }

    /// True if the last run iterated, or kept the guess as the solution; false if the factors would have filled in or the factorisation failed.
    pub(crate) fn has_run(&self) -> bool {
        self.has_run
    }

    /// Solves W r + q = 0 to rounding level, at least to a residual [CONE-5] of `tolerance`: from r = 0, or not at all if the guess solves it.
    pub(crate) fn run(
        &mut self,
        tolerance: f64,
        problem: &FrictionProblem,
        guess: Option<&FrictionSolution>,
        solution: &mut FrictionSolution,
    ) -> Ending {
        debug_assert!(Self::applies(problem), "all laws are equalities");
        let guess = guess.filter(|guess| guess.r.len() == problem.rows());
        let of_guess = guess.map_or(f64::INFINITY, |guess| {
            problem.residual_with_velocities(&guess.r, &mut self.u, &mut self.state).value
        });
        if let Some(guess) = guess.filter(|_| of_guess <= SOLVED_GUESS) {
            solution.r.clone_from(&guess.r);
            self.has_run = true;
            return Ending::new(Status::Solved, 0);
        }
        solution.r.clear();
        solution.r.resize(problem.rows(), 0.0);
        self.has_run = self.factor(problem);
        if !self.has_run {
            return Ending::new(Status::Breakdown, 0);
        }
        for scratch in [&mut self.r, &mut self.correction] {
            scratch.clear();
            scratch.resize(problem.rows(), 0.0);
        }
        let mut best = problem.residual_with_velocities(&self.r, &mut self.u, &mut self.state).value;
        let mut iterations = 0;
        // ---- Proximal-point iterations ----
        while best > ROUNDING_RESIDUAL && iterations < MAX_ITERATIONS {
            self.correct();
            self.r.iter_mut().zip(&self.correction).for_each(|(r, d)| *r += d);
            iterations += 1;
            if !self.keep_best(problem, &mut best, solution) {
                break;
            }
        }
        // A guess that does not solve the problem may be large along almost redundant rows, and would grow from step to step.
        if let Some(guess) = guess.filter(|_| of_guess < best && of_guess <= tolerance) {
            best = of_guess;
            solution.r.clone_from(&guess.r);
        } else if best > tolerance {
            self.solve_consistent_part(problem, iterations, solution);
        }
        Ending::new(if best <= tolerance { Status::Solved } else { Status::BudgetExhausted }, iterations)
    }

    /// Replaces the impulses of an inconsistent problem by those of its consistent part, q less the rates that the iterations leave.   [EQ-2]
    ///
    /// The iterations divide the inconsistent part by about ε. Where W is almost singular instead of singular, such impulses move bodies (see
    /// [`SUBTRACTIONS`]).
    fn solve_consistent_part(&mut self, problem: &FrictionProblem, iterations: u32, solution: &mut FrictionSolution) {
        let mut inconsistent = std::mem::take(&mut self.inconsistent);
        for _ in 0..SUBTRACTIONS {
            problem.residual_with_velocities(&solution.r, &mut self.u, &mut self.state);
            inconsistent.clone_from(&self.u);
            self.r.fill(0.0);
            for _ in 0..iterations {
                problem.residual_with_velocities(&self.r, &mut self.u, &mut self.state);
                self.u.iter_mut().zip(&inconsistent).for_each(|(u, part)| *u -= part);
                self.correct();
                self.r.iter_mut().zip(&self.correction).for_each(|(r, d)| *r += d);
            }
            solution.r.copy_from_slice(&self.r);
        }
        self.inconsistent = inconsistent;
    }

    /// Sets the correction to −(W + ε D)⁻¹ u.
    fn correct(&mut self) {
        self.correction.iter_mut().zip(&self.u).for_each(|(d, u)| *d = -u);
        self.lu.solve(&mut self.correction);
    }

    /// Evaluates the iterate and keeps the impulses of least residual. Returns true if the residual is at most half of the least one before.
    fn keep_best(&mut self, problem: &FrictionProblem, best: &mut f64, solution: &mut FrictionSolution) -> bool {
        let residual = problem.residual_with_velocities(&self.r, &mut self.u, &mut self.state).value;
        let falls = residual <= 0.5 * *best;
        if residual < *best {
            *best = residual;
            solution.r.copy_from_slice(&self.r);
        }
        falls
    }

    /// Factorises W + ε D unless that was done; returns false if this is not possible or too expensive.
    fn factor(&mut self, problem: &FrictionProblem) -> bool {
        let version = Some(problem.matrix_version());
        if self.factorised == version {
            return true;
        }
        self.factorised = None;
        if !self.analyse(problem) {
            return false;
        }
        self.lu.clear();
        match problem.operator() {
            Operator::Assembled(w) => self.add_assembled(w),
            Operator::MatrixFree(bodies) => self.add_bodies(bodies),
        }
        self.regularise(problem);
        if self.lu.factor().is_ok() {
            self.factorised = version;
        }
        self.factorised.is_some()
    }

    /// Analyses the sparsity pattern unless it is that of the last call; returns false if too many blocks are coupled.
    fn analyse(&mut self, problem: &FrictionProblem) -> bool {
        self.new_sizes.clear();
        self.new_sizes.extend(problem.laws().iter().map(Law::rows));
        self.new_pairs.clear();
        match problem.operator() {
            Operator::Assembled(w) => {
                self.new_pairs.extend((0..w.block_rows()).flat_map(|i| w.row(i).map(move |(j, _)| (i, j))));
            }
            Operator::MatrixFree(bodies) => {
                let pairs = &mut self.new_pairs;
                bodies.jacobian().for_each_pair(bodies.response(), |(i, _), (j, _), _| pairs.push((i, j)));
            }
        }
        if self.new_pairs.len() > MAX_COUPLINGS * self.new_sizes.len() {
            return false;
        }
        if self.sizes == self.new_sizes && self.pairs == self.new_pairs {
            return true;
        }
        self.sizes.clone_from(&self.new_sizes);
        self.pairs.clone_from(&self.new_pairs);
        self.lu.analyse(&self.sizes, &self.pairs);
        let lu = &self.lu;
        self.diagonal.clear();
        self.diagonal.extend((0..self.sizes.len()).filter_map(|i| lu.place(i, i)));
        self.positions.clear();
        self.positions.extend(self.pairs.iter().filter_map(|&(i, j)| lu.place(i, j).zip(lu.place(j, i))));
        debug_assert!(
            self.diagonal.len() == self.sizes.len() && self.positions.len() == self.pairs.len(),
            "every block has a position in the factor"
        );
        true
    }

    /// Adds an assembled W, which stores both blocks of a pair.
    fn add_assembled(&mut self, w: &BlockMatrix) {
        let blocks = (0..w.block_rows()).flat_map(|i| w.row(i));
        for ((_, block), &(position, _)) in blocks.zip(&self.positions) {
            self.lu.block_mut(position).iter_mut().zip(block).for_each(|(t, w)| *t += w);
        }
    }

    /// Adds W = Hᵀ M⁻¹ H: each pair of joints of a body once, with its transpose.
    fn add_bodies(&mut self, bodies: &Bodies) {
        let Self { lu, positions, product, .. } = self;
        let mut positions = positions.iter();
        bodies.jacobian().for_each_pair(bodies.response(), |(i, a), (j, b), size| {
            let Some(&(position, transposed)) = positions.next() else {
                debug_assert!(false, "every pair has a position");
                return;
            };
            let columns = b.len() / size.max(1);
            product.clear();
            match size {
                6 => multiply::<6>(a, b, product),
                3 => multiply::<3>(a, b, product),
                _ => {
                    let rows = a.chunks_exact(size.max(1));
                    rows.for_each(|a| product.extend(b.chunks_exact(size.max(1)).map(|b| dot(a, b))));
                }
            }
            lu.block_mut(position).iter_mut().zip(&*product).for_each(|(t, w)| *t += w);
            if i != j {
                let target = lu.block_mut(transposed);
                let rows = a.len() / size.max(1);
                for (k, row) in product.chunks_exact(columns.max(1)).enumerate() {
                    row.iter().enumerate().for_each(|(l, w)| target[l * rows + k] += w);
                }
            }
        });
        debug_assert!(positions.as_slice().is_empty(), "every position is used");
    }

    /// Adds the compliance c and then ε D to the diagonal, with D = W + c of the row, or in a weak row the largest entry of W of the block. The diagonal of a
    /// row of zeros, such as one between kinematic bodies, becomes the largest entry of all.
    fn regularise(&mut self, problem: &FrictionProblem) {
        let mut largest = f64::MIN_POSITIVE;
        for (&position, &size) in self.diagonal.iter().zip(&self.sizes) {
            let entries = self.lu.block_mut(position).iter().step_by(size + 1);
            largest = entries.fold(largest, |largest, entry| largest.max(*entry));
        }
        for (i, (&position, &size)) in self.diagonal.iter().zip(&self.sizes).enumerate() {
            let range = problem.range(i);
            let block = self.lu.block_mut(position);
            let strongest = block.iter().step_by(size + 1).fold(0.0, |most: f64, entry| most.max(*entry));
            for (row, entry) in range.zip(block.iter_mut().step_by(size + 1)) {
                let is_weak = *entry <= WEAK * strongest;
                *entry += problem.compliance().get(row).copied().unwrap_or(0.0);
                *entry = match (*entry > VANISHED * largest, is_weak) {
                    (true, false) => *entry * (1.0 + REGULARISATION),
                    (true, true) => *entry + REGULARISATION * strongest,
                    (false, _) => largest,
                };
            }
        }
    }
}

/// out ← A Bᵀ, row by row, for rows of N numbers.
fn multiply<const N: usize>(a: &[f64], b: &[f64], out: &mut Vec<f64>) {
    for a in a.as_chunks::<N>().0 {
        out.extend(b.as_chunks::<N>().0.iter().map(|b| dot(a, b)));
    }
}
