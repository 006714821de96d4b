//! Draws a figure after its layout.

use std::fmt::Write;

use crate::{
    Figure, Layer, Panel, Ticks, bars,
    frame::{Frame, Rect},
    heat,
    layer::Shape,
    layers::{arrow, draw_markers, layer, look_of},
    layout::{self, GAP, LABEL, NOTE, NUMBER, PANEL_TITLE, Placed, TICK, TITLE},
    legend::{Entry, Legend, SAMPLE, to_name},
    palette::{INK, MUTED},
    pen::{Anchor, Fill, Letters, Outlines, Pen, Stroke, number},
    text::{escaped, raised, tame, width},
};

const AXIS: Stroke<'static> = Stroke { colour: INK, width: 0.6, dashes: "" };
/// Margin beside a title in its cell, and the smallest factor on its size.
const TITLE_GAP: f64 = 4.0;
const SMALLEST_TITLE: f64 = 0.5;
const GRID: Stroke<'static> = Stroke { colour: "#ebebeb", width: 0.5, dashes: "" };

/// Draws the figure as SVG; letters become outlines of `font` if there is one.
pub(crate) fn figure(figure: &Figure, font: Option<&dyn Outlines>) -> String {
    let page = layout::page(figure);
    let mut pen = Pen::new(font);
    let title = escaped(&tame(&figure.title));
    let [width, height] = [page.width, page.height].map(number);
    let [wide, high] = [page.width, page.height].map(|points| number(points * 25.4 / 72.0));
    let mut head = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{wide}mm\" height=\"{high}mm\" viewBox=\"0 0 {width} {height}\" \
         role=\"img\" font-family=\"'Noto Sans', 'Open Sans', Helvetica, Arial, sans-serif\">\n"
    );
    if !title.is_empty() {
        // Writing to a string cannot fail.
        let _ = writeln!(head, "<title>{title}</title>");
    }
    pen.raw(&head);
    pen.rect(&Rect { left: 0.0, top: 0.0, width: page.width, height: page.height }, Fill::solid("#ffffff"), None);
    let letters = Letters::new(TITLE, Anchor::Middle, INK);
    pen.text([0.5 * page.width, TITLE + 4.0], &figure.title, letters);
    for placed in &page.panels {
        panel(placed, &mut pen);
    }
    pen.finish()
}

fn panel(placed: &Placed<'_>, pen: &mut Pen<'_>) {
    let Placed { panel, frame, x_ticks, y_ticks, .. } = placed;
    let area = &frame.area;
    if let Some(map) = panel.bars() {
        bars::draw(placed, map, pen);
        return title(placed, pen);
    }
    grid(frame, x_ticks, y_ticks, pen);
    let [x, y, w, h] = [area.left, area.top, area.width, area.height].map(number);
    // An inner `<svg>` clips its content without an identifier, which could collide with another picture of the page.
    pen.raw(&format!(
        "<svg x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" viewBox=\"{x} {y} {w} {h}\" overflow=\"hidden\">\n"
    ));
    for (index, data) in panel.layers.iter().enumerate() {
        layer(data, &look_of(panel, index), frame, pen);
    }
    pen.raw("</svg>\n");
    pen.rect(area, Fill::NONE, Some(AXIS));
    x_axis(placed, pen);
    let y_place = |value| frame.y(value);
    side_axis(y_ticks, area.left, -1.0, y_place, pen);
    labels(placed, pen);
    if let Some(bar) = &placed.bar {
        heat::draw_bar(bar, pen);
        pen.rect(&bar.area, Fill::NONE, Some(AXIS));
        let [low, high] = bar.range;
        let place = |value: f64| {
            Some(bar.area.bottom() - (0.5 * value - 0.5 * low) / (0.5 * high - 0.5 * low) * bar.area.height)
        };
        side_axis(&bar.ticks, bar.area.right(), 1.0, place, pen);
        let right = bar.area.right() + TICK + GAP + layout::widest(&bar.ticks) + LABEL + 3.0;
        let letters = Letters::new(LABEL, Anchor::Middle, INK).upwards();
        pen.text([right, area.top + 0.5 * area.height], &bar.label, letters);
        factor(bar.ticks.exponent, [bar.area.left, area.top - 4.0], Anchor::Start, pen);
    }
    legend(panel, &placed.legend, pen);
}

