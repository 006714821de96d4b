//! Placement of a state by hand: a joint is moved to a coordinate, or a body to a pose, and the bodies beyond follow.

use nalgebra::{Rotation3, Translation3, UnitQuaternion, Vector3};
use stiction_geometry::Pose;

use crate::{
    BodyId, Configuration, Element, JointDofId, JointId, JointKind, Mobility, Model, ModelError, State, Twist,
    check::Check,
    rotation::{from_matrix, from_rotation_vector, quaternion_of, unwrap_angle},
};

impl Model {
    /// Moves a joint DOF to a coordinate. Bodies on the side of the joint that is farther from the root of the tree move along, and keep their motion
    /// relative to one another. Joints that close loops are not kept closed.
    ///
    /// On error nothing changes. Joints that close loops, joints on prescribed bodies and spherical joints are refused.
    pub fn move_joint(&self, state: &mut State, id: JointDofId, coordinate: f64) -> Result<(), ModelError> {
        let joint =
            self.joint(id.0).ok_or_else(|| ModelError::new(Element::Model, "joint", "belongs to another model"))?;
        let check = Check::new(Element::Joint(joint.name.clone()));
        let at = self.configuration_of(state);
        let child = self.child_of(&check, id.0)?;
        let Some(row) = joint.coordinate(id.1, &at) else {
            let count = joint.joint_dofs().len();
            return Err(
                check.error("dofs", format!("there is no DOF {}: a {} joint has {count}", id.1, joint.kind.name()))
            );
        };
        if joint.kind == JointKind::Spherical {
            let reason =
                "of a spherical joint is an angle without an axis; give the bodies beyond it another orientation";
            return Err(check.error("initial", reason));
        }
        let place = self.joint_space_dofs().iter().position(|known| *known == id);
        let before = place.and_then(|place| state.angles.get(place)).copied();
        let now = before.filter(|_| joint.turns(id.1)).map_or(row.value, |before| unwrap_angle(row.value, before));
        let change = coordinate - now;
        let moved = if child == joint.b.0 { change } else { -change };
        let motion = if joint.turns(id.1) {
            let pivot = Translation3::from(joint.anchor(&at));
            let turned = from_rotation_vector(&(row.b.angular * moved)).to_rotation_matrix();
            pivot * Pose::from_parts(Translation3::identity(), turned) * pivot.inverse()
        } else {
            Pose::from_parts((row.b.linear * moved).into(), Rotation3::identity())
        };
        let turn = row.b.angular.z * if joint.turns(id.1) { moved } else { 0.0 };
        self.move_tree(state, &at, child, (&motion, turn));
        let of_forest = self.forest.velocity_of(id.0, id.1).and_then(|velocity| self.forest.coordinate_of(velocity));
        if let Some(q) = of_forest.and_then(|place| state.forest_q.get_mut(place)) {
            *q += change;
        }
        if let Some(angle) = place.and_then(|place| state.angles.get_mut(place)) {
            *angle = coordinate;
        }
        Ok(())
    }

    /// Moves a body to the pose of the coordinates `q` of this body, and all bodies beyond it in its tree along.
    ///
    /// The joint between the body and the root may open.
    pub fn move_body(&self, state: &mut State, body: BodyId, q: &[f64]) {
        let (Some(slot), Some((mobility, _))) = (self.layout.get(body.index()), self.unknowns(body)) else { return };
        let at = self.configuration_of(state);
        let mut next = state.q.clone();
        if let Some(place) = next.get_mut(slot.q.clone()) {
            place.iter_mut().zip(q).for_each(|(x, q)| *x = *q);
        }
        let mut end = Configuration::default();
        end.update(self, &next, &state.v, state.time);
        let motion = end.pose(body) * at.pose(body).inverse();
        let angle = |q: &[f64]| if mobility == Mobility::Planar { q.get(slot.q.start + 2).copied() } else { None };
        let turn = angle(&next).zip(angle(&state.q)).map_or(0.0, |(after, before)| after - before);
        self.move_tree(state, &at, body, (&motion, turn));
        if let (Some(place), Some(own)) = (state.q.get_mut(slot.q.clone()), next.get(slot.q.clone())) {
            place.copy_from_slice(own);
        }
    }

    fn configuration_of(&self, state: &State) -> Configuration {
        let mut at = Configuration::default();
        at.update(self, &state.q, &state.v, state.time);
        at
    }

    /// Body that a joint of the forest connects to the root.
    fn child_of(&self, check: &Check, id: JointId) -> Result<BodyId, ModelError> {
        let branch = self.forest.branches.get(id.index()).copied().flatten();
        branch.and_then(|branch| self.forest.bodies.get(branch.link.index())).copied().ok_or_else(|| {
            let reason = "is that of a joint that closes a loop or is on a prescribed body: its coordinate follows from the others; set that of another joint";
            check.error("initial", reason)
        })
    }

    /// Moves a body and all beyond it by a rigid motion. Their velocities relative to the body in front turn along.
    fn move_tree(&self, state: &mut State, at: &Configuration, first: BodyId, (motion, turn): (&Pose, f64)) {
        let (tree, Some(root)) = (self.forest.tree(), self.forest.link(first)) else { return };
        let front = tree.links().get(root.index()).and_then(crate::articulated::Link::parent);
        let front = front.and_then(|link| self.forest.bodies.get(link)).copied().unwrap_or(BodyId::WORLD);
        let (carrier, origin) = (at.twist(front), at.pose(front).translation.vector);
        for (id, _) in self.iter_bodies() {
            let beyond = self.forest.link(id).is_some_and(|link| tree.path_to_root(link).any(|i| i == root.index()));
            let (true, Some((mobility, v)), Some(slot)) = (beyond, self.unknowns(id), self.layout.get(id.index()))
            else {
                continue;
            };
            let before = at.pose(id);
            let after = motion * before;
            let relative = at.twist(id).linear - carrier.at(&(before.translation.vector - origin));
            let twist = Twist {
                linear: carrier.at(&(after.translation.vector - origin)) + motion.rotation * relative,
                angular: carrier.angular + motion.rotation * (at.twist(id).angular - carrier.angular),
            };
            if let Some(q) = state.q.get_mut(slot.q.clone()) {
                write_moved(mobility, &after.translation.vector, (motion, turn), q);
            }
            if let Some(v) = state.v.get_mut(v) {
                mobility.write_velocities(&twist, v);
            }
        }
    }
}

/// Writes the coordinates of a body after a rigid motion: its position, and its orientation turned.
fn write_moved(mobility: Mobility, position: &Vector3<f64>, (motion, turn): (&Pose, f64), q: &mut [f64]) {
    let count = if mobility == Mobility::Planar { 2 } else { 3 };
    q.iter_mut().zip(position.iter()).take(count).for_each(|(q, x)| *q = *x);
    match (mobility, q) {
        (Mobility::Planar, [_, _, angle]) => *angle += turn,
        (Mobility::Free, q) => {
            let turned: UnitQuaternion<f64> = from_matrix(motion.rotation.matrix()) * quaternion_of(q);
            [turned.w, turned.i, turned.j, turned.k].iter().zip(q.iter_mut().skip(3)).for_each(|(e, q)| *q = *e);
        }
        _ => {}
    }
}
