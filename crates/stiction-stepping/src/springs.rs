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
//! velocity does: then it is the midpoint rule. A damper has such a row, with k = 0, along each axis of the world, and so has a spring without
//! rest length, with the component of the vector between its points for x. The impulse acts along the line of the points where the constraints are
//! linearised, so that it keeps the angular momentum.
//!
//! Joint errors close by γ Φ/h, which is no motion of the mechanism. With ν_c the velocities of least kinetic energy that close them,
//!
//! ```text
//! W_bᵀ ν_c + γ Φ/h = 0,    min ½ ν_cᵀ M ν_c,    dampers see d·(ν⁺ − ν_c)                                        [FORCE-6]
//! ```
//!
//! In a step of second order the row is that of the first kick, to the middle of the step: h/2 stands for h. The second kick repeats its force along
//! the line at the end, but for the part θ of the damping, which is implicit again.   [STEP-18] [FORCE-4]

use nalgebra::{Matrix6, Vector3, Vector6};
use stiction_complementarity::Law;
use stiction_multibody::{Attachment, BodyId, Dimension, Model, Wrench, add_springs, apply_inverse_mass, mass_block};

use crate::{
    Kick, Start, Workspace,
    rates::{JointSpaceRow, Rotor, RowOwner, Side, Tension, in_balance, rate},
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

/// Adds the forces of the first kick, each along its line at the end of the step and without the part of the damping that has a row.   [FORCE-4]
fn add_forces_of_first_kick(start: &Start, ws: &mut Workspace) {
    if !has_links(start.model) {
        return;
    }
    let Workspace { constraints, solution, kinematics, .. } = ws;
    find_drag(start.model, kinematics);
    for (row, impulse) in constraints.joint_space_rows.iter().zip(&solution.joint_space_impulses) {
        let Some(link) = Link::of(start.model, row.owner) else { continue };
        let Some(Some(Side::Wrench(_, Wrench { linear: along, .. }))) = row.sides.get(1) else { continue };
        let at = Attachment::new(&kinematics.start, &link.a, &link.b);
        let direction = link.direction_near(&at, along);
        let tension = -impulse / start.force_duration();
        let implicit = implicit_part(start, kinematics, &link, (&at, &direction));
        // Rate of the row, from its equation: what its tension has beyond that at rest.
        let rate = (tension - row.tension.elastic - row.tension.turning)
            / (start.force_duration() * start.end_velocity_weight() * link.stiffness + link.damping);
        let force = direction * (implicit * (link.damping * rate + row.tension.turning) - tension);
        for (id, wrench) in
            [(link.a.0, Wrench::of_force(-force, &at.arm_a)), (link.b.0, Wrench::of_force(force, &at.arm_b))]
        {
            kinematics.applied.get_mut(id.index()).into_iter().for_each(|total| total.add(&wrench));
        }
    }
}

/// Writes the rows of springs and dampers behind the joint-space rows.   [FORCE-3]
pub(crate) fn write(start: &Start, ws: &mut Workspace) {
    let model = start.model;
    if !start.scheme.has_implicit_springs() || !has_links(model) {
        return;
    }
    let is_damped = !model.dampers().is_empty() || model.springs().iter().any(|spring| spring.damping > 0.0);
    find_bends(start, ws);
    if start.kick != Kick::Whole && is_damped {
        find_drag(model, &mut ws.kinematics);
    }
    if start.kick == Kick::First && is_damped {
        find_ahead(start, ws, start.force_duration());
    }
    let mut rows = std::mem::take(&mut ws.constraints.joint_space_rows);
    for (index, link) in links(model).enumerate() {
        let Some(ends) = Ends::new(start, ws, link) else { continue };
        let bend = ws.kinematics.bends.get(index).copied().unwrap_or_default();
        for (direction, extension) in link.lines(model, &ends.at) {
            let sides = ends.sides(start, ws, &direction);
            let implicit = implicit_part(start, &ws.kinematics, &link, (&ends.at, &direction));
            if start.moves() {
                // The midpoint rule keeps the energy of pins with the rates of its rows alone.
                let bend = direction.dot(&bend) * if start.kick == Kick::Whole { 1.0 } else { implicit };
                ends.push(
                    (start, ws),
                    (direction, sides),
                    Path { extension, bend, repeated: 1.0 - implicit },
                    &mut rows,
                );
            } else {
                ends.push_damping(start, (direction, sides), implicit * link.damping, &mut rows);
            }
        }
    }
    ws.constraints.joint_space_rows = rows;
}

/// True if dampers between bodies would resist the closing of joints. In a step of second order this closing is part of the curved path.
pub(crate) fn damps_closing(start: &Start, ws: &Workspace) -> bool {
    let is_damped = |row: &JointSpaceRow| Link::of(start.model, row.owner).is_some_and(|link| link.damping > 0.0);
    start.kick == Kick::Whole
        && ws.reduced.is_none()
        && ws.constraints.joint_rows.iter().any(|row| row.bias != row.prescribed)
        && ws.constraints.joint_space_rows.iter().any(is_damped)
}

/// Makes dampers leave the closing of joints alone: it is no motion of the mechanism. Where their line passes through the joint, they would turn the
/// removal of its error into a torque without bound.   [FORCE-6]
pub(crate) fn leave_closing(start: &Start, ws: &mut Workspace) {
    let mut rows = std::mem::take(&mut ws.constraints.joint_space_rows);
    for row in &mut rows {
        let Some(link) = Link::of(start.model, row.owner).filter(|link| link.damping > 0.0) else { continue };
        let resistance = start.force_duration() * start.end_velocity_weight() * link.stiffness + link.damping;
        let closing = rate(start.model, &row.sides, &ws.kinematics.closing, None);
        row.bias -= link.damping / resistance * closing;
    }
    ws.constraints.joint_space_rows = rows;
}

fn has_links(model: &Model) -> bool {
    !model.springs().is_empty() || !model.dampers().is_empty()
}

type End = (BodyId, Vector3<f64>);
type Sides = [Option<Side>; 4];

/// Spring or damper.
#[derive(Clone, Copy)]
struct Link {
    owner: RowOwner,
    a: End,
    b: End,
    stiffness: f64,
    damping: f64,
    /// Length without force; without it the link acts along all axes of the world.
    rest_length: Option<f64>,
}

/// Springs and dampers of a model.
fn links(model: &Model) -> impl Iterator<Item = Link> + '_ {
    let springs = (0..model.springs().len()).map(RowOwner::Spring);
    springs.chain((0..model.dampers().len()).map(RowOwner::Damper)).filter_map(|owner| Link::of(model, owner))
}

