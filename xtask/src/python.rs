//! The Python package: a wheel built and installed in a fresh virtual environment, then types, tests, examples in docstrings and notebooks.
//!
//! Everything lies below the target directory. Without Python or a network the stages are skipped, unless nothing may be.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use crate::stage::{Stages, execute, silently};
use crate::tree;

/// Builds the wheel and enters the stages that need it.
pub(crate) fn stages(stages: &mut Stages, in_ci: bool) {
    let names = ["wheel", "python types", "python tests"];
    let python = match environment() {
        Ok(python) => python,
        Err(reason) if in_ci => {
            stages.run(names[0], || Err(reason));
            return;
        }
        Err(reason) => {
            for name in names {
                stages.skip(name, &reason);
            }
            return;
        }
    };
    let [wheel, types, tests] = names;
    stages.run(wheel, || build_and_install(&python));
    stages.run(types, || {
        execute(Command::new(&python).args(["-m", "mypy", "--strict", "python/stiction", "python/tests"]))
    });
    stages.run(tests, || {
        // The package is the installed one: nothing is imported from the checkout but the tests themselves.
        let tests =
            ["-m", "pytest", "-q", "--durations=10", "python/tests", "--doctest-modules", "--pyargs", "stiction"];
        execute(Command::new(&python).args(tests))
    });
}

/// The interpreter of a fresh virtual environment.
fn environment() -> Result<PathBuf, String> {
    let folder = tree::target_directory().join("xtask/package");
    silently(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder))
        .map_err(|reason| format!("enable with: apt-get install python3-venv ({reason})"))?;
    let python = folder.join("bin/python");
    silently(Command::new(&python).args(["-m", "pip", "install", "--quiet", "--upgrade", "pip"]))
        .map_err(|reason| format!("pip cannot install anything: is there a network? ({reason})"))?;
    Ok(python)
}

/// What `pip install .` does, optimised as what users get, with what the tests need.
fn build_and_install(python: &Path) -> Result<(), String> {
    let wheels = tree::target_directory().join("xtask/wheel");
    // An older wheel must not be mistaken for the new one.
    let _ = std::fs::remove_dir_all(&wheels);
    let mut build = Command::new(python);
    build.args(["-m", "pip", "wheel", ".", "--no-deps", "--wheel-dir"]).arg(&wheels);
    build.env("CARGO_TARGET_DIR", tree::target_directory());
    execute(&mut build)?;
    let wheel = tree::files(&wheels, "whl")?.pop().ok_or("pip built no wheel")?;
    let with_tests = format!("{}[test]", wheel.display());
    execute(Command::new(python).args(["-m", "pip", "install", "--quiet", &with_tests]))
}
