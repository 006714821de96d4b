//! Corrections after the step: positions and velocities are brought back, or nearer, to what joints and gaps allow.
//!
//! The smallest correction in the metric of the mass matrix is a step of its own in which nothing acts and the unknown velocity is
//! the displacement:
//!
//! ```text
//! M Δq = W_b μ + W_n λ,     Φ + W_bᵀ Δq = 0,     0 ≤ λ ⊥ ψ + W_nᵀ Δq ≥ 0,      q⁺ ← q⁺ ⊕ Δq, and again      [STAB-5]
//! M Δv = W_b μ,             Φ̇ + W_bᵀ Δv = 0
//! ```

use stiction_multibody::{OrientationUpdate, energy};

use crate::{
    Correction, Detector, FrictionSet, JointRow, Ladder, Margin, PrescribedSlip, Scheme, Stabilisation, Start,
    StepCause, Workspace, detect, formulation,
};

/// Linear problems after which a projection is given up; Newton's method needs two or three, frozen directions some more.
const ROUNDS: u32 = 50;

/// What a projection leaves, as a share of 1 or of the largest coordinate or velocity.
const LEFT: f64 = 1e-13;

/// A round of positions looks for contacts within this multiple of the error before it: it moves bodies about as far.
const NEARBY: f64 = 4.0;

/// Applies what the scheme says to `ws.next`, and tells what that did; nothing where the scheme stabilises within the step.
pub(crate) fn stabilise(
    start: &Start,
    (detector, ladder): (&mut dyn Detector, &mut Ladder),
    ws: &mut Workspace,
) -> Result<Option<Correction>, StepCause> {
    let scheme = start.scheme.stabilisation;
    if matches!(scheme, Stabilisation::Usual | Stabilisation::Baumgarte { .. } | Stabilisation::Reduction) {
        return Ok(None);
    }
    let model = start.model;
    let before = energy(model, &ws.end).total();
    let mut after = ws.after.take().unwrap_or_default();
    let mut corrector = Corrector { start, detector, ladder, ws, after: &mut after, rounds: 0 };
    let corrected = corrector.correct(scheme);
    let rounds = corrector.rounds;
    ws.after = Some(after);
    let residual = corrected?;
    if ws.next.first_non_finite().is_some() {
        return Err(StepCause::non_finite("corrected state", None));
    }
    ws.end.update(model, &ws.next.q, &ws.next.v, ws.next.time);
    Ok(Some(Correction { rounds, residual, energy: energy(model, &ws.end).total() - before }))
}

/// What a correction is about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    /// Φ and ψ.
    Positions,
    /// Φ alone, along the directions W_b of the step itself.   [STAB-7]
    PositionsAlongStep,
    /// Φ alone.
    Joints,
    /// Φ̇.
    Velocities,
}

struct Corrector<'a, 's> {
    start: &'a Start<'s>,
    detector: &'a mut dyn Detector,
    ladder: &'a mut Ladder,
    /// The step that was made.
    ws: &'a mut Workspace,
    /// Memory of the correction.
    after: &'a mut Workspace,
    rounds: u32,
}

impl Corrector<'_, '_> {
    /// Corrects positions and velocities; returns the largest error left.
    fn correct(&mut self, scheme: Stabilisation) -> Result<f64, StepCause> {
        match scheme {
            Stabilisation::Projection(manifold) => {
                let mut residual = 0.0_f64;
                if manifold.has_positions() {
                    residual = self.project(Level::Positions)?;
                    self.refresh_gaps();
                }
                if manifold.has_velocities() {
                    residual = residual.max(self.project(Level::Velocities)?);
                }
                Ok(residual)
            }
            Stabilisation::Multiplier => self.project(Level::PositionsAlongStep),
            Stabilisation::Ascher { rate } => {
                // The term alone over a step: ė = −α e takes the share 1 − e^(−αh) of an error away.   [STAB-4]
                let share = -libm::expm1(-rate * self.start.h);
                let positions = self.approach(Level::Joints, share)?;
                Ok(positions.max(self.approach(Level::Velocities, share)?))
            }
            Stabilisation::Usual | Stabilisation::Baumgarte { .. } | Stabilisation::Reduction => Ok(0.0),
        }
    }

    /// Newton's method until the error is rounding.   [STAB-5]
    fn project(&mut self, level: Level) -> Result<f64, StepCause> {
        let mut margin = self.start.scheme.touch_threshold;
        for _ in 0..=ROUNDS {
            let error = self.measure(level, margin)?;
            if error <= LEFT * self.size(level) {
                return Ok(error);
            }
            self.solve(error)?;
            self.apply(level, error);
            margin = NEARBY * error;
        }
        let residual = self.measure(level, margin)?;
        Err(StepCause::NotProjected { residual, rounds: self.rounds, worst: self.worst() })
    }

