//! Checks of the choices of a scheme against each other and against a model.

use stiction_multibody::{ContactRule, Dimension, Model};

use super::{
    Coordinates, CornerLogic, Dynamics, FrictionSet, Impact, LineariseAt, Manifold, Method, OnUnsolved, PositionUpdate,
    Residuals, Scheme, SchemeError, Stabilisation, joint_space, layers, order, solving::HALVINGS, support,
};

impl Scheme {
    /// Refuses the disjunction of faces outside of a single linear problem, and in space, where no contacts are alternatives of each other.
    fn check_corners(&self, model: &Model) -> Result<(), SchemeError> {
        if self.corners == CornerLogic::Disjunctive && model.dimension() == Dimension::Spatial {
            let reason = "only contacts in the plane are alternatives that a problem can contain; use `corners = \"exact\"`, which is for space too";
            return Err(SchemeError { field: "corners", reason: reason.to_owned() });
        }
        let linear = self.friction != FrictionSet::Quadratic && self.impact != Impact::Poisson;
        if self.corners != CornerLogic::Disjunctive || (linear && self.method == Method::TimeStepping) {
            return Ok(());
        }
        let reason = "the disjunction is part of one linear problem per step; use `friction = \"polygon\"` and `impact = \"newton\"` with a time-stepping preset, or `corners = \"exact\"`, which goes with everything";
        Err(SchemeError { field: "corners", reason: reason.to_owned() })
    }

    /// Refuses choices that have Coulomb's law alone where a friction law is another.   [FRIC-5]
    fn check_friction(&self, model: &Model) -> Result<(), SchemeError> {
        let options = model.contact_rules().find_map(|rule| rule.friction_options().beyond_coulomb());
        let Some((law, without)) = options else { return Ok(()) };
        let (field, subject, instead) = if self.friction != FrictionSet::Quadratic {
            ("friction", "linear friction sets have", "use `friction = \"quadratic\"`")
        } else if self.method == Method::Reference {
            ("preset", "the event-driven reference has", "use a preset such as `ncp`")
        } else if self.linearise_at == LineariseAt::Implicit {
            ("jacobians", "implicit steps have", "use another preset, such as `ncp`")
        } else if self.dynamics == Dynamics::Quasistatic {
            ("preset", "bodies without inertia have", "use a preset with inertia")
        } else {
            return Ok(());
        };
        Err(SchemeError { field, reason: format!("{subject} no {law}; {instead}, or {without}") })
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

    /// Refuses a stabilisation that the method or the model does not support.
    fn check_stabilisation(&self, model: &Model) -> Result<(), SchemeError> {
        let joints_only = !matches!(
            self.stabilisation,
            Stabilisation::Usual | Stabilisation::Projection(Manifold::Positions | Manifold::Both)
        );
        let own_weight = model.joints().iter().any(|joint| joint.gamma.is_some());
        let reason = match (self.stabilisation, self.method) {
            _ if joints_only && model.joint_rows() == 0 => {
                "this stabilises joints, and there are none; leave `stabilisation` out, or use `{ projection = \"positions\" }` against penetration"
            }
            (Stabilisation::Reduction, Method::TimeStepping | Method::MoreauJean) => {
                "only the reference integrates independent coordinates: a complementarity problem has all velocities as unknowns; use `{ projection = \"both\" }` or `preset = \"reference\"`"
            }
            (Stabilisation::Baumgarte { .. }, Method::MoreauJean) => {
                "Baumgarte's equation is discretised for q⁺ = q + h v⁺, and the θ-method moves by the mean of two velocities; use `{ ascher = { rate = .. } }` or `{ projection = \"both\" }`"
            }
            (Stabilisation::Baumgarte { .. }, Method::TimeStepping) if own_weight => {
                "a joint has a weight `gamma` of its own, which Baumgarte's equation would replace; remove one of the two"
            }
            _ => return Ok(()),
        };
        Err(SchemeError { field: "stabilisation", reason: reason.to_owned() })
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
        self.check_friction(model)?;
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
        self.check_corners(model)?;
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
        if self.method == Method::Reference && !matches!(self.solving.halve_steps, 0 | HALVINGS) {
            return fail(
                "halve_steps",
                "the reference chooses its own steps, and smaller ones change nothing but the reports; leave `halve_steps` out",
            );
        }
        self.check_solving()?;
        support::check(self, model)?;
        layers::check(self, model)?;
        order::check(self, model)?;
        self.check_stabilisation(model)?;
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

    /// Checks that the residuals and `on_unsolved` apply.
    fn check_solving(&self) -> Result<(), SchemeError> {
        let fail = |field, reason: &str| Err(SchemeError { field, reason: reason.to_owned() });
        if self.solving.residual != Residuals::default()
            && (self.method == Method::Reference || self.friction != FrictionSet::Quadratic)
        {
            return fail(
                "residual",
                "these residuals are those of steps with the second-order cone, and linear problems are solved exactly; leave `residual` out, or use `friction = \"quadratic\"`",
            );
        }
        if self.solving.on_unsolved != OnUnsolved::Stop && self.method == Method::Reference {
            return fail(
                "on_unsolved",
                "the reference has no step to accept; leave `on_unsolved` out, or use a time-stepping preset",
            );
        }
        Ok(())
    }
}
