//! Impulse responses of articulated bodies: M⁻¹ Jᵀ p in linear time, and the coupling J M⁻¹ Jᵀ of contacts along their
//! common path to the root.

use nalgebra::Vector3;

use super::{aba::ArticulatedFactors, kinematics::Kinematics, scratch::Scratch, tree::Tree};
use crate::{LinkId, Twist, Wrench};

/// Δv = M⁻¹ (τ + Jᵀ p) of impulses: `tau` at the velocities, `impulses` on the links.   [ART-11]
///
/// The sweeps of the articulated-body algorithm without velocities and gravity. `impulses` holds a wrench per link in
/// world axes about the link's origin; either list may be empty, for none.
pub fn impulse_response(
    tree: &Tree,
    at: &Kinematics,
    factors: &ArticulatedFactors,
    (tau, impulses): (&[f64], &[Wrench]),
    scratch: &mut Scratch,
    change: &mut [f64],
) {
    at.debug_assert_of(tree);
    factors.debug_assert_of(tree);
    scratch.debug_assert_of(tree);
    debug_assert!(tau.is_empty() || tau.len() == tree.velocities(), "one impulse per velocity, or none");
    debug_assert!(impulses.is_empty() || impulses.len() == tree.links().len(), "one wrench per link, or none");
    let Scratch { accelerations, wrenches, residual, .. } = scratch;
    for (i, wrench) in wrenches.iter_mut().enumerate() {
        *wrench = impulses.get(i).copied().unwrap_or_default();
    }
    for (i, link) in tree.links().iter().enumerate().rev() {
        let mut carried = wrenches[i];
        for k in link.velocities().rev() {
            residual[k] = tau.get(k).copied().unwrap_or(0.0) + carried.power(&at.columns[k]);
            carried.add_scaled(&factors.forces[k], -residual[k] * factors.inverses[k]);
        }
        if let Some(parent) = link.parent() {
            wrenches[parent].add(&carried.moved(&at.arms[i]));
        }
    }
    outward(tree, at, factors, residual, accelerations, change);
}

/// Outward sweep of a response: Δv of the residuals u = Σ r of half responses.   [ART-11]
pub fn outward_response(
    tree: &Tree,
    at: &Kinematics,
    factors: &ArticulatedFactors,
    residual: &[f64],
    scratch: &mut Scratch,
    change: &mut [f64],
) {
    outward(tree, at, factors, residual, &mut scratch.accelerations, change);
}

fn outward(
    tree: &Tree,
    at: &Kinematics,
    factors: &ArticulatedFactors,
    residual: &[f64],
    jumps: &mut [Twist],
    change: &mut [f64],
) {
    let (links, velocities) = (tree.links(), tree.velocities());
    debug_assert_eq!((residual.len(), change.len()), (velocities, velocities), "one number per velocity");
    let (arms, jumps) = (&at.arms[..links.len()], &mut jumps[..links.len()]);
    let (columns, residual, change) = (&at.columns[..velocities], &residual[..velocities], &mut change[..velocities]);
    let (forces, inverses) = (&factors.forces[..velocities], &factors.inverses[..velocities]);
    for (i, link) in links.iter().enumerate() {
        let mut jump = link.parent().map_or_else(Twist::default, |parent| jumps[parent].moved(&arms[i]));
        for k in link.velocities() {
            let own = (residual[k] - forces[k].power(&jump)) * inverses[k];
            change[k] = own;
            jump.add_scaled(&columns[k], own);
        }
        jumps[i] = jump;
    }
}

/// Inward sweep of the response to a generalised impulse at the velocities that move a link, in place: residuals u in the order of
/// [`Tree::ancestors`].   [ART-12]
pub fn half_response_of_row(tree: &Tree, at: &Kinematics, factors: &ArticulatedFactors, link: LinkId, row: &mut [f64]) {
    debug_assert_eq!(row.len(), tree.depth(link), "one entry per velocity that moves the link");
    let mut row = row.iter_mut();
    let mut carried = Wrench::default();
    for i in tree.path_to_root(link) {
        for (k, entry) in tree.links()[i].velocities().rev().zip(row.by_ref()) {
            *entry += carried.power(&at.columns[k]);
            carried.add_scaled(&factors.forces[k], -*entry * factors.inverses[k]);
        }
        carried = carried.moved(&at.arms[i]);
    }
}

/// Inward sweep of the response to an impulse at one velocity: calls `found` with each velocity that moves its link and the residual,
/// in the order of [`Tree::ancestors`].   [ART-12]
pub fn half_response_at(
    tree: &Tree,
    at: &Kinematics,
    factors: &ArticulatedFactors,
    (velocity, impulse): (usize, f64),
    mut found: impl FnMut(usize, f64),
) {
    let Some(link) = tree.link_of(velocity) else {
        debug_assert!(false, "the tree has no velocity {velocity}");
        return;
    };
    let (links, velocities) = (tree.links(), tree.velocities());
    let (arms, columns) = (&at.arms[..links.len()], &at.columns[..velocities]);
    let (forces, inverses) = (&factors.forces[..velocities], &factors.inverses[..velocities]);
    let mut carried = Wrench::default();
    for i in tree.path_to_root(link) {
        for k in links[i].velocities().rev() {
            let own = if k == velocity { impulse } else { 0.0 };
            let residual = own + carried.power(&columns[k]);
            carried.add_scaled(&forces[k], -residual * inverses[k]);
            found(k, residual);
        }
        carried = carried.moved(&arms[i]);
    }
}

