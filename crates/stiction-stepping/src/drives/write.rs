//! Rows of the problem along freedoms.

use nalgebra::Vector3;
use stiction_complementarity::Law;
use stiction_multibody::{Freedom, FreedomId, Joint, JointKind, Wrench};

use super::{
    DriveRow, Driven, Pull, Side,
    pull::{Force, bounds, is_clamped, pull_about},
    rate, sides,
};
use crate::{Start, Workspace};

/// Writes the rows of drives, where the constraints are linearised.
pub(crate) fn write(start: &Start, ws: &mut Workspace) {
    let mut rows = std::mem::take(&mut ws.drive_rows);
    let mut driven = std::mem::take(&mut ws.driven);
    rows.clear();
    for freedom in &mut driven {
        let Some(joint) = start.model.joint(freedom.id.0) else { continue };
        let Some(sides) = sides(ws, joint, freedom, 1.0) else { continue };
        let prescribed = prescribed_rate(start, ws, joint, freedom.id.1);
        let mut writer = Writer { start, ws, joint, id: freedom.id, sides, prescribed, rows: &mut rows };
        writer.pull(freedom);
        writer.friction();
        writer.clamped(freedom);
        freedom.held = writer.limits(freedom);
    }
    couplings(start, ws, (&driven, start.scheme.joint_gamma), &mut rows);
    (ws.drive_rows, ws.driven) = (rows, driven);
}

/// The same rows where no time passes: rotors, limits that are reached, couplings.   [DRIVE-8]
pub(crate) fn write_velocity_level(start: &Start, ws: &mut Workspace) {
    let mut rows = std::mem::take(&mut ws.drive_rows);
    let driven = std::mem::take(&mut ws.driven);
    rows.clear();
    for freedom in &driven {
        let Some(joint) = start.model.joint(freedom.id.0) else { continue };
        let Some(sides) = sides(ws, joint, freedom, 1.0) else { continue };
        let prescribed = prescribed_rate(start, ws, joint, freedom.id.1);
        let mut writer = Writer { start, ws, joint, id: freedom.id, sides, prescribed, rows: &mut rows };
        writer.rotor(freedom);
        writer.reached_limits(freedom);
    }
    // What couples freedoms keeps their rates in step, and leaves errors to the step.
    couplings(start, ws, (&driven, 0.0), &mut rows);
    (ws.drive_rows, ws.driven) = (rows, driven);
}

/// The limits of a freedom. How far a spherical joint is bent is never negative: a least bend of nothing is no limit, and where nothing is
/// bent it would have no direction either.   [DRIVE-6]
pub(super) fn limits_of(joint: &Joint, number: usize) -> Option<[f64; 2]> {
    let freedom = joint.freedoms().get(number)?;
    let [least, most] = freedom.limits?;
    let unbent = joint.kind == JointKind::Spherical && least <= freedom.initial;
    Some([if unbent { f64::NEG_INFINITY } else { least }, most])
}

/// Writes the rows of one freedom.
struct Writer<'a> {
    start: &'a Start<'a>,
    ws: &'a Workspace,
    joint: &'a Joint,
    id: FreedomId,
    sides: [Option<Side>; 2],
    /// The part of the rate that is prescribed: with `sides` it is the whole.
    prescribed: f64,
    rows: &'a mut Vec<DriveRow>,
}

const AT_LEAST_NOTHING: Law = Law::Boxed { lower: 0.0, upper: f64::INFINITY };

