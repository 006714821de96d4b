//! Joint-space rows of the problem.

use std::cell::OnceCell;

use nalgebra::Vector3;
use stiction_complementarity::Law;
use stiction_multibody::{Joint, JointDof, JointDofId, JointKind, Wrench};

use super::{
    implicit_force::{MotorForce, bounds, is_clamped, spherical_force},
    prescribed_rate,
    rotor::is_in_forest,
    sides, time_of_forces,
};
use crate::{
    Kick, Start, Workspace,
    closing::{ClosingBound, coordinate_drift},
    joint_space_dof::{ImplicitForce, JointSpaceDof},
    rates::{JointSpaceRow, Rotor, RowOwner, Side, Tension, rate},
};

/// Writes the joint-space rows where the constraints are linearised.
pub(crate) fn write(start: &Start, ws: &mut Workspace) {
    let mut rows = std::mem::take(&mut ws.constraints.joint_space_rows);
    let mut actuated = std::mem::take(&mut ws.constraints.joint_space_dofs);
    rows.clear();
    for joint_dof in &mut actuated {
        let Some(joint) = start.model.joint(joint_dof.id.0) else {
            debug_assert!(false, "actuated DOFs belong to joints of the model");
            continue;
        };
        let mut writer = Writer::new(start, ws, joint, joint_dof, &mut rows);
        writer.implicit_force();
        writer.friction();
        if start.moves() {
            writer.clamped();
            (joint_dof.held, joint_dof.limit_rows) = writer.limits();
        } else {
            (joint_dof.held, joint_dof.limit_rows) = writer.reached_limits();
        }
    }
    let gamma = if start.moves() { start.scheme.joint_gamma } else { 0.0 };
    couplings(start, ws, (&actuated, gamma), &mut rows);
    (ws.constraints.joint_space_rows, ws.constraints.joint_space_dofs) = (rows, actuated);
}

/// Writes the joint-space rows of an impact: rotors, active limits, couplings.   [JSPACE-8]
pub(crate) fn write_velocity_level(start: &Start, ws: &mut Workspace) {
    let mut rows = std::mem::take(&mut ws.constraints.joint_space_rows);
    let actuated = std::mem::take(&mut ws.constraints.joint_space_dofs);
    rows.clear();
    for joint_dof in &actuated {
        let Some(joint) = start.model.joint(joint_dof.id.0) else {
            debug_assert!(false, "actuated DOFs belong to joints of the model");
            continue;
        };
        let mut writer = Writer::new(start, ws, joint, joint_dof, &mut rows);
        writer.rotor();
        let _ = writer.reached_limits();
    }
    // In an impact, couplings constrain rates only; the step removes their errors.
    couplings(start, ws, (&actuated, 0.0), &mut rows);
    (ws.constraints.joint_space_rows, ws.constraints.joint_space_dofs) = (rows, actuated);
}

/// Limits of a joint DOF.   [JSPACE-6]
///
/// The bend of a spherical joint is never negative: a lower limit of zero is no limit, and at zero bend its direction would be undefined.
pub(super) fn limits_of(joint: &Joint, number: usize) -> Option<[f64; 2]> {
    let joint_dof = joint.joint_dofs().get(number)?;
    let [least, most] = joint_dof.limits?;
    let unbent = joint.kind == JointKind::Spherical && least <= joint_dof.initial;
    Some([if unbent { f64::NEG_INFINITY } else { least }, most])
}

/// Writer of the rows of one joint DOF.
struct Writer<'a> {
    start: &'a Start<'a>,
    ws: &'a Workspace,
    joint: &'a Joint,
    actuated: &'a JointSpaceDof,
    /// Rate of the DOF, computed on demand: most DOFs have no rows.
    sides: OnceCell<Option<Sides>>,
    /// Prescribed part of the rate; with `sides` it is the whole rate.
    prescribed: f64,
    rows: &'a mut Vec<JointSpaceRow>,
}

type Sides = [Option<Side>; 2];

/// Whether the lower and upper limit have a row or do not exist, and the places of their rows.
type LimitRows = ([bool; 2], [Option<usize>; 2]);

const NON_NEGATIVE: Law = Law::Bounded { lower: 0.0, upper: f64::INFINITY };

impl<'a> Writer<'a> {
    fn new(
        start: &'a Start<'a>,
        ws: &'a Workspace,
        joint: &'a Joint,
        actuated: &'a JointSpaceDof,
        rows: &'a mut Vec<JointSpaceRow>,
    ) -> Self {
        let prescribed = prescribed_rate(start, ws, joint, actuated.id.1);
        Self { start, ws, joint, actuated, sides: OnceCell::new(), prescribed, rows }
    }

