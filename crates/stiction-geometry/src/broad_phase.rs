//! Broad phase: a complete list of pairs of overlapping bounding boxes.
//!
//! Two closed boxes overlap if their intervals overlap on every axis [GEOM-2]. A proxy without a box is unbounded and
//! overlaps every other. Sides of a box may be infinite. Few boxes are compared pair by pair; many go through parry's
//! bounding-volume tree. The shape of the tree depends on earlier calls, but its sorted list of overlaps does not.
//! The plane is z = 0 of space, so one tree serves both dimensions. The caller pads the boxes by the contact margin
//! with [`Aabb::padded`].

use nalgebra::{Point3, Vector3};
use parry3d_f64::bounding_volume as parry;
use parry3d_f64::glamx::DVec3;
use parry3d_f64::partitioning::{Bvh, BvhBuildStrategy, BvhWorkspace};

/// Largest number of proxies for which every pair is compared; above it the tree is faster.
const MAX_ALL_PAIRS: usize = 32;

/// A closed axis-aligned box in world coordinates; infinite coordinates stand for unbounded sides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aabb {
    /// Corner with the smallest coordinates.
    pub min: Point3<f64>,
    /// Corner with the largest coordinates.
    pub max: Point3<f64>,
}

impl Aabb {
    /// Returns the box grown by `margin` on every side.
    #[inline]
    pub fn padded(&self, margin: f64) -> Self {
        let by = Vector3::repeat(margin);
        Self { min: self.min - by, max: self.max + by }
    }

    /// Returns the smallest box that contains both.
    pub fn union(&self, other: &Self) -> Self {
        Self { min: self.min.inf(&other.min), max: self.max.sup(&other.max) }
    }

    /// True if the two closed boxes have a point in common.   [GEOM-2]
    // The outcome of each comparison is hardly predictable: branches would cost more than all six.
    #[allow(clippy::needless_bitwise_bool)]
    #[inline]
    pub fn overlaps(&self, other: &Self) -> bool {
        let below = |a: &Point3<f64>, b: &Point3<f64>| (a.x <= b.x) & (a.y <= b.y) & (a.z <= b.z);
        below(&self.min, &other.max) & below(&other.min, &self.max)
    }

    /// Returns the box around a half-space through `origin` with the given outward normal; `None` unless the normal
    /// is along an axis, because then every side would be infinite.
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

    /// True if all sides are finite.
    fn is_bounded(&self) -> bool {
        self.min.iter().chain(&self.max.coords).all(|x| x.is_finite())
    }
}

/// Finder of overlapping pairs. It owns the tree and the buffers, which carry no information between calls.
#[derive(Default)]
pub struct BroadPhase {
    tree: Bvh,
    workspace: BvhWorkspace,
    /// Proxies that have a leaf in `tree`.
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
        if proxies.len() <= MAX_ALL_PAIRS {
            all_pairs(proxies, &mut keep, pairs);
            return;
        }
        self.bounded.clear();
        self.unbounded.clear();
        for (i, proxy) in proxies.iter().enumerate() {
            let is_bounded = proxy.as_ref().is_some_and(Aabb::is_bounded);
            if is_bounded { self.bounded.push(i) } else { self.unbounded.push(i) }
        }
        debug_assert_eq!(self.bounded.len() + self.unbounded.len(), proxies.len(), "every proxy is in one list");
        self.unbounded_pairs(proxies, &mut keep, pairs);
        self.tree_pairs(proxies, &mut keep, pairs);
        pairs.sort_unstable();
    }

    /// Adds every pair in which at least one side is unbounded.
    fn unbounded_pairs(
        &self,
        proxies: &[Option<Aabb>],
        keep: &mut impl FnMut(usize, usize) -> bool,
        pairs: &mut Vec<(usize, usize)>,
    ) {
        for &u in &self.unbounded {
            debug_assert!(u < proxies.len(), "unbounded numbers are those of proxies");
            // A pair of unbounded proxies is visited once, with the smaller number as `u`.
            let Some(own) = proxies.get(u) else { continue };
            let partners = (0..).zip(proxies).filter(|&(i, other)| {
                let is_unvisited = i > u || (i < u && self.bounded.binary_search(&i).is_ok());
                is_unvisited && may_overlap(own.as_ref(), other.as_ref())
            });
            pairs.extend(partners.map(|(i, _)| (u.min(i), u.max(i))).filter(|&(i, j)| keep(i, j)));
        }
    }

    /// Adds the overlaps among the bounded proxies, unsorted.
    fn tree_pairs(
        &mut self,
        proxies: &[Option<Aabb>],
        keep: &mut impl FnMut(usize, usize) -> bool,
        pairs: &mut Vec<(usize, usize)>,
    ) {
        let has_box = |&i: &usize| proxies.get(i).is_some_and(Option::is_some);
        debug_assert!(self.bounded.iter().all(has_box), "every bounded proxy has a box");
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
            debug_assert!(i < j && j < proxies.len(), "leaves of the tree have the numbers of their proxies");
            if keep(i, j) {
                pairs.push((i, j));
            }
        });
    }
}

/// Compares every pair; the result is sorted.
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

/// True if the boxes overlap; a missing box overlaps every other.
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
