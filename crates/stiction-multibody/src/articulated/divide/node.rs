//! Nodes of the assembly: the subassemblies of the plan with their segments, joints and loads, and their traversal.

use nalgebra::{Matrix6, Vector3, Vector6};

use super::{
    super::tree::Tree,
    joint::{JointFactors, Segment},
    plan::{Kind, Place},
    small::Tally,
};

/// A subassembly: part of the tree with at most two handles.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) kind: Kind,
    /// Number of nodes of the subassembly, itself included.
    pub(super) nodes: usize,
    /// Node of the assembly of which this subassembly is a part.
    pub(super) above: Option<usize>,
    /// Vector from the origin of the parent link to that of the hanging link.
    pub(super) arm: Vector3<f64>,
    pub(super) segment: Segment,
    /// Joint that the node eliminates.
    pub(super) joint: Option<Box<JointFactors>>,
    pub(super) tally: Tally,
    /// p and b of the loads that are being assembled.
    pub(super) load: Load,
    /// Rates of the joint's velocities, last first.
    pub(super) rates: Vector6<f64>,
}

/// Loads at the handles of a segment: force p at the inner handle while it is held, acceleration b of the outer handle.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Load {
    pub(super) force: Vector6<f64>,
    pub(super) motion: Vector6<f64>,
}

/// Nodes of a plan, before the first assembly.
pub(super) fn nodes(tree: &Tree, places: &[Place]) -> Vec<Node> {
    let mut nodes: Vec<Node> = places.iter().map(|place| Node::new(tree, *place)).collect();
    for above in 0..nodes.len() {
        let start = above + 1 - nodes[above].nodes;
        let mut end = above;
        while end > start {
            nodes[end - 1].above = Some(above);
            end -= nodes[end - 1].nodes;
        }
        debug_assert_eq!(end, start, "the subassemblies of node {above} add up to its size");
    }
    nodes
}

impl Node {
    fn new(tree: &Tree, place: Place) -> Self {
        let joint = match place.kind {
            Kind::Link { .. } => None,
            Kind::Hang { link } | Kind::Join { link } => {
                Some(Box::new(JointFactors::new(tree.links()[link].velocities().len())))
            }
        };
        Self {
            kind: place.kind,
            nodes: place.nodes,
            above: None,
            arm: Vector3::zeros(),
            segment: Segment {
                inertia: Matrix6::zeros(),
                transfer: Matrix6::identity(),
                compliance: Matrix6::zeros(),
                rigid: true,
                open: false,
            },
            joint,
            tally: Tally::default(),
            load: Load::default(),
            rates: Vector6::zeros(),
        }
    }
}

/// Number of nodes above which two subassemblies run on two threads. Measured: a chain of 64 links, 128 nodes, takes about the same
/// time on one thread and on two, longer chains take less on two.
pub(super) const PARALLEL: usize = 128;

/// Runs two functions, on two threads if there are many nodes; the results do not depend on the number of threads.
pub(super) fn both<A: Send, B: Send>(
    nodes: usize,
    a: impl FnOnce() -> A + Send,
    b: impl FnOnce() -> B + Send,
) -> (A, B) {
    if nodes > PARALLEL { rayon::join(a, b) } else { (a(), b()) }
}

/// Splits a sequence of subassemblies into those before the last, and the last.
pub(super) fn split_last_subassembly(subassemblies: &mut [Node]) -> Option<(&mut [Node], &mut [Node])> {
    let last = subassemblies.last()?.nodes;
    debug_assert!(
        last <= subassemblies.len(),
        "a subassembly of {last} nodes is not inside of {}",
        subassemblies.len()
    );
    Some(subassemblies.split_at_mut(subassemblies.len() - last))
}

/// Runs a function on each of several independent subassemblies: those of the forest, or those that hang on one link.
pub(super) fn each_subassembly<E: Send>(
    mut subassemblies: &mut [Node],
    handle: &(impl Fn(&mut [Node]) -> Result<(), E> + Sync),
) -> Result<(), E> {
    if subassemblies.len() > PARALLEL {
        // Whole subassemblies from the end, up to half of the nodes.
        let mut start = subassemblies.len();
        while start > subassemblies.len() / 2 {
            start -= subassemblies[start - 1].nodes;
        }
        if start > 0 {
            let (first, second) = subassemblies.split_at_mut(start);
            let (first, second) = rayon::join(|| each_subassembly(first, handle), || each_subassembly(second, handle));
            return first.and(second);
        }
    }
    while let Some((before, last)) = split_last_subassembly(subassemblies) {
        handle(last)?;
        subassemblies = before;
    }
    Ok(())
}
