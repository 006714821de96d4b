//! The direction of largest separation of a polytope and another core.
//!
//! For a unit vector n the separation is σ(n) = min_{b ∈ B} n · b − max_{a ∈ A} n · a.   [GEOM-35]
//! For overlapping cores its maximum over all n is attained on a finite set: the face normals of A, the reversed face
//! normals of B, and the common perpendiculars of those pairs of edges that support A and B from opposite sides.

use nalgebra::Vector3;

use super::placed::Core;
use super::polytope_bounds::{Bounds, FaceSeparation};
use super::segment::{PARALLEL, cross, is_transverse};
use super::topology::Edge;

/// Features that span the direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A face of A and a vertex of B.
    FaceOfA { face: u32, vertex: u32 },
    /// A face of B and a vertex of A.
    FaceOfB { face: u32, vertex: u32 },
    /// An edge of A and an edge of B.
    Edges { edge_a: u32, edge_b: u32 },
}

/// The direction of largest separation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    pub(super) kind: Kind,
    /// Unit vector from A to B.
    pub(super) direction: Vector3<f64>,
    pub(super) separation: f64,
    /// False if a different direction has the same separation.
    pub(super) is_unique: bool,
}

/// Cosine below which directions are distinct.
const DISTINCT: f64 = 1.0 - 1e-9;
/// Factor of the resolution of the pair above which a separation counts as apart.
const APART: f64 = 16.0;
/// Largest number of equally good directions that are kept.
const MAX_CANDIDATES: usize = 8;

/// Directions whose separation is within `lead` of the largest, in the order in which they were considered.
#[derive(Clone, Copy, Debug)]
struct Candidates {
    axes: [Option<Axis>; MAX_CANDIDATES],
    largest: f64,
    lead: f64,
}

impl Candidates {
    fn new(lead: f64) -> Self {
        Self { axes: [None; MAX_CANDIDATES], largest: f64::NEG_INFINITY, lead }
    }

    fn consider(&mut self, kind: Kind, direction: Vector3<f64>, separation: f64) {
        if separation > self.largest {
            self.largest = separation;
            let (largest, lead) = (self.largest, self.lead);
            let mut kept = [None; MAX_CANDIDATES];
            let still_close = self.axes.iter().flatten().filter(|axis| axis.separation >= largest - lead);
            kept.iter_mut().zip(still_close).for_each(|(slot, axis)| *slot = Some(*axis));
            self.axes = kept;
        }
        if separation >= self.largest - self.lead
            && let Some(free) = self.axes.iter_mut().find(|slot| slot.is_none())
        {
            *free = Some(Axis { kind, direction, separation, is_unique: true });
        }
    }

    /// Returns the first candidate whose features `meet`, or else the first of all.
    ///
    /// For separated cores the closest features decide; only overlapping or touching cores can have several equally
    /// good directions.
    fn first(&self, meet: impl Fn(&Kind) -> bool) -> Option<Axis> {
        let candidates = || self.axes.iter().flatten();
        let first = *candidates().find(|axis| meet(&axis.kind)).or_else(|| candidates().next())?;
        let is_alone = candidates().all(|other| other.direction.dot(&first.direction) >= DISTINCT);
        Some(Axis { is_unique: is_alone || first.separation > APART * self.lead, ..first })
    }
}

