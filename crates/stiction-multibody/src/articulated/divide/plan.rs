//! Binary assembly plan of a tree: the order in which subassemblies are assembled.
//!
//! Every tree is decomposed into heavy paths: each continues from a link to the child with the largest subtree, so the other
//! subtrees of a link are small. A path is assembled by halves of equal weight. The plan is O(log n) deep for any tree.   [DCA-6]
//!
//! Nodes are in post-order: the subassemblies of a node are directly before it. A subassembly is one slice.

use nalgebra::Matrix6;

use super::super::{MAX_VELOCITIES, TreeJoint, tree::Tree};
use super::{joint::reversed, small};
use crate::Twist;

/// Kind of a node of the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A link with all its subtrees except the rest of its path, which follows at the outer handle about the origin of the
    /// link `next`.
    Link { link: usize, next: Option<usize> },
    /// Joint of a link whose parent is not in the subassembly; the subassembly before it is the whole subtree of the link.
    Hang { link: usize },
    /// Joint of a link between the two subassemblies before it, the second of which begins with the link.
    Join { link: usize },
}

/// A node of the plan.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) kind: Kind,
    /// Number of nodes of the subassembly, itself included.
    pub(super) nodes: usize,
}

/// Largest number of consecutive links with singular inertia before the path is cut between them nevertheless.
const LONGEST_GROUP: usize = 8;

/// Plan of a tree in post-order; roots are [`Kind::Hang`].
pub(super) fn plan(tree: &Tree) -> Vec<Place> {
    let planner = Planner::new(tree);
    let mut places = Vec::with_capacity(2 * tree.links().len());
    for (root, _) in tree.links().iter().enumerate().filter(|(_, link)| link.parent().is_none()) {
        planner.hang(root, &mut places);
    }
    debug_assert_eq!(
        places.iter().filter(|place| matches!(place.kind, Kind::Link { .. })).count(),
        tree.links().len(),
        "every link is in the plan once"
    );
    places
}

struct Planner {
    /// Size of the subtree of each link, itself included.
    weights: Vec<usize>,
    /// Child with the largest subtree.
    heavy: Vec<Option<usize>>,
    /// Other children.
    light: Vec<Vec<usize>>,
    /// True if the inertia of the link alone is positive definite on the motion subspace of its joint.
    regular: Vec<bool>,
}

impl Planner {
    fn new(tree: &Tree) -> Self {
        let links = tree.links();
        let mut weights = vec![1; links.len()];
        let mut children = vec![Vec::new(); links.len()];
        for (i, link) in links.iter().enumerate().rev() {
            if let Some(parent) = link.parent() {
                weights[parent] += weights[i];
                children[parent].push(i);
            }
        }
        let mut heavy = Vec::with_capacity(links.len());
        for children in &mut children {
            children.reverse();
            let heaviest = (0..children.len()).rev().max_by_key(|&place| weights[children[place]]);
            heavy.push(heaviest.map(|place| children.remove(place)));
        }
        Self { weights, heavy, light: children, regular: (0..links.len()).map(|i| is_regular(tree, i)).collect() }
    }

    fn hang(&self, link: usize, places: &mut Vec<Place>) {
        let start = places.len();
        let path: Vec<usize> = std::iter::successors(Some(link), |&i| self.heavy[i]).collect();
        self.span(&path, places);
        push(Kind::Hang { link }, start, places);
    }

    /// Adds the nodes of a section of a path.
    fn span(&self, path: &[usize], places: &mut Vec<Place>) {
        let Some(&first) = path.first() else { return };
        let (start, cut) = (places.len(), self.cut(path));
        if cut == 0 {
            for &child in &self.light[first] {
                self.hang(child, places);
            }
            push(Kind::Link { link: first, next: self.heavy[first] }, start, places);
            return;
        }
        self.span(&path[..cut], places);
        self.span(&path[cut..], places);
        push(Kind::Join { link: path[cut] }, start, places);
    }

    /// Position at which a section of a path is cut: at half its weight, but not so that the lower subassembly begins with a link whose
    /// joint needs the inertia of the next one. Zero for a single link.   [DCA-7]
    fn cut(&self, path: &[usize]) -> usize {
        if path.len() < 2 {
            return 0;
        }
        let own = |&link: &usize| self.weights[link] - self.heavy[link].map_or(0, |child| self.weights[child]);
        let total: usize = path.iter().map(own).sum();
        let (mut best, mut best_distance, mut before, mut group) = (1, usize::MAX, 0, 0);
        for (place, link) in path.iter().enumerate() {
            let distance = total.abs_diff(2 * before);
            let allowed = group == 0 || group >= LONGEST_GROUP;
            if place > 0 && allowed && distance < best_distance {
                (best, best_distance) = (place, distance);
            }
            group = if self.regular[*link] { 0 } else { group % LONGEST_GROUP + 1 };
            before += own(link);
        }
        best
    }
}

fn push(kind: Kind, start: usize, places: &mut Vec<Place>) {
    let nodes = places.len() - start + 1;
    places.push(Place { kind, nodes });
}

/// True if Sᵀ I S + A of a link alone is positive definite at all coordinates of the joint.
fn is_regular(tree: &Tree, link: usize) -> bool {
    let link = &tree.links()[link];
    let spec = link.spec();
    // The axes of a universal joint rotate relative to each other; those of a spherical joint span them at all angles.
    let joint = match spec.joint {
        TreeJoint::Universal { .. } => TreeJoint::Spherical,
        TreeJoint::Series(series) => series.hull().map_or(TreeJoint::Free, TreeJoint::Series),
        joint => joint,
    };
    let size = joint.velocities();
    if size == 0 || spec.armature > 0.0 {
        return true;
    }
    let mut q = [0.0; 7];
    let q = &mut q[..joint.coordinates()];
    joint.write_neutral(q);
    let mut columns = [Twist::default(); MAX_VELOCITIES];
    joint.motion_subspace(q, &joint.transform(q), &mut columns[..size]);
    let columns = reversed(&columns[..size]);
    let mut mass = Matrix6::zeros();
    for i in 0..size {
        let momentum = link.inertia().momentum(&columns[i]);
        for j in 0..size {
            mass[(i, j)] = momentum.power(&columns[j]);
        }
    }
    let mut none = Matrix6::zeros();
    let mut tally = small::Tally::default();
    small::solve((&mut mass, size), small::Pivots::Diagonal, (&mut none, 0), &mut tally).is_ok()
}