/// Draws faint grid lines at the major ticks.
fn grid(frame: &Frame, x_ticks: &Ticks, y_ticks: &Ticks, pen: &mut Pen<'_>) {
    let area = &frame.area;
    let upright = x_ticks.major.iter().filter_map(|tick| frame.x(tick.value));
    let flat = y_ticks.major.iter().filter_map(|tick| frame.y(tick.value));
    let lines: Vec<_> = upright
        .map(|x| vec![[x, area.top], [x, area.bottom()]])
        .chain(flat.map(|y| vec![[area.left, y], [area.right(), y]]))
        .collect();
    pen.curves(&lines, GRID);
}

fn x_axis(placed: &Placed<'_>, pen: &mut Pen<'_>) {
    let (area, ticks) = (&placed.frame.area, &placed.x_ticks);
    let bottom = area.bottom();
    let long = ticks.major.iter().filter_map(|tick| placed.frame.x(tick.value)).map(|x| (x, TICK));
    let short = ticks.minor.iter().filter_map(|value| placed.frame.x(*value)).map(|x| (x, 0.55 * TICK));
    let marks: Vec<_> = long.chain(short).map(|(x, length)| vec![[x, bottom], [x, bottom + length]]).collect();
    pen.curves(&marks, AXIS);
    let letters = Letters::new(NUMBER, Anchor::Middle, INK);
    let mut free_from = f64::NEG_INFINITY;
    for tick in &ticks.major {
        let Some(x) = placed.frame.x(tick.value) else { continue };
        let half = 0.5 * width(&tick.label, NUMBER);
        if x - half >= free_from {
            pen.text([x, bottom + TICK + GAP + 0.72 * NUMBER], &tick.label, letters);
            free_from = x + half + 4.0;
        }
    }
}

/// Draws ticks and numbers of a vertical axis at `x`; `side` is -1 on the left and 1 on the right.
pub(crate) fn side_axis(ticks: &Ticks, x: f64, side: f64, place: impl Fn(f64) -> Option<f64>, pen: &mut Pen<'_>) {
    let long = ticks.major.iter().filter_map(|tick| place(tick.value)).map(|y| (y, TICK));
    let short = ticks.minor.iter().filter_map(|value| place(*value)).map(|y| (y, 0.55 * TICK));
    let marks: Vec<_> = long.chain(short).map(|(y, length)| vec![[x, y], [x + side * length, y]]).collect();
    pen.curves(&marks, AXIS);
    let anchor = if side < 0.0 { Anchor::End } else { Anchor::Start };
    let letters = Letters::new(NUMBER, anchor, INK);
    for tick in &ticks.major {
        if let Some(y) = place(tick.value) {
            pen.text([x + side * (TICK + GAP), y + 0.36 * NUMBER], &tick.label, letters);
        }
    }
}

/// Draws titles, labels of axes, common powers of ten, and the note on omitted values.
fn labels(placed: &Placed<'_>, pen: &mut Pen<'_>) {
    let (panel, area) = (placed.panel, &placed.frame.area);
    let middle = area.left + 0.5 * area.width;
    let letters = Letters::new(LABEL, Anchor::Middle, INK);
    let below = area.bottom() + TICK + GAP + NUMBER + LABEL + 2.5;
    pen.text([middle, below], &panel.x.text(), letters);
    let beside = area.left - TICK - GAP - layout::widest(&placed.y_ticks) - 6.0;
    pen.text([beside, area.top + 0.5 * area.height], &panel.y.text(), letters.upwards());
    title(placed, pen);
    factor(placed.y_ticks.exponent, [area.left, area.top - 4.0], Anchor::Start, pen);
    factor(placed.x_ticks.exponent, [area.right(), below], Anchor::End, pen);
    if placed.left_out > 0 {
        let values = if placed.left_out == 1 { "value" } else { "values" };
        let note = format!("{} {values} cannot be drawn", placed.left_out);
        let letters = Letters::new(NOTE, Anchor::End, MUTED);
        pen.text([area.right(), area.top - 4.0], &note, letters);
    }
}

