//! `cargo xtask bench` and `cargo xtask instructions`: speed, by the clock and by counting.
//!
//! Times depend on the machine and its mood; instruction counts repeat to a fraction of a per cent and are what two
//! versions are compared by.

use std::process::Command;

use crate::stage::{cargo, execute};
use crate::tree;

/// The speed cases of `stiction bench`, by the names that `stiction bench --once CASE` accepts.
const CASES: [&str; 2] = ["falling-rod", "four-balls"];

/// Runs the speed cases in release; `arguments` go to the program.
pub(crate) fn run(arguments: &[&str]) -> Result<(), String> {
    execute(&mut cargo(&[&["run", "--release", "--package", "stiction-cli", "--", "bench"], arguments].concat()))
}

/// Counts the instructions per step of the cases whose name contains `filter`.
///
/// `stiction bench --once CASE` runs one case without timing and says on a line of its own how many steps it made:
/// `steps N`. Start-up (reading the scene, building the model) is included and spread over the steps.
pub(crate) fn instructions(filter: &str) -> Result<(), String> {
    if Command::new("valgrind").arg("--version").output().is_err() {
        return Err("valgrind is not installed; on Debian: apt-get install valgrind".into());
    }
    let cases: Vec<&str> = CASES.into_iter().filter(|case| case.contains(filter)).collect();
    if cases.is_empty() {
        return Err(format!("no case matches \"{filter}\"; there are: {}", CASES.join(", ")));
    }
    execute(&mut cargo(&["build", "--release", "--package", "stiction-cli"]))?;
    println!("{:20} {:>8} {:>16} {:>14}", "case", "steps", "instructions", "per step");
    for case in cases {
        let count = count(case)?;
        let per_step = count.instructions / count.steps.max(1);
        println!("{case:20} {:>8} {:>16} {per_step:>14}", count.steps, count.instructions);
    }
    Ok(())
}

struct Count {
    steps: u64,
    instructions: u64,
}

fn count(case: &str) -> Result<Count, String> {
    let target = tree::target_directory();
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(target.join("release/stiction"))
        .args(["bench", "--once", case])
        .current_dir(tree::root())
        .output()
        .map_err(|e| format!("cannot start valgrind: {e}"))?;
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if !output.status.success() {
        return Err(format!("stiction bench --once {case}: {}\n{stdout}{stderr}", output.status));
    }
    let steps = number_after(&stdout, "steps").ok_or(format!("{case}: no line `steps N` in the output"))?;
    let instructions = number_after(&stderr, "Collected :").ok_or(format!("{case}: valgrind reported no count"))?;
    Ok(Count { steps, instructions })
}

/// The number that follows `label` on some line.
fn number_after(text: &str, label: &str) -> Option<u64> {
    text.lines().find_map(|line| line.split_once(label)?.1.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::number_after;

    #[test]
    fn numbers_are_found_behind_their_label() {
        let valgrind = "==7== Events    : Ir\n==7== Collected : 123456\n==7==\n";
        assert_eq!(number_after(valgrind, "Collected :"), Some(123_456));
        assert_eq!(number_after("case falling-rod\nsteps 400\n", "steps"), Some(400));
        assert_eq!(number_after("steps many", "steps"), None);
    }
}
