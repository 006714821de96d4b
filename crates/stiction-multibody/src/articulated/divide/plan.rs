//! The binary plan of a tree: which pieces are put together in which order.
//!
//! Every tree is cut into paths, each going on from a link to the child that carries most links; what else hangs on a link of
//! a path is small. A path is assembled by halves of equal weight, so that the plan is O(log n) deep for any tree.   [DCA-6]
//!
//! Nodes stand in post-order: the pieces of a node directly before it. A piece is then one slice, and two pieces are two.

use nalgebra::Matrix6;

use super::super::{MAX_VELOCITIES, TreeJoint, tree::Tree};
use super::{joint::reversed, small};
use crate::Twist;

/// What a node of the plan puts together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A link with all that hangs on it except the rest of its path; that follows at the outer handle, about the origin of
    /// the link `next`.
    Link { link: usize, next: Option<usize> },
    /// The joint of a link whose parent or world is no part of it yet: the piece before it is all the link carries.
    Hang { link: usize },
    /// The joint of a link between the two pieces before it, the second of which begins with the link.
    Join { link: usize },
}

/// A node of the plan.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) kind: Kind,
    /// Number of nodes of the piece, itself included.
    pub(super) nodes: usize,
}

/// How many links that cannot be accelerated alone may stand together before the path is cut between them all the same.
const LONGEST_GROUP: usize = 8;

/// The plan of a tree, in post-order; roots are [`Kind::Hang`].
pub(super) fn plan(tree: &Tree) -> Vec<Place> {
    let planner = Planner::new(tree);
    let mut places = Vec::with_capacity(2 * tree.links().len());
    for (root, _) in tree.links().iter().enumerate().filter(|(_, link)| link.parent().is_none()) {
        planner.hang(root, &mut places);
    }
    places
}

struct Planner {
    /// Number of links that a link carries, itself included.
    weights: Vec<usize>,
    /// The child that carries most.
    heavy: Vec<Option<usize>>,
    /// The other children.
    light: Vec<Vec<usize>>,
    /// Whether the inertia of a link alone resists every velocity of its joint.
    resists: Vec<bool>,
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
        Self { weights, heavy, light: children, resists: (0..links.len()).map(|i| resists(tree, i)).collect() }
    }

    fn hang(&self, link: usize, places: &mut Vec<Place>) {
        let start = places.len();
        let path: Vec<usize> = std::iter::successors(Some(link), |&i| self.heavy[i]).collect();
        self.span(&path, places);
        push(Kind::Hang { link }, start, places);
    }

    /// A stretch of a path.
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

    /// Where a stretch of a path is cut: at half its weight, but never so that the lower piece begins with a link whose joint
    /// needs the inertia of the next one. Zero for a single link.   [DCA-7]
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
            group = if self.resists[*link] { 0 } else { group % LONGEST_GROUP + 1 };
            before += own(link);
        }
        best
    }
}

fn push(kind: Kind, start: usize, places: &mut Vec<Place>) {
    let nodes = places.len() - start + 1;
    places.push(Place { kind, nodes });
}

/// Whether Sᵀ I S + A of a link alone is positive definite wherever the joint stands.
fn resists(tree: &Tree, link: usize) -> bool {
    let link = &tree.links()[link];
    let spec = link.spec();
    // The axes of a universal joint turn against each other; those of a spherical one span them wherever they are.
    let joint = if let TreeJoint::Universal { .. } = spec.joint { TreeJoint::Spherical } else { spec.joint };
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
