//! Energies and rigid motions of linkages with loops.   [ROT-6]

use nalgebra::{Matrix3, Vector3};
use stiction_multibody::{BodyId, Configuration, Dimension, Joint, Model, mass_block};

/// Largest factor on the relative motion of a linkage; of a larger loss the rest stays, as for trees.
const MOST_GAIN: f64 = 1.05;

/// Eigenvalue of an inertia, as a fraction of its trace, that is zero by rounding: particles on a line have no inertia about it.
const NO_INERTIA: f64 = 1e-12;

/// Linkage with loops: the bodies that joints connect, not through the ground.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Linkage {
    /// Work of the impulses of its loops, J.
    pub(crate) work: f64,
    /// True if a joint connects it to a fixed body.
    on_ground: bool,
    /// True if a joint connects it to a prescribed body: its energy is not known.
    driven: bool,
    /// True if errors of a loop close at the closing speed: its velocity will be removed.   [STAB-10]
    pub(crate) closing: bool,
    /// Energy without the work of the loops, J.
    pub(crate) wanted: f64,
    /// Change of the relative motion, as a fraction.
    pub(crate) scaling: f64,
    mass: f64,
    pub(crate) center: Vector3<f64>,
    linear: Vector3<f64>,
    /// About the origin of the world.
    angular: Vector3<f64>,
    inertia: Matrix3<f64>,
    /// Kinetic energy, and that of the motion with locked joints.
    pub(crate) kinetic: f64,
    rigid: f64,
    pub(crate) velocity: Vector3<f64>,
    pub(crate) rotation: Vector3<f64>,
}

/// Linkages with loops: scratch memory.
#[derive(Debug, Default)]
pub(crate) struct LoopEnergies {
    /// Root of the linkage of each body, in a forest of sets.
    parents: Vec<usize>,
    pub(crate) linkages: Vec<Linkage>,
    pub(crate) turn: Vec<f64>,
    pub(crate) forest: Vec<f64>,
    pub(crate) change: Vec<f64>,
    pub(crate) configuration: Configuration,
    /// Energy that was taken from the last step, J.
    pub(crate) taken: f64,
}

impl LoopEnergies {
    /// True if the work of the impulses of a joint was taken back in the last step.
    pub(crate) fn has_taken(&self, joint: &Joint) -> bool {
        let of = |id: BodyId| self.linkages.get(self.root(id)).is_some_and(|linkage| linkage.scaling != 0.0);
        self.taken != 0.0 && [joint.a.0, joint.b.0].into_iter().any(of)
    }

    /// Finds the sets of bodies that joints connect, not through fixed or prescribed bodies.
    pub(crate) fn find_linkages(&mut self, model: &Model) {
        let count = model.bodies().len();
        self.parents.clear();
        self.parents.extend(0..count);
        self.linkages.clear();
        self.linkages.resize(count, Linkage::default());
        let moves = |id: BodyId| model.unknowns(id).is_some();
        for joint in model.joints() {
            let (a, b) = (joint.a.0, joint.b.0);
            if moves(a) && moves(b) {
                let [a, b] = [a, b].map(|id| self.root(id));
                self.parents.get_mut(a).into_iter().for_each(|parent| *parent = b);
            }
        }
        for joint in model.joints() {
            let sides = [joint.a.0, joint.b.0];
            let (Some(inside), Some(outside)) =
                (sides.into_iter().find(|id| moves(*id)), sides.into_iter().find(|id| !moves(*id)))
            else {
                continue;
            };
            let place = self.root(inside);
            let is_prescribed = model.kinematic_bodies().contains(&outside);
            if let Some(linkage) = self.linkages.get_mut(place) {
                linkage.on_ground = true;
                linkage.driven |= is_prescribed;
            }
        }
    }

    /// Root of the set of a body.
    pub(crate) fn root(&self, id: BodyId) -> usize {
        let mut place = id.index();
        while let Some(&parent) = self.parents.get(place).filter(|parent| **parent != place) {
            place = parent;
        }
        place
    }

    /// Finds mass, momentum, energy and rigid motion of each linkage whose loops have done work.
    pub(crate) fn find_motion(&mut self, model: &Model, at: &Configuration) {
        for linkage in &mut self.linkages {
            let Linkage { work, on_ground, driven, closing, wanted, .. } = *linkage;
            *linkage = Linkage { work, on_ground, driven, closing, wanted, ..Linkage::default() };
        }
        for id in model.iter_bodies().map(|(id, _)| id).filter(|id| model.unknowns(*id).is_some()) {
            let place = self.root(id);
            let Some((_, mass, inertia)) = mass_block(model, at, id.index()) else { continue };
            let Some(linkage) = self.linkages.get_mut(place).filter(|linkage| linkage.work != 0.0) else { continue };
            let (position, twist) = (at.pose(id).translation.vector, at.twist(id));
            linkage.kinetic +=
                0.5 * (mass * twist.linear.norm_squared() + twist.angular.dot(&(inertia * twist.angular)));
            linkage.mass += mass;
            linkage.center += position * mass;
            linkage.linear += twist.linear * mass;
            linkage.angular += position.cross(&twist.linear) * mass + inertia * twist.angular;
            linkage.inertia += inertia
                + (Matrix3::from_diagonal_element(position.norm_squared()) - position * position.transpose()) * mass;
        }
        for linkage in self.linkages.iter_mut().filter(|linkage| linkage.mass > 0.0 && !linkage.on_ground) {
            linkage.center /= linkage.mass;
            let center = linkage.center;
            let mut inertia = linkage.inertia
                - (Matrix3::from_diagonal_element(center.norm_squared()) - center * center.transpose()) * linkage.mass;
            let mut angular = linkage.angular - center.cross(&linkage.linear);
            if model.dimension() == Dimension::Planar {
                inertia = Matrix3::from_diagonal(&Vector3::new(0.0, 0.0, inertia.m33));
                (angular.x, angular.y) = (0.0, 0.0);
            }
            linkage.velocity = linkage.linear / linkage.mass;
            let inverse = inertia.pseudo_inverse(NO_INERTIA * inertia.trace()).unwrap_or_default();
            linkage.rotation = inverse * angular;
            linkage.rigid = 0.5 * (linkage.linear.dot(&linkage.velocity) + angular.dot(&linkage.rotation));
        }
    }

    /// Finds the factors on the relative motion of the chosen linkages; returns the energy that they take.
    pub(crate) fn find_scalings(&mut self, chosen: impl Fn(&Linkage) -> bool) -> f64 {
        let mut taken = 0.0;
        for linkage in &mut self.linkages {
            let relative = linkage.kinetic - linkage.rigid;
            linkage.scaling = 0.0;
            if linkage.work == 0.0 || linkage.driven || relative <= 0.0 || !chosen(linkage) {
                continue;
            }
            let wanted = (linkage.wanted - linkage.rigid).max(0.0);
            // What closes at the closing speed takes part in no exchange: its energy only falls.
            let most = if linkage.closing { 1.0 } else { MOST_GAIN };
            let factor = (wanted / relative).sqrt().min(most);
            taken += relative * (1.0 - factor * factor);
            linkage.scaling = factor - 1.0;
        }
        taken
    }
}
