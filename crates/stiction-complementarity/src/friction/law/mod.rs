//! Laws of the blocks: contact with friction, equality (of a joint, a coupling or an implicit force), limit or motor. Each law has its own file.
//!
//! A law implements [`Rules`]. Methods depend on the [`Kind`] of a law and on the [`Parts`] of its friction only: a law of friction is a normal row and
//! a few parts, each with its rows and its coefficient.   [CONE-1]

mod alart_curnier;
mod bounded;
mod cone;
mod equality;
pub(crate) mod local;
mod parts;
mod rolling;

use bounded::Bounded;
use cone::Cone;
use equality::Equality;
use local::LocalBlock;
pub(crate) use parts::{MAX_PARTS, Part, Parts, norm};
use rolling::Rolling;
use serde::{Deserialize, Serialize};

/// Law between the impulses r and the velocities u of one block. The normal component comes first.
///
/// Every law reads r ∈ K and −û ∈ N_K(r), the normal cone of a closed convex set K at r. For friction û is u with the De Saxcé
/// correction added to its normal component; otherwise û = u.   [CONE-1]
///
/// In problem files a missing bound is infinite.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Law {
    /// Equality (bilateral constraint, of a joint, a coupling or an implicit force): u = 0, r free.
    Equality {
        /// Number of rows.
        rows: usize,
    },
    /// One row with bounds lower ≤ r ≤ upper: u ≥ 0 at the lower bound, u ≤ 0 at the upper one, u = 0 between them.
    /// Bounds are impulses: a frictionless contact or a joint limit has [0, ∞), a motor or dry joint friction of at most τ [−h τ, h τ].
    // The name in files is the first one it had.
    #[serde(rename = "boxed")]
    Bounded {
        /// Lower bound, −∞ allowed.
        #[serde(default = "bounded::none_below", with = "bounded::lower")]
        lower: f64,
        /// Upper bound, +∞ allowed.
        #[serde(default = "bounded::none_above", with = "bounded::upper")]
        upper: f64,
    },
    /// Coulomb friction: ‖r_T‖ ≤ μ r_N, with 1 (plane), 2 (space) or 3 (space with torsion) tangential components.
    Cone {
        /// Number of components, normal included: 2, 3 or 4.
        rows: usize,
        /// Friction coefficient μ ≥ 0.
        mu: f64,
    },
    /// Coulomb and rolling friction: ‖r_T‖ ≤ μ r_N and ‖r_M‖ ≤ μ_r r_N.   [CONE-25]
    ///
    /// The components are (N, T, M) in the plane and (N, T₁, T₂, M₁, M₂) in space. With six rows, r_T has the torsional component as its
    /// third one; with four, M is the torsion alone, with a limit of its own.
    Rolling {
        /// Number of components, normal included: 3, 4, 5 or 6. Five if a file does not say.
        #[serde(default = "rolling::rows_in_space", skip_serializing_if = "rolling::is_in_space")]
        rows: usize,
        /// Friction coefficient μ ≥ 0.
        mu: f64,
        /// Rolling friction coefficient μ_r ≥ 0: largest moment component per unit of the normal impulse. In m, or 1 if the rows of the
        /// moment are scaled by a length.
        mu_r: f64,
    },
}

/// Largest number of rows of a contact law.
pub(crate) const MAX_CONTACT_ROWS: usize = 6;

/// Kind of a law, which determines the equations of a method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    /// Equality: u = 0, r free.
    Equality,
    /// One row with bounds.
    Bounded {
        /// Lower bound.
        lower: f64,
        /// Upper bound.
        upper: f64,
    },
    /// Contact with friction: a normal row, then the parts of its friction.
    Contact(Parts),
}

/// Interface of a constraint law to the methods. Slices have as many entries as the law has rows.
pub(crate) trait Rules: Copy {
    /// Number of components.
    fn rows(&self) -> usize;

    /// True if rows, bounds and coefficients are admissible.
    fn is_legal(&self) -> bool;

    /// Kind of the law, with its bounds or parts.
    fn kind(&self) -> Kind;

    /// Law of impulses and velocities that are both multiplied by `factor`: bounds are multiplied by it, cones stay the same.
    fn scaled(&self, factor: f64) -> Law;

    /// De Saxcé correction of the normal velocity; zero without friction.   [CONE-2]
    fn de_saxce_correction(&self, u: &[f64]) -> f64;

