//! Spatial vectors of links: motions and forces in world axes about the origin of a link, and their change of origin.
//!
//! All axes are those of the world, so a change of link is a change of origin only: the sweeps need no rotations.

use nalgebra::Vector3;

use crate::{Twist, Wrench};

impl Twist {
    /// The same motion about the origin at `arm` from this one: (v + ω × r, ω).
    #[inline]
    pub(super) fn moved(&self, arm: &Vector3<f64>) -> Self {
        Self { linear: self.at(arm), angular: self.angular }
    }

    /// Adds `factor` times another motion about the same origin.
    #[inline]
    pub(super) fn add_scaled(&mut self, other: &Self, factor: f64) {
        self.linear += other.linear * factor;
        self.angular += other.angular * factor;
    }

    /// Spatial cross product of motions: the rate of `other` when it is carried along by this motion.
    #[inline]
    pub(super) fn cross(&self, other: &Self) -> Self {
        Self {
            linear: self.angular.cross(&other.linear) + self.linear.cross(&other.angular),
            angular: self.angular.cross(&other.angular),
        }
    }

    /// Spatial cross product with a force: the rate of a momentum that is carried along by this motion.
    #[inline]
    pub(super) fn cross_force(&self, force: &Wrench) -> Wrench {
        Wrench {
            linear: self.angular.cross(&force.linear),
            angular: self.angular.cross(&force.angular) + self.linear.cross(&force.linear),
        }
    }
}

impl Wrench {
    /// The same force about another origin, from which the present one is at `arm`: (f, τ + r × f).
    #[inline]
    pub(super) fn moved(&self, arm: &Vector3<f64>) -> Self {
        Self { linear: self.linear, angular: self.angular + arm.cross(&self.linear) }
    }

    /// Adds `factor` times another force about the same origin.
    #[inline]
    pub fn add_scaled(&mut self, other: &Self, factor: f64) {
        self.linear += other.linear * factor;
        self.angular += other.angular * factor;
    }
}