    fn sides(&self) -> Option<&Sides> {
        self.sides.get_or_init(|| sides(self.ws, self.joint, self.actuated, 1.0)).as_ref()
    }

    fn push(&mut self, law: Law, bias: f64, compliance: f64) {
        if let Some(&sides) = self.sides() {
            self.push_along(sides, law, bias, (compliance, Rotor::default()));
        }
    }

    fn push_along(&mut self, [a, b]: Sides, law: Law, bias: f64, (compliance, rotor): (f64, Rotor)) {
        let owner = RowOwner::Joint(self.actuated.id.0);
        self.rows.push(JointSpaceRow {
            sides: [a, b, None, None],
            law,
            bias,
            compliance,
            rotor,
            owner,
            tension: Tension::default(),
            closing: None,
        });
    }

    fn joint_dof(&self) -> JointDof {
        self.joint.joint_dofs().get(self.actuated.id.1).copied().unwrap_or_default()
    }

    /// Rate at the start of the step, without its prescribed part.
    fn rate(&self, sides: &Sides) -> f64 {
        let forest = self.ws.reduced.as_ref().map(|reduced| &reduced.before[..]);
        rate(self.start.model, sides, &self.ws.kinematics.before, forest)
    }

    /// Prescribed part of the rate at the start.
    fn prescribed_at_start(&self, sides: &Sides) -> f64 {
        let of = |side: &Side| match side {
            Side::Wrench(body, wrench) if self.start.model.unknowns(*body).is_none() => {
                wrench.power(&self.ws.kinematics.linear_start.twist(*body))
            }
            _ => 0.0,
        };
        sides.iter().flatten().map(of).sum()
    }

    fn is_in_forest(&self) -> bool {
        is_in_forest(self.start.model, self.ws, self.joint, self.actuated)
    }

    /// Writes φ̇⁺ + p/c = φ̇ + h f₀/c if c is not part of the forest.   [JSPACE-2]
    fn implicit_force(&mut self) {
        if self.is_in_forest() {
            return;
        }
        if self.joint.kind == JointKind::Spherical {
            let (joint_dof, start, ws, actuated) = (self.joint_dof(), self.start, self.ws, self.actuated);
            let force = |turned, before, sides: &Sides| {
                let moved = rate(start.model, sides, &ws.solution.velocity, None);
                spherical_force(start, &joint_dof, (turned, before), moved)
            };
            self.about_all_axes(force, |axis, present| rotor_rates(start.kick, actuated, (present, present), axis));
        } else if let Some(&sides) = self.sides() {
            // Prescribed bodies may change their speed within the step.
            let (rate, present) = (self.rate(&sides), self.prescribed_at_start(&sides));
            let rotor = rotor_rates(self.start.kick, self.actuated, (present, self.prescribed), 0);
            self.push_implicit_force(sides, &self.actuated.implicit_force, (rate + present - self.prescribed, rotor));
        }
    }

    /// Writes the row of a rotor that is not part of the forest, in an impact.   [JSPACE-8]
    fn rotor(&mut self) {
        if self.is_in_forest() {
            return;
        }
        let armature = self.joint_dof().armature;
        let rotor = ImplicitForce { rotor: armature, inertia: armature, force: 0.0 };
        if self.joint.kind == JointKind::Spherical {
            self.about_all_axes(|_, _, _| rotor, |_, offset| (0.0, offset));
        } else if let Some(&sides) = self.sides() {
            let present = self.prescribed_at_start(&sides);
            self.push_implicit_force(sides, &rotor, (self.rate(&sides), (0.0, present)));
        }
    }

    fn push_implicit_force(
        &mut self,
        sides: Sides,
        &ImplicitForce { rotor, inertia, force }: &ImplicitForce,
        (rate, (lead, offset)): (f64, (f64, f64)),
    ) {
        if inertia > 0.0 {
            let bias = -rate - (self.start.force_duration() * force + rotor * lead) / inertia;
            let rotor = if rotor > 0.0 { Rotor { inertia: rotor, lead, offset } } else { Rotor::default() };
            self.push_along(sides, Law::Equality { rows: 1 }, bias, (1.0 / inertia, rotor));
        }
    }

