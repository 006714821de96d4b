//! A tree joint made of elementary motions: translations along axes of the joint frame, then rotations.

use nalgebra::{Rotation3, Vector3};
use stiction_geometry::Pose;

use super::elementary::{angle_about, angular, linear, rotation_about, turn_about};
use crate::Twist;

/// One motion of a [`Series`]. Numbers are axes: 0, 1, 2 for x, y, z.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementaryMotion {
    /// Translation along an axis of the joint frame.
    Slide(u8),
    /// Rotation about an axis. Of two rotations, the second is about an axis of the link.
    Turn(u8),
}

/// Translations along different axes of the joint frame, then at most two rotations about perpendicular axes. q = distances and
/// angles in the order of the motions, v = q̇.
///
/// The columns of its motion subspace are orthonormal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Series {
    motions: [ElementaryMotion; Series::LONGEST],
    count: usize,
    /// Sign of all axes.
    sign: f64,
}

impl Series {
    /// Largest number of motions.
    pub const LONGEST: usize = 5;

    /// Series of these motions; `None` if an axis is given twice, is no axis, or if there are more than two rotations.
    pub fn new(motions: impl IntoIterator<Item = ElementaryMotion>) -> Option<Self> {
        let mut series = Self { motions: [ElementaryMotion::Slide(0); Self::LONGEST], count: 0, sign: 1.0 };
        let mut turns = 0;
        for motion in motions {
            let (ElementaryMotion::Slide(axis) | ElementaryMotion::Turn(axis)) = motion;
            turns += usize::from(matches!(motion, ElementaryMotion::Turn(_)));
            if axis > 2 || turns > 2 || series.motions().contains(&motion) {
                return None;
            }
            *series.motions.get_mut(series.count)? = motion;
            series.count += 1;
        }
        Some(series)
    }

    /// Series of the inverse transform, with its motions in the reverse order; `None` if the inverse has translations along axes that
    /// move.   [FOREST-2]
    pub fn inverse(mut self) -> Option<Self> {
        use ElementaryMotion::{Slide, Turn};
        let is_fixed = |slide: u8| self.motions().iter().all(|m| matches!(m, Slide(_)) || *m == Turn(slide));
        if !self.motions().iter().all(|motion| if let Slide(axis) = motion { is_fixed(*axis) } else { true }) {
            return None;
        }
        self.motions[..self.count].reverse();
        self.sign = -self.sign;
        Some(self)
    }

    /// Number of motions.
    #[inline]
    pub const fn velocities(&self) -> usize {
        self.count
    }

    /// Series whose motion subspace is constant and contains that of this series at all coordinates; `None` with two rotations.
    pub(super) fn hull(&self) -> Option<Self> {
        let slides = (0..3).map(ElementaryMotion::Slide);
        let turns = self.motions().iter().copied().filter(|motion| matches!(motion, ElementaryMotion::Turn(_)));
        if turns.clone().count() > 1 { None } else { Self::new(slides.chain(turns)) }
    }

    pub(super) fn transform(&self, q: &[f64]) -> Pose {
        let (mut shift, mut rotation) = (Vector3::zeros(), Rotation3::identity());
        for (motion, q) in self.motions().iter().zip(q) {
            match *motion {
                ElementaryMotion::Slide(axis) => shift += self.axis(axis) * *q,
                ElementaryMotion::Turn(axis) => rotation *= rotation_about(&self.axis(axis), *q),
            }
        }
        Pose::from_parts(shift.into(), rotation)
    }

    pub(super) fn write_coordinates(&self, relative: &Pose, q: &mut [f64]) {
        let mut rotation = relative.rotation;
        for (place, motion) in self.motions().iter().enumerate() {
            q[place] = match *motion {
                ElementaryMotion::Slide(axis) => self.axis(axis).dot(&relative.translation.vector),
                ElementaryMotion::Turn(axis) => {
                    let axis = self.axis(axis);
                    let angle = match self.turn_after(place) {
                        // R b = R(a, q₁) b: the first angle is that of b about a.
                        Some(second) => turn_about(&axis, &second, &(rotation * second)),
                        None => angle_about(&axis, rotation.matrix()),
                    };
                    rotation = rotation_about(&axis, -angle) * rotation;
                    angle
                }
            };
        }
    }

    pub(super) fn motion_subspace(&self, q: &[f64], relative: &Pose, columns: &mut [Twist]) {
        // Rotation of the link against the frame of the next rotation.
        let mut behind = Rotation3::identity();
        for (place, motion) in self.motions().iter().enumerate().rev() {
            columns[place] = match *motion {
                ElementaryMotion::Slide(axis) => linear(relative.rotation.inverse() * self.axis(axis)),
                ElementaryMotion::Turn(axis) => {
                    let axis = self.axis(axis);
                    let column = angular(behind.inverse() * axis);
                    behind = rotation_about(&axis, q[place]) * behind;
                    column
                }
            };
        }
    }

    /// A translation is along an axis of the joint frame, and turns with −ω relative to the link; the axis of the first rotation turns
    /// with the second.
    pub(super) fn subspace_rate(columns: &[Twist], v: &[f64]) -> Twist {
        let (mut rate, mut omega) = (Twist::default(), Vector3::zeros());
        for (column, v) in columns.iter().zip(v).rev() {
            rate.angular += (column.angular * *v).cross(&omega);
            omega += column.angular * *v;
        }
        let velocity: Vector3<f64> = columns.iter().zip(v).map(|(column, v)| column.linear * *v).sum();
        rate.linear = velocity.cross(&omega);
        rate
    }

    fn motions(&self) -> &[ElementaryMotion] {
        &self.motions[..self.count]
    }

    fn axis(&self, number: u8) -> Vector3<f64> {
        Vector3::ith(usize::from(number), self.sign)
    }

    /// Axis of the rotation that follows the motion at a place.
    fn turn_after(&self, place: usize) -> Option<Vector3<f64>> {
        self.motions().iter().skip(place + 1).find_map(|motion| match *motion {
            ElementaryMotion::Turn(axis) => Some(self.axis(axis)),
            ElementaryMotion::Slide(_) => None,
        })
    }
}
