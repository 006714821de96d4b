//! The collection in `problems/`: every method ends on every problem of its kind with the status of the manifest.

#![allow(clippy::disallowed_methods)] // This test looks at the files of the repository.

use std::collections::BTreeSet;
use std::path::Path;
use stiction_complementarity::catalogue::{self, Answer, Options};
use stiction_complementarity::{Problem, ProblemFile};
use stiction_testkit::corpus::{self, Entry, Expectation, Manifest};

/// A method that would take too long here; the report in `docs/` runs it up to 130 rows.
const NOT_RUN: &str = "not-run";

/// All JSON files below `problems/` but the manifest, as paths with forward slashes.
fn files_on_disk() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for folder in ["generated", "scenes", "textbook"] {
        for entry in std::fs::read_dir(corpus::folder().join(folder)).unwrap() {
            found.insert(format!("{folder}/{}", entry.unwrap().file_name().to_string_lossy()));
        }
    }
    found
}

fn read(file: &str) -> ProblemFile {
    let text = std::fs::read_to_string(corpus::folder().join(file)).unwrap();
    ProblemFile::read(&text).unwrap_or_else(|error| panic!("{file}: {error}"))
}

fn status(answer: &Answer) -> String {
    answer.status().map_or("not applicable".to_owned(), |status| status.to_string()).replace(' ', "-")
}

/// Description of a wrong result of one method on one file.
fn complaint(file: &str, problem: &ProblemFile, method: &str, expected: &Expectation) -> Option<String> {
    if !expected.is_solved() && expected.why.as_ref().is_none_or(|why| why.len() < 10) {
        return Some(format!("{file}: {method} is not expected to solve it, but no `why` says why"));
    }
    if expected.status == [NOT_RUN] {
        return None;
    }
    let answer = catalogue::run(problem, method, &Options::default()).unwrap();
    let found = status(&answer);
    if expected.status.contains(&found) {
        return None;
    }
    let detail = answer.report().map(|report| (report.residual.value, report.failure.clone()));
    Some(format!("{file}: {method} ended as {found}, expected {:?}; {detail:?}", expected.status))
}

fn complaints(entry: &Entry) -> Vec<String> {
    let problem = read(&entry.file);
    let methods: BTreeSet<String> = catalogue::methods(&problem).into_iter().map(|method| method.name).collect();
    let named: BTreeSet<String> = entry.expect.keys().cloned().collect();
    if methods != named {
        return vec![format!("{}: the methods are {methods:?}, the manifest names {named:?}", entry.file)];
    }
    entry.expect.iter().filter_map(|(method, expected)| complaint(&entry.file, &problem, method, expected)).collect()
}

#[test]
fn every_method_ends_on_every_problem_as_the_manifest_says() {
    let manifest = Manifest::load();
    let listed: BTreeSet<String> = manifest.files.iter().map(|entry| entry.file.clone()).collect();
    assert_eq!(listed.len(), manifest.files.len(), "a file is listed twice");
    assert_eq!(listed, files_on_disk(), "the manifest lists other files than there are");
    let wrong: Vec<String> = manifest.files.iter().flat_map(complaints).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Single methods may fail, ladders may not: they solve every problem or prove that it has no solution. Exceptions are listed
/// here with a reason.
#[test]
fn the_ladder_is_excused_nowhere_but_where_no_proof_can_be_had() {
    for entry in Manifest::load().files {
        let expected = entry.expect.get(catalogue::DEFAULT_METHOD).unwrap();
        let decided = expected.is_solved() || expected.status == ["infeasible"];
        let nonlinear_without_solution = entry.kind == "mcp" && entry.family == "unsolvable";
        assert!(decided || nonlinear_without_solution, "{}: {expected:?}", entry.file);
    }
}

#[test]
fn generated_and_restated_files_come_out_byte_for_byte() {
    let manifest = Manifest::load();
    for file in corpus::files() {
        let path = corpus::folder().join(&file.path);
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", file.path));
        assert_eq!(text, file.text(), "{}: run `cargo xtask corpus`", file.path);
        let entry = manifest.entry(&file.path).unwrap_or_else(|| panic!("{} is not listed", file.path));
        assert_eq!((entry.family.as_str(), &entry.provenance), (file.family, &file.provenance), "{}", file.path);
    }
    // Only steps of scenes are data; all other files are generated.
    let made: BTreeSet<String> = corpus::files().into_iter().map(|file| file.path).collect();
    let scenes = |path: &String| Path::new(path).starts_with("scenes");
    assert!(files_on_disk().iter().all(|path| scenes(path) || made.contains(path)));
}

/// The status of a report depends on the residual, not on the method: a solved problem has a small residual.
#[test]
fn reported_solutions_measure_as_reported() {
    for entry in Manifest::load().files {
        let problem = read(&entry.file);
        let Answer::Ended(report) = catalogue::run(&problem, "ladder", &Options::default()).unwrap() else {
            panic!("{}: the ladder always applies", entry.file)
        };
        let values = |name: &str| {
            let part = report.solution.iter().find(|unknowns| unknowns.name == name);
            part.map(|unknowns| unknowns.values.clone()).unwrap_or_default()
        };
        let measured = match &problem {
            ProblemFile::Lcp(problem) => problem.residual(&stiction_complementarity::LcpSolution { z: values("z") }),
            ProblemFile::MixedLcp(problem) => problem.residual(&stiction_complementarity::MixedLcpSolution {
                free: values("u"),
                complementary: values("z"),
            }),
            ProblemFile::BoxLcp(problem) => {
                problem.residual(&stiction_complementarity::BoxLcpSolution { z: values("z") })
            }
            ProblemFile::Ncp { problem, .. } => {
                problem.residual(&stiction_complementarity::NcpSolution { z: values("z") })
            }
            ProblemFile::Friction(problem) => {
                problem.residual(&stiction_complementarity::FrictionSolution { r: values("r") })
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(measured, report.residual, "{}", entry.file);
    }
}

#[test]
fn a_name_of_another_kind_is_refused_with_those_that_fit() {
    let problem = read("textbook/murty-2.json");
    let error = catalogue::run(&problem, "nsgs", &Options::default()).unwrap_err();
    assert!(error.known.contains(&"lemke".to_owned()) && error.to_string().contains("lemke"), "{error}");
}

#[test]
fn every_ending_without_a_solution_comes_with_a_hint() {
    for file in ["textbook/painleve-none.json", "generated/ratio-1e6-on-light.json", "textbook/exponential-none.json"] {
        let problem = read(file);
        for method in catalogue::methods(&problem) {
            if let Answer::Ended(report) = catalogue::run(&problem, &method.name, &Options::default()).unwrap() {
                assert_eq!(report.hint.is_none(), report.status.is_solved(), "{file}: {}", method.name);
            }
        }
    }
}

#[test]
fn explanations_name_what_a_user_can_act_on() {
    let said = |file: &str| catalogue::explain(&read(file)).join("\n");
    assert!(said("generated/wedge-jammed-rest.json").contains("not pointed"));
    let stack = said("generated/mu-10.json");
    assert!(stack.contains("is pointed") && stack.contains("do not determine"), "{stack}");
    let horn = said("textbook/horn-5.json");
    assert!(horn.contains("not positive semidefinite") && horn.contains("M is copositive"), "{horn}");
    assert!(said("textbook/painleve-none.json").contains("no solution"));
}