impl Writer<'_> {
    fn push(&mut self, law: Law, bias: f64, softness: f64, rotor: f64) {
        self.push_along(self.sides, law, bias, (softness, rotor));
    }

    fn push_along(&mut self, [a, b]: [Option<Side>; 2], law: Law, bias: f64, (softness, rotor): (f64, f64)) {
        self.rows.push(DriveRow { sides: [a, b, None, None], law, bias, softness, rotor, joint: self.id.0 });
    }

    fn freedom(&self) -> Freedom {
        self.joint.freedoms().get(self.id.1).copied().unwrap_or_default()
    }

    /// The rate at the start, as the row sees it: what is not prescribed of it.
    fn rate(&self) -> f64 {
        let forest = self.ws.reduced.as_ref().map(|reduced| &reduced.before[..]);
        rate(self.start.model, &self.sides, &self.ws.before, forest)
    }

    /// The part of it that is prescribed at the start.
    fn prescribed_at_start(&self) -> f64 {
        let of = |side: &Side| match side {
            Side::Wrench(body, wrench) if self.start.model.unknowns(*body).is_none() => {
                wrench.power(&self.ws.linear_start.twist(*body))
            }
            _ => 0.0,
        };
        self.sides.iter().flatten().map(of).sum()
    }

    /// Whether the forest holds inertia and force of this freedom.
    fn is_in_forest(&self, driven: &Driven) -> bool {
        let of_ball = || self.start.model.forest().first_velocity(self.id.0);
        let ball = self.joint.kind == JointKind::Spherical && self.ws.reduced.is_some() && of_ball().is_some();
        driven.velocity.is_some() || ball
    }

    /// φ̇⁺ + p/c = φ̇ + h f₀/c, where the forest does not hold c already.   [DRIVE-2]
    fn pull(&mut self, driven: &Driven) {
        if self.is_in_forest(driven) {
            return;
        }
        if self.joint.kind == JointKind::Spherical {
            let (freedom, h) = (self.freedom(), self.start.h);
            self.about_all_axes(|turned, rate| pull_about(&freedom, (turned, rate), h));
        } else {
            // Prescribed bodies may change their speed within the step.
            let rate = self.rate() + self.prescribed_at_start() - self.prescribed;
            self.push_pull(&driven.pull, rate);
        }
    }

    /// A rotor that the forest does not hold, where no time passes.   [DRIVE-8]
    fn rotor(&mut self, driven: &Driven) {
        if self.is_in_forest(driven) {
            return;
        }
        let armature = self.freedom().armature;
        let rotor = Pull { rotor: armature, inertia: armature, force: 0.0 };
        if self.joint.kind == JointKind::Spherical {
            self.about_all_axes(|_, _| rotor);
        } else {
            self.push_pull(&rotor, self.rate());
        }
    }

    fn push_pull(&mut self, &Pull { rotor, inertia, force }: &Pull, rate: f64) {
        if inertia > 0.0 {
            let bias = -rate - self.start.h * force / inertia;
            self.push(Law::Equality { rows: 1 }, bias, 1.0 / inertia, rotor);
        }
    }

    /// What acts about the three axes of a spherical joint of bodies, from how far and how fast these have turned.
    fn about_all_axes(&mut self, pull: impl Fn(f64, f64) -> Pull) {
        let Some(row) = self.joint.coordinate(self.id.1, &self.ws.start) else { return };
        let turned = row.b.angular * (row.value - self.freedom().initial);
        let along = self.sides;
        for axis in 0..3 {
            let torque = Wrench::of_torque(Vector3::ith(axis, 1.0));
            self.sides =
                [Some(Side::Wrench(self.joint.a.0, torque.scaled(-1.0))), Some(Side::Wrench(self.joint.b.0, torque))];
            let rate = self.rate();
            self.push_pull(&pull(turned[axis], rate + self.prescribed_at_start()), rate);
        }
        self.sides = along;
    }

    /// Dry friction: −h f ≤ p ≤ h f, and no motion within.   [DRIVE-5]
    fn friction(&mut self) {
        let most = self.start.h * self.joint.freedoms().get(self.id.1).map_or(0.0, |freedom| freedom.friction);
        if most > 0.0 {
            self.push(Law::Boxed { lower: -most, upper: most }, self.prescribed, 0.0, 0.0);
        }
    }

    /// p = h (F₀ + F₁ φ̇⁺) within its bounds.   [DRIVE-3]
    fn clamped(&mut self, driven: &Driven) {
        let &Start { model, state, h, .. } = self.start;
        for motor in model.motors_along(driven.place).filter(|motor| is_clamped(motor, h)) {
            let Force { constant, slope } = Force::of(motor, driven.coordinate, state.time_after(h).0, h);
            let [lower, upper] = bounds(motor, h);
            let bias = constant / slope + self.prescribed;
            self.push(Law::Boxed { lower, upper }, bias, -1.0 / (h * slope), 0.0);
        }
    }

    /// 0 ≤ p ⊥ ±φ̇⁺ + γ (distance to the limit)/h ≥ 0, for limits within reach; returns which of the two are asked for or do not exist.
    ///   [DRIVE-6]
    fn limits(&mut self, driven: &Driven) -> [bool; 2] {
        let &Start { scheme, h, .. } = self.start;
        let reach = if scheme.gamma > 0.0 { 2.0 * h * driven.rate.abs() } else { 0.0 } + scheme.touch_threshold;
        let all = self.ws.all_limits;
        self.push_limits(driven, |gap| (all || gap <= reach).then_some(scheme.gamma * gap / h))
    }

    /// Limits that are reached, where no time passes.   [DRIVE-8]
    fn reached_limits(&mut self, driven: &Driven) {
        let touch = self.start.scheme.touch_threshold;
        self.push_limits(driven, |gap| (gap <= touch).then_some(0.0));
    }

    fn push_limits(&mut self, driven: &Driven, bias: impl Fn(f64) -> Option<f64>) -> [bool; 2] {
        let Some([least, most]) = limits_of(self.joint, self.id.1) else { return [true; 2] };
        [(driven.coordinate - least, 1.0), (most - driven.coordinate, -1.0)].map(|(gap, sign)| {
            let Some(bias) = bias(gap).filter(|_| gap.is_finite()) else { return !gap.is_finite() };
            let sides = self.sides.map(|side| side.map(|side| side.times(sign)));
            self.push_along(sides, AT_LEAST_NOTHING, bias + sign * self.prescribed, (0.0, 0.0));
            true
        })
    }
}

