//! What a step tells: its report, its contacts, its events, or why it did not happen.

use nalgebra::{Point3, Vector3};
use stiction_complementarity::{Residual, Status};
use stiction_multibody::{BodyId, ContactId, ContactMode, LayerMemory, Model};

use crate::{Infeasibility, Start, Workspace, formulation, ladder::LadderOutcome};

/// A step that happened.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
#[must_use = "the report says how well the step was solved"]
pub struct StepReport {
    /// Number of the step, from 1.
    pub step: u64,
    /// Time at its end, s.
    pub time: f64,
    /// Potential contacts given to the solver.
    pub contacts: usize,
    /// Unknowns of the mixed problem, velocities included.
    pub problem_size: usize,
    /// Residual of its solution, by the problem's own ruler.
    pub residual: Residual,
    /// How the solve ended.
    pub status: Status,
    /// Iterations (pivots for Lemke's method), of all passes.
    pub iterations: u32,
    /// Times the problem was written and solved: once, and again where a missed contact or the fixed point asked for it.
    pub passes: u32,
    /// Contacts that were hit: they closed with an impulse, or the impact law has something to give back. Several are
    /// several impacts in one step, which the step does not tell apart in time.
    pub impacts: usize,
    /// The rung of the ladder that solved it.
    pub rung: &'static str,
    /// Deepest penetration at the end of the step, m.
    pub penetration: f64,
    /// Largest joint error at the end of the step.
    pub joint_error: f64,
    /// Steps it was made in: one, and more where it had to be halved or was made in pieces.   [STEP-13]
    pub substeps: u32,
    /// Pieces that compliant layers asked for; where they are fewer than `substeps`, some had to be halved.   [SOFT-10]
    pub layer_substeps: u32,
    /// What stabilisation changed after the step; nothing where it acts within it.
    pub correction: Option<Correction>,
}

/// What stabilisation did to positions and velocities after a step.   [STAB-5]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Correction {
    /// Linear problems solved for it.
    pub rounds: u32,
    /// The largest error left in what was corrected, m, m/s or dimensionless.
    pub residual: f64,
    /// Mechanical energy it added, J; negative where it took some.
    pub energy: f64,
}

impl StepReport {
    /// The report of the step in the workspace, made by one complementarity problem in so many passes and with so many impacts.
    pub(crate) fn of(
        start: &Start,
        ws: &Workspace,
        ladder_outcome: &LadderOutcome,
        (passes, impacts): (u32, usize),
        measured: Infeasibility,
    ) -> Self {
        Self {
            step: ws.next.step,
            time: ws.next.time,
            contacts: ws.contacts.len(),
            problem_size: formulation::size(start, ws),
            residual: ladder_outcome.residual,
            status: ladder_outcome.status,
            iterations: ladder_outcome.iterations,
            passes,
            impacts,
            rung: ladder_outcome.rung,
            penetration: measured.penetration,
            joint_error: measured.joints,
            substeps: 1,
            layer_substeps: 1,
            correction: None,
        }
    }
}

/// What a contact did in the last step.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ContactReport {
    /// Which contact.
    pub id: ContactId,
    /// First body.
    pub body_a: BodyId,
    /// Second body.
    pub body_b: BodyId,
    /// Point on the second body where the constraint was linearised.
    pub point: Point3<f64>,
    /// Unit normal from the first to the second body.
    pub normal: Vector3<f64>,
    /// Gap at the end of the step, as its linearisation sees it, m; negative by as much as a compliant layer is compressed.
    pub gap: f64,
    /// Open, stick or slip.
    pub mode: ContactMode,
    /// Normal impulse p_n, N s: that of a compliant layer and of the core below it together.
    pub normal_impulse: f64,
    /// Friction impulse on the second body, world axes, N s.
    pub friction_impulse: Vector3<f64>,
    /// Torsional friction impulse on the second body about the normal, N m s.
    pub spin_impulse: f64,
    /// Velocity of the second surface along the first at the end of the step, m/s.
    pub slip: Vector3<f64>,
    /// Multiplier σ of the friction law: the slip speed as the friction set sees it, m/s.
    pub sigma: f64,
    /// What the impact law has still to give back, see [`stiction_multibody::ContactMemory::owed`].
    pub pending_restitution: f64,
    /// How its compliant layer is deflected, and the part of the impulses that the rigid core below it carried.
    pub layer: Option<LayerMemory>,
}

/// What a foot of a supported body did in the last step.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct SupportPointReport {
    /// The body that rests on it.
    pub body: BodyId,
    /// The body it presses on.
    pub on: BodyId,
    /// Its place in the list of its body.
    pub support_point: usize,
    /// Where it was where the constraints were linearised.
    pub point: Point3<f64>,
    /// Normal load, N.
    pub load: f64,
    /// Velocity of the foot along the surface at the end of the step, m/s.
    pub slip: Vector3<f64>,
    /// Angular velocity of the foot against the surface at the end of the step, rad/s.
    pub spin: f64,
    /// Stick or slip.
    pub mode: ContactMode,
    /// Friction impulse on the body, world axes, N s.
    pub friction_impulse: Vector3<f64>,
    /// Torsional friction impulse on the body about z, N m s.
    pub spin_impulse: f64,
}

/// What changed at a contact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// It closed.
    Touch,
    /// It opened.
    Separate,
    /// It stopped slipping.
    Stick,
    /// It began to slip.
    Slip,
}

impl EventKind {
    /// The name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Touch => "touch",
            Self::Separate => "separate",
            Self::Stick => "stick",
            Self::Slip => "slip",
        }
    }
}

