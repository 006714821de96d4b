//! The θ-method for rigid bodies: the same scheme over the contacts and joints of a model, with the friction set of its scheme.

use nalgebra::Vector3;
use stiction_multibody::{Mobility, add_springs, applied_wrenches, external_wrenches, mass_block};

use super::ThetaScheme;
use stiction_stepping::{
    Contact, Detector, FeatureDetector, Impact, Infeasibility, Ladder, LineariseAt, Margin, Start, StepCause,
    StepReport, Stepper, VelocityTerms, Workspace, advance, stages,
    stages::RowOwner,
    stages::approach,
    stages::find_pairs_at_end,
    stages::report_step,
    stages::stabilise,
    stages::step_energy,
    stages::{add_velocity_terms, keep_momentum, turn_fast_bodies},
    stages::{detect, prepare},
    stages::{joint_error, penetration},
};

/// Steps rigid bodies by the θ-method with its activation rule and Newton's restitution.
///
/// Of the [`Scheme`](stiction_stepping::Scheme) of a simulation it uses the friction set, the orientation update and the thresholds of reports. Gaps are never
/// corrected, so that of its γ only that of joints is used. Forces are evaluated once, at q ⊕ θh v and t + θh, and are not implicit: stiff
/// springs need short steps here.   [THETA-8]
pub struct MoreauJean {
    /// θ and the activation γ. The other parameters are for systems; the weight of joint errors is that of [`Scheme`](stiction_stepping::Scheme).
    pub scheme: ThetaScheme,
    /// Finds contacts.
    pub detector: Box<dyn Detector>,
    /// Solves problems.
    pub ladder: Ladder,
}

impl Default for MoreauJean {
    fn default() -> Self {
        Self {
            scheme: ThetaScheme::default(),
            detector: Box::new(FeatureDetector::default()),
            ladder: Ladder::default(),
        }
    }
}

impl Stepper for MoreauJean {
    fn step(&mut self, start: &Start, ws: &mut Workspace) -> Result<StepReport, StepCause> {
        self.ladder.follow(&start.scheme.solving.residual);
        // Contacts are detected within the reach of the bodies, and have no pending restitution after the step: restitution is within it.
        let mut scheme = start.scheme.clone();
        scheme.gamma = 1.0;
        scheme.linearise_at = LineariseAt::Start;
        scheme.margin = Margin::Automatic;
        scheme.impact = Impact::Inelastic;
        let start = &Start { scheme: &scheme, ..*start };
        prepare(start, ws)?;
        ws.result.impacts.clear();
        ws.kinematics.linearisation_velocity.clear();
        self.evaluate_forces(start, ws);
        detect(start, self.detector.as_mut(), ws)?;
        let hit = self.activate(start, ws);
        stages::assemble_rows(start, ws)?;
        let solved = stages::solve(start, &mut self.ladder, ws)?;
        advance(start, ws)?;
        self.displace(start, ws)?;
        let energy = step_energy(start, ws, solved.residual.value);
        let correction = stabilise(start, (self.detector.as_mut(), &mut self.ladder), ws)?;
        let energy = energy.corrected(correction.map_or(0.0, |correction| correction.energy), start.state.step > 0);
        let measured = self.measure_end(start, ws)?;
        Ok(StepReport { correction, energy, ..report_step(start, ws, &solved, (1, hit), measured) })
    }
}

