//! Articulated-body algorithm: forward dynamics in linear time.
//!
//! The velocities of a joint are eliminated one by one, each as if it had a massless link of its own. The pivots d and the
//! columns U are factors of M⁻¹, which impulse responses reuse.

use super::{SingularInertia, inertia::ArticulatedInertia, kinematics::Kinematics, scratch::Scratch, tree::Tree};
use crate::{Twist, Wrench};

/// Ratio of a pivot to the inertia of its velocity before the other velocities of the joint are eliminated, up to which the pivot is
/// round-off.
const NEGLIGIBLE_PIVOT: f64 = 1e-14;

/// Ratio of a pivot of a massless frame to the composite inertia of its velocity, up to which the pivot is round-off.
const NEGLIGIBLE_FRAME_PIVOT: f64 = 1e-12;

/// Ratio of a pivot of a massless frame to its largest articulated inertia, up to which the composite inertia is computed for the check.
const SMALL_FRAME_PIVOT: f64 = 1e-8;

/// Articulated-body inertias of all links at one configuration, with U and d of every velocity.
#[derive(Clone, Debug)]
pub struct ArticulatedFactors {
    /// Articulated inertia of each link as its parent sees it through the joint, about the link's origin.
    pub(super) inertias: Vec<ArticulatedInertia>,
    pub(super) forces: Vec<Wrench>,
    pub(super) pivots: Vec<f64>,
    /// 1 / d, stored because a division would dominate the latency of the sweeps.
    pub(super) inverses: Vec<f64>,
}

impl ArticulatedFactors {
    /// Allocates the factors of a tree; [`ArticulatedFactors::update`] computes them.
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

    /// [`Self::update`] with inertia added per velocity, as implicit damping and springs do; `added` may be empty.
    pub fn update_with(&mut self, tree: &Tree, at: &Kinematics, added: &[f64]) -> Result<(), SingularInertia> {
        // Slices of equal length need one bounds check each.
        let (links, velocities) = (tree.links(), tree.velocities());
        at.debug_assert_of(tree);
        self.debug_assert_of(tree);
        debug_assert!(added.is_empty() || added.len() == velocities, "one added inertia per velocity, or none");
        let (inertias, rigid) = (&mut self.inertias[..links.len()], &at.inertias[..links.len()]);
        let (columns, armatures) = (&at.columns[..velocities], &tree.armature()[..velocities]);
        let (forces, pivots) = (&mut self.forces[..velocities], &mut self.pivots[..velocities]);
        let (inverses, arms) = (&mut self.inverses[..velocities], &at.arms[..links.len()]);
        for (articulated, rigid) in inertias.iter_mut().zip(rigid) {
            *articulated = rigid.into();
        }
        for (i, link) in links.iter().enumerate().rev() {
            let (before, rest) = inertias.split_at_mut(i);
            let Some(inertia) = rest.first_mut() else {
                debug_assert!(false, "link {i} has an inertia");
                continue;
            };
            // Before any velocity is eliminated.
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
                // The inertia behind a massless frame is reduced by the eliminated velocities. If their axes coincide with this one, the
                // exact pivot is zero and only rounding remains.
                let is_frame = rigid[i].mass == 0.0;
                let is_round_off = is_frame
                    && pivot <= SMALL_FRAME_PIVOT * inertia.largest()
                    && pivot <= NEGLIGIBLE_FRAME_PIVOT * (composite(tree, at, i, column) + armature);
                if !(pivot > NEGLIGIBLE_PIVOT * alone && pivot.is_finite()) || is_round_off {
                    return Err(SingularInertia { velocity: k });
                }
                let inverse = 1.0 / pivot;
                inertia.eliminate(&force, inverse);
                forces[k] = force;
                pivots[k] = pivot;
                inverses[k] = inverse;
            }
            if let Some(parent) = link.parent() {
                debug_assert!(parent < i, "parents are before children");
                before[parent].add(&inertia.moved(&arms[i]));
            }
        }
        Ok(())
    }

    /// Pivots d, one per velocity: squares of the diagonal of L in M = LᵀL.
    #[inline]
    pub fn pivots(&self) -> &[f64] {
        &self.pivots
    }

    /// Checks in debug builds that the factors have the sizes of a tree.
    pub(super) fn debug_assert_of(&self, tree: &Tree) {
        debug_assert_eq!(self.inertias.len(), tree.links().len(), "the factors are those of another tree");
        debug_assert_eq!(self.pivots.len(), tree.velocities(), "the factors are those of another tree");
    }
}

