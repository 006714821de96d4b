//! `stiction reproduce`: runs the published cases again.

use std::{
    path::Path,
    sync::{Mutex, PoisonError},
    time::Instant,
};

use stiction_reproduce::{CASES, Case, Outcome, Row, find, report, reproduce_all};

use crate::{arguments::ReproduceOptions, failure::Failure, layout, output, progress::Progress};

pub(crate) fn run(options: &ReproduceOptions) -> Result<(), Failure> {
    let cases = chosen(options)?;
    if cases.is_empty() {
        return layout::print_text(&listing());
    }
    if let Some(file) = &options.markdown {
        output::refuse_sources(file, [])?;
    }
    let started = Instant::now();
    let outcomes = in_parallel(&cases, options.jobs)?;
    let seconds = started.elapsed().as_secs_f64();
    write(options, &outcomes)?;
    if options.json {
        layout::print_json(&report::report(&outcomes))?;
    } else {
        layout::print_text(&text(&outcomes, seconds, options.out.as_deref()))?;
    }
    let failed: Vec<_> = outcomes.iter().filter(|o| o.conclusion() == report::Conclusion::Fails).collect();
    if failed.is_empty() {
        return Ok(());
    }
    let names = failed.iter().map(|outcome| outcome.case.id).collect::<Vec<_>>().join(", ");
    Err(Failure::work(format!("not reproduced: {names}")))
}

fn chosen(options: &ReproduceOptions) -> Result<Vec<&'static Case>, Failure> {
    if options.all {
        return Ok(CASES.iter().collect());
    }
    options.cases.iter().map(|name| find(name).ok_or_else(|| unknown(name))).collect()
}

fn unknown(name: &str) -> Failure {
    Failure::input(format!("there is no case called `{name}`"))
        .with_help("`stiction reproduce` without arguments lists the cases")
}

/// List of the cases.
fn listing() -> String {
    let rows: Vec<_> = CASES.iter().map(|case| vec![case.id.to_owned(), case.title(), case.file.to_owned()]).collect();
    layout::columns(&["case", "title", "file"], &rows) + "\nstiction reproduce --all runs every case.\n"
}

fn in_parallel(cases: &[&'static Case], jobs: usize) -> Result<Vec<Outcome>, Failure> {
    let progress = Mutex::new((Progress::new(cases.len() as u64, "cases"), 0));
    let finished = |_: &Case| {
        let mut guard = progress.lock().unwrap_or_else(PoisonError::into_inner);
        guard.1 += 1;
        let done = guard.1;
        guard.0.at(done);
    };
    stiction_reproduce::with_threads(jobs, || reproduce_all(cases, finished)).map_err(Failure::work)
}

fn write(options: &ReproduceOptions, outcomes: &[Outcome]) -> Result<(), Failure> {
    if let Some(folder) = &options.out {
        std::fs::create_dir_all(folder).map_err(|error| output::unwritable(folder, &error))?;
        output::write_named(&folder.join("report.html"), report::page(outcomes))?;
    }
    if let Some(file) = &options.markdown {
        output::write_named(file, report::markdown(outcomes))?;
    }
    Ok(())
}

/// One table per case, and a summary line.
fn text(outcomes: &[Outcome], seconds: f64, folder: Option<&Path>) -> String {
    let mut lines = Vec::new();
    for outcome in outcomes {
        lines.push(format!("{}  {}: {}", outcome.case.id, outcome.title(), outcome.conclusion().word()));
        match &outcome.account {
            Ok(account) => {
                let rows: Vec<_> = account.rows.iter().map(|row| row.cells().to_vec()).collect();
                lines.extend(layout::columns(&Row::HEADINGS, &rows).lines().map(|line| format!("  {line}")));
                lines.extend(account.remarks.iter().map(|remark| format!("  {remark}")));
                lines.extend(account.reasons().map(|(quantity, reason)| format!("  {quantity}: {reason}")));
            }
            Err(error) => lines.push(format!("  failed: {error}")),
        }
        lines.push(String::new());
    }
    let (count, tally) = (layout::counted(outcomes.len(), "case", "cases"), report::Tally::of(outcomes).words());
    lines.push(format!("{count}, {}; {tally}", layout::seconds(seconds)));
    lines.extend(folder.map(|folder| folder.join("report.html").display().to_string()));
    lines.join("\n") + "\n"
}
