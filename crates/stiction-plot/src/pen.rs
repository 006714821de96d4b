//! Writes SVG: numbers with two decimals, text escaped, no identifiers.

use std::fmt::Write;

use crate::{
    frame::Rect,
    text::{Level, SMALL, escaped, runs, tame},
};

/// SVG attributes of a white border around letters.
const HALO: &str = " stroke=\"#ffffff\" stroke-width=\"2\" stroke-linejoin=\"round\" paint-order=\"stroke\"";

/// Letters as outlines, for pictures that must not depend on fonts.
pub(crate) trait Outlines {
    /// The outlines of a text as data of an SVG path.
    fn outlines(&self, at: [f64; 2], text: &str, letters: Letters) -> String;
}

/// End of a text that lies at its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// Style of letters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Letters {
    pub(crate) size: f64,
    pub(crate) anchor: Anchor,
    pub(crate) colour: &'static str,
    /// True for vertical text that reads upwards.
    pub(crate) upwards: bool,
    /// True for a white border, so that lines below do not impair legibility.
    pub(crate) halo: bool,
}

impl Letters {
    /// Ordinary letters.
    pub(crate) const fn new(size: f64, anchor: Anchor, colour: &'static str) -> Self {
        Self { size, anchor, colour, upwards: false, halo: false }
    }

    pub(crate) const fn upwards(self) -> Self {
        Self { upwards: true, ..self }
    }

    pub(crate) const fn with_halo(self) -> Self {
        Self { halo: true, ..self }
    }
}

/// Style of lines.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stroke<'a> {
    pub(crate) colour: &'a str,
    pub(crate) width: f64,
    /// Lengths of dashes and gaps; empty for none.
    pub(crate) dashes: &'a str,
}

/// Style of filled areas.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fill<'a> {
    pub(crate) colour: &'a str,
    /// True for a transparent fill.
    pub(crate) is_thin: bool,
}

impl<'a> Fill<'a> {
    pub(crate) const NONE: Fill<'static> = Fill::solid("none");

    pub(crate) const fn solid(colour: &'a str) -> Self {
        Self { colour, is_thin: false }
    }

    pub(crate) const fn thin(colour: &'a str) -> Self {
        Self { colour, is_thin: true }
    }
}

/// SVG writer.
pub(crate) struct Pen<'f> {
    svg: String,
    /// Outlines of letters; without it letters stay text, in a font of the viewer.
    font: Option<&'f dyn Outlines>,
}

impl<'f> Pen<'f> {
    pub(crate) fn new(font: Option<&'f dyn Outlines>) -> Self {
        Self { svg: String::new(), font }
    }

    pub(crate) fn finish(mut self) -> String {
        self.svg.push_str("</svg>\n");
        self.svg
    }

    /// Appends SVG text.
    pub(crate) fn raw(&mut self, svg: &str) {
        self.svg.push_str(svg);
    }

    /// Draws with `draw` and adds a tooltip; raster pictures have none.
    pub(crate) fn noted(&mut self, note: &str, draw: impl FnOnce(&mut Self)) {
        let has_note = !note.is_empty() && self.font.is_none();
        if has_note {
            let _ = write!(self.svg, "<g><title>{}</title>", escaped(&tame(note)));
        }
        draw(self);
        if has_note {
            self.svg.push_str("</g>\n");
        }
    }

    pub(crate) fn rect(&mut self, area: &Rect, fill: Fill<'_>, stroke: Option<Stroke<'_>>) {
        let Rect { left, top, width, height } = *area;
        let [x, y, w, h] = [left, top, width, height].map(number);
        let _ = write!(self.svg, "<rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\"");
        self.fill(fill);
        if let Some(stroke) = stroke {
            self.stroke(stroke);
        }
        self.svg.push_str("/>\n");
    }

    /// Draws curves in one element; a curve of one point becomes a dot.
    pub(crate) fn curves(&mut self, pieces: &[Vec<[f64; 2]>], stroke: Stroke<'_>) {
        self.path(pieces, false, Fill::NONE, Some(stroke));
    }

    /// Draws closed areas in one element.
    pub(crate) fn areas(&mut self, pieces: &[Vec<[f64; 2]>], fill: Fill<'_>, stroke: Option<Stroke<'_>>) {
        self.path(pieces, true, fill, stroke);
    }

