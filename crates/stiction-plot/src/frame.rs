//! Mapping from data to the page.

use crate::{Axis, Scale};

/// A rectangle of the page, in points of 1/72 inch, y downwards.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Rect {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

impl Rect {
    pub(crate) fn right(&self) -> f64 {
        self.left + self.width
    }

    pub(crate) fn bottom(&self) -> f64 {
        self.top + self.height
    }

    /// The rectangle enlarged by a margin on all sides.
    pub(crate) fn grown(&self, by: f64) -> Self {
        Self { left: self.left - by, top: self.top - by, width: self.width + 2.0 * by, height: self.height + 2.0 * by }
    }

    pub(crate) fn contains(&self, [x, y]: [f64; 2]) -> bool {
        (self.left..=self.right()).contains(&x) && (self.top..=self.bottom()).contains(&y)
    }
}

/// The values of an axis between its ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Span {
    pub(crate) scale: Scale,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Span {
    pub(crate) fn new(axis: &Axis, [low, high]: [f64; 2]) -> Self {
        Self { scale: axis.scale, low, high }
    }

    /// Fraction of the axis below a value: 0 at its beginning, 1 at its end; `None` if the value cannot be drawn.
    pub(crate) fn fraction(&self, value: f64) -> Option<f64> {
        if !is_drawable(value, self.scale) {
            return None;
        }
        // Values are halved, so that no difference of finite numbers overflows.
        let through = match self.scale {
            Scale::Linear => |x: f64| 0.5 * x,
            Scale::Log => libm::log10,
        };
        let [value, low, high] = [value, self.low, self.high].map(through);
        Some((value - low) / (high - low))
    }
}

/// True if an axis can show a value.
pub(crate) fn is_drawable(value: f64, scale: Scale) -> bool {
    value.is_finite() && (scale == Scale::Linear || value > 0.0)
}

/// The area of a panel in which data are drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Frame {
    pub(crate) area: Rect,
    pub(crate) x: Span,
    pub(crate) y: Span,
}

impl Frame {
    pub(crate) fn x(&self, value: f64) -> Option<f64> {
        self.x.fraction(value).map(|fraction| self.area.left + fraction * self.area.width)
    }

    pub(crate) fn y(&self, value: f64) -> Option<f64> {
        self.y.fraction(value).map(|fraction| self.area.bottom() - fraction * self.area.height)
    }

    /// Position of a point on the page; `None` if it cannot be drawn.
    pub(crate) fn place(&self, [x, y]: [f64; 2]) -> Option<[f64; 2]> {
        Some([self.x(x)?, self.y(y)?])
    }
}
