//! The program `stiction`: simulate and check scenes, convert robots, compare schemes, view runs, plot figures, run studies, choose
//! parameters, identify them from recordings, solve complementarity problems, reproduce published cases, measure speed.
//!
//! One module per command ([`run`], [`check`], [`convert`], [`compare`], [`view`], [`plot`], [`sweep`], [`design`], [`identify`], [`solve`],
//! [`reproduce`], [`bench`]). [`arguments`] defines the arguments, [`failure`] the messages and exit codes, [`layout`] the formatting of
//! numbers and tables.

// This program reads files, measures time and prints; the lints against that protect the libraries.
#![allow(clippy::disallowed_methods)]

mod arguments;
mod bench;
mod check;
mod compare;
mod convert;
mod design;
mod failure;
mod identify;
mod input;
mod layout;
mod plot;
mod progress;
mod reproduce;
mod run;
mod signals;
mod solve;
mod summary;
mod sweep;
mod view;

use std::process::ExitCode;

use arguments::{Arguments, Command, SchemaOf};
use clap::Parser;
use failure::Failure;

fn main() -> ExitCode {
    match command() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.print();
            failure.exit_code()
        }
    }
}

fn command() -> Result<(), Failure> {
    match &Arguments::parse().command {
        Command::Run(options) => run::run(options),
        Command::Check(options) => check::run(options),
        Command::Convert(options) => convert::run(options),
        Command::Compare(options) => compare::run(options),
        Command::View(options) => view::run(options),
        Command::Plot(options) => plot::run(options),
        Command::Solve(options) => solve::run(options),
        Command::Sweep(options) => sweep::run(options),
        Command::Design(options) => design::run(options),
        Command::Identify(options) => identify::run(options),
        Command::Reproduce(options) => reproduce::run(options),
        Command::Schema(options) => match options.of {
            SchemaOf::Scene => layout::print_json(&stiction::scene::schema()),
            SchemaOf::Study => layout::print_json(&stiction_study::schema()),
            SchemaOf::Design => layout::print_json(&stiction_study::design::schema()),
            SchemaOf::Identification => layout::print_json(&stiction_identify::schema()),
        },
        Command::Bench(options) => bench::run(options),
    }
}
