//! Texts in square brackets: equation tags and paper citations.
//!
//! An equation tag is two to eight capital letters, a hyphen and a number: `[STEP-3]`. A citation may name several:
//! `[STEP-1..5]`, `[STEP-1, STEP-4]`, `[STEP-1, 4]`. A paper citation is a bibliography key, optionally with a place:
//! `[Stewart1996]`, `[Stewart1996, eq. 12]`, `[Stewart1996; Anitescu1997]`.

use std::fmt;

/// An equation tag.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Tag {
    /// The chapter, such as `STEP`.
    pub(crate) chapter: String,
    /// The number within the chapter.
    pub(crate) number: u32,
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}-{}]", self.chapter, self.number)
    }
}

/// A range wider than this is a typing error, not a citation.
const WIDEST_RANGE: u32 = 100;

/// All tags named on one line, ranges and lists spelt out.
pub(crate) fn tags(line: &str) -> Vec<Tag> {
    brackets(line).filter_map(tag_list).flatten().collect()
}

/// All bibliography keys named on one line.
pub(crate) fn papers(line: &str) -> Vec<String> {
    brackets(line)
        .flat_map(|inside| inside.split(';'))
        .filter_map(|part| part.split(',').next())
        .map(str::trim)
        .filter(|key| is_paper_key(key))
        .map(str::to_string)
        .collect()
}

/// The tag a displayed equation carries: the last thing on its line, naming exactly one equation.
pub(crate) fn tag_at_end(line: &str) -> Option<Tag> {
    let line = line.trim_end();
    let inside = line.strip_suffix(']')?.rsplit('[').next()?;
    single_tag(inside)
}

/// The texts between `[` and the next `]`, innermost first. `\[…\]` counts too: rustdoc takes a lone word in brackets for
/// a link unless they are escaped.
fn brackets(line: &str) -> impl Iterator<Item = &str> {
    line.split('[').skip(1).filter_map(|after| after.split_once(']')).map(|(inside, _)| inside.trim_end_matches('\\'))
}

fn tag_list(inside: &str) -> Option<Vec<Tag>> {
    let mut found: Vec<Tag> = Vec::new();
    for item in inside.split(',').map(str::trim) {
        let (first, last) = item.split_once("..").map_or((item, None), |(a, b)| (a, Some(b.trim_start_matches('='))));
        let start = single_tag(first).or_else(|| continued(found.last(), first))?;
        let end = match last {
            None => start.number,
            Some(last) => single_tag(last).map_or_else(|| last.parse().ok(), |tag| Some(tag.number))?,
        };
        if end < start.number || end - start.number > WIDEST_RANGE {
            return None;
        }
        found.extend((start.number..=end).map(|number| Tag { chapter: start.chapter.clone(), number }));
    }
    Some(found)
}

fn single_tag(text: &str) -> Option<Tag> {
    let (chapter, number) = text.trim().split_once('-')?;
    let legal = (2..=8).contains(&chapter.len()) && chapter.bytes().all(|b| b.is_ascii_uppercase());
    let digits = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
    (legal && digits).then(|| number.parse().ok()).flatten().map(|number| Tag { chapter: chapter.to_string(), number })
}

/// The `4` of `[STEP-1, 4]`.
fn continued(previous: Option<&Tag>, text: &str) -> Option<Tag> {
    let number = text.parse().ok()?;
    previous.map(|tag| Tag { chapter: tag.chapter.clone(), number })
}

/// A capital, letters, a year, perhaps one small letter.
fn is_paper_key(text: &str) -> bool {
    let body = text.strip_suffix(|c: char| c.is_ascii_lowercase()).unwrap_or(text);
    let Some((name, year)) = body.len().checked_sub(4).and_then(|at| body.split_at_checked(at)) else {
        return false;
    };
    let named = name.len() >= 2 && name.starts_with(|c: char| c.is_ascii_uppercase());
    let dated = year.starts_with(['1', '2']) && year.bytes().all(|b| b.is_ascii_digit());
    named && dated && name.chars().all(|c| c.is_alphabetic() || c == '-')
}

#[cfg(test)]
mod tests {
    use super::{papers, tag_at_end, tags};

    fn names(line: &str) -> Vec<String> {
        tags(line).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn single_tags_ranges_and_lists() {
        assert_eq!(names("balance [STEP-1] and gap [GEOM-12]"), ["[STEP-1]", "[GEOM-12]"]);
        assert_eq!(names("[STEP-2..4]"), ["[STEP-2]", "[STEP-3]", "[STEP-4]"]);
        assert_eq!(names("[STEP-2..STEP-3]"), ["[STEP-2]", "[STEP-3]"]);
        assert_eq!(names("[STEP-1, 4, LCP-2]"), ["[STEP-1]", "[STEP-4]", "[LCP-2]"]);
    }

    #[test]
    fn other_brackets_are_left_alone() {
        for line in ["a[i-1]", "[C-21]", "[STEP-]", "[Step-1]", "[TOOLONGNAME-1]", "[STEP-9..1]", "[STEP-1", "[]"] {
            assert!(names(line).is_empty(), "{line}");
        }
    }

    #[test]
    fn a_definition_ends_its_line() {
        assert_eq!(tag_at_end("M v = p   [STEP-1]  ").map(|t| t.to_string()).as_deref(), Some("[STEP-1]"));
        assert_eq!(tag_at_end("by [STEP-1] we find x = 1"), None);
        assert_eq!(tag_at_end("x = 1   [STEP-1..2]"), None);
    }

    #[test]
    fn paper_citations() {
        assert_eq!(
            papers("see [Stewart1996, eq. 12] and [Cottle1992; Acary2008b]"),
            ["Stewart1996", "Cottle1992", "Acary2008b"]
        );
        assert_eq!(papers(r"after \[Lemke1965\]"), ["Lemke1965"]);
        for line in ["[STEP-1]", "[f64]", "[U2000]", "[Name20]", "[`Model2000`]", "[name2000]"] {
            assert!(papers(line).is_empty(), "{line}");
        }
    }
}
