//! Joint reactions of the forest over a step.
//!
//! The momentum balance of all links outward of a joint gives the impulse through it: Newton-Euler from the leaves inwards, with the
//! impulses of contacts, loops and joint-space constraints. About the anchor of a joint its rows are perpendicular unit wrenches, so each
//! multiplier is a scalar product. The step itself does not need reactions; they are computed on demand.   [RED-4]

use std::borrow::Cow;

use nalgebra::Vector3;
use stiction_multibody::{BodyId, Configuration, Forest, Joint, Model, Wrench, articulated::inverse_dynamics};

use crate::{
    Contact, ContactImpulse, Workspace,
    rates::Side,
    reduced::{ReactionScratch, Reduced},
    surface,
};

/// Impulses of all joints over the last step, row by row.   [RED-4]
///
/// Those of the problem are taken from the solution. In reduced coordinates the others follow from the momentum balance.
pub fn joint_impulses<'w>(model: &Model, ws: &'w Workspace) -> Cow<'w, [f64]> {
    let mut impulses = Cow::Borrowed(&ws.solution.joint_impulses[..]);
    if ws.solution.balanced_step_size > 0.0 && !ws.result.impact_loads.joints.is_empty() {
        add_impacts(ws, impulses.to_mut());
    }
    if let Some(reduced) = ws.reduced.as_deref().filter(|_| has_reactions(model, ws)) {
        find(model, ws, reduced, &mut ReactionScratch::new(model.forest().tree()), impulses.to_mut());
    }
    impulses
}

/// Adds the impulses of impacts to those of joints with rows.
fn add_impacts(ws: &Workspace, impulses: &mut [f64]) {
    let loads = &ws.result.impact_loads.joints;
    debug_assert!(loads.is_empty() || loads.len() == impulses.len(), "impacts have an impulse for each joint row");
    impulses.iter_mut().zip(&ws.result.impact_loads.joints).for_each(|(sum, p)| *sum += p);
}

/// Writes the impulses of all joints into `ws.solution.joint_impulses`, so that the impulses of substeps can be added.
pub(crate) fn find_reactions(model: &Model, ws: &mut Workspace) {
    if ws.solution.balanced_step_size <= 0.0 {
        return;
    }
    if !has_reactions(model, ws) {
        let mut impulses = std::mem::take(&mut ws.solution.joint_impulses);
        add_impacts(ws, &mut impulses);
        ws.solution.joint_impulses = impulses;
        return;
    }
    let Some(mut reduced) = ws.reduced.take() else { return };
    let mut scratch = reduced.reactions.take().unwrap_or_else(|| Box::new(ReactionScratch::new(model.forest().tree())));
    // The impulses of loops are read while those of the forest are written.
    let mut impulses = std::mem::take(&mut scratch.impulses);
    impulses.clone_from(&ws.solution.joint_impulses);
    add_impacts(ws, &mut impulses);
    find(model, ws, &reduced, &mut scratch, &mut impulses);
    ws.solution.joint_impulses.clone_from(&impulses);
    scratch.impulses = impulses;
    reduced.reactions = Some(scratch);
    ws.reduced = Some(reduced);
}

/// True if joints of the forest have reactions that are not computed yet; those of joined substeps are.
fn has_reactions(model: &Model, ws: &Workspace) -> bool {
    ws.reduced.is_some() && ws.solution.balanced_step_size > 0.0 && model.forest().loops().len() < model.joints().len()
}

fn find(model: &Model, ws: &Workspace, reduced: &Reduced, scratch: &mut ReactionScratch, impulses: &mut [f64]) {
    let (forest, h) = (model.forest(), ws.solution.balanced_step_size);
    let ReactionScratch { loads, acceleration, tau, sweeps, .. } = scratch;
    loads.clone_from(&reduced.forces.external);
    let mut load = |body: BodyId, impulse: &Wrench| add(forest, reduced, loads, body, &impulse.scaled(1.0 / h));
    add_impulses_of_solution(model, ws, &mut load);
    // The velocity change includes the impacts, so their impulses are among the loads.
    let impacts = ws.result.impact_loads.bodies.iter().zip(model.iter_bodies());
    impacts.for_each(|(impulse, (body, _))| load(body, impulse));
    acceleration.clear();
    let change = reduced.velocity.iter().zip(&reduced.initial).map(|(after, before)| (after - before) / h);
    // Half of the velocity terms here acted at the end of the last step.   [ROT-3]
    acceleration.extend(change.zip(reduced.earlier_velocity_terms()).map(|(change, earlier)| change + earlier));
    inverse_dynamics(forest.tree(), &reduced.at, acceleration, loads, sweeps, tau);
    for (joint, link, body) in forest.branches(model) {
        let Some(reaction) = sweeps.joint_wrenches().get(link.index()) else {
            debug_assert!(false, "every link has a joint wrench");
            continue;
        };
        let sign = if body == joint.b.0 { h } else { -h };
        let from = reduced.at.pose(link).translation.vector;
        write_rows(&ws.kinematics.start, impulses, joint, (&reaction.scaled(sign), from));
    }
}

