//! Plants the forest of a model: which joint becomes a branch, and in which direction.

use nalgebra::{Matrix3, Rotation3, Vector3};
use stiction_geometry::{Dimension, Pose};

use super::{Branch, Forest, Leaf};
use crate::{
    BodyId, BodyKind, Joint, JointId, JointKind, LinkId, Mobility, Model, ModelError,
    articulated::{LinkSpec, TreeBuilder, TreeJoint},
};

impl Forest {
    /// The forest of a model: from the fixed bodies outwards, joints in the order of the model; then from every body not yet reached.
    pub(crate) fn plant(model: &Model) -> Result<Self, ModelError> {
        let forest = Self {
            leaves: vec![None; model.bodies().len()],
            branches: vec![None; model.joints().len()],
            ..Self::default()
        };
        let joints = neighbours(model);
        let mut planting = Planting { model, forest, builder: TreeBuilder::new(Vector3::zeros())?, joints };
        let fixed = model.iter_bodies().filter(|(_, body)| matches!(body.kind, BodyKind::Fixed)).map(|(id, _)| id);
        planting.grow(fixed.collect())?;
        for (id, body) in model.iter_bodies() {
            let Some(mobility) = body.mobility() else { continue };
            if planting.forest.leaves.get(id.index()).is_some_and(Option::is_none) {
                planting.link(id, None, root_joint(mobility), (Pose::identity(), Pose::identity()))?;
                planting.grow(vec![id])?;
            }
        }
        let mut forest = planting.forest;
        forest.tree = planting.builder.build();
        let is_loop = |&(_, branch): &(usize, &Option<Branch>)| branch.is_none();
        forest.loops =
            forest.branches.iter().enumerate().filter(is_loop).map(|(i, _)| JointId::from_index(i)).collect();
        forest.floating = model.iter_bodies().map(|(id, _)| forest.is_floating(id)).collect();
        forest.coordinates = (0..forest.tree.velocities()).map(|k| forest.find_coordinate(k)).collect();
        Ok(forest)
    }

    /// See [`Self::floats`].
    fn is_floating(&self, body: BodyId) -> bool {
        let root = self.link(body).and_then(|link| self.tree.path_to_root(link).last());
        root.and_then(|root| self.tree.links().get(root)).is_some_and(|link| *link.joint() == TreeJoint::Free)
    }

    /// See [`Self::coordinate_of`].
    fn find_coordinate(&self, velocity: usize) -> Option<usize> {
        let link = self.tree.links().get(self.tree.link_of(velocity)?.index())?;
        let joint = link.joint();
        let place = velocity - link.velocities().start;
        (joint.coordinates() == joint.velocities()).then(|| link.coordinates().start + place)
    }
}

/// The joints of each body.
fn neighbours(model: &Model) -> Vec<Vec<JointId>> {
    let mut joints = vec![Vec::new(); model.bodies().len()];
    for (index, joint) in model.joints().iter().enumerate() {
        for body in [joint.a.0, joint.b.0] {
            if let Some(list) = joints.get_mut(body.index()) {
                list.push(JointId::from_index(index));
            }
        }
    }
    joints
}

struct Planting<'m> {
    model: &'m Model,
    forest: Forest,
    builder: TreeBuilder,
    joints: Vec<Vec<JointId>>,
}

