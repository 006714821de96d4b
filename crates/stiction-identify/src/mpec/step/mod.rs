//! One step of the simulator as an element: momentum, rows and laws as the assembly writes them.   [MPEC-5] [MPEC-6] [MPEC-9]

mod curvature;
mod differences;
mod guess;
mod laws;
mod turning;

use std::sync::{Arc, Mutex, PoisonError};

use stiction::{
    Model, OrientationUpdate, PositionUpdate, State,
    sensitivity::{StepEquations, StepForm, StepTerms, displacement},
    stepping::Start,
};
use stiction_mpec::{Element, Refused};

use super::{
    models::{Beside, Kept, Source, keep},
    pattern,
};
use differences::SPACING;
pub(super) use guess::{Guess, Seen};
use laws::Inputs;

/// A step. Inputs: displacement of the start from a reference, velocity of the start unless it is known, parameters; displacement of the
/// end, velocity of the end, impulses, slip speeds; of contacts that rebound speeds of approach, pending restitution, and that of the step
/// before.
pub(super) struct Step {
    source: Arc<Source>,
    equations: Mutex<StepEquations>,
    form: StepForm,
    /// Reference of the displacements of the start, its time, and its velocity if that is known.
    from: State,
    /// Reference of the displacements of the end.
    to: Vec<f64>,
    /// Displacements of the start per unit of their inputs.
    scales: Vec<f64>,
    known_velocity: bool,
    /// Contacts that may have pending restitution from the step before, among those that rebound.
    pending_rebounds: Vec<usize>,
    parameters: usize,
    /// Pairs of inputs with nonzero second differences of the terms.
    curved: Vec<(usize, usize)>,
    /// Derivatives of the terms with respect to inputs in which they are affine.
    constant: Vec<Option<StepTerms>>,
    jacobian: Vec<(usize, usize)>,
    hessian: Vec<(usize, usize)>,
    /// Terms and derivatives at the last evaluation.
    here: Kept<StepTerms>,
    slopes: Kept<Vec<StepTerms>>,
}

impl Step {
    pub(super) fn new(
        source: &Arc<Source>,
        equations: StepEquations,
        (from, to): (State, Vec<f64>),
        (scales, known_velocity): (Vec<f64>, bool),
        pending_rebounds: Vec<usize>,
    ) -> Result<Self, Refused> {
        let mut step = Self {
            source: Arc::clone(source),
            form: equations.form().clone(),
            equations: Mutex::new(equations),
            from,
            to,
            scales,
            known_velocity,
            pending_rebounds,
            parameters: source.target.parameters.len(),
            curved: Vec::new(),
            constant: Vec::new(),
            jacobian: Vec::new(),
            hessian: Vec::new(),
            here: Kept::default(),
            slopes: Kept::default(),
        };
        step.find_curved()?;
        let values = source.target.starts();
        let fixed: Vec<(usize, f64)> = (step.state_inputs()..step.slow()).zip(values).collect();
        (step.jacobian, step.hessian) = pattern::probe(&step, &fixed, Self::all_slopes, Self::all_curvatures)?;
        Ok(step)
    }

    pub(super) fn form(&self) -> &StepForm {
        &self.form
    }

    fn dof(&self) -> usize {
        self.form.dof
    }

    fn state_inputs(&self) -> usize {
        self.dof() * if self.known_velocity { 1 } else { 2 }
    }

    /// Number of inputs that the terms depend on.
    fn slow(&self) -> usize {
        self.state_inputs() + self.parameters
    }

    /// The first impulse.
    fn first_impulse(&self) -> usize {
        self.slow() + 2 * self.dof()
    }

    /// The first speed of approach.
    fn first_approach(&self) -> usize {
        self.first_impulse() + self.form.rows.len() + self.form.frictions.len()
    }

    fn inputs(&self, x: &[f64]) -> Inputs {
        let n = self.dof();
        let part = |from: usize, count: usize| x.get(from..from + count).unwrap_or_default().to_vec();
        let rebounds = self.form.rebounds.len();
        Inputs {
            before: if self.known_velocity { self.from.v.clone() } else { part(n, n) },
            after: part(self.slow() + n, n),
            impulses: part(self.first_impulse(), self.form.rows.len()),
            slips: part(self.first_impulse() + self.form.rows.len(), self.form.frictions.len()),
            approaches: part(self.first_approach(), rebounds),
            pending_after: part(self.first_approach() + rebounds, rebounds),
            pending_restitution: part(self.first_approach() + 2 * rebounds, self.pending_rebounds.len()),
        }
    }

    fn values_of(&self, x: &[f64]) -> Vec<f64> {
        x.get(self.state_inputs()..self.slow()).unwrap_or_default().to_vec()
    }

