//! Bad numbers in every field: B01, B03, B07, B08 and B09 of the reliability list.

use std::ops::Range;

use stiction_scene::parse;

use crate::{JOINTS, MATERIALS, PLANAR, SPATIAL};

/// The numbers of a scene, outside texts.
fn numbers(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    for piece in text.split_inclusive(['"', '\n', ' ', ',', '[', ']', '{', '}', '=']) {
        let word = piece.trim_end_matches(['"', '\n', ' ', ',', '[', ']', '{', '}', '=']);
        let quoted = text[..at].matches('"').count() % 2 == 1;
        if !quoted && word.parse::<f64>().is_ok() {
            found.push(at..at + word.len());
        }
        at += piece.len();
    }
    found
}

fn with(text: &str, place: &Range<usize>, value: &str) -> String {
    format!("{}{value}{}", &text[..place.start], &text[place.end..])
}

/// The line a place is on, for messages of the tests.
fn line(text: &str, place: &Range<usize>) -> String {
    text[..place.end].lines().last().unwrap_or_default().to_owned()
}

#[test]
fn numbers_are_found() {
    assert_eq!(numbers("a = [1.0, -2]\nb = \"3 deg\" # x\nc = 4"), [5..8, 10..12, 34..35]);
    assert!(numbers(PLANAR).len() > 80 && numbers(SPATIAL).len() > 90);
}

#[test]
fn what_is_not_finite_is_refused_at_its_place() {
    for text in [PLANAR, SPATIAL, MATERIALS, JOINTS] {
        for place in numbers(text) {
            for value in ["nan", "inf", "-inf", "+nan", "1e400", "-1e999"] {
                let error = parse(&with(text, &place, value), "x.toml").expect_err(&line(text, &place));
                assert_eq!(error.span, Some(place.start..place.start + value.len()), "{}: {error}", line(text, &place));
            }
        }
    }
}

#[test]
fn huge_numbers_are_refused_near_their_place() {
    for text in [PLANAR, SPATIAL, MATERIALS, JOINTS] {
        for place in numbers(text) {
            for value in ["1e308", "-1e308", "99999999999999999999"] {
                // A normal of any length is a direction.
                if line(text, &place).contains("normal") {
                    continue;
                }
                let changed = with(text, &place, value);
                let Err(error) = parse(&changed, "x.toml") else { panic!("{value} in {}", line(text, &place)) };
                let span = error.span.clone().expect("a place");
                let own_line = changed[..place.start].matches('\n').count() as u32 + 1;
                assert!(
                    span.contains(&place.start) || error.line.abs_diff(own_line) <= 1,
                    "{value} in {} is reported elsewhere: {error}",
                    line(text, &place)
                );
            }
        }
    }
}

#[test]
fn small_and_negative_numbers_never_panic_and_zero_has_no_sign() {
    for text in [PLANAR, SPATIAL, MATERIALS, JOINTS] {
        for place in numbers(text) {
            let verdict = |value: &str| parse(&with(text, &place, value), "x.toml").map(|_| ());
            for value in ["5e-324", "-5e-324", "1e-300", "-1.0", "-1", "0x10", "1_000"] {
                if let Err(error) = verdict(value) {
                    assert!(error.span.is_some_and(|span| span.end <= error.source_text.len()));
                }
            }
            assert_eq!(verdict("0.0").is_ok(), verdict("-0.0").is_ok(), "{}", line(text, &place));
        }
    }
}

/// One field, legal values, illegal values.
#[track_caller]
fn domain(base: &str, right: &str, legal: &[&str], illegal: &[&str]) {
    let key = right.split('=').next().unwrap_or_default();
    let start = base.find(right).unwrap_or_else(|| panic!("no {right}"));
    let own_line = base[..start].matches('\n').count() as u32 + 1;
    let parsed = |value: &str| parse(&base.replacen(right, &format!("{key}= {value}"), 1), "x.toml");
    for value in legal {
        if let Err(error) = parsed(value) {
            panic!("{key}= {value}: {error}");
        }
    }
    for value in illegal {
        let error = parsed(value).map(|_| ()).expect_err(value);
        assert_eq!(error.line, own_line, "{key}= {value}: {error}");
    }
}

