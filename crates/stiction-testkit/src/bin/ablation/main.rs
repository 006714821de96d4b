//! Removes each rung of the ladders and says what is lost: `cargo xtask ablation`.
//!
//! Cases are the files of `problems/`, those of the external sets below `STICTION_DATA`, and seeded random problems. The program writes the
//! measured part of `docs/ablation.md`; with `--json` it prints everything it found instead. All numbers but the times repeat.

// This program reads files and the environment, measures time and writes files; the lints against that are meant for the numerical crates.
#![allow(clippy::disallowed_methods)]

mod case;
mod friction;
mod linear;
mod report;
mod study;

use report::Chapter;
use std::path::PathBuf;
use std::process::ExitCode;
use stiction_complementarity::{FrictionLadder, LcpLadder, MixedLcpLadder};
use stiction_testkit::corpus;

const PAGE: &str = "docs/ablation.md";

const BEGIN: &str = "<!-- measured: written by `cargo xtask ablation` -->\n";
const END: &str = "<!-- end of measured -->";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (as_json, ladder) = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => (false, None),
        ["--json"] => (true, None),
        ["--json", ladder @ ("friction" | "lcp" | "mixed")] => (true, Some(ladder)),
        _ => {
            eprintln!("usage: ablation [--json [friction|lcp|mixed]]");
            return ExitCode::from(2);
        }
    };
    let listed = corpus::available();
    let wanted = |name: &str| ladder.is_none_or(|ladder| ladder == name);
    let (mut page, mut ladders) = (Vec::new(), Vec::new());
    if wanted("friction") {
        let cases = friction::cases(&listed);
        let study = study::study(&cases, &FrictionLadder::DEFAULT_RUNGS.map(friction::Named));
        let chapter = Chapter { title: "Frictional problems", cases, study };
        page.push(chapter.markdown());
        ladders.push(chapter.json());
    }
    if wanted("lcp") {
        let cases = linear::cases(&listed);
        let study = study::study(&cases, &LcpLadder::DEFAULT_RUNGS);
        let chapter = Chapter { title: "LCPs, also inside of mixed and box problems", cases, study };
        page.push(chapter.markdown());
        ladders.push(chapter.json());
    }
    if wanted("mixed") {
        let cases = linear::mixed_cases(&listed);
        let study = study::study(&cases, &MixedLcpLadder::DEFAULT_RUNGS.map(linear::Named));
        let chapter = Chapter { title: "Mixed and box problems", cases, study };
        page.push(chapter.markdown());
        ladders.push(chapter.json());
    }
    let skipped: &[&str] = if corpus::external_folder().is_some() { &[] } else { &corpus::EXTERNAL };
    if as_json {
        println!("{:#}", serde_json::json!({ "skipped": skipped, "ladders": ladders }));
        return ExitCode::SUCCESS;
    }
    let mut measured = page.join("\n");
    if !skipped.is_empty() {
        measured.extend(["\nSkipped, because `STICTION_DATA` was not set: ", &skipped.join(", "), ".\n"]);
    }
    match write(&measured) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Replaces the measured part of the page.
fn write(measured: &str) -> Result<(), String> {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(PAGE);
    let old = std::fs::read_to_string(&path).map_err(|error| format!("cannot read {PAGE}: {error}"))?;
    let parts = old.split_once(BEGIN).and_then(|(head, rest)| Some((head, rest.split_once(END)?.1)));
    let (head, tail) = parts.ok_or(format!("{PAGE} has no marks for the measured part"))?;
    std::fs::write(&path, format!("{head}{BEGIN}\n{measured}\n{END}{tail}"))
        .map_err(|error| format!("cannot write {PAGE}: {error}"))?;
    println!("{PAGE}");
    Ok(())
}
