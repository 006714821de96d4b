//! The state: plain data that holds every input of the next step.

use serde::{Deserialize, Serialize};
use stiction_geometry::Feature;

use crate::ShapeId;

/// Identifier of a contact, the same as long as the same features of the same shapes meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ContactId {
    /// Shape on the first body.
    pub shape_a: ShapeId,
    /// Shape on the second body.
    pub shape_b: ShapeId,
    /// The features that meet.
    pub feature: Feature,
}

/// Contact mode over a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ContactMode {
    /// Open at the end of the step, without an impulse.
    Open,
    /// Closed, without slip.
    Stick,
    /// Closed and slipping.
    Slip,
}

/// Memory of a contact of the last step, from which events are derived and the next solve is warm started.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContactMemory {
    /// The contact.
    pub id: ContactId,
    /// Its mode over the last step.
    pub mode: ContactMode,
    /// Point where the constraint of the last step was linearised, m. The impulse of a contact that is gone passes to the nearest new one.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub point: [f64; 3],
    /// Normal impulse over the last step, N s.
    pub normal_impulse: f64,
    /// Friction impulse on the second body over the last step, world axes, N s.
    pub friction_impulse: [f64; 3],
    /// Torsional friction impulse on the second body about the normal over the last step, N m s.
    pub spin_impulse: f64,
    /// Moment of rolling friction on the second body over the last step, world axes, N m s.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub rolling_impulse: [f64; 3],
    /// Pending restitution of an impact law: the normal velocity before the impact (m/s, negative) for Newton's law,
    /// the impulse of compression (N s) for Poisson's; zero without an impact.
    pub pending_restitution: f64,
    /// State of its compliant layer; none for a rigid contact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layer: Option<LayerMemory>,
}

/// The state of the compliant layer of a contact.   [SOFT-4]
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LayerMemory {
    /// Deflection along the normal, m; positive in compression.
    pub compression: f64,
    /// Deflection along the surface, in the direction of the force on the second body; world axes, m.
    pub shear: [f64; 3],
    /// Energy stored, J.
    pub energy: f64,
    /// Part of the normal impulse over the last step that the rigid core carried, N s.
    pub core_impulse: f64,
    /// Part of the friction impulse on the second body over the last step that the rigid core carried, world axes, N s.
    pub core_friction: [f64; 3],
    /// Part of the torsional friction impulse that the rigid core carried, N m s.
    pub core_spin: f64,
}

impl LayerMemory {
    /// Its numbers, for comparisons of bits.
    fn numbers(&self) -> [f64; 10] {
        let ([x, y, z], [u, v, w]) = (self.shear, self.core_friction);
        [self.compression, x, y, z, self.energy, self.core_impulse, u, v, w, self.core_spin]
    }
}

impl ContactMemory {
    /// Its numbers, for comparisons of bits.
    fn numbers(&self) -> [f64; 12] {
        let ([x, y, z], [u, v, w], [a, b, c]) = (self.friction_impulse, self.rolling_impulse, self.point);
        [self.normal_impulse, x, y, z, self.spin_impulse, u, v, w, self.pending_restitution, a, b, c]
    }

    /// Equal bit for bit.
    fn bit_equal(&self, other: &Self) -> bool {
        let layers = self.layer.as_ref().map(LayerMemory::numbers).zip(other.layer.as_ref().map(LayerMemory::numbers));
        self.id == other.id
            && self.mode == other.mode
            && self.layer.is_some() == other.layer.is_some()
            && same_bits(&self.numbers(), &other.numbers())
            && layers.is_none_or(|(a, b)| same_bits(&a, &b))
    }
}

/// True for a vector that need not be written.
fn is_zero(x: &[f64; 3]) -> bool {
    same_bits(x, &[0.0; 3])
}

/// True if two lists are equal to the last bit.
pub fn same_bits(x: &[f64], y: &[f64]) -> bool {
    // Most lists that are compared are equal: one pass without branches is cheaper than a branch per number.
    x.len() == y.len() && x.iter().zip(y).fold(0, |differing, (a, b)| differing | (a.to_bits() ^ b.to_bits())) == 0
}

