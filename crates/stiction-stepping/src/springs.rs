//! Springs and dampers between bodies, implicit in the velocities at the end of the step.
//!
//! The extension x of a spring, its rate ẋ and its tension k x + c ẋ are those that the step ends with. With the unit vector d along the
//! spring, the relative velocity ν of its points and its part u that is prescribed,
//!
//! ```text
//! d·ν⁺ + p/(h w r) + ((1 − w) d·ν + d·u)/w + f/(w r) = 0,    r = h w k + c,    f = k x                             [FORCE-3]
//! ```
//!
//! is a compliant row, as that of a spring along a joint DOF [JSPACE-2]. The weight w is 1 if the velocity at the end moves the bodies, and ½ if the mean
//! velocity does: then it is the midpoint rule. A damper has such a row, with k = 0, along each axis of the world. The impulse acts along the
//! line of the points where the constraints are linearised, so that it keeps the angular momentum.
//!
//! In a step of second order the row is that of the first kick, to the middle of the step: h/2 stands for h, and the second kick repeats its force along
//! the line at the end. The rate of the middle contains how the line and the arms of the points turn until then.   [STEP-18]

use nalgebra::Vector3;
use stiction_complementarity::Law;
use stiction_multibody::{Attachment, BodyId, Dimension, Wrench, add_springs};

use crate::{
    Kick, Start, Workspace,
    rates::{JointSpaceRow, RowOwner, Side, in_balance, rate},
    workspace::StepKinematics,
};

/// Adds springs and dampers to the applied wrenches where they have no rows: in explicit schemes, and in the second kick of a step.
///
/// The rows in the workspace are then still those of the first kick.
pub(crate) fn prepare(start: &Start, ws: &mut Workspace) {
    if !start.scheme.has_implicit_springs() {
        add_springs(start.model, &ws.kinematics.start, &mut ws.kinematics.applied);
    } else if start.kick == Kick::Second {
        add_forces_of_first_kick(start, ws);
    }
}

/// Adds the forces of the first kick, each along its line at the end of the step.
fn add_forces_of_first_kick(start: &Start, ws: &mut Workspace) {
    let Workspace { constraints, solution, kinematics, .. } = ws;
    for (row, impulse) in constraints.joint_space_rows.iter().zip(&solution.joint_space_impulses) {
        let Some((a, b)) = ends_of(start, row.owner) else { continue };
        let Some(Some(Side::Wrench(_, Wrench { linear: along, .. }))) = row.sides.get(1) else { continue };
        let at = Attachment::new(&kinematics.start, &a, &b);
        let direction = match row.owner {
            RowOwner::Spring(_) => aligned(&at.between, along).unwrap_or(*along),
            _ => *along,
        };
        let force = direction * (impulse / start.force_duration());
        for (id, wrench) in [(a.0, Wrench::of_force(-force, &at.arm_a)), (b.0, Wrench::of_force(force, &at.arm_b))] {
            kinematics.applied.get_mut(id.index()).into_iter().for_each(|total| total.add(&wrench));
        }
    }
}

/// Writes the rows of springs and dampers behind the joint-space rows.   [FORCE-3]
pub(crate) fn write(start: &Start, ws: &mut Workspace) {
    let model = start.model;
    if !start.scheme.has_implicit_springs() || !start.moves() {
        return;
    }
    let is_damped = !model.dampers().is_empty() || model.springs().iter().any(|spring| spring.damping > 0.0);
    if start.kick == Kick::First && is_damped {
        find_middle(start, ws);
    }
    let mut rows = std::mem::take(&mut ws.constraints.joint_space_rows);
    for (index, spring) in model.springs().iter().enumerate() {
        let Some(ends) = Ends::new(start, ws, spring.a, spring.b) else { continue };
        // A spring of no length has a direction only if it has no rest length either: that in which it begins to stretch.
        let at_rest = || (spring.rest_length == 0.0).then(|| ends.at.relative_velocity.try_normalize(0.0)).flatten();
        let Some(direction) = ends.at.between.try_normalize(0.0).or_else(at_rest) else { continue };
        let sides = ends.sides(start, ws, &direction);
        // From where the constraints are linearised back to the start of the step.   [STEP-10]
        let traced = rate(model, &sides, &ws.kinematics.linearisation_velocity, None);
        let extension = ends.at.between.norm() - spring.rest_length - start.h * traced;
        let law = Viscoelastic { stiffness: spring.stiffness, damping: spring.damping, extension };
        ends.push((start, ws), (RowOwner::Spring(index), direction, sides), law, &mut rows);
    }
    let axes = if model.dimension() == Dimension::Planar { 2 } else { 3 };
    for (index, damper) in model.dampers().iter().enumerate() {
        let Some(ends) = Ends::new(start, ws, damper.a, damper.b) else { continue };
        for axis in 0..axes {
            let direction = Vector3::ith(axis, 1.0);
            let sides = ends.sides(start, ws, &direction);
            let law = Viscoelastic { stiffness: 0.0, damping: damper.damping, extension: 0.0 };
            ends.push((start, ws), (RowOwner::Damper(index, axis), direction, sides), law, &mut rows);
        }
    }
    ws.constraints.joint_space_rows = rows;
}

