//! Construction of the forest of a model: the choice of tree joints and of their directions.

#[cfg(test)]
mod tests;

use nalgebra::{Matrix3, Rotation3, Vector3};
use stiction_geometry::{Dimension, Pose};

use crate::{
    BodyId, BodyKind, Forest, Joint, JointId, JointKind, LinkId, Mobility, Model, ModelError,
    articulated::{ElementaryMotion, LinkSpec, Series, TreeBuilder, TreeJoint},
    forest::{Branch, LinkedBody},
    joint::{Constraint, MAX_JOINT_DOFS, Measure},
};

impl Forest {
    /// Builds the forest of a model by breadth-first search, joints in the order of the model: first from the fixed bodies, then
    /// from every body not yet reached.
    pub(crate) fn of_model(model: &Model) -> Result<Self, ModelError> {
        let forest = Self {
            linked_bodies: vec![None; model.bodies().len()],
            branches: vec![None; model.joints().len()],
            ..Self::default()
        };
        let joints = joints_by_body(model);
        let mut search = Search { model, forest, builder: TreeBuilder::new(Vector3::zeros())?, joints };
        let fixed = model.iter_bodies().filter(|(_, body)| matches!(body.kind, BodyKind::Fixed)).map(|(id, _)| id);
        search.expand(fixed.collect())?;
        for (id, body) in model.iter_bodies() {
            let Some(mobility) = body.mobility() else { continue };
            if search.forest.linked_bodies.get(id.index()).is_some_and(Option::is_none) {
                search.add_link(id, None, root_joint(mobility), (Pose::identity(), Pose::identity()))?;
                search.expand(vec![id])?;
            }
        }
        let mut forest = search.forest;
        forest.tree = search.builder.build();
        debug_assert_eq!(forest.bodies.len(), forest.tree.links().len(), "one body per link");
        debug_assert!(
            model
                .bodies()
                .iter()
                .zip(&forest.linked_bodies)
                .all(|(body, linked)| body.mobility().is_some() == linked.is_some()),
            "exactly the dynamic bodies have links"
        );
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
        debug_assert!(link.velocities().contains(&velocity), "velocity {velocity} is one of its own link");
        let place = velocity - link.velocities().start;
        (joint.coordinates() == joint.velocities()).then(|| link.coordinates().start + place)
    }
}

/// Joints of each body.
fn joints_by_body(model: &Model) -> Vec<Vec<JointId>> {
    let mut joints = vec![Vec::new(); model.bodies().len()];
    for (index, joint) in model.joints().iter().enumerate() {
        for body in [joint.a.0, joint.b.0] {
            debug_assert!(body.index() < joints.len(), "joint {index} is on a body of the model");
            if let Some(list) = joints.get_mut(body.index()) {
                list.push(JointId::from_index(index));
            }
        }
    }
    joints
}

/// State of the breadth-first search.
struct Search<'m> {
    model: &'m Model,
    forest: Forest,
    builder: TreeBuilder,
    joints: Vec<Vec<JointId>>,
}

