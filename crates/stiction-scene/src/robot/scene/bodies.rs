//! Links as bodies: links that are fixed to each other are one body.

use nalgebra::{Isometry3, Matrix3, Point3, UnitQuaternion, Vector3};
use stiction_multibody::{Pose, rotation};

use super::{Names, SceneWriter, pair, text};
use crate::{
    SceneError,
    robot::{
        description::{Joint, JointId, JointKind, LinkId, Robot, Shape},
        rigid,
    },
};

/// Name of the body with the shapes of the world.
const GROUND: &str = "ground";

/// Returns the names of the bodies: links that move, and fixed links with shapes.
pub(super) fn names(robot: &Robot, carriers: &[usize], names: &mut Names) -> Vec<Option<String>> {
    let named = |(index, (link, carrier)): (usize, (&super::super::Link, &usize))| {
        let moves = *carrier == index && index > 0;
        let stands = *carrier == 0 && !link.shapes.is_empty();
        (moves || stands).then(|| names.unique(if index == 0 { GROUND } else { &link.name }))
    };
    robot.links.iter().zip(carriers).enumerate().map(named).collect()
}

/// Returns the quaternion of a rotation, with a non-negative first component.
pub(super) fn quaternion(rotation: &UnitQuaternion<f64>) -> [f64; 4] {
    let sign = if rotation.w < 0.0 { -1.0 } else { 1.0 };
    [rotation.w, rotation.i, rotation.j, rotation.k].map(|part| sign * part)
}

