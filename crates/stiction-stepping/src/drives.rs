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

use nalgebra::Vector3;
use stiction_complementarity::Law;
use stiction_multibody::{
    BodyId, Configuration, Freedom, FreedomId, Joint, JointId, JointKind, Model, Motor, Wrench, joint::Row,
};

use crate::{Start, Workspace, reduced::Reduced, rows::power};

/// A part of a rate.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Side {
    /// A velocity of the forest, times a number.
    Velocity(usize, f64),
    /// The power of a wrench on a body.
    Wrench(BodyId, Wrench),
}

/// A row of the problem along freedoms: Σ sides + softness · p + bias, and its law.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DriveRow {
    pub(crate) sides: [Option<Side>; 4],
    pub(crate) law: Law,
    pub(crate) bias: f64,
    /// How far it gives way under a unit impulse; 0 is not at all.
    pub(crate) softness: f64,
    /// Whose it is.
    pub(crate) joint: JointId,
}

impl DriveRow {
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
    id: FreedomId,
    /// φ, full turns counted.
    pub(crate) coordinate: f64,
    /// φ̇.
    rate: f64,
    /// The velocity of the forest it is the coordinate of.
    velocity: Option<usize>,
    /// Whether a row of the problem keeps its limits.
    held: bool,
}

/// Inertia c and force f₀ along a freedom.   [DRIVE-2]
#[derive(Clone, Copy, Debug, Default)]
struct Pull {
    inertia: f64,
    force: f64,
}

impl Pull {
    /// Of what the freedom itself has, at a coordinate and rate.
    fn of_freedom(freedom: &Freedom, (coordinate, rate): (f64, f64), h: f64) -> Self {
        let Freedom { stiffness: k, damping: d, armature, rest, .. } = *freedom;
        Self { inertia: armature + h * d + h * h * k, force: -k * (coordinate + h * rate - rest) - d * rate }
    }

    /// Adds a motor that nothing clamps. One that pushes with its speed is not stable at any step, and not taken at its end.   [DRIVE-3]
    fn add_motor(&mut self, motor: &Motor, (coordinate, rate): (f64, f64), (time, h): (f64, f64)) {
        let (constant, slope) = force_of(motor, coordinate, time, h);
        self.inertia += h * (-slope).max(0.0);
        self.force += constant + slope * rate;
    }
}

/// F₀ and F₁ of the force F₀ + F₁ φ̇⁺ of a motor, before it is clamped.   [DRIVE-3]
fn force_of(motor: &Motor, coordinate: f64, time: f64, h: f64) -> (f64, f64) {
    let mut control = motor.control.value(time);
    if let Some([least, most]) = motor.control_limits {
        control = control.max(least).min(most);
    }
    let ([b0, b1, b2], gear) = (motor.bias, motor.gear);
    let constant = motor.gain * control + b0 + b1 * gear * coordinate;
    let slope = gear * gear * (b1 * h + b2);
    if slope == 0.0
        && let Some([least, most]) = motor.force_limits
    {
        return (gear * constant.max(least).min(most), 0.0);
    }
    (gear * constant, slope)
}

/// Whether limits of force make a row of a motor: those of a force that does not depend on the motion are known before.
fn is_clamped(motor: &Motor, h: f64) -> bool {
    motor.force_limits.is_some() && motor.gear * motor.gear * (motor.bias[1] * h + motor.bias[2]) < 0.0
}

