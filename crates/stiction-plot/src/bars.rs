//! Bars over a grid of cells, seen from above one corner: a three-dimensional histogram.
//!
//! The ground is the unit square of (u, v), with u along the x axis and v against the y axis. So x increases along the front
//! left edge and y along the front right one. Parallel projection of (u, v, w) with w upwards:
//!
//! ```text
//! page x = middle + across (u − v)        page y = back + down (u + v) − up w
//! ```

use crate::{
    HeatMap, Ticks,
    frame::{Frame, Rect},
    heat,
    layout::{GAP, LABEL, NUMBER, Placed, TICK},
    palette::{self, INK, NO_VALUE},
    pen::{Anchor, Fill, Letters, Pen, Stroke},
    text::width,
};

/// Largest number of cells along one side; beyond it neighbours are averaged.
const FINEST: usize = 60;

/// Gap between neighbouring bars, as a fraction of a cell on each side.
const APART: f64 = 0.06;

/// Slope of the ground on the page, and the largest fraction of the height that it takes.
const STEEPNESS: f64 = 0.5;
const MOST_GROUND: f64 = 0.55;

/// Brightness of the sides of a bar, relative to its top.
const LEFT_LIGHT: f64 = 0.84;
const RIGHT_LIGHT: f64 = 0.66;

/// Space for labels below the ground, and for those at its right corner, in points of 1/72 inch.
pub(crate) const BELOW: f64 = 30.0;
pub(crate) const BESIDE: f64 = 22.0;

const EDGE: Stroke<'static> = Stroke { colour: INK, width: 0.6, dashes: "" };
const WALL: Stroke<'static> = Stroke { colour: "#dddddd", width: 0.5, dashes: "" };

/// Projection of the unit cube to the page.
#[derive(Clone, Copy)]
struct View {
    middle: f64,
    back: f64,
    across: f64,
    down: f64,
    up: f64,
}

impl View {
    fn of(area: &Rect) -> Self {
        let across = 0.5 * area.width;
        let down = (STEEPNESS * across).min(0.5 * MOST_GROUND * area.height);
        let up = area.height - 2.0 * down;
        Self { middle: area.left + across, back: area.top + up, across, down, up }
    }

    fn place(&self, [u, v, w]: [f64; 3]) -> [f64; 2] {
        [self.middle + self.across * (u - v), self.back + self.down * (u + v) - self.up * w]
    }
}

/// Range of the vertical axis: the chosen one, or from zero to the data.
fn range(map: &HeatMap) -> [f64; 2] {
    let [low, high] = heat::range(map);
    if map.range.is_some() { [low, high] } else { [low.min(0.0), high.max(0.0)] }
}

/// Ticks of the vertical axis.
pub(crate) fn ticks(map: &HeatMap, height: f64) -> Ticks {
    Ticks::linear(range(map), ((0.5 * height / 22.0) as usize).max(3))
}

/// Label of the vertical axis.
pub(crate) fn label(map: &HeatMap) -> String {
    heat::label(map)
}

/// Draws walls, bars and axes in the plotting area of a panel.
pub(crate) fn draw(placed: &Placed<'_>, map: &HeatMap, pen: &mut Pen<'_>) {
    let (frame, view) = (&placed.frame, View::of(&placed.frame.area));
    let map = &heat::coarsened(map, FINEST);
    let [low, high] = range(map);
    let upright = ticks(map, frame.area.height);
    let fraction = |value: f64| (0.5 * value - 0.5 * low) / (0.5 * high - 0.5 * low);
    walls(&view, upright.major.iter().map(|tick| fraction(tick.value)), pen);
    // Bars are drawn from back to front, so that a bar covers those behind it.
    let (columns, rows) = (map.x_edges.len().saturating_sub(1), map.y_edges.len().saturating_sub(1));
    for row in (0..rows).rev() {
        for column in 0..columns {
            let index = row * columns + column;
            let Some(ground) = ground(map, frame, [column, row]) else { continue };
            let value = map.values.get(index).copied().filter(|x| x.is_finite());
            let note = map.notes.get(index).map_or("", String::as_str);
            pen.noted(note, |pen| bar(&view, ground, value.map(|x| fraction(x).clamp(0.0, 1.0)), pen));
        }
    }
    axes(placed, &view, pen);
    let left = view.place([0.0, 1.0, 0.0]);
    let place = |value: f64| Some(left[1] - view.up * fraction(value));
    crate::draw::side_axis(&upright, left[0], -1.0, place, pen);
    let beside = left[0] - TICK - GAP - crate::layout::widest(&upright) - 6.0;
    let letters = Letters::new(LABEL, Anchor::Middle, INK).upwards();
    pen.text([beside, left[1] - 0.5 * view.up], &label(map), letters);
}

