//! Exact derivatives of every wrench and of every velocity u with respect to v⁺: columns of Newton's matrix.   [GIM-4]
//!
//! A small change of v⁺ moves the bodies at the end of the step. They move contact points, normals and tangents. These turn the wrenches of
//! the impulses and the directions in which velocities are measured. [`ContactSlope`] computes one such column.

use nalgebra::{Matrix3, Vector3, Vector6};
use stiction_geometry::implicit::Sensitivity;
use stiction_multibody::{BodyId, Configuration, ContactRule, Dimension, Model, Twist, Wrench};

use crate::{Contact, SupportPointContact, tangents::tangents_change};

/// Body of a contact that moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moved {
    A,
    B,
}

/// Small change of the velocity of one body, and the displacement that it causes at the end of the step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    pub(super) moved: Moved,
    pub(super) velocity: Twist,
    pub(super) displacement: Twist,
}

/// Change of the place of a contact with one unknown.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Shift {
    pub(super) points: [Vector3<f64>; 2],
    pub(super) normal: Vector3<f64>,
    pub(super) gap: f64,
}

/// Derivative of a law with respect to one unknown: wrenches on both bodies at the given impulses, and velocities u.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Slope {
    pub(super) on_a: Wrench,
    pub(super) on_b: Wrench,
    pub(super) u: [f64; 6],
}

/// Data that the columns of one contact share.
pub(super) struct ContactSlope<'a> {
    pub(super) contact: &'a Contact,
    pub(super) sensitivity: Sensitivity,
    pub(super) rule: &'a ContactRule,
    pub(super) dimension: Dimension,
    pub(super) at: &'a Configuration,
    /// Normal, two tangential and the torsional impulse.
    pub(super) impulses: [f64; 4],
    /// Velocities of the two bodies, zero for those that do not move by v⁺.
    pub(super) twists: [Twist; 2],
    /// Gradient of the prescribed velocity of the two surfaces.
    pub(super) surface: [Matrix3<f64>; 2],
    /// Prescribed angular velocity of b against a.
    pub(super) surface_spin: Vector3<f64>,
    /// True if the normal row is n · v⁺ and not the gap.
    pub(super) rebounds: bool,
    pub(super) h: f64,
}

/// Change of the place of a contact, and of the motion of its bodies.
#[derive(Clone, Copy, Debug, Default)]
struct PlaceChange {
    points: [Vector3<f64>; 2],
    /// Of the two reference points.
    centres: [Vector3<f64>; 2],
    normal: Vector3<f64>,
    gap: f64,
    /// Rotation of the body that friction directions are fixed to.
    grain: Vector3<f64>,
    /// Change of the velocity of b against a at their points as they are, and of its angular velocity.
    velocity: Vector3<f64>,
    spin: Vector3<f64>,
}