/// Finds the driven freedoms at the start of a step, and lets forces act that no row stands for.
pub(crate) fn prepare(start: &Start, ws: &mut Workspace) {
    let &Start { model, state, h, .. } = start;
    ws.driven.clear();
    ws.all_limits = false;
    for (place, &id) in model.driven_freedoms().iter().enumerate() {
        let Some(joint) = model.joint(id.0) else { continue };
        let velocity = ws.reduced.as_ref().and_then(|_| model.forest().velocity_of(id.0, id.1));
        let of_forest = velocity.and_then(|k| Some((k, model.forest().coordinate_of(k)?))).zip(ws.reduced.as_deref());
        let (coordinate, rate) = match of_forest {
            Some(((k, q), reduced)) => {
                let initial = joint.freedoms().get(id.1).map_or(0.0, |freedom| freedom.initial);
                (reduced.q.get(q).copied().unwrap_or(0.0) + initial, reduced.before.get(k).copied().unwrap_or(0.0))
            }
            None => measured(joint, id.1, &ws.start, state.angles.get(place).copied()),
        };
        ws.driven.push(Driven { id, coordinate, rate, velocity, held: false });
    }
    let time = state.time_after(h).0;
    for driven in &ws.driven {
        let Some(joint) = model.joint(driven.id.0) else { continue };
        let pull = pull(model, joint, driven, (time, h));
        if let Some((k, reduced)) = driven.velocity.zip(ws.reduced.as_deref_mut()) {
            reduced.add_pull(k, (pull.inertia, pull.force));
        } else if let (JointKind::Spherical, Some(reduced)) = (joint.kind, ws.reduced.as_deref_mut())
            && let Some(first) = model.forest().first_velocity(driven.id.0)
        {
            pull_ball((model, joint), first, h, reduced);
        } else if pull.inertia == 0.0
            && pull.force != 0.0
            && let Some(row) = joint.coordinate(driven.id.1, &ws.start)
        {
            // Without anything that follows the motion it is a force like others.
            for (body, wrench) in [(joint.a.0, row.a), (joint.b.0, row.b)] {
                if let Some(total) = ws.applied.get_mut(body.index()) {
                    total.add(&wrench.scaled(pull.force));
                }
            }
        }
    }
}

/// Coordinate and rate of a freedom as the bodies show it; full turns are those next to the angle before.
fn measured(joint: &Joint, freedom: usize, at: &Configuration, before: Option<f64>) -> (f64, f64) {
    const TURN: f64 = 2.0 * std::f64::consts::PI;
    let Some(row) = joint.coordinate(freedom, at) else { return (0.0, 0.0) };
    let turns = match before {
        Some(before) if joint.turns(freedom) => libm::round((before - row.value) / TURN),
        _ => 0.0,
    };
    (row.value + TURN * turns, row.a.power(&at.twist(joint.a.0)) + row.b.power(&at.twist(joint.b.0)))
}

/// Everything along a freedom but what is clamped.
fn pull(model: &Model, joint: &Joint, driven: &Driven, (time, h): (f64, f64)) -> Pull {
    let at = (driven.coordinate, driven.rate);
    let mut pull = joint.freedoms().get(driven.id.1).map_or_else(Pull::default, |f| Pull::of_freedom(f, at, h));
    for motor in model.motors().iter().filter(|motor| motor.freedom == driven.id && !is_clamped(motor, h)) {
        pull.add_motor(motor, at, (time, h));
    }
    pull
}

/// Rotor, damper and spring of a spherical joint of the forest, about all axes of the link.
fn pull_ball((model, joint): (&Model, &Joint), first: usize, h: f64, reduced: &mut Reduced) {
    let Some(freedom) = joint.freedoms().first() else { return };
    let turned = reduced.ball_turn(model.forest(), first);
    for (k, turned) in (first..).zip(turned.iter()) {
        let rate = reduced.before.get(k).copied().unwrap_or(0.0);
        let pull = Pull::of_freedom(&Freedom { rest: 0.0, ..*freedom }, (*turned, rate), h);
        reduced.add_pull(k, (pull.inertia, pull.force));
    }
}

/// Writes the rows of drives, where the constraints are linearised.
pub(crate) fn write(start: &Start, ws: &mut Workspace) {
    let mut rows = std::mem::take(&mut ws.drive_rows);
    let mut driven = std::mem::take(&mut ws.driven);
    rows.clear();
    for freedom in &mut driven {
        let Some(joint) = start.model.joint(freedom.id.0) else { continue };
        let Some(sides) = sides(ws, joint, freedom, 1.0) else { continue };
        let mut writer = Writer { start, ws, joint, sides, rows: &mut rows };
        writer.pull(freedom);
        writer.friction(freedom);
        writer.clamped(freedom);
        freedom.held = writer.limits(freedom);
    }
    couplings(start, ws, &driven, &mut rows);
    (ws.drive_rows, ws.driven) = (rows, driven);
}