impl Link {
    /// Spring or damper of a row; none for rows of joints.
    fn of(model: &Model, owner: RowOwner) -> Option<Self> {
        match owner {
            RowOwner::Joint(_) => None,
            RowOwner::Spring(index) => model.springs().get(index).map(|spring| Self {
                owner,
                a: spring.a,
                b: spring.b,
                stiffness: spring.stiffness,
                damping: spring.damping,
                rest_length: (spring.rest_length > 0.0).then_some(spring.rest_length),
            }),
            RowOwner::Damper(index) => model.dampers().get(index).map(|damper| {
                let (a, b) = (damper.a, damper.b);
                Self { owner, a, b, stiffness: 0.0, damping: damper.damping, rest_length: None }
            }),
        }
    }

    /// Directions along which the link acts, with its extension along each.
    ///
    /// A spring with a rest length but no length has no direction.
    fn lines(&self, model: &Model, at: &Attachment) -> impl Iterator<Item = (Vector3<f64>, f64)> + use<> {
        let between = at.between;
        let along = |rest: f64| between.try_normalize(0.0).map(|unit| (unit, between.norm() - rest));
        let axes = match self.rest_length {
            Some(_) => 0,
            None if model.dimension() == Dimension::Planar => 2,
            None => 3,
        };
        let component = move |axis| (Vector3::ith(axis, 1.0), between[axis]);
        self.rest_length.and_then(along).into_iter().chain((0..axes).map(component))
    }

    /// Direction of a row elsewhere: the line there, in the sense nearer to that of the row, because a spring may pass through its other end.
    fn direction_near(&self, at: &Attachment, direction: &Vector3<f64>) -> Vector3<f64> {
        let unit = self.rest_length.and_then(|_| at.between.try_normalize(0.0));
        unit.map_or(*direction, |unit| if unit.dot(direction) < 0.0 { -unit } else { unit })
    }
}

/// Path of the points of a link along a direction.
#[derive(Clone, Copy)]
struct Path {
    /// Extension where the constraints are linearised.
    extension: f64,
    /// Mean rate by which the path leaves its tangent.   [FORCE-5]
    bend: f64,
    /// Part of the damping that the second kick repeats.   [FORCE-4]
    repeated: f64,
}