/// Base of the bar of a cell, reduced by the gap: least and greatest u, least and greatest v.
fn ground(map: &HeatMap, frame: &Frame, [column, row]: [usize; 2]) -> Option<[f64; 4]> {
    let x = |k: usize| map.x_edges.get(k).and_then(|x| frame.x.fraction(*x));
    let y = |k: usize| map.y_edges.get(k).and_then(|y| frame.y.fraction(*y));
    let (u, v) = ([x(column)?, x(column + 1)?], [1.0 - y(row + 1)?, 1.0 - y(row)?]);
    let shrunk = |[from, to]: [f64; 2]| [from + APART * (to - from), to - APART * (to - from)];
    let ([u0, u1], [v0, v1]) = (shrunk(u), shrunk(v));
    Some([u0, u1, v0, v1])
}

/// Draws a bar of this height; a grey plate for a cell without a value.
fn bar(view: &View, [u0, u1, v0, v1]: [f64; 4], height: Option<f64>, pen: &mut Pen<'_>) {
    let w = height.unwrap_or(0.0);
    let colour = height.map_or_else(|| NO_VALUE.to_owned(), palette::heat);
    let mut face = |corners: [[f64; 3]; 4], light: f64| {
        let colour = palette::shaded(&colour, light);
        let edge = palette::shaded(&colour, 0.8);
        let corners = corners.map(|corner| view.place(corner)).to_vec();
        pen.areas(&[corners], Fill::solid(&colour), Some(Stroke { colour: &edge, width: 0.3, dashes: "" }));
    };
    if w > 0.0 {
        face([[u0, v1, 0.0], [u1, v1, 0.0], [u1, v1, w], [u0, v1, w]], LEFT_LIGHT);
        face([[u1, v0, 0.0], [u1, v1, 0.0], [u1, v1, w], [u1, v0, w]], RIGHT_LIGHT);
    }
    face([[u0, v0, w], [u1, v0, w], [u1, v1, w], [u0, v1, w]], 1.0);
}

/// Draws the ground and the two walls behind it, with grid lines at these heights.
fn walls(view: &View, heights: impl Iterator<Item = f64>, pen: &mut Pen<'_>) {
    let line = |corners: &[[f64; 3]]| corners.iter().map(|corner| view.place(*corner)).collect::<Vec<_>>();
    let flat: Vec<_> = heights.map(|w| line(&[[0.0, 1.0, w], [0.0, 0.0, w], [1.0, 0.0, w]])).collect();
    let upright = [[0.0, 1.0], [0.0, 0.0], [1.0, 0.0]].map(|[u, v]| line(&[[u, v, 0.0], [u, v, 1.0]]));
    pen.curves(&flat, WALL);
    pen.curves(&upright, WALL);
    let ground = line(&[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]]);
    pen.areas(&[ground], Fill::solid("#f7f7f7"), Some(WALL));
}

/// Draws ticks and labels along the two front edges.
fn axes(placed: &Placed<'_>, view: &View, pen: &mut Pen<'_>) {
    let [left, front, right] = [[0.0, 1.0, 0.0], [1.0, 1.0, 0.0], [1.0, 0.0, 0.0]].map(|corner| view.place(corner));
    pen.curves(&[vec![left, front, right], vec![left, view.place([0.0, 1.0, 1.0])]], EDGE);
    let Placed { panel, frame, x_ticks, y_ticks, .. } = placed;
    let along = |fraction: f64| view.place([fraction, 1.0, 0.0]);
    edge(x_ticks, |x| frame.x.fraction(x).map(along), -1.0, pen);
    let along = |fraction: f64| view.place([1.0, 1.0 - fraction, 0.0]);
    edge(y_ticks, |y| frame.y.fraction(y).map(along), 1.0, pen);
    for (text, corner, side) in [(panel.x.text(), left, -1.0), (panel.y.text(), right, 1.0)] {
        let anchor = if side < 0.0 { Anchor::End } else { Anchor::Start };
        let middle = [0.5 * (corner[0] + front[0]), 0.5 * (corner[1] + front[1])];
        pen.text([middle[0] + side * 14.0, middle[1] + 25.0], &text, Letters::new(LABEL, anchor, INK));
    }
}

/// Draws ticks and numbers along an edge; `side` is -1 on the left and 1 on the right.
fn edge(ticks: &Ticks, place: impl Fn(f64) -> Option<[f64; 2]>, side: f64, pen: &mut Pen<'_>) {
    let out = [0.5 * side * TICK, 0.87 * TICK];
    let mut free: Option<[f64; 2]> = None;
    let anchor = if side < 0.0 { Anchor::End } else { Anchor::Start };
    for tick in &ticks.major {
        let Some([x, y]) = place(tick.value) else { continue };
        pen.curves(&[vec![[x, y], [x + out[0], y + out[1]]]], EDGE);
        // A number that would overlap the previous one is omitted.
        let apart = |[px, py]: [f64; 2]| (y - py).abs() >= NUMBER || (x - px).abs() >= width(&tick.label, NUMBER) + 3.0;
        if free.is_none_or(apart) {
            let at = [x + out[0] + 1.5 * side, y + out[1] + 0.72 * NUMBER];
            pen.text(at, &tick.label, Letters::new(NUMBER, anchor, INK));
            free = Some([x, y]);
        }
    }
}
