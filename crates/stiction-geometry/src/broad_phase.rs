//! Which pairs of bodies can be close: a complete list of overlapping bounding boxes.
//!
//! Two closed boxes overlap when their intervals overlap on every axis [GEOM-2]. A proxy without a box is unbounded and
//! overlaps everybody; one with a box that has no end on some sides overlaps whatever comes near the others. Few boxes are
//! compared pair by pair; many go through parry's bounding-volume tree, whose shape depends on the past but whose list of
//! overlaps, once sorted, does not. The plane is z = 0 of space, so one tree serves
//! both worlds. Boxes are taken as given: pad them by the contact margin with [`Aabb::padded`].

use nalgebra::{Point3, Vector3};
use parry3d_f64::bounding_volume as parry;
use parry3d_f64::glamx::DVec3;
use parry3d_f64::partitioning::{Bvh, BvhBuildStrategy, BvhWorkspace};

/// Up to this many proxies every pair is compared; above, the tree is faster.
const MOST_FOR_ALL_PAIRS: usize = 32;

/// A closed axis-aligned box in world coordinates; infinite coordinates stand for sides without an end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aabb {
    /// The corner with the smallest coordinates.
    pub min: Point3<f64>,
    /// The corner with the largest coordinates.
    pub max: Point3<f64>,
}

impl Aabb {
    /// The box grown by `margin` on every side.
    #[inline]
    pub fn padded(&self, margin: f64) -> Self {
        let by = Vector3::repeat(margin);
        Self { min: self.min - by, max: self.max + by }
    }

    /// Whether the two closed boxes have a point in common.   [GEOM-2]
    // Which comparison decides can hardly be foretold: branches would cost more than all six.
    #[allow(clippy::needless_bitwise_bool)]
    #[inline]
    pub fn overlaps(&self, other: &Self) -> bool {
        let below = |a: &Point3<f64>, b: &Point3<f64>| (a.x <= b.x) & (a.y <= b.y) & (a.z <= b.z);
        below(&self.min, &other.max) & below(&other.min, &self.max)
    }

    /// The box around a half-space through `origin` with the given outward normal; none where the normal is along no axis, so that no side
    /// of the box would have an end.
    pub(crate) fn of_half_space(origin: &Vector3<f64>, normal: &Vector3<f64>) -> Option<Self> {
        let everywhere = Point3::from(Vector3::repeat(f64::INFINITY));
        let mut bounds = Self { min: -everywhere, max: everywhere };
        let axis = normal.iamax();
        if normal.iter().enumerate().any(|(k, x)| k != axis && *x != 0.0) {
            return None;
        }
        let end = if normal[axis] > 0.0 { &mut bounds.max } else { &mut bounds.min };
        end[axis] = origin[axis];
        Some(bounds)
    }

    /// Whether all sides have an end.
    fn is_bounded(&self) -> bool {
        self.min.iter().chain(&self.max.coords).all(|x| x.is_finite())
    }
}

/// Finds overlapping pairs; owns the tree and the buffers, which carry no information from call to call.
#[derive(Default)]
pub struct BroadPhase {
    tree: Bvh,
    workspace: BvhWorkspace,
    /// The proxies that have a leaf in `tree`.
    leaves: Vec<usize>,
    bounded: Vec<usize>,
    unbounded: Vec<usize>,
}

impl BroadPhase {
    /// Replaces the content of `pairs` by all (i, j), i < j, sorted, whose boxes overlap and which `keep` accepts.
    pub fn pairs(
        &mut self,
        proxies: &[Option<Aabb>],
        mut keep: impl FnMut(usize, usize) -> bool,
        pairs: &mut Vec<(usize, usize)>,
    ) {
        pairs.clear();
        if proxies.len() <= MOST_FOR_ALL_PAIRS {
            all_pairs(proxies, &mut keep, pairs);
            return;
        }
        self.bounded.clear();
        self.unbounded.clear();
        for (i, proxy) in proxies.iter().enumerate() {
            let is_bounded = proxy.as_ref().is_some_and(Aabb::is_bounded);
            if is_bounded { self.bounded.push(i) } else { self.unbounded.push(i) }
        }
        self.pairs_of_the_unbounded(proxies, &mut keep, pairs);
        self.pairs_of_the_tree(proxies, &mut keep, pairs);
        pairs.sort_unstable();
    }

    /// Every pair in which at least one side is unbounded.
    fn pairs_of_the_unbounded(
        &self,
        proxies: &[Option<Aabb>],
        keep: &mut impl FnMut(usize, usize) -> bool,
        pairs: &mut Vec<(usize, usize)>,
    ) {
        for &u in &self.unbounded {
            // Two unbounded proxies meet once, in the turn of the smaller one.
            let Some(own) = proxies.get(u) else { continue };
            let partners = (0..).zip(proxies).filter(|&(i, other)| {
                let is_in_turn = i > u || (i < u && self.bounded.binary_search(&i).is_ok());
                is_in_turn && may_overlap(own.as_ref(), other.as_ref())
            });
            pairs.extend(partners.map(|(i, _)| (u.min(i), u.max(i))).filter(|&(i, j)| keep(i, j)));
        }
    }

    /// The overlaps among the bounded proxies, unsorted.
    fn pairs_of_the_tree(
        &mut self,
        proxies: &[Option<Aabb>],
        keep: &mut impl FnMut(usize, usize) -> bool,
        pairs: &mut Vec<(usize, usize)>,
    ) {
        let boxes = self.bounded.iter().filter_map(|&i| proxies.get(i).copied().flatten().map(|aabb| (i, aabb)));
        if self.leaves == self.bounded {
            for (i, aabb) in boxes {
                self.tree.insert_or_update_partially(to_parry(&aabb), i as u32, 0.0);
            }
            self.tree.refit(&mut self.workspace);
            self.tree.optimize_incremental(&mut self.workspace);
        } else {
            self.tree = Bvh::from_iter(BvhBuildStrategy::Binned, boxes.map(|(i, aabb)| (i, to_parry(&aabb))));
            self.leaves.clone_from(&self.bounded);
        }
        self.tree.traverse_bvtt_single_tree::<false>(&mut self.workspace, &mut |i, j| {
            let (i, j) = (i.min(j) as usize, i.max(j) as usize);
            if keep(i, j) {
                pairs.push((i, j));
            }
        });
    }
}

/// Compares every pair; the result comes out sorted.
fn all_pairs(proxies: &[Option<Aabb>], keep: &mut impl FnMut(usize, usize) -> bool, pairs: &mut Vec<(usize, usize)>) {
    for (i, a) in proxies.iter().enumerate() {
        let later = proxies.get(i + 1..).unwrap_or_default();
        for (after, b) in later.iter().enumerate() {
            if may_overlap(a.as_ref(), b.as_ref()) && keep(i, i + 1 + after) {
                pairs.push((i, i + 1 + after));
            }
        }
    }
}

/// What has no box overlaps everybody.
#[inline]
fn may_overlap(a: Option<&Aabb>, b: Option<&Aabb>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.overlaps(b),
        _ => true,
    }
}

fn to_parry(aabb: &Aabb) -> parry::Aabb {
    let corner = |p: &Point3<f64>| DVec3::new(p.x, p.y, p.z);
    parry::Aabb::new(corner(&aabb.min), corner(&aabb.max))
}
