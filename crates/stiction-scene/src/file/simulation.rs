//! `[simulation]` and `[scheme]`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::scheme_words::{
    CornersWord, FrictionWord, ImpactWord, JacobiansWord, ManifoldWord, PositionWord, PresetWord, SlipWord,
    StabilisationWord, TurningWord, UndeterminedWord,
};
use super::{Count, MarginValue, Vector, scheme_words::CoordinatesWord};

/// How long and how finely to simulate.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SimulationTable {
    /// Simulated time, s. At most 1e9 steps.
    #[schemars(extend("examples" = [1.0], "exclusiveMinimum" = 0))]
    pub(crate) duration: f64,
    /// Time step h, s; from 1e-9 to 10.
    #[schemars(extend("examples" = [0.0025], "minimum" = 1e-9, "maximum" = 10))]
    pub(crate) step: f64,
    /// The time-stepping scheme, by name; `[scheme]` refines it.
    #[serde(default)]
    pub(crate) preset: PresetWord,
    /// Gravitational acceleration, m/s²; 9.81 downwards (−y in the plane, −z in space) when left out. In the plane a third number
    /// presses bodies onto their supports.
    pub(crate) gravity: Option<Vector>,
    /// 2 for the plane, 3 for space; found from the positions when left out.
    #[schemars(range(min = 2, max = 3), title = "2 or 3", extend("examples" = [2]))]
    pub(crate) dimension: Option<u32>,
    /// Every how many steps the state is recorded; 1 when left out.
    pub(crate) record_every: Option<Count>,
}

/// Choices of the time-stepping scheme.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SchemeTable {
    /// Thickness of a layer that keeps shapes apart, m: they never overlap, and a step that would use it up fails. None when left out.
    #[schemars(extend("examples" = [0.005], "minimum" = 0, "maximum" = 1e9))]
    pub(crate) protective_layer: Option<f64>,
    /// What the unknowns of a step are: the velocities of all bodies with joints as constraints (`maximal`, when left out), or those of the
    /// joints, which then cannot drift (`reduced`, `divide-and-conquer`).
    #[serde(default)]
    pub(crate) coordinates: CoordinatesWord,
    /// Weight γ of the contact gaps, from 0 to 1; free to choose for the presets `ncp` (1 when left out) and
    /// `anitescu-hart` (0.3 when left out).
    #[schemars(extend("examples" = [0.3], "minimum" = 0, "maximum" = 1))]
    pub(crate) gamma: Option<f64>,
    /// Weight of the position errors of joints, from 0 to 1; as `gamma` when left out.
    #[schemars(extend("examples" = [1.0], "minimum" = 0, "maximum" = 1))]
    pub(crate) joint_gamma: Option<f64>,
    /// Where the contact geometry is taken: at the `start` of the step, at the position `predicted` for its end, at its
    /// `end` by a fixed point, or there by Newton's method (`implicit`); that of the preset when left out, `start` for most.
    pub(crate) jacobians: Option<JacobiansWord>,
    /// Which velocity moves bodies over a step: that of its `end` (when left out), or the `average` of both ends, with which free flight is
    /// exact and compliant layers keep their energy.
    #[serde(default)]
    pub(crate) position_update: PositionWord,
    /// True cuts a step where a compliant layer is touched first.
    #[serde(default)]
    pub(crate) locate_contacts: bool,
    /// Into how many steps at least the natural period of a pressed layer is cut; steps are as given when left out.
    #[schemars(range(min = 1, max = 10000), title = "a whole number from 1 to 10000", extend("examples" = [40]))]
    pub(crate) steps_per_period: Option<u32>,
    /// The set of friction impulses: the exact `quadratic` cone, a `polygon` of directions, or a `box`; that of the preset when
    /// left out.
    pub(crate) friction: Option<FrictionWord>,
    /// How a vertex passes a corner that sticks out, in the plane: by the `exact` face (when left out), by a `disjunctive` problem, or
    /// by both faces (`conjunctive`), which is wrong and for comparison.
    #[serde(default)]
    pub(crate) corners: CornersWord,
    /// What contacts give back: `newton` (velocities, when left out) or `poisson` (impulses) with their coefficient of
    /// restitution, or nothing (`inelastic`).
    pub(crate) impact: Option<ImpactWord>,
    /// With the preset `quasistatic`: what bodies do where the balance of forces leaves it free, as little as possible (`rest`,
    /// when left out) or what they did before (`continue`).
    pub(crate) undetermined: Option<UndeterminedWord>,
    /// Number of directions of a friction polygon in space and under supports: even, from 4 to 1024; 8 when left out. The plane always has two.
    #[schemars(title = "an even whole number from 4 to 1024", extend("examples" = [8]))]
    pub(crate) directions: Option<u32>,
    /// Contacts nearer than this are given to the solver; `"auto"` when left out.
    pub(crate) margin: Option<MarginValue>,
    /// Which velocity of moving surfaces friction sees: at the `start` of the step, their `displacement` over the step, or
    /// at the `end` of it.
    #[serde(default)]
    pub(crate) prescribed_slip: SlipWord,
    /// How orientations in space advance: by the `exponential` map, or by the plain `euler` step of the papers.
    #[serde(default)]
    pub(crate) orientation: TurningWord,
    /// What is done against drift in joints and gaps: `"usual"` (when left out), `"multiplier"`, `"reduction"`, or a table
    /// with one of `baumgarte`, `ascher`, `projection`.
    pub(crate) stabilisation: Option<StabilisationValue>,
    /// How often a step that was not solved may be halved, up to 10; 3 when left out. The preset `reference` chooses its own steps.
    #[schemars(range(min = 0, max = 10), title = "a whole number from 0 to 10", extend("examples" = [4]))]
    pub(crate) halve_steps: Option<u32>,
}

/// What is done against drift: a word, or a table with numbers.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(
    title = "\"usual\", \"multiplier\", \"reduction\" or a table with one of `baumgarte`, `ascher`, `projection`",
    extend("examples" = [{"projection": "both"}])
)]
pub(crate) enum StabilisationValue {
    Word(StabilisationWord),
    Table(StabilisationTable),
}

/// A way to stabilise with its numbers; exactly one of the three.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StabilisationTable {
    /// Joint errors Φ obey Φ'' + a Φ' + b Φ = 0.
    pub(crate) baumgarte: Option<BaumgarteTable>,
    /// Joint errors decay as exp(−rate t).
    pub(crate) ascher: Option<AscherTable>,
    /// After the step: `positions` (joints closed, bodies apart), `velocities` (of joints) or `both`.
    pub(crate) projection: Option<ManifoldWord>,
}

/// The coefficients of Baumgarte's equation; damping² = 4 stiffness closes fastest without swinging.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BaumgarteTable {
    /// The coefficient a of Φ', 1/s.
    #[schemars(extend("examples" = [20.0], "exclusiveMinimum" = 0, "maximum" = 1e12))]
    pub(crate) damping: f64,
    /// The coefficient b of Φ, 1/s².
    #[schemars(extend("examples" = [100.0], "exclusiveMinimum" = 0, "maximum" = 1e12))]
    pub(crate) stiffness: f64,
}

/// The rate of Ascher's term.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AscherTable {
    /// How fast joint errors decay, 1/s.
    #[schemars(extend("examples" = [50.0], "exclusiveMinimum" = 0, "maximum" = 1e12))]
    pub(crate) rate: f64,
}
