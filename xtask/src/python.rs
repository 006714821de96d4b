//! The Python package in a virtual environment: types, tests, examples in docstrings; of the wheel also the notebooks and Ray.
//!
//! Everything lies below the target directory. Without Python or a network the stages are skipped, unless nothing may be.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use crate::stage::{Stages, execute, silently};
use crate::tree;

/// Package under test.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Package {
    /// The module as the tests of Rust have built it, beside the Python sources: nothing is compiled for it.
    OfTheTests,
    /// The wheel that `pip install .` builds, optimised as users get it, with the long tests.
    Wheel,
}

/// Packages of the short tier; those of the long tests are the extra `test` of pyproject.toml.
const SHORT: [&str; 8] = [
    "numpy>=1.26",
    "pytest>=8",
    "mypy>=1.13",
    "pandas>=2.1",
    "pandas-stubs",
    "pyarrow>=15",
    "gymnasium>=1.1",
    "matplotlib>=3.8",
];

/// Enters the stages: the package, its types, its tests.
pub(crate) fn stages(stages: &mut Stages, in_ci: bool, package: Package) {
    let names = ["python package", "python types", "python tests"];
    let python = match environment(package) {
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
    let [made, types, tests] = names;
    stages.run(made, || match package {
        Package::OfTheTests => lay_out(&python),
        Package::Wheel => build_and_install(&python),
    });
    stages.run(types, || {
        execute(Command::new(&python).args(["-m", "mypy", "--strict", "python/stiction", "python/tests"]))
    });
    stages.run(tests, || {
        // The package is the installed one: nothing is imported from the checkout but the tests themselves.
        let mut command = Command::new(&python);
        command.args(["-m", "pytest", "-q", "--durations=10", "python/tests"]);
        command.args(["--doctest-modules", "--pyargs", "stiction"]);
        if package == Package::Wheel {
            command.arg("--long");
        }
        execute(&mut command)
    });
}

/// The interpreter of a virtual environment with what the tests need. The one of the wheel is fresh each time.
fn environment(package: Package) -> Result<PathBuf, String> {
    let folder = tree::target_directory().join(match package {
        Package::OfTheTests => "xtask/package",
        Package::Wheel => "xtask/wheel-package",
    });
    let (python, done) = (folder.join("bin/python"), folder.join(format!("{}.done", SHORT.len())));
    let wanted = SHORT.join("\n");
    if package == Package::OfTheTests && std::fs::read_to_string(&done).is_ok_and(|installed| installed == wanted) {
        return Ok(python);
    }
    silently(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder))
        .map_err(|reason| format!("enable with: apt-get install python3-venv ({reason})"))?;
    let install = |packages: &[&str]| {
        let mut pip = Command::new(&python);
        silently(pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(packages))
            .map_err(|reason| format!("pip cannot install anything: is there a network? ({reason})"))
    };
    match package {
        Package::OfTheTests => install(&SHORT)?,
        Package::Wheel => install(&["--upgrade", "pip"])?,
    }
    std::fs::write(&done, wanted).map_err(|error| error.to_string())?;
    Ok(python)
}

/// Lays the Python sources and the module of the tests where the interpreter finds packages.
fn lay_out(python: &Path) -> Result<(), String> {
    let say = "import sysconfig; print(sysconfig.get_paths()['platlib'])";
    let output = Command::new(python).args(["-c", say]).output().map_err(|error| error.to_string())?;
    let packages = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
    let package = packages.join("stiction");
    // What is no longer in the sources must not be imported.
    let _ = std::fs::remove_dir_all(&package);
    let sources = tree::root().join("python/stiction");
    for file in ["py", "pyi", "typed"]
        .iter()
        .map(|ending| tree::files(&sources, ending))
        .collect::<Result<Vec<_>, _>>()?
        .concat()
    {
        copy(&file, &package.join(file.strip_prefix(&sources).unwrap_or(&file)))?;
    }
    copy(&tree::target_directory().join("debug/lib_stiction.so"), &package.join("_stiction.abi3.so"))?;
    // `importlib.metadata` knows the package by its metadata.
    let version = env!("CARGO_PKG_VERSION");
    let metadata = packages.join(format!("stiction-{version}.dist-info/METADATA"));
    std::fs::create_dir_all(metadata.parent().unwrap_or(&packages)).map_err(|error| error.to_string())?;
    std::fs::write(metadata, format!("Metadata-Version: 2.1\nName: stiction\nVersion: {version}\n"))
        .map_err(|error| error.to_string())
}

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("cannot copy {}: {error}", tree::relative(from));
    to.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(failed)?;
    std::fs::copy(from, to).map(drop).map_err(failed)
}

/// Builds and installs the wheel as `pip install .` does, with the packages of the long tests.
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