impl Search<'_> {
    /// Adds every body that joints connect to these, directly or through others.
    fn expand(&mut self, mut front: Vec<BodyId>) -> Result<(), ModelError> {
        while !front.is_empty() {
            let mut next = Vec::new();
            for body in front {
                debug_assert!(body.index() < self.joints.len(), "a body of the front is in the model");
                for id in self.joints.get(body.index()).cloned().unwrap_or_default() {
                    next.extend(self.add_branch(id, body)?);
                }
            }
            front = next;
        }
        Ok(())
    }

    /// Adds a joint of the body `from` to the forest; returns its other body if it was not reached before.
    fn add_branch(&mut self, id: JointId, from: BodyId) -> Result<Option<BodyId>, ModelError> {
        let Some(joint) = self.model.joint(id) else {
            debug_assert!(false, "joint {} is not in the model", id.index());
            return Ok(None);
        };
        debug_assert!(joint.a.0 == from || joint.b.0 == from, "the joint is one of the body");
        let reversed = joint.b.0 == from;
        let (near, far) = if reversed { (&joint.b, &joint.a) } else { (&joint.a, &joint.b) };
        let Some(body) = self.model.body(far.0) else {
            debug_assert!(false, "joint {} is on a body of the model", id.index());
            return Ok(None);
        };
        let reached = self.forest.linked_bodies.get(far.0.index()).is_some_and(Option::is_some);
        let (Some(mobility), false) = (body.mobility(), reached) else { return Ok(None) };
        let Some((kind, frame, joint_dofs)) = tree_joint(joint, reversed, mobility, self.model.dimension()) else {
            return Ok(None);
        };
        let parent = self.forest.linked_bodies.get(near.0.index()).copied().flatten();
        let base = match (&parent, self.model.body(near.0)) {
            (Some(linked), _) => linked.in_link,
            (None, Some(fixed)) => Pose::from_parts(fixed.position.into(), fixed.orientation.to_rotation_matrix()),
            (None, None) => {
                debug_assert!(false, "joint {} is on a body of the model", id.index());
                return Ok(None);
            }
        };
        let link =
            self.add_link(far.0, parent.map(|linked| linked.link), kind, (base * near.1 * frame, far.1 * frame))?;
        let first = link.1;
        if let Some(branch) = self.forest.branches.get_mut(id.index()) {
            *branch =
                Some(Branch { link: link.0, velocities: joint_dofs.map(|place| place.map(|place| first + place)) });
        }
        Ok(Some(far.0))
    }

    /// Adds a body as a link, by its joint frame in the frame of its parent and in the body. Returns the link and its first velocity.
    fn add_link(
        &mut self,
        body: BodyId,
        parent: Option<LinkId>,
        joint: TreeJoint,
        (placement, frame): (Pose, Pose),
    ) -> Result<(LinkId, usize), ModelError> {
        debug_assert!(self.forest.linked_bodies.get(body.index()).is_some_and(Option::is_none), "a body is one link");
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
        if let Some(linked) = self.forest.linked_bodies.get_mut(body.index()) {
            *linked = Some(LinkedBody { link, in_link });
        }
        debug_assert_eq!(link.index(), self.forest.bodies.len(), "links and their bodies have one numbering");
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

/// Tree joint of a joint from its first body to its second, or reversed: its kind, a rotation of the joint frames, and the position
/// of each joint DOF among its velocities. None if the joint remains a constraint.   [FOREST-2]
#[allow(clippy::type_complexity)]
fn tree_joint(
    joint: &Joint,
    reversed: bool,
    far: Mobility,
    dimension: Dimension,
) -> Option<(TreeJoint, Pose, [Option<usize>; MAX_JOINT_DOFS])> {
    let sign = if reversed { -1.0 } else { 1.0 };
    let (x, y) = (Vector3::x() * sign, Vector3::y() * sign);
    let plain = |kind, joint_dofs| Some((kind, Pose::identity(), joint_dofs));
    if !far.turns() {
        // The joint of a particle is at its centre, and the particle has no orientation.
        let pinned = joint.constraints.iter().filter(|row| matches!(row, Constraint::Coincide(_))).count();
        return if pinned == far.dof() { plain(TreeJoint::Fixed, [None; 3]) } else { None };
    }
    match (joint.kind, dimension) {
        (JointKind::Revolute, Dimension::Planar) => {
            plain(TreeJoint::Revolute { axis: Vector3::z() * sign }, [Some(0), None, None])
        }
        (JointKind::Revolute, Dimension::Spatial) => plain(TreeJoint::Revolute { axis: x }, [Some(0), None, None]),
        (JointKind::Prismatic, _) => plain(TreeJoint::Prismatic { axis: x }, [Some(0), None, None]),
        (JointKind::Cylindrical, _) => plain(TreeJoint::Cylindrical { axis: x }, [Some(0), Some(1), None]),
        // The inverse of R_x(φ₁) R_y(φ₂) is R_y(−φ₂) R_x(−φ₁).
        (JointKind::Universal, _) if reversed => plain(TreeJoint::Universal { axes: [y, x] }, [Some(1), Some(0), None]),
        (JointKind::Universal, _) => plain(TreeJoint::Universal { axes: [x, y] }, [Some(0), Some(1), None]),
        (JointKind::Spherical, _) => plain(TreeJoint::Spherical, [None; 3]),
        (JointKind::Weld, _) => plain(TreeJoint::Fixed, [None; 3]),
        // Its translations are along the axes of the first body.
        (JointKind::Planar, _) if reversed => None,
        (JointKind::Planar, _) => {
            // The normal of the tree's planar joint is z, that of the model's is x.
            let axes = Matrix3::from_columns(&[Vector3::y(), Vector3::z(), Vector3::x()]);
            let frame = Pose::from_parts(Vector3::zeros().into(), Rotation3::from_matrix_unchecked(axes));
            Some((TreeJoint::Planar, frame, [Some(0), Some(1), Some(2)]))
        }
        _ => {
            let (series, joint_dofs) = series(joint, reversed, dimension)?;
            plain(TreeJoint::Series(series), joint_dofs)
        }
    }
}

/// Series of elementary motions along the joint DOFs, and the position of each joint DOF in it. None if these are not all DOFs, or
/// not translations and rotations.
fn series(joint: &Joint, reversed: bool, dimension: Dimension) -> Option<(Series, [Option<usize>; MAX_JOINT_DOFS])> {
    let count = joint.measures.len();
    if joint.kind.joint_dof(dimension) != Some(count) {
        return None;
    }
    let motion = |measure: &Measure| match *measure {
        Measure::Slide(axis) => Some(ElementaryMotion::Slide(u8::try_from(axis).ok()?)),
        Measure::Turn(axis) => Some(ElementaryMotion::Turn(u8::try_from(axis).ok()?)),
        Measure::FirstTurn => Some(ElementaryMotion::Turn(0)),
        Measure::SecondTurn => Some(ElementaryMotion::Turn(1)),
        Measure::Bend => None,
    };
    let motions: Vec<_> = joint.measures.iter().map(motion).collect::<Option<_>>()?;
    let series = Series::new(motions)?;
    let series = if reversed { series.inverse()? } else { series };
    let place = |number: usize| if reversed { count - 1 - number } else { number };
    Some((series, std::array::from_fn(|number| (number < count).then(|| place(number)))))
}
