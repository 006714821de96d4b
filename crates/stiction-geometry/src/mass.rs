//! Mass, centre and inertia of shapes of uniform density, and of composite bodies.
//!
//! All results follow from the second moment S = ∫ρ x xᵀ about the centre, with the inertia I = tr(S) 1 − S [MASS-1].
//! A planar shape is a thin plate in z = 0: its inertia about z is the one of planar dynamics, and the other
//! entries are those of the plate. The sums do not use parry, which is a reference of the tests only: its inertia of a
//! planar capsule takes the centroid of a half *ball* for that of a half disc, and in space it goes through an
//! eigenvalue decomposition that costs digits.

use std::f64::consts::PI;

use nalgebra::{Matrix3, Point3, Vector3};

use crate::moments::{Moments, superellipse_integral};
use crate::{Pose, Shape, planar, spatial};

/// Mass, centre of mass and inertia about it, in body axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MassProperties {
    /// Mass.
    pub mass: f64,
    /// Centre of mass.
    pub centre: Point3<f64>,
    /// Inertia about the centre of mass.
    pub inertia: Matrix3<f64>,
}

/// Error in the computation of mass properties.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MassError {
    /// The shape has no finite volume.
    #[error("a {shape} has no finite volume: state the mass and the inertia of its body instead of a density")]
    NoVolume {
        /// Name of the shape.
        shape: &'static str,
    },
    /// The volume is finite but not known.
    #[error(
        "the volume of an {shape} is not computed: state the mass and the inertia of its body instead of a density"
    )]
    NotComputed {
        /// Name of the shape.
        shape: &'static str,
    },
    /// The density or mass is not a positive number.
    #[error("{what} must be a positive finite number, not {value}")]
    BadAmount {
        /// Name of the quantity: density or mass.
        what: &'static str,
        /// Given value.
        value: f64,
    },
    /// A body without parts.
    #[error("a body needs at least one part")]
    NoParts,
}

/// Returns the mass properties of one shape of uniform density (per area in the plane, per volume in space).
pub fn mass_properties(shape: &Shape, density: f64) -> Result<MassProperties, MassError> {
    let density = positive("the density", density)?;
    let moments = match shape {
        Shape::Planar(shape) => planar_moments(shape),
        Shape::Spatial(shape) => shape.moments(),
    };
    let is_implicit =
        matches!(shape, Shape::Planar(planar::Shape::Implicit(_)) | Shape::Spatial(spatial::Shape::Implicit(_)));
    let name = shape.name();
    moments.map(|moments| with_density(&moments, density)).ok_or(if is_implicit && shape.radius_bound().is_some() {
        MassError::NotComputed { shape: name }
    } else {
        MassError::NoVolume { shape: name }
    })
}

/// Returns the mass properties of a body of several shapes of the same density, each at its pose in the body.
///
/// Overlaps count twice.
pub fn composite_mass_properties<'a>(
    parts: impl IntoIterator<Item = (&'a Shape, &'a Pose)>,
    density: f64,
) -> Result<MassProperties, MassError> {
    let part = |(shape, pose): (&Shape, &Pose)| mass_properties(shape, density).map(|part| part.placed(pose));
    let parts = parts.into_iter().map(part).collect::<Result<Vec<_>, _>>()?;
    MassProperties::combined(&parts)
}

impl MassProperties {
    /// Returns the same body in a frame in which its pose is `pose`.
    pub fn placed(&self, pose: &Pose) -> Self {
        let r = pose.rotation.matrix();
        Self { mass: self.mass, centre: pose * self.centre, inertia: r * self.inertia * r.transpose() }
    }

    /// Returns the same distribution with another total mass.
    pub fn with_mass(&self, mass: f64) -> Result<Self, MassError> {
        let mass = positive("the mass", mass)?;
        Ok(Self { mass, centre: self.centre, inertia: self.inertia * (mass / self.mass) })
    }

    /// Returns the body made of `parts`, all given in the same frame.   [MASS-2]
    pub fn combined(parts: &[Self]) -> Result<Self, MassError> {
        let mass: f64 = parts.iter().map(|part| part.mass).sum();
        if parts.is_empty() {
            return Err(MassError::NoParts);
        }
        let mass = positive("the mass", mass)?;
        let centre = parts.iter().map(|part| part.centre.coords * (part.mass / mass)).sum::<Vector3<f64>>();
        let inertia = parts.iter().map(|part| {
            let d = part.centre.coords - centre;
            part.inertia + (Matrix3::from_diagonal_element(d.norm_squared()) - d * d.transpose()) * part.mass
        });
        Ok(Self { mass, centre: centre.into(), inertia: inertia.sum() })
    }
}

/// Inertia of a slender rod of the given length about its centre, m L² / 12.   [MASS-3]
pub fn slender_rod_inertia(mass: f64, length: f64) -> f64 {
    mass * length * length / 12.0
}

/// Inertia of a planar block about its centre, m (l² + w²) / 12.   [MASS-3]
pub fn block_inertia(mass: f64, length: f64, width: f64) -> f64 {
    mass * (length * length + width * width) / 12.0
}

/// Inertia of a disc about its centre, m r² / 2.   [MASS-3]
pub fn disc_inertia(mass: f64, radius: f64) -> f64 {
    mass * radius * radius / 2.0
}

