//! Friction directions for linear friction sets: vertices of polygons, or ± the two tangents for boxes in space; ± the tangent in the plane.

use stiction_multibody::Dimension;

use crate::{FrictionSet, Start, SupportPointContact, Workspace, tangents::push_polygon_vertices};

/// Fills `ws.mixed.directions` and writes the ranges of directions and of friction bounds into all contacts and support points.
///
/// A friction bound is a set of directions with one slip speed σ: the whole polygon, or ± one tangent of a box.
pub fn choose(start: &Start, ws: &mut Workspace) {
    choose_for_contacts(start, ws);
    choose_for_support_points(start, ws);
}

/// Friction directions of all contacts: vertices of the polygon, or ends of two segments for a box in space; in the plane both are ± the tangent.
///
/// [FRIC-1] [FRIC-4]
fn choose_for_contacts(start: &Start, ws: &mut Workspace) {
    let &Start { model, scheme, .. } = start;
    ws.mixed.directions.clear();
    let mut bounds = 0;
    for contact in &mut ws.constraints.contacts {
        let first = ws.mixed.directions.len();
        contact.friction_bounds = bounds..bounds;
        if contact.mu > 0.0 {
            let [t, o] = contact.tangents;
            if scheme.friction == FrictionSet::Box && model.dimension() == Dimension::Spatial {
                ws.mixed.directions.extend([t, -t, o, -o]);
                bounds += 2;
            } else {
                let vertices = model.contact_rule(contact.a, contact.b).directions.unwrap_or(scheme.directions);
                push_polygon_vertices(
                    &contact.tangents,
                    vertices as usize,
                    model.dimension(),
                    &mut ws.mixed.directions,
                );
                bounds += 1;
            }
        }
        contact.friction_bounds.end = bounds;
        contact.directions = first..ws.mixed.directions.len();
    }
}

/// Number of friction bounds of all contacts.
pub(super) fn contact_friction_bounds(ws: &Workspace) -> usize {
    ws.constraints.contacts.last().map_or(0, |contact| contact.friction_bounds.end)
}

/// Friction directions of all support points, after those of the contacts.   [SUP-4]
///
/// Support points slide on a horizontal plane, so the polygon is spatial even in planar models.
fn choose_for_support_points(start: &Start, ws: &mut Workspace) {
    let scheme = start.scheme;
    let mut bounds = contact_friction_bounds(ws);
    for support_point in &mut ws.constraints.support_points {
        let first = ws.mixed.directions.len();
        support_point.friction_bounds = bounds..bounds;
        if support_point.mu > 0.0 {
            let [x, y] = SupportPointContact::tangents();
            if scheme.friction == FrictionSet::Box {
                ws.mixed.directions.extend([x, -x, y, -y]);
                bounds += 2;
            } else {
                push_polygon_vertices(
                    &[x, y],
                    scheme.directions as usize,
                    Dimension::Spatial,
                    &mut ws.mixed.directions,
                );
                bounds += 1;
            }
        }
        support_point.friction_bounds.end = bounds;
        support_point.directions = first..ws.mixed.directions.len();
    }
}
