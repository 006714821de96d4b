//! Contact laws and time-stepping schemes: the only place that knows mechanics *and* complementarity.
//!
//! A step is four functions from a [`Start`] into a [`Workspace`]: [`detect`] finds the contacts within reach, [`assemble`] writes
//! the mixed linear complementarity problem [STEP-1..4], the [`Ladder`] solves it, [`advance`] makes the next state.
//!
//! Stewart and Trinkle's scheme \[Stewart1996\] with polygonal friction; the weight γ of gaps and joint errors gives
//! Anitescu and Potra's velocity-level scheme \[Anitescu1997\] at 0 and the stabilised one of \[Anitescu2004\] in between.

// Doc comments here are full of symbols such as λ_app, which are mathematics and not code.
#![allow(clippy::doc_markdown)]

mod advance;
mod assemble;
mod contact;
mod detect;
mod directions;
mod ladder;
mod layout;
mod measure;
mod report;
mod scheme;
mod workspace;

pub use advance::advance;
pub use assemble::assemble;
pub use contact::Contact;
pub use detect::detect;
pub use ladder::{Ladder, Rung};
pub use layout::{Layout, RowMeaning};
pub use measure::{Infeasibility, infeasibility};
pub use report::{ContactReport, Event, EventKind, StepCause, StepError, StepReport};
pub use scheme::{LineariseAt, Margin, PrescribedSlip, Preset, Scheme, SchemeError};
pub use workspace::{Start, Workspace};
