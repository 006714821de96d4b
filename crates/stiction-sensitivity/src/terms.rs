//! Equations of a step before they are solved: the coefficients of velocities and impulses, at any state and with any model.
//!
//! ```text
//! momentum   M (v⁺ − v) − h λ_app − Jᵀ p = 0,      rows   u = J v⁺ + c,      limits   L = μ p_n or a number       [MPEC-5]
//! ```
//!
//! M, h λ_app, J, c and the coefficients are functions of q, v and the parameters of the model. The assembly of the simulator itself writes
//! them.

use stiction_multibody::{ContactId, limits};

use super::{
    SensitivityError, check_scheme,
    equations::{self, Axis, Row, Solved},
};
use stiction_stepping::{
    Contact, ContactImpulse, FeatureDetector, FrictionSet, Margin, Start, VelocityTerms, Workspace,
    stages::{detect, prepare},
};

/// Law of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepRow {
    /// u = 0, with any impulse.
    Joint,
    /// 0 ≤ u ⊥ p ≥ 0.
    Normal,
    /// Friction, by the friction law it belongs to.
    Friction,
}

/// Bound of friction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrictionLimit {
    /// μ p_n: the row of p_n, and the index of μ among the coefficients.
    Contact {
        /// Row of p_n.
        normal: usize,
        /// Index of μ among the coefficients.
        coefficient: usize,
    },
    /// Number among the coefficients: μ h N of a support point.
    Known {
        /// Index among the coefficients.
        coefficient: usize,
    },
}

/// Rows of friction that share a limit L. Corners of a polygon obey 0 ≤ p ⊥ u + σ ≥ 0 and 0 ≤ σ ⊥ L − Σ p ≥ 0; components of a cone obey L
/// u + σ p = 0 and 0 ≤ σ ⊥ L² − |p|² ≥ 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrictionLaw {
    /// L.
    pub limit: FrictionLimit,
    /// Its rows.
    pub rows: Vec<usize>,
    /// True if they are corners.
    pub polygon: bool,
}

/// Contact that rebounds in the next step with a fraction ε of its speed of approach.   [IMPACT-1]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rebound {
    /// The row of its normal.
    pub normal: usize,
    /// Index among the contacts.
    pub contact: usize,
    /// Index of ε among the coefficients.
    pub coefficient: usize,
    /// Index of the coefficient that prescribed motion adds to n·v.
    pub prescribed: usize,
}

/// Structure of the equations of a step, row by row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepForm {
    /// Velocities.
    pub dof: usize,
    /// Rows.
    pub rows: Vec<StepRow>,
    /// Laws of friction.
    pub frictions: Vec<FrictionLaw>,
    /// Contacts that rebound.
    pub rebounds: Vec<Rebound>,
    /// Number of coefficients.
    pub coefficients: usize,
    /// Contacts, in the order of their normal rows.
    pub contacts: Vec<ContactId>,
}

/// M, h λ_app, J, c and the coefficients as one list of numbers, so that they can be added and subtracted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepTerms {
    dof: usize,
    rows: usize,
    /// Numbers.
    pub numbers: Vec<f64>,
}

impl StepTerms {
    /// Terms of a form, all zero.
    pub fn zeros(form: &StepForm) -> Self {
        let (dof, rows) = (form.dof, form.rows.len());
        Self { dof, rows, numbers: vec![0.0; dof * dof + dof + rows * dof + rows + form.coefficients] }
    }

    fn at(&self, place: usize) -> f64 {
        debug_assert!(place < self.numbers.len(), "entry {place} is one of the {} numbers", self.numbers.len());
        self.numbers.get(place).copied().unwrap_or(0.0)
    }

    /// M.
    pub fn mass(&self, i: usize, j: usize) -> f64 {
        self.at(i * self.dof + j)
    }

    /// h λ_app.
    pub fn push(&self, i: usize) -> f64 {
        self.at(self.dof * self.dof + i)
    }

    /// J.
    pub fn row(&self, row: usize, j: usize) -> f64 {
        self.at(self.dof * (self.dof + 1) + row * self.dof + j)
    }

    /// c.
    pub fn constant(&self, row: usize) -> f64 {
        self.at(self.dof * (self.dof + 1 + self.rows) + row)
    }

