//! Equations of motion at handles: accelerations in terms of forces. A joint between two handles is eliminated by the
//! orthogonal complement of its motion subspace.
//!
//! The handles describe a free link, a tree, or several of them together. A joint between two handles of one assembly closes
//! a loop, a joint between two assemblies connects them; the equation is the same.

use nalgebra::{Matrix6, Vector3, Vector6};

use super::{
    super::{MAX_VELOCITIES, SingularInertia, inertia::RigidInertia, kinematics::Kinematics},
    Divide,
    small::{Pivots, Tally, solve},
    spatial,
};
use crate::{LinkId, Twist, Wrench};

/// A_i = Σ_j ζ_ij F_j + ζ_i over handles: spatial accelerations A (or velocities) of points of bodies, by spatial forces F
/// (or impulses) applied there, angular part first.   [DCA-9]
#[derive(Clone, Debug, PartialEq)]
pub struct HandleEquations {
    /// ζ_ij, row by row.
    compliance: Vec<Matrix6<f64>>,
    /// ζ_i: accelerations without forces at the handles.
    free: Vec<Vector6<f64>>,
    tally: Tally,
}

/// A joint between two handles.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HandleJoint<'a> {
    /// P: relative motions of the second handle to the first that the joint allows.
    pub subspace: &'a [Twist],
    /// Known part Ṗ u of the relative acceleration of the second handle to the first, or of the relative velocity.
    pub product: Twist,
    /// Forces along P; may be empty, for none.
    pub tau: &'a [f64],
}

/// Orthonormal basis D of the orthogonal complement of the span of `columns`, Dᵀ P = 0.   [DCA-9]
pub fn orthogonal_complement(columns: &[Vector6<f64>]) -> Vec<Vector6<f64>> {
    /// Fraction of the length of a column outside of the span of the others, up to which the column counts as dependent.
    const PARALLEL: f64 = 1e-10;
    let mut basis: Vec<Vector6<f64>> = Vec::with_capacity(6);
    let without = |basis: &[Vector6<f64>], v: &Vector6<f64>| {
        // Two passes suffice: the second removes the rounding errors of the first.
        let once = |v: Vector6<f64>| basis.iter().fold(v, |v, b| v - b * b.dot(&v));
        once(once(*v))
    };
    for column in columns {
        let rest = without(&basis, column);
        if rest.norm() > PARALLEL * column.norm() {
            basis.push(rest.normalize());
        }
    }
    let spanned = basis.len();
    while basis.len() < 6 {
        let rests = (0..6).map(|k| without(&basis, &Vector6::ith(k, 1.0)));
        let Some(longest) = rests.max_by(|a, b| a.norm().total_cmp(&b.norm())) else { break };
        basis.push(longest.normalize());
    }
    basis.split_off(spanned)
}

impl HandleEquations {
    /// A free link with handles at `arms` from its origin, under a wrench about the origin, all in world axes: ζ_ij = S_i
    /// M⁻¹ S_jᵀ. The wrench is the sum of the applied wrench and the gyroscopic force −ν ×* I ν.   [DCA-9]
    pub fn of_link(inertia: &RigidInertia, arms: &[Vector3<f64>], load: &Wrench) -> Result<Self, SingularInertia> {
        let mut tally = Tally::default();
        let mut inverse = Matrix6::identity();
        let matrix = &mut spatial::inertia(inertia);
        solve((matrix, 6), Pivots::Diagonal, (&mut inverse, 6), &mut tally)
            .map_err(|velocity| SingularInertia { velocity })?;
        let shifts: Vec<_> = arms.iter().map(spatial::shift).collect();
        let pairs = shifts.iter().flat_map(|a| shifts.iter().map(move |b| (a, b)));
        Ok(Self {
            compliance: pairs.map(|(a, b)| a * inverse * b.transpose()).collect(),
            free: shifts.iter().map(|shift| shift * (inverse * spatial::force(load))).collect(),
            tally,
        })
    }

    /// An assembled tree with handles at world positions on its links. `free` holds the acceleration, or the velocity, of each
    /// handle without forces there.   [DCA-8]
    pub fn of_tree(divide: &mut Divide, at: &Kinematics, handles: &[(LinkId, Vector3<f64>)], free: &[Twist]) -> Self {
        let size = 6 * handles.len();
        debug_assert!(free.is_empty() || free.len() == handles.len(), "one free motion per handle, or none");
        let unit = |k| spatial::wrench(&Vector6::ith(k, 1.0));
        let rows: Vec<_> =
            handles.iter().flat_map(|&(link, point)| (0..6).map(move |k| (link, unit(k), point))).collect();
        let mut entries = vec![0.0; size * size];
        divide.delassus(at, &rows, &mut entries);
        let block = |i: usize, j: usize| Matrix6::from_fn(|a, b| entries[(6 * i + a) * size + 6 * j + b]);
        let count = handles.len();
        Self {
            compliance: (0..count * count).map(|place| block(place / count, place % count)).collect(),
            free: (0..count).map(|i| free.get(i).map(spatial::motion).unwrap_or_default()).collect(),
            tally: divide.tally(),
        }
    }

    /// Number of handles.
    pub fn handles(&self) -> usize {
        self.free.len()
    }

