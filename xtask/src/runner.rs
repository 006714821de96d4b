//! The Rust tests of the workspace: built once, then run side by side, one process per test.
//!
//! A process per test uses all cores from the first test to the last, whatever crate it is from, and gives the time of every test, which
//! the stable test harness does not. A test that takes long is marked `#[ignore = "long"]`; `cargo xtask test --all` runs it, the short tier
//! counts it. Doctests are left to `cargo test --doc`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::stage::cargo;
use crate::tree;

/// Tests that are printed with their time at the end.
const SLOWEST: usize = 20;

/// Packages whose tests share one expensive fixture: they run in one process.
const SHARED_FIXTURE: [&str; 1] = ["stiction-reproduce"];

/// A test binary.
#[derive(Clone, Debug)]
pub(crate) struct Binary {
    /// The package it belongs to.
    pub(crate) package: String,
    /// The folder of the package, in which its tests run.
    folder: PathBuf,
    executable: PathBuf,
    is_unit: bool,
}

impl Binary {
    /// True if it holds the unit tests of a library or a program, not a suite of its own.
    pub(crate) fn is_unit(&self) -> bool {
        self.is_unit
    }
}

/// The tests of a tier.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Tier {
    /// All but those marked `#[ignore = "long"]`.
    Short,
    /// All.
    All,
}

/// One process: a test, or all tests of a binary with a shared fixture.
struct Job<'a> {
    binary: &'a Binary,
    /// The test; none for all of the binary.
    test: Option<String>,
}

struct Finished {
    name: String,
    time: Duration,
    /// Output of a test that failed.
    failure: Option<String>,
}

/// Builds the test binaries, the program, the examples and the Python module with one set of features.
pub(crate) fn build(features: &str) -> Result<Vec<Binary>, String> {
    let mut command = cargo(&["build", "--workspace", "--lib", "--bins", "--tests", "--examples"]);
    command.args(["--features", features, "--message-format", "json-render-diagnostics"]);
    println!("cargo build --workspace --lib --bins --tests --examples --features {features}");
    let output = command
        .current_dir(tree::root())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("cannot start cargo: {error}"))?;
    if !output.status.success() {
        return Err("the tests do not build".into());
    }
    let binaries: Vec<Binary> = String::from_utf8_lossy(&output.stdout).lines().filter_map(binary).collect();
    if binaries.is_empty() { Err("cargo built no test".into()) } else { Ok(binaries) }
}

/// The test binary that a message of cargo is about.
fn binary(message: &str) -> Option<Binary> {
    if !message.contains("\"reason\":\"compiler-artifact\"") || !message.contains("\"test\":true},\"features\"") {
        return None;
    }
    let executable = PathBuf::from(string_after(message, "\"executable\":\"")?);
    let manifest = PathBuf::from(string_after(message, "\"manifest_path\":\"")?);
    let folder = manifest.parent()?.to_path_buf();
    let package = folder.file_name()?.to_string_lossy().into_owned();
    let is_unit = !message.contains("\"kind\":[\"test\"]");
    Some(Binary { package, folder, executable, is_unit })
}

fn string_after<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.split_once(key)?.1.split('"').next()
}

/// Runs the tests of a tier, `except` those of some packages, and prints the slowest.
pub(crate) fn run(binaries: &[Binary], tier: Tier, except: &[&str]) -> Result<(), String> {
    let mut jobs = Vec::new();
    let mut long = 0;
    for binary in binaries.iter().filter(|binary| !except.contains(&binary.package.as_str())) {
        let ignored = tests(binary, &["--ignored"])?;
        let mut names = tests(binary, &[])?;
        if tier == Tier::Short {
            names.retain(|name| !ignored.contains(name));
            long += ignored.len();
        }
        if SHARED_FIXTURE.contains(&binary.package.as_str()) && !names.is_empty() {
            jobs.push(Job { binary, test: None });
        } else {
            jobs.extend(names.into_iter().map(|name| Job { binary, test: Some(name) }));
        }
    }
    let last_times = LastTimes::read();
    // The longest first, so that no long one runs alone at the end.
    jobs.sort_by_key(|job| std::cmp::Reverse(last_times.of(&job.name())));
    let mut finished = side_by_side(&jobs, tier);
    LastTimes::write(&finished);
    finished.sort_by_key(|test| std::cmp::Reverse(test.time));
    println!("\nthe slowest:");
    for test in finished.iter().take(SLOWEST) {
        println!("{:8.1} s  {}", test.time.as_secs_f64(), test.name);
    }
    let failed: Vec<&Finished> = finished.iter().filter(|test| test.failure.is_some()).collect();
    for test in &failed {
        println!("\n--- {} failed\n{}", test.name, test.failure.as_deref().unwrap_or_default());
    }
    if long > 0 {
        println!("{long} long tests are left to `cargo xtask test --all`");
    }
    println!("{} passed, {} failed", finished.len() - failed.len(), failed.len());
    match failed.as_slice() {
        [] => Ok(()),
        [first, ..] => Err(format!("{} tests failed, {} among them", failed.len(), first.name)),
    }
}

