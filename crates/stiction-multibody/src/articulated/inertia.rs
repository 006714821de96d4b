//! Inertias of links in world axes about the origin of a link: rigid ones, and those of articulated bodies.

use nalgebra::{Matrix3, Vector3};

use crate::{Twist, Wrench, rotation::cross_matrix};

/// Inertia of a rigid body: ten numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RigidInertia {
    /// Mass m.
    pub mass: f64,
    /// First moment m c, with c the centre of mass from the origin.
    pub moment: Vector3<f64>,
    /// Second moment about the origin.
    pub second: Matrix3<f64>,
}

impl RigidInertia {
    /// Of mass m at c, with inertia about c: second moment I_c + m (c·c − c cᵀ).
    pub fn new(mass: f64, center: Vector3<f64>, about_center: &Matrix3<f64>) -> Self {
        let moment = center * mass;
        let second = about_center + Matrix3::from_diagonal_element(moment.dot(&center)) - moment * center.transpose();
        Self { mass, moment, second }
    }

    /// Momentum of the body moving with `twist`: (m v + ω × m c, m c × v + I ω).
    #[inline]
    pub fn momentum(&self, twist: &Twist) -> Wrench {
        Wrench {
            linear: twist.linear * self.mass + twist.angular.cross(&self.moment),
            angular: self.moment.cross(&twist.linear) + self.second * twist.angular,
        }
    }

    /// The same inertia about another origin, from which the present one is at `arm`.
    #[inline]
    pub(super) fn moved(&self, arm: &Vector3<f64>) -> Self {
        let moment = self.moment + arm * self.mass;
        // −[r]ₓ[m c]ₓ − [m c]ₓ[r]ₓ − m [r]ₓ[r]ₓ, written with [a]ₓ[b]ₓ = b aᵀ − (a·b) 1.
        let outer = arm * self.moment.transpose();
        let trace = 2.0 * arm.dot(&self.moment) + self.mass * arm.norm_squared();
        let second = self.second - outer - outer.transpose() - arm * arm.transpose() * self.mass
            + Matrix3::from_diagonal_element(trace);
        Self { mass: self.mass, moment, second }
    }

    /// Adds the inertia of a body fixed to this one, about the same origin.
    #[inline]
    pub(super) fn add(&mut self, other: &Self) {
        self.mass += other.mass;
        self.moment += other.moment;
        self.second += other.second;
    }
}

/// Inertia that an articulated body shows at its handle: symmetric 6 × 6, as its blocks `[A, B; Bᵀ, C]`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct ArticulatedInertia {
    linear: Matrix3<f64>,
    coupling: Matrix3<f64>,
    angular: Matrix3<f64>,
}

impl From<&RigidInertia> for ArticulatedInertia {
    fn from(rigid: &RigidInertia) -> Self {
        Self {
            linear: Matrix3::from_diagonal_element(rigid.mass),
            coupling: -cross_matrix(&rigid.moment),
            angular: rigid.second,
        }
    }
}

impl ArticulatedInertia {
    /// Force that gives the acceleration `motion`.
    #[inline]
    pub(super) fn times(&self, motion: &Twist) -> Wrench {
        Wrench {
            linear: self.linear * motion.linear + self.coupling * motion.angular,
            angular: self.coupling.tr_mul(&motion.linear) + self.angular * motion.angular,
        }
    }

    /// Takes away what a joint velocity yields to: I − U Uᵀ / d.
    #[inline]
    pub(super) fn eliminate(&mut self, u: &Wrench, inverse_pivot: f64) {
        let scaled = u.scaled(inverse_pivot);
        self.linear -= scaled.linear * u.linear.transpose();
        self.coupling -= scaled.linear * u.angular.transpose();
        self.angular -= scaled.angular * u.angular.transpose();
    }

    /// The same inertia about another origin, from which the present one is at `arm`:
    /// A' = A, B' = B − A \[r\]ₓ, C' = C − Bᵀ\[r\]ₓ + \[r\]ₓ B', where A and C are symmetric.
    #[inline]
    pub(super) fn moved(&self, arm: &Vector3<f64>) -> Self {
        let coupling = self.coupling + crossed(arm, &self.linear).transpose();
        let angular = self.angular + crossed(arm, &self.coupling).transpose() + crossed(arm, &coupling);
        Self { linear: self.linear, coupling, angular }
    }

    /// Adds the inertia of another body at the same handle.
    #[inline]
    pub(super) fn add(&mut self, other: &Self) {
        self.linear += other.linear;
        self.coupling += other.coupling;
        self.angular += other.angular;
    }
}

/// `[r]ₓ X`, column by column.
#[inline]
fn crossed(r: &Vector3<f64>, x: &Matrix3<f64>) -> Matrix3<f64> {
    let [a, b, c] = [0, 1, 2].map(|k| r.cross(&x.column(k)));
    Matrix3::from_columns(&[a, b, c])
}
