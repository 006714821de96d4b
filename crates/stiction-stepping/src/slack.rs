//! Slack of jammed contacts: the smallest overlap with which the contacts of a step have a solution.   [EXIST-1]
//!
//! Coulomb's problem has a solution if some velocity v satisfies Hᵀ v + bias ∈ K*, the dual of the friction cones [Acary2011]. Between bodies that
//! jam, none may: gaps are linearised, and bodies that turn by ω h leave an error ½ ω² h² R in them. One auxiliary mass m, much heavier than the
//! bodies, is added to the normal rows of all contacts and one-sided limits around the worst row. Its velocity
//!
//! ```text
//! a = Σ r_N / m ≥ 0,    u_N = Hᵀ v⁺ + bias + a
//! ```
//!
//! opens their gaps at an equal rate, and the criterion holds for a large enough. Impulses of contacts are those of Coulomb's law, and momentum is
//! that of the bodies; what is eased is that bodies may overlap by a h.

use std::collections::BTreeSet;

use stiction_complementarity::{FrictionProblem, Law, Operator, linalg::BlockMatrix};
use stiction_multibody::Model;

/// Auxiliary mass of jammed contacts.
#[derive(Clone, Debug)]
pub(crate) struct Slack {
    /// Its mass, kg.
    pub(crate) mass: f64,
    /// For each block of the problem: true if its contact or limit may be jammed.
    pub(crate) connected: Vec<bool>,
    /// Rate at which it opens gaps in the last solution, m/s or rad/s.
    pub(crate) rate: f64,
}

/// Mass of the slack, as a multiple of the mass of all bodies. Dimensionless.
///
/// At rest the slack of a jam is then a thousandth of the overlap that gravity causes in a step without contacts.
const MASS_RATIO: f64 = 1e3;

impl Slack {
    /// Slack for the blocks that bodies connect with the block of a row; none if there is no such row.
    pub(crate) fn around(model: &Model, problem: &FrictionProblem, row: usize) -> Option<Self> {
        let first = (0..problem.blocks()).find(|block| problem.range(*block).contains(&row))?;
        let bodies = model.bodies().iter().filter_map(stiction_multibody::Body::mass).sum::<f64>();
        let mass = MASS_RATIO * bodies;
        (mass > 0.0 && mass.is_finite()).then(|| Self { mass, connected: connected_blocks(problem, first), rate: 0.0 })
    }

    /// True if the block of a row has slack.
    pub(crate) fn has_row(&self, problem: &FrictionProblem, row: usize) -> bool {
        self.connected.iter().enumerate().any(|(block, connected)| *connected && problem.range(block).contains(&row))
    }

    /// Adds the blocks of another slack.
    pub(crate) fn extend(&mut self, other: &Self) {
        debug_assert_eq!(self.connected.len(), other.connected.len(), "both are of the same problem");
        self.connected.iter_mut().zip(&other.connected).for_each(|(connected, other)| *connected |= other);
    }
}

/// True for the law of a contact or of a one-sided limit: its first impulse presses and has no bound.
pub(crate) fn may_jam(law: Law) -> bool {
    match law {
        Law::Cone { .. } | Law::Rolling { .. } => true,
        Law::Bounded { lower, upper } => lower == 0.0 && upper == f64::INFINITY,
        _ => false,
    }
}

fn columns_of(jacobian: &BlockMatrix, block: usize) -> impl Iterator<Item = usize> + '_ {
    jacobian.row(block).map(|(column, _)| column)
}

/// Blocks that block columns, which are bodies or links, connect with a block. An assembled matrix connects all its blocks.
fn connected_blocks(problem: &FrictionProblem, first: usize) -> Vec<bool> {
    let Operator::MatrixFree(bodies) = problem.operator() else { return vec![true; problem.blocks()] };
    let h = bodies.jacobian();
    let mut connected = vec![false; h.block_rows()];
    let mut columns: BTreeSet<usize> = columns_of(h, first).collect();
    loop {
        let before = columns.len();
        for (block, connected) in connected.iter_mut().enumerate() {
            if !*connected && (block == first || columns_of(h, block).any(|column| columns.contains(&column))) {
                *connected = true;
                columns.extend(columns_of(h, block));
            }
        }
        if columns.len() == before {
            return connected;
        }
    }
}
