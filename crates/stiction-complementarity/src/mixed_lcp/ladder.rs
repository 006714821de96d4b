//! Ladder for mixed problems: elimination of the free variables, else pivoting, else Newton with all variables.

use super::pivoting::MixedLcpPivoting;
use super::schur::MixedLcpSchur;
use super::{MixedLcp, MixedLcpSolution};
use crate::lcp::ladder::{Certificate, LcpLadder};
use crate::linalg::SparseMatrix;
use crate::ncp::NcpFunction;
use crate::ncp::newton::NcpNewton;
use crate::outcome::{Ending, Status};
use crate::problem::Problem;
use crate::solver::Solver;

/// One rung of [`MixedLcpLadder`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MixedLcpRung {
    /// Elimination by the Schur complement, then the ladder for LCPs; needs a regular A.   [MLCP-3]
    Schur,
    /// Pivots, then the ladder for LCPs; for a singular A.   [MLCP-6]
    Pivoting,
    /// Semismooth Newton with the free variables kept.   [NCP-5]
    Newton,
}

impl MixedLcpRung {
    /// Name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Schur => "elimination",
            Self::Pivoting => "pivoting",
            Self::Newton => "newton",
        }
    }
}

/// Record of one rung of the last run.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct MixedRungRecord {
    /// The rung.
    pub rung: MixedLcpRung,
    /// Status claimed by its method.
    pub status: Status,
    /// Residual of its solution.
    pub residual: f64,
    /// Its iterations, in its own unit.
    pub iterations: u32,
}

/// Ladder of methods for [`MixedLcp`], with their scratch memory.
///
/// `Infeasible` is proved by the certificate of [`LcpLadder`] for the reduced problem, which is checked with the numbers of
/// the problem itself after elimination [MLCP-7], or by contradicting equalities.
#[derive(Clone, Debug)]
pub struct MixedLcpLadder {
    rungs: Vec<MixedLcpRung>,
    schur: MixedLcpSchur<LcpLadder>,
    pivoting: MixedLcpPivoting<LcpLadder>,
    newton: NcpNewton,
    candidate: MixedLcpSolution,
    start: Vec<f64>,
    point: Vec<f64>,
    records: Vec<MixedRungRecord>,
}

impl Default for MixedLcpLadder {
    fn default() -> Self {
        Self::with_rungs(Self::DEFAULT_RUNGS.to_vec(), &LcpLadder::default())
    }
}

impl MixedLcpLadder {
    /// The rungs of [`new`](Self::new).
    pub const DEFAULT_RUNGS: [MixedLcpRung; 3] = [MixedLcpRung::Schur, MixedLcpRung::Pivoting, MixedLcpRung::Newton];

    /// Largest residual [MLCP-2] at which the solution of a rung is accepted without the next rung. Dimensionless.
    const ACCEPTED: f64 = 1e-11;

    /// The ladder with its default rungs.
    pub fn new() -> Self {
        Self::default()
    }

    /// The ladder of these rungs, with a ladder for the reduced problems.
    pub fn with_rungs(rungs: Vec<MixedLcpRung>, linear: &LcpLadder) -> Self {
        Self {
            rungs,
            schur: MixedLcpSchur::new(linear.clone()),
            pivoting: MixedLcpPivoting::new(linear.clone()),
            newton: NcpNewton::default(),
            candidate: MixedLcpSolution::default(),
            start: Vec::new(),
            point: Vec::new(),
            records: Vec::new(),
        }
    }

    /// The rungs, in order.
    pub fn rungs(&self) -> &[MixedLcpRung] {
        &self.rungs
    }

    /// The rungs of the last run, in order.
    pub fn records(&self) -> &[MixedRungRecord] {
        &self.records
    }

    /// The elimination, for instance to inspect the ladder of the reduced problem.
    pub fn schur(&self) -> &MixedLcpSchur<LcpLadder> {
        &self.schur
    }

    /// The pivoting, for instance to inspect the ladder of the reduced problem.
    pub fn pivoting(&self) -> &MixedLcpPivoting<LcpLadder> {
        &self.pivoting
    }

