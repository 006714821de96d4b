//! The report as Markdown.

use crate::measure::Measured;
use crate::warm::{Pair, Run};
use std::collections::BTreeMap;
use std::fmt::Write;
use stiction_complementarity::Status;
use stiction_testkit::corpus::Listed;

const HEAD: &str = "\
# Results of the methods

Written by `cargo xtask report`; do not edit. It runs every method of `stiction_complementarity::catalogue`, cold, on every
problem of `problems/` and, if `STICTION_DATA` is set, of the external sets `friction_contact`, `lcp_mlcp` and `mcp`.

Notes:

- Residuals are measured by the problem, not by the method: ‖r − P_K(r − û)‖₂/‖q‖₂ for friction, ‖min(z, w)‖∞/max(1, ‖q‖∞) for
  linear problems, ‖z − clip(z − F)‖∞ for nonlinear ones. *Solved* counts residuals up to 1e-8 and up to 1e-4.
- *Proved* counts problems for which a method ended with the status infeasible: a proof from a ladder, for single methods as
  far as their class allows.
- A method runs only if it applies; *files* counts those. `polygon` is measured by its own, polygonal problem.
- Iterations are in the unit of the method: pivots, Gauss-Seidel iterations, Newton steps, bases, cone programs.
- Times include the allocation of scratch memory and depend on the machine and its load: the shortest of the runs that fit
  into 20 ms, one run if a solve takes longer. Compare within one report only.
- The constants of the interior point and of Newton's method, and the order of the rungs, were tuned on these external sets.
  On them the fractions are in-sample; expect lower fractions on other problems.
- The reference method is omitted above 130 rows, where it takes seconds to minutes.
";

const WARM: &str = "\
All frictional problems again, to 1e-8, cold and from the solution of the same problem with every free velocity changed by up to
1 %, as in a time step. Scratch memory is already allocated. Times are medians over the problems of that size.

";

/// The whole page.
pub(crate) fn markdown(problems: &[Listed], measured: &[Measured], warm: &[Pair]) -> String {
    let mut page = HEAD.to_owned();
    let _ = writeln!(page, "\n{} problems, {} solves.", problems.len(), measured.len());
    page += "\n## All methods, set by set\n\n";
    page += &table("method", &by(measured, |m| Some((heading(m), m.method.clone()))));
    page += "\n## The ladders, family by family\n\n";
    page += &table(
        "family",
        &by(measured, |m| ladder(m).then(|| (format!("{}, {}", heading(m), m.method), m.family.clone()))),
    );
    page += "\n## Frictional methods by size\n\n";
    let by_size =
        |m: &Measured| (m.kind == "friction").then(|| (format!("friction, {}", size_class(m.size)), m.method.clone()));
    page += &table("method", &by(measured, by_size));
    page += "\n## Effect of a warm start\n\n";
    page += WARM;
    page += &guesses(warm);
    page += "\n## Deciding rungs\n\n";
    page + &rungs(measured)
}

fn heading(m: &Measured) -> String {
    format!("{}: {}", m.set, m.kind)
}

fn ladder(m: &Measured) -> bool {
    m.method.starts_with("ladder")
}

pub(crate) fn size_class(rows: usize) -> &'static str {
    match rows {
        0..=30 => "1: up to 30 rows",
        31..=150 => "2: 31 to 150 rows",
        151..=500 => "3: 151 to 500 rows",
        _ => "4: above 500 rows",
    }
}

/// Groups solves by heading and row; omits those without a key.
type Groups<'m> = BTreeMap<(String, String), Vec<&'m Measured>>;

fn by(measured: &[Measured], key: impl Fn(&Measured) -> Option<(String, String)>) -> Groups<'_> {
    let mut groups = Groups::new();
    for (key, m) in measured.iter().filter_map(|m| Some((key(m)?, m))) {
        groups.entry(key).or_default().push(m);
    }
    groups
}