    /// Writes the rows about the three axes of a spherical joint, from its rotation and angular velocity.
    ///
    /// `rotor` finds lead and offset from the number of the axis and the prescribed rate about it.
    fn about_all_axes(
        &mut self,
        implicit_force: impl Fn(f64, f64, &Sides) -> ImplicitForce,
        rotor: impl Fn(usize, f64) -> (f64, f64),
    ) {
        let Some(row) = self.joint.coordinate(self.actuated.id.1, &self.ws.kinematics.start) else { return };
        let turned = row.b.angular * (row.value - self.joint_dof().initial);
        for axis in 0..3 {
            let torque = Wrench::of_torque(Vector3::ith(axis, 1.0));
            let sides =
                [Some(Side::Wrench(self.joint.a.0, torque.scaled(-1.0))), Some(Side::Wrench(self.joint.b.0, torque))];
            let rate = self.rate(&sides);
            let present = self.prescribed_at_start(&sides);
            let force = implicit_force(turned[axis], rate + present, &sides);
            self.push_implicit_force(sides, &force, (rate, rotor(axis, present)));
        }
    }

    /// Writes dry friction: −h f ≤ p ≤ h f, with zero rate inside the bounds.   [JSPACE-5]
    fn friction(&mut self) {
        let friction = self.joint.joint_dofs().get(self.actuated.id.1).map_or(0.0, |joint_dof| joint_dof.friction);
        let most = self.start.force_duration() * friction;
        if most > 0.0 {
            self.push(Law::Bounded { lower: -most, upper: most }, self.prescribed, 0.0);
        }
    }

    /// Writes p = h (F₀ + F₁ φ̇⁺) within its bounds, for motors with force limits.   [JSPACE-3]
    fn clamped(&mut self) {
        let model = self.start.model;
        let (time, h) = time_of_forces(self.start);
        for motor in model.motors_along(self.actuated.place).filter(|motor| is_clamped(motor, h)) {
            let MotorForce { constant, slope } = MotorForce::of(motor, self.actuated.coordinate, time, h);
            let [lower, upper] = bounds(motor, h);
            let bias = constant / slope + self.prescribed;
            self.push(Law::Bounded { lower, upper }, bias, -1.0 / (h * slope));
        }
    }

    /// Writes 0 ≤ p ⊥ ±φ̇⁺ + γ (distance to the limit)/h ≥ 0 for limits within reach.   [JSPACE-6]
    ///
    /// Returns true for each limit that has a row or does not exist, and the places of the rows.
    fn limits(&mut self) -> LimitRows {
        let &Start { scheme, h, .. } = self.start;
        let reach = if scheme.gamma > 0.0 { 2.0 * h * self.actuated.rate.abs() } else { 0.0 } + scheme.touch_threshold;
        let all = self.ws.constraints.all_limits;
        let (is_angle, drift) = measured_drift(self.start, self.ws, self.joint, self.actuated);
        let (start, rate) = (self.start, self.actuated.rate);
        self.push_limits(|(gap, sign), missed| {
            // A step at the present rate passes the limit by as much.
            let bound = ClosingBound::new(scheme.joint_closing_speed, is_angle, drift + (-sign * rate).max(0.0));
            let wanted = scheme.gamma * gap / h;
            let bias = if gap < 0.0 { bound.rate(wanted) } else { wanted };
            (all || missed || gap <= reach).then_some((bias, bound.is_closing(-gap, wanted, start)))
        })
    }

    /// Writes the limits that are reached, in an impact and in the second kick of a step: there also those with an impulse in the first.
    /// [JSPACE-8] [STEP-18]
    fn reached_limits(&mut self) -> LimitRows {
        let touch = self.start.scheme.touch_threshold;
        let [below, above] = self.actuated.limit_impulses;
        self.push_limits(|(gap, sign), _| {
            let first = if sign > 0.0 { below } else { above };
            (gap <= touch || first > 0.0).then_some((0.0, false))
        })
    }

