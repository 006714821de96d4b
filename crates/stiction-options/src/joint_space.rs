//! Check that a scheme supports joint-space constraints.

use stiction_multibody::Model;

use super::{Dynamics, LineariseAt, Method, Scheme, SchemeError};

/// Rejects schemes that would ignore forces and constraints along joint DOFs.
pub(super) fn check(scheme: &Scheme, model: &Model) -> Result<(), SchemeError> {
    let Some(joint) = model.joint_space_dofs().first().and_then(|id| model.joint(id.0)) else { return Ok(()) };
    let (field, instead) = if scheme.method != Method::TimeStepping || scheme.dynamics == Dynamics::Quasistatic {
        ("preset", "use a time-stepping preset such as `\"ncp\"`")
    } else if scheme.linearise_at == LineariseAt::Implicit {
        ("jacobians", "use `jacobians = \"end\"`")
    } else {
        return Ok(());
    };
    let reason = format!(
        "joint \"{}\" has actuators, limits or couplings, which this scheme does not support; {instead}",
        joint.name
    );
    Err(SchemeError { field, reason })
}
