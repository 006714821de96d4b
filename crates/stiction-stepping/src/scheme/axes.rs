//! The axes a scheme chooses on: each is an independent question with a few answers.

/// How a step is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// One complementarity problem for the end of the step, [STEP-1..4].
    #[default]
    TimeStepping,
    /// The θ-method of Moreau and Jean: velocities, for the contacts its rule activates.   [THETA-1]
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

/// Whether bodies have inertia.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dynamics {
    /// They do.
    #[default]
    Inertial,
    /// They do not: forces are in balance at the end of every step, and only prescribed motion keeps things moving.   [QS-1]
    Quasistatic,
}

/// What a quasistatic body does that the balance of forces leaves free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Undetermined {
    /// As little as possible: of all motions in balance the one nearest to rest, in the norm of the mass matrix.   [QS-3]
    #[default]
    Rest,
    /// It goes on: the motion nearest to that of the last step.
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

/// Where normals, arms and joint axes are evaluated, and how often.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LineariseAt {
    /// At q, the start of the step.
    #[default]
    Start,
    /// At q + h v, where the bodies would be if nothing happened.
    Predicted,
    /// At q⁺, the end of the step: first at q + h v, then again at each answer until it stops moving.   [STEP-10]
    End,
    /// Not at all: the equations of the end of the step are solved as they are, by Newton's method.   [GIM-1]
    Implicit,
}

/// Which velocity moves the bodies over a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PositionUpdate {
    /// That of its end: q⁺ = q ⊕ h v⁺.   [STEP-5]
    #[default]
    End,
    /// The mean of both ends: q⁺ = q ⊕ h (v + v⁺)/2. Free flight is exact, and compliant layers keep the energy they store.   [SOFT-6]
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

/// Which contacts are given to the solver.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Margin {
    /// Those the bodies can reach within the step: gap ≤ the sum of (|v| + |a| h) h over the two; with γ = 0 those that touch.   [STEP-6]
    #[default]
    Automatic,
    /// Those with at most this gap, m.
    Fixed(f64),
}

/// Which velocity of a prescribed surface friction works against.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PrescribedSlip {
    /// The velocity at the start of the step.
    Start,
    /// The displacement over the step divided by h: what sticks, sticks exactly.
    #[default]
    Displacement,
    /// The velocity at the end of the step.
    End,
}

/// The set F(μ p_n) of friction impulses, and with it the kind of problem a step is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FrictionSet {
    /// The disc or ellipsoid, exactly: a problem over second-order cones.   [FRIC-3]
    #[default]
    Quadratic,
    /// A polygon with n_d corners inside it: a linear problem.   [FRIC-1]
    Polygon,
    /// A square around it: the two friction directions do not know of each other. A linear problem.   [FRIC-4]
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

/// How a vertex in front of a corner that sticks out is kept outside.   [CORNER-1]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CornerLogic {
    /// By one of its faces: that in whose region the vertex is at the end of the step.   [CORNER-2]
    #[default]
    Exact,
    /// By one of its faces, chosen within the problem by further complementary variables.   [CORNER-4]
    Disjunctive,
    /// By both of its faces, as if they had no end: wrong, and common. For comparison.
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

/// What the unknowns of a step are.
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

/// What a contact gives back after it was hit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Impact {
    /// Nothing.
    Inelastic,
    /// Newton: normal velocities after and before, n · v⁺ = −ε n · v⁻.   [IMPACT-1]
    #[default]
    Newton,
    /// Poisson: normal impulses of decompression and compression, p_d ≥ ε p_c.   [IMPACT-2]
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