/// Finds the damping of all links on each body, Σ c w wᵀ over their unit wrenches w.
fn find_drag(model: &Model, StepKinematics { start: at, drag, .. }: &mut StepKinematics) {
    drag.clear();
    drag.resize(model.bodies().len(), Matrix6::zeros());
    for link in links(model).filter(|link| link.damping > 0.0) {
        let points = Attachment::new(at, &link.a, &link.b);
        for (direction, _) in link.lines(model, &points) {
            for (id, arm) in [(link.a.0, &points.arm_a), (link.b.0, &points.arm_b)] {
                let wrench = as_vector(&Wrench::of_force(direction, arm));
                let of_body = drag.get_mut(id.index()).into_iter();
                of_body.for_each(|total| *total += wrench * wrench.transpose() * link.damping);
            }
        }
    }
}

/// Part θ = 1 − 1/(1 + ζ + ζ²) of the damping of a row that is implicit in the second kick, with ζ = (h/2) times the rate at which all damping
/// slows the motion from an impulse of the row.   [FORCE-4]
fn implicit_part(
    start: &Start,
    kinematics: &StepKinematics,
    link: &Link,
    (points, direction): (&Attachment, &Vector3<f64>),
) -> f64 {
    if start.kick == Kick::Whole || link.damping == 0.0 {
        return 0.0;
    }
    let (mut slowed, mut moved, mut bodies) = (0.0, 0.0, 0.0);
    for (id, arm) in [(link.a.0, &points.arm_a), (link.b.0, &points.arm_b)] {
        let Some((mobility, mass, inertia)) = mass_block(start.model, &kinematics.start, id.index()) else { continue };
        let Some(drag) = kinematics.drag.get(id.index()) else { continue };
        let wrench = Wrench::of_force(*direction, arm);
        let twist = as_vector(&apply_inverse_mass(mobility, mass, &inertia, &wrench));
        slowed += twist.dot(&(drag * twist));
        moved += twist.dot(&as_vector(&wrench));
        bodies += 1.0;
    }
    if moved == 0.0 {
        return 0.0;
    }
    // (x + y)² ≤ 2 x² + 2 y² for links between the same two bodies.
    let slowing = start.force_duration() * bodies * slowed / moved;
    let above = slowing * (1.0 + slowing);
    if above.is_finite() { above / (1.0 + above) } else { 1.0 }
}

fn as_vector(wrench: &Wrench) -> Vector6<f64> {
    let (f, t) = (&wrench.linear, &wrench.angular);
    Vector6::new(f.x, f.y, f.z, t.x, t.y, t.z)
}

/// Points of a link where the constraints are linearised.
struct Ends {
    link: Link,
    at: Attachment,
    /// Prescribed displacement of the second point from the first over the step, divided by h.
    prescribed: Vector3<f64>,
}

impl Ends {
    /// Points of two bodies; none if neither can move.
    fn new(start: &Start, ws: &Workspace, link: Link) -> Option<Self> {
        let _ = start.model.unknowns(link.a.0).or_else(|| start.model.unknowns(link.b.0))?;
        let at = Attachment::new(&ws.kinematics.linear_start, &link.a, &link.b);
        let at_end = Attachment::new(&ws.kinematics.linear_end, &link.a, &link.b);
        Some(Self { link, at, prescribed: (at_end.between - at.between) / start.h })
    }

    /// Sides of the rate along a direction.
    fn sides(&self, start: &Start, ws: &Workspace, direction: &Vector3<f64>) -> Sides {
        let (a, b) = (self.link.a.0, self.link.b.0);
        let mut pair = (Wrench::of_force(-direction, &self.at.arm_a), Wrench::of_force(*direction, &self.at.arm_b));
        if !ws.kinematics.linearisation_velocity.is_empty() && start.scheme.has_common_points() {
            pair = in_balance(start.model, &ws.kinematics.start, (a, b), pair);
        }
        [Some(Side::Wrench(a, pair.0)), Some(Side::Wrench(b, pair.1)), None, None]
    }

