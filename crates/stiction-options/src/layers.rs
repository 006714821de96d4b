//! Check that a scheme supports compliant layers.

use stiction_multibody::{Layer, Model};

use super::{Dynamics, FrictionSet, Impact, Manifold, Method, PositionUpdate, Scheme, SchemeError, Stabilisation};

/// Rejects schemes that do not support the layers of a model, or mean velocities.
pub(super) fn check(scheme: &Scheme, model: &Model) -> Result<(), SchemeError> {
    let fail = |field, reason: &str| Err(SchemeError { field, reason: reason.to_owned() });
    let average = scheme.position_update == PositionUpdate::Average;
    if average && (scheme.method != Method::TimeStepping || scheme.dynamics == Dynamics::Quasistatic) {
        return fail(
            "position_update",
            "this preset has its own position update; leave `position_update` out or use `preset = \"ncp\"`",
        );
    }
    if average && scheme.impact == Impact::Poisson {
        return fail(
            "position_update",
            "mean velocities and Poisson's law cannot be combined: an impact changes the velocity instantaneously; use `impact = \"newton\"`",
        );
    }
    if average && scheme.stabilisation != Stabilisation::Usual {
        return fail(
            "stabilisation",
            "stabilisation is defined for positions that move by the end velocity; leave `stabilisation` out or use `position_update = \"end\"`",
        );
    }
    if !model.has_layers() {
        let asked = [
            ("locate_contacts", scheme.substeps.locate_contacts),
            ("steps_per_period", scheme.substeps.steps_per_period > 0),
        ];
        return match asked.into_iter().find(|(_, asked)| *asked) {
            Some((field, _)) => {
                fail(field, "is for compliant layers, and the model has none; leave it out or give a body a `material`")
            }
            None => Ok(()),
        };
    }
    if average && model.layers().any(Layer::couples_normal_and_shear) {
        return fail(
            "position_update",
            "a layer couples pressing and shearing, and mean velocities conserve the energy of normal deflection alone; use `position_update = \"end\"` or matrices without entries between normal and tangents",
        );
    }
    check_method(scheme, model)
}

/// Rejects methods for rigid contact only.
fn check_method(scheme: &Scheme, model: &Model) -> Result<(), SchemeError> {
    let fail = |field, reason: &str| Err(SchemeError { field, reason: reason.to_owned() });
    if scheme.method != Method::TimeStepping || scheme.dynamics == Dynamics::Quasistatic {
        return fail(
            "preset",
            "compliant layers need time-stepping of bodies with inertia; use `preset = \"ncp\"`, or remove the materials",
        );
    }
    if scheme.friction != FrictionSet::Quadratic {
        return fail(
            "friction",
            "compliant layers are surfaces of the frictional problem with second-order cones; use `friction = \"quadratic\"`, or remove the materials",
        );
    }
    let own_weights = model.contact_rules().filter_map(|rule| rule.gamma);
    if own_weights.chain([scheme.gamma]).any(|gamma| gamma < 1.0) {
        return fail(
            "gamma",
            "the overlap of bodies is the compression of the layer, so gaps must count in full; use `gamma = 1`, or remove the materials",
        );
    }
    if scheme.impact == Impact::Poisson {
        return fail(
            "impact",
            "compliant layers rebound by their springs, and Poisson's law needs rigid contact; use `impact = \"newton\"`, or remove the materials",
        );
    }
    if let Stabilisation::Projection(Manifold::Positions | Manifold::Both) = scheme.stabilisation {
        return fail(
            "stabilisation",
            "projection would push bodies out of their layers; use `{ projection = \"velocities\" }` or leave `stabilisation` out",
        );
    }
    Ok(())
}
