//! Problem files: round trips, errors, limits.

use crate::generate::{Seed, mixed, p_matrix};
use stiction_complementarity::{
    DenseMatrix, Lcp, MAX_FILE_SIZE, MixedLcp, ProblemError, ProblemFile, ProblemFileError,
};

fn refusal(text: &str) -> ProblemFileError {
    ProblemFile::read(text).unwrap_err()
}

#[test]
fn problems_read_back_to_the_bit() {
    let mut seed = Seed(41);
    let (a, c, d, b) = (seed.matrix(3, 3), seed.matrix(3, 4), seed.matrix(4, 3), seed.matrix(4, 4));
    for problem in [
        ProblemFile::Lcp(Lcp::default()),
        ProblemFile::Lcp(Lcp::new(p_matrix(&mut seed, 5), seed.vector(5)).unwrap()),
        ProblemFile::MixedLcp(mixed([&a, &c, &d, &b], seed.vector(3), seed.vector(4)).unwrap()),
        ProblemFile::MixedLcp(without_free_unknowns(&b, seed.vector(4))),
    ] {
        assert_eq!(ProblemFile::read(&problem.to_json().unwrap()).unwrap(), problem);
    }
}

/// A mixed problem with complementary rows only.
fn without_free_unknowns(b: &DenseMatrix, constant: Vec<f64>) -> MixedLcp {
    let mut problem = MixedLcp::default();
    problem.clear(0, b.rows());
    for i in 0..b.rows() {
        b.row(i).iter().enumerate().for_each(|(j, &value)| problem.complementarity.on_complementary.push(j, value));
        problem.complementarity.on_free.finish_row();
        problem.complementarity.on_complementary.finish_row();
    }
    problem.complementarity.constant = constant;
    problem
}

#[test]
fn unknown_fields_are_ignored() {
    let text =
        r#"{"name": "x", "kind": "lcp", "n": 1, "M": [[2]], "q": [-3], "reference_solution": null, "source": {}}"#;
    let ProblemFile::Lcp(problem) = ProblemFile::read(text).unwrap() else { panic!("wrong kind") };
    assert_eq!((problem.m()[(0, 0)], problem.q()), (2.0, &[-3.0][..]));
}

#[test]
fn every_refusal_names_its_culprit() {
    use ProblemFileError::{MissingField, Syntax, TooLarge, UnknownKind, WrongLength, WrongRowLength};
    assert!(matches!(refusal("{"), Syntax(_)));
    assert!(matches!(refusal(r#"{"kind": "lcp", "n": 1, "M": [[NaN]], "q": [0]}"#), Syntax(_)));
    assert!(matches!(refusal(r#"{"kind": "lcp", "n": 1, "M": [[1e999]], "q": [0]}"#), Syntax(_)));
    assert!(matches!(refusal(r#"{"kind": "lcp", "n": -1, "M": [], "q": []}"#), Syntax(_)));
    assert!(refusal("{\n\"kind\": \"lcp\", \"M\": [[\"a\"]]}").to_string().contains("line 2"));
    assert!(matches!(refusal(r#"{"kind": "nlp"}"#), UnknownKind(kind) if kind == "nlp"));
    assert!(matches!(refusal(r#"{"kind": "lcp", "M": [], "q": []}"#), MissingField { kind: "lcp", field: "n" }));
    assert!(matches!(
        refusal(r#"{"kind": "mlcp", "n_eq": 0, "M": [], "q": []}"#),
        MissingField { field: "m_comp", .. }
    ));
    assert!(matches!(
        refusal(r#"{"kind": "lcp", "n": 2, "M": [[1, 2], [3]], "q": [0, 0]}"#),
        WrongRowLength { row: 1, expected: 2, found: 1 }
    ));
    assert!(matches!(
        refusal(r#"{"kind": "mlcp", "n_eq": 1, "m_comp": 1, "M": [[1, 2], [3, 4]], "q": [0]}"#),
        WrongLength { field: "q", expected: 2, found: 1 }
    ));
    let huge = MAX_FILE_SIZE + 1;
    let text = format!(r#"{{"kind": "lcp", "n": {huge}, "M": [], "q": []}}"#);
    assert!(matches!(refusal(&text), TooLarge { rows } if rows == huge));
    let text = format!(r#"{{"kind": "mlcp", "n_eq": {0}, "m_comp": {0}, "M": [], "q": []}}"#, usize::MAX);
    assert!(matches!(refusal(&text), TooLarge { .. }));
    let text = r#"{"kind": "boxlcp", "n": 1, "M": [[1]], "q": [0], "lb": [2], "ub": [1]}"#;
    assert!(matches!(refusal(text), ProblemFileError::Problem(ProblemError::BadBounds { row: 0, .. })));
    let text = r#"{"kind": "boxlcp", "n": 1, "M": [[1]], "q": [0], "lb": [0]}"#;
    assert!(matches!(refusal(text), MissingField { kind: "boxlcp", field: "ub" }));
    let text = r#"{"kind": "mcp", "n": 1, "lb": [0], "ub": [null], "F": [["sin", 1]]}"#;
    assert!(matches!(refusal(text), ProblemFileError::BadExpression { row: 0, .. }));
    let text = r#"{"kind": "mcp", "n": 1, "lb": [0], "ub": [null], "F": [["x", 1]]}"#;
    assert!(matches!(refusal(text), ProblemFileError::Problem(ProblemError::UnknownVariable { row: 0 })));
}

#[test]
fn bounds_and_expressions_read_back() {
    for text in [
        r#"{"kind": "boxlcp", "n": 2, "M": [[1, 2], [3, 4]], "q": [0, 1], "lb": [null, -1], "ub": [1, null]}"#,
        r#"{"kind": "mcp", "n": 2, "lb": [0, null], "ub": [null, 3.5], "starts": [[1, 2]], "F":
            [["+", 1, ["*", 2, ["x", 0], ["x", 1]], ["exp", ["-", ["x", 1], 1]]], ["/", ["^", ["x", 0], 1.5], 7]]}"#,
    ] {
        let problem = ProblemFile::read(text).unwrap();
        assert_eq!(ProblemFile::read(&problem.to_json().unwrap()).unwrap(), problem);
    }
}
