//! Sites of a robot and frames of its links.
//!
//! A body of a scene has its origin at its centre of mass. So the frame of a link whose centre of mass is elsewhere, and that of a link that is part of
//! another body, become sites with the name of the link.

use nalgebra::{Isometry3, Point3, UnitQuaternion, Vector3};
use stiction_multibody::{Pose, rotation};

use super::{Names, SceneWriter, bodies};
use crate::robot::{description::LinkId, rigid};

impl SceneWriter<'_> {
    pub(super) fn add_sites(&mut self) {
        let robot = self.robot;
        let mut names = Names::default();
        for site in &robot.sites {
            let name = names.unique(&site.name);
            self.add_site(&name, site.link, &site.origin);
        }
        for (index, link) in robot.links.iter().enumerate().skip(1) {
            let is_body_frame = self.own_body(index) && self.centre(index) == Point3::origin();
            if !is_body_frame {
                let name = names.unique(&link.name);
                self.add_site(&name, LinkId(index), &Isometry3::identity());
            }
        }
    }

    /// True if a link has a body of its own, which is not part of another one.
    fn own_body(&self, link: usize) -> bool {
        self.bodies.get(link).is_some_and(Option::is_some)
    }

    /// Centre of mass of the body of a link, in the frame of the link that carries it.
    pub(super) fn centre(&self, carrier: usize) -> Point3<f64> {
        let parts = self.parts.get(carrier).filter(|_| carrier > 0);
        parts.and_then(|parts| rigid::inertial(self.robot, parts)).map_or_else(Point3::origin, |own| own.centre)
    }

    fn add_site(&mut self, name: &str, link: LinkId, origin: &Isometry3<f64>) {
        let carrier = self.carrier(link);
        let in_carrier = self.parts.get(carrier).and_then(|parts| parts.iter().find(|(part, _)| *part == link.0));
        // Links fixed to the world are at their pose, whatever body shows their shapes.
        let mut local = match in_carrier {
            Some((_, at)) if carrier > 0 => at * origin,
            _ => isometry(&self.tree.pose(&self.at, link)) * origin,
        };
        local.translation.vector -= self.centre(carrier).coords;
        let body = self.body_of(link.0).to_owned();
        self.text.entry("site");
        self.text.string("name", name);
        self.text.string("body", &body);
        if local.translation.vector != Vector3::zeros() {
            self.text.numbers("position", local.translation.vector.as_slice());
        }
        if local.rotation != UnitQuaternion::identity() {
            self.text.numbers("orientation", &bodies::quaternion(&local.rotation));
        }
    }
}

fn isometry(pose: &Pose) -> Isometry3<f64> {
    Isometry3::from_parts(pose.translation, rotation::from_matrix(pose.rotation.matrix()))
}