/// Inward sweep of the response to one impulse on a link: the residual u of each velocity that moves it, in the order
/// of [`Tree::ancestors`]; all others are zero.   [ART-12]
///
/// `impulse` acts in world axes about the world position `point`. `row` has [`Tree::depth`] of the link entries.
pub fn half_response(
    tree: &Tree,
    at: &Kinematics,
    factors: &ArticulatedFactors,
    link: LinkId,
    (impulse, point): (&Wrench, &Vector3<f64>),
    row: &mut [f64],
) {
    debug_assert_eq!(row.len(), tree.depth(link), "one entry per velocity that moves the link");
    let mut row = row.iter_mut();
    let Some(origin) = at.poses.get(link.index()).map(|pose| pose.translation.vector) else {
        debug_assert!(false, "the tree has no link {}", link.index());
        return;
    };
    let mut carried = impulse.moved(&(point - origin));
    for i in tree.path_to_root(link) {
        for (k, entry) in tree.links()[i].velocities().rev().zip(row.by_ref()) {
            *entry = carried.power(&at.columns[k]);
            carried.add_scaled(&factors.forces[k], -*entry * factors.inverses[k]);
        }
        carried = carried.moved(&at.arms[i]);
    }
}

/// Wrenches about one point as a structure of arrays: one array per component.
#[derive(Clone, Copy, Debug)]
struct Bundle<const N: usize> {
    linear: [[f64; N]; 3],
    angular: [[f64; N]; 3],
}

impl<const N: usize> Bundle<N> {
    fn new(wrenches: &[Wrench; N]) -> Self {
        use std::array::from_fn;
        Self {
            linear: from_fn(|part| from_fn(|n| wrenches[n].linear[part])),
            angular: from_fn(|part| from_fn(|n| wrenches[n].angular[part])),
        }
    }

    /// Computes the residuals u = f·v + τ·ω of a velocity, and adds −u/d times U to each wrench.   [ART-12]
    ///
    /// Not inlined, so that the arrays stay in memory. There the compiler vectorises over the wrenches; from registers it would
    /// have to gather them first.
    #[inline(never)]
    fn pass(&mut self, column: &Twist, (force, inverse): (&Wrench, f64), residuals: &mut [f64; N]) {
        let Self { linear: [f, g, h], angular: [s, t, u] } = self;
        let (v, w) = (&column.linear, &column.angular);
        for n in 0..N {
            residuals[n] = (f[n] * v.x + g[n] * v.y + h[n] * v.z) + (s[n] * w.x + t[n] * w.y + u[n] * w.z);
        }
        let factors = residuals.map(|u| -u * inverse);
        let (v, w) = (&force.linear, &force.angular);
        for (part, own) in [(f, v.x), (g, v.y), (h, v.z), (s, w.x), (t, w.y), (u, w.z)] {
            part.iter_mut().zip(&factors).for_each(|(x, factor)| *x += own * factor);
        }
    }

    /// Moves the wrenches to the point at −`arm`: torques grow by arm × force.
    #[inline(never)]
    fn move_by(&mut self, arm: &Vector3<f64>) {
        let Self { linear: [f, g, h], angular: [s, t, u] } = self;
        for n in 0..N {
            s[n] += arm.y * h[n] - arm.z * g[n];
        }
        for n in 0..N {
            t[n] += arm.z * f[n] - arm.x * h[n];
        }
        for n in 0..N {
            u[n] += arm.x * g[n] - arm.y * f[n];
        }
    }
}

/// [`half_response`] of several impulses on a link at once, each in world axes about the link's origin.   [ART-12]
///
/// Calls `found` with every velocity that moves the link and the residual of each impulse, in the order of [`Tree::ancestors`].
pub fn half_responses<const N: usize>(
    tree: &Tree,
    at: &Kinematics,
    factors: &ArticulatedFactors,
    link: LinkId,
    impulses: &[Wrench; N],
    mut found: impl FnMut(usize, &[f64; N]),
) {
    let (links, velocities) = (tree.links(), tree.velocities());
    let (arms, columns) = (&at.arms[..links.len()], &at.columns[..velocities]);
    let (forces, inverses) = (&factors.forces[..velocities], &factors.inverses[..velocities]);
    let mut carried = Bundle::new(impulses);
    for i in tree.path_to_root(link) {
        for k in links[i].velocities().rev() {
            let mut residuals = [0.0; N];
            carried.pass(&columns[k], (&forces[k], inverses[k]), &mut residuals);
            found(k, &residuals);
        }
        carried.move_by(&arms[i]);
    }
}

/// Entry J_a M⁻¹ J_bᵀ of the Delassus matrix from two half responses: Σ u_a u_b / d over the velocities that move both
/// links.   [ART-12]
pub fn coupling(
    tree: &Tree,
    factors: &ArticulatedFactors,
    (link_a, row_a): (LinkId, &[f64]),
    (link_b, row_b): (LinkId, &[f64]),
) -> f64 {
    debug_assert_eq!(row_a.len(), tree.depth(link_a), "the first row has one entry per velocity that moves its link");
    debug_assert_eq!(row_b.len(), tree.depth(link_b), "the second row has one entry per velocity that moves its link");
    let head = |link: LinkId| tree.links().get(link.index()).and_then(super::Link::last_velocity);
    let (mut a, mut b) = (head(link_a), head(link_b));
    // Parents come before children, so the later of two velocities is not an ancestor of the other.
    while a != b {
        if a > b {
            a = a.and_then(|k| tree.velocity_parent(k));
        } else {
            b = b.and_then(|k| tree.velocity_parent(k));
        }
    }
    let common = a.map_or(0, |k| tree.velocity_depth(k));
    let tail = |row: &'_ [f64]| row.len().saturating_sub(common);
    let pairs = row_a[tail(row_a)..].iter().zip(&row_b[tail(row_b)..]);
    tree.ancestors(a).zip(pairs).map(|(k, (u_a, u_b))| u_a * u_b * factors.inverses[k]).sum()
}
