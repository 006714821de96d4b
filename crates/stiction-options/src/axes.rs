//! Axes of a scheme: each is an independent choice between a few options.

/// Method that makes a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// One complementarity problem for the end of the step, [STEP-1..4].
    #[default]
    TimeStepping,
    /// θ-method of Moreau and Jean on the velocity level, with the contacts that its activation rule selects.   [THETA-1]
    MoreauJean,
    /// Accelerations, integrated from event to event: slow, for comparison.   [REF-1]
    Reference,
}

impl Method {
    /// The name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::TimeStepping => "time-stepping",
            Self::MoreauJean => "moreau-jean",
            Self::Reference => "reference",
        }
    }
}

/// Inertia of the bodies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dynamics {
    /// Bodies have inertia.
    #[default]
    Inertial,
    /// Bodies have no inertia: forces are in balance at the end of every step, and only prescribed motion moves bodies.   [QS-1]
    Quasistatic,
}

/// Choice among the quasistatic motions that the balance of forces leaves free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Undetermined {
    /// Motion in balance that is nearest to rest, in the norm of the mass matrix: that of minimum kinetic energy.   [QS-3]
    #[default]
    Rest,
    /// Motion nearest to that of the last step.
    Continue,
}

impl Undetermined {
    /// The name in scene files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rest => "rest",
            Self::Continue => "continue",
        }
    }
}

/// Configuration at which normals, arms and joint axes are evaluated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LineariseAt {
    /// At q, the start of the step.
    #[default]
    Start,
    /// At q + h v, the free-flight prediction.
    Predicted,
    /// At q⁺, the end of the step: first at q + h v, then by fixed-point iteration on the solution.   [STEP-10]
    End,
    /// No linearisation: Newton's method solves the equations at the end of the step.   [GIM-1]
    Implicit,
}

/// Velocity that moves the bodies over a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PositionUpdate {
    /// Velocity at the end: q⁺ = q ⊕ h v⁺.   [STEP-5]
    #[default]
    End,
    /// Mean velocity: q⁺ = q ⊕ h (v + v⁺)/2. Free flight is exact, and compliant layers keep the energy they store.   [SOFT-6]
    Average,
}

impl PositionUpdate {
    /// The name in scene files.
    pub fn name(self) -> &'static str {
        match self {
            Self::End => "end",
            Self::Average => "average",
        }
    }
}

/// Order of a step where the motion is smooth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// All forces act at the start of the step.
    #[default]
    First,
    /// Half of the forces acts at the start of the step and half at its end, each with its own contact problem.   [STEP-18]
    Second,
}

impl Order {
    /// The order as a number.
    pub fn number(self) -> u32 {
        match self {
            Self::First => 1,
            Self::Second => 2,
        }
    }
}

/// Velocity products of a step: gyroscopic torques of bodies, and the centrifugal and Coriolis terms of trees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VelocityTerms {
    /// Terms that keep the momentum of bodies and trees without applied forces to rounding, and bound their energy.   [ROT-1] [ROT-2]
    #[default]
    Conserving,
    /// −ω × I ω and the bias of trees at the start of the step, as published schemes have them: fast rotations gain energy without bound. Springs and dampers
    /// between bodies are explicit then, too.
    Explicit,
}

impl VelocityTerms {
    /// The name in scene files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Conserving => "conserving",
            Self::Explicit => "explicit",
        }
    }
}

/// Points at which the two impulses of a contact or joint act on its bodies.   [STEP-17]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ImpulsePoints {
    /// Common point of two moving bodies, between their surface points or anchors: the impulses keep the angular momentum.
    #[default]
    Common,
    /// Surface point or anchor of each body, as published schemes have them: angular momentum drifts while a gap or joint error is open.
    OfBodies,
}

impl ImpulsePoints {
    /// The name in scene files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Common => "common",
            Self::OfBodies => "of-bodies",
        }
    }
}

/// Choice of the contacts that are given to the solver.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Margin {
    /// Contacts within reach of the step: gap ≤ the sum of (|v| + |a| h) h over the two bodies; with γ = 0 those that touch.   [STEP-6]
    #[default]
    Automatic,
    /// Contacts with at most this gap, m.
    Fixed(f64),
}

/// Velocity of a prescribed surface that friction opposes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PrescribedSlip {
    /// The velocity at the start of the step.
    Start,
    /// Displacement over the step divided by h, so that sticking contacts follow the surface exactly.
    #[default]
    Displacement,
    /// The velocity at the end of the step.
    End,
}

/// Set F(μ p_n) of friction impulses, which decides the kind of problem of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FrictionSet {
    /// The disc or ellipsoid, exactly: the second-order cone (Coulomb cone).   [FRIC-3]
    #[default]
    Quadratic,
    /// A polygon with n_d vertices inside it: a linear problem.   [FRIC-1]
    Polygon,
    /// A square around the disc, so that the two friction directions are independent: a linear problem.   [FRIC-4]
    Box,
}

impl FrictionSet {
    /// The name in scene files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Quadratic => "quadratic",
            Self::Polygon => "polygon",
            Self::Box => "box",
        }
    }
}

/// Rule that keeps a vertex outside a convex corner.   [CORNER-1]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CornerLogic {
    /// One of the two faces: that in whose region the vertex is at the end of the step.   [CORNER-2]
    #[default]
    Exact,
    /// One of the two faces, chosen within the problem by further complementary variables.   [CORNER-4]
    Disjunctive,
    /// Both faces, as if they were unbounded: wrong, and common. For comparison.
    Conjunctive,
}

impl CornerLogic {
    /// The name in scene files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Disjunctive => "disjunctive",
            Self::Conjunctive => "conjunctive",
        }
    }
}

/// Unknowns of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Coordinates {
    /// The velocities of all bodies; joints are constraints.
    #[default]
    Maximal,
    /// The velocities of the forest of joints; only loops are constraints. Joints cannot drift.   [RED-1]
    Reduced,
    /// The same velocities, with the joints eliminated by hierarchic assembly; the unknowns are impulses alone.   [DCA-17]
    DivideAndConquer,
}

impl Coordinates {
    /// The name in scene files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Maximal => "maximal",
            Self::Reduced => "reduced",
            Self::DivideAndConquer => "divide-and-conquer",
        }
    }
}

/// Law of impact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Impact {
    /// No rebound.
    Inelastic,
    /// Newton's law between normal velocities, n · v⁺ = −ε n · v⁻.   [IMPACT-1]
    #[default]
    Newton,
    /// Poisson's law between the normal impulses of decompression and compression, p_d ≥ ε p_c.   [IMPACT-2]
    Poisson,
}

impl Impact {
    /// The name in scene files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Inelastic => "inelastic",
            Self::Newton => "newton",
            Self::Poisson => "poisson",
        }
    }
}
