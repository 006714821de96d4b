//! One step of the simulator as an element: momentum, rows and laws as the assembly writes them.   [MPEC-5] [MPEC-6]

use std::sync::{Arc, Mutex, PoisonError};

use stiction::{
    Model, OrientationUpdate, PositionUpdate, State,
    stepping::{FrictionLaw, FrictionLimit, Start, StepEquations, StepForm, StepRow, StepTerms, displacement},
};
use stiction_mpec::{Element, Refused};

use super::{
    models::{Beside, Kept, Source, keep},
    pattern,
};

/// Spacing of displacements and velocities, m, rad and m/s.
const SPACING: f64 = 1e-4;

/// Places of differences of five points and their weights.
const STENCIL: [(i8, f64); 4] = [(-2, 1.0 / 12.0), (-1, -8.0 / 12.0), (1, 8.0 / 12.0), (2, -1.0 / 12.0)];

/// Second differences of rounding are below this, relative to the numbers.
const FLAT: f64 = 1e-5;

/// A step. Inputs: displacement of the start from a reference, velocity of the start unless it is known, parameters; displacement of the end,
/// velocity of the end, impulses, slip speeds.
pub(super) struct Step {
    source: Arc<Source>,
    equations: Mutex<StepEquations>,
    form: StepForm,
    /// Where displacements of the start are counted from, its time, and its velocity where that is known.
    from: State,
    /// Where those of the end are counted from.
    to: Vec<f64>,
    /// Displacements of the start per unit of their inputs.
    scales: Vec<f64>,
    known_velocity: bool,
    parameters: usize,
    /// Which second differences of the terms do not vanish.
    curved: Vec<(usize, usize)>,
    /// Slopes of the terms by inputs in which they are affine.
    constant: Vec<Option<StepTerms>>,
    jacobian: Vec<(usize, usize)>,
    hessian: Vec<(usize, usize)>,
    /// Terms and slopes where they were asked for last.
    here: Kept<StepTerms>,
    slopes: Kept<Vec<StepTerms>>,
}

/// The inputs of a step by what they are.
#[derive(Clone)]
struct Inputs {
    before: Vec<f64>,
    after: Vec<f64>,
    impulses: Vec<f64>,
    slips: Vec<f64>,
}

/// Momentum, u and L, or how they change.
#[derive(Clone, Default)]
struct Assembled {
    momentum: Vec<f64>,
    rows: Vec<f64>,
    limits: Vec<f64>,
}

/// How everything changes with one input.
struct Tangent {
    assembled: Assembled,
    position: Vec<f64>,
    impulse: Option<usize>,
    slip: Option<usize>,
}

