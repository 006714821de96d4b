//! Results of a step: report, contacts and events, or the cause of failure.

use nalgebra::{Point3, Vector3};
use stiction_complementarity::{Residual, Status, interrupt};
use stiction_multibody::{BodyId, ContactId, ContactMode, LayerMemory, Model};

use crate::{Changes, Culprit, StepEnergy};

/// Report of a completed step.
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use = "the report contains the residual of the step"]
pub struct StepReport {
    /// Number of the step, from 1.
    pub step: u64,
    /// Time at its end, s.
    pub time: f64,
    /// Contacts within reach in the step or in a part of it, which are those with a [`ContactReport`].
    pub contacts: usize,
    /// Unknowns of the mixed problem, velocities included.
    pub problem_size: usize,
    /// Residual of its solution, by the natural map of the problem.
    pub residual: Residual,
    /// Status of the solve: `Solved` within the aimed residual, `SolvedLoosely` within that which the scheme refuses. Others occur only with
    /// [`OnUnsolved::Accept`](crate::OnUnsolved::Accept).
    pub status: Status,
    /// Constraint of the worst row, if the step is not `Solved`.
    pub worst: Option<Culprit>,
    /// Iterations (pivots for Lemke's method), of all passes.
    pub iterations: u32,
    /// Number of times the problem was assembled and solved: once, and again for missed contacts or the fixed-point iteration.
    pub passes: u32,
    /// Reasons for the passes after the first.
    pub changes: Changes,
    /// Number of contacts hit: they closed with an impulse, or restitution is pending. The step does not separate several impacts in
    /// time.
    pub impacts: usize,
    /// Rung of the ladder that solved it.
    pub rung: &'static str,
    /// Overlap by which jammed contacts were eased, m; zero if the step had a solution without, as usual.   [EXIST-1]
    pub slack: f64,
    /// Deepest penetration at the end of the step, m.
    pub penetration: f64,
    /// Largest joint error at the end of the step.
    pub joint_error: f64,
    /// Number of substeps: one, and more if the step was halved or substepped.   [STEP-13]
    pub substeps: u32,
    /// Number of substeps for compliant layers; if fewer than `substeps`, some were halved.   [SOFT-10]
    pub layer_substeps: u32,
    /// Correction by stabilisation after the step; none if it acts within the step.
    pub correction: Option<Correction>,
    /// Account of the kinetic energy of the step.   [ENERGY-5]
    pub energy: StepEnergy,
}

/// Correction of positions and velocities by stabilisation after a step.   [STAB-5]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Correction {
    /// Number of linear problems solved.
    pub rounds: u32,
    /// Largest remaining error in the corrected quantities, m, m/s or dimensionless.
    pub residual: f64,
    /// Mechanical energy added, J; negative if removed.
    pub energy: f64,
}

/// Contact in the last step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactReport {
    /// Id of the contact.
    pub id: ContactId,
    /// First body.
    pub body_a: BodyId,
    /// Second body.
    pub body_b: BodyId,
    /// Point on the second body where the constraint was linearised.
    pub point: Point3<f64>,
    /// Unit normal from the first to the second body.
    pub normal: Vector3<f64>,
    /// Gap at the end of the step by its linearisation, m; with a compliant layer it is negative by its compression.
    pub gap: f64,
    /// Open, stick or slip in the last part of the step, which is the whole step unless it was divided. A contact that ended in an earlier part, or in an
    /// impact before the step, is open and has the impulses of the whole step.
    pub mode: ContactMode,
    /// Normal impulse p_n, N s: that of a compliant layer and of the core below it together.
    pub normal_impulse: f64,
    /// Friction impulse on the second body, world axes, N s.
    pub friction_impulse: Vector3<f64>,
    /// Torsional friction impulse on the second body about the normal, N m s.
    pub spin_impulse: f64,
    /// Moment of rolling friction on the second body, world axes, N m s.
    pub rolling_impulse: Vector3<f64>,
    /// Velocity of the second surface along the first at the end of the step, m/s.
    pub slip: Vector3<f64>,
    /// Multiplier σ of the friction law: the slip speed as the friction set sees it, m/s.
    pub sigma: f64,
    /// Normal velocity (m/s, negative) that the impact law has still to return, see [`stiction_multibody::ContactMemory::pending_restitution`].
    pub pending_restitution: f64,
    /// Deflection of its compliant layer, and the impulses of the rigid core below it.
    pub layer: Option<LayerMemory>,
}

