//! The choices that make a scheme, and the named ones.

use stiction_multibody::OrientationUpdate;

/// Where normals, arms and joint axes are evaluated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LineariseAt {
    /// At q, the start of the step.
    #[default]
    Start,
    /// At q + h v, where the bodies would be if nothing happened.
    Predicted,
}

/// Which contacts are given to the solver.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Margin {
    /// Those the bodies can reach within the step: gap ≤ the sum of (|v| + |a| h) h over the two; with γ = 0 those that touch.   [STEP-6]
    #[default]
    Automatic,
    /// Those with at most this gap, m.
    Fixed(f64),
}

/// Which velocity of a prescribed surface friction works against.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PrescribedSlip {
    /// The velocity at the start of the step.
    Start,
    /// The displacement over the step divided by h: what sticks, sticks exactly.
    #[default]
    Displacement,
    /// The velocity at the end of the step.
    End,
}

/// A named scheme: a row of the table of choices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Preset {
    /// γ = 1: the gap is linearised in full.
    StewartTrinkle,
    /// γ = 0: velocity level, always solvable, gaps may drift.
    AnitescuPotra,
    /// γ = 0.3: gaps and joint errors decay.
    AnitescuHart,
}

impl Preset {
    /// All presets.
    pub const ALL: [Self; 3] = [Self::StewartTrinkle, Self::AnitescuPotra, Self::AnitescuHart];

    /// The name in scene files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::StewartTrinkle => "stewart-trinkle",
            Self::AnitescuPotra => "anitescu-potra",
            Self::AnitescuHart => "anitescu-hart",
        }
    }

    /// The scheme it stands for.
    pub fn scheme(self) -> Scheme {
        let gamma = match self {
            Self::StewartTrinkle => 1.0,
            Self::AnitescuPotra => 0.0,
            Self::AnitescuHart => 0.3,
        };
        Scheme { gamma, joint_gamma: gamma, ..Scheme::default() }
    }
}

/// How a step is discretised.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Scheme {
    /// Weight γ ∈ [0, 1] of contact gaps in [STEP-3]; a contact rule may override it.
    pub gamma: f64,
    /// Weight γ_b ∈ [0, 1] of joint errors in [STEP-2]; a joint may override it.
    pub joint_gamma: f64,
    /// Where the constraints are linearised.
    pub linearise_at: LineariseAt,
    /// Directions n_d of the friction polygon in space; a contact rule may override it. Even, 4 to 1024.
    pub directions: u32,
    /// Which contacts enter; a contact rule may override it.
    pub margin: Margin,
    /// Velocity of prescribed surfaces.
    pub prescribed_slip: PrescribedSlip,
    /// How orientations turn.
    pub orientation: OrientationUpdate,
    /// A touching contact moving faster than this along its surface counts as slipping in reports and events, m/s. It has no
    /// influence on the motion.
    pub slip_threshold: f64,
    /// A contact with a gap up to this is touching, m: in reports and events, and with γ = 0 for the choice of contacts.
    /// Round-off must not open contacts.
    pub touch_threshold: f64,
}

impl Default for Scheme {
    fn default() -> Self {
        Self {
            gamma: 1.0,
            joint_gamma: 1.0,
            linearise_at: LineariseAt::default(),
            directions: 8,
            margin: Margin::default(),
            prescribed_slip: PrescribedSlip::default(),
            orientation: OrientationUpdate::default(),
            slip_threshold: 1e-9,
            touch_threshold: 1e-10,
        }
    }
}

/// A scheme that cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("scheme, {field}: {reason}")]
pub struct SchemeError {
    /// The option at fault, named as in a scene file.
    pub field: &'static str,
    /// Why.
    pub reason: String,
}

impl Scheme {
    /// Checks every number.
    pub fn validate(&self) -> Result<(), SchemeError> {
        let fail = |field, reason: String| Err(SchemeError { field, reason });
        for (field, gamma) in [("gamma", self.gamma), ("joint_gamma", self.joint_gamma)] {
            if !(0.0..=1.0).contains(&gamma) {
                return fail(field, format!("must lie between 0 and 1, but is {gamma}"));
            }
        }
        if self.directions < 4 || !self.directions.is_multiple_of(2) || self.directions > 1024 {
            return fail("directions", format!("must be an even number from 4 to 1024, but is {}", self.directions));
        }
        if let Margin::Fixed(margin) = self.margin
            && !(0.0..=1e9).contains(&margin)
        {
            return fail("margin", format!("must be finite and not negative, but is {margin}"));
        }
        for (field, x) in [("slip_threshold", self.slip_threshold), ("touch_threshold", self.touch_threshold)] {
            if !(0.0..=1.0).contains(&x) {
                return fail(field, format!("must lie between 0 and 1, but is {x}"));
            }
        }
        Ok(())
    }
}