type End = (BodyId, Vector3<f64>);
type Sides = [Option<Side>; 4];

/// Points of the spring or damper of a row; none for rows of joints.
fn ends_of(start: &Start, owner: RowOwner) -> Option<(End, End)> {
    match owner {
        RowOwner::Joint(_) => None,
        RowOwner::Spring(index) => start.model.springs().get(index).map(|spring| (spring.a, spring.b)),
        RowOwner::Damper(index, _) => start.model.dampers().get(index).map(|damper| (damper.a, damper.b)),
    }
}

/// Unit vector along a line, in the sense nearer to `other`: a spring of no rest length may pass through its other end.
fn aligned(line: &Vector3<f64>, other: &Vector3<f64>) -> Option<Vector3<f64>> {
    let unit = line.try_normalize(0.0)?;
    Some(if unit.dot(other) < 0.0 { -unit } else { unit })
}

/// Tension k x + c ẋ of a row.
#[derive(Clone, Copy)]
struct Viscoelastic {
    stiffness: f64,
    damping: f64,
    /// Extension x at the start of the step.
    extension: f64,
}

/// Points of a spring or damper where the constraints are linearised.
struct Ends {
    bodies: (BodyId, BodyId),
    at: Attachment,
    /// Prescribed displacement of the second point from the first over the step, divided by h.
    prescribed: Vector3<f64>,
}

impl Ends {
    /// Points of two bodies; none if neither can move.
    fn new(start: &Start, ws: &Workspace, a: End, b: End) -> Option<Self> {
        let _ = start.model.unknowns(a.0).or_else(|| start.model.unknowns(b.0))?;
        let at = Attachment::new(&ws.kinematics.linear_start, &a, &b);
        let at_end = Attachment::new(&ws.kinematics.linear_end, &a, &b);
        Some(Self { bodies: (a.0, b.0), at, prescribed: (at_end.between - at.between) / start.h })
    }

    /// Sides of the rate along a direction.
    fn sides(&self, start: &Start, ws: &Workspace, direction: &Vector3<f64>) -> Sides {
        let (a, b) = self.bodies;
        let mut pair = (Wrench::of_force(-direction, &self.at.arm_a), Wrench::of_force(*direction, &self.at.arm_b));
        if !ws.kinematics.linearisation_velocity.is_empty() && start.scheme.has_common_points() {
            pair = in_balance(start.model, &ws.kinematics.start, self.bodies, pair);
        }
        [Some(Side::Wrench(a, pair.0)), Some(Side::Wrench(b, pair.1)), None, None]
    }

    /// Pushes the row along a direction.   [FORCE-3]
    fn push(
        &self,
        (start, ws): (&Start, &Workspace),
        (owner, direction, sides): (RowOwner, Vector3<f64>, Sides),
        Viscoelastic { stiffness, damping, extension }: Viscoelastic,
        rows: &mut Vec<JointSpaceRow>,
    ) {
        let (time, w) = (start.force_duration(), start.end_velocity_weight());
        let resistance = time * w * stiffness + damping;
        if resistance == 0.0 {
            return;
        }
        let mut force = stiffness * extension;
        if start.kick == Kick::First && damping > 0.0 {
            force += damping * self.change_to_middle((start, ws), (owner, &direction, &sides));
        }
        let before = if w < 1.0 { (1.0 - w) * rate(start.model, &sides, &ws.kinematics.before, None) } else { 0.0 };
        let bias = (before + direction.dot(&self.prescribed)) / w + force / (w * resistance);
        let (law, compliance) = (Law::Equality { rows: 1 }, 1.0 / (time * w * resistance));
        rows.push(JointSpaceRow { sides, law, bias, compliance, rotor: 0.0, owner, closing: None });
    }

    /// Rate in the middle of the step less that of the row, both if the bodies keep their velocities: the line and the arms turn.   [STEP-18]
    fn change_to_middle(
        &self,
        (start, ws): (&Start, &Workspace),
        (owner, direction, sides): (RowOwner, &Vector3<f64>, &Sides),
    ) -> f64 {
        let Some((a, b)) = ends_of(start, owner) else { return 0.0 };
        let middle = Attachment::new(&ws.kinematics.ahead, &a, &b);
        let direction_there = match owner {
            RowOwner::Spring(_) => aligned(&middle.between, direction).unwrap_or(*direction),
            _ => *direction,
        };
        let of_row = rate(start.model, sides, &ws.kinematics.before, None) + direction.dot(&self.prescribed);
        direction_there.dot(&middle.relative_velocity) - of_row
    }
}

/// Writes the configuration of the middle of the step, if the bodies keep their velocities.
fn find_middle(start: &Start, ws: &mut Workspace) {
    let &Start { model, scheme, state, .. } = start;
    let Workspace { reduced, kinematics: StepKinematics { ahead, predicted, ahead_velocity: v, .. }, .. } = ws;
    let time = start.force_duration();
    v.clone_from(&state.v);
    match reduced {
        Some(reduced) => reduced.write_ahead(start, time, (predicted, v)),
        None => model.integrate(&state.q, v, time, scheme.orientation, predicted),
    }
    ahead.update(model, predicted, v, state.time + time);
}
