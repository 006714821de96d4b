//! Divide-and-conquer algorithm on a tree: subassemblies of it are assembled pairwise, each time eliminating a joint
//! (docs/theory/divide.md).
//!
//! Accelerations and impulse responses are those of the articulated-body algorithm. The binary plan of the assembly is O(log n)
//! deep: independent subassemblies run on several threads, and an impulse on one link affects O(log n) subassemblies. An entry of the
//! Delassus matrix therefore does not cost the length of the path to the root. No factorisation is larger than a joint.

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
    node::{Node, each_subassembly},
    plan::Kind,
    sweep::Acting,
};
use super::{SingularInertia, TreeForces, kinematics::Kinematics, tree::Tree};
use crate::{LinkId, Wrench};

/// Assembly plan of a tree, its assembly at one configuration, and the work space of the sweeps.
///
/// [`Divide::update`] assembles; the other functions use the assembly. After construction only the first call of
/// [`Divide::delassus`] allocates, for its rows.
#[derive(Clone, Debug)]
pub struct Divide {
    nodes: Vec<Node>,
    /// Node of each link.
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
        debug_assert!(
            leaves.iter().enumerate().all(|(i, &place)| {
                nodes.get(place).is_some_and(|node| matches!(node.kind, Kind::Link { link, .. } if link == i))
            }),
            "every link has a node"
        );
        Self { nodes, leaves, rows: Vec::new() }
    }

    /// Assembles the tree at a configuration, with `extra` inertia per velocity in addition to the armature, or none.   [DCA-4]
    pub fn update(&mut self, tree: &Tree, at: &Kinematics, extra: &[f64]) -> Result<(), SingularInertia> {
        at.debug_assert_of(tree);
        debug_assert_eq!(self.leaves.len(), tree.links().len(), "the plan is that of another tree");
        debug_assert!(extra.is_empty() || extra.len() == tree.velocities(), "one added inertia per velocity, or none");
        let given = assemble::Configured { tree, at, extra };
        each_subassembly(&mut self.nodes, &|subassembly| assemble::assemble(subassembly, given))
    }

    /// v̇ = M⁻¹ (τ + Jᵀ λ − bias) at the configuration of the assembly.   [DCA-5]
    ///
    /// Of the pair, τ acts at the velocities and `external` on the links: one wrench per link, in world axes about the link's
    /// origin. Either may be empty.
    pub fn forward_dynamics(
        &mut self,
        tree: &Tree,
        at: &Kinematics,
        (tau, external): (&[f64], &[Wrench]),
        acceleration: &mut [f64],
    ) {
        let forces = TreeForces { tau, wrenches: external, velocity_terms: 1.0 };
        self.weighted_forward_dynamics(tree, at, &forces, acceleration);
    }

    /// [`Self::forward_dynamics`] with weighted velocity terms.   [ROT-3]
    pub fn weighted_forward_dynamics(
        &mut self,
        tree: &Tree,
        at: &Kinematics,
        &TreeForces { tau, wrenches, velocity_terms }: &TreeForces,
        acceleration: &mut [f64],
    ) {
        let acting = Acting { tree, at, tau, wrenches, velocity_terms };
        acting.debug_assert_sizes();
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
        let acting = Acting { tree, at, tau, wrenches: impulses, velocity_terms: 0.0 };
        acting.debug_assert_sizes();
        sweep::collect_all(&mut self.nodes, acting);
        sweep::distribute_all(&mut self.nodes, acting, &nalgebra::Vector6::zeros());
        self.write_rates(tree, change);
    }

    /// Delassus matrix J M⁻¹ Jᵀ of rows of wrenches, row by row in `out`.   [DCA-8]
    ///
    /// A row is a link, and a wrench in world axes about a world position.
    pub fn delassus(&mut self, at: &Kinematics, rows: &[(LinkId, Wrench, Vector3<f64>)], out: &mut [f64]) {
        debug_assert_eq!(out.len(), rows.len() * rows.len(), "one entry per pair of rows");
        let mut room = std::mem::take(&mut self.rows);
        if room.len() < rows.len() {
            room.resize_with(rows.len(), DivideRow::default);
        }
        for ((link, wrench, point), row) in rows.iter().zip(&mut room) {
            self.half_response(at, *link, (wrench, point), row);
        }
        debug_assert!(room.len() >= rows.len(), "there is space for every row");
        let used = room.get(..rows.len()).unwrap_or_default();
        let entries = used.iter().flat_map(|a| used.iter().map(|b| self.coupling(a, b)));
        for (out, entry) in out.iter_mut().zip(entries) {
            *out = entry;
        }
        self.rows = room;
    }

    /// Counts of the factorisations of the last [`Divide::update`].
    pub fn tally(&self) -> Tally {
        self.nodes.iter().fold(Tally::default(), |sum, node| sum.and(node.tally))
    }

    /// Number of joints on the longest path from a link to the root of the plan.
    pub fn depth(&self) -> usize {
        let mut depths = vec![0; self.nodes.len()];
        for (place, node) in self.nodes.iter().enumerate().rev() {
            let above = node.above.map_or(0, |above| depths[above]);
            depths[place] = above + usize::from(node.joint.is_some());
        }
        depths.into_iter().max().unwrap_or(0)
    }

    fn write_rates(&self, tree: &Tree, out: &mut [f64]) {
        debug_assert_eq!(out.len(), tree.velocities(), "one rate per velocity");
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
