//! Trees of links in reduced coordinates: the algorithms of rigid-body dynamics, one per file
//! (docs/theory/articulated.md).
//!
//! A [`Tree`] is the immutable description; (q, v) are slices of its lengths. [`Kinematics`] holds the quantities that depend on
//! them, [`ArticulatedFactors`] and [`LtlFactor`] two factorisations of the mass matrix, [`Scratch`] the work space of the sweeps.
//! Nothing allocates after construction.
//!
//! [`divide`] computes the same accelerations and responses by the divide-and-conquer algorithm.
//!
//! All spatial vectors are linear first, in world axes about the origin of their link. Between links only the origin changes,
//! and the accuracy does not depend on the distance of the tree from the origin of the world.

mod aba;
mod algebra;
mod branch;
mod crba;
mod elementary;
mod energy;
mod inertia;
mod jacobian;
mod joint;
mod kinematics;
mod ltl;
mod momentum;
mod response;
mod rnea;
mod root_momentum;
mod scratch;
mod series;
mod symmetric;
mod tree;

pub mod divide;

pub use aba::{ArticulatedFactors, TreeForces, forward_dynamics, weighted_forward_dynamics};
pub use branch::BranchMatrix;
pub use crba::mass_matrix;
pub use energy::energy;
pub use inertia::RigidInertia;
pub use jacobian::{add_wrench, point_jacobian, wrench_row};
pub use joint::{MAX_VELOCITIES, TreeJoint};
pub use kinematics::Kinematics;
pub use ltl::LtlFactor;
pub use momentum::momentum;
pub use response::{
    coupling, half_response, half_response_at, half_response_of_row, half_responses, impulse_response, outward_response,
};
pub use rnea::inverse_dynamics;
pub use root_momentum::{Root, Trees};
pub use scratch::Scratch;
pub use series::{ElementaryMotion, Series};
pub use tree::{Link, LinkSpec, Tree, TreeBuilder};

/// Error of a mass matrix that is not positive definite: a velocity without inertia.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("velocity {velocity} of the tree moves nothing that has inertia: give its link mass or its joint armature")]
pub struct SingularInertia {
    /// The velocity at fault; [`Tree::link_of`] gives its link.
    pub velocity: usize,
}
