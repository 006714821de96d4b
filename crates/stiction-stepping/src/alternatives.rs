//! Contacts that are alternatives of each other, in chains, and the disjunctive problem over them.

use stiction_complementarity::{MixedLcp, MixedLcpSolution};

use crate::Contact;

/// Contacts that are alternatives of each other, in chains.
#[derive(Default)]
pub struct Alternatives {
    /// All contacts, of which `Constraints::contacts` holds the chosen ones; empty if there are no chains of alternatives.
    pub candidates: Vec<Contact>,
    pub(crate) chains: Vec<Chain>,
    /// Members of all chains: indices in `candidates`.
    pub(crate) members: Vec<usize>,
    pub(crate) gaps: Gaps,
    pub(crate) disjunction: Disjunction,
}

/// Chain with more than one face; members are indices in `ws.alternatives.candidates`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chain {
    /// Range in `ws.alternatives.members`.
    pub(crate) first: usize,
    pub(crate) end: usize,
    /// Index of the chosen face in `ws.alternatives.candidates`.
    pub(crate) chosen: usize,
    pub(crate) switches: u32,
}

/// Gaps ψ_i of the faces of a chain at the start and at the end of the step.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gaps {
    pub(crate) from: Vec<f64>,
    pub(crate) to: Vec<f64>,
    /// Slack of the rows times h: the gap at the end for γ = 1.   [STEP-3]
    pub(crate) slack: Vec<f64>,
}

/// Disjunctive problem, its solution and scratch memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Disjunction {
    pub(crate) problem: MixedLcp,
    pub(crate) solution: MixedLcpSolution,
    /// Index of the first variable of each chain, and its unit of length, m.
    pub(crate) chains: Vec<(usize, f64)>,
    /// Gaps ψ_i of all members of all chains at the end of the step, in the unit of their chain.
    pub(crate) gaps: Vec<f64>,
}
