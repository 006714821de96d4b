//! Layout of panels, axes and legends on the page.

use crate::{
    Axis, Figure, Panel, Scale, Ticks, bars, bounds,
    frame::{Frame, Rect, Span},
    heat::{self, Bar},
    legend::{self, Legend},
    text::width,
};

/// Points of 1/72 inch per millimetre.
const MILLIMETRE: f64 = 72.0 / 25.4;

/// Sizes of letters, in points of 1/72 inch.
pub(crate) const TITLE: f64 = 10.5;
pub(crate) const PANEL_TITLE: f64 = 9.5;
pub(crate) const LABEL: f64 = 9.0;
pub(crate) const NUMBER: f64 = 8.0;
pub(crate) const NOTE: f64 = 7.0;

/// Length of a major tick, and its distance to the label.
pub(crate) const TICK: f64 = 3.5;
pub(crate) const GAP: f64 = 3.0;

/// Smallest side of a plotting area, in points of 1/72 inch.
const SMALLEST: f64 = 20.0;

/// A figure on its page.
pub(crate) struct Page<'f> {
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) panels: Vec<Placed<'f>>,
}

/// A panel on the page.
pub(crate) struct Placed<'f> {
    pub(crate) panel: &'f Panel,
    pub(crate) frame: Frame,
    pub(crate) x_ticks: Ticks,
    pub(crate) y_ticks: Ticks,
    pub(crate) legend: Legend,
    pub(crate) bar: Option<Bar>,
    pub(crate) left_out: usize,
    /// Cell with all labels around the plotting area; the title is at its top.
    pub(crate) cell: Rect,
}

/// Margins of a plotting area.
#[derive(Clone, Copy, Default)]
struct Margins {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Margins {
    fn union(self, other: Self) -> Self {
        Self {
            left: self.left.max(other.left),
            right: self.right.max(other.right),
            top: self.top.max(other.top),
            bottom: self.bottom.max(other.bottom),
        }
    }
}

/// Computes the layout of a figure.
pub(crate) fn page(figure: &Figure) -> Page<'_> {
    let columns = figure.columns.max(1).min(figure.panels.len().max(1));
    let default = if columns == 1 { [140.0, 90.0] } else { [180.0 / columns as f64, 140.0 / columns as f64] };
    let sane = |mm: f64| if mm.is_finite() { mm.clamp(20.0, 2000.0) * MILLIMETRE } else { 90.0 * MILLIMETRE };
    let [cell_width, cell_height] = figure.panel_size.unwrap_or(default).map(sane);
    let head = if figure.title.is_empty() { 0.0 } else { TITLE + 11.0 };
    let rows = figure.panels.len().div_ceil(columns);
    let margins: Vec<_> = figure.panels.iter().map(|panel| margins(panel, [cell_width, cell_height])).collect();
    let place = |(i, panel)| {
        let (row, column) = (i / columns, i % columns);
        // Plotting areas of one column and of one row are aligned.
        let below = margins.iter().skip(column).step_by(columns).fold(Margins::default(), |a, b| a.union(*b));
        let beside = margins.iter().skip(row * columns).take(columns).fold(Margins::default(), |a, b| a.union(*b));
        let cell = Rect {
            left: column as f64 * cell_width,
            top: head + row as f64 * cell_height,
            width: cell_width,
            height: cell_height,
        };
        let area = Rect {
            left: cell.left + below.left,
            top: cell.top + beside.top,
            width: (cell_width - below.left - below.right).max(SMALLEST),
            height: (cell_height - beside.top - beside.bottom).max(SMALLEST),
        };
        placed(panel, area, cell)
    };
    Page {
        width: columns as f64 * cell_width,
        height: head + rows as f64 * cell_height,
        panels: figure.panels.iter().enumerate().map(place).collect(),
    }
}

