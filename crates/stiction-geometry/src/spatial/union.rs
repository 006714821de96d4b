//! Unions of convex pieces that move together: contacts that only the seams between the pieces make.
//!
//! A contact of a piece at a point p with the normal n is one of the union only if n is normal to the union there. The
//! tangent cone of a union is the union of the tangent cones of its pieces, so its normal cone is the intersection of
//! theirs: every piece that contains p lies behind the plane through p with the normal n.   [CORNER-6]
//! At the foot of a wall that cone is empty, although the wall pushes. The rule is therefore asked next to p, on the
//! same feature of the piece: the contact stands if somewhere beside p it is one of the union.

use std::f64::consts::TAU;

use nalgebra::{Point3, Vector3};

use super::placed::CoreBuffer;
use super::sink::Tolerance;
use super::{Kind, Shape, is_cylinder_pair, kind};
use crate::Pose;

/// Sine of the angle at which a direction counts as along a plane.
const ALONG: f64 = 1e-6;

/// A convex polytope as the intersection of half-spaces, and by its vertices.
#[derive(Clone, Debug)]
struct Piece {
    /// Outward normals and offsets: n · x ≤ d.
    planes: Vec<(Vector3<f64>, f64)>,
    vertices: Vec<Point3<f64>>,
}

/// A convex piece and those of its union that touch or overlap it, in the frame of the piece.
#[derive(Clone, Debug)]
pub struct UnionPiece {
    own: Piece,
    /// Directions of the edges of the piece.
    edges: Vec<Vector3<f64>>,
    neighbours: Vec<Neighbour>,
}

/// A piece beside another one.
#[derive(Clone, Debug)]
struct Neighbour {
    piece: Piece,
    /// Number that the caller gave it.
    number: usize,
    /// Distance below which the two pieces touch.
    tolerance: f64,
}

/// Feature of a piece at a contact.
#[derive(Clone, Copy, Debug)]
enum Place {
    Vertex,
    /// An edge with this direction.
    Edge(Vector3<f64>),
    /// A face with this normal.
    Face(Vector3<f64>),
}

impl Piece {
    fn new(shape: &Shape, pose: &Pose, buffer: &mut CoreBuffer) -> Option<Self> {
        if kind(shape) != Kind::Polytope {
            return None;
        }
        let core = buffer.place(shape, pose.rotation.matrix(), &pose.translation.vector)?;
        let offset = |face: u32| core.normal(face).dot(&core.face_origin(face).coords);
        let planes = (0..core.normals.len() as u32).map(|face| (core.normal(face), offset(face))).collect();
        Some(Self { planes, vertices: core.vertices.to_vec() })
    }

    /// True if a point is inside or at most `tolerance` outside.
    fn contains(&self, point: &Point3<f64>, tolerance: f64) -> bool {
        self.planes.iter().all(|(normal, offset)| normal.dot(&point.coords) <= offset + tolerance)
    }

    /// True if the point `direction` away from `point`, which is in the piece, is in it too, for small lengths.
    fn contains_along(&self, point: &Point3<f64>, direction: &Vector3<f64>, tolerance: f64) -> bool {
        self.planes_at(point, tolerance).all(|normal| normal.dot(direction) <= ALONG)
    }

    /// Returns the normals of the planes that contain a point.
    fn planes_at(&self, point: &Point3<f64>, tolerance: f64) -> impl Iterator<Item = &Vector3<f64>> {
        let is_at = move |(normal, offset): &&(Vector3<f64>, f64)| normal.dot(&point.coords) >= offset - tolerance;
        self.planes.iter().filter(is_at).map(|(normal, _)| normal)
    }

    /// True if the piece lies behind the plane through `point` with this normal, or at most `tolerance` before it.
    fn is_behind(&self, point: &Point3<f64>, normal: &Vector3<f64>, tolerance: f64) -> bool {
        self.vertices.iter().all(|vertex| normal.dot(&(vertex - point)) <= tolerance)
    }
}

