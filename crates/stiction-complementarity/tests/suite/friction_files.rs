//! Frictional problem files: round trips of every form, errors that name their cause, damaged text.

use stiction_complementarity::linalg::BlockMatrix;
use stiction_complementarity::{
    Delassus, FrictionProblem, Law, Operator, ProblemError, ProblemFile, ProblemFileError as Refused,
};
use stiction_testkit::Random;
use stiction_testkit::problems::{Motion, arch, chain, pyramid, random};

fn round_trip(problem: &FrictionProblem) -> String {
    let text = ProblemFile::Friction(problem.clone()).to_json().unwrap();
    assert_eq!(ProblemFile::read(&text).unwrap(), ProblemFile::Friction(problem.clone()));
    text
}

fn read(text: &str) -> FrictionProblem {
    match ProblemFile::read(text).unwrap() {
        ProblemFile::Friction(problem) => problem,
        other => panic!("{other:?}"),
    }
}

fn local(laws: Vec<Law>, values: &[f64]) -> FrictionProblem {
    let rows: usize = laws.iter().map(Law::rows).sum();
    let mut w = BlockMatrix::default();
    w.clear(laws.iter().map(Law::rows), laws.iter().map(Law::rows));
    for (i, law) in laws.iter().enumerate() {
        w.push(i, &values[..law.rows() * law.rows()]);
        w.finish_row();
    }
    FrictionProblem::new(Operator::Assembled(w), laws, vec![-0.1; rows]).unwrap()
}

