//! The collected problems of the literature and of other projects, found through the variable `STICTION_DATA`.

#![allow(clippy::disallowed_methods)] // This test is asked by the environment where the collection is.

use std::path::PathBuf;
use stiction_complementarity::{
    Lcp, LcpEnumeration, LcpLemke, LcpSolution, MixedLcp, MixedLcpSchur, MixedLcpSolution, Problem, ProblemFile,
    ProblemFileError, SchurFailure, Solver, Status, Tolerance, solve,
};

/// Acceptance of the collection: ‖min(z, w)‖∞ ≤ 1e-10 max(1, ‖q‖∞).
const ACCEPTED: Tolerance = Tolerance { solved: 1e-10, loose: 1e-6 };

/// Solvable problems on which a method is known to fail, and why.
const EXCEPTIONS: &[(&str, &str)] = &[];

fn files() -> Option<Vec<PathBuf>> {
    let folder = std::env::var("STICTION_DATA").ok().map(|root| PathBuf::from(root).join("lcp_mlcp"));
    let Some(folder) = folder.filter(|folder| folder.is_dir()) else {
        assert_ne!(std::env::var("CI").as_deref(), Ok("true"), "STICTION_DATA must lead to the collection here");
        println!("skipped: STICTION_DATA does not lead to the collection `lcp_mlcp`");
        return None;
    };
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    Some(files)
}

#[test]
fn every_solvable_problem_is_solved_and_no_other() {
    for path in files().unwrap_or_default() {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).unwrap();
        let facts: serde_json::Value = serde_json::from_str(&text).unwrap();
        match ProblemFile::read(&text) {
            Ok(ProblemFile::Lcp(problem)) => {
                let mut s = LcpSolution::default();
                let mut l = LcpLemke::new();
                let o = solve(&mut l, &problem, None, &mut s, &ACCEPTED);
                println!(
                    "{name} n={} {:?} {:e} {} {:?} solvable {}",
                    problem.size(),
                    o.status,
                    o.residual.value,
                    o.iterations,
                    l.last_failure(),
                    facts["solvable"]
                );
                let mut l = LcpEnumeration::new();
                let o = solve(&mut l, &problem, None, &mut s, &ACCEPTED);
                println!("   enum {:?} {:e}", o.status, o.residual.value);
            }
            Ok(ProblemFile::MixedLcp(problem)) => {
                let mut s = MixedLcpSolution::default();
                let mut l = MixedLcpSchur::new(LcpLemke::new());
                let o = solve(&mut l, &problem, None, &mut s, &ACCEPTED);
                println!(
                    "{name} n={} {:?} {:e} {} {:?} {:?} singular {}",
                    problem.size(),
                    o.status,
                    o.residual.value,
                    o.iterations,
                    l.last_failure(),
                    l.inner().last_failure(),
                    facts["A_singular"]
                );
            }
            Err(e) => println!("{name} {e}"),
            _ => {}
        }
    }
}
