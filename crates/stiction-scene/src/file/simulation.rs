//! `[simulation]` and `[scheme]`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::scheme_words::{
    ClosingSpeedWord, CornersWord, FrictionWord, ImpactWord, ImpulsePointsWord, JacobiansWord, ManifoldWord,
    OnUnsolvedWord, PositionWord, PresetWord, SlipWord, StabilisationWord, TurningWord, UndeterminedWord,
    VelocityTermsWord,
};
use super::{Count, MarginValue, Vector, scheme_words::CoordinatesWord};

/// Duration, time step and preset of the simulation.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SimulationTable {
    /// Simulated time, s; at most 1e9 steps.
    #[schemars(extend("examples" = [1.0], "exclusiveMinimum" = 0))]
    pub(crate) duration: f64,
    /// Time step h, s; from 1e-9 to 10.
    #[schemars(extend("examples" = [0.0025], "minimum" = 1e-9, "maximum" = 10))]
    pub(crate) step: f64,
    /// Preset of the time-stepping scheme. `[scheme]` refines it. Default: `ncp`.
    #[serde(default)]
    pub(crate) preset: PresetWord,
    /// Gravitational acceleration, m/s². Default: 9.81 downwards (−y in the plane, −z in space). In the plane a third
    /// component presses bodies onto their supports.
    pub(crate) gravity: Option<Vector>,
    /// Dimension: 2 for the plane, 3 for space. Default: that of the positions.
    #[schemars(range(min = 2, max = 3), title = "2 or 3", extend("examples" = [2]))]
    pub(crate) dimension: Option<u32>,
    /// Number of steps per recorded state. Default: 1.
    pub(crate) record_every: Option<Count>,
}

/// Options of the time-stepping scheme.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SchemeTable {
    /// Thickness of a protective layer that keeps shapes apart, m. Shapes never overlap; a step that would use up the
    /// layer fails. Default: 0.
    #[schemars(extend("examples" = [0.005], "minimum" = 0, "maximum" = 1e9))]
    pub(crate) protective_layer: Option<f64>,
    /// Unknowns of a step: body velocities with joints as constraints (`maximal`), or joint velocities without joint
    /// drift (`reduced`, `divide-and-conquer`). Default: `maximal`.
    #[serde(default)]
    pub(crate) coordinates: CoordinatesWord,
    /// Weight γ of the contact gaps, from 0 to 1; only for the presets `ncp` (default: 1) and `anitescu-hart`
    /// (default: 0.3).
    #[schemars(extend("examples" = [0.3], "minimum" = 0, "maximum" = 1))]
    pub(crate) gamma: Option<f64>,
    /// Weight γ of the position errors of joints, from 0 to 1. Default: `gamma`.
    #[schemars(extend("examples" = [1.0], "minimum" = 0, "maximum" = 1))]
    pub(crate) joint_gamma: Option<f64>,
    /// Largest speed at which open joints close: a table with `linear` (m/s) and `angular` (rad/s), and at which bodies that
    /// overlap separate, `overlap` (m/s); or `"unbounded"`, as published schemes have it. Default: 1 m/s, 5 rad/s and 1 m/s.
    pub(crate) joint_closing_speed: Option<ClosingSpeedValue>,
    /// Configuration at which contacts are linearised: `start` of the step, `predicted` end, `end` by a fixed-point
    /// iteration, or end by Newton's method (`implicit`). Default: that of the preset, `start` for most.
    pub(crate) jacobians: Option<JacobiansWord>,
    /// Velocity that moves the bodies: that at the `end` of the step, or the `average` of start and end. With the
    /// average, free flight is exact and compliant layers conserve energy. Default: `end`.
    #[serde(default)]
    pub(crate) position_update: PositionWord,
    /// Order of accuracy where the motion is smooth: 1, or 2, with forces at both ends of the step and two contact
    /// problems. Default: 1.
    #[schemars(range(min = 1, max = 2), title = "1 or 2", extend("examples" = [2]))]
    pub(crate) order: Option<u32>,
    /// Number of equal substeps of every step, from 1 to 1000. Default: 1.
    #[schemars(range(min = 1, max = 1000), title = "a whole number from 1 to 1000", extend("examples" = [4]))]
    pub(crate) substeps: Option<u32>,
    /// True to split a step at the time at which a compliant layer is first touched. Default: false.
    #[serde(default)]
    pub(crate) locate_contacts: bool,
    /// Smallest number of steps per natural period of a pressed compliant layer. Default: no subdivision.
    #[schemars(range(min = 1, max = 10000), title = "a whole number from 1 to 10000", extend("examples" = [40]))]
    pub(crate) steps_per_period: Option<u32>,
    /// Friction model: the exact `quadratic` cone, a `polygon` of directions, or a `box`. Default: that of the
    /// preset.
    pub(crate) friction: Option<FrictionWord>,
    /// Treatment of a vertex at a convex corner, in the plane: the `exact` face, a `disjunctive` problem, or both
    /// faces (`conjunctive`; wrong, for comparison). Default: `exact`.
    #[serde(default)]
    pub(crate) corners: CornersWord,
    /// Impact law: `newton` (velocities), `poisson` (impulses) or `inelastic` (no restitution). Default: `newton`.
    pub(crate) impact: Option<ImpactWord>,
    /// Motion that equilibrium leaves undetermined, with the preset `quasistatic`: the minimum-norm motion (`rest`)
    /// or that nearest to the last step (`continue`). Default: `rest`.
    pub(crate) undetermined: Option<UndeterminedWord>,
    /// Number of directions of the friction polygon in space and under supports: even, from 4 to 1024. Default: 8.
    /// The plane always has two.
    #[schemars(title = "an even whole number from 4 to 1024", extend("examples" = [8]))]
    pub(crate) directions: Option<u32>,
    /// Distance below which contacts enter the solver. Default: `"auto"`.
    pub(crate) margin: Option<MarginValue>,
    /// Velocity of moving surfaces in the friction law: that at the `start` of the step, the `displacement` over the
    /// step divided by h, or that at the `end`. Default: `displacement`.
    #[serde(default)]
    pub(crate) prescribed_slip: SlipWord,
    /// Integration of orientations in space: the `exponential` map, or the explicit `euler` step. Default:
    /// `exponential`.
    #[serde(default)]
    pub(crate) orientation: TurningWord,
    /// Gyroscopic, centrifugal and Coriolis terms: `conserving` (momentum kept, energy bounded at any rate), or
    /// `explicit` at the start of the step, as published schemes have them. Default: `conserving`.
    #[serde(default)]
    pub(crate) velocity_terms: VelocityTermsWord,
    /// Points at which the two impulses of a contact or joint act: a `common` one between two moving bodies, which keeps
    /// their angular momentum, or those `of-bodies`, as published schemes have them. Default: `common`.
    #[serde(default)]
    pub(crate) impulse_points: ImpulsePointsWord,
    /// Stabilisation against drift of joints and gaps: `"usual"`, `"multiplier"`, `"reduction"`, or a table with one
    /// of `baumgarte`, `ascher`, `projection`. Default: `"usual"`.
    pub(crate) stabilisation: Option<StabilisationValue>,
    /// Largest number of times that an unsolved step is halved, up to 10. Default: 6. The preset `reference` chooses
    /// its own steps.
    #[schemars(range(min = 0, max = 10), title = "a whole number from 0 to 10", extend("examples" = [4]))]
    pub(crate) halve_steps: Option<u32>,
    /// Residuals of steps with the second-order cone: where solvers stop, and up to which a step is accepted. Default:
    /// those of the accuracy.
    #[serde(default)]
    pub(crate) residual: ResidualTable,
    /// What happens to a step that is not solved, not even in parts: the run stops (`stop`), or goes on with the best
    /// solution found and says so (`accept`). Default: `stop`.
    #[serde(default)]
    pub(crate) on_unsolved: OnUnsolvedWord,
}

