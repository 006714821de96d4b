//! Symmetric 3 × 3 matrices as six numbers: the blocks of inertias.

use nalgebra::{Matrix3, Vector3};

/// A symmetric matrix.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Symmetric3 {
    xx: f64,
    xy: f64,
    xz: f64,
    yy: f64,
    yz: f64,
    zz: f64,
}

impl Symmetric3 {
    /// Largest number on the diagonal.
    #[inline]
    pub(super) fn largest(&self) -> f64 {
        self.xx.max(self.yy).max(self.zz)
    }

    /// Multiple of the identity.
    #[inline]
    pub(super) fn scalar(s: f64) -> Self {
        Self { xx: s, yy: s, zz: s, ..Self::default() }
    }

    /// Upper triangle of a matrix that is symmetric to rounding.
    #[inline]
    pub(super) fn upper(m: &Matrix3<f64>) -> Self {
        Self { xx: m.m11, xy: m.m12, xz: m.m13, yy: m.m22, yz: m.m23, zz: m.m33 }
    }

    /// Upper triangle of a bᵀ, for parallel a and b, whose product is symmetric.
    #[inline]
    pub(super) fn outer(a: &Vector3<f64>, b: &Vector3<f64>) -> Self {
        Self { xx: a.x * b.x, xy: a.x * b.y, xz: a.x * b.z, yy: a.y * b.y, yz: a.y * b.z, zz: a.z * b.z }
    }

    /// Upper triangle of a bᵀ + b aᵀ.
    #[inline]
    pub(super) fn twice_outer(a: &Vector3<f64>, b: &Vector3<f64>) -> Self {
        Self {
            xx: 2.0 * a.x * b.x,
            xy: a.x * b.y + b.x * a.y,
            xz: a.x * b.z + b.x * a.z,
            yy: 2.0 * a.y * b.y,
            yz: a.y * b.z + b.y * a.z,
            zz: 2.0 * a.z * b.z,
        }
    }

    /// R S Rᵀ.
    #[inline]
    pub(super) fn turned(&self, r: &Matrix3<f64>) -> Self {
        // Rows of R S; the entries are their products with the rows of R.
        let [x, y, z] = [r.row(0), r.row(1), r.row(2)].map(|row| row.transpose());
        let (sx, sy, sz) = (self.times(&x), self.times(&y), self.times(&z));
        Self { xx: sx.dot(&x), xy: sx.dot(&y), xz: sx.dot(&z), yy: sy.dot(&y), yz: sy.dot(&z), zz: sz.dot(&z) }
    }

    /// Product with a vector.
    #[inline]
    pub(super) fn times(&self, v: &Vector3<f64>) -> Vector3<f64> {
        Vector3::new(
            self.xx * v.x + self.xy * v.y + self.xz * v.z,
            self.xy * v.x + self.yy * v.y + self.yz * v.z,
            self.xz * v.x + self.yz * v.y + self.zz * v.z,
        )
    }

    /// The three columns.
    #[inline]
    pub(super) fn columns(&self) -> [Vector3<f64>; 3] {
        [
            Vector3::new(self.xx, self.xy, self.xz),
            Vector3::new(self.xy, self.yy, self.yz),
            Vector3::new(self.xz, self.yz, self.zz),
        ]
    }

    /// Adds `factor` times another one.
    #[inline]
    pub(super) fn add_scaled(&mut self, other: &Self, factor: f64) {
        self.xx += other.xx * factor;
        self.xy += other.xy * factor;
        self.xz += other.xz * factor;
        self.yy += other.yy * factor;
        self.yz += other.yz * factor;
        self.zz += other.zz * factor;
    }
}
