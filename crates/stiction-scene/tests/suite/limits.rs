//! Sizes that are refused early, before they cost time or memory.

use stiction_scene::{MAX_FILE_SIZE, parse};

use crate::PLANAR;

#[test]
fn large_files_are_refused() {
    let room = MAX_FILE_SIZE as usize - PLANAR.len() - 2;
    assert!(parse(&format!("{PLANAR}\n#{}", " ".repeat(room)), "x.toml").is_ok());
    let error = parse(&format!("{PLANAR}\n#{}", " ".repeat(room + 1)), "x.toml").expect_err("large");
    assert!(error.to_string().starts_with("x.toml: is larger than 4194304 bytes"), "{error}");
}

#[test]
fn deep_nesting_is_refused() {
    for text in [
        format!("a = {}", "[".repeat(100_000)),
        format!("a = {}1{}", "[".repeat(100_000), "]".repeat(100_000)),
        format!("a = {}", "{a=".repeat(100_000)),
        format!("{}a = 1", "a.".repeat(100_000)),
        PLANAR.replacen("\"0.5 + 0.4*sin(t)\"", &format!("\"{}t\"", "(".repeat(9_000)), 1),
        PLANAR.replacen("\"0.5 + 0.4*sin(t)\"", &format!("\"{}t\"", "-".repeat(20_000)), 1),
    ] {
        assert!(parse(&text, "x.toml").expect_err("deep").span.is_some());
    }
}

#[test]
fn steps_and_durations_have_limits() {
    let with = |duration: &str, step: &str| {
        let text = PLANAR.replacen("duration = 1.0", &format!("duration = {duration}"), 1);
        parse(&text.replacen("step = 0.01", &format!("step = {step}"), 1), "x.toml")
    };
    for (duration, step) in [("1.0", "1e-9"), ("10", "10"), ("1e9", "1"), ("1e-12", "1e-3")] {
        assert!(with(duration, step).is_ok(), "{duration} {step}");
    }
    for (duration, step, line) in [
        ("1.0", "0.99e-9", 3),
        ("1.0", "10.1", 3),
        ("1.0", "0", 3),
        ("1.0", "-0.01", 3),
        ("1.0", "1e-12", 3),
        ("0", "0.01", 2),
        ("-1", "0.01", 2),
        ("1e-310", "0.01", 2),
        ("1.1e9", "1", 2),
        ("2", "1e-9", 2),
    ] {
        assert_eq!(with(duration, step).expect_err("out of range").line, line, "{duration} {step}");
    }
}
