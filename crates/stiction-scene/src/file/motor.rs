//! `[[motor]]` and `[[coupling]]`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::Scalar;

/// What drives a freedom of a joint; exactly one of `torque`, `position`, `velocity`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MotorTable {
    /// Unique name; `motor-1`, `motor-2`, … by position in the file when left out.
    #[schemars(extend("examples" = ["elbow motor"]))]
    pub(crate) name: Option<String>,
    /// The joint it drives.
    #[schemars(extend("examples" = ["elbow"]))]
    pub(crate) joint: String,
    /// The freedom of the joint, by its number; 0 when left out.
    #[schemars(range(min = 0, max = 2), title = "a whole number from 0 to 2", extend("examples" = [1]))]
    #[serde(alias = "freedom")]
    pub(crate) dof: Option<u32>,
    /// A motor of this control u: its force is gain u + bias.
    pub(crate) torque: Option<Scalar>,
    /// A servo that pulls to this coordinate, m or rad, by `stiffness` and `damping`.
    pub(crate) position: Option<Scalar>,
    /// A servo that pulls to this speed, m/s or rad/s, by `gain`.
    pub(crate) velocity: Option<Scalar>,
    /// Force of a servo per way to its position.
    #[schemars(extend("examples" = [100.0], "minimum" = 0, "maximum" = 1e15))]
    pub(crate) stiffness: Option<f64>,
    /// Force of a position servo against speed, per speed; 0 when left out.
    #[schemars(extend("examples" = [5.0], "minimum" = 0, "maximum" = 1e15))]
    pub(crate) damping: Option<f64>,
    /// Force per control of a motor, 1 when left out; force of a velocity servo per missing speed.
    #[schemars(extend("examples" = [10.0]))]
    pub(crate) gain: Option<f64>,
    /// Force of a motor without control: constant, per coordinate and per speed; zero when left out.
    #[schemars(title = "three numbers", extend("examples" = [[0.0, -10.0, -1.0]]))]
    pub(crate) bias: Option<[f64; 3]>,
    /// Ratio of motor speed to joint speed: coordinate and speed come to the motor multiplied by it, and its force goes to the
    /// joint multiplied by it; 1 when left out.
    #[schemars(extend("examples" = [50.0]))]
    pub(crate) gear: Option<f64>,
    /// The control is kept in this range.
    #[schemars(title = "two numbers", extend("examples" = [[-1.0, 1.0]]))]
    pub(crate) control_limits: Option<[f64; 2]>,
    /// The force before the gear is kept in this range.
    #[schemars(title = "two numbers", extend("examples" = [[-20.0, 20.0]]))]
    pub(crate) force_limits: Option<[f64; 2]>,
}

/// Lets the coordinate of a joint follow that of another: `polynomial`, or `ratio` and `offset`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CouplingTable {
    /// Unique name; `coupling-1`, `coupling-2`, … by position in the file when left out.
    #[schemars(extend("examples" = ["gears"]))]
    pub(crate) name: Option<String>,
    /// The joint that follows.
    #[schemars(extend("examples" = ["left finger"]))]
    pub(crate) follower: String,
    /// The freedom of the follower, by its number; 0 when left out.
    #[schemars(range(min = 0, max = 2), title = "a whole number from 0 to 2", extend("examples" = [1]))]
    #[serde(alias = "follower_freedom")]
    pub(crate) follower_dof: Option<u32>,
    /// The joint that leads; when left out, the follower keeps the coordinate `offset`.
    #[schemars(extend("examples" = ["right finger"]))]
    pub(crate) leader: Option<String>,
    /// The freedom of the leader, by its number; 0 when left out.
    #[schemars(range(min = 0, max = 2), title = "a whole number from 0 to 2", extend("examples" = [1]))]
    #[serde(alias = "leader_freedom")]
    pub(crate) leader_dof: Option<u32>,
    /// Coordinate of the follower per coordinate of the leader; 1 when left out.
    #[schemars(extend("examples" = [-2.0]))]
    pub(crate) ratio: Option<f64>,
    /// Coordinate of the follower where that of the leader is 0; 0 when left out.
    #[schemars(extend("examples" = [0.1]))]
    pub(crate) offset: Option<f64>,
    /// Instead of `ratio` and `offset`: coefficients of the follower's coordinate as a polynomial of the leader's, constant first.
    #[schemars(title = "one to five numbers", extend("examples" = [[0.0, 1.0, 0.5]]))]
    pub(crate) polynomial: Option<Polynomial>,
}

/// Coefficients, constant first.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(crate) struct Polynomial(#[schemars(length(min = 1, max = 5))] pub(crate) Vec<f64>);