    /// μ of contacts, μ h N of support points, ε of contacts, [ψ(q, t⁺) − ψ(q, t)]/h of contacts.
    pub fn coefficient(&self, place: usize) -> f64 {
        self.at(self.dof * (self.dof + 1 + self.rows) + self.rows + place)
    }
}

/// Writes the equations of a step with the same contacts at any state.
pub struct StepEquations {
    form: StepForm,
    solved: Solved,
    detector: FeatureDetector,
    ws: Workspace,
}

impl StepEquations {
    /// Equations of a step from `start` with all contacts within `reach`, closed or not.
    pub fn new(start: &Start, reach: f64) -> Result<Self, SensitivityError> {
        let no = |what, instead| Err(SensitivityError::Unsupported { what, instead });
        check_scheme(start)?;
        if !start.model.joint_space_dofs().is_empty() {
            return no("motors, limits and friction of joints in a direct transcription", "use shooting");
        }
        let (mut ws, mut detector) = (Workspace::default(), FeatureDetector::default());
        let mut scheme = start.scheme.clone();
        scheme.margin = Margin::Fixed(reach);
        let at = Start { scheme: &scheme, ..*start };
        prepare(&at, &mut ws)?;
        detect(&at, &mut detector, &mut ws)?;
        if !ws.alternatives.candidates.is_empty() {
            return no("contacts that are alternatives of each other", "use shooting");
        }
        if ws.constraints.contacts.iter().any(|contact| contact.gamma == 0.0) {
            return no("contacts that are switched on and off (gamma = 0)", "use a preset such as `stewart-trinkle`");
        }
        let mut solved = Solved {
            contacts: ws.constraints.contacts.iter().map(|contact| contact.id).collect(),
            ..Solved::default()
        };
        let mut equations = Self { form: StepForm::default(), solved: Solved::default(), detector, ws };
        equations.place(start, &solved)?;
        let ws = &mut equations.ws;
        ws.is_friction_problem = start.scheme.friction == FrictionSet::Quadratic;
        ws.solution.velocity = vec![0.0; start.model.dof()];
        ws.solution.joint_impulses = vec![0.0; start.model.joint_rows()];
        ws.solution.contact_impulses = vec![ContactImpulse::default(); ws.constraints.contacts.len()];
        ws.solution.support_impulses = vec![ContactImpulse::default(); ws.constraints.support_points.len()];
        solved = Solved::of(start, ws, |_| true);
        equations.form = form(start, &solved, ws);
        equations.solved = solved;
        Ok(equations)
    }

    /// Structure of the equations.
    pub fn form(&self) -> &StepForm {
        &self.form
    }

    /// Writes M, h λ_app, J, c and the coefficients at a start, with a model that differs in its numbers only.
    pub fn terms(&mut self, start: &Start, out: &mut StepTerms) -> Result<(), SensitivityError> {
        let solved = std::mem::take(&mut self.solved);
        let placed = self.place(start, &solved);
        self.solved = solved;
        placed?;
        let (solved, ws, dof) = (&self.solved, &self.ws, self.form.dof);
        if out.numbers.len() != StepTerms::zeros(&self.form).numbers.len() {
            *out = StepTerms::zeros(&self.form);
        }
        debug_assert_eq!((out.dof, out.rows), (dof, self.form.rows.len()), "the terms are those of this form");
        out.numbers.fill(0.0);
        let mass = equations::mass(start.model, ws);
        let (masses, rest) = out.numbers.split_at_mut(dof * dof);
        masses.iter_mut().enumerate().for_each(|(place, out)| *out = mass[(place / dof, place % dof)]);
        let (pushes, rest) = rest.split_at_mut(dof);
        for ((body, slot), wrench) in start.model.bodies().iter().zip(start.model.layout()).zip(&ws.kinematics.applied)
        {
            let Some(mobility) = body.mobility() else { continue };
            let places = pushes.get_mut(slot.v.clone()).unwrap_or_default();
            places.iter_mut().zip(mobility.project(wrench)).for_each(|(out, force)| *out = start.h * force);
        }
        let (rows, rest) = rest.split_at_mut(dof * solved.rows.len());
        let (constants, coefficients) = rest.split_at_mut(solved.rows.len());
        for ((kind, row), constant) in solved.rows.iter().zip(rows.chunks_mut(dof.max(1))).zip(constants) {
            *constant = equations::row(start, solved, ws, *kind, row);
        }
        debug_assert_eq!(
            coefficients.len(),
            3 * solved.contacts.len() + ws.constraints.support_points.len(),
            "one place for each"
        );
        let contacts = (0..solved.contacts.len()).map(|k| equations::contact(solved, ws, k).map_or(0.0, |c| c.mu));
        let support_points =
            ws.constraints.support_points.iter().map(|support_point| support_point.mu * support_point.load * start.h);
        let of = |number: fn(&Contact, f64) -> f64| {
            let all = 0..solved.contacts.len();
            all.map(move |k| equations::contact(solved, ws, k).map_or(0.0, |contact| number(contact, start.h)))
        };
        let rebounds = of(|contact, _| contact.restitution);
        let prescribed = of(|contact, h| (contact.gap_end - contact.gap_start) / h);
        let all = contacts.chain(support_points).chain(rebounds).chain(prescribed);
        coefficients.iter_mut().zip(all).for_each(|(out, x)| *out = x);
        Ok(())
    }

