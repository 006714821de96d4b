//! `stiction solve`: a complementarity problem from a file through one or more methods.

use std::time::Instant;

use serde::Serialize;
use stiction::complementarity::{
    Lcp, LcpEnumeration, LcpLemke, LcpSolution, MAX_FILE_BYTES, MixedLcp, MixedLcpSchur, MixedLcpSolution, Problem,
    ProblemFile, Residual, Solver, Status, Tolerance, solve,
};

use crate::{
    arguments::{Method, SolveOptions},
    failure::Failure,
    layout::{columns, number, print_json, print_text, seconds},
};

const ENUMERATION: &str = "enumeration";

/// Solutions with more unknowns are not printed for people.
const UNKNOWNS_SHOWN: usize = 20;

/// How one method fared.
#[derive(Debug, Serialize)]
struct Attempt {
    solver: &'static str,
    status: String,
    solved: bool,
    residual: Residual,
    iterations: u32,
    wall_seconds: f64,
    solution: Solution,
}

/// The answer by name of unknowns.
#[derive(Debug, Default, Serialize)]
struct Solution {
    /// Free unknowns; none in an LCP.
    free: Vec<f64>,
    /// Complementary unknowns.
    z: Vec<f64>,
}

pub(crate) fn run(options: &SolveOptions) -> Result<(), Failure> {
    let tolerance = Tolerance { solved: options.tolerance, loose: Tolerance::default().loose.max(options.tolerance) };
    tolerance.validate().map_err(Failure::input)?;
    let problem = read(options)?;
    let methods: &[Method] =
        if options.solver.contains(&Method::All) { &[Method::Lemke, Method::Enumeration] } else { &options.solver };
    let attempts: Vec<_> = methods.iter().map(|method| attempt(&problem, *method, &tolerance)).collect();
    if options.json {
        print_json(&attempts)?;
    } else {
        print_text(&table(&problem, &attempts))?;
    }
    if attempts.iter().any(|attempt| attempt.solved) {
        Ok(())
    } else {
        Err(Failure::work("no method solved the problem"))
    }
}

fn read(options: &SolveOptions) -> Result<ProblemFile, Failure> {
    let path = &options.problem;
    let length = std::fs::metadata(path).map_err(|error| Failure::unreadable(path, &error))?.len();
    if length > MAX_FILE_BYTES as u64 {
        return Err(Failure::input(format!("{} is larger than {MAX_FILE_BYTES} bytes", path.display())));
    }
    let text = std::fs::read_to_string(path).map_err(|error| Failure::unreadable(path, &error))?;
    ProblemFile::read(&text).map_err(|error| Failure::input(format!("{}: {error}", path.display())))
}

fn attempt(problem: &ProblemFile, method: Method, tolerance: &Tolerance) -> Attempt {
    match (problem, method) {
        (ProblemFile::Lcp(problem), Method::Enumeration) => lcp(ENUMERATION, LcpEnumeration::new(), problem, tolerance),
        (ProblemFile::Lcp(problem), _) => lcp("lemke", LcpLemke::new(), problem, tolerance),
        (ProblemFile::MixedLcp(problem), Method::Enumeration) => {
            mixed(ENUMERATION, MixedLcpSchur::new(LcpEnumeration::new()), problem, tolerance)
        }
        (ProblemFile::MixedLcp(problem), _) => mixed("lemke", MixedLcpSchur::new(LcpLemke::new()), problem, tolerance),
        _ => Attempt {
            solver: "none",
            status: "no method for this kind of problem".to_owned(),
            solved: false,
            residual: Residual::immeasurable(0),
            iterations: 0,
            wall_seconds: 0.0,
            solution: Solution::default(),
        },
    }
}

fn lcp(name: &'static str, solver: impl Solver<Lcp>, problem: &Lcp, tolerance: &Tolerance) -> Attempt {
    let mut solution = LcpSolution::default();
    let attempt = explain_size(measured(name, solver, problem, &mut solution, tolerance), problem.size());
    Attempt { solution: Solution { free: Vec::new(), z: solution.z }, ..attempt }
}

fn mixed(name: &'static str, solver: impl Solver<MixedLcp>, problem: &MixedLcp, tolerance: &Tolerance) -> Attempt {
    let mut solution = MixedLcpSolution::default();
    let attempt = explain_size(measured(name, solver, problem, &mut solution, tolerance), problem.complementary_size());
    Attempt { solution: Solution { free: solution.free, z: solution.complementary }, ..attempt }
}

fn measured<P: Problem>(
    name: &'static str,
    mut solver: impl Solver<P>,
    problem: &P,
    solution: &mut P::Solution,
    tolerance: &Tolerance,
) -> Attempt {
    let started = Instant::now();
    let outcome = solve(&mut solver, problem, None, solution, tolerance);
    Attempt {
        solver: name,
        status: outcome.status.to_string(),
        solved: outcome.status == Status::Solved,
        residual: outcome.residual,
        iterations: outcome.iterations,
        wall_seconds: started.elapsed().as_secs_f64(),
        solution: Solution::default(),
    }
}

/// Enumeration refuses large problems; the table should say so instead of calling it a breakdown.
fn explain_size(attempt: Attempt, unknowns: usize) -> Attempt {
    if attempt.solver == ENUMERATION && unknowns > LcpEnumeration::MAX_SIZE {
        Attempt { status: format!("more than {} unknowns", LcpEnumeration::MAX_SIZE), ..attempt }
    } else {
        attempt
    }
}

fn table(problem: &ProblemFile, attempts: &[Attempt]) -> String {
    let kind = match problem {
        ProblemFile::Lcp(problem) => format!("lcp with {} unknowns", problem.size()),
        ProblemFile::MixedLcp(problem) => {
            format!(
                "mixed lcp with {} free and {} complementary unknowns",
                problem.free_size(),
                problem.complementary_size()
            )
        }
        _ => "problem of another kind".to_owned(),
    };
    let rows: Vec<_> = attempts
        .iter()
        .map(|attempt| {
            vec![
                attempt.solver.to_owned(),
                attempt.status.clone(),
                number(attempt.residual.value),
                attempt.iterations.to_string(),
                seconds(attempt.wall_seconds),
            ]
        })
        .collect();
    let summary = columns(&["solver", "status", "residual", "iterations", "time"], &rows);
    format!("{kind}\n\n{summary}{}", answers(attempts))
}

/// The unknowns that were found, as far as a person would read them.
fn answers(attempts: &[Attempt]) -> String {
    let solved = || attempts.iter().filter(|attempt| attempt.solved);
    let size = |attempt: &Attempt| attempt.solution.free.len() + attempt.solution.z.len();
    if solved().any(|attempt| size(attempt) > UNKNOWNS_SHOWN) {
        return "\n--json prints the solution\n".to_owned();
    }
    let line = |solver: &str, name: &str, values: &[f64]| {
        let values: Vec<_> = values.iter().map(f64::to_string).collect();
        format!("{solver}: {name} = [{}]\n", values.join(", "))
    };
    let lines: String = solved()
        .flat_map(|attempt| {
            let Solution { free, z } = &attempt.solution;
            [("u", free), ("z", z)].map(|(name, values)| (attempt.solver, name, values))
        })
        .filter(|(.., values)| !values.is_empty())
        .map(|(solver, name, values)| line(solver, name, values))
        .collect();
    if lines.is_empty() { lines } else { format!("\n{lines}") }
}