/// Names of the tests of a binary.
fn tests(binary: &Binary, arguments: &[&str]) -> Result<Vec<String>, String> {
    let mut command = Command::new(&binary.executable);
    command.args(["--list", "--format", "terse"]).args(arguments).current_dir(&binary.folder);
    let output = command.output().map_err(|error| format!("cannot list {}: {error}", binary.executable.display()))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(text.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect())
}

/// Runs jobs on all cores.
fn side_by_side(jobs: &[Job], tier: Tier) -> Vec<Finished> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let test = job.run(tier);
                    if test.failure.is_some() {
                        println!("FAILED {}", test.name);
                    }
                    done.lock().unwrap_or_else(PoisonError::into_inner).push(test);
                }
            });
        }
    });
    done.into_inner().unwrap_or_else(PoisonError::into_inner)
}

impl Job<'_> {
    fn name(&self) -> String {
        let binary = self.binary.executable.file_stem().unwrap_or_default().to_string_lossy();
        let binary = binary.rsplit_once('-').map_or(&*binary, |(name, _)| name);
        let test = self.test.as_deref().unwrap_or("all tests");
        format!("{} {binary} {test}", self.binary.package)
    }

    fn run(&self, tier: Tier) -> Finished {
        let mut command = Command::new(&self.binary.executable);
        if tier == Tier::All {
            command.arg("--include-ignored");
        }
        if let Some(test) = &self.test {
            command.args(["--exact", test]);
        }
        command.current_dir(&self.binary.folder).env("CARGO_MANIFEST_DIR", &self.binary.folder).stdin(Stdio::null());
        let start = Instant::now();
        let output = command.output();
        let time = start.elapsed();
        let failure = match output {
            Ok(output) if output.status.success() => None,
            Ok(output) => {
                Some(format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr)))
            }
            Err(error) => Some(format!("cannot start: {error}")),
        };
        Finished { name: self.name(), time, failure }
    }
}

/// Times of the tests when they ran last in this checkout, for the order alone.
struct LastTimes(BTreeMap<String, Duration>);

impl LastTimes {
    fn path() -> PathBuf {
        tree::target_directory().join("xtask/times.txt")
    }

    fn read() -> Self {
        let text = std::fs::read_to_string(Self::path()).unwrap_or_default();
        let entry = |line: &str| {
            let (seconds, name) = line.split_once(' ')?;
            Some((name.to_owned(), Duration::try_from_secs_f64(seconds.parse().ok()?).ok()?))
        };
        Self(text.lines().filter_map(entry).collect())
    }

    /// An unknown test may be long: it comes before those that are known to be short.
    fn of(&self, name: &str) -> Duration {
        self.0.get(name).copied().unwrap_or(Duration::from_secs(1))
    }

    fn write(finished: &[Finished]) {
        let mut times = Self::read().0;
        times.extend(finished.iter().map(|test| (test.name.clone(), test.time)));
        let mut text = String::new();
        for (name, time) in times {
            let _ = writeln!(text, "{:.3} {name}", time.as_secs_f64());
        }
        // Without it the tests run in another order, nothing else.
        let _ = std::fs::create_dir_all(Self::path().parent().unwrap_or(Path::new(".")));
        let _ = std::fs::write(Self::path(), text);
    }
}

#[cfg(test)]
mod tests {
    use super::binary;

    #[test]
    fn test_binaries_are_read_from_the_messages_of_cargo() {
        let message = r#"{"reason":"compiler-artifact","package_id":"path+file:///x/crates/a#0.1.0","manifest_path":"/x/crates/a/Cargo.toml","target":{"kind":["test"],"name":"suite","test":true},"profile":{"opt_level":"2","test":true},"features":[],"executable":"/x/target/debug/deps/suite-12","fresh":true}"#;
        let found = binary(message).unwrap();
        assert_eq!((found.package.as_str(), found.executable.to_str()), ("a", Some("/x/target/debug/deps/suite-12")));
        assert!(
            binary(&message.replace("\"opt_level\":\"2\",\"test\":true", "\"opt_level\":\"2\",\"test\":false"))
                .is_none()
        );
    }
}
