//! Simplification and clipping of curves.
//!
//! A page has far less resolution than a run has steps. Of all neighbouring points in one narrow column of the page the
//! first, the lowest, the highest and the last are kept, in their order. Then points on the straight line between their
//! neighbours are dropped. The picture is the same to a fraction of the width of a line, no peak is lost, and a million
//! points become a few thousand.

use crate::frame::Rect;

/// Width of a column, in points of 1/72 inch, which is less than that of lines.
const COLUMN: f64 = 0.25;

/// Largest distance of a dropped point from the simplified curve, in points of 1/72 inch.
const TOLERANCE: f64 = 0.02;

/// A connected part of a curve on the page.
pub(crate) type Piece = Vec<[f64; 2]>;

/// Connected parts of a curve, simplified and clipped to `area`; `None` among the points is a gap.
pub(crate) fn pieces(points: impl Iterator<Item = Option<[f64; 2]>>, area: &Rect) -> Vec<Piece> {
    thinned(points).iter().flat_map(|piece| clipped(piece, area)).collect()
}

/// Extremes of the points in one column.
struct Column {
    index: f64,
    first: [f64; 2],
    lowest: (usize, [f64; 2]),
    highest: (usize, [f64; 2]),
    last: [f64; 2],
    count: usize,
}

impl Column {
    fn new(point: [f64; 2]) -> Self {
        let index = (point[0] / COLUMN).floor();
        Self { index, first: point, lowest: (0, point), highest: (0, point), last: point, count: 1 }
    }

    /// Adds a point; false if it belongs to another column.
    fn add(&mut self, point: [f64; 2]) -> bool {
        if (point[0] / COLUMN).floor() != self.index {
            return false;
        }
        if point[1] < self.lowest.1[1] {
            self.lowest = (self.count, point);
        }
        if point[1] > self.highest.1[1] {
            self.highest = (self.count, point);
        }
        self.last = point;
        self.count += 1;
        true
    }

    /// Appends the kept points, in order and without repetition.
    fn append_to(self, piece: &mut Piece) {
        let mut kept = [(0, self.first), self.lowest, self.highest, (self.count - 1, self.last)];
        kept.sort_by_key(|(order, _)| *order);
        let mut previous = None;
        for (order, point) in kept {
            if previous != Some(order) {
                piece.push(point);
            }
            previous = Some(order);
        }
    }
}

/// Connected parts, reduced to the extremes of each column.
pub(crate) fn thinned(points: impl Iterator<Item = Option<[f64; 2]>>) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut piece = Piece::new();
    let mut column: Option<Column> = None;
    for point in points {
        if let (Some(point), Some(open)) = (point, &mut column)
            && open.add(point)
        {
            continue;
        }
        if let Some(full) = std::mem::replace(&mut column, point.map(Column::new)) {
            full.append_to(&mut piece);
        }
        if point.is_none() {
            pieces.push(std::mem::take(&mut piece));
        }
    }
    if let Some(full) = column {
        full.append_to(&mut piece);
    }
    pieces.push(piece);
    pieces.retain(|piece| !piece.is_empty());
    pieces.iter().map(|piece| straightened(piece)).collect()
}

/// The curve without points close to the chord of the remaining ones (Ramer, Douglas and Peucker).
fn straightened(piece: &[[f64; 2]]) -> Piece {
    let mut stays = vec![false; piece.len()];
    for end in [0, piece.len().saturating_sub(1)] {
        stays.iter_mut().skip(end).take(1).for_each(|stays| *stays = true);
    }
    let mut open = vec![(0, piece.len().saturating_sub(1))];
    while let Some((start, end)) = open.pop() {
        let (Some(&a), Some(&b), Some(between)) = (piece.get(start), piece.get(end), piece.get(start + 1..end)) else {
            continue;
        };
        let distances = between.iter().map(|p| distance(*p, a, b)).zip(start + 1..);
        let farthest = distances.max_by(|x, y| x.0.total_cmp(&y.0));
        if let Some((_, index)) = farthest.filter(|(distance, _)| *distance > TOLERANCE)
            && let Some(stays) = stays.get_mut(index)
        {
            *stays = true;
            open.extend([(start, index), (index, end)]);
        }
    }
    piece.iter().zip(stays).filter(|(_, stays)| *stays).map(|(point, _)| *point).collect()
}

