//! Text on the page: escaping, superscripts and subscripts, widths.

/// A run of text on one level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) text: String,
    pub(crate) level: Level,
}

/// Level of letters: baseline, superscript or subscript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    Line,
    Raised,
    Lowered,
}

/// Size of superscripts and subscripts, relative to the baseline.
pub(crate) const SMALL: f64 = 0.7;

const RAISED: [(char, char); 16] = [
    ('⁰', '0'),
    ('¹', '1'),
    ('²', '2'),
    ('³', '3'),
    ('⁴', '4'),
    ('⁵', '5'),
    ('⁶', '6'),
    ('⁷', '7'),
    ('⁸', '8'),
    ('⁹', '9'),
    ('⁺', '+'),
    ('⁻', '−'),
    ('⁽', '('),
    ('⁾', ')'),
    ('ⁿ', 'n'),
    ('ᵀ', 'T'),
];

const LOWERED: [(char, char); 16] = [
    ('₀', '0'),
    ('₁', '1'),
    ('₂', '2'),
    ('₃', '3'),
    ('₄', '4'),
    ('₅', '5'),
    ('₆', '6'),
    ('₇', '7'),
    ('₈', '8'),
    ('₉', '9'),
    ('₊', '+'),
    ('₋', '−'),
    ('ₙ', 'n'),
    ('ₜ', 't'),
    ('ₓ', 'x'),
    ('ₐ', 'a'),
];

/// Splits text into runs; Unicode superscripts and subscripts become small ordinary letters, which every font has.
pub(crate) fn runs(text: &str) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for c in text.chars() {
        let of = |table: &[(char, char)]| table.iter().find(|(from, _)| *from == c).map(|(_, to)| *to);
        let (level, c) = match (of(&RAISED), of(&LOWERED)) {
            (Some(c), _) => (Level::Raised, c),
            (_, Some(c)) => (Level::Lowered, c),
            _ => (Level::Line, c),
        };
        match runs.last_mut() {
            Some(run) if run.level == level => run.text.push(c),
            _ => runs.push(Run { text: c.to_string(), level }),
        }
    }
    runs
}

/// `n` in superscript digits.
pub(crate) fn raised(n: i32) -> String {
    n.to_string()
        .chars()
        .map(|c| match c {
            '-' => '⁻',
            c => RAISED.iter().find(|(_, plain)| *plain == c).map_or(c, |(raised, _)| *raised),
        })
        .collect()
}

/// Largest length of a drawn text, in characters; the rest becomes an ellipsis.
const LONGEST: usize = 160;

/// Text safe for a picture: no control characters, which SVG forbids, no direction overrides, and of bounded length.
pub(crate) fn tame(text: &str) -> String {
    let drawable = |c: char| if c.is_control() || is_invisible(c) { '\u{fffd}' } else { c };
    let mut tamed: String = text.chars().take(LONGEST).map(drawable).collect();
    if text.chars().nth(LONGEST).is_some() {
        tamed.push('…');
    }
    tamed
}

/// True for characters that change the direction of others, and those that XML 1.0 forbids.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// Text escaped for use between and within tags.
pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Widths of the characters from space to tilde in Noto Sans, in thousandths of the size of letters.
#[rustfmt::skip]
pub(crate) const WIDTHS: [u16; 95] = [
    260, 269, 408, 646, 572, 831, 732, 225, 300, 300, 551, 572, 268, 322, 268, 372, 572, 572, 572, 572,
    572, 572, 572, 572, 572, 572, 268, 268, 572, 572, 572, 434, 899, 639, 650, 632, 730, 556, 519, 728,
    741, 339, 273, 619, 524, 907, 760, 781, 605, 781, 622, 549, 556, 731, 600, 930, 586, 566, 572, 329,
    372, 329, 572, 444, 580, 561, 615, 480, 615, 564, 344, 615, 618, 258, 258, 534, 258, 935, 618, 605,
    615, 615, 413, 479, 361, 618, 508, 786, 529, 510, 470, 380, 551, 380, 572,
];

/// Width of other characters, about that of a capital letter.
pub(crate) const OTHER_WIDTH: u16 = 640;

/// Width of a text in letters of some size.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    let of = |c: char| {
        let index = (c as usize).checked_sub(' ' as usize);
        index.and_then(|index| WIDTHS.get(index)).copied().unwrap_or(if c == '−' { 572 } else { OTHER_WIDTH })
    };
    let runs = runs(text);
    let sizes = runs.iter().flat_map(|run| {
        let factor = if run.level == Level::Line { 1.0 } else { SMALL };
        run.text.chars().map(move |c| factor * f64::from(of(c)))
    });
    sizes.sum::<f64>() * size / 1000.0
}
