//! Joints of a tree: coordinates, velocities, transform, motion subspace and its rate, integration.
//!
//! A joint moves a link frame relative to a joint frame that is fixed on the parent; at neutral coordinates they coincide.
//! Quaternions are `[w, x, y, z]`. Angular velocities of spherical and free joints are in **link axes**. The linear
//! velocity of a free joint is in the axes of the joint frame (the world, for a root). This is the convention of MuJoCo: its
//! `qpos` and `qvel` of a free body hold the same numbers.

use nalgebra::{Matrix3, Quaternion, Rotation3, Translation3, UnitQuaternion, Vector3};
use stiction_geometry::Pose;

use super::{
    elementary::{angle_about, angular, linear, rotation_about, turn_about},
    series::Series,
};
use crate::{
    Twist,
    rotation::{from_matrix, from_rotation_vector, to_rotation_vector},
};

/// Relative motion of a link and its parent. Axes are unit vectors in the joint frame.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum TreeJoint {
    /// No motion.
    Fixed,
    /// Rotation about an axis, with or without limits. q = angle.
    Revolute {
        /// Axis of rotation.
        axis: Vector3<f64>,
    },
    /// Translation along an axis. q = distance.
    Prismatic {
        /// Direction of translation.
        axis: Vector3<f64>,
    },
    /// Translation along an axis and rotation about it. q = (distance, angle).
    Cylindrical {
        /// The common axis.
        axis: Vector3<f64>,
    },
    /// Rotation about the first axis, then about the second, which is fixed on the intermediate body. q = two angles.
    Universal {
        /// The two axes at neutral angles; not parallel.
        axes: [Vector3<f64>; 2],
    },
    /// Rotation about a point. q = quaternion, v = angular velocity in link axes.
    Spherical,
    /// Translation in the xy plane of the joint frame and rotation about z. q = (x, y, angle), v = q̇.
    Planar,
    /// Translation without rotation. q = (x, y, z), v = q̇.
    Translational,
    /// Translation in the xy plane of the joint frame without rotation. q = (x, y), v = q̇.
    PlanarTranslational,
    /// Free motion. q = (x, y, z, quaternion), v = (velocity of the origin in joint axes, angular velocity in link axes).
    Free,
    /// Translations, then rotations: any other list of elementary motions.
    Series(Series),
}

/// Largest number of velocities of a joint.
pub const MAX_VELOCITIES: usize = 6;

impl TreeJoint {
    /// Number of coordinates.
    #[inline]
    pub const fn coordinates(&self) -> usize {
        match self {
            Self::Spherical => 4,
            Self::Free => 7,
            _ => self.velocities(),
        }
    }

    /// Number of velocities.
    #[inline]
    pub const fn velocities(&self) -> usize {
        match self {
            Self::Fixed => 0,
            Self::Revolute { .. } | Self::Prismatic { .. } => 1,
            Self::Cylindrical { .. } | Self::Universal { .. } | Self::PlanarTranslational => 2,
            Self::Spherical | Self::Planar | Self::Translational => 3,
            Self::Free => 6,
            Self::Series(series) => series.velocities(),
        }
    }

    /// Writes the coordinates at which link frame and joint frame coincide.
    pub fn write_neutral(&self, q: &mut [f64]) {
        q.fill(0.0);
        if let Some(e) = quaternion_of_mut(self, q) {
            e[0] = 1.0;
        }
    }

    /// Pose of the link frame in the joint frame.   [ART-1]
    pub fn transform(&self, q: &[f64]) -> Pose {
        match self {
            Self::Fixed => Pose::identity(),
            Self::Revolute { axis } => turned(rotation_about(axis, q[0])),
            Self::Prismatic { axis } => shifted(axis * q[0]),
            Self::Cylindrical { axis } => Pose::from_parts(Translation3::from(axis * q[0]), rotation_about(axis, q[1])),
            Self::Universal { axes: [a, b] } => turned(rotation_about(a, q[0]) * rotation_about(b, q[1])),
            Self::Spherical => turned(quaternion(q).to_rotation_matrix()),
            Self::Planar => Pose::from_parts(Translation3::new(q[0], q[1], 0.0), rotation_about(&Vector3::z(), q[2])),
            Self::Translational => shifted(Vector3::new(q[0], q[1], q[2])),
            Self::PlanarTranslational => shifted(Vector3::new(q[0], q[1], 0.0)),
            Self::Free => {
                Pose::from_parts(Translation3::new(q[0], q[1], q[2]), quaternion(&q[3..]).to_rotation_matrix())
            }
            Self::Series(series) => series.transform(q),
        }
    }