    fn path(&mut self, pieces: &[Vec<[f64; 2]>], closed: bool, fill: Fill<'_>, stroke: Option<Stroke<'_>>) {
        if pieces.iter().all(Vec::is_empty) {
            return;
        }
        self.svg.push_str("<path d=\"");
        for piece in pieces {
            let mut previous = (String::new(), String::new());
            for (i, [x, y]) in piece.iter().enumerate() {
                let next = (number(*x), number(*y));
                if i == 0 {
                    let _ = write!(self.svg, "M{} {}", next.0, next.1);
                } else if next != previous {
                    let _ = write!(self.svg, "L{} {}", next.0, next.1);
                }
                previous = next;
            }
            if piece.len() == 1 {
                self.svg.push_str("h0");
            }
            if closed {
                self.svg.push('Z');
            }
        }
        self.svg.push('"');
        self.fill(fill);
        if let Some(stroke) = stroke {
            self.stroke(stroke);
            self.svg.push_str(" stroke-linejoin=\"round\" stroke-linecap=\"");
            self.svg.push_str(if stroke.dashes.is_empty() { "round\"" } else { "butt\"" });
        }
        self.svg.push_str("/>\n");
    }

    fn fill(&mut self, Fill { colour, is_thin }: Fill<'_>) {
        let _ = write!(self.svg, " fill=\"{colour}\"");
        if is_thin {
            self.svg.push_str(" fill-opacity=\"0.18\"");
        }
    }

    fn stroke(&mut self, Stroke { colour, width, dashes }: Stroke<'_>) {
        let _ = write!(self.svg, " stroke=\"{colour}\" stroke-width=\"{}\"", number(width));
        if !dashes.is_empty() {
            let _ = write!(self.svg, " stroke-dasharray=\"{dashes}\"");
        }
    }

    /// Draws text with its baseline at a position.
    pub(crate) fn text(&mut self, [x, y]: [f64; 2], text: &str, letters: Letters) {
        let text = tame(text);
        if text.is_empty() {
            return;
        }
        let halo = if letters.halo { HALO } else { "" };
        match self.font {
            None => self.letters([x, y], &text, letters),
            Some(font) => {
                let outlines = font.outlines([x, y], &text, letters);
                let _ = writeln!(self.svg, "<path d=\"{outlines}\" fill=\"{}\"{halo}/>", letters.colour);
            }
        }
    }

    fn letters(&mut self, [x, y]: [f64; 2], text: &str, letters: Letters) {
        let [x, y, size] = [x, y, letters.size].map(number);
        let anchor = match letters.anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let _ = write!(self.svg, "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" text-anchor=\"{anchor}\"");
        let _ = write!(self.svg, " fill=\"{}\"", letters.colour);
        if letters.halo {
            self.svg.push_str(HALO);
        }
        if letters.upwards {
            let _ = write!(self.svg, " transform=\"rotate(-90 {x} {y})\"");
        }
        self.svg.push('>');
        let mut height = 0.0;
        for run in runs(text) {
            let words = escaped(&run.text);
            let wanted = rise(run.level) * letters.size;
            if wanted == 0.0 && height == 0.0 {
                self.svg.push_str(&words);
                continue;
            }
            let _ = write!(self.svg, "<tspan dy=\"{}\"", number(height - wanted));
            if run.level != Level::Line {
                let _ = write!(self.svg, " font-size=\"{}\"", number(SMALL * letters.size));
            }
            let _ = write!(self.svg, ">{words}</tspan>");
            height = wanted;
        }
        self.svg.push_str("</text>\n");
    }
}

/// Height of letters above the line, relative to their size.
pub(crate) fn rise(level: Level) -> f64 {
    match level {
        Level::Line => 0.0,
        Level::Raised => 0.38,
        Level::Lowered => -0.18,
    }
}

/// A number with at most two decimals, the same on every machine.
pub(crate) fn number(x: f64) -> String {
    // The clamp is far outside of any page; a NaN would become zero, but does not occur.
    let hundredths = (x.clamp(-1e7, 1e7) * 100.0).round() as i64;
    let (sign, size) = (if hundredths < 0 { "-" } else { "" }, hundredths.unsigned_abs());
    match (size / 100, size % 100) {
        (whole, 0) => format!("{sign}{whole}"),
        (whole, part) if part % 10 == 0 => format!("{sign}{whole}.{}", part / 10),
        (whole, part) => format!("{sign}{whole}.{part:02}"),
    }
}
