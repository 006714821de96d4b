//! Problems of a step with their solutions and scratch memory.

use std::ops::Range;

use nalgebra::Vector3;
use stiction_complementarity::{FrictionProblem, FrictionSolution, Law, MixedLcp, MixedLcpSolution, SparseMatrix};

use crate::{Contact, Layout};

/// Complementarity problem of a step, as a value that can be saved, solved again and compared.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum StepProblem<'a> {
    /// Mixed linear complementarity problem, for linear friction sets.
    Mixed(&'a MixedLcp),
    /// Frictional contact problem, for the second-order cone.
    Friction(&'a FrictionProblem),
}

/// Mixed linear complementarity problem of a step, with its solution and its scratch memory.
#[derive(Default)]
pub struct MixedAssembly {
    /// Sizes of the blocks.
    pub layout: Layout,
    pub(crate) problem: MixedLcp,
    /// Its solution.
    pub solution: MixedLcpSolution,
    /// Friction directions of all contacts, then of all support points.
    pub directions: Vec<Vector3<f64>>,
    /// Compliance of the joint rows (diagonal). It is empty in a step, where joints are rigid.
    pub(crate) joint_regularisation: Vec<f64>,
    pub(crate) joint_jacobian: SparseMatrix,
    pub(crate) joint_jacobian_transposed: SparseMatrix,
}

/// Frictional contact problem of a step, with its solution and its scratch memory.
#[derive(Default)]
pub(crate) struct FrictionAssembly {
    pub(crate) problem: FrictionProblem,
    /// Impulses at which the solver starts.
    pub(crate) guess: FrictionSolution,
    pub solution: FrictionSolution,
    pub(crate) laws: Vec<Law>,
    /// Block column of each body.
    pub(crate) block_of_body: Vec<usize>,
    pub(crate) block: Vec<f64>,
    /// Free velocities v + h M⁻¹ (λ_app + λ_vp), then those of auxiliary masses [SUP-4]. During the extraction in reduced coordinates: scratch memory.
    pub(crate) free_velocity: Vec<f64>,
    /// Part of the free velocities that the forces of the step cause; empty in reduced coordinates.
    pub(crate) forced_velocity: Vec<f64>,
    /// State of the operator: scratch memory.
    pub(crate) state: Vec<f64>,
    /// New contacts with their rows: scratch memory.
    pub(crate) new_contacts: Vec<(usize, Range<usize>)>,
}

/// Contacts outside the working set.
#[derive(Default)]
pub(crate) struct Screening {
    /// Screened contacts; empty after the step.   [STEP-15]
    pub(crate) screened: Vec<Contact>,
    /// Fractions of h after which contacts close, sorted.
    pub(crate) closing_fractions: Vec<f64>,
}