impl SceneWriter<'_> {
    pub(super) fn add_bodies(&mut self) -> Result<(), SceneError> {
        for index in 0..self.robot.links.len() {
            let carrier = self.carriers.get(index).copied().unwrap_or(0);
            let Some(name) = self.bodies.get(index).cloned().flatten() else { continue };
            if carrier == 0 {
                self.fixed_body(index, &name)?;
            } else if self.robot.links.get(carrier).is_some_and(|link| link.driven) {
                self.driven_body(index, &name)?;
            } else {
                self.moving_body(index, &name)?;
            }
        }
        Ok(())
    }

    fn fixed_body(&mut self, index: usize, name: &str) -> Result<(), SceneError> {
        let robot = self.robot;
        let Some(link) = robot.links.get(index) else { return Ok(()) };
        let pose = self.tree.pose(&self.at, LinkId(index));
        self.text.entry("body");
        self.text.string("name", name);
        self.text.string("kind", "fixed");
        self.place(&pose, &pose.translation.vector);
        for shape in &link.shapes {
            self.add_shape(shape, &shape.origin)?;
        }
        Ok(())
    }

    /// Writes a link that a program moves, and all links fixed to it: a kinematic body at rest.
    fn driven_body(&mut self, index: usize, name: &str) -> Result<(), SceneError> {
        let pose = self.tree.pose(&self.at, LinkId(index));
        self.text.entry("body");
        self.text.string("name", name);
        self.text.string("kind", "kinematic");
        self.text.key("motion", format!("{{ x = {} }}", text::number(pose.translation.x)));
        self.place(&pose, &pose.translation.vector);
        self.shapes_of(index, &Point3::origin())
    }

    /// Writes the shapes of all links of a body whose origin is at `centre` in its first link.
    fn shapes_of(&mut self, carrier: usize, centre: &Point3<f64>) -> Result<(), SceneError> {
        let robot = self.robot;
        let parts = self.parts.get(carrier).cloned().unwrap_or_default();
        for (link, at) in parts.iter().filter_map(|(link, at)| Some((robot.links.get(*link)?, at))) {
            for shape in &link.shapes {
                let mut local = at * shape.origin;
                local.translation.vector -= centre.coords;
                self.add_shape(shape, &local)?;
            }
        }
        Ok(())
    }

    /// Writes a link with joints, and all links fixed to it.
    fn moving_body(&mut self, index: usize, name: &str) -> Result<(), SceneError> {
        let robot = self.robot;
        let parts = self.parts.get(index).cloned().unwrap_or_default();
        let inertial = rigid::inertial(robot, &parts);
        let pose = self.tree.pose(&self.at, LinkId(index));
        let centre = inertial.map_or_else(Point3::origin, |own| own.centre);
        let twist = self.tree.twist(&self.at, LinkId(index), &(pose * centre));
        self.frames_before(index);
        self.text.entry("body");
        self.text.string("name", name);
        match &inertial {
            Some(own) => {
                self.text.number("mass", own.mass);
                self.text.key("inertia", inertia(&own.inertia));
            }
            None => self.text.string("kind", "frame"),
        }
        self.place(&pose, &(pose * centre).coords);
        self.moving(&twist.linear, &twist.angular);
        self.shapes_of(index, &centre)?;
        let free =
            robot.links.get(index).and_then(|link| link.joints.first()).filter(|joint| joint.kind == JointKind::Free);
        if let Some(joint) = free.filter(|joint| acts(joint)) {
            self.note(format!(
                "joint \"{}\": a free body has no damping, friction, spring or armature here",
                joint.name
            ));
        }
        Ok(())
    }

    /// Writes frames without mass between the joints of one link.
    fn frames_before(&mut self, index: usize) {
        let robot = self.robot;
        let Some(link) = robot.links.get(index) else { return };
        for number in 0..link.joints.len().saturating_sub(1) {
            let id = JointId { link: LinkId(index), joint: number };
            let Some(carried) = self.tree.carried_by(id) else { continue };
            let (pose, twist) = (*self.at.pose(carried), *self.at.twist(carried));
            let name = self.names.unique(&frame_name(robot, id));
            self.text.entry("body");
            self.text.string("name", &name);
            self.text.string("kind", "frame");
            self.place(&pose, &pose.translation.vector);
            self.moving(&twist.linear, &twist.angular);
            self.frames.insert(id, name);
        }
        let above = link.parent.map_or(0, |parent| self.carrier(parent));
        if link.joints.len() > 1 && above > 0 {
            self.apart.insert(pair(above, index));
        }
    }

    fn place(&mut self, pose: &Pose, position: &Vector3<f64>) {
        self.text.numbers("position", position.as_slice());
        let turned = rotation::from_matrix(pose.rotation.matrix());
        if turned != UnitQuaternion::identity() {
            self.text.numbers("orientation", &quaternion(&turned));
        }
    }

    fn moving(&mut self, linear: &Vector3<f64>, angular: &Vector3<f64>) {
        for (key, velocity) in [("velocity", linear), ("angular_velocity", angular)] {
            if *velocity != Vector3::zeros() {
                self.text.numbers(key, velocity.as_slice());
            }
        }
    }

    fn add_shape(&mut self, shape: &Shape, local: &Isometry3<f64>) -> Result<(), SceneError> {
        for written in self.shape_words(shape)? {
            self.text.entry("body.shape");
            self.text.key(written.kind, written.sizes);
            let turned = local.rotation * written.turn;
            if local.translation.vector != Vector3::zeros() {
                self.text.numbers("position", local.translation.vector.as_slice());
            }
            if turned != UnitQuaternion::identity() {
                self.text.numbers("orientation", &quaternion(&turned));
            }
            let [groups, meets] = self.filter(shape);
            for (key, bits) in [("groups", groups), ("meets", meets)] {
                if bits != 1 {
                    self.text.key(key, text::list((0..32).filter(|number| bits >> number & 1 == 1)));
                }
            }
        }
        Ok(())
    }
}

/// Returns the name of the frame behind a joint that is not the last of its link.
fn frame_name(robot: &Robot, id: JointId) -> String {
    let link = robot.links.get(id.link.0).map_or("", |link| link.name.as_str());
    let joint = robot.joint_of(id).map_or("", |joint| joint.name.as_str());
    format!("{link} behind {joint}")
}

/// True if a joint has damping, friction, armature or a spring.
fn acts(joint: &Joint) -> bool {
    [joint.damping, joint.friction, joint.armature, joint.stiffness].iter().any(|value| *value != 0.0)
}

/// Formats the principal moments if the matrix is diagonal, else the matrix by rows.
fn inertia(matrix: &Matrix3<f64>) -> String {
    let symmetric = (matrix + matrix.transpose()) * 0.5;
    let diagonal = symmetric.diagonal();
    if symmetric == Matrix3::from_diagonal(&diagonal) {
        return text::numbers(diagonal.as_slice());
    }
    text::list((0..3).map(|row| text::numbers(symmetric.row(row).transpose().as_slice())))
}