    /// The state at the start, with some of its inputs moved by multiples of their spacing.
    fn state(&self, model: &Model, x: &[f64], shifts: &[(usize, i8)]) -> State {
        let n = self.dof();
        let by = |input: usize| -> f64 {
            shifts.iter().filter(|(place, _)| *place == input).map(|(_, by)| f64::from(*by) * SPACING).sum()
        };
        let moved: Vec<f64> = (0..n)
            .map(|k| x.get(k).copied().unwrap_or(0.0) * self.scales.get(k).copied().unwrap_or(1.0) + by(k))
            .collect();
        let mut state = self.from.clone();
        model.integrate(&self.from.q, &moved, 1.0, OrientationUpdate::Exponential, &mut state.q);
        if !self.known_velocity {
            for (k, v) in state.v.iter_mut().enumerate() {
                *v = x.get(n + k).copied().unwrap_or(0.0) + by(n + k);
            }
        }
        state
    }

    fn terms(&self, model: &Model, state: &State, out: &mut StepTerms) -> Result<(), Refused> {
        let start = Start::new(model, &self.source.scheme, state, self.source.h);
        let mut equations = self.equations.lock().unwrap_or_else(PoisonError::into_inner);
        equations.terms(&start, out).map_err(|error| Refused(error.to_string()))
    }

    /// Displacement from the expected end to the actual one.
    fn position(&self, model: &Model, x: &[f64], at: &Inputs) -> Vec<f64> {
        let n = self.dof();
        let state = self.state(model, x, &[]);
        let moving = self.moving(at);
        let (mut reached, mut end) = (Vec::new(), Vec::new());
        model.integrate(&state.q, &moving, self.source.h, self.source.scheme.orientation, &mut reached);
        let moved = x.get(self.slow()..self.slow() + n).unwrap_or_default();
        model.integrate(&self.to, moved, 1.0, OrientationUpdate::Exponential, &mut end);
        displacement(model, &reached, &end)
    }

    fn by_mean(&self) -> bool {
        self.source.scheme.position_update == PositionUpdate::Average
    }

    fn moving(&self, at: &Inputs) -> Vec<f64> {
        if !self.by_mean() {
            return at.after.clone();
        }
        at.after.iter().zip(&at.before).map(|(after, before)| 0.5 * (after + before)).collect()
    }

    fn all_slopes(&self, x: &[f64]) -> Result<Vec<f64>, Refused> {
        let at = self.inputs(x);
        let terms = self.terms_here(x)?;
        let slopes = self.slopes_of_terms(x)?;
        let assembled = self.assemble(&terms, &at);
        let tangents = self.tangents(&terms, &slopes, &at);
        let (inputs, outputs) = (Element::inputs(self), Element::outputs(self));
        let mut out = vec![0.0; inputs * outputs];
        for (column, tangent) in tangents.iter().enumerate() {
            let laws = self.laws_along(&assembled, &at, tangent);
            let all = tangent.position.iter().chain(&tangent.assembled.momentum).chain(&laws);
            for (row, slope) in all.enumerate() {
                out.get_mut(row * inputs + column).into_iter().for_each(|out| *out = *slope);
            }
        }
        self.write_turns(x, &mut out)?;
        Ok(out)
    }

    fn terms_here(&self, x: &[f64]) -> Result<Arc<StepTerms>, Refused> {
        keep(&self.here, x.get(..self.slow()).unwrap_or_default(), || {
            let model = self.source.model(&self.values_of(x))?;
            let mut terms = StepTerms::zeros(&self.form);
            self.terms(&model, &self.state(&model, x, &[]), &mut terms)?;
            Ok(Arc::new(terms))
        })
    }
}

impl Element for Step {
    fn inputs(&self) -> usize {
        self.first_approach() + 2 * self.form.rebounds.len() + self.pending_rebounds.len()
    }

    fn outputs(&self) -> usize {
        2 * self.dof() + self.form.rows.len() + self.form.frictions.len() + 2 * self.form.rebounds.len()
    }

    fn jacobian_pattern(&self) -> &[(usize, usize)] {
        &self.jacobian
    }

    fn hessian_pattern(&self) -> &[(usize, usize)] {
        &self.hessian
    }

    fn values(&self, x: &[f64], out: &mut [f64]) -> Result<(), Refused> {
        let at = self.inputs(x);
        let model = self.source.model(&self.values_of(x))?;
        let terms = self.terms_here(x)?;
        let assembled = self.assemble(&terms, &at);
        let position = self.position(&model, x, &at);
        let laws = self.laws(&assembled, &at);
        let all = position.iter().chain(&assembled.momentum).chain(&laws);
        out.iter_mut().zip(all).for_each(|(out, value)| *out = *value);
        Ok(())
    }

    fn jacobian(&self, x: &[f64], out: &mut [f64]) -> Result<(), Refused> {
        pattern::pick(&self.all_slopes(x)?, Element::inputs(self), &self.jacobian, out);
        Ok(())
    }

    fn hessian(&self, x: &[f64], multipliers: &[f64], out: &mut [f64]) -> Result<(), Refused> {
        pattern::pick(&self.all_curvatures(x, multipliers)?, Element::inputs(self), &self.hessian, out);
        Ok(())
    }
}