impl UnionPiece {
    /// Returns a piece with its neighbours among `others`, which have a number and a pose in its frame; `None` without
    /// neighbours, and for shapes without faces.
    pub fn new<'a>(shape: &Shape, others: impl Iterator<Item = (usize, &'a Shape, Pose)>) -> Option<Self> {
        let (mut buffer, size) = (CoreBuffer::default(), shape.radius_bound()?);
        let own = Piece::new(shape, &Pose::identity(), &mut buffer)?;
        let core = buffer.place(shape, Pose::identity().rotation.matrix(), &Vector3::zeros())?;
        let direction = |(_, edge)| {
            let [from, to] = core.ends(edge);
            (to - from).normalize()
        };
        let edges = core.edges().map(direction).collect();
        let neighbours = others.filter_map(|(number, other, pose)| {
            let distance = pose.translation.vector.norm();
            let tolerance = Tolerance::new(size, other.radius_bound()?, distance).touching;
            let piece = Piece::new(other, &pose, &mut buffer)?;
            // A plane between them is found by its faces; edges that pass each other at most add a neighbour.
            let apart = |p: &Piece, q: &Piece| {
                p.planes.iter().any(|(n, d)| q.vertices.iter().all(|v| n.dot(&v.coords) > d + tolerance))
            };
            (!apart(&own, &piece) && !apart(&piece, &own)).then_some(Neighbour { piece, number, tolerance })
        });
        let neighbours: Vec<_> = neighbours.collect();
        (!neighbours.is_empty()).then_some(Self { own, edges, neighbours })
    }

    /// True if a contact of the piece belongs to the union of the piece and those neighbours for which `counts` is
    /// true.   [CORNER-6]
    ///
    /// `point` and the outward `normal` are in the frame of the piece, `feature` is the number of its feature; with
    /// none, the feature is that at the point.
    pub fn keeps(
        &self,
        feature: Option<usize>,
        (point, normal): (&Point3<f64>, &Vector3<f64>),
        counts: impl Fn(usize) -> bool,
    ) -> bool {
        let at = |n: &&Neighbour| n.piece.contains(point, n.tolerance) && counts(n.number);
        let near: Vec<&Neighbour> = self.neighbours.iter().filter(at).collect();
        let Some(tolerance) = near.iter().map(|n| n.tolerance).reduce(f64::max) else { return true };
        let place = self.place(feature, point, tolerance);
        let is_before = |n: &&&Neighbour| !n.piece.is_behind(point, normal, 2.0 * n.tolerance);
        let before: Vec<&Neighbour> = near.iter().filter(is_before).copied().collect();
        if !before.is_empty() && !self.is_exposed(&place, point, tolerance, &before) {
            return false;
        }
        matches!(place, Place::Face(_)) || !self.is_inside_face(point, normal, tolerance, &near)
    }

    /// Returns the feature with a number, or that at a point.
    fn place(&self, feature: Option<usize>, point: &Point3<f64>, tolerance: f64) -> Place {
        let vertices = self.own.vertices.len();
        if let Some(number) = feature {
            let after_vertices = number.checked_sub(vertices);
            let Some(number) = after_vertices else { return Place::Vertex };
            if let Some(along) = self.edges.get(number) {
                return Place::Edge(*along);
            }
            if let Some((normal, _)) = self.own.planes.get(number - self.edges.len()) {
                return Place::Face(*normal);
            }
        }
        let mut normals = self.own.planes_at(point, tolerance);
        match (normals.next(), normals.next(), normals.next()) {
            (Some(normal), None, _) => Place::Face(*normal),
            (Some(m), Some(n), None) => Place::Edge(m.cross(n).normalize()),
            _ => Place::Vertex,
        }
    }

    /// True if the feature leaves the neighbours `before` it somewhere next to the point.
    fn is_exposed(&self, place: &Place, point: &Point3<f64>, tolerance: f64, before: &[&Neighbour]) -> bool {
        let is_free = |direction: &Vector3<f64>| {
            self.own.contains_along(point, direction, tolerance)
                && before.iter().all(|n| !n.piece.contains_along(point, direction, n.tolerance))
        };
        match place {
            Place::Vertex => false,
            Place::Edge(along) => is_free(along) || is_free(&-along),
            Place::Face(normal) => self.sectors(point, normal, tolerance, before).iter().any(is_free),
        }
    }

    /// True if the point is inside a face of the union with this normal: its pieces cover the plane around it.
    fn is_inside_face(&self, point: &Point3<f64>, normal: &Vector3<f64>, tolerance: f64, near: &[&Neighbour]) -> bool {
        let is_covered = |direction: &Vector3<f64>| {
            self.own.contains_along(point, direction, tolerance)
                || near.iter().any(|n| n.piece.contains_along(point, direction, n.tolerance))
        };
        self.sectors(point, normal, tolerance, near).iter().all(is_covered)
    }

    /// Returns a direction inside each sector of the plane through a point, cut by the planes of all pieces that
    /// contain the point. The pieces contain all small steps into a sector or none.
    fn sectors(
        &self,
        point: &Point3<f64>,
        normal: &Vector3<f64>,
        tolerance: f64,
        near: &[&Neighbour],
    ) -> Vec<Vector3<f64>> {
        let u = super::segment::perpendicular(normal);
        let v = normal.cross(&u);
        let of_neighbours = near.iter().flat_map(|n| n.piece.planes_at(point, n.tolerance));
        let lines = self.own.planes_at(point, tolerance).chain(of_neighbours).filter_map(|plane| {
            let line = normal.cross(plane);
            (line.norm() > ALONG).then(|| libm::atan2(line.dot(&v), line.dot(&u)).rem_euclid(0.5 * TAU))
        });
        let mut angles: Vec<f64> = lines.flat_map(|angle| [angle, angle + 0.5 * TAU]).collect();
        angles.sort_by(f64::total_cmp);
        let next = angles.iter().skip(1).copied().chain(angles.first().map(|first| first + TAU));
        let middle = |(from, to): (&f64, f64)| {
            let (sine, cosine) = libm::sincos(0.5 * (from + to));
            u * cosine + v * sine
        };
        let between: Vec<_> = angles.iter().zip(next).map(middle).collect();
        if between.is_empty() { vec![u] } else { between }
    }
}

