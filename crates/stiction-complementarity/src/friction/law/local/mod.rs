//! Local problem of one block (one-contact problem), solved to machine precision: u = A r + g with the law of the block.
//!
//! Open and stick are decided exactly. Slip is one scalar equation in the slip multiplier λ ≥ 0, defined by u_T = −λ r_T.   [GS-2] [GS-3]
//! The search is over the compactified multiplier y = λ/(mean + λ) in [0, 1). Its unit is the mean diagonal of C, the tangential block of A after r_N is
//! eliminated.

mod cone;
mod equality;
mod rolling;
mod root;
mod small;

use super::{Kind, Law};
pub(crate) use cone::ConeBlock;
pub(crate) use equality::EqualityBlock;
pub(crate) use rolling::RollingBlock;

/// Contact mode of a block at its solution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LocalMode {
    /// The impulse is zero: the contact is open, or a bounded row is at a bound that is zero.
    Open,
    /// The velocity is zero.
    Stick,
    /// The impulse is on the boundary of its admissible set, and the velocity need not be zero.
    Slip,
    /// No solution was found. Either A_NN is not positive although the contact closes, or a bounded row needs an infinite impulse, or the
    /// law is invalid, or the slices have wrong sizes, or the block of an equality is singular even with its proximal term, or all searches
    /// with rolling friction failed.
    Unsolved,
}

/// Warm start of the search for the slip multiplier. Every number is an admissible start.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct MultiplierWarmStart {
    /// Compactified slip multiplier y of the last solution.
    multiplier: f64,
}

/// Prepared local problem: everything that depends on A and the law but not on g.
#[derive(Clone, Debug)]
pub(crate) enum LocalBlock {
    Equality(EqualityBlock),
    Bounded { a: f64, lower: f64, upper: f64 },
    Plane(ConeBlock<1>),
    Space(ConeBlock<2>),
    Torsion(ConeBlock<3>),
    Rolling(Box<RollingBlock>),
}

impl Default for LocalBlock {
    /// Bounded row with a = 0, whose velocity no impulse changes; it is refilled before use.
    fn default() -> Self {
        Self::Bounded { a: 0.0, lower: 0.0, upper: 0.0 }
    }
}

impl LocalBlock {
    /// Prepares the local problem with diagonal block `a`, row by row, and this law.
    pub(crate) fn new(law: &Law, a: &[f64]) -> Self {
        debug_assert_eq!(a.len(), law.rows().pow(2), "the diagonal block has the rows of the law");
        law.local_block(a)
    }

    /// Prepares another local problem in the same memory. Only equalities of a new size, and equalities and rolling friction in a slot that held another
    /// law, allocate.
    pub(crate) fn refill(&mut self, law: &Law, a: &[f64]) {
        match (self, law.kind()) {
            (Self::Equality(equality), Kind::Equality) if law.rows() > 1 => equality.refill(law.rows(), a),
            (Self::Rolling(rolling), Kind::Contact(parts)) if parts.len() == 2 => rolling.refill(&parts, a),
            (block, _) => *block = Self::new(law, a),
        }
    }

    /// Solves the local problem for this g. `r` holds the present impulses, which only equalities use, and then the solution.
    pub(crate) fn solve(&mut self, g: &[f64], r: &mut [f64], warm_start: &mut MultiplierWarmStart) -> LocalMode {
        match self {
            Self::Equality(equality) => equality.solve(g, r),
            Self::Bounded { a, lower, upper } => bounded(*a, *lower, *upper, g, r),
            Self::Plane(cone) => cone.solve_slices(g, r, warm_start),
            Self::Space(cone) => cone.solve_slices(g, r, warm_start),
            Self::Torsion(cone) => cone.solve_slices(g, r, warm_start),
            Self::Rolling(rolling) => rolling.solve(g, r, warm_start),
        }
    }
}

/// Solves a bounded row lower ≤ r ≤ upper with u = a r + g: the root is clamped to the bounds.   [GS-2]
fn bounded(a: f64, lower: f64, upper: f64, g: &[f64], r: &mut [f64]) -> LocalMode {
    let ([g], [r]) = (g, r) else {
        debug_assert!(false, "a bounded row has one component");
        return LocalMode::Unsolved;
    };
    // If a = 0, the impulse does not change the velocity; a nonzero velocity puts it at a bound.
    let free = if a > 0.0 { -g / a } else { -g.signum() * f64::INFINITY };
    let nearest = if a > 0.0 || *g != 0.0 { free.max(lower).min(upper) } else { 0.0_f64.max(lower).min(upper) };
    if !nearest.is_finite() {
        *r = 0.0_f64.max(lower).min(upper);
        return LocalMode::Unsolved;
    }
    *r = nearest;
    match (nearest > lower && nearest < upper, nearest == 0.0) {
        (true, _) => LocalMode::Stick,
        (false, true) => LocalMode::Open,
        (false, false) => LocalMode::Slip,
    }
}

/// Solves the local problem of one block to machine precision: finds r such that r and u = A r + g satisfy `law`.
///
/// A is given row by row. It may be slightly unsymmetric and may be singular. `r` must have the rows of the law and is overwritten.
/// Slices of a wrong length and invalid laws set `r` to zero and return [`LocalMode::Unsolved`].
///
/// ```
/// use stiction_complementarity::{Law, LocalMode, solve_local};
/// // A unit mass hits the ground with normal and tangential velocity 1 m/s; μ = 0.5.
/// let unit = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
/// let mut r = [0.0; 3];
/// let mode = solve_local(&Law::Cone { rows: 3, mu: 0.5 }, &unit, &[-1.0, 1.0, 0.0], &mut r);
/// assert_eq!((mode, r), (LocalMode::Slip, [1.0, -0.5, 0.0]));
/// ```
pub fn solve_local(law: &Law, a: &[f64], g: &[f64], r: &mut [f64]) -> LocalMode {
    let rows = law.rows();
    r.fill(0.0);
    if !law.is_legal() || a.len() != rows * rows || g.len() != rows || r.len() != rows {
        return LocalMode::Unsolved;
    }
    LocalBlock::new(law, a).solve(g, r, &mut MultiplierWarmStart::default())
}