/// Distance of a point from a segment.
fn distance(p: [f64; 2], a: [f64; 2], b: [f64; 2]) -> f64 {
    let (d, r) = ([b[0] - a[0], b[1] - a[1]], [p[0] - a[0], p[1] - a[1]]);
    let square = d[0] * d[0] + d[1] * d[1];
    let along = if square > 0.0 { ((r[0] * d[0] + r[1] * d[1]) / square).clamp(0.0, 1.0) } else { 0.0 };
    libm::hypot(r[0] - along * d[0], r[1] - along * d[1])
}

/// The parts of a curve inside `area`.
fn clipped(piece: &[[f64; 2]], area: &Rect) -> Vec<Piece> {
    if let [point] = piece {
        return if area.contains(*point) { vec![vec![*point]] } else { Vec::new() };
    }
    let mut parts: Vec<Piece> = Vec::new();
    let mut part = Piece::new();
    for pair in piece.windows(2) {
        let &[a, b] = pair else { continue };
        let Some([start, end]) = segment(a, b, area) else {
            parts.push(std::mem::take(&mut part));
            continue;
        };
        if part.last() != Some(&start) {
            parts.push(std::mem::take(&mut part));
            part.push(start);
        }
        part.push(end);
    }
    parts.push(part);
    parts.retain(|part| !part.is_empty());
    parts
}

/// The part of a segment inside `area` (Liang and Barsky).
pub(crate) fn segment(a: [f64; 2], b: [f64; 2], area: &Rect) -> Option<[[f64; 2]; 2]> {
    let d = [b[0] - a[0], b[1] - a[1]];
    let borders = [
        (-d[0], a[0] - area.left),
        (d[0], area.right() - a[0]),
        (-d[1], a[1] - area.top),
        (d[1], area.bottom() - a[1]),
    ];
    let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
    for (outward, distance) in borders {
        if outward == 0.0 {
            if distance < 0.0 {
                return None;
            }
        } else if outward < 0.0 {
            enter = enter.max(distance / outward);
        } else {
            leave = leave.min(distance / outward);
        }
    }
    // The comparison is false for NaN.
    let crosses = enter <= leave;
    if !crosses {
        return None;
    }
    let at = |s: f64| [a[0] + s * d[0], a[1] + s * d[1]];
    Some([if enter > 0.0 { at(enter) } else { a }, if leave < 1.0 { at(leave) } else { b }])
}

/// The part of a polygon inside `area` (Sutherland and Hodgman).
pub(crate) fn polygon(corners: &[[f64; 2]], area: &Rect) -> Piece {
    let mut inside = corners.to_vec();
    let sides: [(usize, f64, f64); 4] =
        [(0, area.left, 1.0), (0, area.right(), -1.0), (1, area.top, 1.0), (1, area.bottom(), -1.0)];
    for (axis, border, sign) in sides {
        let depth = |p: &[f64; 2]| sign * (p[axis.min(1)] - border);
        let next = inside.iter().cycle().skip(1);
        let mut kept = Piece::new();
        for (a, b) in inside.iter().zip(next) {
            let (da, db) = (depth(a), depth(b));
            if da >= 0.0 {
                kept.push(*a);
            }
            if (da < 0.0) != (db < 0.0) {
                let s = da / (da - db);
                kept.push([a[0] + s * (b[0] - a[0]), a[1] + s * (b[1] - a[1])]);
            }
        }
        inside = kept;
    }
    inside
}