fn table(label: &str, groups: &Groups) -> String {
    let (mut text, mut last) = (String::new(), None);
    for ((heading, name), group) in groups {
        if last != Some(heading) {
            let gap = if last.is_some() { "\n" } else { "" };
            let _ = writeln!(text, "{gap}### {heading}\n");
            let _ = writeln!(
                text,
                "| {label} | files | 1e-8 | 1e-4 | proved | iterations, median | most | time, median | most |"
            );
            let _ = writeln!(text, "|---|---:|---:|---:|---:|---:|---:|---:|---:|");
            last = Some(heading);
        }
        let _ = writeln!(text, "| {name} | {}", row(group));
    }
    text
}

fn row(group: &[&Measured]) -> String {
    let files = group.len();
    // A claimed failure stays a failure for every residual.
    let failed = |m: &&&Measured| matches!(m.report.status, Status::Infeasible | Status::Breakdown);
    let within = |bound: f64| group.iter().filter(|m| !failed(m) && m.report.residual.value <= bound).count();
    let proved = group.iter().filter(|m| m.report.status == Status::Infeasible).count();
    let fraction = |count: usize| format!("{count} ({:.0} %)", 100.0 * count as f64 / files as f64);
    let iterations = sorted(group.iter().map(|m| f64::from(m.report.iterations)));
    let times = sorted(group.iter().map(|m| m.seconds));
    let proved = if proved == 0 { String::new() } else { proved.to_string() };
    format!(
        "{files} | {} | {} | {proved} | {} | {} | {} | {} |",
        fraction(within(1e-8)),
        fraction(within(1e-4)),
        median(&iterations),
        iterations.last().copied().unwrap_or(0.0),
        duration(median(&times)),
        duration(times.last().copied().unwrap_or(0.0))
    )
}

/// Cold against warm, by size and method.
fn guesses(pairs: &[Pair]) -> String {
    let mut groups: BTreeMap<(&str, &str), Vec<&Pair>> = BTreeMap::new();
    for pair in pairs {
        groups.entry((size_class(pair.size), pair.method)).or_default().push(pair);
    }
    let mut text =
        String::from("| rows | method | files | solved cold | warm | iterations cold | warm | time cold | warm |\n");
    text += "|---|---|---:|---:|---:|---:|---:|---:|---:|\n";
    for ((size, method), group) in groups {
        let of = |run: fn(&Pair) -> Run| {
            let runs: Vec<Run> = group.iter().map(|pair| run(pair)).collect();
            let solved = runs.iter().filter(|run| run.solved).count();
            let iterations = median(&sorted(runs.iter().map(|run| f64::from(run.iterations))));
            (solved, iterations, duration(median(&sorted(runs.iter().map(|run| run.seconds)))))
        };
        let (cold, warm) = (of(|pair| pair.cold), of(|pair| pair.warm));
        let size = size.split_once(": ").map_or(size, |(_, words)| words);
        let _ = writeln!(
            text,
            "| {size} | {method} | {} | {} | {} | {} | {} | {} | {} |",
            group.len(),
            cold.0,
            warm.0,
            cold.1,
            warm.1,
            cold.2,
            warm.2
        );
    }
    text
}

fn rungs(measured: &[Measured]) -> String {
    let mut counts: BTreeMap<(String, String), BTreeMap<String, usize>> = BTreeMap::new();
    for m in measured.iter().filter(|m| ladder(m)) {
        let rung = m.report.rungs.last().map_or("none: zero is the solution", |rung| &rung.name);
        let rung = rung.split(" from ").next().unwrap_or(rung).to_owned();
        *counts.entry((heading(m), m.method.clone())).or_default().entry(rung).or_default() += 1;
    }
    let mut text = String::from("| problems | ladder | files by the last rung |\n|---|---|---|\n");
    for ((heading, method), rungs) in counts {
        let mut rungs: Vec<_> = rungs.into_iter().collect();
        rungs.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let list: Vec<String> = rungs.into_iter().map(|(rung, count)| format!("{rung} {count}")).collect();
        let _ = writeln!(text, "| {heading} | {method} | {} |", list.join(", "));
    }
    text
}

pub(crate) fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

/// Lower median, which is one of the values.
pub(crate) fn median(sorted: &[f64]) -> f64 {
    sorted.get(sorted.len().saturating_sub(1) / 2).copied().unwrap_or(0.0)
}

pub(crate) fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.1} µs", s * 1e6),
        s if s < 1.0 => format!("{:.1} ms", s * 1e3),
        s => format!("{s:.1} s"),
    }
}