/// True if the features of a contact of two shapes are numbered vertices, edges and faces.
pub(crate) fn has_numbered_features(a: &Shape, b: &Shape) -> bool {
    is_cylinder_pair(a, b) || kind(a).max(kind(b)) < Kind::Smooth
}

#[cfg(test)]
mod tests {
    use nalgebra::{Point3, Vector3};

    use super::UnionPiece;
    use crate::Pose;
    use crate::spatial::Shape;

    /// Numbers of the features of a box: edges after eight vertices, faces after twelve edges.
    const EDGES: usize = 8;
    const FACES: usize = 20;
    const UP: usize = FACES;
    const LEFT: usize = FACES + 5;
    /// The edge between the faces −x and +z, which is along y.
    const TOP_LEFT: usize = EDGES + 6;
    /// The vertex (−, +, +).
    const TOP_LEFT_BACK: usize = 6;

    /// A box from one corner to the other, with its centre.
    fn cuboid(from: [f64; 3], to: [f64; 3]) -> (Shape, Vector3<f64>) {
        let (from, to) = (Vector3::from(from), Vector3::from(to));
        (Shape::cuboid((0.5 * (to - from)).into()).unwrap(), 0.5 * (from + to))
    }

    /// The first box as a piece of a union of all.
    fn first_of(boxes: &[(Shape, Vector3<f64>)]) -> Option<UnionPiece> {
        let (first, at) = boxes.first()?;
        let pose = |other: &Vector3<f64>| Pose::translation(other.x - at.x, other.y - at.y, other.z - at.z);
        UnionPiece::new(first, (1..).zip(boxes.iter().skip(1)).map(|(k, (shape, at))| (k, shape, pose(at))))
    }

    /// Asks at a point and normal in the frame of the first box, which is 1 m wide and high and 2 m deep.
    fn keeps(others: &[(Shape, Vector3<f64>)], feature: usize, point: [f64; 3], normal: [f64; 3]) -> bool {
        let mut boxes = vec![cuboid([0.0, -1.0, 0.0], [1.0, 1.0, 1.0])];
        boxes.extend_from_slice(others);
        let point = Point3::from(point) - Vector3::new(0.5, 0.0, 0.5);
        let normal = Vector3::from(normal).normalize();
        first_of(&boxes).is_none_or(|piece| piece.keeps(Some(feature), (&point, &normal), |_| true))
    }

    const OUT: [f64; 3] = [-1.0, 0.0, 0.0];
    const TILTED: [f64; 3] = [-0.3, 0.0, 1.0];
    const FLAT: [f64; 3] = [0.0, 0.0, 1.0];

    #[test]
    fn shapes_apart_have_no_union() {
        let [near, apart] = [0.0, 1e-3].map(|gap| cuboid([-1.0, -1.0, 0.0], [-gap, 1.0, 1.0]));
        let this = || cuboid([0.0, -1.0, 0.0], [1.0, 1.0, 1.0]);
        assert!(first_of(&[this(), near]).is_some() && first_of(&[this(), apart]).is_none());
        let ball = (Shape::sphere(1.0).unwrap(), Vector3::zeros());
        assert!(first_of(&[this(), ball]).is_none());
    }

    #[test]
    fn a_flush_neighbour_hides_the_side_and_its_edges_and_leaves_the_top() {
        let flush = [cuboid([-1.0, -1.0, 0.0], [0.0, 1.0, 1.0])];
        for y in [0.0, 0.5, -1.0] {
            assert!(!keeps(&flush, LEFT, [0.0, y, 0.5], OUT), "the side at {y}");
            assert!(!keeps(&flush, TOP_LEFT, [0.0, y, 1.0], TILTED), "the edge at {y}, tilted");
            assert!(keeps(&flush, UP, [0.0, y, 1.0], FLAT), "the top at {y}");
        }
        assert!(!keeps(&flush, TOP_LEFT, [0.0, 0.5, 1.0], FLAT), "nothing begins or ends on a seam");
        assert!(!keeps(&flush, LEFT, [0.0, 0.0, 1.0], OUT), "the upper end of the side is inside too");
        // The end of the seam is a corner of the face of the union only by its own edge, which is the same for both.
        assert!(keeps(&[], LEFT, [0.0, 0.0, 0.5], OUT));
    }

