//! Convex solids as intersections of finitely many smooth functions.

use nalgebra::{Point3, Vector3};

use super::function::Function;
use super::jet::Jet;
use crate::Dimension;

/// A convex solid: all points at which every one of its functions is at most zero.   [IMP-1]
#[derive(Clone, Debug, PartialEq)]
pub struct Convex {
    dimension: Dimension,
    functions: Vec<Function>,
    interior: Vector3<f64>,
    reach: Option<f64>,
    form: Form,
    /// Vertices of a polygon or polyhedron.
    corners: Vec<Vector3<f64>>,
}

/// Shapes with a formula for closest points or support points.
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
    /// A solid of one function.
    Single,
    /// A box about the origin.
    Cuboid {
        half_extents: Vector3<f64>,
    },
    /// A cylinder about the x axis.
    Cylinder {
        half_length: f64,
        radius: f64,
    },
    /// The convex hull of vertices.
    Corners,
    General,
}

impl Convex {
    /// Returns the number of functions.
    pub fn functions(&self) -> usize {
        self.functions.len()
    }

    /// Returns function number `k` at `x`; a missing function is zero.
    pub fn jet(&self, k: usize, x: &Point3<f64>) -> Jet {
        self.functions.get(k).map_or(Jet::ZERO, |function| function.jet(&x.coords))
    }

    /// Returns the dimension.
    pub fn dimension(&self) -> Dimension {
        self.dimension
    }

    /// True if function number `k` is curved; false for the flat faces of boxes, polygons and half-spaces.
    pub fn is_curved(&self, k: usize) -> bool {
        self.functions.get(k).is_some_and(|function| !function.is_flat())
    }

    /// Returns the radius of a ball around the shape's origin that contains it; `None` for an unbounded shape.
    pub fn reach(&self) -> Option<f64> {
        self.reach
    }

    /// Returns the point at which a ray from the inside leaves a bounded solid, to round-off; `None` if it never
    /// does.
    pub fn leaving(&self, direction: &Vector3<f64>) -> Option<Point3<f64>> {
        /// Error of a function at the reach, relative to the reach: a few roundings.
        const ROUND_OFF: f64 = 16.0 * f64::EPSILON;
        let start = Point3::from(self.interior);
        let length = direction.norm();
        let reach = self.reach? + self.interior.norm();
        let far = reach / length;
        let value = self.highest(&(start + direction * far));
        if !(far.is_finite() && value >= -ROUND_OFF * reach) {
            return None;
        }
        // No point is farther than the reach: there the function is less than zero by round-off only.
        if value < 0.0 {
            return Some(start + direction * far);
        }
        let (mut inside, mut outside) = (0.0, far);
        while outside - inside > f64::EPSILON * far {
            let middle = 0.5 * (inside + outside);
            // Neighbouring numbers have no midpoint.
            if middle <= inside || middle >= outside {
                break;
            }
            if self.highest(&(start + direction * middle)) <= 0.0 { inside = middle } else { outside = middle }
        }
        Some(start + direction * inside)
    }

    /// Returns the largest of the functions.
    fn highest(&self, x: &Point3<f64>) -> f64 {
        self.functions.iter().map(|function| function.jet(&x.coords).value).fold(f64::NEG_INFINITY, f64::max)
    }

    /// Returns a point inside, far from the surface if that is easy.
    pub(super) fn interior(&self) -> Vector3<f64> {
        self.interior
    }

    pub(super) fn form(&self) -> Form {
        self.form
    }

    /// Returns the farthest point along `direction`, if it has a formula.   [IMP-12]
    pub(super) fn support(&self, direction: &Vector3<f64>) -> Option<Vector3<f64>> {
        match self.form {
            Form::Ball { .. } | Form::Single => self.functions.first().and_then(|function| function.support(direction)),
            Form::Cuboid { half_extents } => Some(half_extents.zip_map(direction, f64::copysign)),
            Form::Cylinder { half_length, radius } => {
                let across = Vector3::new(0.0, direction.y, direction.z);
                let rim = across * (radius / across.norm().max(f64::MIN_POSITIVE));
                Some(rim + Vector3::new(half_length.copysign(direction.x), 0.0, 0.0))
            }
            Form::Corners => {
                let height = |corner: &&Vector3<f64>| corner.dot(direction);
                self.corners.iter().max_by(|p, q| height(p).total_cmp(&height(q))).copied()
            }
            Form::HalfSpace { .. } | Form::General => None,
        }
    }

