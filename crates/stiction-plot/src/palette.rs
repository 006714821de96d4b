//! Colours that are distinguishable with colour-vision deficiency.

use std::fmt::Write;

/// The colours of Okabe and Ito, those with the best contrast on white first.
pub const PALETTE: [&str; 8] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#f0e442"];

/// Colour of lines and letters of axes.
pub(crate) const INK: &str = "#222222";

/// Colour of secondary elements: marks, notes.
pub(crate) const MUTED: &str = "#8a8a8a";

/// Colour of cells without a value.
pub(crate) const NO_VALUE: &str = "#e4e4e4";

/// Stops of the colour map viridis, from dark to bright with uniform steps of lightness.
const HEAT: [[f64; 3]; 9] = [
    [68.0, 1.0, 84.0],
    [71.0, 44.0, 122.0],
    [59.0, 81.0, 139.0],
    [44.0, 113.0, 142.0],
    [33.0, 144.0, 141.0],
    [39.0, 173.0, 129.0],
    [92.0, 200.0, 99.0],
    [170.0, 220.0, 50.0],
    [253.0, 231.0, 37.0],
];

/// Darker version of a colour `#rrggbb`.
pub(crate) fn shaded(colour: &str, light: f64) -> String {
    let level = |at: usize| colour.get(at..at + 2).and_then(|hex| u8::from_str_radix(hex, 16).ok()).unwrap_or(0);
    let mut shaded = String::from("#");
    for at in [1, 3, 5] {
        let _ = write!(shaded, "{:02x}", (f64::from(level(at)) * light.clamp(0.0, 1.0)).round() as i64);
    }
    shaded
}

/// Colour of a fraction between 0 and 1.
pub(crate) fn heat(fraction: f64) -> String {
    let last = HEAT.len() - 1;
    let place = fraction.clamp(0.0, 1.0) * last as f64;
    let below = (place as usize).min(last - 1);
    let part = place - below as f64;
    let [low, high] = [below, below + 1].map(|i| HEAT.get(i).copied().unwrap_or_default());
    let mut colour = String::from("#");
    for (a, b) in low.into_iter().zip(high) {
        let level = (a + part * (b - a)).round();
        // The stops are between 0 and 255.
        let _ = write!(colour, "{:02x}", level as i64);
    }
    colour
}
