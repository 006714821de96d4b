//! Choices that make a scheme, and checks of its numbers.

use stiction_multibody::OrientationUpdate;

use super::{
    ClosingSpeed, Coordinates, CornerLogic, Dynamics, FrictionSet, Impact, ImpulsePoints, LineariseAt, Margin, Method,
    Order, PositionUpdate, PrescribedSlip, Solving, Stabilisation, Substeps, Undetermined, VelocityTerms,
    error::SchemeError,
};

/// Discretisation of a step.
///
/// Write a choice as a change of a preset, `Scheme { gamma: 0.5, ..Preset::Ncp.scheme() }`: versions to come add fields.
#[derive(Clone, Debug, PartialEq)]
pub struct Scheme {
    /// Method. The other choices are those of [`Method::TimeStepping`]; the other methods refuse the choices they do not support.
    pub method: Method,
    /// Unknowns of a step.
    pub coordinates: Coordinates,
    /// Inertia of the bodies.
    pub dynamics: Dynamics,
    /// Choice among the quasistatic motions that the balance of forces leaves free.
    pub undetermined: Undetermined,
    /// Weight γ ∈ [0, 1] of contact gaps in [STEP-3]; a contact rule may override it.
    pub gamma: f64,
    /// Weight γ_b ∈ [0, 1] of joint errors in [STEP-2]; a joint may override it.
    pub joint_gamma: f64,
    /// Largest speed at which γ_b closes open joints, and γ separates overlapping bodies.   [STAB-9] [STAB-13]
    pub joint_closing_speed: ClosingSpeed,
    /// Configuration at which the constraints are linearised.
    pub linearise_at: LineariseAt,
    /// Velocity that moves the bodies.
    pub position_update: PositionUpdate,
    /// Order where the motion is smooth.
    pub order: Order,
    /// Division of every step.
    pub substeps: Substeps,
    /// The set of friction impulses.
    pub friction: FrictionSet,
    /// Rule by which a vertex passes a convex corner, in the plane.
    pub corners: CornerLogic,
    /// Law of impact, with the coefficient ε of the contact rule.
    pub impact: Impact,
    /// Directions n_d of the friction polygon in space and of support points; a contact rule may override it. Even, 4 to 1024.
    pub directions: u32,
    /// Choice of the contacts; a contact rule may override it.
    pub margin: Margin,
    /// Velocity of prescribed surfaces.
    pub prescribed_slip: PrescribedSlip,
    /// Stabilisation against drift in joints and gaps.
    pub stabilisation: Stabilisation,
    /// When a step is solved, and what happens if it is not.
    pub solving: Solving,
    /// Thickness of the layer that keeps shapes apart, m; 0 for none.   [STEP-16]
    pub protective_layer: f64,
    /// Update of orientations.
    pub orientation: OrientationUpdate,
    /// Velocity products.
    pub velocity_terms: VelocityTerms,
    /// Points at which impulses act.
    pub impulse_points: ImpulsePoints,
    /// Speed along the surface above which a touching contact counts as slipping, m/s; in a step that is solved less accurately, what its residual leaves to a
    /// contact that sticks is the threshold. It is used in reports and events only and does not influence the motion.
    pub slip_threshold: f64,
    /// Gap up to which a contact counts as touching, m. It is used in reports and events, and with γ = 0 for the choice of contacts. It
    /// prevents that round-off opens contacts.
    pub touch_threshold: f64,
}

impl Default for Scheme {
    fn default() -> Self {
        Self {
            method: Method::default(),
            coordinates: Coordinates::default(),
            dynamics: Dynamics::default(),
            undetermined: Undetermined::default(),
            gamma: 1.0,
            joint_gamma: 1.0,
            joint_closing_speed: ClosingSpeed::default(),
            linearise_at: LineariseAt::default(),
            position_update: PositionUpdate::default(),
            order: Order::default(),
            substeps: Substeps::default(),
            friction: FrictionSet::default(),
            corners: CornerLogic::default(),
            impact: Impact::default(),
            directions: 8,
            margin: Margin::default(),
            prescribed_slip: PrescribedSlip::default(),
            stabilisation: Stabilisation::default(),
            solving: Solving::default(),
            protective_layer: 0.0,
            orientation: OrientationUpdate::default(),
            velocity_terms: VelocityTerms::default(),
            impulse_points: ImpulsePoints::default(),
            slip_threshold: 1e-9,
            touch_threshold: 1e-10,
        }
    }
}

impl Scheme {
    /// The scheme with the terms that published schemes have and that later ones improve: explicit velocity terms, impulses that act at the
    /// surface points of each body, and joints that close and overlaps that open at any speed.
    #[must_use]
    pub fn as_published(self) -> Self {
        Self {
            velocity_terms: VelocityTerms::Explicit,
            impulse_points: ImpulsePoints::OfBodies,
            joint_closing_speed: ClosingSpeed::UNBOUNDED,
            ..self
        }
    }

    /// True if the impulses between two moving bodies act at a common point. Implicit steps solve for the surface points themselves.   [STEP-17]
    pub fn has_common_points(&self) -> bool {
        self.impulse_points == ImpulsePoints::Common && self.linearise_at != LineariseAt::Implicit
    }

    /// True if springs and dampers between bodies are implicit in the velocities at the end of the step. In published schemes they are forces at its start, as
    /// their velocity terms are.   [FORCE-3]
    pub fn has_implicit_springs(&self) -> bool {
        self.method == Method::TimeStepping
            && self.velocity_terms == VelocityTerms::Conserving
            && self.dynamics == Dynamics::Inertial
            && self.linearise_at != LineariseAt::Implicit
    }

    /// Checks every number.
    pub fn validate(&self) -> Result<(), SchemeError> {
        let fail = |field, reason: String| Err(SchemeError { field, reason });
        for (field, gamma) in [("gamma", self.gamma), ("joint_gamma", self.joint_gamma)] {
            if !(0.0..=1.0).contains(&gamma) {
                return fail(field, format!("must lie between 0 and 1, but is {gamma}"));
            }
        }
        if self.directions < 4 || !self.directions.is_multiple_of(2) || self.directions > 1024 {
            return fail("directions", format!("must be an even number from 4 to 1024, but is {}", self.directions));
        }
        if let Margin::Fixed(margin) = self.margin
            && !(0.0..=1e9).contains(&margin)
        {
            return fail("margin", format!("must be finite and not negative, but is {margin}"));
        }
        self.solving.validate()?;
        self.substeps.validate()?;
        if !(0.0..=1e9).contains(&self.protective_layer) {
            let reason = format!("must be finite and not negative, but is {}", self.protective_layer);
            return fail("protective_layer", reason);
        }
        self.joint_closing_speed.validate()?;
        self.stabilisation.validate()?;
        for (field, x) in [("slip_threshold", self.slip_threshold), ("touch_threshold", self.touch_threshold)] {
            if !(0.0..=1.0).contains(&x) {
                return fail(field, format!("must lie between 0 and 1, but is {x}"));
            }
        }
        Ok(())
    }
}
