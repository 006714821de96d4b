//! The words a scene file uses for the choices of a scheme, and the types of `stiction-stepping` they stand for.

use schemars::JsonSchema;
use serde::Deserialize;
use stiction_multibody::OrientationUpdate;
use stiction_stepping::{
    Coordinates, CornerLogic, FrictionSet, Impact, LineariseAt, Manifold, PositionUpdate, PrescribedSlip, Preset,
    Undetermined,
};

/// A named scheme: a row of the table of choices.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "Preset")]
pub(crate) enum PresetWord {
    /// Gaps count in full (γ = 1), and friction has its exact cone.
    #[default]
    Ncp,
    /// Gaps count in full (γ = 1); friction by a polygon of directions.
    StewartTrinkle,
    /// Gaps do not count (γ = 0): velocities are feasible, positions drift. Friction by a polygon of directions.
    AnitescuPotra,
    /// Gaps count by the factor γ of `[scheme]`, 0.3 when left out. Friction by a polygon of directions.
    AnitescuHart,
    /// The θ-method of Moreau and Jean: velocities only, positions drift. Friction has its exact cone.
    MoreauJean,
    /// Accelerations integrated from event to event: slow and accurate, to compare with.
    Reference,
    /// Bodies without inertia: forces are in balance, and prescribed bodies push the others. Friction has its exact cone.
    Quasistatic,
    /// Contacts and joints hold at the end of the step, without any linearisation. Friction has its exact cone.
    GeometricallyImplicit,
}

impl From<PresetWord> for Preset {
    fn from(word: PresetWord) -> Self {
        match word {
            PresetWord::Ncp => Self::Ncp,
            PresetWord::StewartTrinkle => Self::StewartTrinkle,
            PresetWord::AnitescuPotra => Self::AnitescuPotra,
            PresetWord::AnitescuHart => Self::AnitescuHart,
            PresetWord::MoreauJean => Self::MoreauJean,
            PresetWord::Reference => Self::Reference,
            PresetWord::Quasistatic => Self::Quasistatic,
            PresetWord::GeometricallyImplicit => Self::GeometricallyImplicit,
        }
    }
}

/// Where the contact geometry of a step is taken.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "Jacobians")]
pub(crate) enum JacobiansWord {
    /// At the configuration q at the start of the step.
    Start,
    /// At q + h v, the configuration predicted with the velocity at the start.
    Predicted,
    /// At the end of the step, by solving again and again until it stops moving.
    End,
    /// At the end of the step, by Newton's method for all unknowns at once.
    Implicit,
}

impl From<JacobiansWord> for LineariseAt {
    fn from(word: JacobiansWord) -> Self {
        match word {
            JacobiansWord::Start => Self::Start,
            JacobiansWord::Predicted => Self::Predicted,
            JacobiansWord::End => Self::End,
            JacobiansWord::Implicit => Self::Implicit,
        }
    }
}

/// What the unknowns of a step are.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "Coordinates")]
pub(crate) enum CoordinatesWord {
    /// The velocities of all bodies; joints are constraints.
    #[default]
    Maximal,
    /// The velocities of the joints; only loops are constraints.
    Reduced,
    /// The same, with joints eliminated by hierarchic assembly.
    DivideAndConquer,
}

impl From<CoordinatesWord> for Coordinates {
    fn from(word: CoordinatesWord) -> Self {
        match word {
            CoordinatesWord::Maximal => Self::Maximal,
            CoordinatesWord::Reduced => Self::Reduced,
            CoordinatesWord::DivideAndConquer => Self::DivideAndConquer,
        }
    }
}

/// Which velocity moves bodies over a step.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "PositionUpdate")]
pub(crate) enum PositionWord {
    /// The velocity at its end.
    #[default]
    End,
    /// The average of the velocities at both ends.
    Average,
}

impl From<PositionWord> for PositionUpdate {
    fn from(word: PositionWord) -> Self {
        match word {
            PositionWord::End => Self::End,
            PositionWord::Average => Self::Average,
        }
    }
}