    /// Pushes the row along a direction.   [FORCE-3]
    fn push(
        &self,
        (start, ws): (&Start, &Workspace),
        (direction, sides): (Vector3<f64>, Sides),
        Path { extension, bend, repeated }: Path,
        rows: &mut Vec<JointSpaceRow>,
    ) {
        let Link { owner, stiffness, damping, .. } = self.link;
        let (time, w) = (start.force_duration(), start.end_velocity_weight());
        let resistance = time * w * stiffness + damping;
        if resistance == 0.0 {
            return;
        }
        // From where the constraints are linearised back to the start of the step.   [STEP-10]
        let traced = rate(start.model, &sides, &ws.kinematics.linearisation_velocity, None);
        let mut tension = Tension { elastic: stiffness * (extension - start.h * traced), turning: 0.0 };
        if start.kick == Kick::First && damping > 0.0 {
            tension.turning = repeated * damping * self.change_to_middle((start, ws), (&direction, &sides));
        }
        let force = tension.elastic + tension.turning;
        let before = if w < 1.0 { (1.0 - w) * rate(start.model, &sides, &ws.kinematics.before, None) } else { 0.0 };
        let bias = (before + direction.dot(&self.prescribed) + bend) / w + force / (w * resistance);
        let (law, compliance) = (Law::Equality { rows: 1 }, 1.0 / (time * w * resistance));
        rows.push(JointSpaceRow {
            sides,
            law,
            bias,
            compliance,
            rotor: Rotor::default(),
            owner,
            tension,
            closing: None,
        });
    }

    /// Pushes the row of the implicit part of the damping in the second kick.   [FORCE-4]
    fn push_damping(
        &self,
        start: &Start,
        (direction, sides): (Vector3<f64>, Sides),
        damping: f64,
        rows: &mut Vec<JointSpaceRow>,
    ) {
        if damping > 0.0 {
            let (law, owner, tension) = (Law::Equality { rows: 1 }, self.link.owner, Tension::default());
            let (bias, compliance) = (direction.dot(&self.prescribed), 1.0 / (start.force_duration() * damping));
            rows.push(JointSpaceRow {
                sides,
                law,
                bias,
                compliance,
                rotor: Rotor::default(),
                owner,
                tension,
                closing: None,
            });
        }
    }

    /// Rate in the middle of the step less that of the row, both if the bodies keep their velocities: the line and the arms turn.   [STEP-18]
    fn change_to_middle(&self, (start, ws): (&Start, &Workspace), (direction, sides): (&Vector3<f64>, &Sides)) -> f64 {
        let middle = Attachment::new(&ws.kinematics.ahead, &self.link.a, &self.link.b);
        let of_row = rate(start.model, sides, &ws.kinematics.before, None) + direction.dot(&self.prescribed);
        self.link.direction_near(&middle, direction).dot(&middle.relative_velocity) - of_row
    }
}

/// Mean rates by which the points of springs without rest length leave their tangents over the step if the bodies keep their velocities.   [FORCE-5]
///
/// They come in the order of the springs, and there are none without such springs, or if the rows are linearised where the bodies are going.
fn find_bends(start: &Start, ws: &mut Workspace) {
    ws.kinematics.bends.clear();
    let model = start.model;
    let is_pin = |link: &Link| link.rest_length.is_none() && link.stiffness > 0.0;
    if !start.moves() || !ws.kinematics.linearisation_velocity.is_empty() || !links(model).any(|link| is_pin(&link)) {
        return;
    }
    find_ahead(start, ws, start.h);
    let mut bends = std::mem::take(&mut ws.kinematics.bends);
    let of = |link: Link| {
        let ends = Ends::new(start, ws, link).filter(|ends| is_pin(&ends.link));
        ends.map_or_else(Vector3::zeros, |ends| {
            let ahead = Attachment::new(&ws.kinematics.ahead, &link.a, &link.b);
            let mut bend = (ahead.between - ends.at.between) / start.h - ends.prescribed;
            for (direction, _) in link.lines(model, &ends.at) {
                let sides = ends.sides(start, ws, &direction);
                bend -= direction * rate(model, &sides, &ws.kinematics.before, None);
            }
            bend
        })
    };
    bends.extend((0..model.springs().len()).filter_map(|index| Link::of(model, RowOwner::Spring(index))).map(of));
    ws.kinematics.bends = bends;
}

/// Writes the configuration after a time, if the bodies keep their velocities.
pub(crate) fn find_ahead(start: &Start, ws: &mut Workspace, time: f64) {
    let &Start { model, scheme, state, .. } = start;
    let Workspace { reduced, kinematics: StepKinematics { ahead, predicted, ahead_velocity: v, .. }, .. } = ws;
    v.clone_from(&state.v);
    match reduced {
        Some(reduced) => reduced.write_ahead(start, (time, 0.0), (predicted, v)),
        None => model.integrate(&state.q, v, time, scheme.orientation, predicted),
    }
    ahead.update(model, predicted, v, state.time + time);
}
