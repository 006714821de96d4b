//! Inelastic impact at the start: velocities of a scene that its joints do not allow.   [RED-7]

use stiction_multibody::{BodyKind, Configuration, Joint, JointId, Model, State, energy};

use crate::{Dynamics, Scheme, adopt, stabilise::project_velocities};

/// Rate of a joint error, as a fraction of the largest velocity, that counts as the rounding of typed numbers: the first step removes it.
const ALLOWED_RATE: f64 = 1e-6;

/// Inelastic impact by which the velocities of a scene become those that its joints allow.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct StartImpact {
    /// Joint with the largest velocity error.
    pub joint: JointId,
    /// Its velocity error, m/s or rad/s.
    pub velocity_error: f64,
    /// Kinetic energy before, J.
    pub kinetic_before: f64,
    /// Kinetic energy after, J.
    pub kinetic_after: f64,
}

/// Makes the initial state of a model one of the scheme: velocities that joints do not allow become those after an inelastic impact in all joints, in all
/// coordinates the same. In reduced coordinates the poses are projected onto the forest.   [RED-3] [RED-7]
///
/// Published schemes leave the impact to their first step. Velocities of prescribed bodies cause none: the first step pulls along.
pub fn adopt_start(model: &Model, scheme: &Scheme, state: &mut State) -> Option<StartImpact> {
    let found = if scheme.dynamics == Dynamics::Quasistatic { None } else { largest_rate(model, state) };
    let kinetic = |state: &State| {
        let mut at = Configuration::default();
        at.update(model, &state.q, &state.v, state.time);
        energy(model, &at, &state.angles).kinetic
    };
    let kinetic_before = kinetic(state);
    adopt(model, scheme, state);
    let (joint, velocity_error) = found?;
    let in_first_step = *scheme == scheme.clone().as_published();
    // Without masses of all bodies only the joints of the forest collide here, loops in the first step.
    if !in_first_step && model.massless_body().is_none() && project_velocities(model, scheme, state).is_ok() {
        adopt(model, scheme, state);
    }
    let kinetic_after = kinetic(state);
    Some(StartImpact { joint, velocity_error, kinetic_before, kinetic_after })
}

/// Joint without a prescribed body whose error changes fastest, if beyond rounding, and the rate.
fn largest_rate(model: &Model, state: &State) -> Option<(JointId, f64)> {
    let mut at = Configuration::default();
    at.update(model, &state.q, &state.v, state.time);
    let is_prescribed = |joint: &Joint| {
        [joint.a.0, joint.b.0]
            .into_iter()
            .any(|id| model.body(id).is_some_and(|body| matches!(body.kind, BodyKind::Kinematic(_))))
    };
    let rates = model.joints().iter().filter(|joint| !is_prescribed(joint)).map(|joint| {
        let (a, b) = (at.twist(joint.a.0), at.twist(joint.b.0));
        let worst = joint.evaluate(&at).map(|row| (row.a.power(&a) + row.b.power(&b)).abs()).fold(0.0, f64::max);
        (joint, worst)
    });
    let fastest = state.v.iter().fold(1.0, |most: f64, v| most.max(v.abs()));
    let (joint, rate) = rates.max_by(|(_, x), (_, y)| x.total_cmp(y))?;
    if rate > ALLOWED_RATE * fastest { Some((model.find_joint(&joint.name)?, rate)) } else { None }
}
