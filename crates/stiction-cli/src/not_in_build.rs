//! Commands that the small build of the program leaves out: it says how to build the whole one.

use clap::Args;

use crate::failure::Failure;

/// Arguments of a command that this build does not have: accepted and not read.
#[derive(Debug, Args)]
#[command(after_help = "This build leaves the command out; the feature `full` has it.", disable_help_flag = true)]
pub(crate) struct NotInBuild {
    /// Arguments of the command
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _arguments: Vec<std::ffi::OsString>,
}

/// Refuses the command that was given.
pub(crate) fn run() -> Result<(), Failure> {
    let command = std::env::args().nth(1).unwrap_or_default();
    Err(refuse(&format!("`{command}`")))
}

/// The refusal of what only the whole program has.
pub(crate) fn refuse(what: &str) -> Failure {
    let words: Vec<String> = std::env::args().skip(1).collect();
    Failure::input(format!("this build of the program has no {what}"))
        .with_help(format!("build the whole program: cargo run --release --features full -- {}", words.join(" ")))
}
