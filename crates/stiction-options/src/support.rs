//! Check that a scheme supports planar supports.

use stiction_multibody::Model;

use super::{FrictionSet, Method, Scheme, SchemeError};

/// Rejects schemes that do not support the support points of a model.
pub(super) fn check(scheme: &Scheme, model: &Model) -> Result<(), SchemeError> {
    let fail = |field, reason: &str| Err(SchemeError { field, reason: reason.to_owned() });
    let mut support_points = model.support_points();
    if scheme.friction != FrictionSet::Quadratic
        && support_points.any(|(.., support_point)| support_point.friction > 0.0 && support_point.torsion > 0.0)
    {
        return fail(
            "friction",
            "limit surfaces and linear friction sets cannot be combined: a polygon has no direction for spin; use `friction = \"quadratic\"` or a support with points",
        );
    }
    if scheme.method == Method::Reference && model.support_point_count() > 0 {
        return fail(
            "preset",
            "the reference stepper has no planar supports, contacts only; use another preset such as `ncp` with short steps",
        );
    }
    Ok(())
}