    /// True if the solid is a single point.
    pub(super) fn is_point(&self) -> bool {
        self.form == Form::Cuboid { half_extents: Vector3::zeros() }
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
        let form = if functions.len() == 1 { Form::Single } else { Form::General };
        Self { dimension, functions, interior, reach, form, corners: Vec::new() }
    }

    /// A disc or a ball about the origin.
    pub(super) fn ball(dimension: Dimension, radius: f64) -> Self {
        Build::new(dimension, Buffer::default()).ball(radius)
    }

    /// Returns the vectors for reuse.
    pub(crate) fn into_buffer(self) -> Buffer {
        Buffer { functions: self.functions, corners: self.corners }
    }
}

/// Vectors of a solid that is no longer needed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Buffer {
    functions: Vec<Function>,
    corners: Vec<Vector3<f64>>,
}

/// Builder that fills the vectors with the functions of a solid.
pub(crate) struct Build {
    dimension: Dimension,
    buffer: Buffer,
}

impl Build {
    pub(crate) fn new(dimension: Dimension, buffer: Buffer) -> Self {
        Self { dimension, buffer }
    }

    fn solid(
        mut self,
        functions: impl IntoIterator<Item = Function>,
        interior: Vector3<f64>,
        reach: Option<f64>,
    ) -> Convex {
        let Buffer { functions: into, corners } = &mut self.buffer;
        into.clear();
        into.extend(functions);
        corners.clear();
        Convex { corners: self.buffer.corners, ..Convex::new(self.dimension, self.buffer.functions, interior, reach) }
    }

    /// A polygon or polyhedron.
    pub(crate) fn hull(
        self,
        faces: impl IntoIterator<Item = Function>,
        corners: impl ExactSizeIterator<Item = Vector3<f64>> + Clone,
        reach: Option<f64>,
    ) -> Convex {
        let centre = corners.clone().sum::<Vector3<f64>>() / corners.len() as f64;
        let mut convex = Convex { form: Form::Corners, ..self.solid(faces, centre, reach) };
        convex.corners.extend(corners);
        convex
    }

    /// A solid about the origin.
    pub(crate) fn central(self, functions: impl IntoIterator<Item = Function>, reach: Option<f64>) -> Convex {
        self.solid(functions, Vector3::zeros(), reach)
    }

    pub(crate) fn ball(self, radius: f64) -> Convex {
        let function = Function::quadric([radius, radius, thickness(self.dimension, radius)]);
        Convex { form: Form::Ball { radius }, ..self.central([function], Some(radius)) }
    }

    pub(crate) fn half_space(self, normal: Vector3<f64>) -> Convex {
        let function = Function::Flat { normal, offset: 0.0 };
        Convex { form: Form::HalfSpace { normal }, ..self.solid([function], -normal, None) }
    }

    /// A box with the given half extents, two faces per axis; a point if they are zero.
    pub(crate) fn cuboid(self, half_extents: &[f64]) -> Convex {
        let face = |(axis, &offset): (usize, &f64)| {
            let normal = Vector3::ith(axis, 1.0);
            [Function::Flat { normal, offset }, Function::Flat { normal: -normal, offset }]
        };
        let mut extents = Vector3::zeros();
        extents.as_mut_slice()[..half_extents.len()].copy_from_slice(half_extents);
        let solid = self.central(half_extents.iter().enumerate().flat_map(face), Some(extents.norm()));
        Convex { form: Form::Cuboid { half_extents: extents }, ..solid }
    }

    /// A cylinder about the x axis.
    pub(crate) fn cylinder(self, half_length: f64, radius: f64, reach: Option<f64>) -> Convex {
        let end = |normal: Vector3<f64>| Function::Flat { normal, offset: half_length };
        let tube = Function::quadric([f64::INFINITY, radius, radius]);
        let solid = self.central([tube, end(Vector3::x()), end(-Vector3::x())], reach);
        Convex { form: Form::Cylinder { half_length, radius }, ..solid }
    }
}

/// Returns the third semi-axis, which is infinite in the plane.
fn thickness(dimension: Dimension, spatial: f64) -> f64 {
    match dimension {
        Dimension::Planar => f64::INFINITY,
        Dimension::Spatial => spatial,
    }
}
