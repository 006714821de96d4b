//! What acts along the freedoms of joints: rotors, dampers, springs and motors as inertia and force; limits, dry friction, clamped motors and
//! couplings as rows of the problem.
//!
//! Everything linear in φ⁺ = φ + h φ̇⁺ and φ̇⁺ is taken at the end of the step, so that no stiffness asks for small steps:
//!
//! ```text
//! p = h f₀ − c (φ̇⁺ − φ̇),   c = A + h d + h² k,   f₀ = −k (φ + h φ̇ − φ₀) − d φ̇ + motors                         [DRIVE-2]
//! ```
//!
//! In reduced coordinates c is added to the inertia of a velocity and f₀ to its force. In maximal coordinates the same law is a row
//! that gives way, φ̇⁺ + p/c = φ̇ + h f₀/c.

mod check;
mod pull;
mod work;
mod write;

use stiction_complementarity::Law;
use stiction_multibody::{BodyId, Joint, JointDofId, JointId, JointKind, Model, Wrench, joint::Row};

use crate::{Start, StepCause, Workspace, rows::power};

pub(crate) use check::check;
pub(crate) use pull::Pull;
pub(crate) use work::{Rotors, asked, work};
pub(crate) use write::{write, write_velocity_level};

/// A part of a rate.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Side {
    /// A velocity of the forest, times a number.
    Velocity(usize, f64),
    /// The power of a wrench on a body.
    Wrench(BodyId, Wrench),
}

impl Side {
    pub(crate) fn times(self, factor: f64) -> Self {
        match self {
            Self::Velocity(k, x) => Self::Velocity(k, x * factor),
            Self::Wrench(body, wrench) => Self::Wrench(body, wrench.scaled(factor)),
        }
    }
}

/// A row of the problem along freedoms: Σ sides + compliance · p + bias, and its law.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JointSpaceRow {
    pub(crate) sides: [Option<Side>; 4],
    pub(crate) law: Law,
    pub(crate) bias: f64,
    /// How far it gives way under a unit impulse; 0 is not at all.
    pub(crate) compliance: f64,
    /// The inertia of a rotor that is part of what gives way.
    pub(crate) rotor: f64,
    /// Whose it is.
    pub(crate) joint: JointId,
}

impl JointSpaceRow {
    /// Its law between impulses in another unit of mass.
    pub(crate) fn law_in_unit(&self, unit: f64) -> Law {
        match self.law {
            Law::Boxed { lower, upper } => Law::Boxed { lower: lower / unit, upper: upper / unit },
            law => law,
        }
    }
}

/// A driven freedom at the start of a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Driven {
    id: JointDofId,
    /// Its place among the driven freedoms of the model.
    place: usize,
    /// φ, full turns counted.
    pub(crate) coordinate: f64,
    /// φ̇.
    rate: f64,
    /// The velocity of the forest it is the coordinate of.
    velocity: Option<usize>,
    /// What acts along it without rows.
    pull: Pull,
    /// Whether a row of the problem keeps its least and its greatest coordinate.
    held: [bool; 2],
    /// Whether a solution broke them without knowing of them.
    missed: [bool; 2],
}

impl Driven {
    /// Its rate where the bodies move by `v` and the forest by `forest`, without what is prescribed.
    #[inline]
    fn rate_with(
        &self,
        model: &Model,
        (ws, joint): (&Workspace, &Joint),
        v: &[f64],
        forest: Option<&[f64]>,
    ) -> Option<f64> {
        match self.velocity {
            Some(k) => Some(forest.and_then(|v| v.get(k)).copied().unwrap_or(0.0)),
            None => self.rate_of_bodies(model, (ws, joint), v),
        }
    }

    fn rate_of_bodies(&self, model: &Model, (ws, joint): (&Workspace, &Joint), v: &[f64]) -> Option<f64> {
        Some(rate(model, &sides(ws, joint, self, 1.0)?, v, None))
    }
}

/// Finds the driven freedoms at the start of a step, and lets forces act that no row stands for.
///
/// A control that is no number is an error that names its motor.
pub(crate) fn prepare(start: &Start, ws: &mut Workspace) -> Result<(), StepCause> {
    let &Start { model, state, h, .. } = start;
    let time = state.time_after(h).0;
    let mut all = std::mem::take(&mut ws.driven);
    all.clear();
    ws.all_limits = false;
    for (place, &id) in model.actuated_dofs().iter().enumerate() {
        let Some(joint) = model.joint(id.0) else { continue };
        let mut driven = find(start, ws, (place, id), joint);
        driven.pull = pull::pull(model, joint, &driven, (time, h));
        apply(start, ws, joint, &driven);
        all.push(driven);
    }
    ws.driven = all;
    let stray = model.motors().iter().find(|motor| !motor.control.value(time).is_finite());
    stray.map_or(Ok(()), |motor| Err(StepCause::non_finite("control", Some(&motor.name))))
}