impl Planting<'_> {
    /// Adds every body that joints lead to from these, and from those, and so on.
    fn grow(&mut self, mut front: Vec<BodyId>) -> Result<(), ModelError> {
        while !front.is_empty() {
            let mut next = Vec::new();
            for body in front {
                for id in self.joints.get(body.index()).cloned().unwrap_or_default() {
                    next.extend(self.branch(id, body)?);
                }
            }
            front = next;
        }
        Ok(())
    }

    /// Makes a joint a branch from `from` outwards; returns the body it leads to, if it was not reached before.
    fn branch(&mut self, id: JointId, from: BodyId) -> Result<Option<BodyId>, ModelError> {
        let Some(joint) = self.model.joint(id) else { return Ok(None) };
        let reversed = joint.b.0 == from;
        let (near, far) = if reversed { (&joint.b, &joint.a) } else { (&joint.a, &joint.b) };
        let Some(body) = self.model.body(far.0) else { return Ok(None) };
        let reached = self.forest.leaves.get(far.0.index()).is_some_and(Option::is_some);
        let (Some(mobility), false) = (body.mobility(), reached) else { return Ok(None) };
        let Some((kind, frame, joint_dofs)) = tree_joint(joint, reversed, mobility, self.model.dimension()) else {
            return Ok(None);
        };
        let parent = self.forest.leaves.get(near.0.index()).copied().flatten();
        let base = match (&parent, self.model.body(near.0)) {
            (Some(leaf), _) => leaf.in_link,
            (None, Some(fixed)) => Pose::from_parts(fixed.position.into(), fixed.orientation.to_rotation_matrix()),
            (None, None) => return Ok(None),
        };
        let link = self.link(far.0, parent.map(|leaf| leaf.link), kind, (base * near.1 * frame, far.1 * frame))?;
        let first = link.1;
        if let Some(branch) = self.forest.branches.get_mut(id.index()) {
            *branch =
                Some(Branch { link: link.0, velocities: joint_dofs.map(|place| place.map(|place| first + place)) });
        }
        Ok(Some(far.0))
    }

    /// Adds a body as a link: its joint frame in its parent's frame, and the same frame in the body. Returns it and its first velocity.
    fn link(
        &mut self,
        body: BodyId,
        parent: Option<LinkId>,
        joint: TreeJoint,
        (placement, frame): (Pose, Pose),
    ) -> Result<(LinkId, usize), ModelError> {
        let in_link = frame.inverse();
        let (mut mass, mut inertia, mut name) = (0.0, Matrix3::zeros(), String::new());
        if let Some(body) = self.model.body(body) {
            name.clone_from(&body.name);
            if let BodyKind::Dynamic { mass: m, inertia: i, .. } = &body.kind {
                let r = in_link.rotation.matrix();
                (mass, inertia) = (*m, r * i * r.transpose());
            }
        }
        let spec = LinkSpec { parent, placement, ..LinkSpec::new(name, joint) };
        let velocities = joint.velocities();
        let link = self.builder.link(spec.with_mass(mass, in_link.translation.vector, inertia))?;
        if let Some(leaf) = self.forest.leaves.get_mut(body.index()) {
            *leaf = Some(Leaf { link, in_link });
        }
        self.forest.bodies.push(body);
        Ok((link, self.builder.velocities() - velocities))
    }
}

fn root_joint(mobility: Mobility) -> TreeJoint {
    match mobility {
        Mobility::PlanarParticle => TreeJoint::PlanarTranslational,
        Mobility::Planar => TreeJoint::Planar,
        Mobility::Particle => TreeJoint::Translational,
        Mobility::Free => TreeJoint::Free,
    }
}

/// The tree joint of a joint that leads from its first body to its second, or back: its kind, a turn of the joint frames, and the place of
/// each freedom among its velocities. None where the joint has to stay a constraint.   [FOREST-2]
#[allow(clippy::type_complexity)]
fn tree_joint(
    joint: &Joint,
    reversed: bool,
    far: Mobility,
    dimension: Dimension,
) -> Option<(TreeJoint, Pose, [Option<usize>; 3])> {
    let sign = if reversed { -1.0 } else { 1.0 };
    let (x, y) = (Vector3::x() * sign, Vector3::y() * sign);
    let plain = |kind, joint_dofs| Some((kind, Pose::identity(), joint_dofs));
    if !far.turns() {
        // A particle is joined at its centre and has no angle.
        let pinned = matches!(joint.kind, JointKind::Revolute | JointKind::Spherical | JointKind::Universal);
        return if pinned { plain(TreeJoint::Fixed, [None; 3]) } else { None };
    }
    match (joint.kind, dimension) {
        (JointKind::Revolute, Dimension::Planar) => {
            plain(TreeJoint::Revolute { axis: Vector3::z() * sign }, [Some(0), None, None])
        }
        (JointKind::Revolute, Dimension::Spatial) => plain(TreeJoint::Revolute { axis: x }, [Some(0), None, None]),
        (JointKind::Prismatic, _) => plain(TreeJoint::Prismatic { axis: x }, [Some(0), None, None]),
        (JointKind::Cylindrical, _) => plain(TreeJoint::Cylindrical { axis: x }, [Some(0), Some(1), None]),
        // R_x(φ₁) R_y(φ₂) turned round is R_y(−φ₂) R_x(−φ₁).
        (JointKind::Universal, _) if reversed => plain(TreeJoint::Universal { axes: [y, x] }, [Some(1), Some(0), None]),
        (JointKind::Universal, _) => plain(TreeJoint::Universal { axes: [x, y] }, [Some(0), Some(1), None]),
        (JointKind::Spherical, _) => plain(TreeJoint::Spherical, [None; 3]),
        (JointKind::Weld, _) => plain(TreeJoint::Fixed, [None; 3]),
        // Its slides are along the axes of the first body.
        (JointKind::Planar, _) if reversed => None,
        (JointKind::Planar, _) => {
            // The tree's planar joint has z for its normal, the model's has x.
            let axes = Matrix3::from_columns(&[Vector3::y(), Vector3::z(), Vector3::x()]);
            let frame = Pose::from_parts(Vector3::zeros().into(), Rotation3::from_matrix_unchecked(axes));
            Some((TreeJoint::Planar, frame, [Some(0), Some(1), Some(2)]))
        }
        (JointKind::Distance(_), _) => None,
    }
}
