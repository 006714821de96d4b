//! Words of a scene file for the options of a scheme, and the types of `stiction-options` they stand for.

use schemars::JsonSchema;
use serde::Deserialize;
use stiction_multibody::OrientationUpdate;
use stiction_options::{
    Coordinates, CornerLogic, FrictionSet, Impact, ImpulsePoints, LineariseAt, Manifold, OnUnsolved, PositionUpdate,
    PrescribedSlip, Preset, Undetermined, VelocityTerms,
};

/// A preset: a named combination of scheme options.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "Preset")]
pub(crate) enum PresetWord {
    /// Nonlinear complementarity problem with the second-order friction cone; gaps count in full (γ = 1).
    #[default]
    Ncp,
    /// Scheme of Stewart and Trinkle: polygonal friction cone; gaps count in full (γ = 1).
    StewartTrinkle,
    /// Scheme of Anitescu and Potra: polygonal friction cone; gaps do not count (γ = 0), so velocities are feasible
    /// and positions drift.
    AnitescuPotra,
    /// Scheme of Anitescu and Hart: polygonal friction cone; gaps count with the weight γ of `[scheme]`, 0.3 by
    /// default.
    AnitescuHart,
    /// θ-method of Moreau and Jean: second-order friction cone; constraints on velocities only, so positions drift.
    MoreauJean,
    /// Event-driven integration of accelerations: slow and accurate, for comparison.
    Reference,
    /// Bodies without inertia: forces are in equilibrium, and prescribed bodies push the others. Second-order friction
    /// cone.
    Quasistatic,
    /// Contacts and joints hold at the end of the step, without linearisation. Second-order friction cone.
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

/// Configuration at which contacts are linearised.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "Jacobians")]
pub(crate) enum JacobiansWord {
    /// Configuration q at the start of the step.
    Start,
    /// Configuration q + h v, predicted with the velocity at the start of the step.
    Predicted,
    /// Configuration at the end of the step, by a fixed-point iteration.
    End,
    /// Configuration at the end of the step, by Newton's method for all unknowns at once.
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

/// Unknowns of a step.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "Coordinates")]
pub(crate) enum CoordinatesWord {
    /// Velocities of all bodies; joints are constraints.
    #[default]
    Maximal,
    /// Joint velocities; only closed loops are constraints.
    Reduced,
    /// Joint velocities, with joints eliminated by hierarchic assembly (divide and conquer).
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

/// Velocity that moves the bodies over a step.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "PositionUpdate")]
pub(crate) enum PositionWord {
    /// Velocity at the end of the step.
    #[default]
    End,
    /// Average of the velocities at the start and the end of the step.
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

/// Velocity of kinematic bodies in the friction law.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "PrescribedSlip")]
pub(crate) enum SlipWord {
    /// Velocity at the start of the step.
    Start,
    /// Displacement over the step divided by h, so that a sticking body moves exactly with the surface.
    #[default]
    Displacement,
    /// Velocity at the end of the step.
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

/// Integration of orientations in space.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "Turning")]
pub(crate) enum TurningWord {
    /// Exponential map on the rotation group.
    #[default]
    Exponential,
    /// Explicit Euler step of the quaternion, renormalised; for comparison.
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

/// Gyroscopic, centrifugal and Coriolis terms of a step.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "VelocityTerms")]
pub(crate) enum VelocityTermsWord {
    /// Terms that keep momentum and bound energy at any rate.
    #[default]
    Conserving,
    /// Terms at the start of the step, as published schemes have them; fast rotations gain energy.
    Explicit,
}

impl From<VelocityTermsWord> for VelocityTerms {
    fn from(word: VelocityTermsWord) -> Self {
        match word {
            VelocityTermsWord::Conserving => Self::Conserving,
            VelocityTermsWord::Explicit => Self::Explicit,
        }
    }
}

/// Points at which the two impulses of a contact or joint act.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "ImpulsePoints")]
pub(crate) enum ImpulsePointsWord {
    /// Common point of two moving bodies, which keeps the angular momentum.
    #[default]
    Common,
    /// Surface point or anchor of each body, as published schemes have them.
    OfBodies,
}

impl From<ImpulsePointsWord> for ImpulsePoints {
    fn from(word: ImpulsePointsWord) -> Self {
        match word {
            ImpulsePointsWord::Common => Self::Common,
            ImpulsePointsWord::OfBodies => Self::OfBodies,
        }
    }
}

/// Bound on the speed at which open joints close, or overlapping bodies separate.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "ClosingSpeed")]
pub(crate) enum ClosingSpeedWord {
    /// No bound: a joint closes, or an overlap opens, within a step, as in published schemes.
    Unbounded,
}

/// Set of admissible friction impulses at a contact.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "FrictionSet")]
pub(crate) enum FrictionWord {
    /// Second-order cone: the exact disc or ellipsoid.
    Quadratic,
    /// Inscribed polygon with `directions` corners.
    Polygon,
    /// Circumscribed square: independent friction along the first friction direction and across it.
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

/// Treatment of a vertex at a convex corner.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "Corners")]
pub(crate) enum CornersWord {
    /// One face, chosen by the position of the vertex at the end of the step.
    #[default]
    Exact,
    /// One face, chosen inside the complementarity problem by extra variables; for polygonal friction.
    Disjunctive,
    /// Both faces, extended without end: wrong, for comparison.
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

/// Impact law.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "Impact")]
pub(crate) enum ImpactWord {
    /// No restitution.
    Inelastic,
    /// Newton: the separation velocity is ε times the approach velocity.
    Newton,
    /// Poisson: the impulse of restitution is ε times the impulse of compression.
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

/// Choice of quasistatic motions that the equilibrium of forces leaves undetermined.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "Undetermined")]
pub(crate) enum UndeterminedWord {
    /// Minimum-norm motion.
    Rest,
    /// Motion nearest to that of the last step.
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

/// A stabilisation without parameters.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "StabilisationWord")]
pub(crate) enum StabilisationWord {
    /// That of the preset: its weights γ, or projection for the preset `reference`.
    Usual,
    /// Separate multipliers for the position constraints of joints.
    Multiplier,
    /// Independent coordinates only; for the preset `reference`.
    Reduction,
}

/// Constraints that a projection after the step restores.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "Manifold")]
pub(crate) enum ManifoldWord {
    /// Positions: joints are closed and bodies do not overlap.
    Positions,
    /// Velocities: joints do not separate.
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

/// What happens to a step that is not solved.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "OnUnsolved")]
pub(crate) enum OnUnsolvedWord {
    /// The run stops with an error.
    #[default]
    Stop,
    /// The best solution found is taken, and the summary says so.
    Accept,
}

impl From<OnUnsolvedWord> for OnUnsolved {
    fn from(word: OnUnsolvedWord) -> Self {
        match word {
            OnUnsolvedWord::Stop => Self::Stop,
            OnUnsolvedWord::Accept => Self::Accept,
        }
    }
}