/// Coordinate and rate of a freedom, by the forest where it is one of its coordinates, and otherwise by the bodies.
fn find(start: &Start, ws: &Workspace, (place, id): (usize, JointDofId), joint: &Joint) -> Driven {
    let &Start { model, state, .. } = start;
    let forest = model.forest();
    let reduced = ws.reduced.as_deref();
    let velocity = reduced.and_then(|_| forest.velocity_of(id.0, id.1));
    let of_forest = velocity.and_then(|k| Some((k, forest.coordinate_of(k)?))).zip(reduced);
    let (coordinate, rate) = match of_forest {
        Some(((k, q), reduced)) => {
            let initial = joint.joint_dofs().get(id.1).map_or(0.0, |joint_dof| joint_dof.initial);
            (reduced.q.get(q).copied().unwrap_or(0.0) + initial, reduced.before.get(k).copied().unwrap_or(0.0))
        }
        None => joint.measured(id.1, &ws.start, state.angles.get(place).copied()).unwrap_or_default(),
    };
    Driven { id, place, coordinate, rate, velocity, pull: Pull::default(), held: [true; 2], missed: [false; 2] }
}

/// Lets what acts along a freedom act on the forest, or on the bodies where nothing in it follows the motion; the rest has rows.   [DRIVE-2]
fn apply(start: &Start, ws: &mut Workspace, joint: &Joint, driven: &Driven) {
    let &Start { model, h, .. } = start;
    let Pull { inertia, force, .. } = driven.pull;
    if let Some((k, reduced)) = driven.velocity.zip(ws.reduced.as_deref_mut()) {
        reduced.add_pull(k, &driven.pull);
    } else if let (JointKind::Spherical, Some(reduced)) = (joint.kind, ws.reduced.as_deref_mut())
        && let Some(first) = model.forest().first_velocity(driven.id.0)
    {
        pull::pull_ball((model, joint), first, h, reduced);
    } else if inertia == 0.0
        && force != 0.0
        && let Some(row) = joint.coordinate(driven.id.1, &ws.start)
    {
        for (body, wrench) in [(joint.a.0, row.a), (joint.b.0, row.b)] {
            if let Some(total) = ws.applied.get_mut(body.index()) {
                total.add(&wrench.scaled(force));
            }
        }
    }
}

/// The coordinates of all driven freedoms at the end of the step, for their full turns: φ + h φ̇.   [DRIVE-1]
pub(crate) fn angles_at_end(start: &Start, ws: &Workspace, angles: &mut Vec<f64>) {
    let &Start { model, h, .. } = start;
    let forest = ws.reduced.as_ref().map(|reduced| &reduced.moving[..]);
    angles.clear();
    for driven in &ws.driven {
        let way = model.joint(driven.id.0).and_then(|joint| {
            let rate = driven.rate_with(model, (ws, joint), &ws.moving, forest)?;
            Some(h * (rate + write::prescribed_rate(start, ws, joint, driven.id.1)))
        });
        angles.push(driven.coordinate + way.unwrap_or(0.0));
    }
}

/// Whether the last solution broke limits without knowing of them: the problem is then written with these too.   [DRIVE-6]
pub(crate) fn missed_limits(start: &Start, ws: &mut Workspace) -> bool {
    let &Start { model, scheme, h, .. } = start;
    if ws.all_limits || scheme.gamma == 0.0 {
        return false;
    }
    let mut all = std::mem::take(&mut ws.driven);
    let forest = ws.reduced.as_ref().map(|reduced| &reduced.velocity[..]);
    let broken = |driven: &Driven| {
        let joint = model.joint(driven.id.0)?;
        let [least, most] = write::limits_of(joint, driven.id.1)?;
        let rate = driven.rate_with(model, (ws, joint), &ws.velocity, forest)?;
        let end = driven.coordinate + h * (rate + write::prescribed_rate(start, ws, joint, driven.id.1));
        let [below, above] = [least - end, end - most].map(|depth| depth > scheme.touch_threshold);
        let [held_below, held_above] = driven.held;
        Some([below && !held_below, above && !held_above])
    };
    let mut any = false;
    for driven in &mut all {
        if let Some([below @ true, above] | [below, above @ true]) = broken(driven) {
            driven.missed = [driven.missed[0] | below, driven.missed[1] | above];
            any = true;
        }
    }
    ws.driven = all;
    any
}

/// The rate of a freedom, times a number.
fn sides(ws: &Workspace, joint: &Joint, driven: &Driven, factor: f64) -> Option<[Option<Side>; 2]> {
    if let Some(k) = driven.velocity {
        return Some([Some(Side::Velocity(k, factor)), None]);
    }
    let row: Row = joint.coordinate(driven.id.1, &ws.linear_start)?;
    let side = |body: BodyId, wrench: &Wrench| Some(Side::Wrench(body, wrench.scaled(factor)));
    Some([side(joint.a.0, &row.a), side(joint.b.0, &row.b)])
}

/// Σ sides, with the bodies moving by `v` and the forest by `forest`.
pub(crate) fn rate(model: &Model, sides: &[Option<Side>], v: &[f64], forest: Option<&[f64]>) -> f64 {
    let of = |side: &Side| match side {
        Side::Velocity(k, factor) => factor * forest.and_then(|v| v.get(*k)).copied().unwrap_or(0.0),
        Side::Wrench(body, wrench) => power(model, v, *body, wrench),
    };
    sides.iter().flatten().map(of).sum()
}
