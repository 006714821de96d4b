//! User-defined solids: intersections of shapes and functions, checked once.

use std::sync::Arc;

use nalgebra::{Matrix3, Vector3};

use super::barrier::{self, Buffers};
use super::convex::Convex;
use super::function::{Custom, Function};
use super::jet::ConvexFunction;
use super::pair::{Pair, Side};
use super::programs::{Farthest, Growth};
use crate::broad_phase::Aabb;
use crate::{Dimension, Pose, ShapeError};

/// A convex part of an intersection: one function, or the functions of one shape at a pose.
#[derive(Clone, Debug)]
pub struct ConvexPart {
    functions: Vec<Function>,
    dimension: Option<Dimension>,
}

impl ConvexPart {
    /// A convex solid of the given dimension at a pose.
    pub(crate) fn placed(convex: &Convex, dimension: Dimension, pose: &Pose) -> Self {
        let placed = |function: &Function| match function {
            Function::Flat { normal, offset } => {
                let normal = pose.rotation * normal;
                Function::Flat { normal, offset: offset + normal.dot(&pose.translation.vector) }
            }
            _ if *pose == Pose::identity() => function.clone(),
            _ => Function::Placed { function: Box::new(function.clone()), pose: *pose },
        };
        Self { functions: convex.parts().iter().map(placed).collect(), dimension: Some(dimension) }
    }

    /// A user-defined function.
    pub fn function(function: impl ConvexFunction + 'static) -> Self {
        Self { functions: vec![Function::Custom(Custom(Arc::new(function)))], dimension: None }
    }
}

/// A convex solid given by functions; cheap to clone.
#[derive(Clone, Debug, PartialEq)]
pub struct Implicit {
    solid: Arc<Solid>,
}

#[derive(Debug, PartialEq)]
struct Solid {
    convex: Convex,
    /// Smallest and largest coordinates; none for an unbounded solid.
    bounds: Option<[Vector3<f64>; 2]>,
}

impl Implicit {
    /// Returns the intersection of all parts, which must have an interior.
    pub fn intersection(dimension: Dimension, parts: impl IntoIterator<Item = ConvexPart>) -> Result<Self, ShapeError> {
        let mut functions = Vec::new();
        for part in parts {
            if part.dimension.is_some_and(|of_part| of_part != dimension) {
                return Err(refused("an intersection mixes shapes of the plane and of space"));
            }
            functions.extend(part.functions);
        }
        if functions.is_empty() {
            return Err(refused("an intersection needs at least one shape or function"));
        }
        let interior = interior(dimension, &functions)
            .ok_or_else(|| refused("the shapes of an intersection have no interior in common"))?;
        let bounds = bounds(dimension, &functions, &interior);
        let reach = bounds.map(|[low, high]| low.abs().sup(&high.abs()).norm());
        let convex = Convex::new(dimension, functions, interior, reach);
        Ok(Self { solid: Arc::new(Solid { convex, bounds }) })
    }

    /// Returns the functions.
    pub fn convex(&self) -> &Convex {
        &self.solid.convex
    }

    /// Returns the vertices of a bounded intersection of half-spaces; `None` if a function is curved or the solid is
    /// unbounded.
    pub(crate) fn corners(&self) -> Option<Vec<Vector3<f64>>> {
        self.solid.bounds?;
        let planes: Option<Vec<_>> = self.convex().parts().iter().map(flat).collect();
        Some(corners(self.convex().dimension(), &planes?))
    }

    /// Returns a box around the solid at a pose; `None` for an unbounded solid.
    pub(crate) fn aabb(&self, pose: &Pose) -> Option<Aabb> {
        let [low, high] = self.solid.bounds?;
        let centre = pose * nalgebra::Point3::from((low + high) / 2.0);
        let half = pose.rotation.matrix().abs() * ((high - low) / 2.0);
        Some(Aabb { min: centre - half, max: centre + half })
    }

    /// Returns the radius of a ball around the origin that contains the solid.
    pub(crate) fn radius_bound(&self) -> Option<f64> {
        self.solid.convex.reach()
    }
}

fn refused(reason: &str) -> ShapeError {
    ShapeError::NotConvexBody { reason: reason.to_owned() }
}

/// Returns normal and offset of a flat function.
fn flat(function: &Function) -> Option<(Vector3<f64>, f64)> {
    match function {
        Function::Flat { normal, offset } => Some((*normal, *offset)),
        _ => None,
    }
}

