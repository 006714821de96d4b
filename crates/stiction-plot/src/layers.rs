//! Draws the layers of a panel.

use std::collections::BTreeSet;

use crate::{
    Dash, Layer, Marker, PALETTE, Panel, bounds,
    frame::{Frame, Rect},
    heat,
    layer::Shape,
    layout::NOTE,
    palette::{INK, MUTED},
    pen::{Anchor, Fill, Letters, Pen, Stroke},
    polyline::{self, pieces},
};

/// Distance beyond the plotting area at which data are clipped, in points of 1/72 inch; the picture is clipped at its border.
const BEYOND: f64 = 20.0;

/// Final colour, dashes and width of a layer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Look {
    pub(crate) colour: &'static str,
    pub(crate) dash: Dash,
    pub(crate) marker: Option<Marker>,
    pub(crate) width: f64,
}

impl Look {
    pub(crate) fn stroke(&self) -> Stroke<'static> {
        let dashes = match self.dash {
            Dash::Solid => "",
            Dash::Dashed => "5 2.5",
            Dash::Dotted => "1.2 2",
            Dash::DashDotted => "5 2 1.2 2",
        };
        Stroke { colour: self.colour, width: self.width, dashes }
    }
}

/// Look of layer number `index` of a panel: colours of the palette in turn, then again with other dashes.
pub(crate) fn look_of(panel: &Panel, index: usize) -> Look {
    let counts = |layer: &Layer| {
        let is_mark = matches!(
            layer.shape,
            Shape::VerticalMarks { .. } | Shape::HorizontalMarks { .. } | Shape::Heat(_) | Shape::Bars(_)
        );
        !is_mark && !layer.style.muted && layer.style.colour.is_none()
    };
    let Some(layer) = panel.layers.get(index) else {
        return Look { colour: INK, dash: Dash::Solid, marker: None, width: 1.0 };
    };
    let automatic = panel.layers.iter().take(index).filter(|layer| counts(layer)).count();
    let number = layer.style.colour.unwrap_or(automatic);
    let is_mark = matches!(layer.shape, Shape::VerticalMarks { .. } | Shape::HorizontalMarks { .. });
    let grey = layer.style.muted || (is_mark && layer.style.colour.is_none());
    let rounds = [Dash::Solid, Dash::Dashed, Dash::Dotted, Dash::DashDotted];
    let by_number = rounds.get(number / PALETTE.len() % rounds.len()).copied().unwrap_or_default();
    let dash = if is_mark { Dash::Dashed } else { by_number };
    let width = if is_mark { 0.7 } else { 1.2 };
    Look {
        colour: if grey { MUTED } else { PALETTE.get(number % PALETTE.len()).copied().unwrap_or(INK) },
        dash: layer.style.dash.unwrap_or(if grey && !is_mark { Dash::Solid } else { dash }),
        marker: layer.style.marker.or(matches!(layer.shape, Shape::Points { .. }).then_some(Marker::Disc)),
        width: layer.style.width.filter(|width| width.is_finite() && *width > 0.0).unwrap_or(width),
    }
}

/// Draws one layer.
pub(crate) fn layer(data: &Layer, look: &Look, frame: &Frame, pen: &mut Pen<'_>) {
    let near = frame.area.grown(BEYOND);
    let stroke = look.stroke();
    match &data.shape {
        Shape::Line { .. } => {
            pen.curves(&pieces(bounds::points(data).map(|p| frame.place(p)), &near), stroke);
            if let Some(marker) = look.marker {
                markers(data, marker, look, frame, pen);
            }
        }
        Shape::Steps { .. } => pen.curves(&pieces(stairs(data, frame), &near), stroke),
        Shape::Points { .. } => markers(data, look.marker.unwrap_or_default(), look, frame, pen),
        Shape::Band { x, low, high } => band([x, low, high], look, frame, pen),
        Shape::VerticalMarks { at, labels } => {
            let places: Vec<_> = at.iter().map(|x| frame.x(*x)).collect();
            upright_marks(&places, labels, stroke, &frame.area, pen);
        }
        Shape::HorizontalMarks { at, labels } => {
            let places: Vec<_> = at.iter().map(|y| frame.y(*y)).collect();
            flat_marks(&places, labels, stroke, &frame.area, pen);
        }
        Shape::Heat(map) => heat::draw(map, frame, pen),
        // Bars are drawn by their own panel.
        Shape::Bars(_) => {}
        Shape::Outlines { loops } => {
            let placed = loops.iter().map(|corners| {
                let corners: Vec<_> = corners.iter().filter_map(|p| frame.place(*p)).collect();
                polyline::polygon(&corners, &near)
            });
            let placed: Vec<_> = placed.filter(|corners| !corners.is_empty()).collect();
            pen.areas(&placed, Fill::thin(look.colour), Some(stroke));
        }
        Shape::Arrows { from, to } => {
            for (from, to) in from.iter().zip(to) {
                if let (Some(from), Some(to)) = (frame.place(*from), frame.place(*to)) {
                    arrow(from, to, stroke, &near, pen);
                }
            }
        }
    }
}

