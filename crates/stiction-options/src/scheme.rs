//! Choices that make a scheme, and checks of their combinations.

use stiction_multibody::{ContactRule, Model, OrientationUpdate};

use super::{
    ClosingSpeed, Coordinates, CornerLogic, Dynamics, FrictionSet, Impact, ImpulsePoints, LineariseAt, Margin, Method,
    Order, PositionUpdate, PrescribedSlip, Stabilisation, Substeps, Undetermined, VelocityTerms, joint_space, layers,
    order, support,
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
    /// Largest speed at which γ_b closes open joints.   [STAB-9]
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
    /// Largest number of times an unsolved step is halved, 0 to 10. The substeps are reported.   [STEP-13] Default 3. The reference
    /// chooses its own steps and accepts only the default or 0.
    pub halve_steps: u32,
    /// Thickness of the layer that keeps shapes apart, m; 0 for none.   [STEP-16]
    pub protective_layer: f64,
    /// Update of orientations.
    pub orientation: OrientationUpdate,
    /// Velocity products.
    pub velocity_terms: VelocityTerms,
    /// Points at which impulses act.
    pub impulse_points: ImpulsePoints,
    /// Speed along the surface above which a touching contact counts as slipping, m/s. It is used in reports and events only and does not
    /// influence the motion.
    pub slip_threshold: f64,
    /// Gap up to which a contact counts as touching, m. It is used in reports and events, and with γ = 0 for the choice of contacts. It
    /// prevents that round-off opens contacts.
    pub touch_threshold: f64,
}

/// Default of [`Scheme::halve_steps`]. An eighth of a step is a different problem, and usually an easier one; linkages that whip through a
/// singular position need up to a sixty-fourth.
const HALVINGS: u32 = 6;

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
            halve_steps: HALVINGS,
            protective_layer: 0.0,
            orientation: OrientationUpdate::default(),
            velocity_terms: VelocityTerms::default(),
            impulse_points: ImpulsePoints::default(),
            slip_threshold: 1e-9,
            touch_threshold: 1e-10,
        }
    }
}

/// Largest number of step halvings: 1024 substeps instead of one step.
const MOST_HALVINGS: u32 = 10;

/// Scheme that cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("scheme, {field}: {reason}")]
pub struct SchemeError {
    /// Option at fault, named as in a scene file.
    pub field: &'static str,
    /// Reason.
    pub reason: String,
}

impl Scheme {
    /// The scheme with the terms that published schemes have and that later ones improve: explicit velocity terms, impulses that act at the
    /// surface points of each body, and joints that close at any speed.
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

