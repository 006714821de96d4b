//! A contact that moves with its bodies: a fixed pair of features, evaluated at poses near those where it was found.
//!
//! The narrow phase is for one pair of poses. An implicit step needs the gap and the normal of the *same* features at
//! several poses, and their derivatives. Both have closed forms for a vertex and a face, two edges, and two
//! centres.   [MEET-1]

use nalgebra::{Point3, Unit, Vector3};

use crate::implicit::Sensitivity;
use crate::{ContactPoint, Pose, Shape, planar, spatial};

/// Feature of a shape, in its own coordinates.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Core {
    /// A vertex, or the centre of a round shape.
    Vertex,
    /// A line with this direction.
    Edge(Vector3<f64>),
    /// A plane.
    Face,
}

/// Kinds of the two features.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// Two vertices: the normal is along the line through them.
    Vertices,
    /// A face of A, which defines the normal, and a vertex of B.
    FaceOfA,
    /// A vertex of A and a face of B.
    FaceOfB,
    /// An edge of A and a vertex of B.
    EdgeOfA,
    /// A vertex of A and an edge of B.
    EdgeOfB,
    /// Two edges: the normal is perpendicular to both.
    Edges,
}

/// Two features in contact, in the coordinates of their shapes.   [MEET-1]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FeaturePair {
    kind: Kind,
    core_a: Point3<f64>,
    core_b: Point3<f64>,
    /// Direction of an edge, or outward normal of a face.
    axis_a: Vector3<f64>,
    axis_b: Vector3<f64>,
    radius_a: f64,
    radius_b: f64,
    /// Sign ±1 of the common perpendicular of two edges that points from A to B.
    side: f64,
}

/// Contact of two features at given poses, in world coordinates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FeatureContact {
    /// Point on the surface of A.
    pub point_a: Point3<f64>,
    /// Point on the surface of B.
    pub point_b: Point3<f64>,
    /// Unit normal, out of A towards B.
    pub normal: Vector3<f64>,
    /// Signed distance along the normal.
    pub gap: f64,
}

/// Smallest cosine of normals that count as equal.
const SAME_DIRECTION: f64 = 1.0 - 1e-10;

impl FeaturePair {
    /// Returns the features of a contact that the narrow phase found at these poses; `None` for shapes without
    /// features (ellipses and other smooth ones) and polygons that are not convex.
    pub fn new(a: (&Shape, &Pose), b: (&Shape, &Pose), contact: &ContactPoint) -> Option<Self> {
        let (on_a, on_b) = contact.feature.parts();
        let (core_of_a, radius_a) = core(a.0, on_a)?;
        let (core_of_b, radius_b) = core(b.0, on_b)?;
        let normal = contact.normal.into_inner();
        let local = |pose: &Pose, point: Point3<f64>| pose.inverse_transform_point(&point);
        let (n_a, n_b) = (a.1.rotation.inverse() * normal, b.1.rotation.inverse() * normal);
        let core_a = local(a.1, contact.point_a - normal * radius_a);
        let core_b = local(b.1, contact.point_b + normal * radius_b);
        let base =
            Self { kind: Kind::Vertices, core_a, core_b, axis_a: n_a, axis_b: -n_b, radius_a, radius_b, side: 1.0 };
        Some(match (core_of_a, core_of_b) {
            (Core::Vertex, Core::Vertex) => Self { kind: corner_kind(a.0, b.0, &n_a, &n_b), ..base },
            (Core::Face, _) => Self { kind: Kind::FaceOfA, ..base },
            (_, Core::Face) => Self { kind: Kind::FaceOfB, ..base },
            (Core::Edge(e), Core::Vertex) => Self { kind: Kind::EdgeOfA, axis_a: e, ..base },
            (Core::Vertex, Core::Edge(e)) => Self { kind: Kind::EdgeOfB, axis_b: e, ..base },
            (Core::Edge(e), Core::Edge(f)) => {
                let perpendicular = (a.1.rotation * e).cross(&(b.1.rotation * f));
                let side = if perpendicular.dot(&normal) < 0.0 { -1.0 } else { 1.0 };
                Self { kind: Kind::Edges, axis_a: e, axis_b: f, side, ..base }
            }
        })
    }

    /// Treats a contact of any kind as a point of one shape over a plane of the other, which is exact to first order
    /// near the poses where it was found. The plane belongs to A unless only B is flat.
    pub fn carried(a: (&Shape, &Pose), b: (&Shape, &Pose), contact: &ContactPoint) -> Self {
        let normal = contact.normal.into_inner();
        let kind = if is_flat(b.0) && !is_flat(a.0) { Kind::FaceOfB } else { Kind::FaceOfA };
        Self {
            kind,
            core_a: a.1.inverse_transform_point(&contact.point_a),
            core_b: b.1.inverse_transform_point(&contact.point_b),
            axis_a: a.1.rotation.inverse() * normal,
            axis_b: b.1.rotation.inverse() * -normal,
            radius_a: 0.0,
            radius_b: 0.0,
            side: 1.0,
        }
    }

