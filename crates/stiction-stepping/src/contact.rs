//! Potential contact with all data of its laws.

use std::ops::Range;

use nalgebra::{Point3, Vector3};
use stiction_complementarity::Law;
use stiction_multibody::{BodyId, ContactId, FrictionOptions, Layer, Wrench};

/// Potential contact: geometry at the point of linearisation, with prescribed bodies at the end of the step.
#[derive(Clone, Debug)]
pub struct Contact {
    /// Id: the features of the two shapes.
    pub id: ContactId,
    /// Chain number: contacts of the same two shapes with the same number are alternatives.   [CORNER-1]
    pub chain: u32,
    /// True if the contact has alternatives.
    pub has_alternatives: bool,
    /// First body.
    pub a: BodyId,
    /// Second body.
    pub b: BodyId,
    /// Point on the second body.
    pub point: Point3<f64>,
    /// Vector from the reference point of the first body to its surface point.
    pub arm_a: Vector3<f64>,
    /// Vector from the reference point of the second body to its surface point.
    pub arm_b: Vector3<f64>,
    /// Unit normal from the first to the second body.
    pub normal: Vector3<f64>,
    /// Gap ψ with prescribed bodies at the start of the step.
    pub gap_start: f64,
    /// Gap ψ with prescribed bodies at the end of the step.
    pub gap_end: f64,
    /// Coulomb's coefficient.
    pub mu: f64,
    /// Tangents as long as the semi-axes of the friction ellipse; the second is zero in the plane.
    pub tangents: [Vector3<f64>; 2],
    /// Lever of torsional friction, m.
    pub torsion: f64,
    /// Choices of the friction law beyond Coulomb's.
    pub friction_options: FrictionOptions,
    /// Coefficient of restitution.
    pub restitution: f64,
    /// Compliant layer between the bodies.   [SOFT-1]
    pub layer: Option<Layer>,
    /// Weight of the gap.
    pub gamma: f64,
    /// Velocity of surface b against surface a that is prescribed by kinematic motion and conveyor belts.   [STEP-8]
    pub surface_velocity: Vector3<f64>,
    /// Angular velocity of surface b against surface a about the normal that is prescribed by kinematic motion.
    pub surface_spin: f64,
    /// Angular velocity of surface b against surface a that is prescribed by kinematic motion.
    pub surface_rotation: Vector3<f64>,
    /// Bias of its normal row: n · v⁺ + bias ≥ 0.   [STEP-3]
    pub bias: f64,
    /// What the bias leaves of an overlap.
    pub overlap: OverlapLeft,
    /// Range of its friction directions in the list of all; empty without friction and with the second-order cone.
    pub directions: Range<usize>,
    /// Range of its friction bounds (sets of directions with one slip speed σ) among those of all contacts: one, or one for each tangent of
    /// a box.
    pub friction_bounds: Range<usize>,
}

/// What a step leaves of an overlap at its start.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OverlapLeft {
    /// Rate of the part that is left for later steps; the bias contains it.   [STAB-13]
    pub deferred: f64,
    /// True if all of it is kept, because no motion opens it.   [EXIST-2]
    pub is_kept: bool,
}

impl Contact {
    /// Wrenches on the two bodies of a unit impulse along `d`: the row W(d)ᵀ, whose power is d · (v_b − v_a).   [STEP-7]
    #[inline]
    pub fn row(&self, d: &Vector3<f64>) -> (Wrench, Wrench) {
        (Wrench::of_force(-d, &self.arm_a), Wrench::of_force(*d, &self.arm_b))
    }

    /// Wrenches on the two bodies of a unit torsional impulse: power n · (ω_b − ω_a).   [FRIC-3]
    #[inline]
    pub fn spin_row(&self) -> (Wrench, Wrench) {
        (Wrench::of_torque(-self.normal), Wrench::of_torque(self.normal))
    }

    /// True in the plane, where there is one tangent.
    #[inline]
    pub(crate) fn is_planar(&self) -> bool {
        self.tangents[1] == Vector3::zeros()
    }

    /// Axes of rolling friction, as long as its coefficient: the axis of the plane, or the two tangents.   [FRIC-5]
    pub(crate) fn rolling_axes(&self) -> impl Iterator<Item = Vector3<f64>> + use<> {
        let [t, o] = self.tangents;
        let axes = if self.is_planar() { [self.normal.cross(&t), o] } else { [t, o] };
        let length = self.friction_options.rolling;
        axes.into_iter()
            .filter(move |axis| length > 0.0 && *axis != Vector3::zeros())
            .map(move |axis| axis * (length / axis.norm()))
    }

