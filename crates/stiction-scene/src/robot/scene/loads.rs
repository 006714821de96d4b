//! Forces that balance the weight of links.

use nalgebra::Vector3;

use super::SceneWriter;
use crate::robot::tree::GRAVITY;

impl SceneWriter<'_> {
    pub(super) fn add_loads(&mut self) {
        let robot = self.robot;
        let gravity = robot.gravity.unwrap_or(GRAVITY);
        for (index, link) in robot.links.iter().enumerate().filter(|(_, link)| link.gravity_compensation != 0.0) {
            let carrier = self.carriers.get(index).copied().unwrap_or(0);
            let moves = robot.links.get(carrier).is_some_and(|link| !link.joints.is_empty());
            let at = self.parts.get(carrier).and_then(|parts| parts.iter().find(|(part, _)| *part == index));
            let (true, Some((_, at)), Some(own)) = (moves, at, &link.inertial) else { continue };
            let point = at * own.centre - self.centre(carrier);
            let body = self.body_of(index).to_owned();
            self.text.entry("load");
            self.text.string("body", &body);
            if point != Vector3::zeros() {
                self.text.numbers("point", point.as_slice());
            }
            self.text.numbers("force", (gravity * (-own.mass * link.gravity_compensation)).as_slice());
        }
    }
}