    /// Returns the contact of the same features at other poses.   [MEET-1]
    pub fn at(&self, pose_a: &Pose, pose_b: &Pose) -> FeatureContact {
        let (mut a, mut b) = (pose_a * self.core_a, pose_b * self.core_b);
        let (axis_a, axis_b) = (pose_a.rotation * self.axis_a, pose_b.rotation * self.axis_b);
        let between = b - a;
        let (normal, distance) = match self.kind {
            Kind::Vertices => direction(&between, &axis_a),
            Kind::FaceOfA => (axis_a, axis_a.dot(&between)),
            Kind::FaceOfB => (-axis_b, -axis_b.dot(&between)),
            Kind::EdgeOfA => direction(&(between - axis_a * axis_a.dot(&between)), &any_perpendicular(&axis_a)),
            Kind::EdgeOfB => direction(&(between - axis_b * axis_b.dot(&between)), &any_perpendicular(&axis_b)),
            Kind::Edges => {
                let normal = axis_a.cross(&axis_b).normalize() * self.side;
                (normal, normal.dot(&between))
            }
        };
        match self.kind {
            Kind::Vertices => {}
            Kind::FaceOfA | Kind::EdgeOfA => a = b - normal * distance,
            Kind::FaceOfB | Kind::EdgeOfB => b = a + normal * distance,
            Kind::Edges => {
                a += axis_a * along_first(&axis_a, &axis_b, &between);
                b = a + normal * distance;
            }
        }
        FeatureContact {
            point_a: a + normal * self.radius_a,
            point_b: b - normal * self.radius_b,
            normal,
            gap: distance - (self.radius_a + self.radius_b),
        }
    }

    /// Returns the derivative of the contact at these poses, where it is `point`.   [MEET-2]
    pub fn sensitivity(&self, pose_a: &Pose, pose_b: &Pose, point: &FeatureContact) -> Sensitivity {
        let mut out = Sensitivity::default();
        let axes = (pose_a.rotation * self.axis_a, pose_b.rotation * self.axis_b);
        for column in 0..6 {
            let unit = |first: usize| Vector3::from_fn(|k, _| if column == first + k { 1.0 } else { 0.0 });
            let (moved, turned) = self.change(&axes, point, &unit(0), &unit(3));
            out.point_a.set_column(column, &moved);
            out.normal.set_column(column, &turned);
        }
        out
    }

    /// Returns the changes of the point on A and of the normal if B's material point at the contact moves by `linear`
    /// and B rotates by `angular`, with A at rest.
    fn change(
        &self,
        (e, f): &(Vector3<f64>, Vector3<f64>),
        at: &FeatureContact,
        linear: &Vector3<f64>,
        angular: &Vector3<f64>,
    ) -> (Vector3<f64>, Vector3<f64>) {
        let n = &at.normal;
        let across = |x: Vector3<f64>, axis: &Vector3<f64>| x - axis * axis.dot(&x);
        // The material of B at the foot on its core, and the distance of the cores.
        let foot = linear + angular.cross(&(n * self.radius_b));
        let distance = at.gap + self.radius_a + self.radius_b;
        let over = |x: Vector3<f64>| if distance > 0.0 { across(x, n) / distance } else { Vector3::zeros() };
        let (slid, turned) = match self.kind {
            Kind::Vertices => (Vector3::zeros(), over(foot)),
            Kind::FaceOfA => (across(foot, n), Vector3::zeros()),
            Kind::FaceOfB => (Vector3::zeros(), angular.cross(n)),
            Kind::EdgeOfA => (e * e.dot(&foot), over(across(foot, e))),
            // The edge turns with B: f · δw = −δf · w for w perpendicular to f.
            Kind::EdgeOfB => (Vector3::zeros(), over(across(foot, f) - f * (angular.cross(f).dot(n) * distance))),
            Kind::Edges => {
                let perpendicular = e.cross(f);
                let turned = across(e.cross(&angular.cross(f)), n) * (self.side / perpendicular.norm());
                (e * along_first(e, f, &(foot - turned * distance)), turned)
            }
        };
        (slid + turned * self.radius_a, turned)
    }
}

/// Returns s of the two numbers with e · (x − s e + t f) = f · (x − s e + t f) = 0: the closest point of the lines
/// along e.
fn along_first(e: &Vector3<f64>, f: &Vector3<f64>, x: &Vector3<f64>) -> f64 {
    let cosine = e.dot(f);
    (e.dot(x) - cosine * f.dot(x)) / (1.0 - cosine * cosine)
}

