//! The problem of one block alone, solved to machine precision: u = A r + g with the law of the block.
//!
//! Open and stick are decided exactly; slip is one scalar equation in the slip multiplier.   [GS-2] [GS-3]

mod cone;
mod joint;
mod rolling;
mod root;
mod small;

use super::law::Law;
pub(crate) use cone::ConeBlock;
use joint::JointBlock;
use rolling::RollingBlock;

/// What a block does at its solution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Regime {
    /// No impulse: the contact opens, or a bounded row rests on a bound that is zero.
    Open,
    /// The velocity vanishes.
    Stick,
    /// The impulse lies on the boundary of its set and something moves.
    Slip,
    /// No impulse of this block can meet its law: A has no normal entry although the contact closes.
    Stuck,
}

/// Where the search for the slip multiplier ended, to begin there next time; any number is a legal start.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Memory {
    slide: f64,
}

/// One block made ready: what depends on A and the law but not on g.
#[derive(Clone, Debug)]
pub(crate) enum LocalBlock {
    Joint(JointBlock),
    Boxed { a: f64, lower: f64, upper: f64 },
    Plane(ConeBlock<1>),
    Space(ConeBlock<2>),
    Torsion(ConeBlock<3>),
    Rolling(RollingBlock),
}

impl LocalBlock {
    /// Prepares the block with diagonal block `a` (row by row) and this law.
    pub(crate) fn new(law: &Law, a: &[f64]) -> Self {
        match *law {
            Law::Boxed { lower, upper } => Self::Boxed { a: a.first().copied().unwrap_or(0.0), lower, upper },
            Law::Cone { rows: 2, mu } => Self::Plane(ConeBlock::new(mu, a)),
            Law::Cone { rows: 3, mu } => Self::Space(ConeBlock::new(mu, a)),
            Law::Cone { mu, .. } => Self::Torsion(ConeBlock::new(mu, a)),
            Law::Rolling { mu, mu_r } => Self::Rolling(RollingBlock::new(mu, mu_r, a)),
            // One equation needs no factorisation, and no memory.
            Law::Equality { rows: 1 } => {
                Self::Boxed { a: a.first().copied().unwrap_or(0.0), lower: f64::NEG_INFINITY, upper: f64::INFINITY }
            }
            Law::Equality { rows } => Self::Joint(JointBlock::new(rows, a)),
        }
    }

    /// Prepares it again; only joints of a new size, or in a new place, allocate.
    pub(crate) fn refill(&mut self, law: &Law, a: &[f64]) {
        match (self, *law) {
            (Self::Joint(joint), Law::Equality { rows }) if rows > 1 => joint.refill(rows, a),
            (block, _) => *block = Self::new(law, a),
        }
    }

    /// r ← the solution of the block for this g. `r` holds the present impulses, which only joints look at.
    pub(crate) fn solve(&mut self, g: &[f64], r: &mut [f64], memory: &mut Memory) -> Regime {
        match self {
            Self::Joint(joint) => joint.solve(g, r),
            Self::Boxed { a, lower, upper } => boxed(*a, *lower, *upper, g, r),
            Self::Plane(cone) => cone.solve_slices(g, r, memory),
            Self::Space(cone) => cone.solve_slices(g, r, memory),
            Self::Torsion(cone) => cone.solve_slices(g, r, memory),
            Self::Rolling(rolling) => rolling.solve(g, r, memory),
        }
    }
}

/// lower ≤ r ≤ upper against u = a r + g, one row: the clamped root.   [GS-2]
fn boxed(a: f64, lower: f64, upper: f64, g: &[f64], r: &mut [f64]) -> Regime {
    let ([g], [r]) = (g, r) else { return Regime::Stuck };
    // A row nothing moves is at its bound as soon as its velocity has a sign.
    let free = if a > 0.0 { -g / a } else { -g.signum() * f64::INFINITY };
    let nearest = if a > 0.0 || *g != 0.0 { free.max(lower).min(upper) } else { 0.0_f64.max(lower).min(upper) };
    if !nearest.is_finite() {
        *r = 0.0_f64.max(lower).min(upper);
        return Regime::Stuck;
    }
    *r = nearest;
    match (nearest > lower && nearest < upper, nearest == 0.0) {
        (true, _) => Regime::Stick,
        (false, true) => Regime::Open,
        (false, false) => Regime::Slip,
    }
}

/// Solves one block alone: given A (row by row) and g, finds r with u = A r + g obeying `law`, to machine precision.
///
/// `r` must have the rows of the law; it is overwritten. A may be slightly unsymmetric and may be singular. Slices of a
/// wrong length leave `r` zero and return [`Regime::Stuck`].
///
/// ```
/// use stiction_complementarity::{Law, Regime, solve_local};
/// // A unit mass that falls with 1 m/s and slides with 1 m/s onto ground with μ = 0.5.
/// let unit = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
/// let mut r = [0.0; 3];
/// let regime = solve_local(&Law::Cone { rows: 3, mu: 0.5 }, &unit, &[-1.0, 1.0, 0.0], &mut r);
/// assert_eq!((regime, r), (Regime::Slip, [1.0, -0.5, 0.0]));
/// ```
pub fn solve_local(law: &Law, a: &[f64], g: &[f64], r: &mut [f64]) -> Regime {
    let rows = law.rows();
    r.fill(0.0);
    if !law.is_legal() || a.len() != rows * rows || g.len() != rows || r.len() != rows {
        return Regime::Stuck;
    }
    LocalBlock::new(law, a).solve(g, r, &mut Memory::default())
}
