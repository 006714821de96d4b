//! Forward sensitivities of a simulation.

use nalgebra::{DMatrix, DMatrixView};
use stiction_multibody::{ContactId, State};
use stiction_scene::SceneError;
use stiction_sensitivity::{Differentiator, SensitivityError, SensitivityOptions, StepDerivative};
use stiction_stepping::{StepError, StepReport};

use super::{Unknown, Variants};
use crate::{BuildError, Simulation};

/// Error of a run with derivatives.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GradientError {
    /// Scene error at the values of the unknowns, or at the perturbed values.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// The scheme does not support the scene.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// A step failed.
    #[error(transparent)]
    Step(#[from] StepError),
    /// A step succeeded but has no derivative.
    #[error("step {step}: {source}")]
    Derivative {
        /// Number of the step.
        step: u64,
        /// Reason.
        source: SensitivityError,
    },
}

/// Largest number of halvings of a step, as [`stiction_stepping::Solving::halve_steps`].
const MOST_HALVINGS: u32 = 10;

/// A simulation with the sensitivities ∂x/∂unknowns of its state x: displacements of the bodies, then velocities.   [GRAD-7]
pub struct GradientRun {
    variants: Variants,
    columns: Vec<usize>,
    simulation: Simulation,
    differentiator: Differentiator,
    options: SensitivityOptions,
    chain: DMatrix<f64>,
    pending_restitution: Vec<ContactId>,
}

impl GradientRun {
    /// Creates the run of a scene text with these unknowns.
    pub fn new(text: &str, file_name: &str, unknowns: &[Unknown]) -> Result<Self, GradientError> {
        Self::of(Variants::read(text, file_name, unknowns)?)
    }

    /// Creates the run of a scene that was read with its unknowns.
    pub fn of(variants: Variants) -> Result<Self, GradientError> {
        let simulation = Simulation::from_scene(&variants.scene)?;
        let (columns, chain) = (variants.columns(), variants.at_start());
        Ok(Self {
            variants,
            columns,
            simulation,
            differentiator: Differentiator::default(),
            options: SensitivityOptions::default(),
            chain,
            pending_restitution: Vec::new(),
        })
    }

    /// Sets the options of the derivatives.
    pub fn with_options(mut self, options: SensitivityOptions) -> Self {
        self.options = options;
        self
    }

    /// Sets another state of the same model, with its known derivatives (displacements, then velocities).
    pub fn set_state(&mut self, state: &State, chain: DMatrix<f64>) -> Result<(), crate::RestoreError> {
        if chain.shape() != (2 * self.simulation.model().dof(), self.variants.unknowns().len()) {
            return Err(crate::RestoreError::Mismatch("its derivatives have the wrong shape".into()));
        }
        self.simulation.set_state(state)?;
        self.chain = chain;
        self.pending_restitution.clear();
        Ok(())
    }

    /// Makes a step and returns its derivative. If the step has no derivative, the state still advances, and the run should end.
    pub fn step(&mut self) -> Result<(StepReport, StepDerivative), GradientError> {
        let (report, derivative) = self.step_with(self.simulation.step_size(), MOST_HALVINGS)?;
        self.follow(&derivative);
        Ok((report, derivative))
    }

    /// Repeats a halved step as two steps, each with its derivative.
    fn step_with(&mut self, h: f64, halvings: u32) -> Result<(StepReport, StepDerivative), GradientError> {
        let before = self.simulation.state().clone();
        let report = self.simulation.step_with(h)?;
        if report.substeps > report.layer_substeps && halvings > 0 {
            // This state was a valid state of the simulation, so this cannot fail.
            let _ = self.simulation.set_state(&before);
            let (_, first) = self.step_with(0.5 * h, halvings - 1)?;
            let (report, second) = self.step_with(0.5 * h, halvings - 1)?;
            return Ok((report, first.then(&second)));
        }
        let (variations, differentiator) = (self.variants.variations(), &mut self.differentiator);
        let derivative = self.simulation.differentiate(&before, &report, &variations, (differentiator, &self.options));
        let derivative = derivative.map_err(|source| GradientError::Derivative { step: report.step, source })?;
        Ok((report, derivative))
    }

    /// S⁺ = A S + B.   [GRAD-7]
    fn follow(&mut self, derivative: &StepDerivative) {
        let n = 2 * self.simulation.model().dof();
        let mut known = DMatrix::zeros(n + derivative.pending_before.len(), self.chain.ncols());
        known.rows_mut(0, n).copy_from(&self.chain.rows(0, n));
        for (row, id) in derivative.pending_before.iter().enumerate() {
            if let Some(place) =
                self.pending_restitution.iter().position(|pending_restitution| pending_restitution == id)
            {
                known.row_mut(n + row).copy_from(&self.chain.row(n + place));
            }
        }
        let mut next = &derivative.by_state * known;
        for (column, of) in self.columns.iter().enumerate() {
            let mut into = next.column_mut(*of);
            into += derivative.by_parameters.column(column);
        }
        self.chain = next;
        self.pending_restitution.clone_from(&derivative.pending_after);
    }

    /// The simulation.
    pub fn simulation(&self) -> &Simulation {
        &self.simulation
    }

    /// The scene and its unknowns.
    pub fn variants(&self) -> &Variants {
        &self.variants
    }

    /// ∂displacements/∂unknowns: a row for each velocity of the model; rotations are about the world axes.
    pub fn displacements(&self) -> DMatrixView<'_, f64> {
        self.chain.rows(0, self.simulation.model().dof())
    }

    /// ∂velocities/∂unknowns: a row for each velocity of the model.
    pub fn velocities(&self) -> DMatrixView<'_, f64> {
        let n = self.simulation.model().dof();
        self.chain.rows(n, n)
    }
}
