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
#[cfg(feature = "full")]
mod design;
mod failure;
#[cfg(feature = "full")]
mod identify;
mod input;
mod layout;
#[cfg(not(feature = "full"))]
mod not_in_build;
mod output;
mod plot;
mod progress;
#[cfg(feature = "full")]
mod reproduce;
mod run;
mod signals;
mod solve;
mod summary;
#[cfg(feature = "full")]
mod sweep;
mod view;

use std::process::ExitCode;

use arguments::{Arguments, Command, SchemaOf};
use clap::Parser;
use failure::Failure;

fn main() -> ExitCode {
    signals::survive_file_size_limit();
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
        #[cfg(feature = "full")]
        Command::Sweep(options) => sweep::run(options),
        #[cfg(feature = "full")]
        Command::Design(options) => design::run(options),
        #[cfg(feature = "full")]
        Command::Identify(options) => identify::run(options),
        #[cfg(feature = "full")]
        Command::Reproduce(options) => reproduce::run(options),
        #[cfg(not(feature = "full"))]
        Command::Sweep(_) | Command::Design(_) | Command::Identify(_) | Command::Reproduce(_) => not_in_build::run(),
        Command::Schema(options) => match options.of {
            SchemaOf::Scene => layout::print_json(&stiction::scene::schema()),
            #[cfg(feature = "full")]
            SchemaOf::Study => layout::print_json(&stiction_study::schema()),
            #[cfg(feature = "full")]
            SchemaOf::Design => layout::print_json(&stiction_study::design::schema()),
            #[cfg(feature = "full")]
            SchemaOf::Identification => layout::print_json(&stiction_identify::schema()),
            #[cfg(not(feature = "full"))]
            SchemaOf::Study | SchemaOf::Design | SchemaOf::Identification => not_in_build::run(),
        },
        Command::Bench(options) => bench::run(options),
    }
}