    /// Writes the coordinates of a pose of the link frame in the joint frame, the inverse of [`Self::transform`]; angles in [−π, π].
    ///
    /// Relative motion that the joint does not allow is ignored.   [ART-1]
    pub fn write_coordinates(&self, relative: &Pose, q: &mut [f64]) {
        debug_assert_eq!(q.len(), self.coordinates(), "one number per coordinate of the joint");
        let (p, r) = (&relative.translation.vector, relative.rotation.matrix());
        match self {
            Self::Fixed => {}
            Self::Revolute { axis } => q[0] = angle_about(axis, r),
            Self::Prismatic { axis } => q[0] = axis.dot(p),
            Self::Cylindrical { axis } => q.copy_from_slice(&[axis.dot(p), angle_about(axis, r)]),
            Self::Universal { axes: [a, b] } => {
                // R b = R(a, q₁) b: the first angle is that of b about a, the second that of the remaining rotation about b.
                q[0] = turn_about(a, b, &(r * b));
                q[1] = angle_about(b, &(rotation_about(a, -q[0]) * r));
            }
            Self::Spherical => write_quaternion(r, q),
            Self::Planar => q.copy_from_slice(&[p.x, p.y, angle_about(&Vector3::z(), r)]),
            Self::Translational => q.copy_from_slice(&[p.x, p.y, p.z]),
            Self::PlanarTranslational => q.copy_from_slice(&[p.x, p.y]),
            Self::Free => {
                q[..3].copy_from_slice(p.as_slice());
                write_quaternion(r, &mut q[3..]);
            }
            Self::Series(series) => series.write_coordinates(relative, q),
        }
    }

    /// Columns of the motion subspace S(q): the twists of the link for unit velocities, in link axes about the link's
    /// origin.   [ART-2]
    ///
    /// `relative` is [`Self::transform`] at the same coordinates.
    pub fn motion_subspace(&self, q: &[f64], relative: &Pose, columns: &mut [Twist]) {
        debug_assert_eq!(columns.len(), self.velocities(), "one column per velocity of the joint");
        match self {
            Self::Fixed => {}
            Self::Revolute { axis } => columns[0] = angular(*axis),
            Self::Prismatic { axis } => columns[0] = linear(*axis),
            Self::Cylindrical { axis } => {
                columns[0] = linear(*axis);
                columns[1] = angular(*axis);
            }
            Self::Universal { axes: [a, b] } => {
                columns[0] = angular(rotation_about(b, -q[1]) * a);
                columns[1] = angular(*b);
            }
            Self::Spherical => write_axes(columns, angular),
            Self::Planar => {
                columns[0] = linear(joint_axis_in_link(relative, 0));
                columns[1] = linear(joint_axis_in_link(relative, 1));
                columns[2] = angular(Vector3::z());
            }
            Self::Translational | Self::PlanarTranslational => write_axes(columns, linear),
            Self::Free => {
                for (k, column) in columns.iter_mut().take(3).enumerate() {
                    *column = linear(joint_axis_in_link(relative, k));
                }
                write_axes(&mut columns[3..], angular);
            }
            Self::Series(series) => series.motion_subspace(q, relative, columns),
        }
    }