    /// Unknowns of a direct transcription are the velocities v⁺ of the momentum balance, which are those of the states with explicit terms only.
    /// Springs and dampers between bodies are explicit then, too.
    fn place(&mut self, start: &Start, solved: &Solved) -> Result<(), SensitivityError> {
        let mut scheme = start.scheme.clone();
        scheme.velocity_terms = VelocityTerms::Explicit;
        let start = &Start { scheme: &scheme, ..*start };
        equations::place(start, solved, (&mut self.detector, limits::LENGTH), &[], &mut self.ws)?;
        Ok(())
    }
}

/// Structure of the solved rows.
fn form(start: &Start, solved: &Solved, ws: &Workspace) -> StepForm {
    let row = |row: &Row| match row {
        Row::Joint(_) | Row::JointSpace(_) => StepRow::Joint,
        Row::Normal(_) => StepRow::Normal,
        Row::Contact(..) | Row::SupportPoint(..) => StepRow::Friction,
    };
    let mut frictions = Vec::new();
    let mut add = |rows: Vec<(usize, Axis)>, limit: FrictionLimit, friction_bounds: usize| {
        let rows: Vec<usize> = rows.into_iter().map(|(row, _)| row).collect();
        let polygon = friction_bounds > 0;
        debug_assert!(!polygon || rows.len().is_multiple_of(friction_bounds), "all polygons have as many corners");
        let per_bound = if polygon { rows.len() / friction_bounds } else { rows.len() };
        for rows in rows.chunks(per_bound.max(1)) {
            frictions.push(FrictionLaw { limit, rows: rows.to_vec(), polygon });
        }
    };
    for place in 0..solved.contacts.len() {
        let of = move |row: &Row| {
            if let Row::Contact(owner, axis) = row { (*owner == place).then_some(*axis) } else { None }
        };
        let (Some(contact), Some(normal)) = (equations::contact(solved, ws, place), solved.place(Row::Normal(place)))
        else {
            continue;
        };
        let limit = FrictionLimit::Contact { normal, coefficient: place };
        add(solved.friction(of).collect(), limit, contact.friction_bounds.len());
    }
    for (place, support_point) in ws.constraints.support_points.iter().enumerate() {
        let of = move |row: &Row| {
            if let Row::SupportPoint(owner, axis) = row { (*owner == place).then_some(*axis) } else { None }
        };
        let limit = FrictionLimit::Known { coefficient: solved.contacts.len() + place };
        add(solved.friction(of).collect(), limit, support_point.friction_bounds.len());
    }
    let (contacts, support_points) = (solved.contacts.len(), ws.constraints.support_points.len());
    let rebound = |place: usize| {
        let _ = equations::contact(solved, ws, place).filter(|contact| contact.restitution > 0.0)?;
        let normal = solved.place(Row::Normal(place))?;
        let coefficient = contacts + support_points + place;
        Some(Rebound { normal, contact: place, coefficient, prescribed: coefficient + contacts })
    };
    StepForm {
        dof: start.model.dof(),
        rows: solved.rows.iter().map(row).collect(),
        frictions,
        rebounds: if equations::has_pending_restitution(start.scheme) {
            (0..contacts).filter_map(rebound).collect()
        } else {
            Vec::new()
        },
        coefficients: 3 * contacts + support_points,
        contacts: solved.contacts.clone(),
    }
}
