//! Width of the widest disc that passes between two walls and the obstacles between them.
//!
//! A disc cannot pass if its way is barred from one wall to the other: by a chain of obstacles whose gaps are all narrower than the disc.
//! The widest disc that passes therefore has the diameter  min over chains of the largest gap of the chain.   [VERIFY-2]

use nalgebra::Point2;
use stiction::{Configuration, Model, Pose, Shape, planar};

/// Two walls, and the obstacles between them, by the names of their bodies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    /// The walls on the two sides.
    pub between: [String; 2],
    /// Obstacles between the walls.
    pub past: Vec<String>,
}

/// Reason why a passage has no width.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PassageError {
    /// A body does not exist.
    #[error("the scene has no body `{0}`")]
    NoBody(String),
    /// A body has no shape.
    #[error("the body `{0}` has no shape")]
    NoShape(String),
    /// Shapes of another kind.
    #[error(
        "the body `{body}` has a {shape}; the width of a passage is known of points, discs, capsules, boxes and polygons in the plane"
    )]
    Unsupported {
        /// The body.
        body: String,
        /// Name of its shape.
        shape: &'static str,
    },
}

impl Passage {
    /// Diameter of the widest disc that passes, m; zero if the way is barred.   [VERIFY-2]
    pub fn width(&self, model: &Model, configuration: &Configuration) -> Result<f64, PassageError> {
        let names = self.between.iter().chain(&self.past);
        let bodies = names.map(|name| outlines(model, configuration, name)).collect::<Result<Vec<_>, _>>()?;
        let gap = |a: &[Outline], b: &[Outline]| {
            let gaps = a.iter().flat_map(|a| b.iter().map(move |b| a.gap(b)));
            gaps.fold(f64::INFINITY, f64::min)
        };
        let mut widths: Vec<Vec<f64>> = bodies.iter().map(|a| bodies.iter().map(|b| gap(a, b)).collect()).collect();
        // Chains over ever more of the bodies, as in the algorithm of Floyd and Warshall with max for + and min for min.
        for over in 0..bodies.len() {
            let from_over = widths.get(over).cloned().unwrap_or_default();
            for row in &mut widths {
                let to_over = row.get(over).copied().unwrap_or(f64::INFINITY);
                row.iter_mut().zip(&from_over).for_each(|(width, onward)| *width = width.min(to_over.max(*onward)));
            }
        }
        Ok(widths.first().and_then(|row| row.get(1)).copied().unwrap_or(f64::INFINITY))
    }
}

/// All points within `radius` of the edges or of the region that they enclose, if they do.
struct Outline {
    edges: Vec<[Point2<f64>; 2]>,
    radius: f64,
}

fn outlines(model: &Model, configuration: &Configuration, name: &str) -> Result<Vec<Outline>, PassageError> {
    let body = model.find_body(name).ok_or_else(|| PassageError::NoBody(name.to_owned()))?;
    let shapes = model.shapes().filter(|(_, owner, _)| *owner == body);
    let outlines = shapes.map(|(_, _, on_body)| {
        Outline::of(&on_body.shape, &(configuration.pose(body) * on_body.local))
            .ok_or_else(|| PassageError::Unsupported { body: name.to_owned(), shape: on_body.shape.name() })
    });
    let outlines = outlines.collect::<Result<Vec<_>, _>>()?;
    if outlines.is_empty() { Err(PassageError::NoShape(name.to_owned())) } else { Ok(outlines) }
}

impl Outline {
    fn of(shape: &Shape, pose: &Pose) -> Option<Self> {
        let Shape::Planar(shape) = shape else { return None };
        let corner = |x: f64, y: f64| Point2::new(x, y);
        let (corners, radius) = match shape {
            planar::Shape::Point => (vec![corner(0.0, 0.0)], 0.0),
            planar::Shape::Disc { radius } => (vec![corner(0.0, 0.0)], *radius),
            planar::Shape::Capsule { half_length, radius } => {
                (vec![corner(-half_length, 0.0), corner(*half_length, 0.0)], *radius)
            }
            planar::Shape::Box { half_extents: [a, b] } => {
                (vec![corner(-a, -b), corner(*a, -b), corner(*a, *b), corner(-a, *b)], 0.0)
            }
            planar::Shape::Polygon(polygon) => (polygon.vertices().to_vec(), 0.0),
            planar::Shape::SimplePolygon(polygon) => (polygon.vertices().to_vec(), 0.0),
            _ => return None,
        };
        let placed: Vec<_> = corners.iter().map(|p| (pose * nalgebra::Point3::new(p.x, p.y, 0.0)).xy()).collect();
        let onward = placed.iter().cycle().skip(1);
        Some(Self { edges: placed.iter().zip(onward).map(|(a, b)| [*a, *b]).collect(), radius })
    }

    /// The distance between two outlines with their interiors; zero where they overlap.
    fn gap(&self, other: &Self) -> f64 {
        let first = |outline: &Self| outline.edges.first().map(|[corner, _]| *corner);
        let inside = |outer: &Self, inner: &Self| first(inner).is_some_and(|corner| outer.encloses(corner));
        if inside(self, other) || inside(other, self) {
            return 0.0;
        }
        let distances = self.edges.iter().flat_map(|a| other.edges.iter().map(move |b| between_segments(*a, *b)));
        (distances.fold(f64::INFINITY, f64::min) - self.radius - other.radius).max(0.0)
    }

    /// True if a point is inside: a ray from it crosses the edges an odd number of times.
    fn encloses(&self, point: Point2<f64>) -> bool {
        let crosses = |[a, b]: &[Point2<f64>; 2]| {
            (a.y > point.y) != (b.y > point.y) && point.x < a.x + (point.y - a.y) / (b.y - a.y) * (b.x - a.x)
        };
        self.edges.iter().filter(|edge| crosses(edge)).count() % 2 == 1
    }
}

fn between_segments(p: [Point2<f64>; 2], q: [Point2<f64>; 2]) -> f64 {
    let side = |[a, b]: [Point2<f64>; 2], c: Point2<f64>| (b - a).perp(&(c - a));
    let parts = |s: [Point2<f64>; 2], t: [Point2<f64>; 2]| side(s, t[0]) * side(s, t[1]) < 0.0;
    if parts(p, q) && parts(q, p) {
        return 0.0;
    }
    let ends = [to_segment(p[0], q), to_segment(p[1], q), to_segment(q[0], p), to_segment(q[1], p)];
    ends.into_iter().fold(f64::INFINITY, f64::min)
}

fn to_segment(c: Point2<f64>, [a, b]: [Point2<f64>; 2]) -> f64 {
    let along = b - a;
    let length = along.norm_squared();
    let fraction = if length > 0.0 { ((c - a).dot(&along) / length).clamp(0.0, 1.0) } else { 0.0 };
    (c - (a + along * fraction)).norm()
}
