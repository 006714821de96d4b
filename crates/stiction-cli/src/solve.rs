//! `stiction solve`: solves a complementarity problem from a file by one or more methods.

use std::collections::BTreeMap;
use std::time::Instant;

use serde::Serialize;
use stiction::complementarity::{
    MAX_FILE_BYTES, ProblemFile, Residual, Tolerance,
    catalogue::{self, Answer, Options, Report, Rung},
};

use crate::{
    arguments::SolveOptions,
    failure::Failure,
    input,
    layout::{columns, counted, number, print_json, print_text, seconds},
};

/// Keyword for all methods.
const ALL: &str = "all";

/// Largest number of unknowns for which solutions are printed as text.
const UNKNOWNS_SHOWN: usize = 20;

/// Output of the command.
#[derive(Debug, Serialize)]
struct Account {
    problem: String,
    tolerance: f64,
    attempts: Vec<Attempt>,
    #[serde(skip_serializing_if = "Option::is_none")]
    explanation: Option<Vec<String>>,
}

/// Result of one method.
#[derive(Debug, Serialize)]
struct Attempt {
    solver: String,
    status: String,
    solved: bool,
    residual: Option<Residual>,
    worst: Option<String>,
    iterations: Option<u32>,
    wall_seconds: f64,
    rungs: Vec<Rung>,
    failure: Option<String>,
    hint: Option<&'static str>,
    note: Option<String>,
    /// Unknowns by their symbols.
    solution: BTreeMap<&'static str, Vec<f64>>,
}

pub(crate) fn run(options: &SolveOptions) -> Result<(), Failure> {
    let asked = Options { tolerance: options.tolerance, accuracy: options.accuracy.into() };
    if let Some(solved) = options.tolerance {
        let tolerance = Tolerance { solved, loose: Tolerance::default().loose.max(solved) };
        tolerance.validate().map_err(Failure::input)?;
    }
    let problem = read(options)?;
    let attempts: Result<Vec<_>, _> =
        chosen(&problem, &options.solver).iter().map(|name| attempt(&problem, name, &asked)).collect();
    let account = Account {
        problem: described(&problem),
        tolerance: asked.tolerance.unwrap_or_else(|| catalogue::default_tolerance(&problem, asked.accuracy)),
        attempts: attempts?,
        explanation: options.explain.then(|| catalogue::explain(&problem)),
    };
    if options.json {
        print_json(&account)?;
    } else {
        print_text(&text(&account))?;
    }
    if account.attempts.iter().any(|attempt| attempt.solved) {
        Ok(())
    } else {
        Err(Failure::work("no method solved the problem"))
    }
}

fn read(options: &SolveOptions) -> Result<ProblemFile, Failure> {
    let path = &options.problem;
    let text = input::read_text(path, MAX_FILE_BYTES as u64)?;
    ProblemFile::read(&text).map_err(|error| Failure::input(format!("{}: {error}", path.display())))
}

/// Requested names, with `all` expanded.
fn chosen(problem: &ProblemFile, names: &[String]) -> Vec<String> {
    if names.iter().any(|name| name == ALL) {
        catalogue::methods(problem).into_iter().map(|method| method.name).collect()
    } else {
        names.to_vec()
    }
}

fn attempt(problem: &ProblemFile, name: &str, options: &Options) -> Result<Attempt, Failure> {
    let started = Instant::now();
    let answer = catalogue::run(problem, name, options).map_err(|unknown| {
        let methods = catalogue::methods(problem);
        let width = methods.iter().map(|method| method.name.len()).max().unwrap_or(0);
        let lines: Vec<_> = methods.iter().map(|method| format!("{:width$}  {}", method.name, method.about)).collect();
        Failure::input(format!("there is no method `{name}` for {}", unknown.kind))
            .with_help(format!("there are\n{}", lines.join("\n")))
    })?;
    let wall_seconds = started.elapsed().as_secs_f64();
    Ok(match answer {
        Answer::NotApplicable { reason } => Attempt {
            solver: name.to_owned(),
            status: "not applicable".to_owned(),
            solved: false,
            residual: None,
            worst: None,
            iterations: None,
            wall_seconds,
            rungs: Vec::new(),
            failure: Some(reason),
            hint: None,
            note: None,
            solution: BTreeMap::new(),
        },
        Answer::Ended(report) => ended(name, wall_seconds, report),
    })
}

