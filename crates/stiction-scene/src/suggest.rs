//! "Did you mean": the nearest known word.

/// Words further away than a third of their length are no suggestion.
const NEAR: usize = 3;

/// A hint for an unknown word: the nearest known one, or the list of all.
pub(crate) fn hint<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<_> = known.into_iter().collect();
    let nearest = known.iter().map(|candidate| (distance(word, candidate), *candidate)).min();
    match nearest {
        Some((d, candidate)) if d <= 1 + word.chars().count().max(candidate.chars().count()) / NEAR => {
            format!("did you mean `{candidate}`?")
        }
        Some(_) => format!("known here: {}", known.join(", ")),
        None => "nothing is known here".to_owned(),
    }
}

/// Levenshtein's distance: the fewest insertions, deletions and replacements that turn `a` into `b`.
fn distance(a: &str, b: &str) -> usize {
    // Long words are no typing errors of our short ones; the cut bounds the work on hostile files.
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
    use super::{distance, hint};

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
}