    /// True if the certificate of the reduced problem holds for the problem itself.
    ///
    /// The certificate of an enumeration cannot be checked there; the next rung, which bounds its rounding errors, finds its
    /// own.
    fn is_confirmed(&mut self, problem: &MixedLcp) -> bool {
        match self.schur.inner().certificate().cloned() {
            Some(Certificate::Farkas { y }) => self.schur.confirms(problem, &y),
            Some(Certificate::Enumerated { .. }) | None => false,
        }
    }

    fn try_rung(&mut self, rung: MixedLcpRung, problem: &MixedLcp, guess: Option<&MixedLcpSolution>) -> Ending {
        match rung {
            MixedLcpRung::Schur => {
                let ending = self.schur.run(problem, guess, &mut self.candidate);
                let doubtful = ending.status == Status::Infeasible && !self.is_confirmed(problem);
                if doubtful { Ending::new(Status::Breakdown, ending.iterations) } else { ending }
            }
            MixedLcpRung::Pivoting => self.pivoting.run(problem, guess, &mut self.candidate),
            MixedLcpRung::Newton => {
                self.start.clear();
                if let Some(guess) = guess {
                    self.start.extend(guess.free.iter().chain(&guess.complementary));
                }
                let guess = guess.map(|_| self.start.as_slice());
                let ending = self.newton.search_all(problem, guess, &mut self.point);
                debug_assert_eq!(self.point.len(), problem.size(), "all unknowns of the mixed problem");
                self.candidate.reset(problem.free_size(), problem.complementary_size());
                let (free, complementary) = self.point.split_at(problem.free_size());
                self.candidate.free.copy_from_slice(free);
                self.candidate.complementary.iter_mut().zip(complementary).for_each(|(z, x)| *z = x.max(0.0));
                ending
            }
        }
    }
}

impl Solver<MixedLcp> for MixedLcpLadder {
    fn run(&mut self, problem: &MixedLcp, guess: Option<&MixedLcpSolution>, solution: &mut MixedLcpSolution) -> Ending {
        solution.reset(problem.free_size(), problem.complementary_size());
        self.records.clear();
        if problem.ensure_shapes().is_err() || problem.ensure_finite().is_err() {
            return Ending::new(Status::Breakdown, 0);
        }
        let (mut best, mut iterations) = (f64::INFINITY, 0_u32);
        let mut last = Status::Breakdown;
        for k in 0..self.rungs.len() {
            let rung = self.rungs[k];
            let ending = self.try_rung(rung, problem, guess);
            let residual = problem.residual(&self.candidate).value;
            self.records.push(MixedRungRecord { rung, status: ending.status, residual, iterations: ending.iterations });
            iterations = iterations.saturating_add(ending.iterations);
            if residual < best {
                best = residual;
                last = ending.status;
                solution.copy_from(&self.candidate);
            }
            let done = ending.status == Status::Solved && residual <= Self::ACCEPTED;
            if done || ending.status == Status::Infeasible {
                return Ending::new(ending.status, iterations);
            }
        }
        Ending::new(last, iterations)
    }
}

/// The variables are (u, z): u free with the equality rows, z ≥ 0 with the complementary ones.
impl NcpFunction for MixedLcp {
    fn size(&self) -> usize {
        Self::size(self)
    }

    fn bounds(&self, i: usize) -> (f64, f64) {
        (if i < self.free_size() { f64::NEG_INFINITY } else { 0.0 }, f64::INFINITY)
    }

    fn value(&self, z: &[f64], out: &mut [f64]) {
        let (free, complementary) = z.split_at(self.free_size());
        for (i, f) in out.iter_mut().enumerate() {
            *f = match i.checked_sub(free.len()) {
                None => self.equality.value(i, free, complementary),
                Some(row) => self.complementarity.value(row, free, complementary),
            };
        }
    }

    fn jacobian(&self, _: &[f64], out: &mut SparseMatrix) {
        let n = Self::size(self);
        out.clear(n, n);
        for block in [&self.equality, &self.complementarity] {
            for i in 0..block.constant.len() {
                block.on_free.row(i).for_each(|(j, value)| out.push(j, value));
                block.on_complementary.row(i).for_each(|(j, value)| out.push(self.free_size() + j, value));
                out.finish_row();
            }
        }
    }
}
