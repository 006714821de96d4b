//! The measured part of the decision table in the README of `stiction-complementarity`.

use crate::account::{duration, median, size_class, sorted};
use crate::measure::Measured;
use crate::warm::Pair;
use std::collections::BTreeSet;
use std::fmt::Write;
use stiction_complementarity::Status;

const BEGIN: &str = "<!-- measured: written by `cargo xtask report` -->\n";
const END: &str = "<!-- end of measured -->";

/// The README with its measured part replaced; `None` if the marks are missing.
pub(crate) fn renewed(readme: &str, measured: &[Measured], warm: &[Pair]) -> Option<String> {
    let (head, rest) = readme.split_once(BEGIN)?;
    let (_, tail) = rest.split_once(END)?;
    Some(format!("{head}{BEGIN}\n{}\n{}\n{END}{tail}", frictional(measured, warm), linear(measured)))
}

/// Table by size: fraction solved exactly, and the median time.
fn frictional(measured: &[Measured], warm: &[Pair]) -> String {
    const METHODS: [&str; 7] =
        ["ladder, exact", "ladder, balanced", "active-set", "nsgs", "interior-point", "newton", "reference"];
    let mut text = format!("| friction | {} | ladder, warm | newton, warm |\n", METHODS.join(" | "));
    text += &"|---".repeat(METHODS.len() + 3);
    text += "|\n";
    let sizes: BTreeSet<&str> = measured.iter().filter(|m| m.kind == "friction").map(|m| size_class(m.size)).collect();
    for size in sizes {
        let _ = write!(text, "| {} |", size.split_once(": ").map_or(size, |(_, words)| words));
        for method in METHODS {
            let of_size = |m: &&Measured| m.kind == "friction" && m.method == method && size_class(m.size) == size;
            // The status refers to the tolerance of each accuracy.
            let group = measured.iter().filter(of_size);
            let _ = write!(text, " {} |", cell(group.map(|m| (m.report.status.is_solved(), m.seconds))));
        }
        for method in ["ladder, exact", "newton"] {
            let group = warm.iter().filter(|pair| pair.method == method && size_class(pair.size) == size);
            let _ = write!(text, " {} |", cell(group.map(|pair| (pair.warm.solved, pair.warm.seconds))));
        }
        text.push('\n');
    }
    text
}

/// Table by kind: fraction solved, or proved infeasible by a ladder, and the median time.
fn linear(measured: &[Measured]) -> String {
    const METHODS: [&str; 7] =
        ["ladder", "lemke", "pivoting", "principal-pivoting", "gauss-seidel", "newton", "enumeration"];
    let mut text = format!("| linear | {} |\n", METHODS.join(" | "));
    text += &"|---".repeat(METHODS.len() + 1);
    text += "|\n";
    for kind in ["lcp", "mixed lcp", "box lcp"] {
        let _ = write!(text, "| {kind} |");
        for method in METHODS {
            let group = measured.iter().filter(|m| m.kind == kind && m.method == method);
            let proof = |m: &Measured| m.method == "ladder" && m.report.status == Status::Infeasible;
            let _ = write!(text, " {} |", cell(group.map(|m| (m.report.status.is_solved() || proof(m), m.seconds))));
        }
        text.push('\n');
    }
    text
}

/// Cell `solved/runs, median time`.
fn cell(runs: impl Iterator<Item = (bool, f64)>) -> String {
    let runs: Vec<(bool, f64)> = runs.collect();
    if runs.is_empty() {
        return "–".to_owned();
    }
    let right = runs.iter().filter(|(right, _)| *right).count();
    format!("{right}/{}, {}", runs.len(), duration(median(&sorted(runs.iter().map(|(_, seconds)| *seconds)))))
}