    /// Euclidean projection of `r` onto K, in place.   [CONE-3]
    fn project(&self, r: &mut [f64]);

    /// Squared natural map ‖r − P_K(r − û)‖².   [CONE-5]
    #[inline]
    fn violation_squared(&self, r: &[f64], u: &[f64]) -> f64 {
        match r.len() {
            1 => natural_map_squared::<Self, 1>(self, r, u),
            2 => natural_map_squared::<Self, 2>(self, r, u),
            3 => natural_map_squared::<Self, 3>(self, r, u),
            4 => natural_map_squared::<Self, 4>(self, r, u),
            5 => natural_map_squared::<Self, 5>(self, r, u),
            _ => natural_map_squared::<Self, MAX_CONTACT_ROWS>(self, r, u),
        }
    }

    /// Computes the Alart-Curnier function f ← r − P(r − ρ u).   [NEWTON-1]
    fn alart_curnier_function(&self, rho: &[f64], r: &[f64], u: &[f64], f: &mut [f64]);

    /// Computes a ← ∂f/∂r and b ← ∂f/∂u of this function, row by row; both are zero before.   [NEWTON-2]
    fn alart_curnier_jacobian(&self, rho: &[f64], r: &[f64], u: &[f64], a: &mut [f64], b: &mut [f64]);

    /// Projection P of this function, in place: r = P(r − ρ u) if and only if the law holds.   [NEWTON-1]
    fn alart_curnier_projection(&self, z: &mut [f64]);

    /// Local problem with diagonal block `a`, row by row.   [GS-2]
    fn local_block(&self, a: &[f64]) -> LocalBlock;

    /// Description of the law, for reports.
    fn describe(&self) -> String;
}

/// Calls a function of [`Rules`] on the implementation of a law.
macro_rules! rules {
    ($law:expr, $rules:ident => $call:expr) => {
        match *$law {
            Law::Equality { rows } => {
                let $rules = Equality { rows };
                $call
            }
            Law::Bounded { lower, upper } => {
                let $rules = Bounded { lower, upper };
                $call
            }
            Law::Cone { rows, mu } => {
                let $rules = Cone { rows, mu };
                $call
            }
            Law::Rolling { rows, mu, mu_r } => {
                let $rules = Rolling { rows, mu, mu_r };
                $call
            }
        }
    };
}

impl Law {
    /// Number of components.
    #[inline]
    pub fn rows(&self) -> usize {
        rules!(self, law => law.rows())
    }

    /// True if rows, bounds and coefficients are admissible.
    pub fn is_legal(&self) -> bool {
        rules!(self, law => law.is_legal())
    }

    /// Kind of the law, with its bounds or parts.
    #[inline]
    pub(crate) fn kind(&self) -> Kind {
        rules!(self, law => law.kind())
    }

    /// Number of friction limits: none of an equality or a bounded row, one of Coulomb friction, two with rolling friction.
    pub fn friction_limits(&self) -> usize {
        match self.kind() {
            Kind::Contact(parts) => parts.len(),
            Kind::Bounded { .. } | Kind::Equality => 0,
        }
    }

    /// True if the law is u = 0.
    #[inline]
    pub(crate) fn is_equality(&self) -> bool {
        matches!(self.kind(), Kind::Equality)
    }

    /// Law of impulses and velocities that are both multiplied by `factor`. Bounds are multiplied by it, cones stay the same.
    #[inline]
    pub(crate) fn scaled(&self, factor: f64) -> Self {
        rules!(self, law => law.scaled(factor))
    }

    /// De Saxcé correction of the normal velocity: û_N = u_N + μ ‖u_T‖ (+ μ_r ‖u_M‖).   [CONE-2]
    #[inline]
    pub fn de_saxce_correction(&self, u: &[f64]) -> f64 {
        rules!(self, law => law.de_saxce_correction(u))
    }

    /// Euclidean projection of `r` onto K, in place.   [CONE-3]
    #[inline]
    pub fn project(&self, r: &mut [f64]) {
        rules!(self, law => law.project(r));
    }

