//! The program `stiction` that stages run.

use std::path::PathBuf;

use crate::stage::{cargo, execute};
use crate::tree;

/// A way to have the program.
pub(crate) type Source = fn() -> Result<PathBuf, String>;

/// As the tests have built it just before, with all features: another set would build most of the dependencies again.
pub(crate) fn of_the_tests() -> Result<PathBuf, String> {
    let program = tree::target_directory().join("debug/stiction");
    if program.is_file() { Ok(program) } else { Err("the tests have not built the program".into()) }
}

/// Built for this purpose alone, the whole program.
pub(crate) fn plain() -> Result<PathBuf, String> {
    execute(&mut cargo(&["build", "--quiet", "--package", "stiction-cli", "--features", "full"]))?;
    Ok(tree::target_directory().join("debug/stiction"))
}
