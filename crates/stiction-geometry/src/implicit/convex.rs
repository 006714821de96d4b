//! Convex solids as intersections of finitely many smooth functions.

use nalgebra::{Point3, Vector3};

use super::function::Function;
use super::jet::Jet;
use crate::{Dimension, Shape, planar, spatial};

/// A convex solid: all points where every one of its functions is at most zero.   [IMP-1]
#[derive(Clone, Debug)]
pub struct Convex {
    dimension: Dimension,
    functions: Vec<Function>,
    interior: Vector3<f64>,
    reach: Option<f64>,
    form: Form,
}

/// Shapes whose closest points have a formula.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Form {
    /// A disc or a ball about the origin.
    Ball {
        radius: f64,
    },
    /// A half-plane or half-space.
    HalfSpace {
        normal: Vector3<f64>,
    },
    General,
}

impl Convex {
    /// How many functions there are.
    pub fn functions(&self) -> usize {
        self.functions.len()
    }

    /// Function number `k` at `x`; a function that does not exist is zero.
    pub fn jet(&self, k: usize, x: &Point3<f64>) -> Jet {
        self.functions.get(k).map_or(Jet::ZERO, |function| function.jet(&x.coords))
    }

    /// Plane or space.
    pub fn dimension(&self) -> Dimension {
        self.dimension
    }

    /// Whether function number `k` is curved: false for the flat faces of boxes, polygons and half-spaces.
    pub fn is_curved(&self, k: usize) -> bool {
        self.functions.get(k).is_some_and(|function| !function.is_flat())
    }

    /// A distance from the origin of the shape within which it lies; none for an unbounded one.
    pub fn reach(&self) -> Option<f64> {
        self.reach
    }

    /// A point inside, deep where that is easy.
    pub(super) fn interior(&self) -> Vector3<f64> {
        self.interior
    }

    pub(super) fn form(&self) -> Form {
        self.form
    }

    fn new(dimension: Dimension, functions: Vec<Function>, interior: Vector3<f64>, reach: Option<f64>) -> Self {
        Self { dimension, functions, interior, reach, form: Form::General }
    }

    /// A solid about the origin.
    fn central(dimension: Dimension, functions: Vec<Function>, reach: Option<f64>) -> Self {
        Self::new(dimension, functions, Vector3::zeros(), reach)
    }

    fn ball(dimension: Dimension, radius: f64) -> Self {
        let function = Function::quadric([radius, radius, thickness(dimension, radius)]);
        Self { form: Form::Ball { radius }, ..Self::central(dimension, vec![function], Some(radius)) }
    }

    fn half_space(dimension: Dimension, normal: Vector3<f64>) -> Self {
        let function = Function::Flat { normal, offset: 0.0 };
        Self { form: Form::HalfSpace { normal }, ..Self::new(dimension, vec![function], -normal, None) }
    }

    /// The box with the given half extents, two faces per axis: a point where they are zero.
    fn cuboid(dimension: Dimension, half_extents: &[f64]) -> Self {
        let face = |(axis, &offset): (usize, &f64)| {
            let normal = Vector3::ith(axis, 1.0);
            [Function::Flat { normal, offset }, Function::Flat { normal: -normal, offset }]
        };
        let reach = half_extents.iter().map(|h| h * h).sum::<f64>().sqrt();
        Self::central(dimension, half_extents.iter().enumerate().flat_map(face).collect(), Some(reach))
    }
}

/// The third semi-axis: none in the plane.
fn thickness(dimension: Dimension, spatial: f64) -> f64 {
    match dimension {
        Dimension::Planar => f64::INFINITY,
        Dimension::Spatial => spatial,
    }
}

impl Shape {
    /// The shape as an intersection of convex functions; none for a polygon with notches.
    pub fn convex(&self) -> Option<Convex> {
        match self {
            Self::Planar(shape) => planar_convex(shape),
            Self::Spatial(shape) => spatial_convex(shape),
        }
    }
}

fn planar_convex(shape: &planar::Shape) -> Option<Convex> {
    use planar::Shape;
    let dimension = Dimension::Planar;
    Some(match shape {
        Shape::Point => Convex::cuboid(dimension, &[0.0; 2]),
        Shape::Disc { radius } => Convex::ball(dimension, *radius),
        Shape::Capsule { half_length, radius } => {
            let function = Function::Segment { half_length: *half_length, radius: *radius, flat: true };
            Convex::central(dimension, vec![function], Some(half_length + radius))
        }
        Shape::Box { half_extents } => Convex::cuboid(dimension, half_extents),
        Shape::Polygon(polygon) => {
            let faces = polygon.vertices().iter().zip(polygon.normals());
            let faces = faces.map(|(v, n)| Function::Flat { normal: n.push(0.0), offset: n.dot(&v.coords) });
            let centre = polygon.vertices().iter().map(|v| v.coords.push(0.0)).sum::<Vector3<f64>>();
            let centre = centre / polygon.vertices().len() as f64;
            Convex::new(dimension, faces.collect(), centre, Some(polygon.radius_bound()))
        }
        Shape::HalfPlane { normal } => Convex::half_space(dimension, normal.push(0.0)),
        Shape::Ellipse { semi_axes: [a, b] } => {
            Convex::central(dimension, vec![Function::quadric([*a, *b, f64::INFINITY])], Some(a.max(*b)))
        }
        Shape::SimplePolygon(_) => return None,
    })
}

fn spatial_convex(shape: &spatial::Shape) -> Option<Convex> {
    use spatial::Shape;
    let dimension = Dimension::Spatial;
    Some(match shape {
        Shape::Point => Convex::cuboid(dimension, &[0.0; 3]),
        Shape::Sphere { radius } => Convex::ball(dimension, *radius),
        Shape::Capsule { half_length, radius } => {
            let function = Function::Segment { half_length: *half_length, radius: *radius, flat: false };
            Convex::central(dimension, vec![function], Some(half_length + radius))
        }
        Shape::Box { half_extents } => Convex::cuboid(dimension, half_extents),
        Shape::Polyhedron(polyhedron) => {
            let vertices = polyhedron.vertices();
            let faces = polyhedron.faces().zip(polyhedron.normals()).filter_map(|(face, normal)| {
                let corner = face.first().and_then(|&corner| vertices.get(corner as usize))?;
                Some(Function::Flat { normal: *normal, offset: normal.dot(&corner.coords) })
            });
            let centre = vertices.iter().map(|v| v.coords).sum::<Vector3<f64>>() / vertices.len() as f64;
            Convex::new(dimension, faces.collect(), centre, Some(polyhedron.radius_bound()))
        }
        Shape::HalfSpace { normal } => Convex::half_space(dimension, normal.into_inner()),
        Shape::Ellipsoid { semi_axes } => {
            let reach = semi_axes.iter().copied().fold(0.0, f64::max);
            Convex::central(dimension, vec![Function::quadric(*semi_axes)], Some(reach))
        }
    })
}
