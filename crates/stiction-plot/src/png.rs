//! Raster pictures: the same SVG with letters as outlines of an embedded font, independent of installed fonts.

use std::fmt::Write;

use resvg::{
    tiny_skia::{Pixmap, Transform},
    usvg::{Options, Tree},
};
use ttf_parser::{Face, OutlineBuilder};

use crate::{
    Figure, draw,
    pen::{Anchor, Letters, Outlines, number, rise},
    text::{Level, SMALL, runs},
};

/// Error of the conversion to a raster picture.
#[derive(Debug, thiserror::Error)]
pub enum PngError {
    /// Too many pixels, or none.
    #[error("a picture of {width} by {height} pixels is outside 1 to {MOST_PIXELS} pixels in all")]
    Size {
        /// Pixels across.
        width: f64,
        /// Pixels down.
        height: f64,
    },
    /// The renderer or the encoder failed.
    #[error("the picture could not be rendered: {0}")]
    Render(String),
}

/// Largest number of pixels of a picture: 256 MB of memory.
const MOST_PIXELS: u32 = 64_000_000;

impl Figure {
    /// The picture as a PNG file of this resolution; journals require 300.
    pub fn to_png(&self, dots_per_inch: f64) -> Result<Vec<u8>, PngError> {
        let face = Face::parse(notosans::REGULAR_TTF, 0).map_err(|error| PngError::Render(error.to_string()))?;
        let svg = draw::figure(self, Some(&Font { face }));
        let tree = Tree::from_str(&svg, &Options::default()).map_err(|error| PngError::Render(error.to_string()))?;
        // The renderer counts 96 units to the inch.
        let scale = dots_per_inch / 96.0;
        let [width, height] =
            [tree.size().width(), tree.size().height()].map(|units| (f64::from(units) * scale).round());
        let fits = width >= 1.0 && height >= 1.0 && width * height <= f64::from(MOST_PIXELS);
        if !fits {
            return Err(PngError::Size { width, height });
        }
        let mut pixels = Pixmap::new(width as u32, height as u32).ok_or(PngError::Size { width, height })?;
        resvg::render(&tree, Transform::from_scale(scale as f32, scale as f32), &mut pixels.as_mut());
        pixels.encode_png().map_err(|error| PngError::Render(error.to_string()))
    }
}

/// The embedded font.
pub(crate) struct Font<'f> {
    face: Face<'f>,
}

impl Font<'_> {
    /// Width of a character in the units of the font.
    fn advance(&self, c: char) -> f64 {
        let glyph = self.face.glyph_index(c).unwrap_or_default();
        f64::from(self.face.glyph_hor_advance(glyph).unwrap_or(0))
    }
}

impl Outlines for Font<'_> {
    fn outlines(&self, at: [f64; 2], text: &str, letters: Letters) -> String {
        let unit = letters.size / f64::from(self.face.units_per_em());
        let runs = runs(text);
        let size = |level| if level == Level::Line { 1.0 } else { SMALL };
        let length: f64 = runs.iter().flat_map(|run| run.text.chars().map(|c| size(run.level) * self.advance(c))).sum();
        let mut along = -unit
            * length
            * match letters.anchor {
                Anchor::Start => 0.0,
                Anchor::Middle => 0.5,
                Anchor::End => 1.0,
            };
        let mut path = Path { data: String::new(), at, along: 0.0, up: 0.0, unit, upwards: letters.upwards };
        for run in &runs {
            path.unit = unit * size(run.level);
            path.up = letters.size * rise(run.level);
            for c in run.text.chars() {
                path.along = along;
                self.face.outline_glyph(self.face.glyph_index(c).unwrap_or_default(), &mut path);
                along += path.unit * self.advance(c);
            }
        }
        path.data
    }
}

/// Collects outlines as SVG path data.
struct Path {
    data: String,
    at: [f64; 2],
    /// Origin of the glyph, along the line and above it.
    along: f64,
    up: f64,
    unit: f64,
    upwards: bool,
}

impl Path {
    fn point(&mut self, command: &str, points: &[[f32; 2]]) {
        self.data.push_str(command);
        for [x, y] in points {
            let along = self.along + self.unit * f64::from(*x);
            let up = self.up + self.unit * f64::from(*y);
            let [dx, dy] = if self.upwards { [-up, -along] } else { [along, -up] };
            let _ = write!(self.data, "{} {} ", number(self.at[0] + dx), number(self.at[1] + dy));
        }
    }
}

impl OutlineBuilder for Path {
    fn move_to(&mut self, x: f32, y: f32) {
        self.point("M", &[[x, y]]);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.point("L", &[[x, y]]);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.point("Q", &[[x1, y1], [x, y]]);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.point("C", &[[x1, y1], [x2, y2], [x, y]]);
    }

    fn close(&mut self) {
        self.data.push('Z');
    }
}

#[cfg(test)]
mod tests {
    use ttf_parser::Face;

    use super::Font;
    use crate::text::WIDTHS;

    #[test]
    fn the_table_of_widths_is_that_of_the_font() {
        let font = Font { face: Face::parse(notosans::REGULAR_TTF, 0).expect("a font") };
        let scale = 1000.0 / f64::from(font.face.units_per_em());
        let widths: Vec<_> = (' '..='~').map(|c| (scale * font.advance(c)).round() as u16).collect();
        assert_eq!(widths, WIDTHS);
        for c in "−×·²°µμωσ…⁻₀".chars().filter(|c| !"⁻₀".contains(*c)) {
            assert!(font.face.glyph_index(c).is_some(), "{c} is missing");
        }
    }
}