    /// ζ_ij: acceleration of handle i for a unit force at handle j.
    pub fn compliance(&self, i: usize, j: usize) -> &Matrix6<f64> {
        debug_assert!(i < self.free.len() && j < self.free.len(), "handles {i} and {j} are not both present");
        &self.compliance[i * self.free.len() + j]
    }

    /// ζ_i: acceleration of a handle without forces at any handle.
    pub fn free(&self, i: usize) -> &Vector6<f64> {
        &self.free[i]
    }

    /// Counts of the factorisations so far.
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// Block-diagonal union of two independent assemblies: the handles of this one, then those of the other.
    pub fn beside(&self, other: &Self) -> Self {
        let (first, count) = (self.handles(), self.handles() + other.handles());
        let block = |i: usize, j: usize| match (i < first, j < first) {
            (true, true) => *self.compliance(i, j),
            (false, false) => *other.compliance(i - first, j - first),
            _ => Matrix6::zeros(),
        };
        Self {
            compliance: (0..count * count).map(|place| block(place / count, place % count)).collect(),
            free: self.free.iter().chain(&other.free).copied().collect(),
            tally: self.tally.and(other.tally),
        }
    }

    /// Joins handle b to handle a, two points at one position, and eliminates both: X = D (Dᵀ Z D)⁻¹ Dᵀ with Z = ζ_aa + ζ_bb −
    /// ζ_ab − ζ_ba. The others keep their order.   [DCA-9]
    ///
    /// The second result is the force on b through the joint as an affine function of the forces at the other handles.
    pub fn join(&self, a: usize, b: usize, joint: &HandleJoint) -> Result<(Self, JointForce), SingularInertia> {
        debug_assert!(a != b && a < self.handles() && b < self.handles(), "a joint needs two handles of the assembly");
        let mut tally = Tally { joints: self.tally.joints + 1, ..self.tally };
        let opening = |k: usize| self.compliance(b, k) - self.compliance(a, k);
        let z = opening(b) - opening(a);
        let columns: Vec<_> = joint.subspace.iter().map(spatial::motion).collect();
        let x = constrained_stiffness(&orthogonal_complement(&columns), &z, &mut tally)?;
        let driven = along(&columns, joint.tau, &mut tally)?;
        let apart = self.free[b] - self.free[a] - spatial::motion(&joint.product);
        let force = driven - x * (apart + z * driven);

        let others: Vec<usize> = (0..self.handles()).filter(|&k| k != a && k != b).collect();
        let pairs = others.iter().flat_map(|&i| others.iter().map(move |&j| (i, j)));
        let next = Self {
            compliance: pairs.map(|(i, j)| self.compliance(i, j) - opening(i).tr_mul(&(x * opening(j)))).collect(),
            free: others.iter().map(|&i| self.free[i] + opening(i).tr_mul(&force)).collect(),
            tally,
        };
        let gains = others.iter().map(|&k| -(x * opening(k))).collect();
        Ok((next, JointForce { constant: force, gains }))
    }
}

/// Force through an eliminated joint on its second handle: constant + Σ gains_k F_k over the remaining handles.
#[derive(Clone, Debug, PartialEq)]
pub struct JointForce {
    /// Force without forces at the other handles.
    pub constant: Vector6<f64>,
    /// Force per unit force at each of the other handles.
    pub gains: Vec<Matrix6<f64>>,
}

/// X = D (Dᵀ Z D)⁻¹ Dᵀ.   [DCA-9]
fn constrained_stiffness(
    complement: &[Vector6<f64>],
    z: &Matrix6<f64>,
    tally: &mut Tally,
) -> Result<Matrix6<f64>, SingularInertia> {
    debug_assert!(complement.len() <= 6, "a complement in six dimensions has at most six directions");
    let size = complement.len().min(6);
    let mut d = Matrix6::zeros();
    for (k, column) in complement.iter().enumerate().take(size) {
        d.set_column(k, column);
    }
    let mut matrix = d.tr_mul(&(z * d));
    let mut solved = d.transpose();
    solve((&mut matrix, size), Pivots::Diagonal, (&mut solved, 6), tally)
        .map_err(|velocity| SingularInertia { velocity })?;
    Ok(d * solved)
}

/// Force P (Pᵀ P)⁻¹ τ, which has the power of τ and no component orthogonal to P.
fn along(columns: &[Vector6<f64>], tau: &[f64], tally: &mut Tally) -> Result<Vector6<f64>, SingularInertia> {
    debug_assert!(columns.len() <= MAX_VELOCITIES, "a joint has at most {MAX_VELOCITIES} velocities");
    debug_assert!(tau.is_empty() || tau.len() == columns.len(), "one force per velocity of the joint, or none");
    let size = columns.len().min(MAX_VELOCITIES);
    if tau.iter().all(|&tau| tau == 0.0) {
        return Ok(Vector6::zeros());
    }
    let (mut matrix, mut right) = (Matrix6::zeros(), Matrix6::zeros());
    for i in 0..size {
        for j in 0..size {
            matrix[(i, j)] = columns[i].dot(&columns[j]);
        }
        right[(i, 0)] = tau.get(i).copied().unwrap_or(0.0);
    }
    solve((&mut matrix, size), Pivots::Diagonal, (&mut right, 1), tally)
        .map_err(|velocity| SingularInertia { velocity })?;
    Ok(columns.iter().zip(right.column(0).iter()).fold(Vector6::zeros(), |sum, (column, x)| sum + column * *x))
}
