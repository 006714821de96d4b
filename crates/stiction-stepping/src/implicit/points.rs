//! Closest points as unknowns: the full nonlinear complementarity problem of the papers.   [GIM-7]
//!
//! ```text
//! a₂ − a₁ = ψ n,    n = Σ λ_i ∇f_i(a₁),    n + Σ μ_j ∇g_j(a₂) = 0,    f_i(a₁) = g_j(a₂) = 0,    |n| = 1
//! ```
//!
//! Eliminating the points is cheaper. But if a body is flat to second order (a superellipse on its side), the point found for given poses
//! moves infinitely fast with them, and Newton's method does not converge. As an unknown beside the velocities it is regular: the balance
//! of moments decides where the body is supported.

use nalgebra::{Matrix3, Point3, Vector3};
use stiction_geometry::implicit::{Closest, Convex};
use stiction_multibody::{Configuration, Dimension, Twist};

use super::contacts::Placed;
use super::slopes::{Change, Moved, Shift};
use crate::Contact;

/// Largest number of functions that are active at a point.
const MAX_ACTIVE: usize = 3;

/// Unknowns of a contact: the points, the multipliers of the functions active at them, and the gap.
#[derive(Clone, Copy, Debug)]
pub(super) struct Points {
    /// Offset among the unknowns of all contacts.
    pub(super) first: usize,
    axes: usize,
    active: [[usize; MAX_ACTIVE]; 2],
    counts: [usize; 2],
}

/// Value, gradient and second derivative of an active function, in world axes.
#[derive(Clone, Copy, Debug, Default)]
struct WorldJet {
    value: f64,
    gradient: Vector3<f64>,
    hessian: Matrix3<f64>,
}

/// Values of the unknowns of a contact, and the functions at its points.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Local {
    points: [Vector3<f64>; 2],
    multipliers: [[f64; MAX_ACTIVE]; 2],
    gap: f64,
    jets: [[WorldJet; MAX_ACTIVE]; 2],
    /// Σ λ ∇f and Σ μ ∇g, and their derivatives Σ λ ∇²f and Σ μ ∇²g.
    sums: [Vector3<f64>; 2],
    curvatures: [Matrix3<f64>; 2],
    centres: [Vector3<f64>; 2],
}

impl Points {
    pub(super) fn new(first: usize, dimension: Dimension, closest: &Closest) -> Self {
        let mut points = Self {
            first,
            axes: if dimension == Dimension::Planar { 2 } else { 3 },
            active: [[0; MAX_ACTIVE]; 2],
            counts: [closest.multipliers_a.len(), closest.multipliers_b.len()],
        };
        debug_assert!(points.counts.iter().all(|count| *count <= MAX_ACTIVE), "{:?} active functions", points.counts);
        for (active, multipliers) in points.active.iter_mut().zip([&closest.multipliers_a, &closest.multipliers_b]) {
            active.iter_mut().zip(multipliers.iter()).for_each(|(active, (k, _))| *active = k);
        }
        points
    }

    /// Number of unknowns and of rows.
    pub(super) fn len(&self) -> usize {
        2 * self.axes + self.counts[0] + self.counts[1] + 1
    }

    /// Appends the initial guess, which is found at fixed poses.
    pub(super) fn push_start(&self, closest: &Closest, z: &mut Vec<f64>) {
        z.extend(closest.point_a.coords.iter().take(self.axes));
        z.extend(closest.point_b.coords.iter().take(self.axes));
        z.extend(closest.multipliers_a.iter().map(|(_, value)| value));
        z.extend(closest.multipliers_b.iter().map(|(_, value)| value));
        z.push(closest.gap);
    }

    /// Reads the unknowns and evaluates the functions at the points.
    pub(super) fn read(&self, placed: &Placed, at: (&Configuration, &Contact), z: &[f64]) -> Option<Local> {
        debug_assert!(self.first + self.len() <= z.len(), "the unknowns of a contact are within those of all");
        let z = z.get(self.first..self.first + self.len())?;
        let mut local = Local { gap: *z.last()?, ..Local::default() };
        let mut rest = z;
        for point in &mut local.points {
            let (these, others) = rest.split_at(self.axes);
            point.iter_mut().zip(these).for_each(|(x, z)| *x = *z);
            rest = others;
        }
        for (multipliers, count) in local.multipliers.iter_mut().zip(self.counts) {
            let (these, others) = rest.split_at(count);
            multipliers.iter_mut().zip(these).for_each(|(x, z)| *x = *z);
            rest = others;
        }
        let solids = [(placed.a.convex()?, &placed.pose_a), (placed.b.convex()?, &placed.pose_b)];
        local.centres = [at.1.a, at.1.b].map(|id| at.0.pose(id).translation.vector);
        for (side, (solid, pose)) in solids.into_iter().enumerate() {
            let rotation = pose.rotation.matrix();
            let x = pose.inverse_transform_point(&Point3::from(local.points[side]));
            for k in 0..self.counts[side] {
                let jet = jet_in_world(solid, self.active[side][k], &x, rotation);
                let multiplier = local.multipliers[side][k];
                local.sums[side] += jet.gradient * multiplier;
                local.curvatures[side] += jet.hessian * multiplier;
                local.jets[side][k] = jet;
            }
        }
        Some(local)
    }