    #[test]
    fn a_step_pushes_above_its_foot() {
        let lower = [cuboid([-1.0, -1.0, 0.0], [0.0, 1.0, 0.999])];
        assert!(keeps(&lower, LEFT, [0.0, 0.2, 0.999], OUT), "at the foot");
        assert!(keeps(&lower, LEFT, [0.0, 0.2, 0.9995], OUT) && keeps(&lower, TOP_LEFT, [0.0, 0.2, 1.0], TILTED));
        assert!(!keeps(&lower, LEFT, [0.0, 0.2, 0.9985], OUT), "below it");
        let higher = [cuboid([-1.0, -1.0, 0.0], [0.0, 1.0, 1.001])];
        assert!(!keeps(&higher, LEFT, [0.0, 0.2, 0.9], OUT) && !keeps(&higher, TOP_LEFT, [0.0, 0.2, 1.0], TILTED));
        assert!(keeps(&higher, UP, [0.0, 0.2, 1.0], FLAT), "the top ends at the wall of the other");
    }

    #[test]
    fn several_pieces_cover_what_none_covers_alone() {
        let [front, back] = [[-1.0, 0.3], [0.3, 1.0]].map(|[from, to]| cuboid([-1.0, from, 0.0], [0.0, to, 1.0]));
        let both = [front.clone(), back];
        assert!(!keeps(&both, LEFT, [0.0, 0.3, 0.5], OUT), "where the two meet");
        assert!(!keeps(&both, TOP_LEFT, [0.0, 0.3, 1.0], TILTED) && !keeps(&both, TOP_LEFT, [0.0, 0.3, 1.0], FLAT));
        // The edge of a hole: with the front piece alone the face is free behind y = 0.3.
        let one = [front];
        assert!(keeps(&one, LEFT, [0.0, 0.3, 0.5], OUT) && keeps(&one, LEFT, [0.0, 0.4, 0.5], OUT));
        assert!(!keeps(&one, LEFT, [0.0, 0.2, 0.5], OUT));
        assert!(keeps(&one, TOP_LEFT, [0.0, 0.3, 1.0], TILTED) && keeps(&one, TOP_LEFT, [0.0, 0.3, 1.0], FLAT));
    }

    #[test]
    fn a_corner_that_four_tiles_share_is_silent_and_one_of_three_is_not() {
        let [left, behind, across] =
            [[-1.0, -1.0], [0.0, 1.0], [-1.0, 1.0]].map(|[x, y]| cuboid([x, y, 0.0], [x + 1.0, y + 2.0, 1.0]));
        let corner = [0.0, 1.0, 1.0];
        for normal in [FLAT, TILTED, [-0.2, 0.3, 1.0]] {
            let four = [left.clone(), behind.clone(), across.clone()];
            assert!(!keeps(&four, TOP_LEFT_BACK, corner, normal), "{normal:?}");
        }
        assert!(keeps(&[left.clone(), behind.clone()], TOP_LEFT_BACK, corner, FLAT), "the corner of a notch");
        assert!(keeps(&[left], TOP_LEFT_BACK, corner, [0.0, 0.3, 1.0]), "two tiles end there");
    }

    #[test]
    fn a_feature_without_a_number_is_that_at_the_point() {
        let boxes = [cuboid([0.0, -1.0, 0.0], [1.0, 1.0, 1.0]), cuboid([-1.0, -1.0, 0.0], [0.0, 1.0, 1.0])];
        let piece = first_of(&boxes).unwrap();
        let keeps = |point: [f64; 3], normal: [f64; 3]| {
            let point = Point3::from(point) - Vector3::new(0.5, 0.0, 0.5);
            piece.keeps(None, (&point, &Vector3::from(normal).normalize()), |_| true)
        };
        assert!(keeps([0.2, 0.0, 1.0], FLAT) && keeps([1.0, 0.0, 1.0], [0.3, 0.0, 1.0]));
        assert!(!keeps([0.0, 0.0, 0.5], OUT) && !keeps([0.0, 0.0, 1.0], TILTED));
        let nobody = |point: [f64; 3]| {
            let point = Point3::from(point) - Vector3::new(0.5, 0.0, 0.5);
            piece.keeps(None, (&point, &Vector3::from(OUT)), |_| false)
        };
        assert!(nobody([0.0, 0.0, 0.5]), "neighbours that do not count hide nothing");
    }
}