/// Configuration, velocity, time and contact memory.
///
/// Saved, restored and continued, a simulation gives the same bits as one that was never interrupted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    /// Steps taken so far.
    pub step: u64,
    /// Time, s.
    pub time: f64,
    /// Rounding error of `time` so far (compensated summation), s: it keeps the time of a million steps exact to rounding.
    pub time_carry: f64,
    /// Coordinates of all dynamic bodies in the order of the model.
    pub q: Vec<f64>,
    /// Velocities of all dynamic bodies in the order of the model.
    pub v: Vec<f64>,
    /// Contacts that were within reach in the last step, in the order of their ids.
    pub contacts: Vec<ContactMemory>,
    /// Joint impulses of the last step, row by row: the warm start of the next solve. Empty before the first step.
    pub joint_impulses: Vec<f64>,
    /// Friction impulses of the last step at the support points: x, y and about z of each. Empty without supports.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub support_impulses: Vec<f64>,
    /// Coordinates of the model's forest, for steps in reduced coordinates; angles count full turns.
    ///
    /// `q` and `v` take precedence if `forest_q` and `forest_v` do not map to them bit for bit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forest_q: Vec<f64>,
    /// Velocities of the model's forest.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forest_v: Vec<f64>,
    /// Coordinates of the actuated joint DOFs. Angles count full turns, which poses do not hold. Empty without actuated joint DOFs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub angles: Vec<f64>,
}

impl State {
    /// Overwrites this state with another, reusing memory.
    pub fn copy_from(&mut self, other: &Self) {
        self.step = other.step;
        self.time = other.time;
        self.time_carry = other.time_carry;
        self.q.clone_from(&other.q);
        self.v.clone_from(&other.v);
        self.contacts.clone_from(&other.contacts);
        self.joint_impulses.clone_from(&other.joint_impulses);
        self.support_impulses.clone_from(&other.support_impulses);
        self.forest_q.clone_from(&other.forest_q);
        self.forest_v.clone_from(&other.forest_v);
        self.angles.clone_from(&other.angles);
    }

    /// The time `h` later and its carry, by Kahan's compensated summation.
    pub fn time_after(&self, h: f64) -> (f64, f64) {
        let increment = h - self.time_carry;
        let time = self.time + increment;
        (time, (time - self.time) - increment)
    }

    /// Adds `h` to the time.
    pub fn advance_time(&mut self, h: f64) {
        (self.time, self.time_carry) = self.time_after(h);
    }

    /// The first coordinate or velocity that is not finite, if any.
    pub fn first_non_finite(&self) -> Option<usize> {
        let parts = [&self.q, &self.v, &self.forest_q, &self.forest_v, &self.angles];
        // 0 x is zero unless x is not finite. The first pass has no branch and uses four independent sums. A second pass
        // finds the number that is not finite.
        let finite = |part: &[f64]| {
            let (lanes, rest) = part.as_chunks::<4>();
            let mut sums = [0.0_f64; 4];
            for lane in lanes {
                sums.iter_mut().zip(lane).for_each(|(sum, x)| *sum += 0.0 * x);
            }
            sums.iter().sum::<f64>() == 0.0 && rest.iter().all(|x| x.is_finite())
        };
        if parts.iter().all(|part| finite(part)) {
            return None;
        }
        parts.into_iter().flatten().position(|x| !x.is_finite())
    }

    /// Equal bit for bit (unlike `==`, which calls 0.0 and −0.0 equal).
    pub fn bit_equal(&self, other: &Self) -> bool {
        let bits = same_bits;
        self.step == other.step
            && bits(&[self.time, self.time_carry], &[other.time, other.time_carry])
            && bits(&self.q, &other.q)
            && bits(&self.v, &other.v)
            && bits(&self.joint_impulses, &other.joint_impulses)
            && bits(&self.support_impulses, &other.support_impulses)
            && bits(&self.forest_q, &other.forest_q)
            && bits(&self.forest_v, &other.forest_v)
            && bits(&self.angles, &other.angles)
            && self.contacts.len() == other.contacts.len()
            && self.contacts.iter().zip(&other.contacts).all(|(a, b)| a.bit_equal(b))
    }
}
