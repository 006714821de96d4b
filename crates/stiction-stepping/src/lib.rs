//! Contact laws and time-stepping schemes: the only crate that combines mechanics *and* complementarity.
//!
//! A step consists of stages from a [`Start`] into the values of a [`Workspace`]. [`detect`] finds the contacts within reach. [`assemble`]
//! lists the [`Constraints`] and formulates the complementarity problem [STEP-1..4]. The [`Ladder`] solves it. [`TimeStepper`] reviews the
//! solution: it accepts it, and [`advance`] computes the next state, or it makes one [`Change`] and solves again.
//!
//! The default is Stewart and Trinkle's scheme \[Stewart1996\] with polygonal friction. The weight γ of gaps and joint errors gives
//! Anitescu and Potra's velocity-level scheme \[Anitescu1997\] at 0 and the stabilised one of \[Anitescu2004\] in between.

// Doc comments contain symbols such as λ_app, which are mathematics and not code.
#![allow(clippy::doc_markdown)]

mod advance;
mod alternatives;
mod assembly;
mod baumgarte;
mod closable;
mod closing;
mod constraints;
mod contact;
mod contact_rows;
mod corners;
mod culprit;
mod detect;
mod detector;
mod energy_bound;
mod energy_values;
mod forest;
mod formulation;
mod impact;
mod implicit;
mod joint_space;
mod joint_space_dof;
mod ladder;
mod layers;
mod layout;
mod linkage_energies;
mod loop_energy;
mod measure;
mod pairs;
mod protective_layer;
mod quasistatic;
mod rates;
mod reactions;
mod reduced;
mod remembered;
mod report;
mod review;
mod rows;
mod shape_pair;
mod slack;
mod springs;
mod stabilise;
mod start;
mod start_impact;
mod step;
mod step_energy;
mod substepping;
mod support_points;
mod surface;
mod surface_motion;
mod sweep;
mod tangents;
mod velocity_terms;
mod workspace;

pub use advance::advance;
pub use assembly::StepProblem;
pub use closable::{UnclosableJoints, check_closable};
pub use constraints::Constraints;
pub use contact::{Contact, ContactImpulse, SupportPointContact};
pub use culprit::Culprit;
pub use detect::{detect, prepare};
pub use detector::{Detector, FeatureDetector};
pub use energy_bound::{EnergyBound, energy_bound};
pub use energy_values::StepEnergy;
pub use forest::adopt;
pub use formulation::assemble;
pub use ladder::{Ladder, Rung};
pub use layout::{Layout, RowMeaning};
pub use measure::{Infeasibility, infeasibility};
pub use protective_layer::ProtectiveLayer;
pub use quasistatic::{Uniqueness, uniqueness};
pub use rates::JointRow;
pub use reactions::joint_impulses;
pub use report::{
    ContactReport, Correction, Event, EventKind, ImpactReport, StepCause, StepError, StepReport, SupportPointReport,
};
pub use review::{Change, Changes};
pub use start::{Acceptance, Kick, Start};
pub use start_impact::{StartImpact, adopt_start};
pub use step::{Stepper, TimeStepper};
pub use stiction_options::{
    ClosingSpeed, Coordinates, CornerLogic, Dynamics, FrictionSet, Impact, ImpulsePoints, LineariseAt, Manifold,
    Margin, Method, OnUnsolved, Order, PositionUpdate, PrescribedSlip, Preset, Residuals, Scheme, SchemeError, Solving,
    Stabilisation, Substeps, Undetermined, VelocityTerms,
};
pub use substepping::Substepping;
pub use workspace::{Solution, StepKinematics, StepResult, Workspace};

/// Stages of a step and their parts, for steppers beside [`TimeStepper`].
pub mod stages {
    pub use crate::advance::{advance, remember_contacts};
    pub use crate::alternatives::Alternatives;
    pub use crate::assembly::MixedAssembly;
    pub use crate::detect::{detect, prepare};
    pub use crate::formulation::{assemble, assemble_rows, choose_directions, solve};
    pub use crate::ladder::LadderOutcome;
    pub use crate::measure::{joint_error, penetration};
    pub use crate::pairs::{find_pairs_at_end, place_shapes};
    pub use crate::rates::{JointSpaceRow, RowOwner, Side, approach};
    pub use crate::rows::write as write_rows;
    pub use crate::stabilise::{leave_closing, stabilise};
    pub use crate::step::report_step;
    pub use crate::step_energy::step_energy;
    pub use crate::surface::Penetrations;
    pub use crate::tangents::{first_tangent, ignores_first_direction, tangents};
    pub use crate::velocity_terms::{add_weighted as add_velocity_terms, keep_momentum, turn_fast_bodies};
    pub use crate::workspace::Detection;
}

#[cfg(test)]
mod tests;
