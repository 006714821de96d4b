//! Gradients of runs: derivatives of states with respect to parameters of the scene and the initial state.
//!
//! ```text
//! unknowns   values of a scene by path, and components of the initial state
//! run        forward sensitivities: ∂x/∂unknowns, step by step                 [GRAD-7]
//! adjoint    gradient of a sum over the steps, from the end to the start       [GRAD-8]
//! ```
//!
//! ```
//! use stiction::gradient::{GradientRun, Unknown};
//! let text = stiction::scene::text_of("../../scenes/sliding_box.toml", &Default::default())?.text;
//! let unknowns = [Unknown::value("contact_default.friction", 0.4)];
//! let mut run = GradientRun::new(&text, "sliding_box.toml", &unknowns)?;
//! for _ in 0..100 {
//!     run.step()?;
//! }
//! // The velocity of the sliding box decreases by g t per unit of friction.
//! let t = run.simulation().time();
//! assert!((run.velocities()[(0, 0)] + 9.81 * t).abs() < 1e-6);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod adjoint;
mod run;
mod unknowns;

pub use adjoint::{Adjoint, Tape};
pub use run::{GradientError, GradientRun};
pub use unknowns::{Unknown, Variants};

pub use stiction_sensitivity::{Clearance, SensitivityError, SensitivityOptions, StepDerivative, displacement};