impl MoreauJean {
    /// Evaluates f(t + θh, q ⊕ θh v, v).   [THETA-8]
    fn evaluate_forces(&self, start: &Start, ws: &mut Workspace) {
        let &Start { model, scheme, state, h, .. } = start;
        let (ahead, time) = (self.scheme.theta * h, state.time + self.scheme.theta * h);
        model.integrate(&state.q, &state.v, ahead, scheme.orientation, &mut ws.kinematics.predicted);
        ws.kinematics.linear_start.update(model, &ws.kinematics.predicted, &state.v, time);
        match scheme.velocity_terms {
            VelocityTerms::Explicit => {
                applied_wrenches(model, &ws.kinematics.linear_start, time, &mut ws.kinematics.applied);
                let torque = |(index, (id, _))| match mass_block(model, &ws.kinematics.linear_start, index) {
                    Some((Mobility::Free, _, inertia)) => {
                        let omega = ws.kinematics.linear_start.twist(id).angular;
                        -omega.cross(&(inertia * omega))
                    }
                    _ => Vector3::zeros(),
                };
                ws.kinematics.gyroscopic.clear();
                ws.kinematics.gyroscopic.extend(model.iter_bodies().enumerate().map(torque));
            }
            VelocityTerms::Conserving => {
                external_wrenches(model, &ws.kinematics.linear_start, time, &mut ws.kinematics.applied);
                add_springs(model, &ws.kinematics.linear_start, &mut ws.kinematics.applied);
                add_velocity_terms(start, ws, self.scheme.theta);
            }
        }
    }

    /// Keeps the contacts with g + γ h ġ ≤ 0 and writes the rows. Returns the number of impacts among them.   [THETA-4] [THETA-5]
    fn activate(&self, start: &Start, ws: &mut Workspace) -> usize {
        let &Start { model, scheme, state, h, .. } = start;
        let approach = |contact: &Contact| approach(model, contact, &state.v, h);
        let ahead = self.scheme.activation * h;
        // Round-off must not open a contact at rest.
        ws.constraints
            .contacts
            .retain(|contact| contact.gap_start + ahead * approach(contact) <= scheme.touch_threshold);
        stages::write_rows(start, ws);
        // Springs and dampers between bodies are forces here.
        ws.constraints.joint_space_rows.retain(|row| matches!(row.owner, RowOwner::Joint(_)));
        let mut hit = 0;
        for contact in &mut ws.constraints.contacts {
            let before = approach(contact);
            contact.bias = (contact.gap_end - contact.gap_start) / h + contact.restitution * before;
            hit += usize::from(h * before < -scheme.touch_threshold);
        }
        hit
    }

    /// Sets q⁺ = q ⊕ h (θ v⁺ + (1 − θ) v), and the gaps there.   [THETA-3]
    fn displace(&self, start: &Start, ws: &mut Workspace) -> Result<(), StepCause> {
        let &Start { model, scheme, state, h, .. } = start;
        let theta = self.scheme.theta;
        ws.kinematics.predicted.clear();
        ws.kinematics
            .predicted
            .extend(ws.solution.velocity.iter().zip(&state.v).map(|(next, v)| theta * next + (1.0 - theta) * v));
        let mut moving = std::mem::take(&mut ws.kinematics.predicted);
        turn_fast_bodies(start, ws, &mut moving);
        ws.kinematics.predicted = moving;
        model.integrate(&state.q, &ws.kinematics.predicted, h, scheme.orientation, &mut ws.result.next.q);
        keep_momentum(start, ws);
        if ws.result.next.first_non_finite().is_some() {
            return Err(StepCause::non_finite("next state", None));
        }
        for (report, contact) in ws.result.contact_reports.iter_mut().zip(&ws.constraints.contacts) {
            report.gap = contact.gap_start + h * approach(model, contact, &ws.kinematics.predicted, h);
        }
        ws.result.end.update(model, &ws.result.next.q, &ws.result.next.v, ws.result.next.time);
        Ok(())
    }

    /// Evaluates I(q⁺).   [STEP-9]
    fn measure_end(&mut self, start: &Start, ws: &mut Workspace) -> Result<Infeasibility, StepCause> {
        find_pairs_at_end(start.model, start.scheme, self.detector.as_mut(), ws);
        let penetration = penetration(
            start.model,
            &ws.detection.shape_poses,
            &ws.detection.pairs,
            (self.detector.as_mut(), &mut ws.detection.points),
            |_, _| (),
        )?;
        Ok(Infeasibility { penetration, joints: joint_error(start.model.joints().iter(), &ws.result.end) })
    }
}
