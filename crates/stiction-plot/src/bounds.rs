//! Ranges of the data of a panel, and the number of values that cannot be drawn.

use crate::{
    Axis, Layer, Panel, Scale,
    frame::{Span, is_drawable},
    layer::Shape,
};

/// Margin between data and the ends of an axis, as a fraction of their range, for x and y.
const ROOM: [f64; 2] = [0.02, 0.06];

/// Smallest range, as a fraction of its values; narrower ones show only rounding and are drawn as one value.
const NARROWEST: f64 = 1e-9;

/// Points of a layer; marks have only one of the two coordinates, the other is NaN.
pub(crate) fn points(layer: &Layer) -> Box<dyn Iterator<Item = [f64; 2]> + '_> {
    let pairs = |x: &'_ [f64], y: &'_ [f64]| x.iter().zip(y).map(|(x, y)| [*x, *y]).collect::<Vec<_>>().into_iter();
    match &layer.shape {
        Shape::Line { x, y } | Shape::Points { x, y } | Shape::Steps { x, y } => {
            Box::new(x.iter().zip(y).map(|(x, y)| [*x, *y]))
        }
        Shape::Band { x, low, high } => Box::new(pairs(x, low).chain(pairs(x, high))),
        Shape::VerticalMarks { at, .. } => Box::new(at.iter().map(|x| [*x, f64::NAN])),
        Shape::HorizontalMarks { at, .. } => Box::new(at.iter().map(|y| [f64::NAN, *y])),
        Shape::Heat(map) | Shape::Bars(map) => {
            let ends = |edges: &[f64]| [edges.first(), edges.last()].map(|edge| edge.copied().unwrap_or(f64::NAN));
            let ([left, right], [low, high]) = (ends(&map.x_edges), ends(&map.y_edges));
            Box::new([[left, low], [right, high]].into_iter())
        }
        Shape::Outlines { loops } => Box::new(loops.iter().flatten().copied()),
        Shape::Arrows { from, to } => Box::new(from.iter().chain(to).copied()),
    }
}

/// Number of values of a panel that are infinite, or not positive on a logarithmic axis.
pub(crate) fn left_out(panel: &Panel) -> usize {
    let missing = |value: f64, scale: Scale| !value.is_nan() && !is_drawable(value, scale);
    let all = panel.layers.iter().flat_map(points);
    all.filter(|[x, y]| missing(*x, panel.x.scale) || missing(*y, panel.y.scale)).count()
}

/// The two spans of a panel.
pub(crate) fn spans(panel: &Panel) -> [Span; 2] {
    let filled = panel.layers.iter().all(|layer| matches!(layer.shape, Shape::Heat(_) | Shape::Bars(_)));
    let x = range(&panel.x, panel.layers.iter().flat_map(points).map(|[x, _]| x), ROOM[0], filled);
    // With a chosen range of x only the visible points determine the range of y.
    let visible = panel.layers.iter().flat_map(points).filter(|[at, _]| at.is_nan() || (x[0]..=x[1]).contains(at));
    let y = range(&panel.y, visible.map(|[_, y]| y), ROOM[1], filled);
    [Span::new(&panel.x, x), Span::new(&panel.y, y)]
}

/// Range of an axis: the chosen one, or that of the data with a margin.
fn range(axis: &Axis, values: impl Iterator<Item = f64>, room: f64, tight: bool) -> [f64; 2] {
    if let Some([low, high]) = axis.range
        && is_drawable(low, axis.scale)
        && is_drawable(high, axis.scale)
        && low < high
        && !is_narrow([low, high])
    {
        return [low, high];
    }
    let drawable = values.filter(|value| is_drawable(*value, axis.scale));
    let reach = drawable.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], x| [low.min(x), high.max(x)]);
    match (axis.scale, reach) {
        (Scale::Linear, [low, high]) if low > high => [0.0, 1.0],
        (Scale::Log, [low, high]) if low > high => [0.1, 10.0],
        (Scale::Linear, [low, high]) if is_narrow([low, high]) => {
            let middle = 0.5 * low + 0.5 * high;
            let half = if middle == 0.0 { 1.0 } else { 0.1 * middle.abs() };
            finite([middle - half, middle + half])
        }
        (Scale::Log, [low, high]) if is_narrow([low, high]) => finite([low / 3.0, high * 3.0]),
        (_, reach) if tight => reach,
        (Scale::Linear, [low, high]) => {
            let room = room * (0.5 * high - 0.5 * low) * 2.0;
            finite([low - room, high + room])
        }
        (Scale::Log, [low, high]) => {
            let room = libm::exp10((room * libm::log10(high / low)).min(1.0));
            finite([(low / room).max(f64::MIN_POSITIVE), high * room])
        }
    }
}

/// True if the range is too narrow for distinct ticks.
fn is_narrow([low, high]: [f64; 2]) -> bool {
    0.5 * high - 0.5 * low <= NARROWEST * (0.5 * low).abs().max((0.5 * high).abs())
}

/// The range clamped to finite numbers.
fn finite(range: [f64; 2]) -> [f64; 2] {
    range.map(|x| x.clamp(-f64::MAX, f64::MAX))
}
