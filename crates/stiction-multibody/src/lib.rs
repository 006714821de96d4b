//! Bodies, joints, forces, state and energies of multibody systems.
//!
//! Every dynamic body has a root joint, its [`Mobility`]: a free body in space (6 dof), a planar body (3), a particle (3 or 2).
//! World velocities are twists `[v; ω]` of the centre of mass; the mobility selects the components that are unknowns.
//! The plane of planar models is z = 0 of space, so one set of formulas serves both.
//!
//! [`Model`] is the immutable description, [`State`] the plain data that varies. [`Configuration`] is scratch with the poses
//! and twists of all bodies at one state and time.

// Symbols in documentation are mathematics, bound in docs/NOTATION.md, not code.
#![allow(clippy::doc_markdown)]

mod body;
mod build;
mod check;
mod configuration;
mod contact_rule;
mod dynamics;
mod energy;
mod error;
mod force;
mod forest;
mod free_rotation;
mod ids;
mod inputs;
mod joint_coordinates;
mod kinematics;
mod layer;
mod model;
mod motion;
mod motor;
mod plate;
mod site;
mod state;
mod support;
mod totals;
mod tree_dynamics;
mod variant;

pub mod articulated;
pub mod expression;
pub mod joint;
pub mod rotation;
pub mod spatial;

pub use body::{Body, BodyBuilder, BodyKind, Filter, Mobility, ShapeOnBody};
pub use build::ModelBuilder;
pub use check::{limits, plain};
pub use configuration::Configuration;
pub use contact_rule::{ContactRule, FrictionOptions, PairRule};
pub use dynamics::{add_springs, applied_wrenches, apply_inverse_mass, external_wrenches, mass_block};
pub use energy::{energy, momentum};
pub use error::{Element, ModelError};
pub use expression::Expression;
pub use force::{Attachment, Damper, ForceCallback, Load, Spring};
pub use forest::Forest;
pub use free_rotation::mean_angular_velocity;
pub use ids::{BodyId, JointId, LinkId, ShapeId, SiteId};
pub use joint::{Joint, JointDof, JointKind};
pub use joint_coordinates::JointPlaces;
pub use layer::{Layer, LayerRule};
pub use model::{Model, OrientationUpdate, Slot, may_collide};
pub use motion::{ExpressionMotion, Motion, MotionSample};
pub use motor::{Coupling, JointDofId, Motor};
pub use plate::{Sinusoid, SinusoidalPlate};
pub use site::Site;
pub use spatial::{Twist, Wrench};
pub use state::{ContactId, ContactMemory, ContactMode, LayerMemory, State, same_bits};
pub use stiction_geometry::{Dimension, Pose};
pub use support::{
    LimitPoint, LimitSurface, PressureError, Support, SupportBuilder, SupportPoint, Tripod, dissipation,
};
pub use totals::{Energy, Momentum};
pub use tree_dynamics::TreeDynamics;
