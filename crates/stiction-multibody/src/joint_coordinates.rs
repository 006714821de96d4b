//! Joint coordinates of a whole model: their names, their places, and bodies placed by them.
//!
//! They are the coordinates of the forest. The coordinate of a joint DOF counts from its `initial` coordinate, so that it is that of the scene or robot file.
//! The coordinates of a free tree are those of its root: position of the centre of mass and quaternion of the body in space, (x, y, angle) in the plane.

use nalgebra::Quaternion;

use crate::{
    JointId, Model, State,
    articulated::{Kinematics, TreeJoint},
    limits,
};

/// Places of the coordinates and velocities of a joint among those of the model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JointPlaces {
    /// Places among the coordinates: one per DOF, or four of a quaternion.
    pub q: Vec<usize>,
    /// Places among the velocities: one per DOF, or three of an angular velocity in axes of the body farther from the root.
    pub v: Vec<usize>,
}

impl Model {
    /// Places of a joint; none for a joint that closes a loop or is on a prescribed body.
    pub fn joint_places(&self, id: JointId) -> Option<JointPlaces> {
        let forest = self.forest();
        let joint = self.joint(id)?;
        let branch = forest.branches.get(id.index())?.as_ref()?;
        let velocities = (0..joint.joint_dofs().len()).map(|dof| forest.velocity_of(id, dof));
        let of_dofs: Option<Vec<usize>> = velocities.collect();
        let of_dofs = of_dofs.filter(|v| !v.is_empty());
        if let Some(v) = of_dofs
            && let Some(q) = v.iter().map(|k| forest.coordinate_of(*k)).collect()
        {
            return Some(JointPlaces { q, v });
        }
        let link = forest.tree().links().get(branch.link.index())?;
        Some(JointPlaces { q: link.coordinates().collect(), v: link.velocities().collect() })
    }

    /// Coordinate at the zero of each coordinate of the forest: `initial` of its joint DOF.
    pub fn joint_offsets(&self) -> Vec<f64> {
        let forest = self.forest();
        let mut offsets = vec![0.0; forest.tree().coordinates()];
        for (id, joint) in self.iter_joints() {
            for (number, dof) in joint.joint_dofs().iter().enumerate() {
                let velocity = forest.velocity_of(id, number);
                let place = velocity.and_then(|velocity| forest.coordinate_of(velocity));
                if let Some(offset) = place.and_then(|place| offsets.get_mut(place)) {
                    *offset = dof.initial;
                }
            }
        }
        offsets
    }

    /// Names of all joint coordinates and of all joint velocities.
    ///
    /// `elbow` for a joint with one, `rail[1]` for the second of several, `wrist.w`, `wrist.x` … for a quaternion and an angular velocity, `base.x` …
    /// `base.qw` … and `base.vx` … `base.wx` … for a free body.
    pub fn joint_coordinate_names(&self) -> (Vec<String>, Vec<String>) {
        let forest = self.forest();
        let mut owners: Vec<&str> = forest.tree().links().iter().map(|link| link.spec().name.as_str()).collect();
        for (joint, link, _) in forest.branches(self) {
            if let Some(owner) = owners.get_mut(link.index()) {
                *owner = &joint.name;
            }
        }
        let (mut q, mut v) = (Vec::new(), Vec::new());
        for (link, owner) in forest.tree().links().iter().zip(owners) {
            let (of_q, of_v) = suffixes(link.joint());
            q.extend(of_q.iter().map(|suffix| format!("{owner}{suffix}")));
            v.extend(of_v.iter().map(|suffix| format!("{owner}{suffix}")));
        }
        debug_assert_eq!(
            (q.len(), v.len()),
            (forest.tree().coordinates(), forest.tree().velocities()),
            "one name for each"
        );
        (q, v)
    }

    /// Normalises the quaternions among coordinates of the forest. Returns the first number of one that is too far from unit length.
    pub fn normalise_forest(&self, q: &mut [f64]) -> Result<(), usize> {
        for link in self.forest().tree().links() {
            let places = link.coordinates();
            let first = match link.joint() {
                TreeJoint::Spherical => places.start,
                TreeJoint::Free => places.start + 3,
                _ => continue,
            };
            let Some([w, x, y, z]) = q.get_mut(first..first + 4) else { continue };
            let norm = Quaternion::new(*w, *x, *y, *z).norm();
            if norm.is_nan() || (norm - 1.0).abs() > limits::QUATERNION_SLACK {
                return Err(first);
            }
            for part in [w, x, y, z] {
                *part /= norm;
            }
        }
        Ok(())
    }

    /// Places all bodies by coordinates and velocities of the forest.   [FOREST-1]
    ///
    /// Joints of the forest hold to the last bit; joints that close loops may open.
    pub fn place_by_forest(&self, state: &mut State, q: &[f64], v: &[f64]) {
        let forest = self.forest();
        let mut at = Kinematics::new(forest.tree());
        at.update(forest.tree(), q, v);
        let mut before = state.q.clone();
        // Poses do not hold full turns, which planar bodies at roots have.
        for (link, body) in forest.tree().links().iter().zip(&forest.bodies) {
            let is_planar_root = link.parent().is_none() && *link.joint() == TreeJoint::Planar;
            let Some(slot) = self.layout().get(body.index()).filter(|_| is_planar_root) else { continue };
            let wanted = q.get(link.coordinates()).and_then(|q| q.last());
            if let (Some(angle), Some(wanted)) = (before.get_mut(slot.q.clone()).and_then(<[f64]>::last_mut), wanted) {
                *angle = *wanted;
            }
        }
        forest.write_coordinates(self, &at, &before, &mut state.q);
        forest.write_velocities(self, &at, at.twists(), &mut state.v);
    }
}

/// Endings of the names of the coordinates and velocities of a tree joint.
fn suffixes(joint: &TreeJoint) -> (Vec<String>, Vec<String>) {
    let fixed = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let numbered = |count: usize| match count {
        1 => vec![String::new()],
        _ => (0..count).map(|k| format!("[{k}]")).collect(),
    };
    match joint {
        TreeJoint::Spherical => (fixed(&[".w", ".x", ".y", ".z"]), fixed(&[".x", ".y", ".z"])),
        TreeJoint::Free => {
            (fixed(&[".x", ".y", ".z", ".qw", ".qx", ".qy", ".qz"]), fixed(&[".vx", ".vy", ".vz", ".wx", ".wy", ".wz"]))
        }
        other => (numbered(other.coordinates()), numbered(other.velocities())),
    }
}