fn placed(panel: &Panel, area: Rect, cell: Rect) -> Placed<'_> {
    let spans = bounds::spans(panel);
    let framed = |area: Rect| {
        let [x, y] = if panel.equal_aspect { equalised(spans, &area) } else { spans };
        Frame { area, x, y }
    };
    let mut frame = framed(area);
    let mut legend = legend::inside(panel, &frame);
    if legend.is_outside {
        let height = legend.height().min(area.height - SMALLEST).max(0.0);
        frame = framed(Rect { top: area.top + height, height: area.height - height, ..area });
        legend.area.left = area.left;
        legend.area.top = area.top - note_height(panel, &spans[1]);
    }
    Placed {
        panel,
        x_ticks: ticks(&panel.x, &frame.x, frame.area.width / 32.0),
        y_ticks: ticks(&panel.y, &frame.y, frame.area.height / 22.0),
        legend,
        bar: panel.heat().map(|map| heat::bar(map, &frame.area)),
        left_out: bounds::left_out(panel),
        frame,
        cell,
    }
}

fn ticks(axis: &Axis, span: &Span, room: f64) -> Ticks {
    let (range, room) = ([span.low, span.high], (room as usize).max(3));
    if !axis.names.is_empty() {
        return Ticks::named(&axis.names, range);
    }
    match span.scale {
        Scale::Linear => Ticks::linear(range, room),
        Scale::Log => Ticks::log(range, room),
    }
}

/// Spans widened so that units have equal length on both axes; logarithmic axes are left unchanged.
fn equalised([x, y]: [Span; 2], area: &Rect) -> [Span; 2] {
    if x.scale == Scale::Log || y.scale == Scale::Log {
        return [x, y];
    }
    let per_point = ((x.high - x.low) / area.width).max((y.high - y.low) / area.height);
    let widened = |span: Span, length: f64| {
        let (middle, half) = (0.5 * span.low + 0.5 * span.high, 0.5 * per_point * length);
        Span { low: middle - half, high: middle + half, ..span }
    };
    if per_point.is_finite() { [widened(x, area.width), widened(y, area.height)] } else { [x, y] }
}

/// Margins that a panel needs around its plotting area.
fn margins(panel: &Panel, [cell_width, cell_height]: [f64; 2]) -> Margins {
    let [x, y] = bounds::spans(panel);
    let x_ticks = ticks(&panel.x, &x, (cell_width - 60.0) / 32.0);
    let y_ticks = ticks(&panel.y, &y, (cell_height - 40.0) / 22.0);
    let widest = widest(&y_ticks);
    let last = x_ticks.major.last().map_or(0.0, |tick| width(&tick.label, NUMBER));
    let label = |text: &str| if text.is_empty() { 0.0 } else { LABEL + 5.0 };
    let bar = panel.heat().map_or(0.0, |map| heat::bar_width(map, cell_height - 40.0));
    let title = if panel.title.is_empty() { 0.0 } else { PANEL_TITLE + 5.0 };
    if let Some(map) = panel.bars() {
        let upright = bars::ticks(map, cell_height - 40.0);
        return Margins {
            left: 4.0 + label(&bars::label(map)) + self::widest(&upright) + GAP + TICK,
            right: bars::BESIDE,
            top: 6.0 + title,
            bottom: bars::BELOW,
        };
    }
    Margins {
        left: 4.0 + label(&panel.y.text()) + widest + GAP + TICK,
        right: 6.0 + 0.5 * last + bar,
        top: 6.0 + title + note_height(panel, &y),
        bottom: 4.0 + label(&panel.x.text()) + NUMBER + GAP + TICK,
    }
}

/// Height of the line above the plotting area: the common power of ten, and the number of omitted values.
fn note_height(panel: &Panel, y: &Span) -> f64 {
    let noted = ticks(&panel.y, y, 3.0).exponent != 0 || bounds::left_out(panel) > 0;
    if noted { NUMBER + 3.0 } else { 0.0 }
}

/// Width of the widest label of an axis.
pub(crate) fn widest(ticks: &Ticks) -> f64 {
    ticks.major.iter().map(|tick| width(&tick.label, NUMBER)).fold(0.0, f64::max)
}
