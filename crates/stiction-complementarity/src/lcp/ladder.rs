//! Ladder for the LCP: methods in order until one finds the solution, or a proof of infeasibility.
//!
//! The rungs are a public list, and every rung of a run is recorded. `Infeasible` is claimed only with a [`Certificate`]: a
//! Farkas vector [LCP-11] from a ray of Lemke's method, on the problem itself or on the feasibility problem [LCP-12], or a
//! complete enumeration [LCP-6].

use super::diagnostics::proves_infeasible;
use super::enumeration::LcpEnumeration;
use super::lemke::{LcpLemke, LemkeFailure};
use super::newton::LcpNewton;
use super::principal_pivoting::LcpPrincipalPivoting;
use super::{Lcp, LcpSolution, usable_guess};
use crate::outcome::{Ending, Status};
use crate::problem::Problem;
use crate::solver::Solver;

/// One rung of [`LcpLadder`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum LcpRung {
    /// Principal pivoting from the positive z of the initial guess; skipped without a usable one.
    WarmStart,
    /// Lemke's method with the covering vector d_i = 1 + tilt · frac((i + shift) φ).
    Lemke {
        /// Deviation of d from e. Dimensionless.
        tilt: f64,
        /// Begin of its sequence.
        shift: u16,
    },
    /// Principal pivoting from z = 0.
    PrincipalPivoting,
    /// Semismooth Newton.
    Newton,
    /// Feasibility test: finds a z ≥ 0 with M z + q ≥ 0, or a proof that none exists. Never solves the LCP.   [LCP-12]
    Feasibility,
    /// All complementary bases; skipped above [`LcpEnumeration::MAX_SIZE`] rows.
    Enumeration,
}

impl std::fmt::Display for LcpRung {
    /// Writes the name in reports.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::WarmStart => f.write_str("warm-start"),
            Self::Lemke { shift: 0, .. } => f.write_str("lemke"),
            Self::Lemke { shift, .. } => write!(f, "lemke-cover-{shift}"),
            Self::PrincipalPivoting => f.write_str("principal-pivoting"),
            Self::Newton => f.write_str("newton"),
            Self::Feasibility => f.write_str("feasibility"),
            Self::Enumeration => f.write_str("enumeration"),
        }
    }
}

/// Record of one rung of the last run.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct RungRecord {
    /// The rung.
    pub rung: LcpRung,
    /// Status claimed by its method.
    pub status: Status,
    /// Residual of its solution.
    pub residual: f64,
    /// Its iterations, in its own unit.
    pub iterations: u32,
}

/// Proof that a problem has no solution.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Certificate {
    /// y ≥ 0 with Mᵀ y ≤ 0 and qᵀ y < 0: no z ≥ 0 satisfies M z + q ≥ 0.   [LCP-11]
    Farkas {
        /// The weights of the rows.
        y: Vec<f64>,
    },
    /// Every complementary basis was tried, and none is undecided.   [LCP-6]
    Enumerated {
        /// The bases tried.
        bases: u32,
    },
}

/// Ladder of methods for [`Lcp`], with their scratch memory.
#[derive(Clone, Debug)]
pub struct LcpLadder {
    rungs: Vec<LcpRung>,
    lemke: LcpLemke,
    principal_pivoting: LcpPrincipalPivoting,
    newton: LcpNewton,
    enumeration: LcpEnumeration,
    feasibility: Lcp,
    candidate: LcpSolution,
    records: Vec<RungRecord>,
    certificate: Option<Certificate>,
}

impl Default for LcpLadder {
    fn default() -> Self {
        Self::new()
    }
}

impl LcpLadder {
    /// The rungs of [`new`](Self::new): four methods, Lemke's with three covering vectors and principal pivoting with two starts, and the feasibility test. `docs/ablation.md` says
    /// what is lost without each of them.
    pub const DEFAULT_RUNGS: [LcpRung; 8] = [
        LcpRung::WarmStart,
        LcpRung::Lemke { tilt: 0.0, shift: 0 },
        LcpRung::Lemke { tilt: 1.0, shift: 1 },
        LcpRung::PrincipalPivoting,
        LcpRung::Lemke { tilt: 3.0, shift: 11 },
        LcpRung::Newton,
        LcpRung::Feasibility,
        LcpRung::Enumeration,
    ];

    /// Largest ‖min(z, w)‖∞ / ‖q‖∞ at which the solution of a rung is accepted. Dimensionless.
    ///
    /// As in Lemke's method it is relative for small q too.
    const ACCEPTED: f64 = 1e-11;

    /// The default ladder.
    pub fn new() -> Self {
        Self::with_rungs(Self::DEFAULT_RUNGS.to_vec())
    }

    /// The ladder of these rungs.
    pub fn with_rungs(rungs: Vec<LcpRung>) -> Self {
        Self {
            rungs,
            lemke: LcpLemke::new(),
            principal_pivoting: LcpPrincipalPivoting::new(),
            newton: LcpNewton::new(),
            enumeration: LcpEnumeration::new(),
            feasibility: Lcp::default(),
            candidate: LcpSolution::default(),
            records: Vec::new(),
            certificate: None,
        }
    }

    /// The rungs, in order.
    pub fn rungs(&self) -> &[LcpRung] {
        &self.rungs
    }

