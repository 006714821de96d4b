//! The legend: in an empty corner, or above the panel.

use crate::{
    Panel, bounds,
    frame::{Frame, Rect},
    layer::Shape,
    layers::{Look, look_of},
    layout::NUMBER,
    polyline::{pieces, segment},
    text::{tame, width},
};

/// Height of an entry, width of its sample, margin of the legend.
pub(crate) const ENTRY: f64 = 11.5;
pub(crate) const SAMPLE: f64 = 18.0;
const PADDING: f64 = 5.0;
const TO_NAME: f64 = 5.0;
/// Factor on text widths, because fonts of viewers may be wider.
const SLACK: f64 = 1.06;

/// Names and looks of the layers.
pub(crate) struct Legend {
    pub(crate) area: Rect,
    pub(crate) entries: Vec<Entry>,
    /// True for a legend above the panel, in rows.
    pub(crate) is_outside: bool,
}

/// One name.
pub(crate) struct Entry {
    pub(crate) name: String,
    /// Index of the layer in the panel.
    pub(crate) layer: usize,
    pub(crate) look: Look,
    /// Start of its sample, relative to the area of the legend, at half the height of its line.
    pub(crate) place: [f64; 2],
}

impl Legend {
    pub(crate) fn height(&self) -> f64 {
        if self.entries.is_empty() { 0.0 } else { self.area.height }
    }
}

/// Legend of a panel, at the first free position of its plotting area.
pub(crate) fn inside(panel: &Panel, frame: &Frame) -> Legend {
    let named = panel.layers.iter().enumerate().filter_map(|(layer, data)| Some((layer, data.name.as_deref()?)));
    let mut entries: Vec<_> = named
        .map(|(layer, name)| Entry { name: tame(name), layer, look: look_of(panel, layer), place: [0.0; 2] })
        .collect();
    let widest = entries.iter().map(|entry| width(&entry.name, NUMBER)).fold(0.0, f64::max);
    let size = [2.0 * PADDING + SAMPLE + TO_NAME + SLACK * widest, 2.0 * PADDING - 2.0 + entries.len() as f64 * ENTRY];
    for (i, entry) in entries.iter_mut().enumerate() {
        entry.place = [PADDING, PADDING - 1.0 + (i as f64 + 0.5) * ENTRY];
    }
    let area = &frame.area;
    let free = if size[0] > 0.6 * area.width || size[1] > 0.6 * area.height {
        None
    } else {
        let drawn = Drawn::new(panel, frame);
        places(area, size).find(|place| entries.is_empty() || drawn.leaves(place))
    };
    match free {
        Some(area) => Legend { area, entries, is_outside: false },
        None => outside(entries, area),
    }
}

/// Candidate positions: corners first, then the middles of the sides.
fn places(area: &Rect, [width, height]: [f64; 2]) -> impl Iterator<Item = Rect> {
    let margin = 5.0;
    let (left, right) = (area.left + margin, area.right() - margin - width);
    let (top, bottom) = (area.top + margin, area.bottom() - margin - height);
    let (middle, centre) = (0.5 * (left + right), 0.5 * (top + bottom));
    let corners = [[right, top], [left, top], [right, bottom], [left, bottom]];
    let sides = [[middle, top], [middle, bottom], [right, centre], [left, centre]];
    corners.into_iter().chain(sides).map(move |[left, top]| Rect { left, top, width, height })
}

/// Entries in rows as wide as the panel.
fn outside(mut entries: Vec<Entry>, area: &Rect) -> Legend {
    let (mut x, mut row) = (0.0, 0.0);
    for entry in &mut entries {
        let length = SAMPLE + TO_NAME + SLACK * width(&entry.name, NUMBER);
        if x > 0.0 && x + length > area.width {
            (x, row) = (0.0, row + 1.0);
        }
        entry.place = [x, (row + 0.5) * ENTRY];
        x += length + 12.0;
    }
    let height = (row + 1.0) * ENTRY + 3.0;
    let is_outside = !entries.is_empty();
    Legend { area: Rect { left: area.left, top: area.top, width: area.width, height }, entries, is_outside }
}

/// Start of the name of an entry, relative to its sample.
pub(crate) fn to_name() -> f64 {
    SAMPLE + TO_NAME
}

/// Occupied parts of the plotting area.
struct Drawn {
    curves: Vec<Vec<[f64; 2]>>,
    polygons: Vec<Vec<[f64; 2]>>,
    everything: bool,
}

impl Drawn {
    fn new(panel: &Panel, frame: &Frame) -> Self {
        let mut drawn = Self { curves: Vec::new(), polygons: Vec::new(), everything: false };
        for layer in &panel.layers {
            let area = frame.area;
            match &layer.shape {
                Shape::Heat(_) | Shape::Bars(_) => drawn.everything = true,
                Shape::Line { .. } | Shape::Steps { .. } => {
                    drawn.curves.extend(pieces(bounds::points(layer).map(|p| frame.place(p)), &area));
                }
                Shape::Points { .. } => {
                    drawn.curves.extend(bounds::points(layer).filter_map(|p| frame.place(p)).map(|p| vec![p]));
                }
                Shape::Band { x, low, high } => {
                    let across = x.iter().zip(low).zip(high).map(|((x, low), high)| {
                        [[*x, *low], [*x, *high]].into_iter().filter_map(|p| frame.place(p)).collect()
                    });
                    drawn.curves.extend(across);
                }
                Shape::VerticalMarks { at, .. } => {
                    let lines = at.iter().filter_map(|x| frame.x(*x));
                    drawn.curves.extend(lines.map(|x| vec![[x, area.top], [x, area.bottom()]]));
                }
                Shape::HorizontalMarks { at, .. } => {
                    let lines = at.iter().filter_map(|y| frame.y(*y));
                    drawn.curves.extend(lines.map(|y| vec![[area.left, y], [area.right(), y]]));
                }
                Shape::Outlines { loops } => {
                    let placed = loops.iter().map(|corners| corners.iter().filter_map(|p| frame.place(*p)).collect());
                    drawn.polygons.extend(placed);
                }
                Shape::Arrows { from, to } => {
                    let arrow =
                        |(a, b): (&[f64; 2], &[f64; 2])| [a, b].into_iter().filter_map(|p| frame.place(*p)).collect();
                    drawn.curves.extend(from.iter().zip(to).map(arrow));
                }
            }
        }
        drawn
    }

    /// True if nothing is drawn in `place`.
    fn leaves(&self, place: &Rect) -> bool {
        let place = &place.grown(3.0);
        let crosses = |curve: &Vec<[f64; 2]>| match curve.as_slice() {
            [point] => place.contains(*point),
            points => points.windows(2).any(|pair| matches!(pair, [a, b] if segment(*a, *b, place).is_some())),
        };
        let covers = |corners: &Vec<[f64; 2]>| {
            let closed: Vec<_> = corners.iter().chain(corners.first()).copied().collect();
            crosses(&closed) || contains(corners, [place.left, place.top])
        };
        !self.everything && !self.curves.iter().any(crosses) && !self.polygons.iter().any(covers)
    }
}

/// True if a polygon contains a point: a ray from it crosses the border an odd number of times.
fn contains(corners: &[[f64; 2]], [x, y]: [f64; 2]) -> bool {
    let next = corners.iter().cycle().skip(1);
    let crossings = corners
        .iter()
        .zip(next)
        .filter(|([ax, ay], [bx, by])| (*ay > y) != (*by > y) && x < ax + (y - ay) / (by - ay) * (bx - ax));
    crossings.count() % 2 == 1
}