/// Residuals of steps with the second-order cone, relative to the free velocities; ascending.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("examples" = [{"aim": 1e-8, "accept": 1e-6, "refuse": 1e-4}]))]
pub(crate) struct ResidualTable {
    /// Residual at which every method stops. Default: 1e-8, 1e-6 or 1e-3 with the accuracies exact, balanced and
    /// real-time.
    #[schemars(extend("examples" = [1e-8], "exclusiveMinimum" = 0, "maximum" = 1))]
    pub(crate) aim: Option<f64>,
    /// Residual up to which a step is accepted after the cheap methods. Default: 1e-6, 1e-4 or 1e-2.
    #[schemars(extend("examples" = [1e-6], "exclusiveMinimum" = 0, "maximum" = 1))]
    pub(crate) accept: Option<f64>,
    /// Residual up to which a step is accepted after all methods; above it the step is not solved. Default: 1e-4, 1e-3
    /// or 0.1.
    #[schemars(extend("examples" = [1e-4], "exclusiveMinimum" = 0, "maximum" = 1))]
    pub(crate) refuse: Option<f64>,
}

/// Largest speed at which open joints close: a word, or a table.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(
    title = "\"unbounded\", or a table with `linear` (m/s) and `angular` (rad/s)",
    extend("examples" = [{"linear": 1.0, "angular": 5.0}])
)]
pub(crate) enum ClosingSpeedValue {
    Word(ClosingSpeedWord),
    Table(ClosingSpeedTable),
}

/// Largest speed at which open joints close and overlapping bodies separate.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClosingSpeedTable {
    /// Speed of position errors, m/s. Default: 1.
    #[schemars(extend("examples" = [1.0], "exclusiveMinimum" = 0))]
    pub(crate) linear: Option<f64>,
    /// Speed of errors of direction, rad/s. Default: 5.
    #[schemars(extend("examples" = [5.0], "exclusiveMinimum" = 0))]
    pub(crate) angular: Option<f64>,
    /// Speed at which bodies that overlap separate, m/s. Default: 1.
    #[schemars(extend("examples" = [1.0], "exclusiveMinimum" = 0))]
    pub(crate) overlap: Option<f64>,
}

/// Stabilisation against drift: a word, or a table with parameters.
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

/// A stabilisation with parameters; exactly one of the three.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StabilisationTable {
    /// Baumgarte: joint errors Φ obey Φ'' + a Φ' + b Φ = 0.
    pub(crate) baumgarte: Option<BaumgarteTable>,
    /// Ascher: joint errors decay as exp(−rate t).
    pub(crate) ascher: Option<AscherTable>,
    /// Projection after the step onto `positions` (joints closed, no overlap), `velocities` (of joints) or `both`.
    pub(crate) projection: Option<ManifoldWord>,
}

/// Coefficients of Baumgarte's equation. With damping² = 4 stiffness, errors decay fastest without oscillation.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BaumgarteTable {
    /// Coefficient a of Φ', 1/s.
    #[schemars(extend("examples" = [20.0], "exclusiveMinimum" = 0, "maximum" = 1e12))]
    pub(crate) damping: f64,
    /// Coefficient b of Φ, 1/s².
    #[schemars(extend("examples" = [100.0], "exclusiveMinimum" = 0, "maximum" = 1e12))]
    pub(crate) stiffness: f64,
}

/// Rate of Ascher's term.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AscherTable {
    /// Decay rate of joint errors, 1/s.
    #[schemars(extend("examples" = [50.0], "exclusiveMinimum" = 0, "maximum" = 1e12))]
    pub(crate) rate: f64,
}
