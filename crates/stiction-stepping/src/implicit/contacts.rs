//! Contacts and support points that move with the bodies in the iterations of Newton's method.

use nalgebra::{Unit, Vector3};
use stiction_geometry::{
    ContactPoint, FeatureContact, FeaturePair, Pose,
    implicit::{self, Closest, Convex, Sensitivity},
};
use stiction_multibody::{Configuration, ShapeOnBody};

use crate::{
    Contact, Start, SupportPointContact, Workspace, rates::linearised_start_gap, surface_motion::write_surface_motion,
    tangents::tangents,
};

/// Geometry that defines the place of a contact.
#[derive(Clone, Copy, Debug)]
pub(super) enum ContactGeometry {
    /// Two features, which have their contact in closed form.   [MEET-1]
    Features(FeaturePair),
    /// Two smooth shapes: their closest points, as they were found last.   [IMP-4]
    Smooth(Closest),
}

/// Data by which a contact is tracked from iterate to iterate.
#[derive(Clone, Copy, Debug)]
pub(super) struct TrackedContact {
    pub(super) geometry: ContactGeometry,
    /// Constant of the normal row if restitution asks for a higher speed than the gap. The row is then n · v⁺ + rebound.   [IMPACT-1]
    pub(super) rebound: Option<f64>,
}

/// Largest distance of the closest points from the contact that was found, relative to 1 m plus the length of its arms. Farther points
/// belong to another contact.
const SAME_CONTACT: f64 = 1e-6;

impl TrackedContact {
    /// Geometry of a contact of the linearised problem; none if it cannot be tracked.
    pub(super) fn new(
        start: &Start,
        (contact, by_closest_points): (&Contact, bool),
        ws: &Workspace,
        scratch: &mut implicit::Scratch,
    ) -> Option<Self> {
        let placed = Placed::new(start, contact, &ws.kinematics.linear_end)?;
        let point = ContactPoint {
            feature: contact.id.feature,
            point_a: (ws.kinematics.linear_end.pose(contact.a).translation.vector + contact.arm_a).into(),
            point_b: contact.point,
            normal: Unit::new_unchecked(contact.normal),
            gap: contact.gap_end,
            normal_is_unique: true,
            chain: 0,
        };
        let (a, b) = ((&placed.a.shape, &placed.pose_a), (&placed.b.shape, &placed.pose_b));
        let features = if by_closest_points { None } else { FeaturePair::new(a, b, &point) };
        let geometry = if let Some(pair) = features {
            ContactGeometry::Features(pair)
        } else {
            let closest = placed.closest(None, scratch)?;
            let size = 1.0 + contact.arm_a.norm() + contact.arm_b.norm();
            let off = (closest.point_b - point.point_b).norm().max((closest.gap - point.gap).abs());
            if off > SAME_CONTACT * size {
                // One of several contacts, as of a cylinder on its end. The error is of second order, and the next passes correct it.
                ContactGeometry::Features(FeaturePair::carried(a, b, &point))
            } else {
                ContactGeometry::Smooth(closest)
            }
        };
        let asked = linearised_start_gap(start.model, contact, &ws.kinematics.linearisation_velocity, start.h)
            + contact.gap_end
            - contact.gap_start;
        let rebound = (contact.layer.is_none() && contact.bias < asked / start.h).then_some(contact.bias);
        Some(Self { geometry, rebound })
    }

    /// Moves a contact to its place at a configuration.
    pub(super) fn place(
        &mut self,
        start: &Start,
        at: &Configuration,
        ws: &Workspace,
        (contact, scratch): (&mut Contact, &mut implicit::Scratch),
    ) {
        let Some(placed) = Placed::new(start, contact, at) else {
            debug_assert!(false, "the shapes of a contact exist");
            return;
        };
        let point = match &mut self.geometry {
            ContactGeometry::Features(pair) => pair.at(&placed.pose_a, &placed.pose_b),
            ContactGeometry::Smooth(closest) => {
                let Some(found) = placed.closest(Some(closest), scratch) else {
                    debug_assert!(false, "a contact by closest points is between convex shapes");
                    return;
                };
                *closest = found;
                let Closest { point_a, point_b, normal, gap, .. } = found;
                FeatureContact { point_a, point_b, normal: normal.into_inner(), gap }
            }
        };
        write_place(start, at, ws, contact, &point);
    }