/// Limits that the last solution broke without knowing of them: the problem is then written with all of them.
pub(crate) fn missed_limits(start: &Start, ws: &mut Workspace) -> bool {
    let &Start { model, scheme, h, .. } = start;
    if ws.all_limits || scheme.gamma == 0.0 {
        return false;
    }
    let broken = |driven: &Driven| {
        let joint = model.joint(driven.id.0)?;
        let [least, most] = joint.freedoms().get(driven.id.1)?.limits?;
        let forest = ws.reduced.as_ref().map(|reduced| &reduced.velocity[..]);
        let rate = rate(model, &sides(ws, joint, driven, 1.0)?, &ws.velocity, forest);
        let end = driven.coordinate + h * rate;
        Some(!driven.held && (end < least - scheme.touch_threshold || end > most + scheme.touch_threshold))
    };
    let missed = ws.driven.iter().any(|driven| broken(driven) == Some(true));
    ws.all_limits |= missed;
    missed
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
fn rate(model: &Model, sides: &[Option<Side>], v: &[f64], forest: Option<&[f64]>) -> f64 {
    let of = |side: &Side| match side {
        Side::Velocity(k, factor) => factor * forest.and_then(|v| v.get(*k)).copied().unwrap_or(0.0),
        Side::Wrench(body, wrench) => power(model, v, *body, wrench),
    };
    sides.iter().flatten().map(of).sum()
}

/// Writes the rows of one freedom.
struct Writer<'a> {
    start: &'a Start<'a>,
    ws: &'a Workspace,
    joint: &'a Joint,
    sides: [Option<Side>; 2],
    rows: &'a mut Vec<DriveRow>,
}