    /// The rungs of the last run, in order; the last one decided.
    pub fn records(&self) -> &[RungRecord] {
        &self.records
    }

    /// Proof that the last problem has no solution; `None` unless the last run ended `Infeasible`.
    pub fn certificate(&self) -> Option<&Certificate> {
        self.certificate.as_ref()
    }

    /// Runs one rung and writes `candidate`; `None` if the rung does not apply.
    fn try_rung(&mut self, rung: LcpRung, problem: &Lcp, guess: Option<&LcpSolution>) -> Option<Ending> {
        let z = &mut self.candidate;
        match rung {
            LcpRung::WarmStart => guess.map(|guess| self.principal_pivoting.run(problem, Some(guess), z)),
            LcpRung::Lemke { tilt, shift } => {
                self.lemke.set_cover(tilt, shift);
                Some(self.lemke.run(problem, None, z))
            }
            LcpRung::PrincipalPivoting => Some(self.principal_pivoting.run(problem, None, z)),
            LcpRung::Newton => Some(self.newton.run(problem, guess, z)),
            LcpRung::Feasibility => Some(self.test_feasibility(problem)),
            LcpRung::Enumeration if problem.size() > LcpEnumeration::MAX_SIZE => None,
            LcpRung::Enumeration => Some(self.enumeration.run(problem, None, z)),
        }
    }

    /// Runs Lemke's method on the skew-symmetric problem K = [0 −Mᵀ; M 0], k = (0, q).   [LCP-12]
    ///
    /// Its solutions contain a feasible z, its rays a Farkas vector.
    fn test_feasibility(&mut self, problem: &Lcp) -> Ending {
        let n = problem.size();
        self.candidate.z.clear();
        self.candidate.z.resize(n, 0.0);
        let filled = self.feasibility.refill(2 * n, |k, constant| {
            for i in 0..n {
                for (j, &m) in problem.m().row(i).iter().enumerate() {
                    k[(n + i, j)] = m;
                    k[(j, n + i)] = -m;
                }
                constant[n + i] = problem.q()[i];
            }
        });
        if filled.is_err() {
            return Ending::new(Status::Breakdown, 0);
        }
        self.lemke.set_cover(0.0, 0);
        let mut point = std::mem::take(&mut self.candidate);
        let ending = self.lemke.run(&self.feasibility, None, &mut point);
        point.z.truncate(n);
        self.candidate = point;
        // A feasible z need not be a solution.
        let status = if ending.status == Status::Solved { Status::Breakdown } else { ending.status };
        Ending::new(status, ending.iterations)
    }

    /// Proof found by the last rung, if any.
    fn proof(&self, rung: LcpRung, ending: Ending, problem: &Lcp) -> Option<Certificate> {
        match rung {
            LcpRung::Lemke { .. } | LcpRung::Feasibility => {
                let ray = matches!(self.lemke.last_failure(), Some(LemkeFailure::Ray { .. }));
                let y = self.lemke.ray();
                let y = if rung == LcpRung::Feasibility { y.get(problem.size()..).unwrap_or_default() } else { y };
                (ray && proves_infeasible(problem, y)).then(|| Certificate::Farkas { y: y.to_vec() })
            }
            LcpRung::Enumeration if ending.status == Status::Infeasible => {
                Some(Certificate::Enumerated { bases: ending.iterations })
            }
            _ => None,
        }
    }
}

impl Solver<Lcp> for LcpLadder {
    fn run(&mut self, problem: &Lcp, guess: Option<&LcpSolution>, solution: &mut LcpSolution) -> Ending {
        let guess = usable_guess(problem, guess);
        self.records.clear();
        self.certificate = None;
        solution.z.clear();
        solution.z.resize(problem.size(), 0.0);
        let q_size = problem.q().iter().fold(0.0, |size: f64, q| size.max(q.abs()));
        let mut best = problem.residual(solution).value;
        let (mut iterations, mut exhausted) = (0_u32, false);
        for k in 0..self.rungs.len() {
            let rung = self.rungs[k];
            let Some(ending) = self.try_rung(rung, problem, guess) else { continue };
            let residual = problem.residual(&self.candidate).value;
            self.records.push(RungRecord { rung, status: ending.status, residual, iterations: ending.iterations });
            iterations = iterations.saturating_add(ending.iterations);
            exhausted |= ending.status == Status::BudgetExhausted;
            if residual <= best {
                best = residual;
                solution.z.clone_from(&self.candidate.z);
            }
            if ending.status == Status::Solved && residual <= Self::ACCEPTED * q_size.min(1.0) {
                return Ending::new(Status::Solved, iterations);
            }
            self.certificate = self.proof(rung, ending, problem);
            if self.certificate.is_some() {
                return Ending::new(Status::Infeasible, iterations);
            }
        }
        // A solution of less than full accuracy is still claimed; the caller measures its residual.
        let claimed = self.records.iter().any(|record| record.status == Status::Solved && record.residual <= best);
        let status = match (claimed, exhausted) {
            (true, _) => Status::Solved,
            (false, true) => Status::BudgetExhausted,
            (false, false) => Status::Breakdown,
        };
        Ending::new(status, iterations)
    }
}
