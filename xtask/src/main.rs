//! Developer commands: `cargo xtask COMMAND`.
//!
//! Standard library only, so that the command compiles in a second or two on a fresh clone. One file per command:
//! `test`, `robots`, `python` and `viewer` (stages of it), `equations`, `promises`, `documents`, `licences`, `sizes`, `structure`, `bench`, `collection`; the files beside them hold what the commands share.

// This program starts other programs, reads the tree and measures wall time; the rule that forbids clocks, files and
// the environment protects the numerical crates, not this one.
#![allow(clippy::disallowed_methods)]

mod bench;
mod collection;
mod documents;
mod equations;
mod licences;
mod module_graph;
mod program;
mod promises;
mod python;
mod reproduction;
mod robots;
mod runner;
mod rust_items;
mod rust_paths;
mod rust_source;
mod sizes;
mod stage;
mod structure;
mod tags;
mod test;
mod tree;
mod viewer;

use std::process::ExitCode;

const HELP: &str = "\
Developer commands of stiction.

    cargo xtask test                    the short tier, which CI runs; stops at the first failure
    cargo xtask test --all              everything: long tests, engines, robots, wheel, notebooks, documentation, release suite
    cargo xtask test --fast             format, lints, checks and unit tests only
    cargo xtask reproduce               the published cases alone; renews reference/stamp.txt if they hold
    cargo xtask check-equations         every cited equation and paper exists, every equation is cited by code
    cargo xtask check-promises          every test that RELIABILITY.md names exists, and its tier
    cargo xtask check-documents         the README is short, its lines are those of an example, no link leads nowhere
    cargo xtask check-licences          every dependency has a licence that deny.toml allows
    cargo xtask sizes                   files, functions and parameter lists beyond the soft limits
    cargo xtask structure [--edges]     fields of structs, circles of imports, parameters and calls of the numerical crates, against
                                        xtask/structure.txt; --edges lists every import inside a circle
    cargo xtask robots                  public robots from PyPI: each runs, dynamics and drives are those of Pinocchio and MuJoCo (part of `test`)
    cargo xtask viewer [--write]        the page that shows runs: types, unit tests, build, browser tests (part of `test`);
                                        --write keeps the built page and the pictures it is compared with
    cargo xtask python                  the Python package: wheel in a fresh environment, types, tests, notebooks
    cargo xtask bench [ARGUMENT...]     the speed cases, built in release (arguments go to `stiction bench`)
    cargo xtask instructions [FILTER]   instructions per step of the speed cases, counted by valgrind
    cargo xtask corpus                  the files of problems/ that are made from code, the same bytes every time
    cargo xtask report                  every method on every problem within reach: docs/solver-report.md (about two minutes)
    cargo xtask ablation [--json]       what is lost without each rung of the ladders: docs/ablation.md, or JSON (about ten minutes)
    cargo xtask help                    this text

Exit code: 0 done, 1 a check failed, 2 bad usage.
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match arguments.as_slice() {
        ["test"] => test::run(test::Extent::Short),
        ["test", "--all"] => test::run(test::Extent::All),
        ["reproduce"] => test::reproduce(),
        ["test", "--fast"] => test::run(test::Extent::Fast),
        ["check-equations"] => equations::run(),
        ["check-promises"] => promises::run(),
        ["check-documents"] => documents::run(),
        ["check-licences"] => licences::run(),
        ["sizes"] => sizes::run(),
        ["structure"] => structure::run(structure::Detail::Cycles),
        ["structure", "--edges"] => structure::run(structure::Detail::Edges),
        ["robots"] => test::robots(),
        ["python"] => test::python(),
        ["viewer"] => test::viewer(viewer::Purpose::Check),
        ["viewer", "--write"] => test::viewer(viewer::Purpose::Write),
        ["bench", rest @ ..] => bench::run(rest),
        ["corpus"] => collection::write_corpus(),
        ["report"] => collection::report(),
        ["ablation"] => collection::ablation(),
        ["ablation", "--json"] => collection::ablation_as_json(),
        ["instructions"] => bench::instructions(""),
        ["instructions", filter] => bench::instructions(filter),
        [] | ["help" | "--help" | "-h"] => {
            print!("{HELP}");
            Ok(())
        }
        other => {
            eprintln!("xtask: no such command: {}\n\n{HELP}", other.join(" "));
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("xtask: {reason}");
            ExitCode::FAILURE
        }
    }
}
