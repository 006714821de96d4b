//! Helpers for the figures of cases: series over time, outlines of bodies.

use stiction_plot::{Axis, Figure, Layer};

/// N numbers after every step.
#[derive(Clone, Debug)]
pub(crate) struct Trace<const N: usize> {
    times: Vec<f64>,
    columns: [Vec<f64>; N],
}

impl<const N: usize> Default for Trace<N> {
    fn default() -> Self {
        Self { times: Vec::new(), columns: [const { Vec::new() }; N] }
    }
}

impl<const N: usize> Trace<N> {
    pub(crate) fn push(&mut self, time: f64, numbers: [f64; N]) {
        self.times.push(time);
        self.columns.iter_mut().zip(numbers).for_each(|(column, number)| column.push(number));
    }

    pub(crate) fn times(&self) -> &[f64] {
        &self.times
    }

    /// One of the columns; empty if there are fewer.
    pub(crate) fn column(&self, index: usize) -> &[f64] {
        self.columns.get(index).map_or(&[], Vec::as_slice)
    }

    /// A column over time.
    pub(crate) fn line(&self, index: usize) -> Layer {
        Layer::line(self.times.clone(), self.column(index).to_vec())
    }

    /// One column over another.
    pub(crate) fn path(&self, x: usize, y: usize) -> Layer {
        Layer::line(self.column(x).to_vec(), self.column(y).to_vec())
    }
}

/// Axis of most figures.
pub(crate) fn time_axis() -> Axis {
    Axis::new("time", "s")
}

/// Corners of a body given in its own axes, in the plane at (x, y, angle).
pub(crate) fn outline(corners: &[[f64; 2]], [x, y, angle]: [f64; 3]) -> Vec<[f64; 2]> {
    let (sin, cos) = libm::sincos(angle);
    corners.iter().map(|[u, v]| [x + cos * u - sin * v, y + sin * u + cos * v]).collect()
}

/// A rectangle of these half-widths at (x, y, angle).
pub(crate) fn rectangle([a, b]: [f64; 2], place: [f64; 3]) -> Vec<[f64; 2]> {
    outline(&[[-a, -b], [a, -b], [a, b], [-a, b]], place)
}

/// A figure of several columns of panels, each as large as is readable on a page.
pub(crate) fn grid(columns: usize) -> Figure {
    Figure::new("").columns(columns).panel_size(95.0, 68.0)
}
