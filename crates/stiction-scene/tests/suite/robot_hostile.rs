//! Damaged and invented robots: a robot, or an error with a place inside the file; and files made to exhaust a reader.

use std::fmt::Write;

use proptest::prelude::*;
use stiction_scene::robot::{ReadOptions, Robot};

use crate::hostile::{damage, damages};
use crate::{ARM_URDF, CRAWLER_MJCF};

const TOKENS: [&str; 24] = [
    "nan",
    "-inf",
    "1e400",
    "1e308",
    "5e-324",
    "-0.0",
    "0",
    "-1",
    "99999999999999999999",
    "\"",
    "'",
    "<",
    ">",
    "/>",
    "<body>",
    "</body>",
    "<geom/>",
    "<!--",
    "]]>",
    "&amp;",
    "&x;",
    "é",
    "<include file=\"x\"/>",
    "<replicate count=\"9\"><geom size=\"1\"/></replicate>",
];

fn check(text: &str) -> Result<(), TestCaseError> {
    let options = ReadOptions { repair_inertia: text.len().is_multiple_of(2), ..ReadOptions::default() };
    if let Err(error) = Robot::parse(text, "x.xml", &options) {
        let span = error.span.clone().expect("a place");
        prop_assert!(text.get(span.clone()).is_some(), "{}: {:?} is not inside the file", error, span);
        prop_assert_eq!(error.line, text[..span.start].matches('\n').count() as u32 + 1);
    }
    Ok(())
}

/// Robots damaged with words of robot files.
fn damaged() -> impl Strategy<Value = String> {
    let start = prop::sample::select(vec![ARM_URDF, CRAWLER_MJCF]);
    (start, damages(&TOKENS)).prop_map(|(text, changes)| damage(text.to_owned(), changes))
}

/// Whole values replaced: most of these files are valid XML and reach the later stages.
fn misvalued() -> impl Strategy<Value = String> {
    let change = (any::<prop::sample::Index>(), prop::sample::select(TOKENS[..9].to_vec()));
    let start = prop::sample::select(vec![ARM_URDF, CRAWLER_MJCF]);
    (start, prop::collection::vec(change, 1..3)).prop_map(|(text, changes)| {
        let mut pieces: Vec<_> = text.split('"').map(str::to_owned).collect();
        for (at, token) in changes {
            let value = 2 * at.index(pieces.len() / 2) + 1;
            token.clone_into(&mut pieces[value]);
        }
        pieces.join("\"")
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn damaged_robots_parse_or_say_where_not(text in damaged()) {
        check(&text)?;
    }

    #[test]
    fn wrong_values_parse_or_say_where_not(text in misvalued()) {
        check(&text)?;
    }
}

#[test]
fn every_beginning_of_a_robot_parses_or_says_where_not() {
    for text in [ARM_URDF, CRAWLER_MJCF] {
        for end in (0..text.len()).filter(|&end| text.is_char_boundary(end)) {
            check(&text[..end]).expect("a place inside the file");
        }
    }
}

fn refused(text: &str, words: &str) {
    let error = Robot::parse(text, "x.xml", &ReadOptions::default()).expect_err(words).to_string();
    assert!(error.contains(words), "{error}");
}

#[test]
fn document_types_and_entities_are_refused() {
    let mut laughs = "<!DOCTYPE mujoco [<!ENTITY l0 \"ha\">".to_owned();
    for k in 1..20 {
        let again = format!("&l{};", k - 1).repeat(10);
        write!(laughs, "<!ENTITY l{k} \"{again}\">").expect("a text");
    }
    laughs.push_str("]><mujoco model=\"&l19;\"/>");
    refused(&laughs, "DTD");
    refused("<!DOCTYPE a [<!ENTITY x SYSTEM \"file:///etc/hostname\">]><mujoco model=\"&x;\"/>", "DTD");
}

#[test]
fn depth_and_size_are_limited() {
    let deep =
        format!("<mujoco><worldbody>{}{}</worldbody></mujoco>", "<body>".repeat(100_000), "</body>".repeat(100_000));
    refused(&deep, "nested deeper");
    refused(&format!("<mujoco>{}</mujoco>", "<a/>".repeat(1_000_000)), "odes limit");
    refused(&"x".repeat(5 << 20), "larger than");
    let bomb = format!(
        "<mujoco><worldbody>{}<geom size=\"1\"/>{}</worldbody></mujoco>",
        "<replicate count=\"1000\">".repeat(10),
        "</replicate>".repeat(10)
    );
    refused(&bomb, "with all copies");
}

#[test]
fn many_names_take_no_quadratic_time() {
    let many = 20_000;
    let mut bodies = String::new();
    for k in 0..many {
        write!(bodies, "<body name=\"b{k}\"><joint name=\"j{k}\"/><geom size=\"1\"/></body>").expect("a text");
    }
    let text = format!("<mujoco><worldbody>{bodies}</worldbody></mujoco>");
    let robot = Robot::parse(&text, "x.xml", &ReadOptions::default()).expect("a robot");
    assert_eq!(robot.dof(), many);
    let (mut classes, mut attributes) = (String::new(), String::new());
    for k in 0..1000 {
        write!(classes, "<default class=\"c{k}\"/>").expect("a text");
        write!(attributes, " a{k}=\"\"").expect("a text");
    }
    refused(&format!("<mujoco><default>{classes}</default></mujoco>"), "one class too many");
    refused(&format!("<mujoco{attributes}/>"), "more than 64 attributes");
}

#[test]
fn other_files_say_what_they_are() {
    refused("<sdf version=\"1.6\"/>", "SDF is not supported");
    refused("<html/>", "neither a URDF <robot> nor an MJCF <mujoco>");
    refused("", "is not valid XML");
    refused("<mujoco>\0</mujoco>", "is not valid XML");
    let with_mark = format!("\u{feff}{CRAWLER_MJCF}");
    assert!(Robot::parse(&with_mark, "x.xml", &ReadOptions::default()).is_ok());
}