    /// Writes the rows of the limits for which `bias` returns a value and whether it closes an error of the start, given the distance to the limit, the
    /// sign of its rate and whether it was missed.
    fn push_limits(&mut self, bias: impl Fn((f64, f64), bool) -> Option<(f64, bool)>) -> LimitRows {
        let (mut held, mut places) = ([true; 2], [None; 2]);
        let Some([least, most]) = limits_of(self.joint, self.actuated.id.1) else { return (held, places) };
        let coordinate = self.actuated.coordinate;
        let both = [(coordinate - least, 1.0), (most - coordinate, -1.0)].into_iter().zip(self.actuated.missed);
        for ((held, place), ((gap, sign), missed)) in held.iter_mut().zip(&mut places).zip(both) {
            if !gap.is_finite() {
                continue;
            }
            let Some((bias, is_closing)) = bias((gap, sign), missed) else {
                *held = false;
                continue;
            };
            if let Some(sides) = self.sides() {
                let sides = sides.map(|side| side.map(|side| side.times(sign)));
                let prescribed = sign * self.prescribed;
                *place = Some(self.rows.len());
                self.push_along(sides, NON_NEGATIVE, bias + prescribed, (0.0, Rotor::default()));
                if let Some(row) = self.rows.last_mut() {
                    row.closing = is_closing.then_some(prescribed);
                }
            }
        }
        (held, places)
    }
}

/// Lead and offset of the rotor of a row, with the prescribed part of its rate at the start and in the problem.   [JSPACE-10]
fn rotor_rates(kick: Kick, actuated: &JointSpaceDof, (present, prescribed): (f64, f64), axis: usize) -> (f64, f64) {
    let lead = actuated.rotor.lead[axis];
    match kick {
        Kick::Whole => (lead, prescribed),
        Kick::First => (lead, prescribed - lead),
        Kick::Second => (lead + prescribed - present, present),
    }
}

/// True if a DOF is an angle, and a bound on the rate γ Φ/h of the error that a step makes in its coordinate, if that is measured from the bodies.
/// [STAB-9]
fn measured_drift(start: &Start, ws: &Workspace, joint: &Joint, actuated: &JointSpaceDof) -> (bool, f64) {
    let at = &ws.kinematics.start;
    let is_angle = joint.coordinate(actuated.id.1, at).is_none_or(|row| row.b.linear == Vector3::zeros());
    let is_exact = actuated.velocity.is_some();
    (is_angle, if is_exact { 0.0 } else { coordinate_drift(joint, at, is_angle, start.h) })
}

/// Writes the couplings φ̇⁺ − s ψ̇⁺ + γ_b (φ − f(ψ))/h = 0 with s = f′(ψ); their errors close like those of joints.   [JSPACE-4] [STAB-9]
fn couplings(start: &Start, ws: &Workspace, (actuated, gamma): (&[JointSpaceDof], f64), rows: &mut Vec<JointSpaceRow>) {
    let &Start { model, h, .. } = start;
    let find = |id: JointDofId| actuated.iter().find(|actuated| actuated.id == id).zip(model.joint(id.0));
    for coupling in model.couplings() {
        let Some((follower, joint)) = find(coupling.follower) else {
            debug_assert!(false, "coupled DOFs are among the actuated ones");
            continue;
        };
        let leader = coupling.leader.and_then(find);
        debug_assert_eq!(leader.is_some(), coupling.leader.is_some(), "coupled DOFs are among the actuated ones");
        let (wanted, slope) = coupling.at(leader.map_or(0.0, |(leader, _)| leader.coordinate));
        let Some([a, b]) = sides(ws, joint, follower, 1.0) else { continue };
        let [c, d] = leader.and_then(|(leader, joint)| sides(ws, joint, leader, -slope)).unwrap_or_default();
        let led = leader.map_or(0.0, |(leader, joint)| slope * prescribed_rate(start, ws, joint, leader.id.1));
        let prescribed = prescribed_rate(start, ws, joint, follower.id.1) - led;
        let error = follower.coordinate - wanted;
        let (is_angle, of_follower) = measured_drift(start, ws, joint, follower);
        let of_leader = leader.map_or(0.0, |(leader, joint)| {
            // The row has the slope at the start of a step.
            let moved = h * leader.rate;
            let curved = (wanted - coupling.at(leader.coordinate - moved).0 - slope * moved).abs() / h;
            curved + slope.abs() * measured_drift(start, ws, joint, leader).1
        });
        let bound = ClosingBound::new(start.scheme.joint_closing_speed, is_angle, of_follower + of_leader);
        let wanted = gamma * error / h;
        let bias = bound.rate(wanted) + prescribed;
        let (law, owner) = (Law::Equality { rows: 1 }, RowOwner::Joint(coupling.follower.0));
        let closing = bound.is_closing(error.abs(), wanted, start).then_some(prescribed);
        rows.push(JointSpaceRow {
            sides: [a, b, c, d],
            law,
            bias,
            compliance: 0.0,
            rotor: Rotor::default(),
            owner,
            tension: Tension::default(),
            closing,
        });
    }
}
