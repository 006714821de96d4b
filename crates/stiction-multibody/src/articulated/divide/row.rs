//! Rows of wrenches through an assembly: the effect of one impulse on a link at the handles of all subassemblies that contain the link.

use nalgebra::{Vector3, Vector6};

use super::{super::kinematics::Kinematics, Divide, node::Load, plan::Kind, spatial};
use crate::{LinkId, Wrench};

/// Response of one impulse at the nodes from its link to the root of the plan, as needed for its coupling with other rows.
#[derive(Clone, Debug, Default)]
pub struct DivideRow {
    steps: Vec<Step>,
}

/// A joint between the link and the root of the plan, with the side of the joint that contains the link.
#[derive(Clone, Copy, Debug)]
struct Step {
    node: usize,
    side: Side,
}

#[derive(Clone, Copy, Debug)]
enum Side {
    /// The link is in the upper subassembly: b, and X b.
    Upper { motion: Vector6<f64>, stiff: Vector6<f64> },
    /// The link is in the lower subassembly: p, N̂ p and H p.
    Lower { force: Vector6<f64>, compliant: Vector6<f64>, passed: Vector6<f64> },
}

impl DivideRow {
    /// Impulse that reaches the root link of the tree, about its origin, if all joints but that of the root are free. Its
    /// power on a motion of the root is the rate of the row due to this motion.   [DCA-10]
    pub fn at_root(&self) -> Wrench {
        match self.steps.last() {
            Some(Step { side: Side::Lower { force, .. }, .. }) => spatial::wrench(&-force),
            _ => Wrench::default(),
        }
    }

    /// Terms of the coupling with another row, at the nodes that contain both, beginning at the root.   [DCA-8]
    fn terms<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = f64> + 'a {
        let pairs = self.steps.iter().rev().zip(other.steps.iter().rev());
        pairs.take_while(|(a, b)| a.node == b.node).map(|(a, b)| match (&a.side, &b.side) {
            (Side::Upper { motion, .. }, Side::Upper { stiff, .. }) => -motion.dot(stiff),
            (Side::Lower { force, .. }, Side::Lower { compliant, .. }) => force.dot(compliant),
            (Side::Upper { motion, .. }, Side::Lower { passed, .. })
            | (Side::Lower { passed, .. }, Side::Upper { motion, .. }) => -motion.dot(passed),
        })
    }
}

impl Divide {
    /// Propagates one impulse on a link up the plan, in O(log n).   [DCA-8]
    ///
    /// `impulse` acts in world axes about the world position `point`. It is also the row of the constraint whose rate is
    /// λ · ν at that point.
    pub fn half_response(
        &self,
        at: &Kinematics,
        link: LinkId,
        (impulse, point): (&Wrench, &Vector3<f64>),
        row: &mut DivideRow,
    ) {
        row.steps.clear();
        let (Some(&leaf), Some(pose)) = (self.leaves.get(link.index()), at.poses.get(link.index())) else {
            debug_assert!(false, "the tree has no link {}", link.index());
            return;
        };
        let about_origin = impulse.moved(&(point - pose.translation.vector));
        let mut load = Load { force: -spatial::force(&about_origin), motion: Vector6::zeros() };
        let mut child = leaf;
        while let Some(above) = self.nodes[child].above {
            self.propagate(child, above, &mut load, row);
            child = above;
        }
    }

    /// Propagates a load from a subassembly to the subassembly that contains it.
    fn propagate(&self, child: usize, above: usize, load: &mut Load, row: &mut DivideRow) {
        let node = &self.nodes[above];
        let Some(joint) = &node.joint else { return };
        let lower = &self.nodes[above - 1].segment;
        if child + 1 == above {
            let (compliant, passed) = (joint.compliance * load.force, joint.pass * load.force);
            row.steps.push(Step { node: above, side: Side::Lower { force: load.force, compliant, passed } });
            if let Kind::Hang { .. } = node.kind {
                load.force = spatial::force(&spatial::wrench(&passed).moved(&node.arm));
                load.motion = Vector6::zeros();
            } else {
                load.force = self.upper(above).tr_mul(&passed);
                load.motion -= lower.transfer * compliant;
            }
        } else {
            let stiff = joint.stiffness * load.motion;
            row.steps.push(Step { node: above, side: Side::Upper { motion: load.motion, stiff } });
            load.force += self.nodes[child].segment.transfer.tr_mul(&stiff);
            load.motion = lower.transfer * joint.pass.tr_mul(&load.motion);
        }
    }

    /// T of the upper of the two subassemblies of a node.
    fn upper(&self, above: usize) -> &nalgebra::Matrix6<f64> {
        debug_assert!(self.nodes[above - 1].nodes < above, "node {above} has two subassemblies");
        let upper = above - 1 - self.nodes[above - 1].nodes;
        &self.nodes[upper].segment.transfer
    }

    /// Entry J_a M⁻¹ J_bᵀ of the Delassus matrix for two rows.   [DCA-8]
    pub fn coupling(&self, a: &DivideRow, b: &DivideRow) -> f64 {
        a.terms(b).sum()
    }

    /// [`Self::coupling`] with the root of the tree held: rate of row a for a unit impulse b without the motion of the root.
    ///                                                                                                   [DCA-10]
    pub fn coupling_beyond_root(&self, a: &DivideRow, b: &DivideRow) -> f64 {
        a.terms(b).skip(1).sum()
    }
}
