//! Isolated linkages: bodies that joints connect to each other and to nothing fixed or prescribed. No joint changes their momentum.

use nalgebra::{Matrix3, Vector3};
use stiction_multibody::{BodyId, Configuration, Dimension, Mobility, Model, Wrench, mass_block};

/// Eigenvalue of an inertia, as a fraction of its trace, that is zero by rounding: particles on a line have no inertia about it.
const NO_INERTIA: f64 = 1e-12;

/// Isolated linkages of a model.
pub(super) struct Linkages {
    /// Linkage of each body; none if a joint chain connects it to a fixed or prescribed body.
    of_body: Vec<Option<usize>>,
    count: usize,
}

/// Mass, centre, inertia about the centre and momentum of a linkage.
#[derive(Clone)]
pub(super) struct LinkageMomentum {
    mass: f64,
    center: Vector3<f64>,
    inertia: Matrix3<f64>,
    linear: Vector3<f64>,
    /// About the origin of the world.
    angular: Vector3<f64>,
}

impl Linkages {
    /// Finds the isolated linkages of a model.
    pub(super) fn of(model: &Model) -> Self {
        let count = model.bodies().len();
        // The place after the last body stands for all fixed and prescribed bodies.
        let place = |id: BodyId| if model.unknowns(id).is_some() { id.index() } else { count };
        let mut parents: Vec<usize> = (0..=count).collect();
        for joint in model.joints() {
            let [a, b] = [joint.a.0, joint.b.0].map(|id| root(&mut parents, place(id)));
            // The last place stays a root.
            if let Some(parent) = parents.get_mut(a.min(b)) {
                *parent = a.max(b);
            }
        }
        let fixed = root(&mut parents, count);
        let (mut numbers, mut found) = (vec![None; count + 1], 0);
        let of_body = model.iter_bodies().map(|(id, _)| {
            let root = root(&mut parents, place(id));
            let number = numbers.get_mut(root).filter(|_| root != fixed)?;
            if number.is_none() {
                *number = Some(found);
                found += 1;
            }
            *number
        });
        let of_body: Vec<_> = of_body.collect();
        Self { of_body, count: found }
    }

    /// Momentum of each linkage.
    pub(super) fn momenta(&self, model: &Model, at: &Configuration) -> Vec<LinkageMomentum> {
        let zero = Vector3::zeros();
        let none = LinkageMomentum { mass: 0.0, center: zero, inertia: Matrix3::zeros(), linear: zero, angular: zero };
        let mut all = vec![none; self.count];
        let bodies = || {
            let blocks = model.iter_bodies().enumerate().zip(&self.of_body);
            blocks.filter_map(|((index, (id, _)), linkage)| Some((id, (*linkage)?, mass_block(model, at, index)?)))
        };
        for (id, linkage, (mobility, mass, inertia)) in bodies() {
            let Some(total) = all.get_mut(linkage) else { continue };
            let (position, twist) = (at.pose(id).translation.vector, at.twist(id));
            total.mass += mass;
            total.center += position * mass;
            total.linear += twist.linear * mass;
            total.angular += position.cross(&twist.linear) * mass + of_rotation(mobility, &inertia) * twist.angular;
        }
        for total in all.iter_mut().filter(|total| total.mass > 0.0) {
            total.center /= total.mass;
        }
        for (id, linkage, (mobility, mass, inertia)) in bodies() {
            let Some(total) = all.get_mut(linkage) else { continue };
            let arm = at.pose(id).translation.vector - total.center;
            total.inertia += of_rotation(mobility, &inertia);
            total.inertia += (Matrix3::from_diagonal_element(arm.norm_squared()) - arm * arm.transpose()) * mass;
        }
        all
    }

    /// Velocities of the bodies in the rigid motions that give the linkages the momenta `wanted`.
    ///
    /// A rigid motion is orthogonal, in the norm of the masses, to all motions without momentum. So this change of velocity is that of least kinetic
    /// energy.
    pub(super) fn rigid_motion(&self, model: &Model, at: &Configuration, wanted: &[LinkageMomentum]) -> Vec<f64> {
        let motions = self.momenta(model, at).into_iter().zip(wanted).map(|(present, wanted)| {
            let linear = wanted.linear - present.linear;
            let mut angular = wanted.angular - present.angular - present.center.cross(&linear);
            let mut inertia = present.inertia;
            if model.dimension() == Dimension::Planar {
                (angular.x, angular.y) = (0.0, 0.0);
                inertia = Matrix3::from_diagonal(&Vector3::new(0.0, 0.0, inertia.m33));
            }
            let inverse = inertia.pseudo_inverse(NO_INERTIA * inertia.trace()).unwrap_or_default();
            let velocity = if present.mass > 0.0 { linear / present.mass } else { Vector3::zeros() };
            (present.center, velocity, inverse * angular)
        });
        let motions: Vec<_> = motions.collect();
        let mut change = vec![0.0; model.dof()];
        for ((id, _), linkage) in model.iter_bodies().zip(&self.of_body) {
            let motion = linkage.and_then(|linkage| motions.get(linkage));
            let (Some((center, velocity, angular)), Some((mobility, range))) = (motion, model.unknowns(id)) else {
                continue;
            };
            let linear = velocity + angular.cross(&(at.pose(id).translation.vector - center));
            let velocities = mobility.project(&Wrench { linear, angular: *angular });
            change.get_mut(range).into_iter().flatten().zip(velocities).for_each(|(v, change)| *v = change);
        }
        change
    }
}

/// Inertia of a body against its rotations.
fn of_rotation(mobility: Mobility, inertia: &Matrix3<f64>) -> Matrix3<f64> {
    match mobility {
        Mobility::Free => *inertia,
        Mobility::Planar => Matrix3::from_diagonal(&Vector3::new(0.0, 0.0, inertia.m33)),
        Mobility::PlanarParticle | Mobility::Particle => Matrix3::zeros(),
    }
}

/// Root of a set of connected places.
fn root(parents: &mut [usize], mut place: usize) -> usize {
    while let Some(&parent) = parents.get(place).filter(|parent| **parent != place) {
        let above = parents.get(parent).copied().unwrap_or(parent);
        parents.get_mut(place).into_iter().for_each(|parent| *parent = above);
        place = parent;
    }
    place
}
