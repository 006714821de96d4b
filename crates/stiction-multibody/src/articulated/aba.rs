//! Articulated-body algorithm: the acceleration of given forces, in linear time.
//!
//! The velocities of a joint are eliminated one by one, each as if it had a link of its own without mass. The pivots d and
//! the columns U so found are the factors of M⁻¹ that impulse responses use again.

use super::{SingularInertia, inertia::ArticulatedInertia, kinematics::Kinematics, scratch::Scratch, tree::Tree};
use crate::{Twist, Wrench};

/// Share of what a velocity moves by itself below which the rest, with the others of its joint yielding, is round-off.
const NEGLIGIBLE: f64 = 1e-14;

/// Share of what a velocity moves with everything behind it rigid below which the rest, with all of that yielding, is round-off; and the share of the
/// inertia at hand below which it is worth to look.
const LOST: f64 = 1e-12;
const SUSPICIOUS: f64 = 1e-8;

/// Articulated-body inertias of all links at one configuration, with U and d of every velocity.
#[derive(Clone, Debug)]
pub struct ArticulatedFactors {
    /// What each link shows to its parent through its joint, about the link's origin.
    pub(super) inertias: Vec<ArticulatedInertia>,
    pub(super) forces: Vec<Wrench>,
    pub(super) pivots: Vec<f64>,
    /// 1 / d: the sweeps wait for each other's products, and a division would be the longest wait.
    pub(super) inverses: Vec<f64>,
}

impl ArticulatedFactors {
    /// Room for a tree; [`ArticulatedFactors::update`] fills it.
    pub fn new(tree: &Tree) -> Self {
        Self {
            inertias: vec![ArticulatedInertia::default(); tree.links().len()],
            forces: vec![Wrench::default(); tree.velocities()],
            pivots: vec![0.0; tree.velocities()],
            inverses: vec![0.0; tree.velocities()],
        }
    }

    /// U = I S, d = S · U + armature, I ← I − U Uᵀ / d, from the leaves inwards.   [ART-8]
    pub fn update(&mut self, tree: &Tree, at: &Kinematics) -> Result<(), SingularInertia> {
        self.update_with(tree, at, &[])
    }

    /// The same with inertia added to velocities, as implicit damping and springs do: none where the list is empty.
    pub fn update_with(&mut self, tree: &Tree, at: &Kinematics, added: &[f64]) -> Result<(), SingularInertia> {
        // Lists cut to one length are looked up without asking each for its own.
        let (links, velocities) = (tree.links(), tree.velocities());
        let (inertias, rigid) = (&mut self.inertias[..links.len()], &at.inertias[..links.len()]);
        let (columns, armatures) = (&at.columns[..velocities], &tree.armature()[..velocities]);
        let (forces, pivots) = (&mut self.forces[..velocities], &mut self.pivots[..velocities]);
        let (inverses, arms) = (&mut self.inverses[..velocities], &at.arms[..links.len()]);
        for (articulated, rigid) in inertias.iter_mut().zip(rigid) {
            *articulated = rigid.into();
        }
        for (i, link) in links.iter().enumerate().rev() {
            let (before, rest) = inertias.split_at_mut(i);
            let Some(inertia) = rest.first_mut() else { continue };
            // Before any velocity yields.
            let whole = (link.velocities().len() > 1).then_some(*inertia);
            for (place, k) in link.velocities().rev().enumerate() {
                let column = &columns[k];
                let armature = armatures[k] + added.get(k).copied().unwrap_or(0.0);
                let force = inertia.times(column);
                let pivot = force.power(column) + armature;
                let alone = match &whole {
                    Some(whole) if place > 0 => whole.times(column).power(column) + armature,
                    _ => 0.0,
                };
                // What a frame without mass moves yields to the velocities behind it: where their axes fall together nothing is left, and rounding of it.
                let is_frame = rigid[i].mass == 0.0;
                let lost = is_frame
                    && pivot <= SUSPICIOUS * inertia.largest()
                    && pivot <= LOST * (composite(tree, at, i, column) + armature);
                if !(pivot > NEGLIGIBLE * alone && pivot.is_finite()) || lost {
                    return Err(SingularInertia { velocity: k });
                }
                let inverse = 1.0 / pivot;
                inertia.eliminate(&force, inverse);
                forces[k] = force;
                pivots[k] = pivot;
                inverses[k] = inverse;
            }
            if let Some(parent) = link.parent() {
                before[parent].add(&inertia.moved(&arms[i]));
            }
        }
        Ok(())
    }