    /// Writes the rows of the contact. Those with a length are divided by h, so that all have the size of velocities.
    pub(super) fn residual(&self, local: &Local, h: f64, out: &mut [f64]) {
        debug_assert_eq!(out.len(), self.len(), "a contact has as many rows as unknowns");
        let n = local.sums[0];
        let apart = (local.points[1] - local.points[0] - n * local.gap) / h;
        let opposed = n + local.sums[1];
        let values = (0..2).flat_map(|side| (0..self.counts[side]).map(move |k| local.jets[side][k].value / h));
        let unit = 0.5 * (n.norm_squared() - 1.0);
        let rows = apart.iter().take(self.axes).chain(opposed.iter().take(self.axes)).copied();
        out.iter_mut().zip(rows.chain(values).chain([unit])).for_each(|(out, row)| *out = row);
    }

    /// Derivatives of the place of the contact, and of its rows, with respect to unknown number `k`.
    pub(super) fn column(&self, local: &Local, k: usize, h: f64, rows: &mut [f64]) -> Shift {
        let mut shift = Shift::default();
        let mut sums = [Vector3::zeros(); 2];
        let mut values = [[0.0; MAX_ACTIVE]; 2];
        let (axes, [on_a, on_b]) = (self.axes, self.counts);
        if k < 2 * axes {
            let side = k / axes;
            let unit = Vector3::ith(k % axes, 1.0);
            shift.points[side] = unit;
            sums[side] = local.curvatures[side] * unit;
            values[side] = local.jets[side].map(|jet| jet.gradient.dot(&unit));
        } else if k < 2 * axes + on_a {
            sums[0] = local.jets[0][k - 2 * axes].gradient;
        } else if k < 2 * axes + on_a + on_b {
            sums[1] = local.jets[1][k - 2 * axes - on_a].gradient;
        } else {
            shift.gap = 1.0;
        }
        shift.normal = sums[0];
        self.write_rows(local, &shift, (&sums, &values), h, rows);
        shift
    }

    /// Derivatives of the rows of the contact with respect to a motion of a body, while its points stay fixed.
    pub(super) fn body_column(&self, local: &Local, change: &Change, h: f64, rows: &mut [f64]) -> Shift {
        let side = usize::from(change.moved == Moved::B);
        let Twist { linear, angular } = change.displacement;
        let carried = linear + angular.cross(&(local.points[side] - local.centres[side]));
        let mut sums = [Vector3::zeros(); 2];
        let mut values = [[0.0; MAX_ACTIVE]; 2];
        // The solid moves under the point: δf = −∇f · δx, δ∇f = δθ × ∇f − ∇²f δx.
        sums[side] = angular.cross(&local.sums[side]) - local.curvatures[side] * carried;
        values[side] = local.jets[side].map(|jet| -jet.gradient.dot(&carried));
        let shift = Shift { normal: sums[0], ..Shift::default() };
        self.write_rows(local, &shift, (&sums, &values), h, rows);
        shift
    }

    fn write_rows(
        &self,
        local: &Local,
        shift: &Shift,
        (sums, values): (&[Vector3<f64>; 2], &[[f64; MAX_ACTIVE]; 2]),
        h: f64,
        rows: &mut [f64],
    ) {
        let n = local.sums[0];
        let apart = (shift.points[1] - shift.points[0] - shift.normal * local.gap - n * shift.gap) / h;
        let opposed = sums[0] + sums[1];
        let values = (0..2).flat_map(|side| (0..self.counts[side]).map(move |k| values[side][k] / h));
        let entries = apart.iter().take(self.axes).chain(opposed.iter().take(self.axes)).copied();
        let entries = entries.chain(values).chain([n.dot(&shift.normal)]);
        rows.iter_mut().zip(entries).for_each(|(row, entry)| *row = entry);
    }
}

impl Local {
    /// Points, normal and gap.
    pub(super) fn place(&self) -> ([Vector3<f64>; 2], Vector3<f64>, f64) {
        (self.points, self.sums[0], self.gap)
    }
}

fn jet_in_world(solid: &Convex, function: usize, x: &Point3<f64>, rotation: &Matrix3<f64>) -> WorldJet {
    let jet = solid.jet(function, x);
    WorldJet {
        value: jet.value,
        gradient: rotation * jet.gradient,
        hessian: rotation * jet.hessian * rotation.transpose(),
    }
}
