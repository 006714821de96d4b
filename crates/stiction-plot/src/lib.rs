//! Figures as values, drawn as SVG.
//!
//! A [`Figure`] is panels in a grid; a [`Panel`] is two [`Axis`]es and [`Layer`]s: lines, points, bands, marks, heat maps,
//! bars in space, outlines of bodies, arrows. Nothing is drawn until [`Figure::to_svg`] (or, with the feature `png`,
//! `Figure::to_png`), and the same figure gives the same bytes everywhere.
//!
//! ```
//! use stiction_plot::{Axis, Figure, Layer, Panel};
//!
//! let t: Vec<f64> = (0..=100).map(|i| 0.01 * f64::from(i)).collect();
//! let y: Vec<f64> = t.iter().map(|t| 1.0 - 4.905 * t * t).collect();
//! let panel = Panel::new(Axis::new("time", "s"), Axis::new("height of ball", "m"))
//!     .with(Layer::line(t, y).named("ball"))
//!     .with(Layer::vertical_marks(vec![0.4515]).labelled(["impact"]));
//! let svg = Figure::new("A ball falls").with(panel).to_svg();
//! assert!(svg.starts_with("<svg"));
//! ```
//!
//! The picture shows if values cannot be drawn. NaN breaks a line. Infinite values, and values that a logarithmic axis cannot
//! show, leave a gap as well and are counted ([`Figure::left_out`]) in a note above the panel.
//!
//! Reading order: `figure`, `axis`, `layer` (the values), `ticks`, `frame` (data to page), `polyline` (simplification of
//! curves), `layout` (positions of panels and margins), `draw`, `layers`, `legend`, `pen` (SVG), `png`.

// Lengths and counts of a page are not negative where they become integers.
#![allow(clippy::cast_sign_loss)]

mod axis;
mod bars;
mod bounds;
mod draw;
mod figure;
mod frame;
mod heat;
mod layer;
mod layers;
mod layout;
mod legend;
mod palette;
mod pen;
#[cfg(feature = "png")]
mod png;
mod polyline;
mod text;
mod ticks;

pub use axis::{Axis, Scale};
pub use figure::{Figure, Panel};
pub use layer::{Dash, HeatMap, Layer, Marker, Shape, Style};
pub use palette::PALETTE;
#[cfg(feature = "png")]
pub use png::PngError;
pub use ticks::{Tick, Ticks};