/// What bodies with prescribed motion do to a freedom over the step: [φ(q, t⁺) − φ(q, t)]/h.   [DRIVE-1]
pub(super) fn prescribed_rate(start: &Start, ws: &Workspace, joint: &Joint, number: usize) -> f64 {
    let is_prescribed = |body| start.model.kinematic_bodies().contains(&body);
    if !is_prescribed(joint.a.0) && !is_prescribed(joint.b.0) {
        return 0.0;
    }
    let before = joint.coordinate(number, &ws.linear_start).map(|row| row.value);
    let after = joint.measured(number, &ws.linear_end, before).map(|(coordinate, _)| coordinate);
    after.zip(before).map_or(0.0, |(after, before)| (after - before) / start.h)
}

/// φ̇⁺ − s ψ̇⁺ + γ_b (φ − f(ψ))/h = 0 with s = f′(ψ).   [DRIVE-4]
fn couplings(start: &Start, ws: &Workspace, (driven, gamma): (&[Driven], f64), rows: &mut Vec<DriveRow>) {
    let &Start { model, h, .. } = start;
    let find = |id: FreedomId| driven.iter().find(|driven| driven.id == id).zip(model.joint(id.0));
    for coupling in model.couplings() {
        let Some((follower, joint)) = find(coupling.follower) else { continue };
        let leader = coupling.leader.and_then(find);
        let (wanted, slope) = coupling.at(leader.map_or(0.0, |(leader, _)| leader.coordinate));
        let Some([a, b]) = sides(ws, joint, follower, 1.0) else { continue };
        let [c, d] = leader.and_then(|(leader, joint)| sides(ws, joint, leader, -slope)).unwrap_or_default();
        let led = leader.map_or(0.0, |(leader, joint)| slope * prescribed_rate(start, ws, joint, leader.id.1));
        let prescribed = prescribed_rate(start, ws, joint, follower.id.1) - led;
        let bias = gamma * (follower.coordinate - wanted) / h + prescribed;
        let (law, joint) = (Law::Equality { rows: 1 }, coupling.follower.0);
        rows.push(DriveRow { sides: [a, b, c, d], law, bias, softness: 0.0, rotor: 0.0, joint });
    }
}