/// Returns the direction of largest separation; `None` if that separation exceeds `reach`.
///
/// Separations that differ by less than `lead` count as equal. The order is then: features that meet before features
/// that pass each other, a face of A before a face of B, a face before a pair of edges, a lower number before a
/// higher one.
pub(super) fn axis(a: &Core<'_>, b: &Core<'_>, reach: f64, lead: f64, bounds: &mut Bounds) -> Option<Axis> {
    // Bounds have round-off, which is less than the lead.
    let slack = 2.0 * lead;
    let mut candidates = Candidates::new(lead);
    for at in bounds.faces([a, b], reach, slack)? {
        let &FaceSeparation { face, vertex, separation, .. } = at;
        if at.side == 0 {
            candidates.consider(Kind::FaceOfA { face, vertex }, a.normal(face), separation);
        } else {
            candidates.consider(Kind::FaceOfB { face, vertex }, -b.normal(face), separation);
        }
    }
    let [edges_a, edges_b] = bounds.edges([a, b], candidates.largest - slack);
    for &edge_a in edges_a {
        let arc = Arc::new(a, a.edge(edge_a));
        for &edge_b in edges_b {
            if let Some((direction, separation)) = edge_separation(a, (a.edge(edge_a), &arc), b, b.edge(edge_b)) {
                candidates.consider(Kind::Edges { edge_a, edge_b }, direction, separation);
            }
        }
    }
    let meet = |kind: &Kind| match *kind {
        Kind::FaceOfA { face, vertex } => a.is_over_face(face, &b.vertex(vertex), lead),
        Kind::FaceOfB { face, vertex } => b.is_over_face(face, &a.vertex(vertex), lead),
        Kind::Edges { edge_a, edge_b } => {
            let (ends_a, ends_b) = (a.ends(a.edge(edge_a)), b.ends(b.edge(edge_b)));
            is_transverse(&ends_a, &ends_b) && cross(&ends_a, &ends_b, lead)
        }
    };
    candidates.first(meet).filter(|_| candidates.largest <= reach)
}

/// The normals that an edge supports: an arc of a great circle from m to n, in the plane with the normal n × m.
struct Arc {
    m: Vector3<f64>,
    n: Vector3<f64>,
    plane: Vector3<f64>,
}

impl Arc {
    fn new(core: &Core<'_>, edge: Edge) -> Self {
        let [m, n] = edge.faces.map(|face| core.normal(face));
        Self { m, n, plane: n.cross(&m) }
    }

    /// True if the reversed normals that edge B supports have one in common with this arc.
    ///
    /// Both sets are arcs of great circles. They cross if the ends of each lie on different sides of the other, in the
    /// same hemisphere.   [GEOM-36] An edge without faces supports the whole circle perpendicular to it.
    fn crosses(&self, b: &Core<'_>, edge_b: Edge) -> bool {
        let Self { m, n, .. } = self;
        if b.normals.is_empty() {
            let [b_0, b_1] = b.ends(edge_b);
            let e_b = b_1 - b_0;
            return m.dot(&e_b) * n.dot(&e_b) < 0.0;
        }
        let [p, q] = edge_b.faces.map(|face| -b.normal(face));
        let (p_side, q_side) = (p.dot(&self.plane), q.dot(&self.plane));
        if p_side * q_side >= 0.0 {
            return false;
        }
        let plane_b = q.cross(&p);
        let (m_side, n_side) = (m.dot(&plane_b), n.dot(&plane_b));
        m_side * n_side < 0.0 && p_side * n_side > 0.0
    }
}

/// Returns the outward common perpendicular of two edges, out of A, and the separation along it, if both edges
/// support it.
fn edge_separation(
    a: &Core<'_>,
    (edge_a, arc): (Edge, &Arc),
    b: &Core<'_>,
    edge_b: Edge,
) -> Option<(Vector3<f64>, f64)> {
    if !arc.crosses(b, edge_b) {
        return None;
    }
    let ([a_0, a_1], [b_0, b_1]) = (a.ends(edge_a), b.ends(edge_b));
    let (e_a, e_b) = (a_1 - a_0, b_1 - b_0);
    let cross = e_a.cross(&e_b);
    let length = cross.norm();
    if length <= PARALLEL * e_a.norm() * e_b.norm() {
        return None;
    }
    let outward = if cross.dot(&(arc.m + arc.n)) < 0.0 { -cross / length } else { cross / length };
    Some((outward, outward.dot(&(b_0 - a_0))))
}

#[cfg(test)]
mod tests;
