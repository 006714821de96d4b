//! "Did you mean": the nearest known word.

use std::path::{Path, PathBuf};

/// Inverse of the largest distance of a suggestion, relative to its length.
const NEAR: usize = 3;

/// Words of other programs and the corresponding word of scene files.
const SYNONYMS: [(&str, &[&str]); 8] = [
    ("fixed", &["static", "immovable", "ground", "obstacle", "anchored"]),
    ("dynamic", &["free", "rigid", "moving", "movable", "body"]),
    ("kinematic", &["driven", "animated", "scripted", "prescribed", "moved"]),
    ("revolute", &["hinge", "pin", "rotational"]),
    ("prismatic", &["slider", "slide", "linear", "translational"]),
    ("spherical", &["ball", "socket", "ball-socket"]),
    ("weld", &["fixed", "rigid"]),
    ("distance", &["rope", "link"]),
];

/// Returns a hint for an unknown word: the nearest known one, or the list of all.
pub fn hint<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<_> = known.into_iter().collect();
    match nearest(word, &known) {
        Some(candidate) => did_you_mean(candidate),
        None if known.is_empty() => "no names are known here".to_owned(),
        None => format!("known here: {}", known.join(", ")),
    }
}

/// Returns a correction for an unknown word, for messages that already list all words: a synonym, or the nearest
/// word.
pub(crate) fn correction(word: &str, known: &[&str]) -> Option<String> {
    let mut ours = SYNONYMS.iter().filter(|(_, others)| others.contains(&word)).map(|(ours, _)| *ours);
    let synonym = ours.find(|ours| known.contains(ours));
    synonym.or_else(|| nearest(word, known)).map(did_you_mean)
}

fn did_you_mean(candidate: &str) -> String {
    format!("did you mean `{candidate}`?")
}

pub(crate) fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let (d, candidate) = known.iter().map(|candidate| (distance(word, candidate), *candidate)).min()?;
    (d <= 1 + word.chars().count().max(candidate.chars().count()) / NEAR).then_some(candidate)
}

/// Returns the existing file in the same folder, with the same extension, whose name is nearest to that of a missing
/// file.
pub(crate) fn nearest_file(path: &Path) -> Option<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let beside = std::fs::read_dir(folder.unwrap_or(Path::new("."))).ok()?;
    let same_kind = beside.filter_map(Result::ok).map(|entry| PathBuf::from(entry.file_name()));
    let mut names: Vec<String> = same_kind
        .filter(|name| name.extension() == path.extension())
        .filter_map(|name| Some(name.file_stem()?.to_str()?.to_owned()))
        .collect();
    // The order of files in a folder is arbitrary.
    names.sort();
    let known: Vec<&str> = names.iter().map(String::as_str).collect();
    let near = nearest(path.file_stem()?.to_str()?, &known)?;
    Some(path.with_file_name(near).with_extension(path.extension()?))
}

/// Levenshtein distance: the fewest insertions, deletions and replacements that turn `a` into `b`.
fn distance(a: &str, b: &str) -> usize {
    // Long words are not misspellings of the short known ones. The cut bounds the work on hostile files.
    const LONGEST: usize = 64;
    let (a, b): (Vec<_>, Vec<_>) = (a.chars().take(LONGEST).collect(), b.chars().take(LONGEST).collect());
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (y, cell) in b.iter().zip(row.iter_mut().skip(1)) {
            let replaced = diagonal + usize::from(x != y);
            diagonal = *cell;
            left = replaced.min(diagonal + 1).min(left + 1);
            *cell = left;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or(a.len())
}

#[cfg(test)]
mod tests {
    use super::{correction, distance, hint};

    #[test]
    fn distances_are_those_of_the_definition() {
        for (a, b, d) in [
            ("", "", 0),
            ("abc", "", 3),
            ("", "ab", 2),
            ("kitten", "sitting", 3),
            ("mass", "mas", 1),
            ("flaw", "lawn", 2),
        ] {
            assert_eq!(distance(a, b), d, "{a} {b}");
            assert_eq!(distance(b, a), d, "{b} {a}");
        }
    }

    #[test]
    fn near_words_are_suggested_and_far_ones_listed() {
        assert_eq!(hint("fricton", ["friction", "gamma"]), "did you mean `friction`?");
        assert_eq!(hint("colour", ["friction", "gamma"]), "known here: friction, gamma");
    }

    #[test]
    fn words_of_other_programs_are_understood() {
        let (bodies, joints) = (["fixed", "kinematic", "dynamic"], ["revolute", "weld"]);
        assert_eq!(correction("static", &bodies).as_deref(), Some("did you mean `fixed`?"));
        assert_eq!(correction("rigid", &bodies).as_deref(), Some("did you mean `dynamic`?"));
        assert_eq!(correction("fixed", &joints).as_deref(), Some("did you mean `weld`?"));
        assert_eq!(correction("colourful", &bodies), None);
    }
}