/// Corners of a step function.
fn stairs<'a>(data: &'a Layer, frame: &'a Frame) -> impl Iterator<Item = Option<[f64; 2]>> + 'a {
    let mut height = None;
    bounds::points(data).map(|p| frame.place(p)).flat_map(move |point| {
        let before = height.zip(point).map(|(y, [x, _])| [x, y]);
        height = point.map(|[_, y]| y);
        // A gap has no corner before it.
        let corner = before.map(Some);
        corner.into_iter().chain(std::iter::once(point))
    })
}

fn band([x, low, high]: [&Vec<f64>; 3], look: &Look, frame: &Frame, pen: &mut Pen<'_>) {
    let rows = x.iter().zip(low).zip(high).map(|((x, low), high)| {
        let below = frame.place([*x, *low])?;
        frame.place([*x, *high]).map(|above| (below, above))
    });
    let rows: Vec<_> = rows.collect();
    let near = frame.area.grown(BEYOND);
    let areas = rows.split(Option::is_none).filter(|rows| !rows.is_empty()).map(|rows| {
        let [lower, upper] = [0, 1].map(|side| {
            let edge = rows.iter().flatten().map(|(below, above)| if side == 0 { *below } else { *above });
            polyline::thinned(edge.map(Some)).concat()
        });
        let corners: Vec<_> = lower.into_iter().chain(upper.into_iter().rev()).collect();
        polyline::polygon(&corners, &near)
    });
    let areas: Vec<_> = areas.filter(|area| !area.is_empty()).collect();
    pen.areas(&areas, Fill::thin(look.colour), None);
}

/// Draws markers at the points; those that coincide on the page are drawn once.
fn markers(data: &Layer, marker: Marker, look: &Look, frame: &Frame, pen: &mut Pen<'_>) {
    let mut seen = BTreeSet::new();
    let area = frame.area.grown(4.0);
    let places = bounds::points(data).filter_map(|p| frame.place(p)).filter(|place| area.contains(*place));
    // Coordinates of the page are below 2^31 quarters of a point.
    let places = places.filter(|[x, y]| seen.insert(((x * 4.0) as i64, (y * 4.0) as i64)));
    let stroke = Stroke { dashes: "", width: 0.9, ..look.stroke() };
    let places: Vec<_> = places.collect();
    draw_markers(&places, marker, stroke, pen);
}

