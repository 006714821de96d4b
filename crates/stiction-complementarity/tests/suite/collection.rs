//! The collected problems of the literature and of other projects below `STICTION_DATA`.

#![allow(clippy::disallowed_methods)] // The test reads the location of the collection from the environment.

use crate::generate::distance;
use std::path::PathBuf;
use stiction_complementarity::{
    BoxLcp, BoxLcpLadder, BoxLcpSolution, Certificate, Lcp, LcpEnumeration, LcpLadder, LcpLemke, LcpSolution, MixedLcp,
    MixedLcpLadder, MixedLcpPivoting, MixedLcpSchur, MixedLcpSolution, Problem, ProblemFile, SchurFailure, Solver,
    Status, Tolerance, proves_infeasible, solve,
};

/// Acceptance of the collection: ‖min(z, w)‖∞ ≤ 1e-10 max(1, ‖q‖∞).
const ACCEPTED: Tolerance = Tolerance { solved: 1e-10, loose: 1e-6 };

/// Solvable problems that one path of Lemke's method does not solve, with the reason; the ladder must solve these.
const NOT_BY_LEMKE: &[(&str, &str)] = &[
    ("handbook_10_2_4_bimatrix", "a bimatrix game: the matrix is not copositive, and the path from e ends on a ray"),
    ("lcp_CPS_3", "the same matrix and vector as handbook_10_2_4_bimatrix"),
];

/// Mixed problems that elimination rejects, with the reason; the ladder must solve these by pivoting.
const NOT_BY_ELIMINATION: &[(&str, &str)] = &[
    ("diodeBridge_mlcp", "the equality block is singular: the node potentials enter by their difference only"),
    ("diodeBridge20_mlcp", "the equality block is singular"),
];

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

