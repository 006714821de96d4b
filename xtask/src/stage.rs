//! A run of named stages: title, wall time, stop at the first failure or at the end, closing lines that account for every stage.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Ending of a stage.
enum Ending {
    Passed,
    Failed(String),
    Skipped(String),
}

struct Entry {
    name: String,
    ending: Ending,
    time: Duration,
}

/// The account of a run.
#[derive(Default)]
pub(crate) struct Stages {
    entries: Vec<Entry>,
    /// Number of first stages without which no other can run.
    needed: Option<usize>,
}

impl Stages {
    /// Lets the stages from here on run whatever becomes of each other: a long run should name every failure. What ran before is still needed.
    pub(crate) fn keep_going(&mut self) {
        self.needed = Some(self.entries.len());
    }

    /// Runs a stage, unless an earlier one that is needed failed.
    pub(crate) fn run(&mut self, name: &str, work: impl FnOnce() -> Result<(), String>) {
        if self.failed() {
            self.skip(name, "not run: an earlier stage failed");
            return;
        }
        println!("\n=== {name}");
        let start = Instant::now();
        let ending = match work() {
            Ok(()) => Ending::Passed,
            Err(reason) => Ending::Failed(reason),
        };
        let time = start.elapsed();
        println!("=== {name}: {} in {:.1} s", word(&ending), time.as_secs_f64());
        self.entries.push(Entry { name: name.to_string(), ending, time });
    }

    /// Enters a stage that does not run, with the reason or the line that would enable it.
    pub(crate) fn skip(&mut self, name: &str, why: &str) {
        self.entries.push(Entry {
            name: name.to_string(),
            ending: Ending::Skipped(why.to_string()),
            time: Duration::ZERO,
        });
    }

    fn failed(&self) -> bool {
        let needed = self.needed.unwrap_or(self.entries.len());
        self.entries.iter().take(needed).any(|entry| matches!(entry.ending, Ending::Failed(_)))
    }

    /// Prints the account and turns it into the outcome of the command.
    pub(crate) fn close(&self) -> Result<(), String> {
        let width = self.entries.iter().map(|entry| entry.name.chars().count()).max().unwrap_or(0);
        println!("\n=== closing lines");
        for Entry { name, ending, time } in &self.entries {
            let remark = match ending {
                Ending::Passed => String::new(),
                Ending::Failed(reason) | Ending::Skipped(reason) => format!("  {reason}"),
            };
            println!("{name:width$}  {:7}  {:7.1} s{remark}", word(ending), time.as_secs_f64());
        }
        let total: Duration = self.entries.iter().map(|entry| entry.time).sum();
        println!("all stages together: {:.1} s", total.as_secs_f64());
        println!("{}", self.counts());
        let failures = self.entries.iter().filter_map(|entry| match &entry.ending {
            Ending::Failed(reason) => Some(format!("FAILED at stage \"{}\": {reason}", entry.name)),
            _ => None,
        });
        let failures: Vec<String> = failures.collect();
        if failures.is_empty() { Ok(()) } else { Err(failures.join("; ")) }
    }

    fn counts(&self) -> String {
        let count = |wanted: &str| self.entries.iter().filter(|entry| word(&entry.ending) == wanted).count();
        format!("{} passed, {} failed, {} skipped", count("passed"), count("failed"), count("skipped"))
    }
}

fn word(ending: &Ending) -> &'static str {
    match ending {
        Ending::Passed => "passed",
        Ending::Failed(_) => "failed",
        Ending::Skipped(_) => "skipped",
    }
}

/// Runs a program in the root of the checkout, output shown as it comes.
pub(crate) fn execute(command: &mut Command) -> Result<(), String> {
    let shown = describe(command);
    println!("{shown}");
    let status = command.current_dir(crate::tree::root()).status().map_err(|e| format!("cannot start {shown}: {e}"))?;
    if status.success() { Ok(()) } else { Err(format!("{shown}: {status}")) }
}

/// Runs a command in the root of the checkout; what it said is shown where it fails.
pub(crate) fn silently(command: &mut Command) -> Result<(), String> {
    let output =
        command.current_dir(crate::tree::root()).stdin(Stdio::null()).output().map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    println!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let last = command.get_args().last().map(|word| word.to_string_lossy().into_owned());
    Err(format!("… {}: {}", last.unwrap_or_default(), output.status))
}

/// The cargo that runs this command, with the given arguments.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.args(arguments);
    command
}

fn describe(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let words: Vec<_> = std::iter::once(program).chain(command.get_args()).map(|w| w.to_string_lossy()).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::Stages;

    #[test]
    fn the_first_failure_stops_the_run_and_is_named() {
        let mut stages = Stages::default();
        stages.run("one", || Ok(()));
        stages.skip("two", "install it");
        stages.run("three", || Err("broken".into()));
        let mut reached = false;
        stages.run("four", || {
            reached = true;
            Ok(())
        });
        assert!(!reached);
        assert_eq!(stages.counts(), "1 passed, 1 failed, 2 skipped");
        assert_eq!(stages.close(), Err("FAILED at stage \"three\": broken".into()));
    }

    #[test]
    fn skipping_alone_is_success() {
        let mut stages = Stages::default();
        stages.skip("one", "install it");
        assert_eq!(stages.close(), Ok(()));
    }
}