/// Draws the title of a panel, centred above the plotting area, moved and reduced if it does not fit the cell.
fn title(placed: &Placed<'_>, pen: &mut Pen<'_>) {
    let (area, cell, title) = (&placed.frame.area, &placed.cell, &placed.panel.title);
    let room = cell.width - 2.0 * TITLE_GAP;
    let natural = width(title, PANEL_TITLE);
    let shrink = if natural > room { (room / natural).max(SMALLEST_TITLE) } else { 1.0 };
    let half = 0.5 * natural * shrink + TITLE_GAP;
    let (least, most) = (cell.left + half, cell.right() - half);
    let middle = area.left + 0.5 * area.width;
    let middle = if least <= most { middle.clamp(least, most) } else { 0.5 * (least + most) };
    let letters = Letters::new(shrink * PANEL_TITLE, Anchor::Middle, INK);
    pen.text([middle, cell.top + PANEL_TITLE + 3.0], title, letters);
}

/// Draws the common power of ten of an axis.
fn factor(exponent: i32, at: [f64; 2], anchor: Anchor, pen: &mut Pen<'_>) {
    if exponent != 0 {
        let letters = Letters::new(NUMBER, anchor, INK);
        pen.text(at, &format!("×10{}", raised(exponent)), letters);
    }
}

fn legend(panel: &Panel, legend: &Legend, pen: &mut Pen<'_>) {
    if legend.entries.is_empty() {
        return;
    }
    if !legend.is_outside {
        let border = Stroke { colour: "#cccccc", width: 0.4, dashes: "" };
        pen.rect(&legend.area, Fill::solid("#ffffff"), Some(border));
    }
    for entry in &legend.entries {
        let [x, y] = [legend.area.left + entry.place[0], legend.area.top + entry.place[1]];
        if let Some(data) = panel.layers.get(entry.layer) {
            sample(data, entry, [x, y], pen);
        }
        let letters = Letters::new(NUMBER, Anchor::Start, INK);
        pen.text([x + to_name(), y + 0.36 * NUMBER], &entry.name, letters);
    }
}

/// Draws a sample of a layer beside its name in the legend.
fn sample(data: &Layer, entry: &Entry, [x, y]: [f64; 2], pen: &mut Pen<'_>) {
    let (stroke, end) = (entry.look.stroke(), x + SAMPLE);
    match &data.shape {
        Shape::Band { .. } | Shape::Outlines { .. } | Shape::Heat(_) | Shape::Bars(_) => {
            let border = (!matches!(data.shape, Shape::Band { .. })).then_some(stroke);
            let area = Rect { left: x + 2.0, top: y - 3.5, width: SAMPLE - 4.0, height: 7.0 };
            pen.rect(&area, Fill::thin(stroke.colour), border);
        }
        Shape::Arrows { .. } => {
            arrow([x, y], [end, y], stroke, &Rect { left: x, top: y, width: 40.0, height: 9.0 }, pen);
        }
        Shape::Points { .. } => {}
        _ => pen.curves(&[vec![[x, y], [end, y]]], stroke),
    }
    if let Some(marker) = entry.look.marker {
        draw_markers(&[[0.5 * (x + end), y]], marker, Stroke { dashes: "", width: 0.9, ..stroke }, pen);
    }
}
