//! Sweeps of loads through an assembly: forces are collected upwards, accelerations are distributed downwards.

use nalgebra::Vector6;

use super::{
    super::{MAX_VELOCITIES, kinematics::Kinematics, tree::Tree},
    joint::reversed,
    node::{Load, Node, both, each_subassembly, split_last_subassembly},
    plan::Kind,
    spatial,
};
use crate::{Twist, Wrench};

/// Forces or impulses on a tree.
#[derive(Clone, Copy)]
pub(super) struct Acting<'a> {
    pub(super) tree: &'a Tree,
    pub(super) at: &'a Kinematics,
    /// Generalised forces at the velocities; may be empty.
    pub(super) tau: &'a [f64],
    /// Wrenches on the links; may be empty.
    pub(super) wrenches: &'a [Wrench],
    /// Weight of gyroscopic forces and velocity products; zero without them.
    pub(super) velocity_terms: f64,
}

impl Acting<'_> {
    /// Checks in debug builds that the lists have the sizes of the tree.
    pub(super) fn debug_assert_sizes(&self) {
        let (links, velocities) = (self.tree.links().len(), self.tree.velocities());
        self.at.debug_assert_of(self.tree);
        debug_assert!(self.tau.is_empty() || self.tau.len() == velocities, "one force per velocity, or none");
        debug_assert!(self.wrenches.is_empty() || self.wrenches.len() == links, "one wrench per link, or none");
    }

    /// Forces at the velocities of a joint, last first.
    #[inline]
    fn tau(&self, link: usize) -> [f64; MAX_VELOCITIES] {
        self.tau.get(self.tree.links()[link].velocities()).map(reversed).unwrap_or_default()
    }

    /// Velocity-product part of the acceleration across a joint.
    #[inline]
    fn product(&self, link: usize) -> Vector6<f64> {
        if self.velocity_terms == 0.0 {
            return Vector6::zeros();
        }
        spatial::motion(&self.at.products[link]) * self.velocity_terms
    }

    /// p of a link: ν ×* I ν − λ.
    #[inline]
    fn bias(&self, link: usize) -> Vector6<f64> {
        let mut bias = Wrench::default();
        if self.velocity_terms != 0.0 {
            let twist = &self.at.twists[link];
            bias = twist.cross_force(&self.at.inertias[link].momentum(twist)).scaled(self.velocity_terms);
        }
        if let Some(applied) = self.wrenches.get(link) {
            bias.add_scaled(applied, -1.0);
        }
        spatial::force(&bias)
    }
}

/// Computes p and b of every subassembly, from the links to the whole.   [DCA-5]
pub(super) fn collect(subassembly: &mut [Node], acting: Acting) {
    let Some((node, below)) = subassembly.split_last_mut() else { return };
    match node.kind {
        Kind::Link { link, .. } => {
            collect_all(below, acting);
            let mut load = Load { force: acting.bias(link), motion: Vector6::zeros() };
            let mut subassemblies = below;
            while let Some((before, last)) = split_last_subassembly(subassemblies) {
                if let Some(hung) = last.last() {
                    load.force += hung.load.force;
                }
                subassemblies = before;
            }
            node.load = load;
        }
        Kind::Hang { link } => {
            collect(below, acting);
            let (Some(joint), Some(lower)) = (&node.joint, below.last()) else {
                debug_assert!(false, "a hanging subassembly has a joint and a lower subassembly");
                return;
            };
            let force = joint.force(&acting.product(link), &lower.load.force, &acting.tau(link));
            node.load.force = spatial::force(&spatial::wrench(&force).moved(&node.arm));
        }
        Kind::Join { link } => {
            let nodes = below.len();
            let Some((upper, lower)) = split_last_subassembly(below) else {
                debug_assert!(false, "a join has two subassemblies");
                return;
            };
            both(nodes, || collect(upper, acting), || collect(lower, acting));
            let (Some(joint), Some(upper), Some(lower)) = (&node.joint, upper.last(), lower.last()) else {
                debug_assert!(false, "a join has a joint and two subassemblies");
                return;
            };
            let (alpha, g, tau) = (upper.load.motion + acting.product(link), &lower.load.force, acting.tau(link));
            node.load.force = upper.load.force + upper.segment.transfer.tr_mul(&joint.force(&alpha, g, &tau));
            if lower.segment.open {
                node.load.motion = lower.load.motion + lower.segment.transfer * joint.motion(&alpha, g, &tau);
            }
        }
    }
}

/// [`collect`] for several independent subassemblies.
pub(super) fn collect_all(subassemblies: &mut [Node], acting: Acting) {
    let _: Result<(), std::convert::Infallible> = each_subassembly(subassemblies, &|subassembly| {
        collect(subassembly, acting);
        Ok(())
    });
}

/// Computes the rates of the velocities of every joint of a subassembly, from the whole to the links. `inner` is the acceleration of
/// its inner handle, `outer` the force at its outer handle.   [DCA-5]
pub(super) fn distribute(subassembly: &mut [Node], acting: Acting, inner: &Vector6<f64>, outer: &Vector6<f64>) {
    let Some((node, below)) = subassembly.split_last_mut() else { return };
    match node.kind {
        Kind::Link { .. } => distribute_all(below, acting, inner),
        Kind::Hang { link } => {
            let (Some(joint), Some(lower)) = (&node.joint, below.last()) else {
                debug_assert!(false, "a hanging subassembly has a joint and a lower subassembly");
                return;
            };
            let alpha = spatial::motion(&spatial::twist(inner).moved(&node.arm)) + acting.product(link);
            let g = lower.load.force;
            node.rates = joint.rates(&alpha, &g, &acting.tau(link));
            let mut handle = alpha;
            for (column, rate) in joint.columns.iter().zip(&node.rates) {
                handle += column.subspace * *rate;
            }
            distribute(below, acting, &handle, &Vector6::zeros());
        }
        Kind::Join { link } => {
            let nodes = below.len();
            let Some((upper, lower)) = split_last_subassembly(below) else {
                debug_assert!(false, "a join has two subassemblies");
                return;
            };
            let (Some(joint), Some(above), Some(beyond)) = (&node.joint, upper.last(), lower.last()) else {
                debug_assert!(false, "a join has a joint and two subassemblies");
                return;
            };
            let tau = acting.tau(link);
            let alpha = above.segment.transfer * inner + above.load.motion + acting.product(link);
            let g = beyond.load.force - beyond.segment.transfer.tr_mul(outer);
            node.rates = joint.rates(&alpha, &g, &tau);
            let through = -joint.force(&alpha, &g, &tau);
            let handle = joint.motion(&alpha, &g, &tau);
            both(nodes, || distribute(upper, acting, inner, &through), || distribute(lower, acting, &handle, outer));
        }
    }
}

/// [`distribute`] for all subassemblies that hang on one link, or on the world.
pub(super) fn distribute_all(subassemblies: &mut [Node], acting: Acting, inner: &Vector6<f64>) {
    let _: Result<(), std::convert::Infallible> = each_subassembly(subassemblies, &|subassembly| {
        distribute(subassembly, acting, inner, &Vector6::zeros());
        Ok(())
    });
}

/// Upward acceleration of the world that is equivalent to gravity.
pub(super) fn lift(tree: &Tree) -> Vector6<f64> {
    spatial::motion(&Twist { linear: -tree.gravity(), ..Twist::default() })
}
