//! Constraints that close loops, as joints of the scene.

use nalgebra::{Isometry3, Point3};
use stiction_multibody::Pose;

use super::{SceneWriter, text};
use crate::robot::{
    description::{ConstraintKind, LinkId},
    tree::pose_of,
};

/// Distance below which two points or frames coincide, relative to their distance from the origin.
const CLOSED: f64 = 1e-12;
/// Angle between the frames of a weld above which a note is written, rad.
const ALIGNED: f64 = 1e-6;

impl SceneWriter<'_> {
    pub(super) fn add_loops(&mut self) {
        let robot = self.robot;
        for (number, constraint) in robot.constraints.iter().enumerate() {
            let name = constraint.name.clone().unwrap_or_else(|| format!("loop {number}"));
            let links = match &constraint.kind {
                ConstraintKind::Connect { links, .. } | ConstraintKind::Weld { links, .. } => *links,
                ConstraintKind::Couple { .. } => continue,
            };
            if !constraint.active {
                self.note(format!("constraint \"{name}\": is not active, and left out"));
            } else if self.carrier(links[0]) == self.carrier(links[1]) {
                self.note(format!("constraint \"{name}\": has no effect on parts that are fixed to each other"));
            } else {
                self.add_loop(&name, links, &constraint.kind);
            }
        }
    }

    fn add_loop(&mut self, name: &str, links: [LinkId; 2], kind: &ConstraintKind) {
        let [a, b] = links;
        let (kind, [first, second]) = match kind {
            ConstraintKind::Connect { anchors: [of_a, of_b], .. } => {
                let of_a = of_a.unwrap_or_default();
                let of_b = of_b.unwrap_or_else(|| self.at_reference(a, b) * of_a);
                ("spherical", [self.world_point(a, &of_a), self.world_point(b, &of_b)])
            }
            ConstraintKind::Weld { frames, .. } => {
                let [of_a, of_b] = match frames {
                    Some([of_a, of_b]) => [pose_of(of_a), pose_of(of_b)],
                    None => [Pose::identity(), self.at_reference(a, b)],
                };
                let [first, second] = [self.tree.pose(&self.at, a) * of_a, self.tree.pose(&self.at, b) * of_b];
                if first.rotation.angle_to(&second.rotation) > ALIGNED {
                    self.note(format!(
                        "constraint \"{name}\": the bodies keep the angles of the start, which differ from its own"
                    ));
                }
                ("weld", [first, second].map(|frame| Point3::from(frame.translation.vector)))
            }
            ConstraintKind::Couple { .. } => return,
        };
        let name = self.joint_names.unique(name);
        let between = [self.body_of(a.0), self.body_of(b.0)].map(text::quoted);
        self.text.entry("joint");
        self.text.string("name", &name);
        self.text.string("kind", kind);
        self.text.key("between", text::list(between.iter()));
        if (second - first).norm() <= CLOSED * (1.0 + first.coords.norm()) {
            self.text.numbers("anchor", first.coords.as_slice());
        } else {
            let points = [first, second].map(|point| text::numbers(point.coords.as_slice()));
            self.text.key("anchors", text::list(points.iter()));
        }
        self.join(a, b);
    }

    /// Returns the frame of link a in the frame of link b, with every link at its origin.
    fn at_reference(&self, a: LinkId, b: LinkId) -> Pose {
        let links = &self.robot.links;
        let in_world = |link: LinkId| {
            let above = std::iter::successors(Some(link), |id| links.get(id.0).and_then(|link| link.parent));
            above.filter_map(|id| links.get(id.0)).fold(Isometry3::identity(), |below, link| link.origin * below)
        };
        pose_of(&(in_world(b).inverse() * in_world(a)))
    }
}
