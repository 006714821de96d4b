//! Contacts and feet that go with the bodies while Newton's method looks for the end of the step.

use nalgebra::Vector3;
use stiction_geometry::{ContactPoint, Meeting, Sensitivity};
use stiction_multibody::{Configuration, ShapeOnBody};

use crate::{Contact, FootContact, Start, Workspace, detect::surface_motion, rows::gap_now, tangents::tangents};

/// What is known of a contact besides its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Followed {
    meeting: Meeting,
    /// The constant of the normal row where the contact has to leave faster than its gap asks: then n · v⁺ + rebound counts.   [IMPACT-1]
    pub(super) rebound: Option<f64>,
}

impl Followed {
    /// The features of a contact of the linearised problem; none where they cannot be followed.
    pub(super) fn new(start: &Start, contact: &Contact, ws: &Workspace) -> Option<Self> {
        let (shape_a, shape_b) = shapes(start, contact)?;
        let pose_a = ws.linear_end.pose(contact.a);
        let point = ContactPoint {
            feature: contact.id.feature,
            point_a: (pose_a.translation.vector + contact.arm_a).into(),
            point_b: contact.point,
            normal: nalgebra::Unit::new_unchecked(contact.normal),
            gap: contact.gap_end,
            normal_is_unique: true,
            chain: 0,
        };
        let (pose_a, pose_b) = (pose_a * shape_a.local, ws.linear_end.pose(contact.b) * shape_b.local);
        let meeting = Meeting::new((&shape_a.shape, &pose_a), (&shape_b.shape, &pose_b), &point)?;
        let asked = gap_now(start.model, contact, &ws.lookahead, start.h) + contact.gap_end - contact.gap_start;
        let rebound = (contact.bias < asked / start.h).then_some(contact.bias);
        Some(Self { meeting, rebound })
    }

    /// Moves a contact to where its features are at a configuration.
    pub(super) fn place(&self, start: &Start, at: &Configuration, ws: &Workspace, contact: &mut Contact) {
        let Some((shape_a, shape_b)) = shapes(start, contact) else { return };
        let (pose_a, pose_b) = (at.pose(contact.a), at.pose(contact.b));
        let point = self.meeting.at(&(pose_a * shape_a.local), &(pose_b * shape_b.local));
        contact.point = point.point_b;
        contact.arm_a = point.point_a.coords - pose_a.translation.vector;
        contact.arm_b = point.point_b.coords - pose_b.translation.vector;
        contact.normal = point.normal;
        contact.gap_end = point.gap;
        let rule = start.model.contact_rule(contact.a, contact.b);
        contact.tangents = tangents(&contact.normal, rule, start.model.dimension(), at);
        surface_motion(start, contact, ws);
    }

    /// How the contact moves with its bodies, at a configuration where it has been placed.
    pub(super) fn sensitivity(&self, start: &Start, at: &Configuration, contact: &Contact) -> Sensitivity {
        let Some((shape_a, shape_b)) = shapes(start, contact) else { return Sensitivity::default() };
        let (pose_a, pose_b) = (at.pose(contact.a) * shape_a.local, at.pose(contact.b) * shape_b.local);
        self.meeting.sensitivity(&pose_a, &pose_b, &self.meeting.at(&pose_a, &pose_b))
    }
}

fn shapes<'a>(start: &Start<'a>, contact: &Contact) -> Option<(&'a ShapeOnBody, &'a ShapeOnBody)> {
    let shape = |index: usize| start.model.shape(index).map(|(_, _, shape)| shape);
    Some((shape(contact.id.shape_a.index())?, shape(contact.id.shape_b.index())?))
}

/// Moves a foot to where its body is; the motion of the surface below is that of a rigid body.   [SUP-5]
pub(super) fn place_foot(start: &Start, at: &Configuration, foot: &mut FootContact) {
    let Some(support) = start.model.supports().find(|(body, _)| *body == foot.body).map(|(_, support)| support) else {
        return;
    };
    let Some(local) = support.feet.get(foot.index) else { return };
    let pose = at.pose(foot.body);
    let arm = pose.rotation * local.point;
    let spin = Vector3::z() * foot.surface_spin;
    foot.surface_velocity += spin.cross(&(arm - foot.arm));
    foot.arm = arm;
    foot.point = (pose.translation.vector + arm).into();
    foot.arm_on = foot.point.coords - at.pose(foot.on).translation.vector;
}