impl ContactSlope<'_> {
    /// Derivative with respect to one velocity, while the points follow their bodies.
    pub(super) fn column(&self, change: &Change) -> Slope {
        let Contact { arm_a, arm_b, normal, gap_end: gap, .. } = self.contact;
        let Twist { linear, angular } = change.displacement;
        let a_moves = change.moved == Moved::A;
        // Motion of b against a at the contact point of b, as seen from a.   [MEET-2]
        let (relative, turned) = if a_moves {
            (-(linear + angular.cross(&(arm_a + normal * *gap))), -angular)
        } else {
            (linear + angular.cross(arm_b), angular)
        };
        let twist = Vector6::new(relative.x, relative.y, relative.z, turned.x, turned.y, turned.z);
        let (mut point_a, mut d_normal) = (self.sensitivity.point_a * twist, self.sensitivity.normal * twist);
        let d_gap = normal.dot(&relative);
        if a_moves {
            point_a += linear + angular.cross(arm_a);
            d_normal += angular.cross(normal);
        }
        let point_b = point_a + normal * d_gap + d_normal * *gap;
        self.slope(&PlaceChange { points: [point_a, point_b], normal: d_normal, gap: d_gap, ..self.motion(change) })
    }

    /// Derivative with respect to one velocity, while the points stay fixed.
    pub(super) fn body_column(&self, change: &Change, shift: &Shift) -> Slope {
        self.slope(&PlaceChange { normal: shift.normal, ..self.motion(change) })
    }

    /// Derivative with respect to an unknown of the contact itself.
    pub(super) fn point_column(&self, shift: &Shift) -> Slope {
        let Shift { points, normal, gap } = *shift;
        self.slope(&PlaceChange { points, normal, gap, ..PlaceChange::default() })
    }

    /// Changes with a body other than that of the place of the contact.
    fn motion(&self, change: &Change) -> PlaceChange {
        let Contact { a, b, arm_a, arm_b, .. } = self.contact;
        let Twist { linear, angular } = change.displacement;
        let (id, sign, arm) = if change.moved == Moved::A { (a, -1.0, arm_a) } else { (b, 1.0, arm_b) };
        let mut out = PlaceChange {
            velocity: change.velocity.at(arm) * sign,
            spin: change.velocity.angular * sign,
            ..PlaceChange::default()
        };
        out.centres[usize::from(change.moved == Moved::B)] = linear;
        if self.rule.direction_body == Some(*id) {
            out.grain = angular;
        }
        out
    }

    fn slope(&self, change: &PlaceChange) -> Slope {
        let Contact { arm_a, arm_b, normal, tangents, torsion, .. } = self.contact;
        let d_normal = change.normal;
        let [d_point_a, d_point_b] = change.points;
        let (d_arm_a, d_arm_b) = (d_point_a - change.centres[0], d_point_b - change.centres[1]);
        let d_tangents = tangents_change((normal, &d_normal), self.rule, self.dimension, (self.at, &change.grain));

        let [p_n, p_t, p_o, p_r] = self.impulses;
        let force = normal * p_n + tangents[0] * p_t + tangents[1] * p_o;
        let d_force = d_normal * p_n + d_tangents[0] * p_t + d_tangents[1] * p_o;
        let d_torque = d_normal * (p_r * torsion);
        let on_b = Wrench { linear: d_force, angular: d_arm_b.cross(&force) + arm_b.cross(&d_force) + d_torque };
        let on_a = Wrench { linear: -d_force, angular: -d_arm_a.cross(&force) - arm_a.cross(&d_force) - d_torque };

        let [of_a, of_b] = &self.twists;
        let relative_velocity = of_b.at(arm_b) - of_a.at(arm_a);
        let d_velocity = change.velocity + of_b.angular.cross(&d_arm_b) - of_a.angular.cross(&d_arm_a);
        let d_surface = self.surface[1] * d_point_b - self.surface[0] * d_point_a;
        let surface_velocity = relative_velocity + self.contact.surface_velocity;
        let spin = of_b.angular - of_a.angular + self.surface_spin;
        let along = |k: usize| d_tangents[k].dot(&surface_velocity) + tangents[k].dot(&(d_velocity + d_surface));
        let u_normal = if self.rebounds {
            d_normal.dot(&relative_velocity) + normal.dot(&d_velocity)
        } else {
            change.gap / self.h
        };
        let u_spin = torsion * (d_normal.dot(&spin) + normal.dot(&change.spin));
        Slope { on_a, on_b, u: [u_normal, along(0), along(1), u_spin, 0.0, 0.0] }
    }
}

/// Derivative of a support point with respect to one unknown. Its normal and tangents are constant.
pub(super) fn support_column(
    support_point: &SupportPointContact,
    impulses: &[f64],
    twists: [Twist; 2],
    change: &Change,
) -> Slope {
    let Twist { linear, angular } = change.displacement;
    let b_moves = change.moved == Moved::B;
    let d_point = if b_moves { linear + angular.cross(&support_point.arm) } else { Vector3::zeros() };
    let (d_arm_on, d_arm) = if b_moves { (d_point, d_point - linear) } else { (-linear, Vector3::zeros()) };
    let part = |k: usize| impulses.get(k).copied().unwrap_or(0.0);
    let force = Vector3::new(part(1), part(2), 0.0);
    let [of_on, of_body] = twists;
    let direct =
        if b_moves { change.velocity.at(&support_point.arm) } else { -change.velocity.at(&support_point.arm_on) };
    let surface = Vector3::z() * support_point.surface_spin;
    let d_velocity = direct + (of_body.angular + surface).cross(&d_arm) - of_on.angular.cross(&d_arm_on);
    let d_spin = if b_moves { change.velocity.angular.z } else { -change.velocity.angular.z };
    Slope {
        on_a: Wrench::of_torque(-d_arm_on.cross(&force)),
        on_b: Wrench::of_torque(d_arm.cross(&force)),
        u: [0.0, d_velocity.x, d_velocity.y, support_point.torsion * d_spin, 0.0, 0.0],
    }
}

/// Twist of a body at the velocities `v`; none for bodies that these velocities do not move.
pub(super) fn twist_of(model: &Model, v: &[f64], id: BodyId) -> Option<Twist> {
    let (mobility, range) = model.unknowns(id)?;
    debug_assert!(range.end <= v.len(), "the velocities are those of all bodies");
    Some(mobility.twist(v.get(range).unwrap_or_default()))
}

/// The twist of a body that moves by `v`, zero for the others.
pub(super) fn twist_or_rest(model: &Model, v: &[f64], id: BodyId) -> Twist {
    twist_of(model, v, id).unwrap_or_default()
}
