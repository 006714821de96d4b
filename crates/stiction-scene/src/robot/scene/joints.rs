//! Joints in the format of a scene.

use nalgebra::{Point3, Vector3};

use super::{SceneWriter, pair, text};
use crate::robot::description::{Format, Joint, JointId, JointKind, LinkId};

impl SceneWriter<'_> {
    pub(super) fn add_joints(&mut self) {
        let robot = self.robot;
        let mut first = 0;
        for (id, joint) in robot.joints() {
            let coordinates = self.q.get(first..first + joint.kind.coordinates()).unwrap_or_default().to_vec();
            first += joint.kind.coordinates();
            if joint.kind != JointKind::Free {
                self.add_joint(id, joint, &coordinates);
            }
        }
    }

    fn add_joint(&mut self, id: JointId, joint: &Joint, coordinates: &[f64]) {
        let Some(carried) = self.tree.carried_by(id) else { return };
        let pose = *self.at.pose(carried);
        let between = [self.before(id), self.behind(id)];
        let name = self.joint_names.unique(&joint.name);
        self.text.entry("joint");
        self.text.string("name", &name);
        self.text.string("kind", kind(joint.kind));
        self.text.key("between", text::list(between.iter().map(|name| text::quoted(name))));
        self.text.numbers("anchor", pose.translation.vector.as_slice());
        match joint.kind {
            // The frame of a planar joint has its normal along z.
            JointKind::Planar => self.text.numbers("axis", (pose.rotation * Vector3::z()).as_slice()),
            JointKind::Ball | JointKind::Free => {}
            JointKind::Revolute | JointKind::Prismatic => {
                self.text.numbers("axis", (pose.rotation * *joint.axis).as_slice());
            }
        }
        self.add_joint_dofs(joint, coordinates);
        self.joints.insert(id, name);
        self.limits_without_effect(joint);
    }

    /// Writes friction, damping, spring, armature, coordinate and limits of the DOFs of a joint.
    fn add_joint_dofs(&mut self, joint: &Joint, coordinates: &[f64]) {
        let mut words: Vec<(&str, String)> = Vec::new();
        let is_ball = joint.kind == JointKind::Ball;
        let mut number = |key, value: f64| {
            if value != 0.0 {
                words.push((key, text::number(value)));
            }
        };
        // Dry friction about three axes at once has no law here.
        number("friction", if is_ball { 0.0 } else { joint.friction });
        number("damping", joint.damping);
        number("stiffness", joint.stiffness);
        if joint.stiffness != 0.0 && joint.kind.dof() == 1 {
            number("rest", joint.spring_reference);
        }
        number("armature", joint.armature);
        if let (1, Some(initial)) = (joint.kind.dof(), coordinates.first()) {
            number("reference", *initial);
        }
        if let Some(limits) = joint.limits.filter(|_| joint.kind != JointKind::Planar) {
            words.push(("limits", text::numbers(&limits)));
        }
        if joint.kind == JointKind::Planar {
            if !words.is_empty() {
                let one: Vec<_> = words.iter().map(|(key, value)| format!("{key} = {value}")).collect();
                let one = format!("{{ {} }}", one.join(", "));
                self.text.key("dofs", text::list([&one, &one, &one].into_iter()));
            }
        } else {
            for (key, value) in words {
                self.text.key(key, value);
            }
        }
        if is_ball && joint.friction != 0.0 {
            self.note(format!("joint \"{}\": dry friction of a ball joint", joint.name));
        }
        let turned = is_ball && coordinates.first().is_some_and(|w| w.abs() < 1.0);
        if turned && (joint.limits.is_some() || joint.stiffness != 0.0) {
            self.note(format!("joint \"{}\": its range and its spring count from where it starts", joint.name));
        }
    }

    fn limits_without_effect(&mut self, joint: &Joint) {
        for (what, limit) in [("effort", joint.effort_limit), ("velocity", joint.speed_limit)] {
            if limit.is_some_and(|limit| limit > 0.0) {
                self.note(format!("<limit> {what}: has no effect: nothing drives the joints of a URDF"));
            }
        }
    }

    /// Returns the body in front of a joint: a frame, the body of the parent, or a fixed body.
    fn before(&self, id: JointId) -> String {
        if let Some(number) = id.joint.checked_sub(1) {
            return self.frames.get(&JointId { joint: number, ..id }).cloned().unwrap_or_default();
        }
        let parent = self.robot.links.get(id.link.0).and_then(|link| link.parent).unwrap_or(LinkId(0));
        // In a URDF the first link of an arm does not collide with its base. In MJCF moving bodies may collide with
        // all fixed ones.
        match self.bodies.get(parent.0) {
            Some(Some(name)) if self.robot.format == Format::Urdf && self.carrier(parent) == 0 => name.clone(),
            _ => self.body_of(parent.0).to_owned(),
        }
    }

    /// Returns the body behind a joint: a frame, or the link.
    fn behind(&self, id: JointId) -> String {
        self.frames.get(&id).cloned().unwrap_or_else(|| self.body_of(id.link.0).to_owned())
    }

    /// Returns the position of a point of a link at the start.
    pub(super) fn world_point(&self, link: LinkId, point: &Point3<f64>) -> Point3<f64> {
        self.tree.pose(&self.at, link) * point
    }

    /// Records that a joint of the scene connects two links.
    pub(super) fn join(&mut self, a: LinkId, b: LinkId) {
        let joined = pair(self.carrier(a), self.carrier(b));
        // Fixed links have bodies of their own, which a joint to the world does not connect.
        if joined[0] > 0 {
            self.joined.insert(joined);
        }
    }
}

fn kind(kind: JointKind) -> &'static str {
    match kind {
        JointKind::Revolute => "revolute",
        JointKind::Prismatic => "prismatic",
        JointKind::Ball => "spherical",
        JointKind::Planar | JointKind::Free => "planar",
    }
}
