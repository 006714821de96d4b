//! Check that a scheme supports steps of second order, and substeps.

use stiction_multibody::Model;

use super::{
    Dynamics, Impact, LineariseAt, Method, Order, PositionUpdate, Scheme, SchemeError, Stabilisation, VelocityTerms,
};

/// Rejects choices that belong to steps of first order, and methods that choose their own steps.   [STEP-18]
pub(super) fn check(scheme: &Scheme, model: &Model) -> Result<(), SchemeError> {
    let fail = |field, reason: &str| Err(SchemeError { field, reason: reason.to_owned() });
    if scheme.substeps.count > 1 && scheme.method == Method::Reference {
        return fail("substeps", "the reference chooses its own steps; leave `substeps` out or use another preset");
    }
    if scheme.order == Order::First {
        return Ok(());
    }
    if scheme.method != Method::TimeStepping || scheme.dynamics == Dynamics::Quasistatic {
        return fail("order", "this preset has an order of its own; leave `order` out or use `preset = \"ncp\"`");
    }
    if scheme.linearise_at == LineariseAt::Implicit {
        return fail(
            "order",
            "implicit steps, as those of `preset = \"geometrically-implicit\"`, are of first order; leave `order` out, or use `preset = \"ncp\"`",
        );
    }
    if !matches!(scheme.linearise_at, LineariseAt::Start) {
        return fail(
            "jacobians",
            "a step of second order takes the geometry at both of its ends; leave `jacobians` out or use `order = 1`",
        );
    }
    if scheme.position_update == PositionUpdate::Average {
        return fail(
            "position_update",
            "a step of second order has its own position update; leave `position_update` out",
        );
    }
    if scheme.velocity_terms == VelocityTerms::Explicit {
        return fail(
            "velocity_terms",
            "explicit velocity terms are of first order; leave `velocity_terms` out or use `order = 1`",
        );
    }
    let of_contacts = || model.contact_rules().any(|rule| rule.gamma == Some(0.0));
    let of_joints = || model.joints().iter().any(|joint| joint.gamma == Some(0.0));
    if scheme.gamma == 0.0 || scheme.joint_gamma == 0.0 || of_contacts() || of_joints() {
        return fail(
            "order",
            "with a weight of 0, as in `preset = \"anitescu-potra\"`, errors of gaps and joints stay and add up to first order; leave `order` out, or use `preset = \"ncp\"`",
        );
    }
    if scheme.impact == Impact::Poisson {
        return fail(
            "impact",
            "Poisson's law is written for steps of first order; use `impact = \"newton\"` or `order = 1`",
        );
    }
    if scheme.stabilisation != Stabilisation::Usual {
        return fail(
            "stabilisation",
            "this stabilisation is written for steps of first order; leave `stabilisation` out or use `order = 1`",
        );
    }
    if scheme.protective_layer > 0.0 {
        return fail("protective_layer", "a protective layer needs steps of first order; leave one of the two out");
    }
    if model.has_layers() {
        return fail(
            "order",
            "compliant layers are integrated with first order; leave `order` out: with `position_update = \"average\"` and `order = 1` undamped ones keep their energy",
        );
    }
    Ok(())
}
