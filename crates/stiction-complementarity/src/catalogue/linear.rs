//! Methods for linear, mixed and box problems.

use super::{Answer, Report, Rung, Unknowns, measured};
use crate::box_lcp::{BoxLcp, BoxLcpLadder, BoxLcpSolution};
use crate::lcp::diagnostics::explain;
use crate::lcp::enumeration::LcpEnumeration;
use crate::lcp::gauss_seidel::{GaussSeidelFailure, LcpGaussSeidel};
use crate::lcp::ladder::{Certificate, LcpLadder, RungRecord};
use crate::lcp::lemke::LcpLemke;
use crate::lcp::newton::LcpNewton;
use crate::lcp::principal_pivoting::LcpPrincipalPivoting;
use crate::lcp::{Lcp, LcpSolution};
use crate::mixed_lcp::ladder::{MixedLcpLadder, MixedLcpRung, MixedRungRecord};
use crate::mixed_lcp::pivoting::MixedLcpPivoting;
use crate::mixed_lcp::schur::{MixedLcpSchur, SchurFailure};
use crate::mixed_lcp::{MixedLcp, MixedLcpSolution};
use crate::ncp::newton::NcpNewton;
use crate::outcome::{Ending, Tolerance};
use crate::solver::Solver;

pub(super) const LCP_METHODS: [(&str, &str); 6] = [
    ("ladder", "methods in order until one finds the solution, or a proof that there is none"),
    ("lemke", "Lemke's method with lexicographic pivoting"),
    ("principal-pivoting", "principal pivoting with the least-index rule"),
    ("gauss-seidel", "projected Gauss-Seidel"),
    ("newton", "semismooth Newton on Fischer-Burmeister, from zero"),
    ("enumeration", "all complementary bases, for up to 16 rows"),
];

pub(super) const MIXED_METHODS: [(&str, &str); 7] = [
    ("ladder", "elimination, pivoting or Newton; the ladder for LCPs solves the reduced problem"),
    ("lemke", "elimination of the free unknowns, then Lemke's method"),
    ("pivoting", "free unknowns made basic by pivots (a singular equality block is allowed), then Lemke's method"),
    ("principal-pivoting", "elimination, then principal pivoting"),
    ("gauss-seidel", "elimination, then projected Gauss-Seidel"),
    ("newton", "elimination, then semismooth Newton"),
    ("enumeration", "elimination, then all complementary bases, for up to 16 complementary unknowns"),
];

pub(super) const BOX_METHODS: [(&str, &str); 2] =
    [("ladder", "as a mixed lcp, solved by its ladder"), ("newton", "semismooth Newton with continuation, from zero")];

/// Runs an LCP method; `None` if there is none of that name.
pub(super) fn run_lcp(problem: &Lcp, name: &str, tolerance: &Tolerance) -> Option<Answer> {
    let mut z = LcpSolution::default();
    let mut run = |method: &mut dyn Solver<Lcp>| measured(&mut Borrowed(method), problem, None, &mut z, tolerance);
    let mut report = match name {
        "ladder" => {
            let mut method = LcpLadder::new();
            let report = run(&mut method);
            let failure = method.certificate().map(certificate_in_words);
            Report { rungs: rungs(method.records()), failure, ..report }
        }
        "lemke" => {
            let mut method = LcpLemke::new();
            let report = run(&mut method);
            let failure = method.last_failure().map(|failure| explain(problem, failure, method.ray()));
            Report { failure, ..report }
        }
        "principal-pivoting" => {
            let mut method = LcpPrincipalPivoting::new();
            let report = run(&mut method);
            Report { failure: method.last_failure().map(|failure| failure.to_string()), ..report }
        }
        "gauss-seidel" => {
            let mut method = LcpGaussSeidel::new();
            let report = run(&mut method);
            match method.last_failure() {
                Some(failure @ GaussSeidelFailure::Diagonal { .. }) => return Some(Answer::not_applicable(failure)),
                failure => Report { failure: failure.map(|failure| failure.to_string()), ..report },
            }
        }
        "newton" => run(&mut LcpNewton::new()),
        "enumeration" if problem.size() > LcpEnumeration::MAX_SIZE => return Some(too_large(problem.size())),
        "enumeration" => run(&mut LcpEnumeration::new()),
        _ => return None,
    };
    report.solution = vec![Unknowns { name: "z", values: z.z }];
    Some(Answer::Ended(report))
}