/// Support point in the last step.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct SupportPointReport {
    /// Body that rests on it.
    pub body: BodyId,
    /// Body that it presses on.
    pub on: BodyId,
    /// Index in the list of its body.
    pub support_point: usize,
    /// Position where the constraints were linearised, m.
    pub point: Point3<f64>,
    /// Normal load, N.
    pub load: f64,
    /// Velocity of the support point along the surface at the end of the step, m/s.
    pub slip: Vector3<f64>,
    /// Angular velocity of the support point against the surface at the end of the step, rad/s.
    pub spin: f64,
    /// Stick or slip.
    pub mode: ContactMode,
    /// Friction impulse on the body, world axes, N s.
    pub friction_impulse: Vector3<f64>,
    /// Torsional friction impulse on the body about z, N m s.
    pub spin_impulse: f64,
}

/// Kind of a contact transition.
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
    /// Name in files.
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
    /// Kind of the transition.
    pub kind: EventKind,
    /// Contact of the transition.
    pub contact: ContactId,
}

/// Failed step; the state is unchanged.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("step {step} from t = {time}: {cause}")]
pub struct StepError {
    /// Number of the step.
    pub step: u64,
    /// Time at its start, s.
    pub time: f64,
    /// Cause of the failure.
    pub cause: StepCause,
}

/// Cause of a failed step.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StepCause {
    /// Every rung of the ladder ended without a solution.
    #[error("the problem of the step was not solved ({status}, residual {residual:.3e}, worst at {worst}); {hint}")]
    NotSolved {
        /// Status of the last rung.
        status: Status,
        /// Residual of the last rung.
        residual: f64,
        /// Name of the contact, joint or body of the worst row.
        worst: String,
        /// Rungs of the ladder of the step that were tried, in order; `friction` is itself a ladder of methods.
        rungs: Vec<&'static str>,
        /// Advice to the user.
        hint: &'static str,
    },
    /// No motion keeps contacts from overlapping more than is accepted.   [EXIST-1]
    #[error(
        "bodies are jammed: contacts would have to overlap by {overlap:.3e} m, more than {allowed:.3e} m, and press hardest at {contact}; a smaller step helps unless prescribed motions, or bodies placed into each other, force them together"
    )]
    Jammed {
        /// Smallest overlap with which the step has a solution, m.
        overlap: f64,
        /// Largest overlap that is accepted, m.
        allowed: f64,
        /// Contact with the largest impulse.
        contact: String,
    },
    /// Projection did not converge to the constraints.
    #[error(
        "positions or velocities could not be projected onto the constraints (error {residual:.3e} after {rounds} rounds, worst at {worst}); look for wedged bodies and contradictory joints"
    )]
    NotProjected {
        /// Largest remaining error.
        residual: f64,
        /// Number of linear problems solved.
        rounds: u32,
        /// Name of the contact or joint with the largest error.
        worst: String,
    },
    /// No contact or joint balances the forces on a body without inertia.
    #[error(
        "the forces on {body} cannot be balanced: {force:.3e} N of {scale:.3e} N remain; a quasistatic body needs contacts, friction or joints that hold it, or inertia (a dynamic preset)"
    )]
    NoBalance {
        /// Name of the body with the largest unbalanced force.
        body: String,
        /// Unbalanced force, N.
        force: f64,
        /// Largest force in the balance, N.
        scale: f64,
    },
    /// Step size outside the limits of the simulation.
    #[error("the step is {value} s, but must be from {least} to {most} s")]
    StepSize {
        /// Smallest.
        least: f64,
        /// Largest.
        most: f64,
        /// Requested step size, s.
        value: f64,
    },
    /// Step too short compared with an earlier one: velocities stay bounded only for bounded ratios.   [STEP-14]
    #[error(
        "a step of {value} s after one of {largest} s is a ratio of {ratio}, but at most {bound} is allowed; shorten steps in a new simulation, or raise the bound"
    )]
    StepRatio {
        /// Requested step size, s.
        value: f64,
        /// Largest step so far, s.
        largest: f64,
        /// Their ratio.
        ratio: f64,
        /// Bound of the ratio.
        bound: f64,
    },
    /// Step with compliant layers that would need too many substeps.   [SOFT-10]
    #[error(
        "more than {most} substeps of {shortest:.1e} s in one step: the layers are too stiff for this step size; take smaller steps, or lower `steps_per_period` or leave it out (layers of any stiffness are stable)"
    )]
    TooManySubsteps {
        /// Largest number allowed.
        most: u32,
        /// Length of one substep, s.
        shortest: f64,
    },
    /// Stepper without steps of second order.   [STEP-18]
    #[error("this stepper has no steps of second order; use `order = 1`")]
    FirstOrder,
    /// Value that is not finite.
    #[error("the {what} of {culprit} is not a finite number")]
    NonFinite {
        /// Quantity.
        what: &'static str,
        /// Name of its body or motor.
        culprit: String,
    },
    /// More events, or intervals between them, in a step than the reference stepper follows.
    #[error(
        "more than {count} events or intervals in one step, the last ones at {contact}; take smaller steps, or use a time-stepping preset, which does not resolve single events"
    )]
    TooManyEvents {
        /// Largest number allowed.
        count: u32,
        /// Name of the contact of the last event.
        contact: String,
    },
    /// The reference stepper found neither forces nor impulses that continue the motion.
    #[error("at t = {time} no motion is consistent with the laws at {contact}; use a time-stepping preset")]
    NoMotion {
        /// Time within the step, s.
        time: f64,
        /// Name of a contact involved.
        contact: String,
    },
    /// Shapes overlap despite the protective layer around them.   [STEP-16]
    #[error(
        "{pair} overlap by {overlap:.3e} m: the protective layer of {thickness} m is used up; take smaller steps, a thicker layer, or a larger gamma"
    )]
    LayerUsedUp {
        /// Names of the two bodies.
        pair: String,
        /// Thickness of the layer, m.
        thickness: f64,
        /// Overlap of the shapes, m.
        overlap: f64,
    },
    /// Velocity of the forest that moves nothing with inertia.
    #[error(
        "body \"{body}\" moves in a way that nothing with mass follows: give it mass or its joint armature, or prevent the joint axes behind it from coinciding"
    )]
    NoInertia {
        /// Name of the body.
        body: String,
    },
    /// Kinetic energy that grew although nothing does work.   [ENERGY-7]
    #[error(
        "the energy grows without a source: the kinetic energy is {kinetic:.3e} J, of which the start, forces, motors, restitution and removed overlaps explain {explained:.3e} J; most of it is in body \"{body}\"; {hint}"
    )]
    EnergyGrew {
        /// Name of the body with the largest kinetic energy.
        body: String,
        /// Kinetic energy at the end of the step, J.
        kinetic: f64,
        /// Kinetic energy of the start and the absolute work over the run, J.
        explained: f64,
        /// Advice to the user.
        hint: &'static str,
    },
    /// The caller asked the step to end early.
    #[error("interrupted")]
    Interrupted,
    /// Option of the scheme that this stepper does not support.
    #[error("{0}")]
    Unsupported(&'static str),
    /// Pair of shapes that the narrow phase does not support.
    #[error("{0}")]
    Geometry(String),
}