fn add(forest: &Forest, reduced: &Reduced, loads: &mut [Wrench], body: BodyId, force: &Wrench) {
    let Some((link, wrench)) = forest.on_link(&reduced.at, body, force) else { return };
    if let Some(load) = loads.get_mut(link.index()) {
        load.add(&wrench);
    }
}

/// Passes all impulses of the solution on bodies to `add`, except those of the forest's joints and along their DOFs.
pub(crate) fn add_impulses_of_solution(model: &Model, ws: &Workspace, add: &mut impl FnMut(BodyId, &Wrench)) {
    let mut pair = |(a, b): (BodyId, BodyId), (on_a, on_b): (Wrench, Wrench), p: f64| {
        add(a, &on_a.scaled(p));
        add(b, &on_b.scaled(p));
    };
    debug_assert_eq!(ws.constraints.contacts.len(), ws.solution.contact_impulses.len(), "every contact has an impulse");
    debug_assert_eq!(
        ws.constraints.support_points.len(),
        ws.solution.support_impulses.len(),
        "every support point has an impulse"
    );
    debug_assert_eq!(
        ws.constraints.joint_space_rows.len(),
        ws.solution.joint_space_impulses.len(),
        "every joint-space row has an impulse"
    );
    for (index, (contact, impulse)) in ws.constraints.contacts.iter().zip(&ws.solution.contact_impulses).enumerate() {
        let ContactImpulse { normal, friction, spin, rolling, .. } =
            surface::find(&ws.constraints.layer_surfaces, index)
                .map_or(*impulse, |surface| impulse.and(&surface.core_impulse));
        let bodies = (contact.a, contact.b);
        pair(bodies, contact.row(&(contact.normal * normal + friction)), 1.0);
        pair(bodies, contact.spin_row(), spin);
        if contact.friction_options.rolling > 0.0 {
            pair(bodies, Contact::rolling_row(&rolling), 1.0);
        }
    }
    for (support_point, impulse) in ws.constraints.support_points.iter().zip(&ws.solution.support_impulses) {
        pair((support_point.supporting_body, support_point.body), support_point.row(&impulse.friction), 1.0);
        pair((support_point.supporting_body, support_point.body), support_point.spin_row(), impulse.spin);
    }
    for joint in model.forest().loops().iter().filter_map(|&id| model.joint(id)) {
        let rows = ws.constraints.joint_rows.iter().zip(&ws.solution.joint_impulses);
        for (row, p) in rows.skip(joint.first_row()).take(joint.rows()) {
            pair((joint.a.0, joint.b.0), (row.a, row.b), *p);
        }
    }
    for (row, p) in ws.constraints.joint_space_rows.iter().zip(&ws.solution.joint_space_impulses) {
        for side in row.sides.iter().flatten() {
            if let Side::Wrench(body, wrench) = side {
                add(*body, &wrench.scaled(*p));
            }
        }
    }
}

/// Writes the multipliers of a joint that exerts this impulse, about a point in the world, on its second body.   [RED-4]
fn write_rows(at: &Configuration, impulses: &mut [f64], joint: &Joint, (impulse, from): (&Wrench, Vector3<f64>)) {
    let anchor = joint.anchor(at);
    let arm = anchor - at.pose(joint.b.0).translation.vector;
    let torque = impulse.angular + (from - anchor).cross(&impulse.linear);
    let places = impulses.iter_mut().skip(joint.first_row());
    for (place, row) in places.zip(joint.evaluate(at)) {
        let lever = row.b.angular - arm.cross(&row.b.linear);
        *place = row.b.linear.dot(&impulse.linear) + lever.dot(&torque);
    }
}
