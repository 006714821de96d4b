//! Values of the account of kinetic energy of a step.   [ENERGY-5] [ENERGY-6]

use stiction_multibody::BodyId;

/// Account of the kinetic energy of a step, J.   [ENERGY-5] [ENERGY-6]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct StepEnergy {
    /// True if the account is known: the step has one momentum balance, bodies with inertia and no layer in mean velocities.
    pub is_known: bool,
    /// Kinetic energy of the state at the start of the step, rotors in tree joints included.
    pub before: f64,
    /// Kinetic energy of the state at the end of the step.
    pub after: f64,
    /// Sum of the absolute works of forces, springs, motors, layers, restitution and prescribed motion.
    pub work: f64,
    /// Energy that the removal of overlaps, and of joint errors of the start, adds; never negative.
    pub removal: f64,
    /// Work of joints whose errors steps have left, on the mean of the velocities at both ends, and of the correction of such errors. It is of either sign,
    /// and nothing explains its sum over a run.
    pub drift: f64,
    /// Change that nothing explains: that of the velocity terms, and positive work of friction, less what impacts and friction take.
    pub unexplained: f64,
    /// Energy that rounding of the state may be taken for; never negative.   [ENERGY-9]
    pub rounding: f64,
    /// Body whose unexplained energy grew most, and by how much.
    pub most: Option<(BodyId, f64)>,
}

impl StepEnergy {
    /// Account of two consecutive parts of a step.
    pub(crate) fn and(self, next: Self) -> Self {
        let gained = |most: Option<(BodyId, f64)>| most.map_or(f64::NEG_INFINITY, |(_, gained)| gained);
        Self {
            is_known: self.is_known && next.is_known,
            before: self.before,
            after: next.after,
            work: self.work + next.work,
            removal: self.removal + next.removal,
            drift: self.drift + next.drift,
            unexplained: self.unexplained + next.unexplained,
            rounding: self.rounding + next.rounding,
            most: if gained(self.most) > gained(next.most) { self.most } else { next.most },
        }
    }

    /// Counts the energy of a correction after the step: removal of errors with which the run started and of overlaps, otherwise an error of the scheme.
    #[must_use]
    pub fn corrected(self, energy: f64, is_of_scheme: bool) -> Self {
        if is_of_scheme {
            Self { drift: self.drift + energy, ..self }
        } else {
            Self { removal: self.removal + energy.max(0.0), ..self }
        }
    }
}

/// Terms of the balance between v after the velocity terms and v⁺, in the norm of the mass matrix of the problem.   [ENERGY-5]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Balance {
    /// ½ ‖v_free‖².
    pub(crate) free: f64,
    /// ½ ‖v⁺‖².
    pub(crate) after: f64,
    /// ½ ‖v⁺ − v_free‖².
    pub(crate) lost: f64,
    /// ½ ‖v_free − v′‖², with v′ after the velocity terms at the start.
    pub(crate) pushed: f64,
    /// ½ ‖v⁺ − v′‖².
    pub(crate) changed: f64,
}

impl Balance {
    /// Half the work of the forces on the change of velocity: their work on v⁺ less that on the mean of v′ and v⁺.   [ENERGY-6]
    pub(crate) fn work_on_change(&self) -> f64 {
        0.5 * (self.pushed + self.changed - self.lost)
    }
}
