//! How to simulate: duration, step, and the choices of the time-stepping scheme.

use schemars::JsonSchema;
use serde::Deserialize;
use stiction_multibody::OrientationUpdate;

/// What `[simulation]` and `[scheme]` say, with everything left out filled in.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Simulated time, s.
    pub duration: f64,
    /// Time step h, s.
    pub step: f64,
    /// The scheme by name.
    pub preset: Preset,
    /// The scheme in detail.
    pub scheme: SchemeSettings,
    /// Every how many steps the state is recorded; at least 1.
    pub record_every: u32,
}

/// The choices of the time-stepping scheme.
#[derive(Clone, Debug, PartialEq)]
pub struct SchemeSettings {
    /// Weight γ of the contact gaps, in [0, 1].
    pub gamma: f64,
    /// Weight `γ_b` of the position errors of joints, in [0, 1].
    pub joint_gamma: f64,
    /// Where the contact geometry is taken.
    pub jacobians: Jacobians,
    /// Number `n_d` of friction directions in space, even and at least 4.
    pub directions: u32,
    /// Which contacts are given to the solver.
    pub margin: Margin,
    /// Which velocity of moving surfaces friction sees.
    pub prescribed_slip: PrescribedSlip,
    /// How orientations in space advance.
    pub orientation: OrientationUpdate,
}

/// A named scheme: a row of the table of choices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(extend("x-later" = ["ncp", "quasistatic", "geometrically-implicit"]))]
pub enum Preset {
    /// Gaps count in full (γ = 1).
    #[default]
    StewartTrinkle,
    /// Gaps do not count (γ = 0): velocities are feasible, positions drift.
    AnitescuPotra,
    /// Gaps count by the factor γ of `[scheme]`, 0.3 when left out.
    AnitescuHart,
}

impl Preset {
    /// The name used in scene files.
    pub fn name(self) -> &'static str {
        match self {
            Self::StewartTrinkle => "stewart-trinkle",
            Self::AnitescuPotra => "anitescu-potra",
            Self::AnitescuHart => "anitescu-hart",
        }
    }

    /// The weight γ the preset stands for; `None` where it is free to choose.
    pub fn fixed_gamma(self) -> Option<f64> {
        match self {
            Self::StewartTrinkle => Some(1.0),
            Self::AnitescuPotra => Some(0.0),
            Self::AnitescuHart => None,
        }
    }
}

/// Where the contact geometry of a step is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Jacobians {
    /// At the configuration q at the start of the step.
    #[default]
    Start,
    /// At q + h v, the configuration predicted with the velocity at the start.
    Predicted,
}

/// Which contacts are given to the solver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Margin {
    /// Those that can close within one step.
    Auto,
    /// Those with a gap up to this distance, m.
    Distance(f64),
}

/// Which velocity of kinematic bodies and conveyors friction sees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PrescribedSlip {
    /// The velocity at the start of the step.
    Start,
    /// The displacement over the step divided by h, so that a body that sticks moves exactly along.
    #[default]
    Displacement,
    /// The velocity at the end of the step.
    End,
}

/// The file's names for [`OrientationUpdate`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Turning {
    /// On the group of rotations, by the exponential map.
    #[default]
    Exponential,
    /// The plain Euler step, renormalised; for comparison.
    Euler,
}

impl From<Turning> for OrientationUpdate {
    fn from(turning: Turning) -> Self {
        match turning {
            Turning::Exponential => Self::Exponential,
            Turning::Euler => Self::Euler,
        }
    }
}
