//! Adjoint gradient of a scalar over a whole run; its cost does not grow with the number of unknowns.

use nalgebra::{DMatrix, DVector};
use stiction_multibody::ContactId;
use stiction_sensitivity::StepDerivative;

use super::Variants;

/// Derivatives of the steps of a run, in order.
#[derive(Clone, Debug)]
pub struct Tape {
    steps: Vec<StepDerivative>,
    columns: Vec<usize>,
    at_start: DMatrix<f64>,
}

/// Adjoint variables during the backward pass.
#[derive(Clone, Debug)]
pub struct Adjoint {
    /// ∂ℓ/∂x of the current state: displacements, then velocities.
    pub state: DVector<f64>,
    pending_restitution: Vec<(ContactId, f64)>,
    /// ∂ℓ/∂unknowns accumulated so far.
    pub unknowns: DVector<f64>,
}

impl Tape {
    /// Creates an empty tape for a run with these unknowns.
    pub fn new(variants: &Variants) -> Self {
        Self { steps: Vec::new(), columns: variants.columns(), at_start: variants.at_start() }
    }

    /// Creates the tape of a run that starts at another state with known derivatives, as by [`super::GradientRun::set_state`].
    pub fn from_state(variants: &Variants, at_start: DMatrix<f64>) -> Self {
        Self { steps: Vec::new(), columns: variants.columns(), at_start }
    }

    /// Appends the derivative of the next step.
    pub fn push(&mut self, derivative: StepDerivative) {
        self.steps.push(derivative);
    }

    /// Gradient of a sum of ℓ(x) over the states: `slope(k)` is ∂ℓ/∂x of the state after k steps, none if ℓ does not depend on it.   [GRAD-8]
    pub fn gradient(&self, mut slope: impl FnMut(usize) -> Option<DVector<f64>>) -> DVector<f64> {
        let mut adjoint = Adjoint {
            state: DVector::zeros(self.at_start.nrows()),
            pending_restitution: Vec::new(),
            unknowns: DVector::zeros(self.at_start.ncols()),
        };
        for (number, step) in self.steps.iter().enumerate().rev() {
            adjoint.add(slope(number + 1));
            adjoint.go_back(step, &self.columns);
        }
        adjoint.add(slope(0));
        adjoint.unknowns + self.at_start.tr_mul(&adjoint.state)
    }
}

impl Adjoint {
    fn add(&mut self, slope: Option<DVector<f64>>) {
        if let Some(slope) = slope {
            self.state.iter_mut().zip(slope.iter()).for_each(|(x, slope)| *x += slope);
        }
    }

    /// λ = Aᵀ λ⁺, and Bᵀ λ⁺ for the unknowns.   [GRAD-8]
    fn go_back(&mut self, step: &StepDerivative, columns: &[usize]) {
        let n = self.state.len();
        let mut after = DVector::zeros(n + step.pending_after.len());
        after.rows_mut(0, n).copy_from(&self.state);
        for (id, slope) in &self.pending_restitution {
            if let Some(place) = step.pending_after.iter().position(|other| other == id) {
                after[n + place] = *slope;
            }
        }
        let before = step.by_state.tr_mul(&after);
        let by_parameters = step.by_parameters.tr_mul(&after);
        for (column, slope) in columns.iter().zip(by_parameters.iter()) {
            self.unknowns[*column] += slope;
        }
        self.state.copy_from(&before.rows(0, n));
        self.pending_restitution = step.pending_before.iter().copied().zip(before.iter().skip(n).copied()).collect();
    }
}