    /// True if springs and dampers between bodies are implicit in the velocities at the end of the step.   [FORCE-3]
    pub fn has_implicit_springs(&self) -> bool {
        self.method == Method::TimeStepping
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
        if self.halve_steps > MOST_HALVINGS {
            return fail("halve_steps", format!("must be at most {MOST_HALVINGS}, but is {}", self.halve_steps));
        }
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

    /// Refuses the disjunction of faces outside of a single linear problem.
    fn check_corners(&self) -> Result<(), SchemeError> {
        let linear = self.friction != FrictionSet::Quadratic && self.impact != Impact::Poisson;
        if self.corners != CornerLogic::Disjunctive || (linear && self.method == Method::TimeStepping) {
            return Ok(());
        }
        let reason = "the disjunction is part of one linear problem per step; use `friction = \"polygon\"` and `impact = \"newton\"` with a time-stepping preset, or `corners = \"exact\"`, which goes with everything";
        Err(SchemeError { field: "corners", reason: reason.to_owned() })
    }

    /// Refuses choices without rolling friction.   [FRIC-5]
    fn check_rolling(&self) -> Result<(), SchemeError> {
        let (field, reason) = if self.friction != FrictionSet::Quadratic {
            (
                "friction",
                "rolling friction and linear friction sets do not go together: a polygon has no direction for rolling; use `friction = \"quadratic\"` or set `rolling = 0`",
            )
        } else if self.method == Method::Reference {
            (
                "preset",
                "the event-driven reference has no rolling friction; use a preset such as `ncp`, or set `rolling = 0`",
            )
        } else if self.linearise_at == LineariseAt::Implicit {
            (
                "jacobians",
                "implicit steps have no rolling friction; use another preset, such as `ncp`, or set `rolling = 0`",
            )
        } else if self.dynamics == Dynamics::Quasistatic {
            (
                "preset",
                "bodies without inertia have no rolling friction; use a preset with inertia, or set `rolling = 0`",
            )
        } else {
            return Ok(());
        };
        Err(SchemeError { field, reason: reason.to_owned() })
    }

    /// Refuses choices that an implicit step does not support.   [GIM-1]
    fn check_implicit(&self, model: &Model) -> Result<(), SchemeError> {
        let weighed = self.gamma < 1.0
            || self.joint_gamma < 1.0
            || model.contact_rules().any(|rule| rule.gamma.is_some_and(|gamma| gamma < 1.0))
            || model.joints().iter().any(|joint| joint.gamma.is_some_and(|gamma| gamma < 1.0));
        let notched = model.shapes().find(|(_, _, shape)| shape.convex().is_none()).map(|(_, body, _)| body);
        let (field, reason) = if self.friction != FrictionSet::Quadratic {
            (
                "friction",
                "implicit steps have the second-order cone; use `friction = \"quadratic\"` or `jacobians = \"end\"`"
                    .to_owned(),
            )
        } else if self.dynamics == Dynamics::Quasistatic {
            ("jacobians", "bodies without inertia have no implicit step; use `jacobians = \"end\"`, which solves the same equations".to_owned())
        } else if self.position_update == PositionUpdate::Average {
            (
                "position_update",
                "implicit steps move bodies by their end velocity; use `position_update = \"end\"` or `jacobians = \"end\"`"
                    .to_owned(),
            )
        } else if weighed {
            ("gamma", "in an implicit step contacts and joints hold at its end in full, which is gamma = 1; leave the weights out".to_owned())
        } else if matches!(self.stabilisation, Stabilisation::Baumgarte { .. }) {
            ("stabilisation", "implicit steps leave no drift to stabilise, and have no place for Baumgarte's equation; leave `stabilisation` out".to_owned())
        } else if let Some(body) = notched.and_then(|id| model.body(id)) {
            let name = &body.name;
            (
                "jacobians",
                format!(
                    "body \"{name}\" has a polygon that is not convex, and implicit steps need convex shapes; split it into convex shapes, or use `jacobians = \"end\"`"
                ),
            )
        } else {
            return Ok(());
        };
        Err(SchemeError { field, reason })
    }

    /// Refuses coordinates that do not fit the model or the method.   [RED-1]
    fn check_coordinates(&self, model: &Model) -> Result<(), SchemeError> {
        let fail = |field, reason: String| Err(SchemeError { field, reason });
        if self.coordinates == Coordinates::Maximal {
            let Some(body) = model.massless_body() else { return Ok(()) };
            return fail(
                "coordinates",
                format!(
                    "body \"{}\" has no mass, and only joints move such a frame; use `coordinates = \"reduced\"`",
                    body.name
                ),
            );
        }
        let name = self.coordinates.name();
        if self.method != Method::TimeStepping {
            return fail(
                "coordinates",
                format!(
                    "this preset has the velocities of all bodies as unknowns; use a time-stepping preset with `{name}`, or leave `coordinates` out"
                ),
            );
        }
        if self.dynamics == Dynamics::Quasistatic {
            return fail(
                "coordinates",
                "bodies without inertia are moved in maximal coordinates; leave `coordinates` out".to_owned(),
            );
        }
        if self.linearise_at == LineariseAt::Implicit {
            let reason = format!(
                "implicit steps are written for all bodies; use `jacobians = \"end\"`, which solves the same contact equations, with `{name}`"
            );
            return fail("jacobians", reason);
        }
        if self.stabilisation != Stabilisation::Usual {
            let reason = format!(
                "joints cannot drift in `{name}` coordinates, and errors of loops have the weight joint_gamma; leave `stabilisation` out"
            );
            return fail("stabilisation", reason);
        }
        Ok(())
    }

    /// Refuses models and choices that need inertia.
    fn check_quasistatic(&self, model: &Model) -> Result<(), SchemeError> {
        let damped = !model.dampers().is_empty() || model.springs().iter().any(|spring| spring.damping > 0.0);
        let (field, reason) = if self.method != Method::TimeStepping {
            ("preset", "bodies without inertia have no accelerations to integrate; use `preset = \"quasistatic\"`")
        } else if model.contact_rules().any(|rule| rule.restitution > 0.0) || self.impact == Impact::Poisson {
            ("impact", "bodies without inertia do not rebound; set `restitution = 0`, or use a preset with inertia")
        } else if damped {
            (
                "preset",
                "dampers act on velocities that bodies without inertia do not keep; remove them, or use a preset with inertia",
            )
        } else {
            return Ok(());
        };
        Err(SchemeError { field, reason: reason.to_owned() })
    }

    /// Refuses choices that contradict each other or the model, with the reason and what to use instead.
    pub fn check_model(&self, model: &Model) -> Result<(), SchemeError> {
        let fail = |field, reason: &str| Err(SchemeError { field, reason: reason.to_owned() });
        let any = |test: fn(&ContactRule) -> bool| model.contact_rules().any(test);
        if self.friction != FrictionSet::Quadratic && any(|rule| rule.friction > 0.0 && rule.torsion > 0.0) {
            return fail(
                "friction",
                "torsional friction and linear friction sets do not go together: a polygon has no direction for spin; use `friction = \"quadratic\"` or set `torsion = 0`",
            );
        }
        if any(|rule| rule.rolling > 0.0) {
            self.check_rolling()?;
        }
        if self.impact == Impact::Poisson && self.friction == FrictionSet::Quadratic {
            return fail(
                "impact",
                "Poisson's law and the second-order cone do not go together: decompression has a given part of the normal impulse, which only the linear problem can hold; use `friction = \"polygon\"` or `impact = \"newton\"`",
            );
        }
        if self.method != Method::TimeStepping && self.impact == Impact::Poisson {
            return fail(
                "impact",
                "Poisson's law goes with time-stepping only; use `impact = \"newton\"` or another preset",
            );
        }
        if self.protective_layer > 0.0 && self.method != Method::TimeStepping {
            return fail(
                "protective_layer",
                "this preset has its own contact detection; leave `protective_layer` out, or use a time-stepping preset",
            );
        }
        if self.protective_layer > 0.0 && self.linearise_at == LineariseAt::Implicit {
            return fail(
                "protective_layer",
                "implicit steps follow the closest points of the shapes themselves; leave `protective_layer` out, or use `jacobians = \"end\"`",
            );
        }
        self.check_coordinates(model)?;
        joint_space::check(self, model)?;
        self.check_corners()?;
        if self.linearise_at == LineariseAt::Implicit && self.method == Method::TimeStepping {
            self.check_implicit(model)?;
        }
        if self.method != Method::TimeStepping && self.linearise_at != LineariseAt::Start {
            return fail(
                "jacobians",
                "this preset decides by itself where geometry is taken; leave `jacobians` out or use another preset",
            );
        }
        if self.method == Method::Reference && self.friction != FrictionSet::Quadratic {
            return fail(
                "friction",
                "the reference integrates with the second-order cone; use `friction = \"quadratic\"` or another preset",
            );
        }
        if self.method == Method::Reference && !matches!(self.halve_steps, 0 | HALVINGS) {
            return fail(
                "halve_steps",
                "the reference chooses its own steps, and smaller ones change nothing but the reports; leave `halve_steps` out",
            );
        }
        support::check(self, model)?;
        layers::check(self, model)?;
        order::check(self, model)?;
        self.stabilisation.check(self, model)?;
        if self.dynamics == Dynamics::Quasistatic {
            self.check_quasistatic(model)?;
        }
        if self.impact == Impact::Inelastic && any(|rule| rule.restitution > 0.0) {
            return fail(
                "impact",
                "a contact has a coefficient of restitution but impacts are inelastic; use `impact = \"newton\"` or `\"poisson\"`, or set `restitution = 0`",
            );
        }
        Ok(())
    }
}
