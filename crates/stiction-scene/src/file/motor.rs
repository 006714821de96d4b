//! `[[motor]]` and `[[coupling]]`.

use schemars::JsonSchema;
use serde::Deserialize;

use super::Scalar;

/// A motor on a joint DOF, with exactly one of `torque`, `position` and `velocity`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MotorTable {
    /// Unique name. Default: `motor-1`, `motor-2`, … by position in the file.
    #[schemars(extend("examples" = ["elbow motor"]))]
    pub(crate) name: Option<String>,
    /// Name of the joint.
    #[schemars(extend("examples" = ["elbow"]))]
    pub(crate) joint: String,
    /// Number of the joint DOF, from 0. Default: 0.
    #[schemars(range(min = 0, max = 2), title = "a whole number from 0 to 2", extend("examples" = [1]))]
    pub(crate) dof: Option<u32>,
    /// Control u of a torque motor. Its force is `gain` u + `bias`.
    pub(crate) torque: Option<Scalar>,
    /// Target coordinate of a position servo, m or rad. The servo has `stiffness` and `damping`.
    pub(crate) position: Option<Scalar>,
    /// Target speed of a velocity servo, m/s or rad/s. The servo has a `gain`.
    pub(crate) velocity: Option<Scalar>,
    /// Force of a position servo per position error, N/m or N m/rad.
    #[schemars(extend("examples" = [100.0], "minimum" = 0, "maximum" = 1e15))]
    pub(crate) stiffness: Option<f64>,
    /// Force of a position servo per speed, N s/m or N m s/rad. Default: 0.
    #[schemars(extend("examples" = [5.0], "minimum" = 0, "maximum" = 1e15))]
    pub(crate) damping: Option<f64>,
    /// Force of a torque motor per control (default: 1), or of a velocity servo per speed error.
    #[schemars(extend("examples" = [10.0]))]
    pub(crate) gain: Option<f64>,
    /// Force of a torque motor at zero control: constant, per coordinate and per speed. Default: 0.
    #[schemars(title = "three numbers", extend("examples" = [[0.0, -10.0, -1.0]]))]
    pub(crate) bias: Option<[f64; 3]>,
    /// Gear ratio: motor speed per joint speed. The motor's coordinate and speed are those of the joint times `gear`;
    /// the joint force is the motor force times `gear`. Default: 1.
    #[schemars(extend("examples" = [50.0]))]
    pub(crate) gear: Option<f64>,
    /// Range to which the control is clamped. Default: unlimited.
    #[schemars(title = "two numbers", extend("examples" = [[-1.0, 1.0]]))]
    pub(crate) control_limits: Option<[f64; 2]>,
    /// Range to which the motor force (before the gear) is clamped. Default: unlimited.
    #[schemars(title = "two numbers", extend("examples" = [[-20.0, 20.0]]))]
    pub(crate) force_limits: Option<[f64; 2]>,
}

/// A coupling: the coordinate of a joint follows that of another, by `polynomial` or by `ratio` and `offset`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CouplingTable {
    /// Unique name. Default: `coupling-1`, `coupling-2`, … by position in the file.
    #[schemars(extend("examples" = ["gears"]))]
    pub(crate) name: Option<String>,
    /// Name of the joint that follows.
    #[schemars(extend("examples" = ["left finger"]))]
    pub(crate) follower: String,
    /// Number of the follower's DOF, from 0. Default: 0.
    #[schemars(range(min = 0, max = 2), title = "a whole number from 0 to 2", extend("examples" = [1]))]
    pub(crate) follower_dof: Option<u32>,
    /// Name of the joint that leads. Default: none; the follower then keeps the coordinate `offset`.
    #[schemars(extend("examples" = ["right finger"]))]
    pub(crate) leader: Option<String>,
    /// Number of the leader's DOF, from 0. Default: 0.
    #[schemars(range(min = 0, max = 2), title = "a whole number from 0 to 2", extend("examples" = [1]))]
    pub(crate) leader_dof: Option<u32>,
    /// Follower coordinate per leader coordinate. Default: 1.
    #[schemars(extend("examples" = [-2.0]))]
    pub(crate) ratio: Option<f64>,
    /// Follower coordinate at leader coordinate 0. Default: 0.
    #[schemars(extend("examples" = [0.1]))]
    pub(crate) offset: Option<f64>,
    /// Coefficients of the follower's coordinate as a polynomial of the leader's, constant first; instead of `ratio`
    /// and `offset`.
    #[schemars(title = "one to five numbers", extend("examples" = [[0.0, 1.0, 0.5]]))]
    pub(crate) polynomial: Option<Polynomial>,
}

/// Coefficients of a polynomial, constant first.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(crate) struct Polynomial(#[schemars(length(min = 1, max = 5))] pub(crate) Vec<f64>);
