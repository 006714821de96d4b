//! Support points of supported bodies: friction with known normal loads, besides the contacts.   [SUP-4]

use nalgebra::{Point3, Vector3};
use stiction_multibody::{BodyId, ContactMode, Model, SupportPoint, Twist};

use crate::{PrescribedSlip, Start, SupportPointContact, SupportPointReport, Workspace, rates::side_rate};

/// Fills `ws.constraints.support_points` with the support points of the model, in its order.
pub(crate) fn place(start: &Start, ws: &mut Workspace) {
    let mut support_points = std::mem::take(&mut ws.constraints.support_points);
    support_points.clear();
    for (body, support) in start.model.supports() {
        let surface = surface_twist(start, body, support.on, ws);
        let placed = |(index, support_point)| placed((body, index, support_point), support.on, &surface, ws);
        support_points.extend(support.points.iter().enumerate().map(placed));
    }
    ws.constraints.support_points = support_points;
}

fn placed(
    (body, index, support_point): (BodyId, usize, &SupportPoint),
    on: BodyId,
    surface: &Twist,
    ws: &Workspace,
) -> SupportPointContact {
    let pose = ws.kinematics.linear_end.pose(body);
    let arm = pose.rotation * support_point.point;
    let point = pose.translation.vector + arm;
    SupportPointContact {
        body,
        supporting_body: on,
        index,
        point: point.into(),
        arm,
        arm_on: point - ws.kinematics.linear_end.pose(on).translation.vector,
        load: support_point.load,
        mu: support_point.friction,
        torsion: support_point.torsion,
        surface_velocity: -surface.at(&arm),
        surface_spin: -surface.angular.z,
        directions: 0..0,
        friction_bounds: 0..0,
    }
}

/// Prescribed motion of a supporting surface, as a twist about the centre of the body on it.   [SUP-5]
///
/// As a displacement it is that of the surface point below the centre, and the angle, over the step: a body that moves by it keeps its
/// place on the surface.
fn surface_twist(start: &Start, body: BodyId, on: BodyId, ws: &Workspace) -> Twist {
    let &Start { model, scheme, state, h, .. } = start;
    let mut twist = Twist::default();
    let centre = ws.kinematics.start.pose(body).translation.vector;
    if model.kinematic_bodies().contains(&on) {
        let (from, to) = (ws.kinematics.linear_start.pose(on), ws.kinematics.linear_end.pose(on));
        twist = match scheme.prescribed_slip {
            PrescribedSlip::Displacement => {
                let moved = to * (from.inverse() * Point3::from(centre));
                let turn = to.rotation * from.rotation.inverse();
                let angle = libm::atan2(turn[(1, 0)], turn[(0, 0)]);
                Twist { linear: (moved.coords - centre) / h, angular: Vector3::z() * (angle / h) }
            }
            PrescribedSlip::Start => about(&ws.kinematics.linear_start.twist(on), &(centre - from.translation.vector)),
            PrescribedSlip::End => about(&ws.kinematics.linear_end.twist(on), &(centre - to.translation.vector)),
        };
    }
    if let Some(belt) = model.body(on).and_then(|body| body.surface_velocity.as_ref()) {
        // The midpoint gives the displacement of a uniformly accelerated belt exactly.
        twist.linear += Vector3::from_fn(|k, _| belt[k].value(state.time + 0.5 * h));
    }
    twist
}

/// Twist about another point.
fn about(twist: &Twist, arm: &Vector3<f64>) -> Twist {
    Twist { linear: twist.at(arm), angular: twist.angular }
}

/// Fills the reports of the support points and the impulses for the next step.
pub(crate) fn report(start: &Start, ws: &mut Workspace) {
    let (model, scheme) = (start.model, start.scheme);
    ws.result.support_reports.clear();
    debug_assert_eq!(
        ws.constraints.support_points.len(),
        ws.solution.support_impulses.len(),
        "every support point has an impulse"
    );
    for (support_point, impulse) in ws.constraints.support_points.iter().zip(&ws.solution.support_impulses) {
        let slip = relative_velocity(model, support_point, &ws.solution.velocity) + support_point.surface_velocity;
        let spin = relative_spin(model, support_point, &ws.solution.velocity) + support_point.surface_spin;
        let sliding = slip.norm().max(support_point.torsion * spin.abs()) > ws.solution.slip_threshold(scheme);
        ws.result.support_reports.push(SupportPointReport {
            body: support_point.body,
            on: support_point.supporting_body,
            support_point: support_point.index,
            point: support_point.point,
            load: support_point.load,
            slip,
            spin,
            mode: if sliding { ContactMode::Slip } else { ContactMode::Stick },
            friction_impulse: impulse.friction,
            spin_impulse: impulse.spin,
        });
    }
    remember(ws);
}

/// Stores the support impulses for the next step, from the reports.
pub(crate) fn remember(ws: &mut Workspace) {
    ws.result.next.support_impulses.clear();
    let numbers =
        |report: &SupportPointReport| [report.friction_impulse.x, report.friction_impulse.y, report.spin_impulse];
    ws.result.next.support_impulses.extend(ws.result.support_reports.iter().flat_map(numbers));
}

/// Velocity of the support point against the surface along x and y by the velocities `v`, without prescribed motion.
fn relative_velocity(model: &Model, support_point: &SupportPointContact, v: &[f64]) -> Vector3<f64> {
    let along = |d: &Vector3<f64>| {
        let (below, above) = support_point.row(d);
        side_rate(model, v, support_point.supporting_body, &below) + side_rate(model, v, support_point.body, &above)
    };
    let [x, y] = SupportPointContact::tangents();
    x * along(&x) + y * along(&y)
}

/// Angular velocity of the support point against the surface by the velocities `v`, without prescribed motion.
fn relative_spin(model: &Model, support_point: &SupportPointContact, v: &[f64]) -> f64 {
    let (below, above) = support_point.spin_row();
    side_rate(model, v, support_point.supporting_body, &below) + side_rate(model, v, support_point.body, &above)
}
