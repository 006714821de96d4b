//! Warm start of problems with second-order cones: the impulses of the last step.

use nalgebra::Vector3;

use super::{columns, columns::FrictionRows, surfaces};
use crate::{Start, Workspace, reduced};

/// Writes the warm start: last impulses of joints, of persistent contacts, of support points and of cores; zero elsewhere.
pub(super) fn write(start: &Start, ws: &mut Workspace) {
    let (model, state) = (start.model, start.state);
    let joint_blocks = columns::joint_blocks(model, ws);
    let r = &mut ws.cone_guess.r;
    r.clear();
    let joints = reduced::joints_in_problem(model, ws.reduced.as_deref());
    for row in joints.flat_map(|joint| joint.first_row()..joint.first_row() + joint.rows()) {
        r.push(state.joint_impulses.get(row).copied().unwrap_or(0.0));
    }
    let mut memories = state.contacts.iter().peekable();
    for (contact, law) in ws.contacts.iter().zip(ws.cone.laws().iter().skip(joint_blocks)) {
        while memories.next_if(|memory| memory.id < contact.id).is_some() {}
        let first = r.len();
        if let Some(memory) = memories.next_if(|memory| memory.id == contact.id) {
            // The memory holds the sum of layer and core; the core has rows of its own.
            let core = memory.layer.unwrap_or_default();
            let friction = Vector3::from(memory.friction_impulse) - Vector3::from(core.core_friction);
            let (spin, rolling) = (memory.spin_impulse - core.core_spin, Vector3::from(memory.rolling_impulse));
            r.push(memory.normal_impulse - core.core_impulse);
            let rows = FrictionRows::new(contact, law.rows());
            rows.push_impulses((contact, law.rows()), (&friction, spin, &rolling), r);
        }
        r.resize(first + law.rows(), 0.0);
    }
    let laws = ws.cone.laws().iter().skip(joint_blocks + ws.contacts.len());
    for ((support_point, law), before) in ws.support_points.iter().zip(laws).zip(state.support_impulses.chunks_exact(3))
    {
        r.push(start.h * support_point.load);
        r.extend(before.iter().take(law.rows() - 1));
        if let (4, Some(spin)) = (law.rows(), r.last_mut()) {
            *spin /= support_point.torsion;
        }
    }
    surfaces::warm_start_cores(start, &ws.contacts, &ws.surfaces, r);
    debug_assert!(r.len() + ws.joint_space_rows.len() <= ws.cone.rows(), "joint-space rows are the last rows");
    r.resize(ws.cone.rows(), 0.0);
    for r in r {
        *r /= ws.mass_unit;
    }
}
