//! Named schemes: rows of a table over the axes.

use super::{Dynamics, FrictionSet, LineariseAt, Method, Scheme};

/// Named scheme.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Preset {
    /// γ = 1 and the second-order friction cone.
    #[default]
    Ncp,
    /// γ = 1: the gap is linearised in full. Polygonal friction.
    StewartTrinkle,
    /// γ = 0: velocity level, always solvable, gaps may drift. Polygonal friction.
    AnitescuPotra,
    /// γ = 0.3: gaps and joint errors decay. Polygonal friction.
    AnitescuHart,
    /// The θ-method of Moreau and Jean with the second-order friction cone.
    MoreauJean,
    /// Accelerations from event to event, with the second-order friction cone.
    Reference,
    /// Bodies without inertia, γ = 1 and the second-order friction cone.
    Quasistatic,
    /// Contacts and joints hold at the end of the step, with the second-order friction cone.
    GeometricallyImplicit,
}

impl Preset {
    /// All presets.
    pub const ALL: [Self; 8] = [
        Self::Ncp,
        Self::StewartTrinkle,
        Self::AnitescuPotra,
        Self::AnitescuHart,
        Self::MoreauJean,
        Self::Reference,
        Self::Quasistatic,
        Self::GeometricallyImplicit,
    ];

    /// Presets in which bodies have inertia. They approximate the same motion.
    pub const INERTIAL: [Self; 7] = [
        Self::Ncp,
        Self::StewartTrinkle,
        Self::AnitescuPotra,
        Self::AnitescuHart,
        Self::MoreauJean,
        Self::Reference,
        Self::GeometricallyImplicit,
    ];

    /// Name in scene files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ncp => "ncp",
            Self::StewartTrinkle => "stewart-trinkle",
            Self::AnitescuPotra => "anitescu-potra",
            Self::AnitescuHart => "anitescu-hart",
            Self::MoreauJean => "moreau-jean",
            Self::Reference => "reference",
            Self::Quasistatic => "quasistatic",
            Self::GeometricallyImplicit => "geometrically-implicit",
        }
    }

    /// Finds the preset called `name`.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|preset| preset.name() == name)
    }

    /// Scheme of the preset.
    pub fn scheme(self) -> Scheme {
        let method = match self {
            Self::MoreauJean => Method::MoreauJean,
            Self::Reference => Method::Reference,
            _ => Method::TimeStepping,
        };
        let (gamma, friction) = match self {
            Self::Ncp | Self::MoreauJean | Self::Reference | Self::Quasistatic | Self::GeometricallyImplicit => {
                (1.0, FrictionSet::Quadratic)
            }
            Self::StewartTrinkle => (1.0, FrictionSet::Polygon),
            Self::AnitescuPotra => (0.0, FrictionSet::Polygon),
            Self::AnitescuHart => (0.3, FrictionSet::Polygon),
        };
        let dynamics = if self == Self::Quasistatic { Dynamics::Quasistatic } else { Dynamics::Inertial };
        let linearise_at =
            if self == Self::GeometricallyImplicit { LineariseAt::Implicit } else { LineariseAt::default() };
        Scheme { method, dynamics, gamma, joint_gamma: gamma, linearise_at, friction, ..Scheme::default() }
    }
}
