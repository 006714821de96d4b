//! Heat maps and their colour bars.

use crate::{
    Axis, HeatMap, Ticks,
    frame::{Frame, Rect},
    layout::{GAP, LABEL, TICK, widest},
    palette,
    pen::{Fill, Pen},
};

/// Largest number of cells along one side, which a page can resolve; beyond it neighbours are averaged.
const FINEST: usize = 400;

/// Width of the bar, and its distance from the panel.
const BAR: f64 = 9.0;
const APART: f64 = 9.0;

/// The colour bar beside a panel.
pub(crate) struct Bar {
    pub(crate) area: Rect,
    pub(crate) range: [f64; 2],
    pub(crate) ticks: Ticks,
    pub(crate) label: String,
}

/// The values at the two ends of the colours.
pub(crate) fn range(map: &HeatMap) -> [f64; 2] {
    if let Some([low, high]) = map.range
        && low < high
        && low.is_finite()
        && high.is_finite()
    {
        return [low, high];
    }
    let finite = map.values.iter().filter(|value| value.is_finite());
    let [low, high] = finite.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], x| [low.min(*x), high.max(*x)]);
    if low < high {
        [low, high]
    } else if low.is_finite() {
        [low - 0.5 * (1.0 + low.abs()), low + 0.5 * (1.0 + low.abs())]
    } else {
        [0.0, 1.0]
    }
}

pub(crate) fn label(map: &HeatMap) -> String {
    Axis::new(&*map.label, &*map.unit).text()
}

fn ticks(map: &HeatMap, height: f64) -> Ticks {
    Ticks::linear(range(map), ((height / 22.0) as usize).max(3))
}

/// Width that the bar needs on the right.
pub(crate) fn bar_width(map: &HeatMap, height: f64) -> f64 {
    let label = if label(map).is_empty() { 0.0 } else { LABEL + 5.0 };
    APART + BAR + TICK + GAP + widest(&ticks(map, height)) + label
}

/// The bar beside the plotting area `beside`.
pub(crate) fn bar(map: &HeatMap, beside: &Rect) -> Bar {
    Bar {
        area: Rect { left: beside.right() + APART, width: BAR, ..*beside },
        range: range(map),
        ticks: ticks(map, beside.height),
        label: label(map),
    }
}

/// Draws the cells; neighbours of one colour and tooltip in a row become one rectangle.
pub(crate) fn draw(map: &HeatMap, frame: &Frame, pen: &mut Pen<'_>) {
    let map = &coarsened(map, FINEST);
    let [low, high] = range(map);
    let columns = map.x_edges.len().saturating_sub(1);
    pen.raw("<g shape-rendering=\"crispEdges\">\n");
    for (row, edges) in map.y_edges.windows(2).enumerate() {
        let ys = edges.iter().filter_map(|y| frame.y(*y)).collect::<Vec<_>>();
        let [bottom, top] = ys.as_slice() else { continue };
        let values = map.values.iter().skip(row * columns).take(columns);
        let colours = values.map(|value| match value {
            x if x.is_finite() => palette::heat((0.5 * x - 0.5 * low) / (0.5 * high - 0.5 * low)),
            _ => palette::NO_VALUE.to_owned(),
        });
        let notes = (0..columns).map(|column| map.notes.get(row * columns + column).map_or("", String::as_str));
        let cells: Vec<_> = colours.zip(notes).collect();
        let mut start = 0;
        for same in cells.chunk_by(|a, b| a == b) {
            let end = start + same.len();
            let ends = [start, end].map(|i| map.x_edges.get(i).and_then(|x| frame.x(*x)));
            if let ([Some(left), Some(right)], Some((colour, note))) = (ends, same.first()) {
                let cell = Rect { left, top: *top, width: right - left, height: bottom - top };
                pen.noted(note, |pen| pen.rect(&cell, Fill::solid(colour), None));
            }
            start = end;
        }
    }
    pen.raw("</g>\n");
}

/// The same map with neighbouring cells averaged if there are more than `finest` along a side.
pub(crate) fn coarsened(map: &HeatMap, finest: usize) -> HeatMap {
    let [columns, rows] = [&map.x_edges, &map.y_edges].map(|edges| edges.len().saturating_sub(1));
    let [wide, high] = [columns, rows].map(|n| n.div_ceil(finest).max(1));
    if (wide == 1 && high == 1) || columns == 0 || rows == 0 {
        return map.clone();
    }
    let thinned = |edges: &[f64], by: usize| {
        let mut kept: Vec<f64> = edges.iter().step_by(by).copied().collect();
        if !(edges.len() - 1).is_multiple_of(by) {
            kept.extend(edges.last());
        }
        kept
    };
    let (x_edges, y_edges) = (thinned(&map.x_edges, wide), thinned(&map.y_edges, high));
    let mean = |row: usize, column: usize| {
        let cells = (row * high..((row + 1) * high).min(rows))
            .flat_map(|i| (column * wide..((column + 1) * wide).min(columns)).map(move |j| i * columns + j));
        let values = cells.filter_map(|i| map.values.get(i)).filter(|x| x.is_finite());
        let (sum, count) = values.fold((0.0, 0.0), |(sum, count), x| (sum + x, count + 1.0));
        sum / count
    };
    let values = (0..y_edges.len() - 1).flat_map(|i| (0..x_edges.len() - 1).map(move |j| (i, j)));
    let values = values.map(|(i, j)| mean(i, j)).collect();
    HeatMap { x_edges, y_edges, values, notes: Vec::new(), ..map.clone() }
}

/// Draws the colours of the bar; its ticks are drawn like those of an axis.
pub(crate) fn draw_bar(bar: &Bar, pen: &mut Pen<'_>) {
    const STEPS: u32 = 64;
    pen.raw("<g shape-rendering=\"crispEdges\">\n");
    let height = bar.area.height / f64::from(STEPS);
    for i in 0..STEPS {
        let top = bar.area.bottom() - f64::from(i + 1) * height;
        let colour = palette::heat((f64::from(i) + 0.5) / f64::from(STEPS));
        pen.rect(&Rect { top, height, ..bar.area }, Fill::solid(&colour), None);
    }
    pen.raw("</g>\n");
}
