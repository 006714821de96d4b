//! Report of the direct transcription, with its accuracy.

use nalgebra::DMatrix;
use serde::Serialize;
use stiction::{OrientationUpdate, sensitivity::StepRow};
use stiction_mpec::{Certificate, Engine, Mode, Solution, covariance};

use super::{
    Member, MpecOptions,
    build::{Layout, Motion},
};
use crate::{
    IdentifyError, Segment, Start,
    shooting::{FitReport, summary},
};

/// Counts of the modes of contacts and support points, over all steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ContactModes {
    /// Contacts that were open.
    pub open: usize,
    /// Sticking friction.
    pub stick: usize,
    /// Slipping friction.
    pub slip: usize,
}

/// Coordinates and velocities of a motion: its start, then the end of every step.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct EstimatedMotion {
    /// Coordinates.
    pub q: Vec<Vec<f64>>,
    /// Velocities.
    pub v: Vec<Vec<f64>>,
    /// Impulses in the rows of every step.
    pub impulses: Vec<Vec<f64>>,
}

/// Report of the direct transcription.
#[derive(Clone, Debug, Serialize)]
pub struct MpecReport {
    /// Parameters, their covariance, and their observability, as shooting reports them.
    pub fit: FitReport,
    /// Certificate of the solution.
    pub certificate: Certificate,
    /// The modes that were chosen.
    pub modes: ContactModes,
    /// The solver.
    pub engine: Engine,
    /// Its iterations.
    pub iterations: u32,
    /// Variables of the program.
    pub variables: usize,
    /// Variables of its independent parts.
    pub blocks: Vec<usize>,
    /// The motions, in the order of the members.
    #[serde(skip)]
    pub motions: Vec<EstimatedMotion>,
}

/// Prior information on parameters, per scale², which is much less than that of any data.
const PRIOR: f64 = 1e-10;

pub(super) fn report(
    members: &[Member],
    layout: &Layout,
    solution: Solution,
    options: &MpecOptions,
) -> Result<MpecReport, IdentifyError> {
    let x = &solution.x;
    let get = |place: usize| x.get(place).copied().unwrap_or(f64::NAN);
    let parameters: Vec<_> = layout.parameters.iter().map(|(parameter, _)| parameter.clone()).collect();
    let places: Vec<usize> = layout.parameters.iter().map(|(_, place)| *place).collect();
    let prior: Vec<f64> = parameters.iter().map(|parameter| PRIOR / (parameter.scale * parameter.scale)).collect();
    let spread = covariance(&layout.program, (&solution.modes, x), &places, &prior)?;
    let count = places.len();
    let information = spread.and_then(|rows| {
        let mut inverse =
            DMatrix::from_fn(count, count, |i, j| rows.get(i).and_then(|row| row.get(j)).copied().unwrap_or(f64::NAN))
                .try_inverse()?;
        for (k, prior) in prior.iter().enumerate() {
            inverse[(k, k)] -= prior;
        }
        Some(inverse)
    });
    let errors = layout.motions.iter().map(|motion| motion.errors.len()).sum::<usize>();
    let free = count + layout.motions.iter().map(|motion| motion.free).sum::<usize>();
    let objective = solution.certificate.objective;
    let misfit = (2.0 * objective / errors.saturating_sub(free).max(1) as f64).sqrt();
    let values: Vec<f64> = places.iter().map(|place| get(*place)).collect();
    let (estimates, observability, covariance) = summary(&parameters, &values, information, misfit);
    let motions: Vec<EstimatedMotion> = layout.motions.iter().map(|motion| motion.estimated(x)).collect();
    let starts = layout.motions.iter().zip(&motions).map(|(motion, estimated)| {
        let mut state = motion.first.clone();
        estimated.q.first().into_iter().for_each(|q| state.q.clone_from(q));
        estimated.v.first().into_iter().for_each(|v| state.v.clone_from(v));
        Start { state, free: (0..motion.model.dof()).collect() }
    });
    let whole = |(recording, member): (usize, &Member)| Segment {
        recording,
        first: member.rows.start,
        last: member.rows.end.saturating_sub(1),
    };
    let fit = FitReport {
        estimates,
        history: vec![objective],
        converged: solution.solved,
        compared: errors,
        free,
        misfit,
        observability,
        covariance,
        left_out: Vec::new(),
        starts: starts.collect(),
        segments: members.iter().enumerate().map(whole).collect(),
    };
    debug_assert_eq!(members.len(), motions.len());
    Ok(MpecReport {
        fit,
        certificate: solution.certificate,
        modes: modes(layout, &solution),
        engine: options.engine,
        iterations: solution.iterations,
        variables: x.len(),
        blocks: solution.blocks,
        motions,
    })
}

/// Modes of contacts and of friction, from those of the pairs.
fn modes(layout: &Layout, solution: &Solution) -> ContactModes {
    let is_zero = |variable: usize| {
        let place = layout.program.pairs.iter().position(|pair| pair.variable == variable);
        place.and_then(|place| solution.modes.get(place)) == Some(&Mode::Variable)
    };
    let mut modes = ContactModes::default();
    for motion in &layout.motions {
        for (form, first, _) in &motion.steps {
            let open = |row: usize| form.rows.get(row) == Some(&StepRow::Normal) && is_zero(first + row);
            modes.open += (0..form.rows.len()).filter(|row| open(*row)).count();
            for (place, law) in form.frictions.iter().enumerate() {
                let normal = match law.limit {
                    stiction::sensitivity::FrictionLimit::Contact { normal, .. } => Some(normal),
                    stiction::sensitivity::FrictionLimit::Known { .. } => None,
                };
                if normal.is_some_and(open) {
                    continue;
                }
                let holds = is_zero(first + form.rows.len() + place);
                *(if holds { &mut modes.stick } else { &mut modes.slip }) += 1;
            }
        }
    }
    modes
}

impl Motion {
    fn estimated(&self, x: &[f64]) -> EstimatedMotion {
        let n = self.model.dof();
        let part = |from: usize| x.get(from..from + n).unwrap_or_default().to_vec();
        let mut out = EstimatedMotion::default();
        let mut add = |reference: &[f64], moved: &[f64], v: Vec<f64>| {
            let mut q = Vec::new();
            self.model.integrate(reference, moved, 1.0, OrientationUpdate::Exponential, &mut q);
            out.q.push(q);
            out.v.push(v);
        };
        let mut references = self.reference.iter();
        let moved: Vec<f64> =
            self.start.iter().map(|(place, scale)| x.get(*place).copied().unwrap_or(0.0) * scale).collect();
        let v = self.start_velocity.map_or_else(|| self.first.v.clone(), part);
        references.next().into_iter().for_each(|reference| add(reference, &moved, v.clone()));
        for ((place, velocity), reference) in self.ends.iter().zip(references) {
            add(reference, &part(*place), part(*velocity));
        }
        let impulses = self
            .steps
            .iter()
            .map(|(form, first, _)| x.get(*first..first + form.rows.len()).unwrap_or_default().to_vec());
        out.impulses = impulses.collect();
        out
    }
}
