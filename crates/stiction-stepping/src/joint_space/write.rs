//! Rows of the problem along freedoms.

use std::cell::OnceCell;

use nalgebra::Vector3;
use stiction_complementarity::Law;
use stiction_multibody::{Joint, JointDof, JointDofId, JointKind, Wrench};

use super::{
    Driven, JointSpaceRow, Pull, Side,
    pull::{Force, bounds, is_clamped, pull_about},
    rate, sides,
};
use crate::{Start, Workspace};

/// Writes the rows of drives, where the constraints are linearised.
pub(crate) fn write(start: &Start, ws: &mut Workspace) {
    let mut rows = std::mem::take(&mut ws.joint_space_rows);
    let mut driven = std::mem::take(&mut ws.driven);
    rows.clear();
    for joint_dof in &mut driven {
        let Some(joint) = start.model.joint(joint_dof.id.0) else { continue };
        let mut writer = Writer::new(start, ws, joint, joint_dof, &mut rows);
        writer.pull();
        writer.friction();
        writer.clamped();
        joint_dof.held = writer.limits();
    }
    couplings(start, ws, (&driven, start.scheme.joint_gamma), &mut rows);
    (ws.joint_space_rows, ws.driven) = (rows, driven);
}

/// The same rows where no time passes: rotors, limits that are reached, couplings.   [DRIVE-8]
pub(crate) fn write_velocity_level(start: &Start, ws: &mut Workspace) {
    let mut rows = std::mem::take(&mut ws.joint_space_rows);
    let driven = std::mem::take(&mut ws.driven);
    rows.clear();
    for joint_dof in &driven {
        let Some(joint) = start.model.joint(joint_dof.id.0) else { continue };
        let mut writer = Writer::new(start, ws, joint, joint_dof, &mut rows);
        writer.rotor();
        writer.reached_limits();
    }
    // What couples freedoms keeps their rates in step, and leaves errors to the step.
    couplings(start, ws, (&driven, 0.0), &mut rows);
    (ws.joint_space_rows, ws.driven) = (rows, driven);
}

/// The limits of a freedom. How far a spherical joint is bent is never negative: a least bend of nothing is no limit, and where nothing is
/// bent it would have no direction either.   [DRIVE-6]
pub(super) fn limits_of(joint: &Joint, number: usize) -> Option<[f64; 2]> {
    let joint_dof = joint.joint_dofs().get(number)?;
    let [least, most] = joint_dof.limits?;
    let unbent = joint.kind == JointKind::Spherical && least <= joint_dof.initial;
    Some([if unbent { f64::NEG_INFINITY } else { least }, most])
}

/// Writes the rows of one freedom.
struct Writer<'a> {
    start: &'a Start<'a>,
    ws: &'a Workspace,
    joint: &'a Joint,
    driven: &'a Driven,
    /// The rate of the freedom, once a row asks for it: most freedoms have none.
    sides: OnceCell<Option<Sides>>,
    /// The part of the rate that is prescribed: with `sides` it is the whole.
    prescribed: f64,
    rows: &'a mut Vec<JointSpaceRow>,
}

type Sides = [Option<Side>; 2];

const AT_LEAST_NOTHING: Law = Law::Boxed { lower: 0.0, upper: f64::INFINITY };

impl<'a> Writer<'a> {
    fn new(
        start: &'a Start<'a>,
        ws: &'a Workspace,
        joint: &'a Joint,
        driven: &'a Driven,
        rows: &'a mut Vec<JointSpaceRow>,
    ) -> Self {
        let prescribed = prescribed_rate(start, ws, joint, driven.id.1);
        Self { start, ws, joint, driven, sides: OnceCell::new(), prescribed, rows }
    }

    fn sides(&self) -> Option<&Sides> {
        self.sides.get_or_init(|| sides(self.ws, self.joint, self.driven, 1.0)).as_ref()
    }

    fn push(&mut self, law: Law, bias: f64, compliance: f64) {
        if let Some(&sides) = self.sides() {
            self.push_along(sides, law, bias, (compliance, 0.0));
        }
    }

    fn push_along(&mut self, [a, b]: Sides, law: Law, bias: f64, (compliance, rotor): (f64, f64)) {
        let joint = self.driven.id.0;
        self.rows.push(JointSpaceRow { sides: [a, b, None, None], law, bias, compliance, rotor, joint });
    }

    fn joint_dof(&self) -> JointDof {
        self.joint.joint_dofs().get(self.driven.id.1).copied().unwrap_or_default()
    }

    /// A rate at the start, as its row sees it: what is not prescribed of it.
    fn rate(&self, sides: &Sides) -> f64 {
        let forest = self.ws.reduced.as_ref().map(|reduced| &reduced.before[..]);
        rate(self.start.model, sides, &self.ws.before, forest)
    }

    /// The part of it that is prescribed at the start.
    fn prescribed_at_start(&self, sides: &Sides) -> f64 {
        let of = |side: &Side| match side {
            Side::Wrench(body, wrench) if self.start.model.unknowns(*body).is_none() => {
                wrench.power(&self.ws.linear_start.twist(*body))
            }
            _ => 0.0,
        };
        sides.iter().flatten().map(of).sum()
    }

    /// Whether the forest holds inertia and force of this freedom.
    fn is_in_forest(&self) -> bool {
        let of_ball = || self.start.model.forest().first_velocity(self.driven.id.0);
        let ball = || self.joint.kind == JointKind::Spherical && self.ws.reduced.is_some() && of_ball().is_some();
        self.driven.velocity.is_some() || ball()
    }