    /// Wrenches on the two bodies of a unit impulse of rolling friction about an axis: power axis · (ω_b − ω_a).   [FRIC-5]
    pub(crate) fn rolling_row(axis: &Vector3<f64>) -> (Wrench, Wrench) {
        (Wrench::of_torque(-axis), Wrench::of_torque(*axis))
    }

    /// Directions of one of its friction bounds, which all have equally many.
    pub(crate) fn directions_of(&self, bound: usize) -> Range<usize> {
        debug_assert!(self.friction_bounds.contains(&bound), "the friction bound is one of this contact");
        debug_assert_eq!(
            self.directions.len() % self.friction_bounds.len().max(1),
            0,
            "friction bounds have equally many directions"
        );
        let count = self.directions.len() / self.friction_bounds.len().max(1);
        let first = self.directions.start + count * bound.saturating_sub(self.friction_bounds.start);
        first..first + count
    }
}

/// Impulse at a contact over the step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactImpulse {
    /// Normal impulse, N s.
    pub normal: f64,
    /// Friction impulse on the second body, world axes, N s.
    pub friction: Vector3<f64>,
    /// Torsional friction impulse on the second body about the normal, N m s.
    pub spin: f64,
    /// Moment of rolling friction on the second body, world axes, N m s.
    pub rolling: Vector3<f64>,
    /// Multiplier σ, m/s; zero if the problem has none.
    pub sigma: f64,
}

impl ContactImpulse {
    /// Sum with another impulse.
    pub(crate) fn and(&self, other: &Self) -> Self {
        Self {
            normal: self.normal + other.normal,
            friction: self.friction + other.friction,
            spin: self.spin + other.spin,
            rolling: self.rolling + other.rolling,
            sigma: self.sigma,
        }
    }
}

/// Support point with all data of its laws, where the constraints are linearised. Its normal is z, its tangents are x and y.
#[derive(Clone, Debug)]
pub struct SupportPointContact {
    /// Body that rests on it.
    pub body: BodyId,
    /// Body that it presses on.
    pub supporting_body: BodyId,
    /// Index in the list of its body.
    pub index: usize,
    /// Position in the world, m.
    pub point: Point3<f64>,
    /// Vector from the centre of the body to the support point, m.
    pub arm: Vector3<f64>,
    /// Vector from the reference point of the body below to the support point, m.
    pub arm_on: Vector3<f64>,
    /// Normal load N, N.
    pub load: f64,
    /// Coulomb's coefficient.
    pub mu: f64,
    /// Lever of torsional friction, m.
    pub torsion: f64,
    /// Velocity of the support point against the surface that the motion of the surface prescribes, m/s.   [SUP-5]
    pub surface_velocity: Vector3<f64>,
    /// Angular velocity about z of the support point against the surface that the motion of the surface prescribes, rad/s.
    pub surface_spin: f64,
    /// Range of its friction directions in the list of all; empty without friction and with the second-order cone.
    pub directions: Range<usize>,
    /// Range of its friction bounds (sets of directions with one slip speed σ) among those of all contacts and support points.
    pub friction_bounds: Range<usize>,
}

impl SupportPointContact {
    /// Tangents of every support point.
    pub fn tangents() -> [Vector3<f64>; 2] {
        [Vector3::x(), Vector3::y()]
    }

    /// Wrenches on the body below and on the body of a unit impulse along `d`: power d · (v_point − v_surface).
    pub fn row(&self, d: &Vector3<f64>) -> (Wrench, Wrench) {
        (Wrench::of_force(-d, &self.arm_on), Wrench::of_force(*d, &self.arm))
    }

    /// Wrenches on the body below and on the body of a unit torsional impulse.
    pub fn spin_row(&self) -> (Wrench, Wrench) {
        (Wrench::of_torque(-Vector3::z()), Wrench::of_torque(Vector3::z()))
    }

    /// Law of the support point with the second-order cone: that of a spatial contact.   [SUP-4]
    pub(crate) fn law(&self) -> Law {
        match (self.mu > 0.0, self.torsion > 0.0) {
            (false, _) => Law::Bounded { lower: 0.0, upper: f64::INFINITY },
            (true, torsion) => Law::Cone { rows: if torsion { 4 } else { 3 }, mu: self.mu },
        }
    }

    /// Directions of one of its friction bounds, which all have equally many.
    pub(crate) fn directions_of(&self, bound: usize) -> Range<usize> {
        debug_assert!(self.friction_bounds.contains(&bound), "the friction bound is one of this contact");
        debug_assert_eq!(
            self.directions.len() % self.friction_bounds.len().max(1),
            0,
            "friction bounds have equally many directions"
        );
        let count = self.directions.len() / self.friction_bounds.len().max(1);
        let first = self.directions.start + count * bound.saturating_sub(self.friction_bounds.start);
        first..first + count
    }
}