impl Step {
    pub(super) fn new(
        source: &Arc<Source>,
        equations: StepEquations,
        (from, to): (State, Vec<f64>),
        (scales, known_velocity): (Vec<f64>, bool),
    ) -> Result<Self, Refused> {
        let mut step = Self {
            source: Arc::clone(source),
            form: equations.form().clone(),
            equations: Mutex::new(equations),
            from,
            to,
            scales,
            known_velocity,
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

    /// How many inputs the terms depend on.
    fn slow(&self) -> usize {
        self.state_inputs() + self.parameters
    }

    /// The first impulse.
    fn first_impulse(&self) -> usize {
        self.slow() + 2 * self.dof()
    }

    fn inputs(&self, x: &[f64]) -> Inputs {
        let n = self.dof();
        let part = |from: usize, count: usize| x.get(from..from + count).unwrap_or_default().to_vec();
        Inputs {
            before: if self.known_velocity { self.from.v.clone() } else { part(n, n) },
            after: part(self.slow() + n, n),
            impulses: part(self.first_impulse(), self.form.rows.len()),
            slips: part(self.first_impulse() + self.form.rows.len(), self.form.frictions.len()),
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
        let start = Start { model, scheme: &self.source.scheme, state, h: self.source.h };
        let mut equations = self.equations.lock().unwrap_or_else(PoisonError::into_inner);
        equations.terms(&start, out).map_err(|error| Refused(error.to_string()))
    }

    /// The terms with some inputs moved.
    fn beside(
        &self,
        beside: &Beside,
        x: &[f64],
        shifts: &[(usize, i8)],
        out: &mut StepTerms,
    ) -> Result<(), Refused> {
        let first = self.state_inputs();
        let moved: Vec<(usize, i8)> =
            shifts.iter().filter(|(place, _)| *place >= first).map(|(place, by)| (place - first, *by)).collect();
        let model = match moved.as_slice() {
            [] => Some(&beside.centre),
            [(k, by)] => beside.lines.get(*k).map(|[a, b, c, d]| match by {
                -2 => a,
                -1 => b,
                1 => c,
                _ => d,
            }),
            [(j, by), (k, _), ..] => {
                let key = (*j.min(k), *j.max(k));
                let found = beside.diagonals.iter().find(|(pair, _)| *pair == key);
                found.map(|(_, [low, high])| if *by < 0 { low } else { high })
            }
        };
        let model = model.ok_or_else(|| Refused("there is no model beside these values".into()))?;
        self.terms(model, &self.state(model, x, shifts), out)
    }

    fn spacing(&self, input: usize) -> f64 {
        let first = self.state_inputs();
        if input < first { SPACING } else { self.source.spacing(input - first) }
    }

    /// Input per unit of what is moved by spacings.
    fn scale(&self, input: usize) -> f64 {
        if input < self.dof() { self.scales.get(input).copied().unwrap_or(1.0) } else { 1.0 }
    }

    /// ∂ terms/∂ input for every input that they depend on.
    fn slopes_of_terms(&self, x: &[f64]) -> Result<Arc<Vec<StepTerms>>, Refused> {
        // Jacobian and Hessian ask at the same point.
        keep(&self.slopes, x.get(..self.slow()).unwrap_or_default(), || Ok(Arc::new(self.differences(x)?)))
    }

    fn differences(&self, x: &[f64]) -> Result<Vec<StepTerms>, Refused> {
        let beside = self.source.beside(&self.values_of(x))?;
        let mut at = StepTerms::zeros(&self.form);
        let mut slopes = Vec::with_capacity(self.slow());
        for input in 0..self.slow() {
            let mut slope = StepTerms::zeros(&self.form);
            if let Some(known) = self.constant.get(input).and_then(Option::as_ref) {
                slopes.push(known.clone());
                continue;
            }
            for (by, weight) in STENCIL {
                self.beside(&beside, x, &[(input, by)], &mut at)?;
                let weight = weight * self.scale(input) / self.spacing(input);
                slope.numbers.iter_mut().zip(&at.numbers).for_each(|(out, x)| *out += weight * x);
            }
            slopes.push(slope);
        }
        Ok(slopes)
    }

    /// ∂² of a function of the terms for two inputs: [T(i, j) + T(−i, −j) − T(i) − T(−i) − T(j) − T(−j) + 2 T]/(2 h_i h_j).
    fn second_difference(
        &self,
        beside: &Beside,
        x: &[f64],
        (i, j): (usize, usize),
        mut each: impl FnMut(&StepTerms, f64),
    ) -> Result<(), Refused> {
        let mut at = StepTerms::zeros(&self.form);
        let size = |k: usize| 2.0 * self.spacing(k) / self.scale(k).abs().max(f64::MIN_POSITIVE);
        let share = 1.0 / (size(i) * size(j));
        let mut add = |shifts: &[(usize, i8)], weight: f64| {
            self.beside(beside, x, shifts, &mut at)?;
            each(&at, weight * share);
            Ok(())
        };
        if i == j {
            add(&[(i, 2)], 1.0)?;
            add(&[(i, -2)], 1.0)?;
            return add(&[], -2.0);
        }
        add(&[(i, 2), (j, 2)], 0.5)?;
        add(&[(i, -2), (j, -2)], 0.5)?;
        for k in [i, j] {
            add(&[(k, 2)], -0.5)?;
            add(&[(k, -2)], -0.5)?;
        }
        add(&[], 1.0)
    }

    /// Pairs of inputs whose second differences do not vanish where the step starts, moved a little from where it was seen.
    fn find_curved(&mut self) -> Result<(), Refused> {
        let values = self.source.target.starts();
        let beside = self.source.beside(&values)?;
        let n = self.dof();
        let mut x = vec![0.0; self.first_impulse() + self.form.rows.len() + self.form.frictions.len()];
        for (k, x) in x.iter_mut().enumerate().take(2 * n) {
            *x = 1e-2 * pattern::generic(k);
        }
        x.iter_mut().skip(self.state_inputs()).zip(&values).for_each(|(x, value)| *x = *value);
        let mut at = StepTerms::zeros(&self.form);
        self.beside(&beside, &x, &[], &mut at)?;
        let sizes: Vec<f64> = at.numbers.iter().map(|x| FLAT * (1.0 + x.abs())).collect();
        let mut curved = Vec::new();
        for i in 0..self.slow() {
            for j in 0..=i {
                let mut sum = vec![0.0; sizes.len()];
                let scale = self.scale(i) * self.scale(j);
                self.second_difference(&beside, &x, (i, j), |terms, weight| {
                    sum.iter_mut().zip(&terms.numbers).for_each(|(out, x)| *out += weight / scale * x);
                })?;
                if sum.iter().zip(&sizes).any(|(sum, size)| sum.abs() > *size) {
                    curved.push((i, j));
                }
            }
        }
        let affine = |input: usize| !curved.iter().any(|(i, j)| *i == input || *j == input);
        let slopes = self.differences(&x)?;
        self.constant = slopes.into_iter().enumerate().map(|(k, slope)| affine(k).then_some(slope)).collect();
        self.curved = curved;
        Ok(())
    }

    /// Momentum, u and L: linear in the terms.   [MPEC-5]
    fn assemble(&self, terms: &StepTerms, at: &Inputs) -> Assembled {
        let (n, count) = (self.dof(), self.form.rows.len());
        let change: Vec<f64> = at.after.iter().zip(&at.before).map(|(after, before)| after - before).collect();
        let momentum = (0..n).map(|i| {
            let gained: f64 = change.iter().enumerate().map(|(j, dv)| terms.mass(i, j) * dv).sum();
            let pushed: f64 = at.impulses.iter().enumerate().map(|(row, p)| terms.row(row, i) * p).sum();
            gained - terms.push(i) - pushed
        });
        let rows = (0..count).map(|row| {
            terms.constant(row) + at.after.iter().enumerate().map(|(j, v)| terms.row(row, j) * v).sum::<f64>()
        });
        let limits = self.form.frictions.iter().map(|law| match law.limit {
            FrictionLimit::Contact { normal, coefficient } => {
                terms.coefficient(coefficient) * at.impulses.get(normal).copied().unwrap_or(0.0)
            }
            FrictionLimit::Known { coefficient } => terms.coefficient(coefficient),
        });
        Assembled { momentum: momentum.collect(), rows: rows.collect(), limits: limits.collect() }
    }

    /// The displacement from where the end should be to where it is.
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

    /// How everything changes with each input.
    fn tangents(&self, terms: &StepTerms, slopes: &[StepTerms], at: &Inputs) -> Vec<Tangent> {
        let (n, count, laws) = (self.dof(), self.form.rows.len(), self.form.frictions.len());
        let none = || Assembled { momentum: vec![0.0; n], rows: vec![0.0; count], limits: vec![0.0; laws] };
        let unit = |k: usize, value: f64| {
            let mut out = vec![0.0; n];
            out.get_mut(k).into_iter().for_each(|x| *x = value);
            out
        };
        let (h, by_mean) = (self.source.h, self.by_mean());
        let plain = |assembled, position| Tangent { assembled, position, impulse: None, slip: None };
        let mut tangents = Vec::new();
        for (input, slope) in slopes.iter().enumerate() {
            let mut assembled = self.assemble(slope, at);
            let mut position = vec![0.0; n];
            if input < n {
                position = unit(input, -self.scale(input));
            } else if input < self.state_inputs() {
                let place = input - n;
                assembled.momentum.iter_mut().enumerate().for_each(|(i, m)| *m -= terms.mass(i, place));
                position = unit(place, if by_mean { -0.5 * h } else { 0.0 });
            }
            tangents.push(plain(assembled, position));
        }
        tangents.extend((0..n).map(|k| plain(none(), unit(k, 1.0))));
        for k in 0..n {
            let assembled = Assembled {
                momentum: (0..n).map(|i| terms.mass(i, k)).collect(),
                rows: (0..count).map(|row| terms.row(row, k)).collect(),
                limits: vec![0.0; laws],
            };
            tangents.push(plain(assembled, unit(k, if by_mean { -0.5 * h } else { -h })));
        }
        for row in 0..count {
            let mut assembled = none();
            assembled.momentum = (0..n).map(|i| -terms.row(row, i)).collect();
            for (limit, law) in assembled.limits.iter_mut().zip(&self.form.frictions) {
                if let FrictionLimit::Contact { normal, coefficient } = law.limit
                    && normal == row
                {
                    *limit = terms.coefficient(coefficient);
                }
            }
            tangents.push(Tangent { assembled, position: vec![0.0; n], impulse: Some(row), slip: None });
        }
        for slip in 0..laws {
            tangents.push(Tangent { assembled: none(), position: vec![0.0; n], impulse: None, slip: Some(slip) });
        }
        tangents
    }

    /// Laws of the rows as constraints.   [MPEC-6]
    fn laws(&self, assembled: &Assembled, at: &Inputs) -> Vec<f64> {
        let mut out = assembled.rows.clone();
        let mut slacks = Vec::with_capacity(self.form.frictions.len());
        for ((law, limit), slip) in self.form.frictions.iter().zip(&assembled.limits).zip(&at.slips) {
            let (mut sum, mut squares) = (0.0, 0.0);
            for row in &law.rows {
                let p = at.impulses.get(*row).copied().unwrap_or(0.0);
                let Some(u) = out.get_mut(*row) else { continue };
                *u = if law.polygon { *u + slip } else { limit * *u + slip * p };
                sum += p;
                squares += p * p;
            }
            slacks.push(if law.polygon { limit - sum } else { limit * limit - squares });
        }
        out.extend(slacks);
        out
    }

    /// How these change along a tangent.
    fn laws_along(&self, assembled: &Assembled, at: &Inputs, along: &Tangent) -> Vec<f64> {
        let mut out = along.assembled.rows.clone();
        let mut slacks = Vec::with_capacity(self.form.frictions.len());
        for (place, law) in self.form.frictions.iter().enumerate() {
            let get = |list: &[f64]| list.get(place).copied().unwrap_or(0.0);
            let (limit, slip) = (get(&assembled.limits), get(&at.slips));
            let (d_limit, d_slip) = (get(&along.assembled.limits), f64::from(u8::from(along.slip == Some(place))));
            let mut slack = if law.polygon { d_limit } else { 2.0 * limit * d_limit };
            for row in &law.rows {
                let p = at.impulses.get(*row).copied().unwrap_or(0.0);
                let u = assembled.rows.get(*row).copied().unwrap_or(0.0);
                let dp = f64::from(u8::from(along.impulse == Some(*row)));
                let Some(du) = out.get_mut(*row) else { continue };
                if law.polygon {
                    *du += d_slip;
                    slack -= dp;
                } else {
                    *du = d_limit * u + limit * *du + d_slip * p + slip * dp;
                    slack -= 2.0 * p * dp;
                }
            }
            slacks.push(slack);
        }
        out.extend(slacks);
        out
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

    /// Weights of momentum, u and L in the Lagrangian.
    fn weights(&self, assembled: &Assembled, multipliers: &[f64]) -> Assembled {
        let (n, count) = (self.dof(), self.form.rows.len());
        let part = |from: usize, count: usize| multipliers.get(from..from + count).unwrap_or_default().to_vec();
        let (momentum, mut rows) = (part(n, n), part(2 * n, count));
        let slacks = part(2 * n + count, self.form.frictions.len());
        let mut limits = Vec::with_capacity(slacks.len());
        for ((law, limit), slack) in self.form.frictions.iter().zip(&assembled.limits).zip(slacks) {
            let mut weight = if law.polygon { slack } else { 2.0 * limit * slack };
            for row in law.rows.iter().filter(|_| !law.polygon) {
                let Some(multiplier) = rows.get_mut(*row) else { continue };
                weight += *multiplier * assembled.rows.get(*row).copied().unwrap_or(0.0);
                *multiplier *= limit;
            }
            limits.push(weight);
        }
        Assembled { momentum, rows, limits }
    }

    /// Second derivatives of the Lagrangian, all of them, row by row.
    fn all_curvatures(&self, x: &[f64], multipliers: &[f64]) -> Result<Vec<f64>, Refused> {
        let at = self.inputs(x);
        let (terms, slopes) = (self.terms_here(x)?, self.slopes_of_terms(x)?);
        let assembled = self.assemble(&terms, &at);
        let weights = self.weights(&assembled, multipliers);
        let tangents = self.tangents(&terms, &slopes, &at);
        let inputs = Element::inputs(self);
        let mut out = vec![0.0; inputs * inputs];
        let mut add = |i: usize, j: usize, value: f64| {
            out.get_mut(i * inputs + j).into_iter().for_each(|out| *out += value);
            if i != j {
                out.get_mut(j * inputs + i).into_iter().for_each(|out| *out += value);
            }
        };
        // Terms that are curved.
        let beside = self.source.beside(&self.values_of(x))?;
        for (i, j) in &self.curved {
            let mut sum = 0.0;
            self.second_difference(&beside, x, (*i, *j), |terms, weight| {
                sum += weight * dot(&weights, &self.assemble(terms, &at));
            })?;
            add(*i, *j, sum);
        }
        // Terms that change, with the velocities and impulses that they multiply.
        for (i, slope) in slopes.iter().enumerate() {
            let changed = self.tangents(slope, &[], &at);
            for (k, tangent) in changed.iter().enumerate().skip(self.dof()) {
                add(i, self.slow() + k, dot(&weights, &tangent.assembled));
            }
            for place in 0..self.state_inputs() - self.dof() {
                let pull: f64 = weights.momentum.iter().enumerate().map(|(row, w)| -w * slope.mass(row, place)).sum();
                let velocity = self.dof() + place;
                // Of two velocities each has its turn.
                add(i, velocity, if i == velocity { 2.0 * pull } else { pull });
            }
        }
        self.add_laws(multipliers, &tangents, &mut add);
        Ok(out)
    }

    /// Products in the laws of cones.
    fn add_laws(&self, multipliers: &[f64], tangents: &[Tangent], add: &mut impl FnMut(usize, usize, f64)) {
        let (first, count) = (2 * self.dof(), self.form.rows.len());
        let get = |list: &[f64], place: usize| list.get(place).copied().unwrap_or(0.0);
        for (place, law) in self.form.frictions.iter().enumerate().filter(|(_, law)| !law.polygon) {
            let slack = get(multipliers, first + count + place);
            for (i, a) in tangents.iter().enumerate() {
                for (j, b) in tangents.iter().enumerate().take(i + 1) {
                    let value = Self::product(law, place, (a, b), (slack, &|row| get(multipliers, first + row)));
                    if value != 0.0 {
                        add(i, j, value);
                    }
                }
            }
        }
    }

    /// ∂² of Σ λ (L u + σ p) + λ_s (L² − |p|²) along two tangents.
    fn product(
        law: &FrictionLaw,
        place: usize,
        (a, b): (&Tangent, &Tangent),
        (slack, multiplier): (f64, &dyn Fn(usize) -> f64),
    ) -> f64 {
        let limit = |t: &Tangent| t.assembled.limits.get(place).copied().unwrap_or(0.0);
        let slip = |t: &Tangent| f64::from(u8::from(t.slip == Some(place)));
        let mut sum = 2.0 * slack * limit(a) * limit(b);
        for row in &law.rows {
            let u = |t: &Tangent| t.assembled.rows.get(*row).copied().unwrap_or(0.0);
            let p = |t: &Tangent| f64::from(u8::from(t.impulse == Some(*row)));
            let mixed = limit(a) * u(b) + limit(b) * u(a) + slip(a) * p(b) + slip(b) * p(a);
            sum += multiplier(*row) * mixed - 2.0 * slack * p(a) * p(b);
        }
        sum
    }

    /// Least and greatest values of its constraints.
    pub(super) fn bounds(&self) -> Vec<[f64; 2]> {
        let zero = [0.0, 0.0];
        let positive = [0.0, f64::INFINITY];
        let is_corner = |row: usize| self.form.frictions.iter().any(|law| law.polygon && law.rows.contains(&row));
        let rows = self.form.rows.iter().enumerate().map(|(row, kind)| match kind {
            StepRow::Joint => zero,
            StepRow::Normal => positive,
            StepRow::Friction => if is_corner(row) { positive } else { zero },
        });
        let slacks = self.form.frictions.iter().map(|_| positive);
        std::iter::repeat_n(zero, 2 * self.dof()).chain(rows).chain(slacks).collect()
    }
}

fn dot(a: &Assembled, b: &Assembled) -> f64 {
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    product(&a.momentum, &b.momentum) + product(&a.rows, &b.rows) + product(&a.limits, &b.limits)
}

impl Element for Step {
    fn inputs(&self) -> usize {
        self.first_impulse() + self.form.rows.len() + self.form.frictions.len()
    }

    fn outputs(&self) -> usize {
        2 * self.dof() + self.form.rows.len() + self.form.frictions.len()
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