    /// Squared natural map ‖r − P_K(r − û)‖².   [CONE-5]
    #[inline]
    pub(crate) fn violation_squared(&self, r: &[f64], u: &[f64]) -> f64 {
        debug_assert!(r.len() == self.rows() && u.len() == self.rows(), "r and u have the rows of the law");
        rules!(self, law => law.violation_squared(r, u))
    }

    /// Computes the Alart-Curnier function f ← r − P(r − ρ u).   [NEWTON-1]
    ///
    /// It is zero if and only if the law holds, for every ρ > 0. P projects the normal component onto the half-line and each part of the
    /// friction onto its ball of radius μ max(0, r_N − ρ_N u_N). ρ is one number for the normal component and one for all components of a
    /// part. All slices have as many entries as the law has rows.
    pub fn alart_curnier_function(&self, rho: &[f64], r: &[f64], u: &[f64], f: &mut [f64]) {
        debug_assert!([rho.len(), r.len(), u.len(), f.len()] == [self.rows(); 4], "slices have the rows of the law");
        rules!(self, law => law.alart_curnier_function(rho, r, u, f));
    }

    /// Computes the derivatives a ← ∂f/∂r and b ← ∂f/∂u of [`Law::alart_curnier_function`], row by row.   [NEWTON-2]
    ///
    /// At kinks they are one element of the generalised Jacobian.
    pub fn alart_curnier_jacobian(&self, rho: &[f64], r: &[f64], u: &[f64], a: &mut [f64], b: &mut [f64]) {
        let n = r.len();
        debug_assert!([rho.len(), n, u.len()] == [self.rows(); 3], "all vectors have the rows of the law");
        debug_assert!(a.len() == n * n && b.len() == n * n, "both matrices are square");
        a.fill(0.0);
        b.fill(0.0);
        rules!(self, law => law.alart_curnier_jacobian(rho, r, u, a, b));
    }

    /// Projection P of the Alart-Curnier function, in place: r = P(r − ρ u) if and only if the law holds.   [NEWTON-1]
    #[inline]
    pub(crate) fn alart_curnier_projection(&self, z: &mut [f64]) {
        rules!(self, law => law.alart_curnier_projection(z));
    }

    /// d ← P'(z) diag ρ, row by row: minus the derivative of P(z − ρ u) with respect to u at u = 0. `scratch` is scratch memory.
    pub(crate) fn alart_curnier_slope(&self, rho: &[f64], z: &[f64], d: &mut [f64], scratch: &mut Vec<f64>) {
        d.fill(0.0);
        if let Kind::Contact(parts) = self.kind() {
            return alart_curnier::slope(&parts, rho, z, d);
        }
        let n = z.len();
        scratch.clear();
        scratch.resize(n * (n + 1), 0.0);
        // At u = 0 the argument of the projection is z itself.
        let (zero_velocity, a) = scratch.split_at_mut(n);
        rules!(self, law => law.alart_curnier_jacobian(rho, z, zero_velocity, a, d));
    }

    /// Local problem with diagonal block `a`, row by row.   [GS-2]
    pub(crate) fn local_block(&self, a: &[f64]) -> LocalBlock {
        rules!(self, law => law.local_block(a))
    }

    /// Description of the law, for reports.
    pub(crate) fn describe(&self) -> String {
        rules!(self, law => law.describe())
    }
}

/// Squared natural map of a contact or bounded row with N components.   [CONE-5]
///
/// A component that the projection does not change contributes û itself. Computing r − (r − û) would lose a small û beside a huge r, and a
/// contact that no impulse can stop would have residual zero. Code that uses that plain formula for speed is checked by this one afterwards.
#[inline]
fn natural_map_squared<L: Rules, const N: usize>(law: &L, r: &[f64], u: &[f64]) -> f64 {
    let (Some(r), Some(u)) = (r.first_chunk::<N>(), u.first_chunk::<N>()) else {
        debug_assert!(false, "a contact law has {N} rows");
        return f64::INFINITY;
    };
    let correction = law.de_saxce_correction(u);
    let mut argument: [f64; N] = std::array::from_fn(|k| r[k] - u[k]);
    argument[0] -= correction;
    let mut projected = argument;
    law.project(&mut projected);
    let mut sum = 0.0;
    for k in 0..N {
        let corrected = if k == 0 { u[k] + correction } else { u[k] };
        let difference = if projected[k] == argument[k] { corrected } else { r[k] - projected[k] };
        sum += difference * difference;
    }
    sum
}