impl Writer<'_> {
    fn push(&mut self, driven: &Driven, sides: [Option<Side>; 2], law: Law, (bias, softness): (f64, f64)) {
        let [a, b] = sides;
        self.rows.push(DriveRow { sides: [a, b, None, None], law, bias, softness, joint: driven.id.0 });
    }

    fn freedom(&self, driven: &Driven) -> Freedom {
        self.joint.freedoms().get(driven.id.1).copied().unwrap_or_default()
    }

    /// The rate at the start, as the row sees it.
    fn rate(&self) -> f64 {
        let forest = self.ws.reduced.as_ref().map(|reduced| &reduced.before[..]);
        rate(self.start.model, &self.sides, &self.ws.before, forest)
    }

    /// φ̇⁺ + p/c = φ̇ + h f₀/c, where the forest does not hold c already.   [DRIVE-2]
    fn pull(&mut self, driven: &Driven) {
        let &Start { model, state, h, .. } = self.start;
        if driven.velocity.is_some() {
            return;
        }
        if self.joint.kind == JointKind::Spherical {
            self.pull_ball(driven);
            return;
        }
        let Pull { inertia, force } = pull(model, self.joint, driven, (state.time_after(h).0, h));
        if inertia > 0.0 {
            let bias = -self.rate() - h * force / inertia;
            self.push(driven, self.sides, Law::Equality { rows: 1 }, (bias, 1.0 / inertia));
        }
    }

    /// The same about three axes, for a spherical joint of bodies.
    fn pull_ball(&mut self, driven: &Driven) {
        let &Start { model, h, .. } = self.start;
        let freedom = Freedom { rest: 0.0, ..self.freedom(driven) };
        let is_branch = self.ws.reduced.is_some() && model.forest().first_velocity(driven.id.0).is_some();
        let Some(row) = self.joint.coordinate(driven.id.1, &self.ws.start).filter(|_| !is_branch) else { return };
        let turned = row.b.angular * (row.value - freedom.initial);
        for axis in 0..3 {
            let torque = Wrench::of_torque(Vector3::ith(axis, 1.0));
            self.sides =
                [Some(Side::Wrench(self.joint.a.0, torque.scaled(-1.0))), Some(Side::Wrench(self.joint.b.0, torque))];
            let rate = self.rate();
            let Pull { inertia, force } = Pull::of_freedom(&freedom, (turned[axis], rate), h);
            if inertia > 0.0 {
                let bias = -rate - h * force / inertia;
                self.push(driven, self.sides, Law::Equality { rows: 1 }, (bias, 1.0 / inertia));
            }
        }
        self.sides = [Some(Side::Wrench(self.joint.a.0, row.a)), Some(Side::Wrench(self.joint.b.0, row.b))];
    }

    /// Dry friction: −h f ≤ p ≤ h f, and no motion within.   [DRIVE-5]
    fn friction(&mut self, driven: &Driven) {
        let most = self.start.h * self.freedom(driven).friction;
        if most > 0.0 {
            self.push(driven, self.sides, Law::Boxed { lower: -most, upper: most }, (0.0, 0.0));
        }
    }

    /// p = h (F₀ + F₁ φ̇⁺) within its bounds.   [DRIVE-3]
    fn clamped(&mut self, driven: &Driven) {
        let &Start { model, state, h, .. } = self.start;
        for motor in model.motors().iter().filter(|motor| motor.freedom == driven.id && is_clamped(motor, h)) {
            let Some(limits) = motor.force_limits else { continue };
            let (constant, slope) = force_of(motor, driven.coordinate, state.time_after(h).0, h);
            let [x, y] = limits.map(|force| h * motor.gear * force);
            let law = Law::Boxed { lower: x.min(y), upper: x.max(y) };
            self.push(driven, self.sides, law, (constant / slope, -1.0 / (h * slope)));
        }
    }

    /// 0 ≤ p ⊥ ±φ̇⁺ + γ (distance to the limit)/h ≥ 0, for limits within reach; true where both are asked for or far.   [DRIVE-6]
    fn limits(&mut self, driven: &Driven) -> bool {
        let &Start { scheme, h, .. } = self.start;
        let Some([least, most]) = self.freedom(driven).limits else { return true };
        let reach = if scheme.gamma > 0.0 { 2.0 * h * driven.rate.abs() } else { 0.0 } + scheme.touch_threshold;
        let mut all = true;
        for (gap, sign) in [(driven.coordinate - least, 1.0), (most - driven.coordinate, -1.0)] {
            if !gap.is_finite() {
                continue;
            }
            if gap > reach && !self.ws.all_limits {
                all = false;
                continue;
            }
            let sides = self.sides.map(|side| side.map(|side| side.times(sign)));
            let law = Law::Boxed { lower: 0.0, upper: f64::INFINITY };
            self.push(driven, sides, law, (scheme.gamma * gap / h, 0.0));
        }
        all
    }
}

impl Side {
    pub(crate) fn times(self, factor: f64) -> Self {
        match self {
            Self::Velocity(k, x) => Self::Velocity(k, x * factor),
            Self::Wrench(body, wrench) => Self::Wrench(body, wrench.scaled(factor)),
        }
    }
}

/// φ̇⁺ − s ψ̇⁺ + γ_b (φ − f(ψ))/h = 0 with s = f′(ψ).   [DRIVE-4]
fn couplings(start: &Start, ws: &Workspace, driven: &[Driven], rows: &mut Vec<DriveRow>) {
    let &Start { model, scheme, h, .. } = start;
    let find = |id: FreedomId| driven.iter().find(|driven| driven.id == id);
    for coupling in model.couplings() {
        let Some((follower, joint)) = find(coupling.follower).zip(model.joint(coupling.follower.0)) else { continue };
        let leader = coupling.leader.and_then(|id| find(id).zip(model.joint(id.0)));
        let (wanted, slope) = coupling.at(leader.map_or(0.0, |(leader, _)| leader.coordinate));
        let Some([a, b]) = sides(ws, joint, follower, 1.0) else { continue };
        let [c, d] = leader.and_then(|(leader, joint)| sides(ws, joint, leader, -slope)).unwrap_or_default();
        let bias = scheme.joint_gamma * (follower.coordinate - wanted) / h;
        let law = Law::Equality { rows: 1 };
        rows.push(DriveRow { sides: [a, b, c, d], law, bias, softness: 0.0, joint: coupling.follower.0 });
    }
}