/// Runs a method for mixed problems; `None` if there is none of that name.
pub(super) fn run_mixed(problem: &MixedLcp, name: &str, tolerance: &Tolerance) -> Option<Answer> {
    match name {
        "ladder" => Some(mixed_ladder(problem, tolerance)),
        "lemke" => Some(eliminated(LcpLemke::new(), problem, tolerance, |method, lcp| {
            method.last_failure().map(|failure| explain(lcp, failure, method.ray()))
        })),
        "pivoting" => Some(pivoted(problem, tolerance)),
        "principal-pivoting" => Some(eliminated(LcpPrincipalPivoting::new(), problem, tolerance, |method, _| {
            method.last_failure().map(|failure| failure.to_string())
        })),
        "gauss-seidel" => Some(eliminated_gauss_seidel(problem, tolerance)),
        "newton" => Some(eliminated(LcpNewton::new(), problem, tolerance, |_, _| None)),
        "enumeration" if problem.complementary_size() > LcpEnumeration::MAX_SIZE => {
            Some(too_large(problem.complementary_size()))
        }
        "enumeration" => Some(eliminated(LcpEnumeration::new(), problem, tolerance, |_, _| None)),
        _ => None,
    }
}

/// Runs a method for box problems; `None` if there is none of that name.
pub(super) fn run_box(problem: &BoxLcp, name: &str, tolerance: &Tolerance) -> Option<Answer> {
    match name {
        "ladder" => {
            let (mut method, mut solution) = (BoxLcpLadder::new(), BoxLcpSolution::default());
            let report = measured(&mut method, problem, None, &mut solution, tolerance);
            let solution = vec![Unknowns { name: "z", values: solution.z }];
            Some(Answer::Ended(Report { rungs: mixed_rungs(method.mixed()), solution, ..report }))
        }
        "newton" => {
            let (mut method, mut solution) = (BoxNewton(NcpNewton::new()), BoxLcpSolution::default());
            let report = measured(&mut method, problem, None, &mut solution, tolerance);
            Some(Answer::Ended(Report { solution: vec![Unknowns { name: "z", values: solution.z }], ..report }))
        }
        _ => None,
    }
}

/// A method behind a reference.
struct Borrowed<'m>(&'m mut dyn Solver<Lcp>);

impl Solver<Lcp> for Borrowed<'_> {
    fn run(&mut self, problem: &Lcp, guess: Option<&LcpSolution>, solution: &mut LcpSolution) -> Ending {
        self.0.run(problem, guess, solution)
    }
}

/// Newton on the function of a box problem; the box problem measures the residual.
struct BoxNewton(NcpNewton);

impl Solver<BoxLcp> for BoxNewton {
    fn run(&mut self, problem: &BoxLcp, guess: Option<&BoxLcpSolution>, solution: &mut BoxLcpSolution) -> Ending {
        self.0.search_all(problem, guess.map(|guess| guess.z.as_slice()), &mut solution.z)
    }
}

fn too_large(rows: usize) -> Answer {
    let most = LcpEnumeration::MAX_SIZE;
    Answer::not_applicable(format!(
        "the problem has {rows} complementary unknowns, but enumeration is limited to {most}"
    ))
}

/// Runs the elimination and `inner`; `failure` reads the failure of `inner` on the reduced problem.
fn eliminated<S: Solver<Lcp> + Default>(
    inner: S,
    problem: &MixedLcp,
    tolerance: &Tolerance,
    failure: impl Fn(&S, &Lcp) -> Option<String>,
) -> Answer {
    let (mut method, mut solution) = (MixedLcpSchur::new(inner), MixedLcpSolution::default());
    let report = measured(&mut method, problem, None, &mut solution, tolerance);
    if let Some(singular @ SchurFailure::SingularEquality { .. }) = method.last_failure() {
        return Answer::not_applicable(singular);
    }
    let posed = method.last_failure().map(ToString::to_string);
    let failure = posed.or_else(|| failure(method.inner(), method.reduced()));
    mixed_answer(Report { failure, ..report }, problem, solution)
}