/// Which velocity of kinematic bodies friction sees.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "PrescribedSlip")]
pub(crate) enum SlipWord {
    /// The velocity at the start of the step.
    Start,
    /// The displacement over the step divided by h, so that a body that sticks moves exactly along.
    #[default]
    Displacement,
    /// The velocity at the end of the step.
    End,
}

impl From<SlipWord> for PrescribedSlip {
    fn from(word: SlipWord) -> Self {
        match word {
            SlipWord::Start => Self::Start,
            SlipWord::Displacement => Self::Displacement,
            SlipWord::End => Self::End,
        }
    }
}

/// How orientations in space advance.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "Turning")]
pub(crate) enum TurningWord {
    /// On the group of rotations, by the exponential map.
    #[default]
    Exponential,
    /// The plain Euler step, renormalised; for comparison.
    Euler,
}

impl From<TurningWord> for OrientationUpdate {
    fn from(word: TurningWord) -> Self {
        match word {
            TurningWord::Exponential => Self::Exponential,
            TurningWord::Euler => Self::Euler,
        }
    }
}

/// The set of friction impulses at a contact.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "FrictionSet")]
pub(crate) enum FrictionWord {
    /// The exact disc or ellipsoid.
    Quadratic,
    /// A polygon of `directions` corners inside it.
    Polygon,
    /// A square around it: two independent frictions, along the first friction direction and across.
    Box,
}

impl From<FrictionWord> for FrictionSet {
    fn from(word: FrictionWord) -> Self {
        match word {
            FrictionWord::Quadratic => Self::Quadratic,
            FrictionWord::Polygon => Self::Polygon,
            FrictionWord::Box => Self::Box,
        }
    }
}

/// How a vertex passes a corner that sticks out.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "Corners")]
pub(crate) enum CornersWord {
    /// By one of its faces, chosen by where the vertex is at the end of the step.
    #[default]
    Exact,
    /// By one of its faces, chosen within the problem by further variables; for linear friction sets.
    Disjunctive,
    /// By both faces as if they had no end: wrong, for comparison.
    Conjunctive,
}

impl From<CornersWord> for CornerLogic {
    fn from(word: CornersWord) -> Self {
        match word {
            CornersWord::Exact => Self::Exact,
            CornersWord::Disjunctive => Self::Disjunctive,
            CornersWord::Conjunctive => Self::Conjunctive,
        }
    }
}

/// What contacts give back after they were hit.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "Impact")]
pub(crate) enum ImpactWord {
    /// Nothing.
    Inelastic,
    /// Velocities: after the impact ε times as fast as before.
    Newton,
    /// Impulses: ε times the impulse of compression.
    Poisson,
}

impl From<ImpactWord> for Impact {
    fn from(word: ImpactWord) -> Self {
        match word {
            ImpactWord::Inelastic => Self::Inelastic,
            ImpactWord::Newton => Self::Newton,
            ImpactWord::Poisson => Self::Poisson,
        }
    }
}

/// What quasistatic bodies do that the balance of forces leaves free.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "Undetermined")]
pub(crate) enum UndeterminedWord {
    /// As little as possible.
    Rest,
    /// What they did in the last step, as nearly as possible.
    Continue,
}

impl From<UndeterminedWord> for Undetermined {
    fn from(word: UndeterminedWord) -> Self {
        match word {
            UndeterminedWord::Rest => Self::Rest,
            UndeterminedWord::Continue => Self::Continue,
        }
    }
}

/// A way to stabilise that needs no numbers.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "StabilisationWord")]
pub(crate) enum StabilisationWord {
    /// That of the preset: its weights γ, or projection in the reference.
    Usual,
    /// Multipliers of their own keep the positions of joints.
    Multiplier,
    /// Independent coordinates only; for the preset `reference`.
    Reduction,
}

/// What a projection after the step restores.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "Manifold")]
pub(crate) enum ManifoldWord {
    /// Joints are closed and bodies apart.
    Positions,
    /// Joints do not move apart.
    Velocities,
    /// Positions, then velocities.
    Both,
}

impl From<ManifoldWord> for Manifold {
    fn from(word: ManifoldWord) -> Self {
        match word {
            ManifoldWord::Positions => Self::Positions,
            ManifoldWord::Velocities => Self::Velocities,
            ManifoldWord::Both => Self::Both,
        }
    }
}
