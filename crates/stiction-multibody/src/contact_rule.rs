//! Contact rules of pairs of bodies.

use nalgebra::Vector3;

use crate::{
    BodyId, LayerRule, ModelError,
    check::{Check, limits},
};

/// Contact properties of a pair of bodies. Options left `None` follow the scheme.
#[derive(Clone, Debug, PartialEq)]
pub struct ContactRule {
    /// False lets the two bodies pass through each other.
    pub collide: bool,
    /// Coulomb's coefficient μ, static and kinetic alike.
    pub friction: f64,
    /// Number n_d of directions of the friction polygon in space, even and at least 4. The plane always has two.
    pub directions: Option<u32>,
    /// First friction direction, projected onto the tangent plane; in world axes, or in those of `direction_body`. The default
    /// is world x.
    pub first_direction: Option<Vector3<f64>>,
    /// Body to which the first direction is fixed and with which it rotates, like the grain of a material.
    pub direction_body: Option<BodyId>,
    /// Rotation of the whole direction star about the normal, rad.
    pub direction_offset: f64,
    /// Semi-axes e_t, e_o of the friction ellipse along the first friction direction and across it, in units of μ p_n.
    /// Both 1 is Coulomb's disc.
    pub ellipse: [f64; 2],
    /// Lever e_r of torsional friction, m: spinning about the normal is resisted by at most μ e_r p_n. Zero is none.
    pub torsion: f64,
    /// Coefficient ρ of rolling friction, m: rolling is resisted by a moment of at most ρ p_n. Zero is none; it needs friction.
    pub rolling: f64,
    /// Coefficient of restitution ε from 0 to 1, for schemes with an impact law.
    pub restitution: f64,
    /// Weight γ of the gap for this pair.
    pub gamma: Option<f64>,
    /// Largest gap at which a contact is passed to the solver, m.
    pub margin: Option<f64>,
    /// Compliant layer between the bodies.   [SOFT-1]
    pub layer: LayerRule,
}

/// Choices of a friction law beyond Coulomb's with ellipse and torsion, as contacts carry them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FrictionOptions {
    /// Coefficient ρ of rolling friction, m.
    pub rolling: f64,
}

impl FrictionOptions {
    /// The first choice that is made and how to do without it, for schemes that have Coulomb's law alone.
    pub fn beyond_coulomb(self) -> Option<(&'static str, &'static str)> {
        let Self { rolling } = self;
        (rolling > 0.0).then_some(("rolling friction", "set `rolling = 0`"))
    }
}

impl ContactRule {
    /// Choices of the friction law beyond Coulomb's.
    pub fn friction_options(&self) -> FrictionOptions {
        FrictionOptions { rolling: self.rolling }
    }

    /// Returns the rule if all its numbers are legal, with directions of unit length.
    pub(crate) fn checked(mut self, check: &Check) -> Result<Self, ModelError> {
        self.friction = check.non_negative("friction", self.friction, limits::FRICTION)?;
        check.bounded("direction_offset", self.direction_offset, limits::LENGTH)?;
        if let Some(n_d) = self.directions
            && (n_d < 4 || n_d % 2 != 0 || n_d > 1024)
        {
            return Err(check.error("directions", format!("must be an even number from 4 to 1024, but is {n_d}")));
        }
        if let Some(direction) = self.first_direction {
            self.first_direction = Some(check.direction("first_direction", direction)?);
        }
        for axis in self.ellipse {
            check.within("ellipse", axis, (1e-3, 1e3))?;
        }
        check.non_negative("torsion", self.torsion, limits::LEVER)?;
        check.non_negative("rolling", self.rolling, limits::LEVER)?;
        if self.rolling > 0.0 && self.friction == 0.0 {
            let reason = "rolling friction needs sliding friction: set `friction` above zero, or `rolling = 0`";
            return Err(check.error("rolling", reason.to_owned()));
        }
        check.within("restitution", self.restitution, (0.0, 1.0))?;
        if let Some(gamma) = self.gamma {
            check.within("gamma", gamma, (0.0, 1.0))?;
        }
        if let Some(margin) = self.margin {
            check.non_negative("margin", margin, limits::LENGTH)?;
        }
        if let LayerRule::Given(layer) = self.layer {
            self.layer = LayerRule::Given(layer.checked(check)?);
        }
        Ok(self)
    }
}

impl Default for ContactRule {
    fn default() -> Self {
        Self {
            collide: true,
            friction: 0.0,
            directions: None,
            first_direction: None,
            direction_body: None,
            direction_offset: 0.0,
            ellipse: [1.0; 2],
            torsion: 0.0,
            rolling: 0.0,
            restitution: 0.0,
            gamma: None,
            margin: None,
            layer: LayerRule::OfBodies,
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