impl StepCause {
    /// Returns the error [`Self::Interrupted`] if the [`Interrupt`](stiction_complementarity::interrupt::Interrupt) around the step is requested.
    pub fn if_interrupted() -> Result<(), Self> {
        if interrupt::is_requested() { Err(Self::Interrupted) } else { Ok(()) }
    }

    /// Cause with the names of the two bodies involved.
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

    /// A quantity of a step that is not finite, and the body it belongs to if that is known.
    pub fn non_finite(what: &'static str, culprit: Option<&str>) -> Self {
        Self::NonFinite {
            what,
            culprit: culprit.map_or_else(|| "the system".into(), |name| format!("body \"{name}\"")),
        }
    }
}

/// Impact at a contact.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ImpactReport {
    /// Id of the contact.
    pub id: ContactId,
    /// First body.
    pub body_a: BodyId,
    /// Second body.
    pub body_b: BodyId,
    /// Point on the second body.
    pub point: Point3<f64>,
    /// Unit normal from the first to the second body.
    pub normal: Vector3<f64>,
    /// Gap at the start of the step, m.
    pub gap: f64,
    /// Normal impulse of compression, N s.
    pub compression: f64,
    /// Normal impulse of decompression, N s.
    pub decompression: f64,
    /// Friction impulse of both on the second body, world axes, N s.
    pub friction_impulse: Vector3<f64>,
    /// Torsional friction impulse of both on the second body about the normal, N m s.
    pub spin_impulse: f64,
}