    /// φ̇⁺ + p/c = φ̇ + h f₀/c, where the forest does not hold c already.   [DRIVE-2]
    fn pull(&mut self) {
        if self.is_in_forest() {
            return;
        }
        if self.joint.kind == JointKind::Spherical {
            let (joint_dof, h) = (self.joint_dof(), self.start.h);
            self.about_all_axes(|turned, rate| pull_about(&joint_dof, (turned, rate), h));
        } else if let Some(&sides) = self.sides() {
            // Prescribed bodies may change their speed within the step.
            let rate = self.rate(&sides) + self.prescribed_at_start(&sides) - self.prescribed;
            self.push_pull(sides, &self.driven.pull, rate);
        }
    }

    /// A rotor that the forest does not hold, where no time passes.   [DRIVE-8]
    fn rotor(&mut self) {
        if self.is_in_forest() {
            return;
        }
        let armature = self.joint_dof().armature;
        let rotor = Pull { rotor: armature, inertia: armature, force: 0.0 };
        if self.joint.kind == JointKind::Spherical {
            self.about_all_axes(|_, _| rotor);
        } else if let Some(&sides) = self.sides() {
            self.push_pull(sides, &rotor, self.rate(&sides));
        }
    }

    fn push_pull(&mut self, sides: Sides, &Pull { rotor, inertia, force }: &Pull, rate: f64) {
        if inertia > 0.0 {
            let bias = -rate - self.start.h * force / inertia;
            self.push_along(sides, Law::Equality { rows: 1 }, bias, (1.0 / inertia, rotor));
        }
    }

    /// What acts about the three axes of a spherical joint of bodies, from how far and how fast these have turned.
    fn about_all_axes(&mut self, pull: impl Fn(f64, f64) -> Pull) {
        let Some(row) = self.joint.coordinate(self.driven.id.1, &self.ws.start) else { return };
        let turned = row.b.angular * (row.value - self.joint_dof().initial);
        for axis in 0..3 {
            let torque = Wrench::of_torque(Vector3::ith(axis, 1.0));
            let sides =
                [Some(Side::Wrench(self.joint.a.0, torque.scaled(-1.0))), Some(Side::Wrench(self.joint.b.0, torque))];
            let rate = self.rate(&sides);
            self.push_pull(sides, &pull(turned[axis], rate + self.prescribed_at_start(&sides)), rate);
        }
    }

    /// Dry friction: −h f ≤ p ≤ h f, and no motion within.   [DRIVE-5]
    fn friction(&mut self) {
        let friction = self.joint.joint_dofs().get(self.driven.id.1).map_or(0.0, |joint_dof| joint_dof.friction);
        let most = self.start.h * friction;
        if most > 0.0 {
            self.push(Law::Boxed { lower: -most, upper: most }, self.prescribed, 0.0);
        }
    }

    /// p = h (F₀ + F₁ φ̇⁺) within its bounds.   [DRIVE-3]
    fn clamped(&mut self) {
        let &Start { model, state, h, .. } = self.start;
        for motor in model.motors_along(self.driven.place).filter(|motor| is_clamped(motor, h)) {
            let Force { constant, slope } = Force::of(motor, self.driven.coordinate, state.time_after(h).0, h);
            let [lower, upper] = bounds(motor, h);
            let bias = constant / slope + self.prescribed;
            self.push(Law::Boxed { lower, upper }, bias, -1.0 / (h * slope));
        }
    }

    /// 0 ≤ p ⊥ ±φ̇⁺ + γ (distance to the limit)/h ≥ 0, for limits within reach; returns which of the two are asked for or do not exist.
    ///   [DRIVE-6]
    fn limits(&mut self) -> [bool; 2] {
        let &Start { scheme, h, .. } = self.start;
        let reach = if scheme.gamma > 0.0 { 2.0 * h * self.driven.rate.abs() } else { 0.0 } + scheme.touch_threshold;
        let all = self.ws.all_limits;
        self.push_limits(|gap, missed| (all || missed || gap <= reach).then_some(scheme.gamma * gap / h))
    }

    /// Limits that are reached, where no time passes.   [DRIVE-8]
    fn reached_limits(&mut self) {
        let touch = self.start.scheme.touch_threshold;
        self.push_limits(|gap, _| (gap <= touch).then_some(0.0));
    }

    /// Rows of those limits that `bias` has a value for, from the way to the limit and whether a solution missed it.
    fn push_limits(&mut self, bias: impl Fn(f64, bool) -> Option<f64>) -> [bool; 2] {
        let mut held = [true; 2];
        let Some([least, most]) = limits_of(self.joint, self.driven.id.1) else { return held };
        let coordinate = self.driven.coordinate;
        let both = [(coordinate - least, 1.0), (most - coordinate, -1.0)].into_iter().zip(self.driven.missed);
        for (held, ((gap, sign), missed)) in held.iter_mut().zip(both) {
            if !gap.is_finite() {
                continue;
            }
            let Some(bias) = bias(gap, missed) else {
                *held = false;
                continue;
            };
            if let Some(sides) = self.sides() {
                let sides = sides.map(|side| side.map(|side| side.times(sign)));
                self.push_along(sides, AT_LEAST_NOTHING, bias + sign * self.prescribed, (0.0, 0.0));
            }
        }
        held
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
fn couplings(start: &Start, ws: &Workspace, (driven, gamma): (&[Driven], f64), rows: &mut Vec<JointSpaceRow>) {
    let &Start { model, h, .. } = start;
    let find = |id: JointDofId| driven.iter().find(|driven| driven.id == id).zip(model.joint(id.0));
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
        rows.push(JointSpaceRow { sides: [a, b, c, d], law, bias, compliance: 0.0, rotor: 0.0, joint });
    }
}
