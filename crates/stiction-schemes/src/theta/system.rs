//! Mechanical system given by the user: mass matrix, forces and constraints.

/// Coordinates q with q̇ = v that obey M(q) v̇ = f(t, q, v) + Hᵀ r.   [THETA-1]
///
/// Matrices are dense and written row by row into zeros. The user chooses the units, which must be consistent.
pub trait System {
    /// Number n of coordinates, and of velocities.
    fn size(&self) -> usize;

    /// Mass matrix M(q), symmetric and positive definite, n × n.
    fn mass(&self, q: &[f64], out: &mut [f64]);

    /// f(t, q, v), all forces except those of constraints: loads, springs, dampers, and the terms −Ṁ v + ½ ∂(vᵀ M v)/∂q if M depends on q.
    fn force(&self, t: f64, q: &[f64], v: &[f64], out: &mut [f64]);

    /// K = −∂f/∂q, n × n. If it is left at zero, springs still act, but Newton's method needs more steps for their θ-rule.
    fn stiffness(&self, _t: f64, _q: &[f64], _v: &[f64], _out: &mut [f64]) {}

    /// C = −∂f/∂v, n × n.
    fn damping(&self, _t: f64, _q: &[f64], _v: &[f64], _out: &mut [f64]) {}

    /// Number of constraints: contacts, joints, dry friction.
    fn constraints(&self) -> usize {
        0
    }

    /// The law of a constraint.
    fn law(&self, _constraint: usize) -> ConstraintLaw {
        ConstraintLaw::Joint
    }

    /// Gap of a contact (negative inside), error of a joint; not called for dry friction.
    fn gap(&self, _constraint: usize, _t: f64, _q: &[f64]) -> f64 {
        0.0
    }

    /// Rows H of a constraint, as many as its law has, normal first: its velocities are u = H v + drift.
    fn rows(&self, _constraint: usize, _t: f64, _q: &[f64], _out: &mut [f64]) {}

    /// Prescribed velocities of surfaces, such as moving walls and belts. One per row.
    fn drift(&self, _constraint: usize, _t: f64, _q: &[f64], _out: &mut [f64]) {}
}

/// Law of the rows of a constraint.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum ConstraintLaw {
    /// One row that does not move: u = 0.
    Joint,
    /// Contact with Coulomb friction and Newton's restitution, rows (normal, tangents).   [THETA-5]
    Contact {
        /// Tangential rows: 0, 1 (plane) or 2 (space).
        tangents: usize,
        /// Friction coefficient μ ≥ 0.
        friction: f64,
        /// Coefficient of normal restitution e_N ∈ [0, 1].
        restitution: f64,
        /// Coefficient of tangential restitution e_T ∈ [−1, 1].
        tangential_restitution: f64,
    },
    /// One row of friction with a given limit, always active: a force of at most `limit` against u, equal to it in slip.
    DryFriction {
        /// The largest force, N.
        limit: f64,
    },
}

impl ConstraintLaw {
    /// A contact without friction.
    pub fn frictionless(restitution: f64) -> Self {
        Self::Contact { tangents: 0, friction: 0.0, restitution, tangential_restitution: 0.0 }
    }

    /// A contact in the plane: a normal and one tangential row.
    pub fn planar(friction: f64, restitution: f64) -> Self {
        Self::Contact { tangents: 1, friction, restitution, tangential_restitution: 0.0 }
    }

    /// A contact in space: a normal and two tangential rows.
    pub fn spatial(friction: f64, restitution: f64) -> Self {
        Self::Contact { tangents: 2, friction, restitution, tangential_restitution: 0.0 }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        match *self {
            Self::Joint | Self::DryFriction { .. } => 1,
            Self::Contact { tangents, .. } => 1 + tangents,
        }
    }

    /// True if the parameters are in range.
    pub fn is_legal(&self) -> bool {
        match *self {
            Self::Joint => true,
            Self::DryFriction { limit } => limit.is_finite() && limit >= 0.0,
            Self::Contact { tangents, friction, restitution, tangential_restitution } => {
                tangents <= 2
                    && friction.is_finite()
                    && friction >= 0.0
                    && (0.0..=1.0).contains(&restitution)
                    && (-1.0..=1.0).contains(&tangential_restitution)
            }
        }
    }
}

/// State of a system.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SystemState {
    /// Steps taken so far.
    pub step: u64,
    /// Time, s.
    pub time: f64,
    /// Rounding error of `time` so far (compensated summation).
    pub time_carry: f64,
    /// Coordinates.
    pub q: Vec<f64>,
    /// Velocities.
    pub v: Vec<f64>,
    /// Impulses of the last step, all rows of all constraints in order, zero for contacts that were not active. They are the initial guess
    /// of the next solve. Empty before the first step.
    pub impulses: Vec<f64>,
}

impl SystemState {
    /// The state at time zero.
    pub fn new(q: Vec<f64>, v: Vec<f64>) -> Self {
        Self { q, v, ..Self::default() }
    }

    /// The time `h` later and its carry, by Kahan's compensated summation.
    pub fn time_after(&self, h: f64) -> (f64, f64) {
        let increment = h - self.time_carry;
        let time = self.time + increment;
        (time, (time - self.time) - increment)
    }
}