/// A contact transition, dated at the end of the step that found it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event {
    /// End of the step, s.
    pub time: f64,
    /// What changed.
    pub kind: EventKind,
    /// Where.
    pub contact: ContactId,
}

/// A step that did not happen; the state is as it was.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("step {step} from t = {time}: {cause}")]
pub struct StepError {
    /// Number the step would have had.
    pub step: u64,
    /// Time at its start, s.
    pub time: f64,
    /// Why.
    pub cause: StepCause,
}

/// Why a step did not happen.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StepCause {
    /// Every rung of the ladder ended without a solution.
    #[error("the contact problem was not solved ({status}, residual {residual:.3e}, worst at {worst}); {hint}")]
    NotSolved {
        /// How the last rung ended.
        status: Status,
        /// Its residual.
        residual: f64,
        /// The contact, joint or body of the worst row, by name.
        worst: String,
        /// The rungs tried, in order.
        rungs: Vec<&'static str>,
        /// What to try next.
        hint: &'static str,
    },
    /// Projection did not get back onto the constraints.
    #[error(
        "positions or velocities could not be projected onto the constraints (error {residual:.3e} after {rounds} rounds, worst at {worst}); bodies may be wedged or joints contradict each other"
    )]
    NotProjected {
        /// The largest error left.
        residual: f64,
        /// Linear problems solved.
        rounds: u32,
        /// The contact or joint of the largest error, by name.
        worst: String,
    },
    /// Nothing balances the forces on a body without inertia.
    #[error(
        "the forces on {body} cannot be balanced: {force:.3e} N of {scale:.3e} N are left over; a quasistatic body needs contacts, friction or joints that hold it, or inertia (a dynamic preset)"
    )]
    NoBalance {
        /// The body with the largest force left over, by name.
        body: String,
        /// What is left over, N.
        force: f64,
        /// The largest force at work, N.
        scale: f64,
    },
    /// A step outside what a simulation allows.
    #[error("the step is {value} s, but must be from {least} to {most} s")]
    StepSize {
        /// Smallest.
        least: f64,
        /// Largest.
        most: f64,
        /// What was asked for.
        value: f64,
    },
    /// A step too short beside an earlier one: velocities stay bounded only for bounded ratios.   [STEP-14]
    #[error(
        "a step of {value} s after one of {largest} s is a ratio of {ratio}, but at most {bound} is allowed; shorten steps in a new simulation, or raise the bound"
    )]
    StepRatio {
        /// What was asked for, s.
        value: f64,
        /// The largest step so far, s.
        largest: f64,
        /// Their ratio.
        ratio: f64,
        /// The bound.
        bound: f64,
    },
    /// A step with compliant layers would have to be made in too many pieces.   [SOFT-10]
    #[error(
        "more than {most} pieces of {shortest:.1e} s in one step: the layers are too stiff for it; take smaller steps, lower `steps_per_period`, or leave it out, for layers of any stiffness are stable"
    )]
    TooManySubsteps {
        /// How many are allowed.
        most: u32,
        /// The length of one, s.
        shortest: f64,
    },
    /// A number stopped being finite.
    #[error("the {what} of {culprit} is not a finite number")]
    NonFinite {
        /// Which quantity.
        what: &'static str,
        /// Whose, by name.
        culprit: String,
    },
    /// More events, or pieces between them, in a step than the reference stepper follows.
    #[error(
        "more than {count} events or pieces in one step, the last ones at {contact}; take smaller steps, or another preset: too much happens here to follow each event"
    )]
    TooManyEvents {
        /// How many are allowed.
        count: u32,
        /// The contact of the last one, by name.
        contact: String,
    },
    /// The reference stepper found neither forces nor impulses for which the motion goes on.
    #[error("at t = {time} no motion is consistent with the laws at {contact}; step with a time-stepping scheme")]
    NoMotion {
        /// Time within the step, s.
        time: f64,
        /// A contact involved, by name.
        contact: String,
    },
    /// Shapes overlap in spite of the protective layer around them.   [STEP-16]
    #[error(
        "{pair} overlap by {overlap:.3e} m: the protective layer of {thickness} m is used up; take smaller steps, a thicker layer, or a larger gamma"
    )]
    LayerUsedUp {
        /// The two bodies, by name.
        pair: String,
        /// The thickness of the layer, m.
        thickness: f64,
        /// How far the shapes overlap, m.
        overlap: f64,
    },
    /// A velocity of the forest moves nothing that has inertia.
    #[error(
        "body \"{body}\" moves in a way that nothing with mass follows: give it mass or its joint armature, or keep the axes behind it from falling together"
    )]
    NoInertia {
        /// The body, by name.
        body: String,
    },
    /// A choice of the scheme that this way of stepping does not know.
    #[error("{0}")]
    Unsupported(&'static str),
    /// The narrow phase refused a pair of shapes.
    #[error("{0}")]
    Geometry(String),
}

impl StepCause {
    /// The same, with the names of the two bodies it is about.
    pub(crate) fn between(self, model: &Model, (a, b): (BodyId, BodyId)) -> Self {
        let name = |id: BodyId| model.body(id).map_or("?", |body| body.name.as_str());
        match self {
            Self::LayerUsedUp { thickness, overlap, .. } => {
                let pair = format!("\"{}\" and \"{}\"", name(a), name(b));
                Self::LayerUsedUp { pair, thickness, overlap }
            }
            other => other,
        }
    }

    pub(crate) fn non_finite(what: &'static str, culprit: Option<&str>) -> Self {
        Self::NonFinite {
            what,
            culprit: culprit.map_or_else(|| "the system".into(), |name| format!("body \"{name}\"")),
        }
    }
}