/// Inertia of an elliptic disc about its centre, m (a² + b²) / 4.   [MASS-3]
pub fn ellipse_inertia(mass: f64, semi_axes: [f64; 2]) -> f64 {
    let [a, b] = semi_axes;
    mass * (a * a + b * b) / 4.0
}

/// Inertia of a ball about its centre, 2/5 m r².   [MASS-3]
pub fn sphere_inertia(mass: f64, radius: f64) -> f64 {
    0.4 * mass * radius * radius
}

/// Principal inertias of a solid box about its centre, `m (h_y² + h_z²) / 3` and so on.   [MASS-3]
pub fn box_inertia(mass: f64, half_extents: [f64; 3]) -> Vector3<f64> {
    let square = Vector3::from(half_extents).map(|h| h * h);
    (Vector3::repeat(square.sum()) - square) * (mass / 3.0)
}

/// Principal inertias of a solid ellipsoid about its centre, `m (b² + c²) / 5` and so on.   [MASS-3]
pub fn ellipsoid_inertia(mass: f64, semi_axes: [f64; 3]) -> Vector3<f64> {
    let square = Vector3::from(semi_axes).map(|a| a * a);
    (Vector3::repeat(square.sum()) - square) * (mass / 5.0)
}

/// Principal inertias of a solid cylinder along x about its centre: m r² / 2 and m (r² / 4 + h² / 3).   [MASS-3]
pub fn cylinder_inertia(mass: f64, half_length: f64, radius: f64) -> Vector3<f64> {
    let across = radius * radius / 4.0 + half_length * half_length / 3.0;
    Vector3::new(radius * radius / 2.0, across, across) * mass
}

/// Principal inertias of a solid capsule along x about its centre: a cylinder and two half balls.   [MASS-3]
pub fn capsule_inertia(mass: f64, half_length: f64, radius: f64) -> Vector3<f64> {
    let moments = Moments::capsule(half_length, radius);
    with_density(&moments, mass / moments.measure).inertia.diagonal()
}

/// Returns the mass properties for a density: I = ρ (tr(S) 1 − S).   [MASS-1]
pub(crate) fn with_density(moments: &Moments, density: f64) -> MassProperties {
    let inertia = Matrix3::from_diagonal_element(moments.second.trace()) - moments.second;
    MassProperties { mass: moments.measure * density, centre: moments.centre, inertia: inertia * density }
}

fn planar_moments(shape: &planar::Shape) -> Option<Moments> {
    use planar::Shape;
    Some(match shape {
        Shape::Disc { radius: r } => Moments::symmetric(PI * r * r, [r * r / 4.0, r * r / 4.0, 0.0]),
        Shape::Box { half_extents: [x, y] } => Moments::symmetric(4.0 * x * y, [x * x / 3.0, y * y / 3.0, 0.0]),
        Shape::Ellipse { semi_axes: [a, b] } => Moments::symmetric(PI * a * b, [a * a / 4.0, b * b / 4.0, 0.0]),
        Shape::Capsule { half_length, radius } => stadium_moments(*half_length, *radius),
        Shape::Polygon(polygon) => polygon_moments(polygon.vertices()),
        Shape::SimplePolygon(polygon) => polygon_moments(polygon.vertices()),
        Shape::Superellipse { semi_axes: [a, b], exponent } => superellipse_moments(*a, *b, *exponent),
        Shape::Point | Shape::HalfPlane { .. } | Shape::Implicit(_) => return None,
    })
}

/// Area and mean squares of a superellipse.   [MASS-4]
fn superellipse_moments(a: f64, b: f64, p: f64) -> Moments {
    let area = superellipse_integral(p, 0.0, 0.0);
    let mean_square = superellipse_integral(p, 2.0, 0.0) / area;
    Moments::symmetric(a * b * area, [a * a * mean_square, b * b * mean_square, 0.0])
}

/// A rectangle and two half discs, whose centroids are 4r / 3π from the straight side.   [MASS-3]
fn stadium_moments(h: f64, r: f64) -> Moments {
    let (rectangle, caps) = (4.0 * h * r, PI * r * r);
    let along = rectangle * h * h / 3.0 + caps * (r * r / 4.0 + h * h + 2.0 * h * (4.0 * r / (3.0 * PI)));
    let across = rectangle * r * r / 3.0 + caps * r * r / 4.0;
    let area = rectangle + caps;
    Moments::symmetric(area, [along / area, across / area, 0.0])
}

/// Sums over the triangles from the mean vertex to each edge; triangles of edges seen from outside are
/// negative.   [MASS-1]
fn polygon_moments(vertices: &[nalgebra::Point2<f64>]) -> Moments {
    let mean = vertices.iter().map(|v| v.coords.push(0.0)).sum::<Vector3<f64>>() / vertices.len() as f64;
    let corner = |v: &nalgebra::Point2<f64>| v.coords.push(0.0) - mean;
    let triangles = vertices.iter().zip(vertices.iter().cycle().skip(1)).map(|(p, q)| [corner(p), corner(q)]);
    Moments::of_simplices(mean, triangles.map(|edge| (edge[0].cross(&edge[1]).z / 2.0, edge)))
}

pub(crate) fn positive(what: &'static str, value: f64) -> Result<f64, MassError> {
    if value.is_normal() && value > 0.0 { Ok(value) } else { Err(MassError::BadAmount { what, value }) }
}