#[test]
fn masses_and_inertias_have_a_domain() {
    domain(PLANAR, "mass = 0.5", &["1e-12", "1e12", "1"], &["0", "-0.0", "-1", "1e-300", "1e300", "1e-13", "1e13"]);
    domain(PLANAR, "inertia = 0.002", &["1e-18", "1e18"], &["0", "-1", "1e-300", "1e300"]);
    domain(PLANAR, "density = 10.0", &["1e-3", "1e6"], &["0", "-1", "1e-300", "1e300"]);
    domain(
        SPATIAL,
        "inertia = [0.1, 0.1, 0.1]",
        &["[1.0, 2.0, 3.0]", "[[1.0, 0.1, 0.0], [0.1, 1.0, 0.0], [0.0, 0.0, 1.0]]"],
        &[
            "[0, 0, 0]",
            "[1.0, 1.0, 2.2]",
            "[1.0, 1.0, -1.0]",
            "[[1.0, 0.1, 0.0], [0.2, 1.0, 0.0], [0.0, 0.0, 1.0]]",
            "[[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]]",
        ],
    );
    // Only dynamic bodies have a mass.
    for kind in ["kind = \"fixed\"", "kind = \"kinematic\""] {
        for mass in ["0", "-1", "1", "1e300"] {
            let text = PLANAR.replacen(kind, &format!("{kind}\nmass = {mass}"), 1);
            assert!(parse(&text, "x.toml").is_err_and(|error| error.message.contains("is for dynamic bodies")));
        }
    }
}

#[test]
fn directions_and_quaternions_have_a_domain() {
    domain(
        SPATIAL,
        "orientation = [1.0, 0.0, 0.0, 0.0]",
        &["[1.001, 0, 0, 0]", "[0.999, 0, 0, 0]", "[-1, 0, 0, 0]", "[0.5, 0.5, 0.5, 0.5]"],
        &["[0, 0, 0, 0]", "[1.01, 0, 0, 0]", "[0.99, 0, 0, 0]", "[1e-200, 0, 0, 0]", "[1e200, 0, 0, 0]"],
    );
    domain(PLANAR, "axis = [1.0, 0.0]", &["[1e-5, 0]", "[0, -3]"], &["[0, 0]", "[1e-9, 0]", "[1e-200, 1e-200]"]);
    domain(SPATIAL, "axis = [0.0, 1.0, 0.5]", &["[1, 1, 1]"], &["[0, 0, 0]", "[0, 1e-9, 0]"]);
    domain(
        SPATIAL,
        "second_axis = [0.0, 1.0, 0.0]",
        &["[0, 0, -2]"],
        &["[0, 0, 0]", "[1, 0, 0]", "[0.1, 1, 0]", "[0, 1e-9, 0]"],
    );
    domain(SPATIAL, "first_direction = [1.0, 0.0, 0.0]", &["[0, 5, 0]"], &["[0, 0, 0]", "[1e-9, 0, 0]"]);
}

#[test]
fn gravity_friction_and_weights_have_a_domain() {
    domain(PLANAR, "gravity = [0.0, -9.81]", &["[0, 0]", "[1e6, 0]"], &["[1e16, 0]", "[0, 1e300]"]);
    domain(PLANAR, "friction = 0.6", &["0", "-0.0", "1e-12", "10", "1e6"], &["-0.1", "1e10", "-1e-12"]);
    domain(PLANAR, "gamma = 0.2", &["0", "1", "0.5"], &["-0.1", "1.0001", "1e300"]);
    domain(PLANAR, "joint_gamma = 1.0", &["0", "1", "0.5"], &["-0.1", "1.0001"]);
    domain(PLANAR, "margin = 0.02", &["0", "\"auto\"", "1"], &["-0.1", "1e10"]);
    domain(SPATIAL, "directions = 6", &["4", "1024"], &["0", "2", "5", "1026", "-4", "4294967296", "8.0"]);
    domain(PLANAR, "stiffness = 10.0", &["0", "1e15"], &["-1", "1e16"]);
    domain(PLANAR, "rest_length = 0.5", &["0"], &["-1", "1e10"]);
    domain(PLANAR, "length = 0.7", &["1.0", "0.7"], &["0", "-1", "1e10"]);
}