/// Returns the points where two (in the plane) or three planes meet and no other is violated.
fn corners(dimension: Dimension, planes: &[(Vector3<f64>, f64)]) -> Vec<Vector3<f64>> {
    /// Round-off relative to the largest offset.
    const ROUND_OFF: f64 = 1e-12;
    let size = planes.iter().map(|(_, offset)| offset.abs()).fold(f64::MIN_POSITIVE, f64::max);
    let mut found = Vec::new();
    let third = match dimension {
        Dimension::Planar => vec![(Vector3::z(), 0.0)],
        Dimension::Spatial => planes.to_vec(),
    };
    for (i, p) in planes.iter().enumerate() {
        for (j, q) in planes.iter().enumerate().skip(i + 1) {
            let from = if dimension == Dimension::Planar { 0 } else { j + 1 };
            for r in third.iter().skip(from) {
                let rows = Matrix3::from_rows(&[p.0.transpose(), q.0.transpose(), r.0.transpose()]);
                let Some(corner) = rows.lu().solve(&Vector3::new(p.1, q.1, r.1)) else { continue };
                let reach = ROUND_OFF * size.max(corner.amax());
                if planes.iter().all(|(normal, offset)| normal.dot(&corner) <= offset + reach) {
                    found.push(corner);
                }
            }
        }
    }
    found
}

/// Returns a point at which all functions are negative, by growth of the solid and of a ball that follows.   [IMP-6]
fn interior(dimension: Dimension, functions: &[Function]) -> Option<Vector3<f64>> {
    const ROUNDS: usize = 60;
    let convex = Convex::new(dimension, functions.to_vec(), Vector3::zeros(), None);
    let ball = Convex::ball(dimension, 1.0);
    let mut pose = Pose::identity();
    let mut buffers = Buffers::default();
    for _ in 0..ROUNDS {
        let pair = Pair::new((&convex, &Pose::identity()), (&ball, &pose));
        let growth = Growth { pair: &pair };
        let mut iterate = barrier::start(&growth, growth.start(), 0.3, &mut buffers);
        barrier::advance(&growth, &mut iterate, 1e-6, &mut buffers);
        let x: Vector3<f64> = iterate.y.fixed_rows::<3>(0) * pair.length;
        let highest = (0..functions.len()).map(|k| pair.jet(Side::A, k, &x).value).fold(f64::NEG_INFINITY, f64::max);
        if highest < 0.0 {
            return Some(x);
        }
        let moved = (x - pose.translation.vector).norm();
        if moved.is_nan() || moved < 1e-3 {
            return None;
        }
        pose.translation.vector = x;
    }
    None
}

/// Returns the extent along each axis; `None` if the solid is unbounded.
fn bounds(dimension: Dimension, functions: &[Function], interior: &Vector3<f64>) -> Option<[Vector3<f64>; 2]> {
    /// Distance, in depths of the interior point, beyond which a solid counts as unbounded.
    const FAR: f64 = 1e6;
    /// Complementarity of the interior point. Times the number of functions it bounds the error of the extent.
    const PRECISION: f64 = 1e-9;
    /// Margin for that error and for round-off, relative to the extent.
    const ROOM: f64 = 1e-6;
    let axes = if dimension == Dimension::Planar { 2 } else { 3 };
    let depth = functions.iter().map(|function| -function.jet(interior).value).fold(f64::INFINITY, f64::min);
    let mut buffers = Buffers::default();
    let mut ends = [*interior; 2];
    for axis in 0..axes {
        for (end, sign) in ends.iter_mut().zip([-1.0, 1.0]) {
            let direction = Vector3::ith(axis, sign);
            let program = Farthest { functions, direction, from: *interior, length: depth, limit: FAR };
            let mut iterate = barrier::start(&program, program.start(), 1.0, &mut buffers);
            let arrived = barrier::advance(&program, &mut iterate, PRECISION, &mut buffers);
            let distance = iterate.y.fixed_rows::<3>(0).dot(&direction) * depth;
            if !arrived || distance.is_nan() || distance > 0.5 * FAR * depth {
                return None;
            }
            end[axis] += sign * (distance * (1.0 + ROOM) + ROOM * depth);
        }
    }
    let room = (ends[1] - ends[0]) * ROOM;
    Some([ends[0] - room, ends[1] + room])
}