    /// The pivots d, one per velocity: squares of the diagonal of L in M = LᵀL.
    #[inline]
    pub fn pivots(&self) -> &[f64] {
        &self.pivots
    }
}

/// S_kᵀ I^c S_k: the inertia that a velocity of link i moves where everything behind it is rigid.   [ART-6]
fn composite(tree: &Tree, at: &Kinematics, i: usize, column: &Twist) -> f64 {
    let origin = at.poses[i].translation.vector;
    let carried = tree.link_ids().enumerate().filter(|(_, id)| tree.path_to_root(*id).any(|above| above == i));
    let energy = |(j, _): (usize, _)| {
        let arm = at.poses[j].translation.vector - origin;
        let motion = Twist { linear: column.at(&arm), angular: column.angular };
        at.inertias[j].momentum(&motion).power(&motion)
    };
    carried.map(energy).sum()
}

/// v̇ = M⁻¹ (τ + Jᵀ λ − bias) at the configuration of `factors`.   [ART-9]
///
/// Of the pair, τ acts at the velocities and `external` on the links: a wrench each, in world axes about the link's
/// origin, or nothing.
pub fn forward_dynamics(
    tree: &Tree,
    at: &Kinematics,
    factors: &ArticulatedFactors,
    (tau, external): (&[f64], &[Wrench]),
    scratch: &mut Scratch,
    acceleration: &mut [f64],
) {
    let (links, velocities) = (tree.links(), tree.velocities());
    let (wrenches, accelerations) = (&mut scratch.wrenches[..links.len()], &mut scratch.accelerations[..links.len()]);
    let (arms, products) = (&at.arms[..links.len()], &at.products[..links.len()]);
    let (columns, tau, residual) = (&at.columns[..velocities], &tau[..velocities], &mut scratch.residual[..velocities]);
    let (forces, inverses) = (&factors.forces[..velocities], &factors.inverses[..velocities]);
    for (i, (wrench, (twist, inertia))) in wrenches.iter_mut().zip(at.twists.iter().zip(&at.inertias)).enumerate() {
        *wrench = twist.cross_force(&inertia.momentum(twist));
        if let Some(applied) = external.get(i) {
            wrench.add_scaled(applied, -1.0);
        }
    }
    for (i, (link, inertia)) in links.iter().zip(&factors.inertias).enumerate().rev() {
        let mut bias = wrenches[i];
        for k in link.velocities().rev() {
            residual[k] = tau[k] - bias.power(&columns[k]);
            bias.add_scaled(&forces[k], residual[k] * inverses[k]);
        }
        if let Some(parent) = link.parent() {
            bias.add(&inertia.times(&products[i]));
            wrenches[parent].add(&bias.moved(&arms[i]));
        }
    }
    // Gravity is an acceleration of the world upwards.
    let lift = Twist { linear: -tree.gravity(), ..Twist::default() };
    let acceleration = &mut acceleration[..velocities];
    for (i, link) in links.iter().enumerate() {
        let mut a = link.parent().map_or(lift, |parent| accelerations[parent].moved(&arms[i]));
        a.add_scaled(&products[i], 1.0);
        for k in link.velocities() {
            let change = (residual[k] - forces[k].power(&a)) * inverses[k];
            acceleration[k] = change;
            a.add_scaled(&columns[k], change);
        }
        accelerations[i] = a;
    }
}