fn reason<'a>(table: &'a [(&str, &'a str)], name: &str) -> Option<&'a str> {
    table.iter().find(|(known, _)| *known == name).map(|(_, reason)| *reason)
}

fn run<S: Solver<Lcp>>(mut method: S, problem: &Lcp) -> (Status, LcpSolution) {
    let mut solution = LcpSolution::default();
    let status = solve(&mut method, problem, None, &mut solution, &ACCEPTED).status;
    (status, solution)
}

fn check_lcp(name: &str, problem: &Lcp, facts: &serde_json::Value) {
    let mut ladder = LcpLadder::new();
    let mut solution = LcpSolution::default();
    let outcome = solve(&mut ladder, problem, None, &mut solution, &ACCEPTED);
    let (status, residual) = (outcome.status, outcome.residual.value);
    println!("{name:32} {status:?} {residual:.1e} {:?}", ladder.records().last());
    let by_lemke = run(LcpLemke::new(), problem).0;
    if facts["solvable"] == false {
        assert_eq!(status, Status::Infeasible, "{name}");
        match ladder.certificate() {
            Some(Certificate::Farkas { y }) => assert!(proves_infeasible(problem, y), "{name}"),
            Some(Certificate::Enumerated { bases }) => assert_eq!(*bases, 1 << problem.size(), "{name}"),
            other => panic!("{name}: {other:?}"),
        }
        return;
    }
    assert_eq!(status, Status::Solved, "{name}: {:?}", ladder.records());
    assert!(ladder.certificate().is_none(), "{name}");
    let known = reason(NOT_BY_LEMKE, name);
    assert_eq!(by_lemke.is_solved(), known.is_none(), "{name}: {known:?}");
    if problem.size() <= LcpEnumeration::MAX_SIZE {
        assert_eq!(run(LcpEnumeration::new(), problem).0, Status::Solved, "{name}");
    }
    if facts["P_matrix"] == true {
        let unique: Vec<f64> = serde_json::from_value(facts["reference_solution"].clone()).unwrap();
        assert!(distance(&solution.z, &unique) <= 1e-12 * unique.iter().fold(1.0, |s: f64, z| s.max(*z)), "{name}");
    }
}

fn check_mixed_lcp(name: &str, problem: &MixedLcp) {
    let mut solution = MixedLcpSolution::default();
    let mut schur = MixedLcpSchur::new(LcpLemke::new());
    let eliminated = solve(&mut schur, problem, None, &mut solution, &ACCEPTED).status;
    if let Some(reason) = reason(NOT_BY_ELIMINATION, name) {
        assert_eq!(eliminated, Status::Breakdown, "{name} is solved by elimination now, although {reason}");
        assert!(matches!(schur.last_failure(), Some(SchurFailure::SingularEquality { .. })), "{name}");
    } else {
        assert_eq!(eliminated, Status::Solved, "{name}");
    }
    // Pivoting must work for regular and singular A.
    let mut pivoting = MixedLcpPivoting::new(LcpLemke::new());
    let pivoted = solve(&mut pivoting, problem, None, &mut solution, &ACCEPTED);
    let pivoted = (pivoted.status, pivoted.residual.value);
    assert_eq!(pivoted.0, Status::Solved, "{name}: {:?} {:?}", pivoted.1, pivoting.last_failure());
    let mut ladder = MixedLcpLadder::new();
    let outcome = solve(&mut ladder, problem, None, &mut solution, &ACCEPTED);
    let (status, residual) = (outcome.status, outcome.residual);
    println!("{name:32} {status:?} {:.1e} {:?}; pivoting {:.1e}", residual.value, ladder.records().last(), pivoted.1);
    assert_eq!(status, Status::Solved, "{name}: {residual:?}");
}

fn check_box_lcp(name: &str, problem: &BoxLcp, facts: &serde_json::Value) {
    let mut solution = BoxLcpSolution::default();
    let outcome = solve(&mut BoxLcpLadder::new(), problem, None, &mut solution, &ACCEPTED);
    assert_eq!(outcome.status, Status::Solved, "{name}: {:?}", outcome.residual);
    println!("{name:32} Solved {:.1e}", outcome.residual.value);
    let reference: Vec<f64> = serde_json::from_value(facts["reference_solution"].clone()).unwrap();
    assert!(distance(&solution.z, &reference) <= 1e-12, "{name}: the matrices here are positive definite");
}

#[test]
fn every_solvable_problem_is_solved_and_every_other_proved_unsolvable() {
    for path in files().unwrap_or_default() {
        let name = path.file_stem().unwrap().to_string_lossy();
        let text = std::fs::read_to_string(&path).unwrap();
        let facts: serde_json::Value = serde_json::from_str(&text).unwrap();
        match ProblemFile::read(&text) {
            Ok(ProblemFile::Lcp(problem)) => check_lcp(&name, &problem, &facts),
            Ok(ProblemFile::MixedLcp(problem)) => check_mixed_lcp(&name, &problem),
            Ok(ProblemFile::BoxLcp(problem)) => check_box_lcp(&name, &problem, &facts),
            other => panic!("{name}: {other:?}"),
        }
    }
}

#[test]
fn the_reference_solutions_have_small_residuals() {
    for path in files().unwrap_or_default() {
        let text = std::fs::read_to_string(&path).unwrap();
        let facts: serde_json::Value = serde_json::from_str(&text).unwrap();
        let Ok(reference) = serde_json::from_value::<Vec<f64>>(facts["reference_solution"].clone()) else { continue };
        let residual = match ProblemFile::read(&text) {
            Ok(ProblemFile::Lcp(problem)) => problem.residual(&LcpSolution { z: reference }),
            Ok(ProblemFile::MixedLcp(problem)) => {
                let (free, complementary) = reference.split_at(problem.free_size());
                let solution = MixedLcpSolution { free: free.to_vec(), complementary: complementary.to_vec() };
                problem.residual(&solution)
            }
            Ok(ProblemFile::BoxLcp(problem)) => problem.residual(&BoxLcpSolution { z: reference }),
            _ => continue,
        };
        assert!(residual.value <= ACCEPTED.solved, "{}: {residual:?}", path.display());
    }
}