    /// One linear correction, of which a share is taken; returns the error left.   [STAB-4]
    fn approach(&mut self, level: Level, share: f64) -> Result<f64, StepCause> {
        let error = self.measure(level, 0.0)?;
        if error == 0.0 {
            return Ok(0.0);
        }
        self.solve(error)?;
        self.apply(level, share * error);
        self.measure(level, 0.0)
    }

    /// The size of the numbers whose rounding limits a projection.
    fn size(&self, level: Level) -> f64 {
        let numbers = if level == Level::Velocities { &self.ws.next.v } else { &self.ws.next.q };
        numbers.iter().fold(1.0, |most: f64, x| most.max(x.abs()))
    }

    /// Writes the rows of the correction at the present end of the step; returns the largest error.
    fn measure(&mut self, level: Level, margin: f64) -> Result<f64, StepCause> {
        let (model, ws, after) = (self.start.model, &mut *self.ws, &mut *self.after);
        after.start.update(model, &ws.next.q, &ws.next.v, ws.next.time);
        after.lookahead.clear();
        after.reach.clear();
        after.reach.resize(model.bodies().len(), 0.0);
        after.contacts.clear();
        if level == Level::Positions {
            let scheme = frictionless(Margin::Fixed(margin));
            detect(&Start { model, scheme: &scheme, state: &ws.next, h: 0.0 }, self.detector, after)?;
        }
        let mut worst = 0.0_f64;
        for contact in &mut after.contacts {
            (contact.mu, contact.bias) = (0.0, contact.gap_end);
            worst = worst.max(-contact.bias);
        }
        after.joint_rows.clear();
        for joint in model.joints() {
            let (a, b) = (after.start.twist(joint.a.0), after.start.twist(joint.b.0));
            let of_step = ws.joint_rows.iter().skip(joint.first_row());
            for (row, of_step) in joint.evaluate(&after.start).zip(of_step) {
                let bias = if level == Level::Velocities { row.a.power(&a) + row.b.power(&b) } else { row.value };
                let frozen = level == Level::PositionsAlongStep;
                let (a, b) = if frozen { (of_step.a, of_step.b) } else { (row.a, row.b) };
                after.joint_rows.push(JointRow { a, b, bias });
                worst = worst.max(bias.abs());
            }
        }
        Ok(worst)
    }

    /// The correction in units of `error`, so that the ruler of the problem sees numbers of the order of one.
    fn solve(&mut self, error: f64) -> Result<(), StepCause> {
        let (model, after) = (self.start.model, &mut *self.after);
        after.joint_rows.iter_mut().for_each(|row| row.bias /= error);
        after.contacts.iter_mut().for_each(|contact| contact.bias /= error);
        after.before.clear();
        after.before.resize(model.dof(), 0.0);
        after.applied.clear();
        let scheme = frictionless(Margin::Automatic);
        let at_once = Start { model, scheme: &scheme, state: &self.ws.next, h: 0.0 };
        formulation::assemble_rows(&at_once, after)?;
        self.rounds += 1;
        match formulation::solve(&at_once, self.ladder, after) {
            Ok(_) => Ok(()),
            Err(StepCause::NotSolved { worst, .. }) => {
                Err(StepCause::NotProjected { residual: error, rounds: self.rounds, worst })
            }
            Err(other) => Err(other),
        }
    }

    /// Takes so much of the correction.
    fn apply(&mut self, level: Level, amount: f64) {
        let (next, after) = (&mut self.ws.next, &mut *self.after);
        if level == Level::Velocities {
            next.v.iter_mut().zip(&after.velocity).for_each(|(v, dv)| *v += amount * dv);
        } else {
            let (update, out) = (OrientationUpdate::Exponential, &mut after.predicted);
            self.start.model.integrate(&next.q, &after.velocity, amount, update, out);
            std::mem::swap(&mut next.q, out);
        }
    }

    /// Contacts report the gaps that projection left.
    fn refresh_gaps(&mut self) {
        let found = &self.after.contacts;
        for report in &mut self.ws.contact_reports {
            if let Ok(place) = found.binary_search_by_key(&report.id, |contact| contact.id)
                && let Some(contact) = found.get(place)
            {
                report.gap = contact.gap_end;
            }
        }
    }

    /// Who has the largest error, by name.
    fn worst(&self) -> String {
        let (model, after) = (self.start.model, &*self.after);
        let joint = after.joint_rows.iter().enumerate().max_by(|(_, x), (_, y)| x.bias.abs().total_cmp(&y.bias.abs()));
        let contact = after.contacts.iter().min_by(|x, y| x.bias.total_cmp(&y.bias));
        match (joint, contact) {
            (Some((row, joint)), contact) if contact.is_none_or(|contact| joint.bias.abs() >= -contact.bias) => {
                formulation::name_joint(model, row)
            }
            (_, contact) => formulation::name_contact(model, contact),
        }
    }
}

/// A scheme for corrections: contacts within a margin, without friction, where they are.
fn frictionless(margin: Margin) -> Scheme {
    Scheme { margin, friction: FrictionSet::Polygon, prescribed_slip: PrescribedSlip::Start, ..Scheme::default() }
}
