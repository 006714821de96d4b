//! State of all bodies of a model from reduced coordinates of its forest, and back.   [FOREST-1]

use nalgebra::Vector3;
use stiction_geometry::Pose;

use crate::{
    BodyId, Configuration, Forest, Joint, LinkId, Mobility, Model, Twist,
    articulated::Kinematics,
    rotation::{from_matrix, unwrap_angle},
};

impl Forest {
    /// Joints of the forest, each with its child link and the body of that link.
    pub fn branches<'m>(&'m self, model: &'m Model) -> impl Iterator<Item = (&'m Joint, LinkId, BodyId)> {
        debug_assert_eq!(self.branches.len(), model.joints().len(), "the forest has one entry per joint");
        let with_branch = model.joints().iter().zip(&self.branches);
        with_branch.filter_map(|(joint, branch)| {
            let link = branch.as_ref()?.link;
            debug_assert!(link.index() < self.bodies.len(), "a branch has a link of the forest");
            Some((joint, link, *self.bodies.get(link.index())?))
        })
    }

    /// Names of all coordinates and of all velocities: `JOINT.q` and `JOINT.v`, with the name of the body at a root.
    ///
    /// Several coordinates or velocities of one joint are numbered.
    pub fn names(&self, model: &Model) -> (Vec<String>, Vec<String>) {
        let mut owners: Vec<&str> = self.tree.links().iter().map(|link| link.spec().name.as_str()).collect();
        for (joint, branch) in model.joints().iter().zip(&self.branches) {
            if let Some(owner) = branch.and_then(|branch| owners.get_mut(branch.link.index())) {
                *owner = &joint.name;
            }
        }
        let numbered = |owner: &str, kind: &str, count: usize| -> Vec<String> {
            let name = |k: usize| if count == 1 { format!("{owner}.{kind}") } else { format!("{owner}.{kind}{k}") };
            (0..count).map(name).collect()
        };
        let (mut q, mut v) = (Vec::new(), Vec::new());
        for (link, owner) in self.tree.links().iter().zip(owners) {
            q.extend(numbered(owner, "q", link.joint().coordinates()));
            v.extend(numbered(owner, "v", link.joint().velocities()));
        }
        debug_assert_eq!((q.len(), v.len()), (self.tree.coordinates(), self.tree.velocities()), "one name for each");
        (q, v)
    }

    /// Velocities of all bodies, as in `State::v`, from the twists of all links.
    pub fn write_velocities(&self, model: &Model, at: &Kinematics, twists: &[Twist], v: &mut Vec<f64>) {
        self.debug_assert_bodies(model);
        debug_assert_eq!(twists.len(), self.tree.links().len(), "one twist per link");
        v.clear();
        v.resize(model.dof(), 0.0);
        for ((body, linked), slot) in model.bodies().iter().zip(&self.linked_bodies).zip(model.layout()) {
            let (Some(mobility), Some(linked), Some(out)) = (body.mobility(), linked, v.get_mut(slot.v.clone())) else {
                debug_assert!(body.mobility().is_none(), "a dynamic body has a link and a slot");
                continue;
            };
            let Some(twist) = twists.get(linked.link.index()) else { continue };
            let linear = twist.at(at.center(linked.link));
            mobility.write_velocities(&Twist { linear, angular: twist.angular }, out);
        }
    }

    /// Coordinates of all bodies, as in `State::q`. Full turns of planar bodies and signs of quaternions are those nearest to `before`.
    pub fn write_coordinates(&self, model: &Model, at: &Kinematics, before: &[f64], q: &mut Vec<f64>) {
        self.debug_assert_bodies(model);
        q.clear();
        q.extend_from_slice(before);
        q.resize(model.coordinates(), 0.0);
        for ((body, linked), slot) in model.bodies().iter().zip(&self.linked_bodies).zip(model.layout()) {
            let (Some(mobility), Some(linked), Some(out)) = (body.mobility(), linked, q.get_mut(slot.q.clone())) else {
                debug_assert!(body.mobility().is_none(), "a dynamic body has a link and a slot");
                continue;
            };
            let pose = at.pose(linked.link) * linked.in_link;
            write_pose(mobility, &pose, out);
        }
    }

    /// Coordinates of the forest from the poses of all bodies; relative motions that a joint does not allow are ignored.
    ///
    /// Angles are those nearest to `before`, unless it is empty.
    pub fn read_coordinates(&self, model: &Model, at: &Configuration, before: &[f64], q: &mut Vec<f64>) {
        q.clear();
        q.resize(self.tree.coordinates(), 0.0);
        for (body, linked) in self.linked_bodies.iter().enumerate() {
            let Some(linked) = linked else { continue };
            let Some(link) = self.tree.links().get(linked.link.index()) else {
                debug_assert!(false, "body {body} has a link outside of the tree");
                continue;
            };
            let parent = link
                .parent()
                .and_then(|parent| self.body_of(parent))
                .map_or_else(Pose::identity, |(body, linked)| at.pose(body) * linked.in_link.inverse());
            let here = at.pose(BodyId::from_index(body)) * linked.in_link.inverse();
            let relative = (parent * link.spec().placement).inverse() * here;
            let Some(out) = q.get_mut(link.coordinates()) else {
                debug_assert!(false, "the coordinates of a link are inside of those of the tree");
                continue;
            };
            link.joint().write_coordinates(&relative, out);
        }
        self.unwrap_angles(model, before, q);
    }

    /// Unwraps the angles of the forest: adds full turns until they are nearest to those before.
    fn unwrap_angles(&self, model: &Model, before: &[f64], q: &mut [f64]) {
        debug_assert_eq!(self.branches.len(), model.joints().len(), "the forest has one entry per joint");
        for (joint, branch) in model.joints().iter().zip(&self.branches) {
            let Some(branch) = branch else { continue };
            for (joint_dof, velocity) in branch.velocities.iter().enumerate() {
                let place = velocity.and_then(|velocity| self.coordinate_of(velocity));
                let Some((place, true)) = place.map(|place| (place, joint.turns(joint_dof))) else { continue };
                if let (Some(q), Some(before)) = (q.get_mut(place), before.get(place)) {
                    *q = unwrap_angle(*q, *before);
                }
            }
        }
    }

    /// Checks in debug builds that the forest is one of this model.
    fn debug_assert_bodies(&self, model: &Model) {
        debug_assert_eq!(self.linked_bodies.len(), model.bodies().len(), "the forest has one entry per body");
        debug_assert_eq!(self.bodies.len(), self.tree.links().len(), "the forest has one body per link");
    }
}

/// Writes the coordinates of a body at a pose; `out` holds its previous coordinates.
fn write_pose(mobility: Mobility, pose: &Pose, out: &mut [f64]) {
    let p: Vector3<f64> = pose.translation.vector;
    let r = pose.rotation.matrix();
    match (mobility, out) {
        (Mobility::PlanarParticle, [x, y]) => (*x, *y) = (p.x, p.y),
        (Mobility::Planar, [x, y, angle]) => {
            (*x, *y, *angle) = (p.x, p.y, unwrap_angle(libm::atan2(r.m21, r.m11), *angle));
        }
        (Mobility::Particle, [x, y, z]) => (*x, *y, *z) = (p.x, p.y, p.z),
        (Mobility::Free, [x, y, z, w, i, j, k]) => {
            (*x, *y, *z) = (p.x, p.y, p.z);
            let now = from_matrix(r);
            let same = now.w * *w + now.i * *i + now.j * *j + now.k * *k;
            let sign = if same < 0.0 { -1.0 } else { 1.0 };
            (*w, *i, *j, *k) = (sign * now.w, sign * now.i, sign * now.j, sign * now.k);
        }
        (_, out) => debug_assert!(false, "{mobility:?} has another number of coordinates than {}", out.len()),
    }
}
