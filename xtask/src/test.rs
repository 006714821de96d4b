//! `cargo xtask test`: the short tier, which contributors and CI run, and with `--all` everything there is.
//!
//! Both tiers run their stages in the order in which mistakes are cheapest to find. The short tier leaves out what takes long (fits, published
//! cases of unchanged numerics, public robots, the release build, engines for nonlinear programs) and says so.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::runner::{self, Tier};
use crate::stage::{Stages, cargo, execute, silently};
use crate::{
    documents, equations, licences, program, promises, python, reproduction, robots, sizes, structure, tree, viewer,
};

/// Extent of a run of the suite.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Extent {
    /// Format, lints, checks and unit tests: for use while writing.
    Fast,
    /// The short tier.
    Short,
    /// Everything.
    All,
}

/// The packages whose unit tests also run in plain release. What ships has no debug assertions and no overflow checks, so
/// the two crates that decide every result, solver and step, must pass without them. The list is short because each
/// release build of a test binary costs as much as the tests themselves.
const RELEASE_PACKAGES: [&str; 2] = ["stiction-complementarity", "stiction-stepping"];

/// Features of the short tier: the whole program.
const FEATURES: &str = "stiction-cli/full";

/// Features that `--all` adds: nonlinear programs of whole motions with both engines. Ipopt is a library of the system.
const ENGINES: [&str; 4] =
    ["stiction-cli/ipopt", "stiction-identify/ipopt", "stiction-mpec/ipopt", "stiction-mpec/ripopt"];

/// Simulated time per scene: enough for the first contacts of most scenes, short enough to run all of them.
const SCENE_DURATION: &str = "0.05";

/// Trials per study, or seconds for one that tries many places: enough to see that it can be made.
const STUDY_TRIALS: &str = "10";
const STUDY_SECONDS: &str = "2";

/// Runs the suite and prints its account.
pub(crate) fn run(extent: Extent) -> Result<(), String> {
    let in_ci = in_ci();
    if in_ci && extent == Extent::Fast {
        return Err("--fast leaves stages out, which CI=true does not allow".into());
    }
    let mut stages = Stages::default();
    external_data(&mut stages, in_ci);
    stages.run("format", || execute(&mut cargo(&["fmt", "--all", "--check"])));
    stages.run("equations", equations::run);
    stages.run("sizes", sizes::run);
    stages.run("structure", || structure::run(structure::Detail::Cycles));
    stages.run("promises", promises::run);
    stages.run("documents", documents::run);
    stages.run("licences", licences::run);
    let features = features(&mut stages, in_ci, extent);
    stages.run("lints", || lint(&features));
    let mut binaries = Vec::new();
    stages.run("build", || {
        binaries = runner::build(&features)?;
        Ok(())
    });
    match extent {
        Extent::Fast => {
            stages.run("unit tests", || {
                binaries.retain(runner::Binary::is_unit);
                runner::run(&binaries, Tier::Short, &[])
            });
            stages.skip("everything else", "left out by --fast");
        }
        Extent::Short => short(&mut stages, in_ci, &features, &binaries),
        Extent::All => all(&mut stages, in_ci, &features, &binaries),
    }
    stages.close()
}

/// The stages of the short tier after the build.
fn short(stages: &mut Stages, in_ci: bool, features: &str, binaries: &[runner::Binary]) {
    stages.run("tests", || runner::run(binaries, Tier::Short, &[reproduction::PACKAGE]));
    stages.run("published cases", reproduction::is_kept);
    stages.run("doctests", || doctests(features));
    stages.run("examples", run_examples);
    stages.run("scenes", run_scenes);
    python::stages(stages, in_ci, python::Package::OfTheTests);
    viewer::stages(stages, in_ci, viewer::Purpose::Check, program::of_the_tests);
    for (name, what) in [
        ("long tests", "fits, long runs, published cases"),
        ("engines", "nonlinear programs by Ipopt and ripopt"),
        ("studies, identifications", "every file a user may copy"),
        ("robots", "public robots, Pinocchio, MuJoCo"),
        ("wheel", "what `pip install .` builds, notebooks, Ray"),
        ("documentation", "rustdoc without warnings"),
        ("release suite", "unit tests without debug assertions"),
    ] {
        stages.skip(name, &format!("{what}: cargo xtask test --all"));
    }
}

/// Everything after the build. It takes so long that every failure is wanted, not the first.
fn all(stages: &mut Stages, in_ci: bool, features: &str, binaries: &[runner::Binary]) {
    stages.keep_going();
    stages.run("tests", || runner::run(binaries, Tier::All, &[reproduction::PACKAGE]));
    stages.run("published cases", || reproduction::run(binaries, features));
    stages.run("small program", || execute(&mut cargo(&["check", "--quiet", "--package", "stiction-cli"])));
    stages.run("doctests", || doctests(features));
    stages.run("examples", run_examples);
    stages.run("scenes", run_scenes);
    stages.run("studies", run_studies);
    stages.run("identifications", run_identifications);
    robots::stages(stages, in_ci, program::of_the_tests);
    python::stages(stages, in_ci, python::Package::Wheel);
    viewer::stages(stages, in_ci, viewer::Purpose::Check, program::of_the_tests);
    stages.run("documentation", || {
        let mut command = cargo(&["doc", "--workspace", "--no-deps", "--quiet"]);
        execute(command.env("RUSTDOCFLAGS", "-D warnings"))
    });
    stages.run("release suite", run_release_suite);
}

/// The stages of robots alone.
pub(crate) fn robots() -> Result<(), String> {
    let mut stages = Stages::default();
    robots::stages(&mut stages, in_ci(), program::plain);
    stages.close()
}

