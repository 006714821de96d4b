//! Damaged and invented files: a scene, or an error with a place inside the file.

use proptest::prelude::*;
use stiction_scene::{SceneError, parse, parse_with};

use crate::{PLANAR, SPATIAL, all_scenes};

fn scenes() -> Vec<String> {
    all_scenes().into_iter().map(|(_, text)| text).chain([PLANAR.to_owned(), SPATIAL.to_owned()]).collect()
}

const TOKENS: [&str; 40] = [
    "nan",
    "-inf",
    "1e400",
    "1e308",
    "5e-324",
    "-0.0",
    "0",
    "-1",
    "99999999999999999999",
    "\"\"",
    "\"nan\"",
    "\"t\"",
    "\"1/0\"",
    "\"1e308*t\"",
    "\"world\"",
    "\"rod\"",
    "[]",
    "[0, 0]",
    "[0, 0, 0]",
    "[[]]",
    "{}",
    "{ a = 1 }",
    "true",
    "1979-05-27",
    "[",
    "]",
    "{",
    "}",
    "=",
    "\"",
    "'''",
    "\\u0000",
    "é",
    "[[body]]",
    "[body]",
    "[simulation]",
    "body",
    "\"90 deg\"",
    "\"nan deg\"",
    "\"auto\"",
];

/// A change of a text: kind, start, length, and the inserted word.
pub(crate) type Damage = (u8, prop::sample::Index, prop::sample::Index, &'static str);

/// One to three changes with these words.
pub(crate) fn damages(tokens: &[&'static str]) -> impl Strategy<Value = Vec<Damage>> {
    let change =
        (0..5_u8, any::<prop::sample::Index>(), any::<prop::sample::Index>(), prop::sample::select(tokens.to_vec()));
    prop::collection::vec(change, 1..4)
}

/// Replaces, inserts, deletes, repeats or cuts.
pub(crate) fn damage(mut text: String, changes: Vec<Damage>) -> String {
    for (kind, from, length, token) in changes {
        let boundaries: Vec<_> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let start = from.index(boundaries.len());
        let end = (start + length.index(12)).min(boundaries.len() - 1);
        let range = boundaries[start]..boundaries[end];
        match kind {
            0 => text.replace_range(range, token),
            1 => text.insert_str(range.start, token),
            2 => text.replace_range(range, ""),
            3 => {
                let again = text[range.clone()].to_owned();
                text.insert_str(range.start, &again);
            }
            _ => text.truncate(range.start),
        }
    }
    text
}

/// Scenes damaged with words of scene files.
fn damaged() -> impl Strategy<Value = String> {
    (prop::sample::select(scenes()), damages(&TOKENS)).prop_map(|(text, changes)| damage(text, changes))
}

/// Whole values replaced: most of these files are valid TOML and reach the later stages.
fn misvalued() -> impl Strategy<Value = String> {
    let change = (any::<prop::sample::Index>(), prop::sample::select(TOKENS[..24].to_vec()));
    (prop::sample::select(scenes()), prop::collection::vec(change, 1..3)).prop_map(|(text, changes)| {
        let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
        for (at, token) in changes {
            let candidates: Vec<_> = (0..lines.len()).filter(|&k| lines[k].contains(" = ")).collect();
            let line = &mut lines[candidates[at.index(candidates.len())]];
            let value = line.rfind(" = ").expect("a value") + 3;
            let closing = if line.trim_end().ends_with('}') { " }" } else { "" };
            *line = format!("{}{token}{closing}", &line[..value]);
        }
        lines.join("\n")
    })
}

fn placed(error: &SceneError, text: &str) -> Result<(), TestCaseError> {
    let span = error.span.clone().expect("a place");
    prop_assert!(text.get(span.clone()).is_some(), "{error}: {span:?} is not inside the file");
    let lines = text[..span.start].matches('\n').count() as u32 + 1;
    prop_assert_eq!(error.line, lines);
    prop_assert!(error.column >= 1);
    prop_assert!(!error.message.starts_with("cannot be understood"), "{error}");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn damaged_scenes_parse_or_say_where_not(text in damaged()) {
        if let Err(error) = parse(&text, "x.toml") {
            placed(&error, &text)?;
        }
    }

    #[test]
    fn wrong_values_parse_or_say_where_not(text in misvalued()) {
        if let Err(error) = parse(&text, "x.toml") {
            placed(&error, &text)?;
        }
    }

    #[test]
    fn any_text_parses_or_says_where_not(text in "\\PC{0,200}|[a-z\\[\\]{}=\". \n0-9]{0,200}") {
        if let Err(error) = parse(&text, "x.toml") {
            placed(&error, &text)?;
        }
    }

    #[test]
    fn any_change_applies_or_says_where_not(path in "[a-z_.0-9é]{0,20}|(body|joint|simulation|contact)(\\.[a-z0-9]{1,6}){0,3}", value in "\\PC{0,20}") {
        if let Err(error) = parse_with(PLANAR, "x.toml", &[(path.clone(), value.clone())]) {
            let source = if error.file == "--set" { format!("{path}={value}") } else { PLANAR.to_owned() };
            placed(&error, &source)?;
        }
    }
}
