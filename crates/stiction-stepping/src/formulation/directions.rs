//! Friction directions for linear friction sets: vertices of polygons, or ± the two tangents for boxes.

use stiction_multibody::Dimension;

use crate::{FrictionSet, Start, SupportPointContact, Workspace, tangents::push_polygon_vertices};

/// Fills `ws.directions` and the ranges of directions and cones of all contacts and support points.
pub(crate) fn choose(start: &Start, ws: &mut Workspace) {
    choose_for_contacts(start, ws);
    choose_for_support_points(start, ws);
}

/// Friction directions of all contacts: vertices of the polygon, or two segments for a box.   [FRIC-1] [FRIC-4]
fn choose_for_contacts(start: &Start, ws: &mut Workspace) {
    let &Start { model, scheme, .. } = start;
    ws.directions.clear();
    let mut cones = 0;
    for contact in &mut ws.contacts {
        let first = ws.directions.len();
        contact.cones = cones..cones;
        if contact.mu > 0.0 {
            let [t, o] = contact.tangents;
            if scheme.friction == FrictionSet::Box && model.dimension() == Dimension::Spatial {
                ws.directions.extend([t, -t, o, -o]);
                cones += 2;
            } else {
                let vertices = model.contact_rule(contact.a, contact.b).directions.unwrap_or(scheme.directions);
                push_polygon_vertices(&contact.tangents, vertices as usize, model.dimension(), &mut ws.directions);
                cones += 1;
            }
        }
        contact.cones.end = cones;
        contact.directions = first..ws.directions.len();
    }
}

/// Number of friction cones of all contacts.
pub(super) fn contact_cones(ws: &Workspace) -> usize {
    ws.contacts.last().map_or(0, |contact| contact.cones.end)
}

/// Friction directions of all support points, after those of the contacts.   [SUP-4]
///
/// Support points slide on a horizontal plane, so the polygon is spatial even in planar models.
fn choose_for_support_points(start: &Start, ws: &mut Workspace) {
    let scheme = start.scheme;
    let mut cones = contact_cones(ws);
    for support_point in &mut ws.support_points {
        let first = ws.directions.len();
        support_point.cones = cones..cones;
        if support_point.mu > 0.0 {
            let [x, y] = SupportPointContact::tangents();
            if scheme.friction == FrictionSet::Box {
                ws.directions.extend([x, -x, y, -y]);
                cones += 2;
            } else {
                push_polygon_vertices(&[x, y], scheme.directions as usize, Dimension::Spatial, &mut ws.directions);
                cones += 1;
            }
        }
        support_point.cones.end = cones;
        support_point.directions = first..ws.directions.len();
    }
}