/// The stages of the Python package alone.
pub(crate) fn python() -> Result<(), String> {
    let mut stages = Stages::default();
    python::stages(&mut stages, in_ci(), python::Package::Wheel);
    stages.close()
}

/// The stages of the viewer alone.
pub(crate) fn viewer(purpose: viewer::Purpose) -> Result<(), String> {
    let mut stages = Stages::default();
    viewer::stages(&mut stages, in_ci(), purpose, program::plain);
    stages.close()
}

/// The published cases alone; renews the stamp if they hold.
pub(crate) fn reproduce() -> Result<(), String> {
    let mut stages = Stages::default();
    let features = features(&mut stages, in_ci(), Extent::All);
    stages.run("published cases", || reproduction::run(&runner::build(&features)?, &features));
    stages.close()
}

fn in_ci() -> bool {
    std::env::var_os("CI").is_some_and(|value| value == "true")
}

/// Problems and measurements collected by others, which tests read where `STICTION_DATA` points.
fn external_data(stages: &mut Stages, in_ci: bool) {
    const NAME: &str = "external data";
    match std::env::var_os("STICTION_DATA").map(PathBuf::from) {
        Some(directory) => stages.run(NAME, || {
            let entries = tree::children(&directory)?.len();
            println!("STICTION_DATA holds {entries} entries");
            if entries == 0 { Err("STICTION_DATA does not name a directory with data".into()) } else { Ok(()) }
        }),
        None if in_ci => stages.run(NAME, || Err("CI=true, but STICTION_DATA is not set".into())),
        None => stages.skip(NAME, "enable with: export STICTION_DATA=DIRECTORY"),
    }
}

/// One set of features for lints and tests, so that nothing is built twice.
fn features(stages: &mut Stages, in_ci: bool, extent: Extent) -> String {
    let mut features = vec![FEATURES];
    if extent == Extent::All {
        if in_ci || Path::new("/usr/include/coin/IpStdCInterface.h").exists() {
            features.extend(ENGINES);
        } else {
            stages.skip("engines", "enable with: apt-get install coinor-libipopt-dev");
        }
    }
    features.join(",")
}

/// Lints of the whole workspace, and of the small program, which the first command of the README builds.
fn lint(features: &str) -> Result<(), String> {
    let all = ["clippy", "--workspace", "--all-targets", "--quiet", "--features", features, "--", "-D", "warnings"];
    execute(&mut cargo(&all))?;
    // With the whole workspace the features of the dependencies stay the same, and little is built again.
    execute(&mut cargo(&["clippy", "--quiet", "--workspace", "--bins", "--", "-D", "warnings"]))
}

fn doctests(features: &str) -> Result<(), String> {
    execute(&mut cargo(&["test", "--quiet", "--workspace", "--doc", "--features", features]))
}

/// Every `crates/*/examples/*.rs`, as the tests have built it; an example ends in an assertion, so a clean exit means something.
fn run_examples() -> Result<(), String> {
    let mut count = 0;
    for package in tree::children(&tree::root().join("crates"))? {
        for example in tree::files(&package.join("examples"), "rs")? {
            execute(&mut Command::new(tree::target_directory().join("debug/examples").join(stem(&example))))?;
            count += 1;
        }
    }
    println!("{count} examples");
    Ok(())
}

/// Checks and runs every scene a user may copy, through the program a user runs.
fn run_scenes() -> Result<(), String> {
    let folder = tree::root().join("scenes");
    let scenes = [tree::files(&folder, "toml")?, tree::files(&folder, "xml")?].concat();
    for scene in &scenes {
        let (path, out) = (tree::relative(scene), out_folder("scenes", scene));
        stiction(&["check", &path])?;
        stiction(&["run", &path, "--duration", SCENE_DURATION, "--out", &out])?;
    }
    println!("{} scenes", scenes.len());
    Ok(())
}

/// Begins every study a user may copy; the tests of `stiction-study` say what a whole one finds.
fn run_studies() -> Result<(), String> {
    let studies = tree::files(&tree::root().join("studies"), "toml")?;
    for study in &studies {
        let (path, out) = (tree::relative(study), out_folder("studies", study));
        let text = std::fs::read_to_string(study).map_err(|error| format!("{path}: {error}"))?;
        let many = text.contains("kind = \"monte-carlo\"");
        let budget: &[&str] =
            if many { &["--max-seconds", STUDY_SECONDS, "--fresh"] } else { &["--trials", STUDY_TRIALS] };
        stiction(&[&["sweep", &path, "--out", &out], budget].concat())?;
    }
    println!("{} studies", studies.len());
    Ok(())
}

/// Makes every identification a user may copy; the tests of the program say what they find.
fn run_identifications() -> Result<(), String> {
    let identifications = tree::files(&tree::root().join("identifications"), "toml")?;
    for identification in &identifications {
        let out = out_folder("identifications", identification);
        stiction(&["identify", &tree::relative(identification), "--out", &out])?;
    }
    println!("{} identifications", identifications.len());
    Ok(())
}

/// Folder for the output of the program for a file of a stage.
fn out_folder(stage: &str, file: &Path) -> String {
    tree::target_directory().join("xtask").join(stage).join(stem(file)).to_string_lossy().into_owned()
}

/// Runs the program and shows what it said only if it fails.
fn stiction(arguments: &[&str]) -> Result<(), String> {
    silently(Command::new(program::of_the_tests()?).args(arguments))
        .map_err(|reason| format!("stiction {}: {reason}", arguments.join(" ")))
}

fn run_release_suite() -> Result<(), String> {
    let mut command = cargo(&["test", "--release", "--lib"]);
    for package in RELEASE_PACKAGES {
        command.args(["--package", package]);
    }
    execute(&mut command)
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}