fn ended(name: &str, wall_seconds: f64, report: Report) -> Attempt {
    Attempt {
        solver: name.to_owned(),
        status: report.status.to_string(),
        solved: report.status.is_solved(),
        residual: Some(report.residual),
        worst: Some(report.worst),
        iterations: Some(report.iterations),
        wall_seconds,
        rungs: report.rungs,
        failure: report.failure,
        hint: report.hint,
        note: report.note,
        solution: report.solution.into_iter().map(|unknowns| (unknowns.name, unknowns.values)).collect(),
    }
}

/// Kind and size of a problem.
fn described(problem: &ProblemFile) -> String {
    let kind = catalogue::kind(problem);
    match problem {
        ProblemFile::Lcp(problem) => format!("{kind} with {}", counted(problem.size(), "unknown", "unknowns")),
        ProblemFile::MixedLcp(problem) => {
            let (free, complementary) = (problem.free_size(), problem.complementary_size());
            format!("{kind} with {free} free and {complementary} complementary unknowns")
        }
        ProblemFile::BoxLcp(problem) => format!("{kind} with {}", counted(problem.size(), "unknown", "unknowns")),
        ProblemFile::Ncp { problem, starts } => {
            let starts = counted(starts.len(), "listed start", "listed starts");
            format!("{kind} with {} and {starts}", counted(problem.size(), "unknown", "unknowns"))
        }
        ProblemFile::Friction(problem) => {
            format!("{kind} with {} and {} rows", counted(problem.blocks(), "block", "blocks"), problem.rows())
        }
        _ => kind.to_owned(),
    }
}

fn text(account: &Account) -> String {
    let rows: Vec<_> = account.attempts.iter().map(row).collect();
    let table = columns(&["solver", "status", "residual", "iterations", "time", "worst"], &rows);
    let remarks: String = account.attempts.iter().map(remarks).collect();
    let remarks = if remarks.is_empty() { remarks } else { format!("\n{remarks}") };
    let explanation: String =
        account.explanation.iter().flat_map(|lines| lines.iter().map(|line| format!("{line}\n"))).collect();
    let explanation = if explanation.is_empty() { explanation } else { format!("\n{explanation}") };
    format!("{}\n\n{table}{remarks}{explanation}{}", account.problem, answers(&account.attempts))
}

fn row(attempt: &Attempt) -> Vec<String> {
    let cell = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
    vec![
        attempt.solver.clone(),
        attempt.status.clone(),
        cell(attempt.residual.map(|residual| number(residual.value))),
        cell(attempt.iterations.map(|iterations| iterations.to_string())),
        if attempt.residual.is_some() { seconds(attempt.wall_seconds) } else { "-".to_owned() },
        cell(attempt.worst.clone().filter(|_| !attempt.solved)),
    ]
}

/// Lines below the table about one method: its rungs, the reason of a failure and a hint.
fn remarks(attempt: &Attempt) -> String {
    let rung = |rung: &Rung| format!("{} {} ({})", rung.name, number(rung.residual), rung.iterations);
    let rungs: Vec<_> = attempt.rungs.iter().map(rung).collect();
    let rungs = (rungs.len() > 1 || !attempt.solved).then(|| rungs.join(", ")).filter(|rungs| !rungs.is_empty());
    let lines = [
        ("rungs", rungs),
        ("why", attempt.failure.clone()),
        ("hint", attempt.hint.map(str::to_owned)),
        ("note", attempt.note.clone()),
    ];
    let line =
        |(label, line): (&str, Option<String>)| line.map(|line| format!("{}: {label}: {line}\n", attempt.solver));
    lines.into_iter().filter_map(line).collect()
}

/// Solutions, if they are small enough to print.
fn answers(attempts: &[Attempt]) -> String {
    let solved = || attempts.iter().filter(|attempt| attempt.solved);
    let size = |attempt: &Attempt| attempt.solution.values().map(Vec::len).sum::<usize>();
    if solved().any(|attempt| size(attempt) > UNKNOWNS_SHOWN) {
        return "\n--json prints the solution\n".to_owned();
    }
    let line = |solver: &str, name: &str, values: &[f64]| {
        let values: Vec<_> = values.iter().map(f64::to_string).collect();
        format!("{solver}: {name} = [{}]\n", values.join(", "))
    };
    let named = |attempt: &Attempt| {
        let unknowns = attempt.solution.iter().filter(|(_, values)| !values.is_empty());
        unknowns.map(|(name, values)| line(&attempt.solver, name, values)).collect::<String>()
    };
    let lines: String = solved().map(named).collect();
    if lines.is_empty() { lines } else { format!("\n{lines}") }
}