fn eliminated_gauss_seidel(problem: &MixedLcp, tolerance: &Tolerance) -> Answer {
    let (mut method, mut solution) = (MixedLcpSchur::new(LcpGaussSeidel::new()), MixedLcpSolution::default());
    let report = measured(&mut method, problem, None, &mut solution, tolerance);
    match (method.last_failure(), method.inner().last_failure()) {
        (Some(failure), _) => Answer::not_applicable(failure),
        (_, Some(failure @ GaussSeidelFailure::Diagonal { .. })) => Answer::not_applicable(failure),
        (_, failure) => {
            let failure = failure.map(|failure| failure.to_string());
            mixed_answer(Report { failure, ..report }, problem, solution)
        }
    }
}

fn pivoted(problem: &MixedLcp, tolerance: &Tolerance) -> Answer {
    let (mut method, mut solution) = (MixedLcpPivoting::new(LcpLemke::new()), MixedLcpSolution::default());
    let report = measured(&mut method, problem, None, &mut solution, tolerance);
    let ray = || method.inner().last_failure().map(|why| explain(method.reduced(), why, method.inner().ray()));
    let failure = method.last_failure().map(ToString::to_string).or_else(ray);
    mixed_answer(Report { failure, ..report }, problem, solution)
}

fn mixed_ladder(problem: &MixedLcp, tolerance: &Tolerance) -> Answer {
    let (mut method, mut solution) = (MixedLcpLadder::new(), MixedLcpSolution::default());
    let report = measured(&mut method, problem, None, &mut solution, tolerance);
    let rungs = mixed_rungs(&method);
    let certificate = method.schur().inner().certificate().or(method.pivoting().inner().certificate());
    let contradiction = method.pivoting().last_failure().map(ToString::to_string);
    let failure =
        if report.status.is_solved() { None } else { certificate.map(certificate_in_words).or(contradiction) };
    mixed_answer(Report { rungs, failure, ..report }, problem, solution)
}

fn mixed_answer(report: Report, problem: &MixedLcp, solution: MixedLcpSolution) -> Answer {
    let (row, free) = (report.residual.row, problem.free_size());
    let worst = if row < free { format!("equality {row}") } else { format!("complementary row {}", row - free) };
    let unknowns = [("u", solution.free), ("z", solution.complementary)];
    let solution = unknowns.into_iter().map(|(name, values)| Unknowns { name, values }).collect();
    Answer::Ended(Report { worst, solution, ..report })
}

fn certificate_in_words(certificate: &Certificate) -> String {
    match certificate {
        Certificate::Farkas { y } => {
            let rows: Vec<String> =
                y.iter().enumerate().filter(|(_, y)| **y > 0.0).map(|(row, _)| row.to_string()).collect();
            format!("no solution: rows {} added with positive weights contradict z ≥ 0", rows.join(", "))
        }
        Certificate::Enumerated { bases } => format!("no solution: none of all {bases} complementary bases gives one"),
    }
}

fn rungs(records: &[RungRecord]) -> Vec<Rung> {
    let rung = |record: &RungRecord| Rung {
        name: record.rung.to_string(),
        residual: record.residual,
        iterations: record.iterations,
    };
    records.iter().map(rung).collect()
}

fn mixed_rungs(ladder: &MixedLcpLadder) -> Vec<Rung> {
    let inner = |rung| match rung {
        MixedLcpRung::Schur => ladder.schur().inner().records(),
        MixedLcpRung::Pivoting => ladder.pivoting().inner().records(),
        MixedLcpRung::Newton => &[][..],
    };
    let rung = |record: &MixedRungRecord| {
        let (name, inner) = (record.rung.name(), inner(record.rung));
        let name = match rungs(inner).last() {
            Some(last) => format!("{name}+{}", last.name),
            None => name.to_owned(),
        };
        Rung { name, residual: record.residual, iterations: record.iterations }
    };
    ladder.records().iter().map(rung).collect()
}
