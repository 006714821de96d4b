//! What happens between two bodies that touch.

use nalgebra::Vector3;

use crate::BodyId;

/// Contact properties of a pair of bodies. Options left `None` follow the scheme.
#[derive(Clone, Debug, PartialEq)]
pub struct ContactRule {
    /// False lets the two bodies pass through each other.
    pub collide: bool,
    /// Coulomb's coefficient μ, static and kinetic alike.
    pub friction: f64,
    /// Number n_d of directions of the friction polygon in space, even and at least 4. The plane always has two.
    pub directions: Option<u32>,
    /// First friction direction, projected onto the tangent plane; world axes.
    pub first_direction: Option<Vector3<f64>>,
    /// Rotation of the whole direction star about the normal, rad.
    pub direction_offset: f64,
    /// Weight γ of the gap for this pair.
    pub gamma: Option<f64>,
    /// Contacts with a gap up to this are given to the solver, m.
    pub margin: Option<f64>,
}

impl Default for ContactRule {
    fn default() -> Self {
        Self {
            collide: true,
            friction: 0.0,
            directions: None,
            first_direction: None,
            direction_offset: 0.0,
            gamma: None,
            margin: None,
        }
    }
}

/// A rule for one pair of bodies.
#[derive(Clone, Debug, PartialEq)]
pub struct PairRule {
    /// The pair, lower id first.
    pub bodies: (BodyId, BodyId),
    /// Its rule.
    pub rule: ContactRule,
}
