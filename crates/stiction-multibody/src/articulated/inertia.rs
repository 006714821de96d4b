//! Inertias of links about the origin of a link: rigid ones, and those of articulated bodies.

use nalgebra::{Matrix3, Rotation3, Vector3};

use super::symmetric::Symmetric3;
use crate::{Twist, Wrench, rotation::cross_matrix};

/// Inertia of a rigid body: ten numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RigidInertia {
    /// Mass m.
    pub(super) mass: f64,
    /// First moment m c, with c the centre of mass from the origin.
    pub(super) moment: Vector3<f64>,
    /// Second moment about the origin.
    second: Symmetric3,
}

impl RigidInertia {
    /// Inertia of a mass m at c, with inertia I_c about c: second moment I_c + m (c·c − c cᵀ).
    pub fn new(mass: f64, center: Vector3<f64>, about_center: &Matrix3<f64>) -> Self {
        let moment = center * mass;
        let mut second = Symmetric3::upper(about_center);
        second.add_scaled(&Symmetric3::scalar(moment.dot(&center)), 1.0);
        second.add_scaled(&Symmetric3::outer(&moment, &center), -1.0);
        Self { mass, moment, second }
    }

    /// Momentum of the body moving with `twist`: (m v + ω × m c, m c × v + I ω).
    #[inline]
    pub fn momentum(&self, twist: &Twist) -> Wrench {
        Wrench {
            linear: twist.linear * self.mass + twist.angular.cross(&self.moment),
            angular: self.moment.cross(&twist.linear) + self.second.times(&twist.angular),
        }
    }

    /// Second moment about the centre of mass, if that is the origin.
    pub fn about_center(&self) -> Option<Matrix3<f64>> {
        (self.moment == Vector3::zeros()).then(|| Matrix3::from_columns(&self.second.columns()))
    }

    /// The same inertia in rotated axes.
    #[inline]
    pub(super) fn turned(&self, rotation: &Rotation3<f64>) -> Self {
        Self { mass: self.mass, moment: rotation * self.moment, second: self.second.turned(rotation.matrix()) }
    }

    /// The same inertia about another origin, from which the present one is at `arm`.
    #[inline]
    pub(super) fn moved(&self, arm: &Vector3<f64>) -> Self {
        // −[r]ₓ[m c]ₓ − [m c]ₓ[r]ₓ − m [r]ₓ[r]ₓ, written with [a]ₓ[b]ₓ = b aᵀ − (a·b) 1.
        let trace = 2.0 * arm.dot(&self.moment) + self.mass * arm.norm_squared();
        let mut second = self.second;
        second.add_scaled(&Symmetric3::scalar(trace), 1.0);
        second.add_scaled(&Symmetric3::twice_outer(arm, &self.moment), -1.0);
        second.add_scaled(&Symmetric3::outer(arm, arm), -self.mass);
        Self { mass: self.mass, moment: self.moment + arm * self.mass, second }
    }

    /// Adds the inertia of a body fixed to this one, about the same origin.
    #[inline]
    pub(super) fn add(&mut self, other: &Self) {
        self.mass += other.mass;
        self.moment += other.moment;
        self.second.add_scaled(&other.second, 1.0);
    }
}

/// Articulated-body inertia at a handle: symmetric 6 × 6, as its blocks `[A, B; Bᵀ, C]`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct ArticulatedInertia {
    linear: Symmetric3,
    coupling: Matrix3<f64>,
    angular: Symmetric3,
}

impl From<&RigidInertia> for ArticulatedInertia {
    fn from(rigid: &RigidInertia) -> Self {
        Self { linear: Symmetric3::scalar(rigid.mass), coupling: -cross_matrix(&rigid.moment), angular: rigid.second }
    }
}

impl ArticulatedInertia {
    /// Force of the acceleration `motion`.
    #[inline]
    pub(super) fn times(&self, motion: &Twist) -> Wrench {
        Wrench {
            linear: self.linear.times(&motion.linear) + self.coupling * motion.angular,
            angular: self.coupling.tr_mul(&motion.linear) + self.angular.times(&motion.angular),
        }
    }

    /// Largest number on its diagonal.
    #[inline]
    pub(super) fn largest(&self) -> f64 {
        self.linear.largest().max(self.angular.largest())
    }

    /// Eliminates a joint velocity: I − U Uᵀ / d.
    #[inline]
    pub(super) fn eliminate(&mut self, u: &Wrench, inverse_pivot: f64) {
        let scaled = u.scaled(inverse_pivot);
        self.linear.add_scaled(&Symmetric3::outer(&scaled.linear, &u.linear), -1.0);
        self.coupling -= scaled.linear * u.angular.transpose();
        self.angular.add_scaled(&Symmetric3::outer(&scaled.angular, &u.angular), -1.0);
    }

    /// The same inertia about another origin, from which the present one is at `arm`:
    /// A' = A, B' = B − A \[r\]ₓ, C' = C − Bᵀ\[r\]ₓ + \[r\]ₓ B', where A and C are symmetric.
    #[inline]
    pub(super) fn moved(&self, arm: &Vector3<f64>) -> Self {
        let [x, y, z] = self.linear.columns();
        let coupling = self.coupling + crossed(arm, &x, &y, &z).transpose();
        let change = crossed_matrix(arm, &self.coupling).transpose() + crossed_matrix(arm, &coupling);
        let mut angular = self.angular;
        angular.add_scaled(&Symmetric3::upper(&change), 1.0);
        Self { linear: self.linear, coupling, angular }
    }

    /// Adds the inertia of another body at the same handle.
    #[inline]
    pub(super) fn add(&mut self, other: &Self) {
        self.linear.add_scaled(&other.linear, 1.0);
        self.coupling += other.coupling;
        self.angular.add_scaled(&other.angular, 1.0);
    }
}

/// `[r]ₓ [x, y, z]`, column by column.
#[inline]
fn crossed(r: &Vector3<f64>, x: &Vector3<f64>, y: &Vector3<f64>, z: &Vector3<f64>) -> Matrix3<f64> {
    Matrix3::from_columns(&[r.cross(x), r.cross(y), r.cross(z)])
}

/// `[r]ₓ X`.
#[inline]
fn crossed_matrix(r: &Vector3<f64>, x: &Matrix3<f64>) -> Matrix3<f64> {
    crossed(r, &x.column(0).into(), &x.column(1).into(), &x.column(2).into())
}