/// Draws markers at positions of the page.
pub(crate) fn draw_markers(places: &[[f64; 2]], marker: Marker, stroke: Stroke<'_>, pen: &mut Pen<'_>) {
    let r = 1.9;
    let corners = |directions: &[[f64; 2]]| -> Vec<Vec<[f64; 2]>> {
        places.iter().map(|[x, y]| directions.iter().map(|[u, v]| [x + r * u, y + r * v]).collect()).collect()
    };
    let octagon: Vec<[f64; 2]> = (0..12)
        .map(|i| {
            let (s, c) = libm::sincos(f64::from(i) * std::f64::consts::TAU / 12.0);
            [c, s]
        })
        .collect();
    match marker {
        Marker::Disc => pen.areas(&corners(&octagon), Fill::solid(stroke.colour), None),
        Marker::Ring => pen.areas(&corners(&octagon), Fill::solid("#ffffff"), Some(stroke)),
        Marker::Square => {
            pen.areas(
                &corners(&[[-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]]),
                Fill::solid(stroke.colour),
                None,
            );
        }
        Marker::Triangle => {
            pen.areas(&corners(&[[0.0, -1.2], [1.1, 0.8], [-1.1, 0.8]]), Fill::solid(stroke.colour), None);
        }
        Marker::Diamond => {
            pen.areas(
                &corners(&[[0.0, -1.25], [1.25, 0.0], [0.0, 1.25], [-1.25, 0.0]]),
                Fill::solid(stroke.colour),
                None,
            );
        }
        Marker::Cross => {
            let mut strokes = corners(&[[-1.0, -1.0], [1.0, 1.0]]);
            strokes.extend(corners(&[[-1.0, 1.0], [1.0, -1.0]]));
            pen.curves(&strokes, stroke);
        }
    }
}

fn upright_marks(places: &[Option<f64>], labels: &[String], stroke: Stroke<'_>, area: &Rect, pen: &mut Pen<'_>) {
    let seen = |x: &f64| (area.left..=area.right()).contains(x);
    let mut lines: Vec<_> = places.iter().flatten().filter(|x| seen(x)).copied().collect();
    lines.dedup_by(|a, b| (*a - *b).abs() < 0.25);
    let lines: Vec<_> = lines.into_iter().map(|x| vec![[x, area.top], [x, area.bottom()]]).collect();
    pen.curves(&lines, stroke);
    let letters = Letters::new(NOTE, Anchor::End, MUTED).upwards().with_halo();
    let mut free_from = f64::NEG_INFINITY;
    for (x, label) in places.iter().zip(labels) {
        if let Some(x) = x.filter(seen).filter(|x| *x >= free_from) {
            // The label is on the left of its line, unless that is outside of the area.
            let beside = if x - NOTE - 2.0 > area.left { x - 2.0 } else { x + NOTE };
            pen.text([beside, area.top + 3.0], label, letters);
            free_from = x + NOTE + 1.5;
        }
    }
}

fn flat_marks(places: &[Option<f64>], labels: &[String], stroke: Stroke<'_>, area: &Rect, pen: &mut Pen<'_>) {
    let seen = |y: &f64| (area.top..=area.bottom()).contains(y);
    let lines: Vec<_> = places.iter().flatten().filter(|y| seen(y)).copied().collect();
    let lines: Vec<_> = lines.into_iter().map(|y| vec![[area.left, y], [area.right(), y]]).collect();
    pen.curves(&lines, stroke);
    let letters = Letters::new(NOTE, Anchor::End, MUTED).with_halo();
    for (y, label) in places.iter().zip(labels) {
        if let Some(y) = y.filter(seen) {
            let above = if y - NOTE > area.top { y - 2.0 } else { y + NOTE };
            pen.text([area.right() - 3.0, above], label, letters);
        }
    }
}

/// Draws an arrow between two positions of the page.
pub(crate) fn arrow(from: [f64; 2], to: [f64; 2], stroke: Stroke<'_>, near: &Rect, pen: &mut Pen<'_>) {
    let d = [to[0] - from[0], to[1] - from[1]];
    let length = libm::hypot(d[0], d[1]);
    let Some(visible) = polyline::segment(from, to, near).filter(|_| length > 0.0 && length.is_finite()) else {
        return;
    };
    let u = [d[0] / length, d[1] / length];
    let head = (3.5 + stroke.width).min(0.6 * length);
    // The shaft ends inside the head, whose tip is sharp.
    let shaft_end = [to[0] - 0.7 * head * u[0], to[1] - 0.7 * head * u[1]];
    let end = if near.contains(to) { shaft_end } else { visible[1] };
    pen.curves(&[vec![visible[0], end]], stroke);
    if near.contains(to) {
        let side = |s: f64| [to[0] - head * u[0] - s * head * u[1], to[1] - head * u[1] + s * head * u[0]];
        pen.areas(&[vec![to, side(0.42), side(-0.42)]], Fill::solid(stroke.colour), None);
    }
}