    /// Derivative of the contact with respect to the poses of its bodies, at a configuration where it has been placed. It is zero where two flat faces
    /// touch, because it is not defined there.
    pub(super) fn sensitivity(&self, start: &Start, at: &Configuration, contact: &Contact) -> Sensitivity {
        let Some(placed) = Placed::new(start, contact, at) else { return Sensitivity::default() };
        match &self.geometry {
            ContactGeometry::Features(pair) => {
                let point = pair.at(&placed.pose_a, &placed.pose_b);
                pair.sensitivity(&placed.pose_a, &placed.pose_b, &point)
            }
            ContactGeometry::Smooth(closest) => placed.sensitivity(closest).unwrap_or_default(),
        }
    }
}

/// Writes the place of a contact at a configuration, and all that depends on it.
pub(super) fn write_place(
    start: &Start,
    at: &Configuration,
    ws: &Workspace,
    contact: &mut Contact,
    point: &FeatureContact,
) {
    contact.point = point.point_b;
    contact.arm_a = point.point_a.coords - at.pose(contact.a).translation.vector;
    contact.arm_b = point.point_b.coords - at.pose(contact.b).translation.vector;
    contact.normal = point.normal;
    contact.gap_end = point.gap;
    let rule = start.model.contact_rule(contact.a, contact.b);
    contact.tangents = tangents(&contact.normal, rule, start.model.dimension(), at);
    write_surface_motion(start, (contact, None), ws);
}

/// The two shapes of a contact at a configuration.
pub(super) struct Placed<'a> {
    pub(super) a: &'a ShapeOnBody,
    pub(super) b: &'a ShapeOnBody,
    pub(super) pose_a: Pose,
    pub(super) pose_b: Pose,
}

impl<'a> Placed<'a> {
    pub(super) fn new(start: &Start<'a>, contact: &Contact, at: &Configuration) -> Option<Self> {
        let shape = |index: usize| start.model.shape(index).map(|(_, _, shape)| shape);
        let (a, b) = (shape(contact.id.shape_a.index())?, shape(contact.id.shape_b.index())?);
        Some(Self { a, b, pose_a: at.pose(contact.a) * a.local, pose_b: at.pose(contact.b) * b.local })
    }

    fn convex(&self) -> Option<[(&Convex, &Pose); 2]> {
        Some([(self.a.convex()?, &self.pose_a), (self.b.convex()?, &self.pose_b)])
    }

    fn closest(&self, warm: Option<&Closest>, scratch: &mut implicit::Scratch) -> Option<Closest> {
        let [a, b] = self.convex()?;
        Some(implicit::closest(a, b, warm, scratch))
    }

    fn sensitivity(&self, closest: &Closest) -> Option<Sensitivity> {
        let [a, b] = self.convex()?;
        implicit::sensitivity(a, b, closest)
    }
}

/// Moves a support point with its body. The motion of the surface below is that of a rigid body.   [SUP-5]
pub(super) fn place_support_point(start: &Start, at: &Configuration, support_point: &mut SupportPointContact) {
    let Some(support) =
        start.model.supports().find(|(body, _)| *body == support_point.body).map(|(_, support)| support)
    else {
        debug_assert!(false, "the body of a support point has a support");
        return;
    };
    let Some(local) = support.points.get(support_point.index) else {
        debug_assert!(false, "support point {} exists", support_point.index);
        return;
    };
    let pose = at.pose(support_point.body);
    let arm = pose.rotation * local.point;
    let spin = Vector3::z() * support_point.surface_spin;
    support_point.surface_velocity += spin.cross(&(arm - support_point.arm));
    support_point.arm = arm;
    support_point.point = (pose.translation.vector + arm).into();
    support_point.arm_on = support_point.point.coords - at.pose(support_point.supporting_body).translation.vector;
}