#[test]
fn problems_read_back_to_the_bit() {
    let kick = Motion::Kick { speed: 0.1, seed: 1 };
    let mut numbers = Random::new(2);
    let values: Vec<f64> = (0..25).map(|_| numbers.normal()).collect();
    let cone = |rows| Law::Cone { rows, mu: 1.0 / 3.0 };
    let rolling = Law::Rolling { rows: 5, mu: 0.1, mu_r: 0.7 };
    for (problem, kind) in [
        (pyramid(2, 0.3).problem(kick), "gfc3d"),
        (arch(3, 0.3).problem(kick), "gfc2d"),
        (chain(3, 0.3).problem(kick), "friction"),
        (random(4, 30, 5).problem(kick), "friction"),
        (local(vec![cone(2); 3], &values), "fc2d"),
        (local(vec![cone(3); 3], &values), "fc3d"),
        (local(vec![cone(4); 3], &values), "friction"),
        (local(vec![rolling; 2], &values), "rfc3d"),
        (local(vec![cone(3); 2], &values).with_compliance(vec![0.25; 6]).unwrap(), "friction"),
        (local(vec![Law::Bounded { lower: f64::NEG_INFINITY, upper: 0.5 }, cone(3)], &values), "friction"),
    ] {
        let text = round_trip(&problem);
        assert!(text.starts_with(&format!(r#"{{"kind":"{kind}""#)), "{text:.60} is not {kind}");
    }
}

const ONE: &str = r#""nc": 1, "mu": [0.5]"#;

/// A full (FEM-like) M is factorised, a block-diagonal one becomes bodies: both must give Hᵀ M⁻¹ H and Hᵀ M⁻¹ q + b.
#[test]
fn global_problems_of_both_forms() {
    let h = r#""H": {"nrows": 2, "ncols": 2, "indptr": [0, 1, 2], "indices": [0, 1], "data": [1, 2]}, "q": [8, 24], "b": [1, 1]"#;
    let bodies = r#""M": {"nrows": 2, "ncols": 2, "indptr": [0, 1, 2], "indices": [0, 1], "data": [4, 16]}"#;
    let problem = read(&format!(r#"{{"kind": "gfc2d", "dim": 2, {ONE}, {bodies}, {h}}}"#));
    assert!(matches!(problem.operator(), Operator::MatrixFree(_)));
    assert_eq!(problem.q(), [3.0, 4.0]);
    // M = [4 1; 0 16] has the inverse [1/4 −1/64; 0 1/16].
    let full = r#""M": {"nrows": 2, "ncols": 2, "indptr": [0, 2, 3], "indices": [0, 1, 1], "data": [4, 1, 16]}"#;
    let problem = read(&format!(r#"{{"kind": "gfc2d", "dim": 2, {ONE}, {full}, {h}}}"#));
    assert!(matches!(problem.operator(), Operator::Assembled(_)), "M is not symmetric");
    assert_eq!(problem.q(), [2.625, 4.0]);
    let mut w = [0.0; 4];
    problem.operator().diagonal(0, &mut w);
    assert_eq!(w, [0.25, -0.03125, 0.0, 0.25]);
}

#[test]
fn every_refusal_names_its_culprit() {
    let w = r#""W": {"nrows": 2, "ncols": 2, "indptr": [0, 1, 2], "indices": [0, 1], "data": [1, 1]}"#;
    let refusal = |text: &str| ProblemFile::read(text).unwrap_err();
    let with = |w: &str| refusal(&format!(r#"{{"kind": "fc2d", "dim": 2, {ONE}, {w}, "q": [0, 0]}}"#));
    assert!(matches!(refusal(r#"{"kind": "fc3d"}"#), Refused::MissingField { kind: "fc3d", field: "dim" }));
    let text = format!(r#"{{"kind": "fc3d", "dim": 2, {ONE}, {w}, "q": [0, 0]}}"#);
    assert!(matches!(refusal(&text), Refused::WrongComponents { kind: "fc3d", expected: 3, found: 2 }));
    let text = format!(r#"{{"kind": "fc2d", "dim": 2, "nc": 2, "mu": [0.5], {w}, "q": [0, 0]}}"#);
    assert!(matches!(refusal(&text), Refused::WrongLength { field: "mu", expected: 2, found: 1 }));
    let text = format!(r#"{{"kind": "fc2d", "dim": 2, {ONE}, {w}}}"#);
    assert!(matches!(refusal(&text), Refused::MissingField { field: "q", .. }));
    let text = format!(r#"{{"kind": "fc2d", "dim": 2, {ONE}, {w}, "q": [0]}}"#);
    assert!(matches!(refusal(&text), Refused::Problem(ProblemError::SizeMismatch { part: "q", .. })));
    let text = format!(r#"{{"kind": "fc2d", "dim": 2, "nc": 1, "mu": [-1], {w}, "q": [0, 0]}}"#);
    assert!(matches!(refusal(&text), Refused::Problem(ProblemError::BadLaw { block: 0, .. })));
    assert!(matches!(
        with(&w.replace("2, \"ncols", "9, \"ncols")),
        Refused::WrongMatrixSize { part: "nrows", found: 9, .. }
    ));
    assert!(matches!(with(&w.replace("[0, 1, 2]", "[0, 2]")), Refused::WrongMatrixSize { part: "indptr", .. }));
    assert!(matches!(with(&w.replace("[0, 1, 2]", "[0, 5, 2]")), Refused::BadMatrix { field: "W", row: 0, .. }));
    assert!(matches!(with(&w.replace("[0, 1, 2]", "[0, 1, 1]")), Refused::BadMatrix { row: 2, .. }));
    assert!(matches!(
        with(&w.replace("\"indices\": [0, 1]", "\"indices\": [0, 7]")),
        Refused::BadMatrix { row: 1, .. }
    ));
    let singular = format!(
        r#"{{"kind": "gfc2d", "dim": 2, {ONE}, {}, "H": {}, "q": [0, 0], "b": [0, 0]}}"#,
        r#""M": {"nrows": 2, "ncols": 2, "indptr": [0, 2, 3], "indices": [0, 1, 0], "data": [1, 1, 0]}"#,
        r#"{"nrows": 2, "ncols": 2, "indptr": [0, 0, 0], "indices": [], "data": []}"#,
    );
    assert!(matches!(refusal(&singular), Refused::SingularMass { row: 1 }));
    let huge = r#"{"kind": "friction", "laws": [{"equality": {"rows": 18446744073709551615}}, {"equality": {"rows": 2}}],
        "W": {"nrows": 18446744073709551615, "ncols": 1, "indptr": [0], "indices": [], "data": []}, "q": []}"#;
    assert!(matches!(refusal(huge), Refused::WrongMatrixSize { .. }));
}

/// Text with one byte changed, cut or doubled is read or rejected without a panic.
#[test]
fn damaged_text_is_read_or_refused() {
    let text = round_trip(&random(2, 4, 3).problem(Motion::Rest)).into_bytes();
    let mut numbers = Random::new(8);
    for _ in 0..3000 {
        let mut damaged = text.clone();
        let place = numbers.below(damaged.len());
        match numbers.below(3) {
            0 => damaged[place] = b"0123456789-.eE[]{},:\"n"[numbers.below(22)],
            1 => damaged.truncate(place),
            _ => damaged.insert(place, damaged[place]),
        }
        let _ = ProblemFile::read(&String::from_utf8_lossy(&damaged));
    }
}
