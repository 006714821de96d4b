//! The constraint or body of the worst row of a problem.

use stiction_complementarity::Residual;
use stiction_multibody::{BodyId, Model};

use super::{columns, contradictions, polygon_joint_space};
use crate::{
    Contact, Culprit, RowMeaning, SupportPointContact, Workspace,
    constraints::Source,
    rates::{JointSpaceRow, RowOwner},
};

/// Name of a contact; empty if there is none.
pub(crate) fn name_contact(model: &Model, contact: Option<&Contact>) -> String {
    contact.map_or_else(String::new, |contact| of_contact(contact).name(model))
}

/// Name of the joint of a joint row.
pub(crate) fn name_joint(model: &Model, row: usize) -> String {
    let joint = model.joints().iter().rposition(|joint| joint.first_row() <= row);
    Culprit::Joint(joint.unwrap_or(usize::MAX)).name(model)
}

/// Name of the constraint or body of the worst row of the problem in the workspace.
pub(super) fn name_worst(model: &Model, ws: &Workspace, residual: &Residual) -> String {
    worst(model, ws, residual).map_or_else(String::new, |culprit| culprit.name(model))
}

/// Constraint or body of the worst row of the problem in the workspace.
pub(crate) fn worst(model: &Model, ws: &Workspace, residual: &Residual) -> Option<Culprit> {
    if ws.is_friction_problem { worst_block(ws, residual.row) } else { worst_row(model, ws, residual.row) }
}

fn of_contact(contact: &Contact) -> Culprit {
    Culprit::Contact(contact.a, contact.b)
}

fn of_support_point(support_point: &SupportPointContact) -> Culprit {
    Culprit::SupportPoint(support_point.body, support_point.index)
}

fn of_joint_space(row: &JointSpaceRow) -> Culprit {
    match row.owner {
        RowOwner::Joint(follower) if contradictions::is_coupling(row) => Culprit::Coupling(follower),
        owner => Culprit::JointSpace(owner),
    }
}

/// Joint, or joint-space constraint, of a joint row of the problem.
fn of_joint_row(model: &Model, ws: &Workspace, row: usize) -> Option<Culprit> {
    let mut rest = row;
    for joint in columns::joints(model, ws) {
        if rest < joint.rows() {
            let index = model.joints().iter().position(|other| std::ptr::eq(other, joint));
            return index.map(Culprit::Joint);
        }
        rest -= joint.rows();
    }
    polygon_joint_space::joint_space_of(ws, RowMeaning::Joint(row)).map(of_joint_space)
}

/// Body, joint, joint-space constraint, contact or support point of a row of the mixed problem.
fn worst_row(model: &Model, ws: &Workspace, row: usize) -> Option<Culprit> {
    let meaning = ws.mixed.layout.meaning(row);
    if let Some(joint_space) = polygon_joint_space::joint_space_of(ws, meaning) {
        return Some(of_joint_space(joint_space));
    }
    let (contacts, support_points) = (&ws.constraints.contacts, &ws.constraints.support_points);
    match meaning {
        RowMeaning::Momentum(row) => {
            let ids = || model.iter_bodies().map(|(id, _)| id);
            let body: Option<BodyId> = if ws.reduced.is_some() {
                let tree = model.forest().tree();
                let link = tree.link_of(row).and_then(|id| tree.links().get(id.index()));
                link.and_then(|link| model.find_body(&link.spec().name))
            } else {
                let slot = model.layout().iter().position(|slot| slot.v.contains(&row));
                slot.and_then(|slot| ids().nth(slot))
            };
            body.map(Culprit::Body)
        }
        RowMeaning::Joint(row) => of_joint_row(model, ws, row),
        RowMeaning::Limit(_) => None,
        RowMeaning::Normal(index) => contacts.get(index).map(of_contact),
        RowMeaning::Friction(row) => {
            let support_point = support_points.iter().find(|support_point| support_point.directions.contains(&row));
            let contact = contacts.iter().find(|contact| contact.directions.contains(&row));
            support_point.map(of_support_point).or_else(|| contact.map(of_contact))
        }
        RowMeaning::FrictionBound(bound) => {
            let support_point =
                support_points.iter().find(|support_point| support_point.friction_bounds.contains(&bound));
            let contact = contacts.iter().find(|contact| contact.friction_bounds.contains(&bound));
            support_point.map(of_support_point).or_else(|| contact.map(of_contact))
        }
    }
}

/// Joint, joint-space constraint, contact or support point of a row of the frictional problem.
fn worst_block(ws: &Workspace, row: usize) -> Option<Culprit> {
    let (problem, constraints) = (&ws.friction.problem, &ws.constraints);
    let block = (0..problem.blocks()).find(|&block| problem.range(block).contains(&row)).unwrap_or(0);
    match constraints.blocks.get(block)?.source {
        Source::Joint(joint) => Some(Culprit::Joint(joint)),
        Source::Contact(contact) | Source::Core { contact, .. } => constraints.contacts.get(contact).map(of_contact),
        Source::SupportPoint(index) => constraints.support_points.get(index).map(of_support_point),
        Source::JointSpace(row) => constraints.joint_space_rows.get(row).map(of_joint_space),
    }
}