/// Returns direction and length of a vector; `otherwise` and zero for a null vector.
fn direction(vector: &Vector3<f64>, otherwise: &Vector3<f64>) -> (Vector3<f64>, f64) {
    Unit::try_new_and_get(*vector, 0.0).map_or((*otherwise, 0.0), |(unit, length)| (unit.into_inner(), length))
}

fn any_perpendicular(axis: &Vector3<f64>) -> Vector3<f64> {
    let other = if axis.x.abs() < 0.6 { Vector3::x() } else { Vector3::y() };
    axis.cross(&other).normalize()
}

/// True if a shape has flat faces only.
fn is_flat(shape: &Shape) -> bool {
    match shape {
        Shape::Planar(shape) => {
            matches!(shape, planar::Shape::HalfPlane { .. } | planar::Shape::Box { .. } | planar::Shape::Polygon(_))
        }
        Shape::Spatial(shape) => matches!(
            shape,
            spatial::Shape::HalfSpace { .. } | spatial::Shape::Box { .. } | spatial::Shape::Polyhedron(_)
        ),
    }
}

/// Returns the kind of a pair of vertices in the plane: the end of a flat overlap, where the normal is that of a
/// face, or two points.   [GEOM-7]
fn corner_kind(a: &Shape, b: &Shape, n_a: &Vector3<f64>, n_b: &Vector3<f64>) -> Kind {
    if has_normal(a, n_a) {
        Kind::FaceOfA
    } else if has_normal(b, &-n_b) {
        Kind::FaceOfB
    } else {
        Kind::Vertices
    }
}

/// True if a face of a planar shape has the normal `direction`.
fn has_normal(shape: &Shape, direction: &Vector3<f64>) -> bool {
    match shape {
        Shape::Planar(planar::Shape::Capsule { .. }) => direction.y.abs() >= SAME_DIRECTION,
        Shape::Planar(planar::Shape::Box { .. }) => direction.x.abs().max(direction.y.abs()) >= SAME_DIRECTION,
        Shape::Planar(planar::Shape::Polygon(polygon)) => {
            polygon.normals().iter().any(|n| n.dot(&direction.xy()) >= SAME_DIRECTION)
        }
        _ => false,
    }
}

/// Returns the feature of a shape with this number, and the radius of the shape around its core.
fn core(shape: &Shape, feature: usize) -> Option<(Core, f64)> {
    let face_after = |vertices: usize| if feature < vertices { Core::Vertex } else { Core::Face };
    Some(match shape {
        Shape::Planar(shape) => match shape {
            planar::Shape::Point => (Core::Vertex, 0.0),
            planar::Shape::Disc { radius } => (Core::Vertex, *radius),
            planar::Shape::Capsule { radius, .. } => (face_after(2), *radius),
            planar::Shape::Box { .. } => (face_after(4), 0.0),
            planar::Shape::Polygon(polygon) => (face_after(polygon.vertices().len()), 0.0),
            planar::Shape::HalfPlane { .. } => (Core::Face, 0.0),
            _ => return None,
        },
        Shape::Spatial(shape) => match shape {
            spatial::Shape::Point => (Core::Vertex, 0.0),
            spatial::Shape::Sphere { radius } => (Core::Vertex, *radius),
            spatial::Shape::Capsule { radius, .. } => {
                (if feature < 2 { Core::Vertex } else { Core::Edge(Vector3::x()) }, *radius)
            }
            spatial::Shape::HalfSpace { .. } => (Core::Face, 0.0),
            spatial::Shape::Box { .. } => (box_core(feature), 0.0),
            spatial::Shape::Polyhedron(polyhedron) => (polyhedron_core(polyhedron, feature), 0.0),
            _ => return None,
        },
    })
}

/// Returns the kind of a feature of a box: 8 vertices, four edges along each of x, y and z, 6 faces.
fn box_core(feature: usize) -> Core {
    match feature {
        0..8 => Core::Vertex,
        8..20 => Core::Edge(Vector3::ith((feature - 8) / 4, 1.0)),
        _ => Core::Face,
    }
}

fn polyhedron_core(polyhedron: &spatial::ConvexPolyhedron, feature: usize) -> Core {
    let vertices = polyhedron.vertices();
    let Some(edge) = feature.checked_sub(vertices.len()) else { return Core::Vertex };
    let Some(ends) = polyhedron.edges().nth(edge) else { return Core::Face };
    debug_assert!(ends.iter().all(|&end| (end as usize) < vertices.len()), "edges refer to vertices");
    let end = |k: usize| vertices.get(ends[k] as usize).copied().unwrap_or_default();
    Core::Edge((end(1) - end(0)).normalize())
}
