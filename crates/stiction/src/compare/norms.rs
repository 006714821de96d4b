//! Distance between two trajectories: the norms of OUT-2, over the union of their step times.

use nalgebra::{Quaternion, UnitQuaternion, Vector3};
use serde::{Deserialize, Serialize};
use stiction_multibody::{Mobility, Model, rotation};

use super::trajectory::{Between, Trajectory, turn_between};

/// Distance of a trajectory from another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Errors {
    /// ∫ ‖v − v′‖∞ dt over all velocity components, m and rad.   [COMPARE-2]
    pub velocity: f64,
    /// sup ‖q ⊖ q′‖∞ over positions and orientations, m and rad.   [COMPARE-4]
    pub position: f64,
    /// Largest angle between the displacements of a body in the two, start to end, rad; none if no body moved.   [COMPARE-5]
    pub heading: Option<f64>,
}

/// Displacements below this fraction of the longest one, or below this length (m), define no heading.
const STANDING: (f64, f64) = (1e-3, 1e-9);

impl Errors {
    /// Computes the distance of two trajectories with the same initial state, up to `until` or the end of the shorter one.
    pub fn between(model: &Model, a: &Trajectory, b: &Trajectory, until: f64) -> Self {
        let until = until.min(a.end()).min(b.end());
        let mut walk = Walk { model, a, b, at: (1, 1), qa: Vec::new(), qb: Vec::new() };
        let mut errors = Self::default();
        let mut time = a.time(0).unwrap_or(0.0).max(b.time(0).unwrap_or(0.0));
        while time < until {
            let Some(next) = walk.next_time() else { break };
            let next = next.min(until);
            errors.velocity += walk.velocity_integral(time, next);
            errors.position = errors.position.max(walk.position_difference(next));
            walk.pass(next);
            time = next;
        }
        errors.heading = heading(model, [a.q(0), &walk.qa], [b.q(0), &walk.qb]);
        errors
    }
}

/// Two trajectories traversed together, from one step end of either to the next.
struct Walk<'m> {
    model: &'m Model,
    a: &'m Trajectory,
    b: &'m Trajectory,
    /// Samples that end the current steps.
    at: (usize, usize),
    qa: Vec<f64>,
    qb: Vec<f64>,
}

impl Walk<'_> {
    fn next_time(&self) -> Option<f64> {
        Some(self.a.time(self.at.0)?.min(self.b.time(self.at.1)?))
    }

    /// ∫ ‖v − v′‖∞ dt within the current steps. It is exact for piecewise constant velocities.
    /// Otherwise it uses the trapezoidal rule on quarters of the interval.   [COMPARE-2]
    fn velocity_integral(&self, from: f64, to: f64) -> f64 {
        if self.a.between() == Between::Held && self.b.between() == Between::Held {
            return (to - from) * self.velocity_difference(to);
        }
        let quarter = (to - from) / 4.0;
        let [v0, v1, v2, v3] = [0.0, 1.0, 2.0, 3.0].map(|k| self.velocity_difference(from + k * quarter));
        quarter * (0.5 * v0 + v1 + v2 + v3 + 0.5 * self.velocity_difference(to))
    }

    /// ‖v − v′‖∞ at a time within the current steps.   [COMPARE-2]
    fn velocity_difference(&self, time: f64) -> f64 {
        let pairs = self.a.velocity_at(self.at.0, time).zip(self.b.velocity_at(self.at.1, time));
        pairs.fold(0.0, |most, (a, b)| most.max((a - b).abs()))
    }

    /// ‖q ⊖ q′‖∞ at a time within the current steps.   [COMPARE-4]
    fn position_difference(&mut self, time: f64) -> f64 {
        self.a.position_at(self.model, self.at.0, time, &mut self.qa);
        self.b.position_at(self.model, self.at.1, time, &mut self.qb);
        difference(self.model, &self.qa, &self.qb)
    }

    fn pass(&mut self, time: f64) {
        self.at.0 += usize::from(self.a.time(self.at.0).is_some_and(|end| end <= time));
        self.at.1 += usize::from(self.b.time(self.at.1).is_some_and(|end| end <= time));
    }
}

/// ‖q ⊖ q′‖∞: differences of positions and planar angles, and the rotation vector from one orientation to the other.   [COMPARE-4]
pub fn difference(model: &Model, a: &[f64], b: &[f64]) -> f64 {
    let mut most: f64 = 0.0;
    for (body, slot) in model.bodies().iter().zip(model.layout()) {
        let Some(mobility) = body.mobility() else { continue };
        let (Some(a), Some(b)) = (a.get(slot.q.clone()), b.get(slot.q.clone())) else { continue };
        let plain = if mobility == Mobility::Free { 3 } else { a.len() };
        most = a.iter().zip(b).take(plain).fold(most, |most, (a, b)| most.max((a - b).abs()));
        if mobility == Mobility::Free {
            most = most.max(turn_between(b, a).amax());
        }
    }
    most
}

/// Largest angle between the displacements of a body, over the bodies that moved.   [COMPARE-5]
fn heading(model: &Model, [a0, a1]: [&[f64]; 2], [b0, b1]: [&[f64]; 2]) -> Option<f64> {
    let ways = model.bodies().iter().zip(model.layout()).filter_map(|(body, slot)| {
        let axes = match body.mobility()? {
            Mobility::PlanarParticle | Mobility::Planar => 2,
            Mobility::Particle | Mobility::Free => 3,
        };
        let way = |from: &[f64], to: &[f64]| {
            let mut way = Vector3::zeros();
            let (from, to) = (from.get(slot.q.clone())?, to.get(slot.q.clone())?);
            way.iter_mut().zip(to.iter().zip(from)).take(axes).for_each(|(w, (to, from))| *w = to - from);
            Some(way)
        };
        Some((way(a0, a1)?, way(b0, b1)?))
    });
    let ways: Vec<_> = ways.collect();
    let longest = ways.iter().fold(0.0, |most: f64, (a, b)| most.max(a.norm()).max(b.norm()));
    let least = (STANDING.0 * longest).max(STANDING.1);
    let went = ways.iter().filter(|(a, b)| a.norm().min(b.norm()) > least);
    went.map(|(a, b)| angle_between(a, b)).reduce(f64::max)
}

/// Angle of the shortest rotation from a to b, whose quaternion is (|a| |b| + a · b, a × b) up to its length.
fn angle_between(a: &Vector3<f64>, b: &Vector3<f64>) -> f64 {
    let turn = Quaternion::from_parts(a.norm() * b.norm() + a.dot(b), a.cross(b));
    // Exactly opposite directions define no axis, hence no quaternion.
    UnitQuaternion::try_new(turn, f64::MIN_POSITIVE)
        .map_or(std::f64::consts::PI, |turn| rotation::to_rotation_vector(&turn).norm())
}
