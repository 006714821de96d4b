//! Divide and conquer on a tree: pieces of it are put together two by two, and a joint is eliminated each time
//! (docs/theory/divide.md).
//!
//! The same accelerations and impulse responses as by the articulated-body algorithm, in a binary plan that is O(log n)
//! deep: independent pieces go to several threads, and a change at one link is a change of O(log n) pieces, so that an entry
//! of the Delassus matrix does not cost the length of the way to the root. No factorisation is larger than a joint.

mod assemble;
mod handles;
mod joint;
mod node;
mod plan;
mod row;
mod small;
pub mod spatial;
mod sweep;

use nalgebra::Vector3;

pub use self::{
    handles::{HandleEquations, HandleJoint, JointForce, orthogonal_complement},
    row::DivideRow,
    small::Tally,
};
use self::{
    node::{Node, each_piece},
    plan::Kind,
    sweep::Acting,
};
use super::{SingularInertia, kinematics::Kinematics, tree::Tree};
use crate::{LinkId, Wrench};

/// The plan of a tree, its assembly at one configuration, and the room for sweeps.
///
/// [`Divide::update`] assembles; the other functions use the assembly. Nothing allocates after construction, but for the
/// rows of the first call of [`Divide::delassus`].
#[derive(Clone, Debug)]
pub struct Divide {
    nodes: Vec<Node>,
    /// The node of each link.
    leaves: Vec<usize>,
    rows: Vec<DivideRow>,
}

impl Divide {
    /// Plans a tree.
    pub fn new(tree: &Tree) -> Self {
        let nodes = node::nodes(tree, &plan::plan(tree));
        let mut leaves = vec![0; tree.links().len()];
        for (place, node) in nodes.iter().enumerate() {
            if let Kind::Link { link, .. } = node.kind {
                leaves[link] = place;
            }
        }
        Self { nodes, leaves, rows: Vec::new() }
    }

    /// Assembles the tree at a configuration, with `extra` inertia per velocity besides the armature, or none.   [DCA-4]
    pub fn update(&mut self, tree: &Tree, at: &Kinematics, extra: &[f64]) -> Result<(), SingularInertia> {
        let given = assemble::Configured { tree, at, extra };
        each_piece(&mut self.nodes, &|piece| assemble::assemble(piece, given))
    }

    /// v̇ = M⁻¹ (τ + Jᵀ λ − bias) at the configuration of the assembly.   [DCA-5]
    ///
    /// Of the pair, τ acts at the velocities and `external` on the links: a wrench each, in world axes about the link's
    /// origin. Either may be empty.
    pub fn forward_dynamics(
        &mut self,
        tree: &Tree,
        at: &Kinematics,
        (tau, external): (&[f64], &[Wrench]),
        acceleration: &mut [f64],
    ) {
        let acting = Acting { tree, at, tau, wrenches: external, moving: true };
        sweep::collect_all(&mut self.nodes, acting);
        sweep::distribute_all(&mut self.nodes, acting, &sweep::lift(tree));
        self.write_rates(tree, acceleration);
    }

    /// Δv = M⁻¹ (τ + Jᵀ p) of impulses: `tau` at the velocities, `impulses` on the links.   [DCA-5]
    ///
    /// `impulses` holds a wrench per link in world axes about the link's origin; either list may be empty, for none.
    pub fn impulse_response(
        &mut self,
        tree: &Tree,
        at: &Kinematics,
        (tau, impulses): (&[f64], &[Wrench]),
        change: &mut [f64],
    ) {
        let acting = Acting { tree, at, tau, wrenches: impulses, moving: false };
        sweep::collect_all(&mut self.nodes, acting);
        sweep::distribute_all(&mut self.nodes, acting, &nalgebra::Vector6::zeros());
        self.write_rates(tree, change);
    }

    /// The Delassus matrix J M⁻¹ Jᵀ of rows of wrenches, row by row in `out`.   [DCA-8]
    ///
    /// A row is a link, and a wrench in world axes about a point of the world.
    pub fn delassus(&mut self, at: &Kinematics, rows: &[(LinkId, Wrench, Vector3<f64>)], out: &mut [f64]) {
        let mut room = std::mem::take(&mut self.rows);
        if room.len() < rows.len() {
            room.resize_with(rows.len(), DivideRow::default);
        }
        for ((link, wrench, point), row) in rows.iter().zip(&mut room) {
            self.half_response(at, *link, (wrench, point), row);
        }
        let used = room.get(..rows.len()).unwrap_or_default();
        let entries = used.iter().flat_map(|a| used.iter().map(|b| self.coupling(a, b)));
        for (out, entry) in out.iter_mut().zip(entries) {
            *out = entry;
        }
        self.rows = room;
    }

    /// What the last [`Divide::update`] factorised.
    pub fn tally(&self) -> Tally {
        self.nodes.iter().fold(Tally::default(), |sum, node| sum.and(node.tally))
    }

    /// Number of joints on the longest way from a link to the root of the plan.
    pub fn depth(&self) -> usize {
        let mut depths = vec![0; self.nodes.len()];
        for (place, node) in self.nodes.iter().enumerate().rev() {
            let above = node.above.map_or(0, |above| depths[above]);
            depths[place] = above + usize::from(node.joint.is_some());
        }
        depths.into_iter().max().unwrap_or(0)
    }

    fn write_rates(&self, tree: &Tree, out: &mut [f64]) {
        for node in &self.nodes {
            if let Kind::Hang { link } | Kind::Join { link } = node.kind {
                let velocities = tree.links()[link].velocities().rev();
                for (k, rate) in velocities.zip(&node.rates) {
                    out[k] = *rate;
                }
            }
        }
    }
}
