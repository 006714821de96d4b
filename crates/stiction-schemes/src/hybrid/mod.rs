//! Steps of a tree of links with contacts by divide and conquer: the hybrid scheme of Bhalerao, Anderson and Trinkle
//! \[Bhalerao2009\].
//!
//! The tree is assembled to its root. There remains a complementarity problem in the velocities of two handles and the impulses of the
//! contacts, of the same size for two links and for a thousand. [`RootEquations`] holds the numbers and writes the problem in each of its
//! forms, and [`HybridStepper`] makes steps with it. The equations are in `docs/theory/divide.md`.

mod error;
mod friction;
mod mixed;
mod reduced;
mod root;
mod step;

use nalgebra::Vector3;
use stiction_complementarity::OptionError;
use stiction_multibody::LinkId;

pub use error::HybridError;
pub use root::{RootEquations, RootExtent};
pub use step::{ContactStep, HybridReport, HybridState, HybridStepper};

/// A point of a link above a fixed plane n · x = offset.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlaneContact {
    /// The link.
    pub link: LinkId,
    /// The point in the link frame, m.
    pub point: Vector3<f64>,
    /// Unit normal of the plane, towards the free side.
    pub normal: Vector3<f64>,
    /// Height of the plane along its normal, m.
    pub offset: f64,
    /// Friction coefficient μ ≥ 0.
    pub friction: f64,
    /// Newton's coefficient of restitution ε ∈ [0, 1].
    pub restitution: f64,
}

/// The form in which the contacts of a step are solved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum HybridForm {
    /// Mixed problem in the velocities of the two terminal handles and the impulses: 12 + Ξ (2 + η) unknowns.   [DCA-12]
    Terminal,
    /// The same with the velocities of the bodies in contact appended, 6 more for each.   [DCA-13]
    Appended,
    /// Impulses alone: Ξ (2 + η) unknowns.   [DCA-14]
    #[default]
    Reduced,
    /// Impulses alone, with the second-order cone.   [DCA-15]
    Cone,
}

/// Choices of a [`HybridStepper`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HybridOptions {
    /// The form of the problem.
    pub form: HybridForm,
    /// Directions η of the friction polygon, even; [`HybridForm::Cone`] does not need them.
    pub directions: usize,
}

impl Default for HybridOptions {
    fn default() -> Self {
        Self { form: HybridForm::default(), directions: 8 }
    }
}

impl HybridOptions {
    /// Checks every number.
    pub fn validate(&self) -> Result<(), OptionError> {
        if self.directions < 4 || !self.directions.is_multiple_of(2) {
            return Err(OptionError { name: "directions", value: self.directions as f64, range: "{4, 6, 8, …}" });
        }
        Ok(())
    }
}