    /// Rate of the motion subspace in link axes times the velocities, S̊ v; `None` if S is constant there.   [ART-3]
    ///
    /// `columns` is [`Self::motion_subspace`] at the same coordinates, in any axes; the rate is in the same. A direction that is fixed in the
    /// joint frame rotates with −ω relative to the link.
    pub fn subspace_rate(&self, columns: &[Twist], v: &[f64]) -> Option<Twist> {
        match self {
            Self::Universal { .. } => Some(angular(columns[0].angular.cross(&columns[1].angular) * (v[0] * v[1]))),
            Self::Planar => {
                let velocity = columns[0].linear * v[0] + columns[1].linear * v[1];
                Some(linear(velocity.cross(&columns[2].angular) * v[2]))
            }
            Self::Free => {
                let velocity = columns[0].linear * v[0] + columns[1].linear * v[1] + columns[2].linear * v[2];
                let omega = columns[3].angular * v[3] + columns[4].angular * v[4] + columns[5].angular * v[5];
                Some(linear(velocity.cross(&omega)))
            }
            Self::Series(_) => Some(Series::subspace_rate(columns, v)),
            _ => None,
        }
    }

    /// Moves the coordinates by `h v`; quaternions on the group, e⁺ = e ⊗ exp(½ h ω).   [ART-4]
    pub fn integrate(&self, q: &mut [f64], v: &[f64], h: f64) {
        debug_assert_eq!((q.len(), v.len()), (self.coordinates(), self.velocities()), "q and v are those of the joint");
        let plain = self.plain_coordinates();
        for (q, v) in q.iter_mut().zip(v).take(plain) {
            *q += h * v;
        }
        if let Some(e) = quaternion_of_mut(self, q) {
            let omega = Vector3::new(v[plain], v[plain + 1], v[plain + 2]);
            let next = UnitQuaternion::new_normalize(*(quaternion(e) * from_rotation_vector(&(omega * h))));
            e.copy_from_slice(&[next.w, next.i, next.j, next.k]);
        }
    }

    /// Velocity that moves `from` to `to` in unit time, along the shorter rotation.   [ART-4]
    pub fn difference(&self, from: &[f64], to: &[f64], v: &mut [f64]) {
        debug_assert_eq!((from.len(), to.len()), (self.coordinates(), self.coordinates()), "q is that of the joint");
        debug_assert_eq!(v.len(), self.velocities(), "v is that of the joint");
        let plain = self.plain_coordinates();
        for ((v, from), to) in v.iter_mut().zip(from).zip(to).take(plain) {
            *v = to - from;
        }
        if self.coordinates() > self.velocities() {
            let turn = to_rotation_vector(&(quaternion(&from[plain..]).inverse() * quaternion(&to[plain..])));
            v[plain..].copy_from_slice(turn.as_slice());
        }
    }

    /// Number of leading coordinates whose rate is the velocity of the same number.
    #[inline]
    const fn plain_coordinates(&self) -> usize {
        match self {
            Self::Spherical => 0,
            Self::Free => 3,
            _ => self.velocities(),
        }
    }
}

/// Quaternion among the coordinates of a joint; none for joints without one.
fn quaternion_of_mut<'q>(joint: &TreeJoint, q: &'q mut [f64]) -> Option<&'q mut [f64]> {
    match joint {
        TreeJoint::Spherical | TreeJoint::Free => q.get_mut(joint.plain_coordinates()..),
        _ => None,
    }
}

#[inline]
fn quaternion(q: &[f64]) -> UnitQuaternion<f64> {
    UnitQuaternion::new_normalize(Quaternion::new(q[0], q[1], q[2], q[3]))
}

fn write_quaternion(r: &Matrix3<f64>, q: &mut [f64]) {
    let e = from_matrix(r);
    q.copy_from_slice(&[e.w, e.i, e.j, e.k]);
}

#[inline]
fn turned(rotation: Rotation3<f64>) -> Pose {
    Pose::from_parts(Translation3::identity(), rotation)
}

#[inline]
fn shifted(by: Vector3<f64>) -> Pose {
    Pose::from_parts(Translation3::from(by), Rotation3::identity())
}

fn write_axes(columns: &mut [Twist], kind: fn(Vector3<f64>) -> Twist) {
    for (column, axis) in columns.iter_mut().zip([Vector3::x(), Vector3::y(), Vector3::z()]) {
        *column = kind(axis);
    }
}

/// Axis k of the joint frame in link axes: row k of R.
#[inline]
fn joint_axis_in_link(relative: &Pose, k: usize) -> Vector3<f64> {
    relative.rotation.matrix().row(k).transpose()
}