/// Composite inertia S_kᵀ I^c S_k of a velocity of link i, with all joints behind the link locked.   [ART-6]
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
/// Of the pair, τ acts at the velocities and `external` on the links: one wrench per link, in world axes about the link's
/// origin. `external` may be empty.
pub fn forward_dynamics(
    tree: &Tree,
    at: &Kinematics,
    factors: &ArticulatedFactors,
    (tau, external): (&[f64], &[Wrench]),
    scratch: &mut Scratch,
    acceleration: &mut [f64],
) {
    let forces = TreeForces { tau, wrenches: external, velocity_terms: 1.0 };
    weighted_forward_dynamics(tree, at, factors, &forces, scratch, acceleration);
}

/// Forces on a tree, with a weight of its velocity terms.   [ROT-3]
#[derive(Clone, Copy, Debug)]
pub struct TreeForces<'a> {
    /// Forces at the velocities.
    pub tau: &'a [f64],
    /// Wrenches on the links, in world axes about the origins of the links; may be empty.
    pub wrenches: &'a [Wrench],
    /// Factor on the velocity terms.
    pub velocity_terms: f64,
}

/// [`forward_dynamics`] with weighted velocity terms.   [ROT-3]
pub fn weighted_forward_dynamics(
    tree: &Tree,
    at: &Kinematics,
    factors: &ArticulatedFactors,
    &TreeForces { tau, wrenches: external, velocity_terms: weight }: &TreeForces,
    scratch: &mut Scratch,
    acceleration: &mut [f64],
) {
    let (links, velocities) = (tree.links(), tree.velocities());
    at.debug_assert_of(tree);
    factors.debug_assert_of(tree);
    scratch.debug_assert_of(tree);
    debug_assert_eq!((tau.len(), acceleration.len()), (velocities, velocities), "one number per velocity");
    debug_assert!(external.is_empty() || external.len() == links.len(), "one external wrench per link, or none");
    let (wrenches, accelerations) = (&mut scratch.wrenches[..links.len()], &mut scratch.accelerations[..links.len()]);
    let (arms, products) = (&at.arms[..links.len()], &at.products[..links.len()]);
    let (columns, tau, residual) = (&at.columns[..velocities], &tau[..velocities], &mut scratch.residual[..velocities]);
    let (forces, inverses) = (&factors.forces[..velocities], &factors.inverses[..velocities]);
    for (i, (wrench, (twist, inertia))) in wrenches.iter_mut().zip(at.twists.iter().zip(&at.inertias)).enumerate() {
        *wrench = twist.cross_force(&inertia.momentum(twist)).scaled(weight);
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
            bias.add_scaled(&inertia.times(&products[i]), weight);
            wrenches[parent].add(&bias.moved(&arms[i]));
        }
    }
    // Gravity is modelled as an upward acceleration of the world.
    let lift = Twist { linear: -tree.gravity(), ..Twist::default() };
    let acceleration = &mut acceleration[..velocities];
    for (i, link) in links.iter().enumerate() {
        let mut a = link.parent().map_or(lift, |parent| accelerations[parent].moved(&arms[i]));
        a.add_scaled(&products[i], weight);
        for k in link.velocities() {
            let change = (residual[k] - forces[k].power(&a)) * inverses[k];
            acceleration[k] = change;
            a.add_scaled(&columns[k], change);
        }
        accelerations[i] = a;
    }
}
