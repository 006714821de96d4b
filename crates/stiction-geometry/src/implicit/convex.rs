//! Convex solids as intersections of finitely many smooth functions.

use nalgebra::{Point3, Vector3};

use super::function::Function;
use super::jet::Jet;
use crate::{Dimension, Shape, planar, spatial};

/// A convex solid: all points where every one of its functions is at most zero.   [IMP-1]
#[derive(Clone, Debug, PartialEq)]
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

    /// The farthest point along `direction` of a solid made of one function, where that has a formula.   [IMP-12]
    pub(super) fn support(&self, direction: &Vector3<f64>) -> Option<Vector3<f64>> {
        match self.functions.as_slice() {
            [function] => function.support(direction),
            _ => None,
        }
    }

    pub(super) fn parts(&self) -> &[Function] {
        &self.functions
    }

    pub(super) fn new(
        dimension: Dimension,
        functions: Vec<Function>,
        interior: Vector3<f64>,
        reach: Option<f64>,
    ) -> Self {
        Self { dimension, functions, interior, reach, form: Form::General }
    }

    /// A disc or a ball about the origin.
    pub(super) fn ball(dimension: Dimension, radius: f64) -> Self {
        Build { dimension, functions: Vec::new() }.ball(radius)
    }

    /// The vector of functions, to be filled anew.
    pub(crate) fn into_functions(self) -> Vec<Function> {
        self.functions
    }
}

/// Fills a vector with the functions of a solid.
struct Build {
    dimension: Dimension,
    functions: Vec<Function>,
}

impl Build {
    fn solid(
        mut self,
        functions: impl IntoIterator<Item = Function>,
        interior: Vector3<f64>,
        reach: Option<f64>,
    ) -> Convex {
        self.functions.clear();
        self.functions.extend(functions);
        Convex::new(self.dimension, self.functions, interior, reach)
    }

    /// A solid about the origin.
    fn central(self, functions: impl IntoIterator<Item = Function>, reach: Option<f64>) -> Convex {
        self.solid(functions, Vector3::zeros(), reach)
    }

    fn ball(self, radius: f64) -> Convex {
        let function = Function::quadric([radius, radius, thickness(self.dimension, radius)]);
        Convex { form: Form::Ball { radius }, ..self.central([function], Some(radius)) }
    }

    fn half_space(self, normal: Vector3<f64>) -> Convex {
        let function = Function::Flat { normal, offset: 0.0 };
        Convex { form: Form::HalfSpace { normal }, ..self.solid([function], -normal, None) }
    }

    /// The box with the given half extents, two faces per axis: a point where they are zero.
    fn cuboid(self, half_extents: &[f64]) -> Convex {
        let face = |(axis, &offset): (usize, &f64)| {
            let normal = Vector3::ith(axis, 1.0);
            [Function::Flat { normal, offset }, Function::Flat { normal: -normal, offset }]
        };
        let reach = half_extents.iter().map(|h| h * h).sum::<f64>().sqrt();
        self.central(half_extents.iter().enumerate().flat_map(face), Some(reach))
    }
}

/// The third semi-axis: without end in the plane.
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
            Self::Planar(shape) => planar_convex(shape, Vec::new()),
            Self::Spatial(shape) => Some(spatial_convex(shape, Vec::new())),
        }
    }
}

/// The functions of a planar shape, in a vector to be filled.
pub(crate) fn planar_convex(shape: &planar::Shape, functions: Vec<Function>) -> Option<Convex> {
    use planar::Shape;
    let build = Build { dimension: Dimension::Planar, functions };
    Some(match shape {
        Shape::Point => build.cuboid(&[0.0; 2]),
        Shape::Disc { radius } => build.ball(*radius),
        Shape::Capsule { half_length, radius } => {
            let function = Function::Segment { half_length: *half_length, radius: *radius, flat: true };
            build.central([function], shape.radius_bound())
        }
        Shape::Box { half_extents } => build.cuboid(half_extents),
        Shape::Polygon(polygon) => {
            let vertices = polygon.vertices();
            let faces = vertices.iter().zip(polygon.normals());
            let faces = faces.map(|(v, n)| Function::Flat { normal: n.push(0.0), offset: n.dot(&v.coords) });
            let centre = vertices.iter().map(|v| v.coords.push(0.0)).sum::<Vector3<f64>>() / vertices.len() as f64;
            build.solid(faces, centre, shape.radius_bound())
        }
        Shape::HalfPlane { normal } => build.half_space(normal.push(0.0)),
        Shape::Ellipse { semi_axes: [a, b] } => {
            build.central([Function::quadric([*a, *b, f64::INFINITY])], shape.radius_bound())
        }
        Shape::Superellipse { semi_axes: [a, b], exponent } => {
            // The second exponent means nothing where z has no extent.
            let function = Function::superquadric([*a, *b, f64::INFINITY], [*exponent, 2.0]);
            build.central([function], shape.radius_bound())
        }
        Shape::Implicit(implicit) => implicit.convex().clone(),
        Shape::SimplePolygon(_) => return None,
    })
}

/// The functions of a spatial shape, in a vector to be filled.
pub(crate) fn spatial_convex(shape: &spatial::Shape, functions: Vec<Function>) -> Convex {
    use spatial::Shape;
    let build = Build { dimension: Dimension::Spatial, functions };
    match shape {
        Shape::Point => build.cuboid(&[0.0; 3]),
        Shape::Sphere { radius } => build.ball(*radius),
        Shape::Capsule { half_length, radius } => {
            let function = Function::Segment { half_length: *half_length, radius: *radius, flat: false };
            build.central([function], shape.radius_bound())
        }
        Shape::Box { half_extents } => build.cuboid(half_extents),
        Shape::Polyhedron(polyhedron) => {
            let vertices = polyhedron.vertices();
            let faces = polyhedron.faces().zip(polyhedron.normals()).filter_map(|(face, normal)| {
                let corner = face.first().and_then(|&corner| vertices.get(corner as usize))?;
                Some(Function::Flat { normal: *normal, offset: normal.dot(&corner.coords) })
            });
            let centre = vertices.iter().map(|v| v.coords).sum::<Vector3<f64>>() / vertices.len() as f64;
            build.solid(faces, centre, shape.radius_bound())
        }
        Shape::HalfSpace { normal } => build.half_space(normal.into_inner()),
        Shape::Ellipsoid { semi_axes } => build.central([Function::quadric(*semi_axes)], shape.radius_bound()),
        Shape::Superquadric { semi_axes, exponents } => {
            build.central([Function::superquadric(*semi_axes, *exponents)], shape.radius_bound())
        }
        Shape::Cylinder { half_length, radius } => {
            let end = |normal: Vector3<f64>| Function::Flat { normal, offset: *half_length };
            let tube = Function::quadric([f64::INFINITY, *radius, *radius]);
            build.central([tube, end(Vector3::x()), end(-Vector3::x())], shape.radius_bound())
        }
        Shape::Implicit(implicit) => implicit.convex().clone(),
    }
}
