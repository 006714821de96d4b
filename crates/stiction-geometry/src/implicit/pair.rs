//! A pair of solids in the frame of A, in which all computations are done.

use nalgebra::{Matrix3, Vector3};

use super::convex::{Convex, Form};
use super::jet::Jet;
use crate::{Dimension, Pose};

/// Two convex solids, B placed in the frame of A.
#[derive(Clone, Debug)]
pub(super) struct Pair<'a> {
    pub(super) a: &'a Convex,
    pub(super) b: &'a Convex,
    /// Rotation from the axes of B to those of A.
    rotation: Matrix3<f64>,
    /// Origin of B.
    pub(super) offset: Vector3<f64>,
    /// Number of axes: two in the plane, three in space.
    pub(super) axes: usize,
    /// Unit of length of errors: the size of the smaller shape.
    pub(super) length: f64,
    /// Size of the larger shape.
    pub(super) reach: f64,
}

/// One of the two solids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    A,
    B,
}

impl Side {
    pub(super) fn other(self) -> Self {
        match self {
            Self::A => Self::B,
            Self::B => Self::A,
        }
    }
}

/// The deepest point of the other solid below a flat function.
#[derive(Clone, Copy, Debug)]
pub(super) struct Face {
    pub(super) function: usize,
    pub(super) outward: Vector3<f64>,
    pub(super) point: Vector3<f64>,
    /// Gap; negative below the face.
    pub(super) gap: f64,
}

impl<'a> Pair<'a> {
    pub(super) fn new((a, pose_a): (&'a Convex, &Pose), (b, pose_b): (&'a Convex, &Pose)) -> Self {
        let to_a = pose_a.rotation.matrix().transpose();
        let offset = to_a * (pose_b.translation.vector - pose_a.translation.vector);
        let sizes = [a.reach(), b.reach()].into_iter().flatten().filter(|reach| *reach > 0.0);
        let smallest = sizes.clone().reduce(f64::min);
        let largest = sizes.reduce(f64::max);
        let distance = offset.norm();
        Self {
            a,
            b,
            rotation: to_a * pose_b.rotation.matrix(),
            offset,
            axes: if a.dimension() == Dimension::Planar { 2 } else { 3 },
            length: smallest.unwrap_or(if distance > 0.0 { distance } else { 1.0 }),
            reach: largest.unwrap_or(distance).max(distance),
        }
    }

    /// Returns the same pair with B moved by `by`.
    pub(super) fn moved(&self, by: &Vector3<f64>) -> Self {
        Self { offset: self.offset + by, ..self.clone() }
    }

    pub(super) fn functions(&self, side: Side) -> usize {
        match side {
            Side::A => self.a.functions(),
            Side::B => self.b.functions(),
        }
    }

    /// Returns function `k` of a solid at `x`.
    pub(super) fn jet(&self, side: Side, k: usize, x: &Vector3<f64>) -> Jet {
        match side {
            Side::A => self.a.jet(k, &(*x).into()),
            Side::B => {
                let local = self.rotation.tr_mul(&(x - self.offset));
                self.b.jet(k, &local.into()).turned(&self.rotation)
            }
        }
    }

    /// Returns the flat function of a solid with the smallest depth of the other; `None` without flat or support
    /// functions.
    pub(super) fn shallowest_face(&self, side: Side) -> Option<Face> {
        let convex = if side == Side::A { self.a } else { self.b };
        let faces = (0..convex.functions()).filter(|&k| !convex.is_curved(k)).filter_map(|function| {
            let outward = self.jet(side, function, &Vector3::zeros()).gradient;
            let point = self.support(side.other(), &-outward)?;
            Some(Face { function, outward, point, gap: self.jet(side, function, &point).value })
        });
        faces.reduce(|best, face| if face.gap > best.gap { face } else { best })
    }

    /// Returns the point of a solid farthest along `direction`.
    pub(super) fn support(&self, side: Side, direction: &Vector3<f64>) -> Option<Vector3<f64>> {
        match side {
            Side::A => self.a.support(direction),
            Side::B => Some(self.turn(&self.b.support(&self.turn_back(direction))?) + self.offset),
        }
    }

    /// Returns a point inside a solid.
    pub(super) fn interior(&self, side: Side) -> Vector3<f64> {
        match side {
            Side::A => self.a.interior(),
            Side::B => self.rotation * self.b.interior() + self.offset,
        }
    }

    /// Transforms a direction to the axes of B.
    pub(super) fn turn_back(&self, direction: &Vector3<f64>) -> Vector3<f64> {
        self.rotation.tr_mul(direction)
    }

    /// Returns the normal from A to B if one of them is a half-space.
    pub(super) fn flat_normal(&self) -> Option<Vector3<f64>> {
        match (self.a.form(), self.b.form()) {
            (Form::HalfSpace { normal }, _) => Some(normal),
            (_, Form::HalfSpace { normal }) => Some(-self.turn(&normal)),
            _ => None,
        }
    }

    /// Returns the displacement of B that puts the surface of a half-space about level with the centre of the other
    /// solid.
    pub(super) fn levelling(&self) -> Option<Vector3<f64>> {
        let normal = self.flat_normal()?;
        let height = match self.a.form() {
            Form::HalfSpace { .. } => normal.dot(&self.interior(Side::B)),
            _ => normal.dot(&(self.offset - self.interior(Side::A))),
        };
        Some(normal * (0.5 * self.length - height))
    }

    /// Transforms a direction from the axes of B.
    pub(super) fn turn(&self, direction: &Vector3<f64>) -> Vector3<f64> {
        self.rotation * direction
    }
}
