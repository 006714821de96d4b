//! Exact simulation of multibody systems with intermittent frictional contact.
//!
//! Contacts stick, slip or separate exactly: there is no artificial contact stiffness and no regularisation parameter to tune.
//!
//! ```
//! use nalgebra::Vector2;
//! use stiction::{BodyBuilder, ContactRule, Dimension, ModelBuilder, Preset, Simulation, planar};
//!
//! let mut builder = ModelBuilder::new(Dimension::Planar);
//! builder.gravity(0.0, -9.81, 0.0)?;
//! builder.body(BodyBuilder::fixed("floor").shape(planar::Shape::half_plane(Vector2::y())?.into()))?;
//! builder.body(
//!     BodyBuilder::planar("box", 1.0, 0.1).position(0.0, 0.25, 0.0).velocity(1.0, 0.0, 0.0)
//!         .shape(planar::Shape::rectangle([0.5, 0.25])?.into()),
//! )?;
//! builder.default_contact(ContactRule { friction: 0.5, ..ContactRule::default() })?;
//!
//! let mut simulation = Simulation::new(builder.build()?, Preset::Ncp.scheme(), 0.001)?;
//! while simulation.time() < 0.5 {
//!     let report = simulation.step()?;
//!     assert!(report.residual.value < 1e-9);
//! }
//! // The box slides v²/(2 μ g) = 0.1019 m and stays at rest.
//! assert!((simulation.state().q[0] - 0.1019).abs() < 1e-3);
//! assert!(simulation.state().v[0].abs() < 1e-15);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod build_error;
mod continued;
mod dynamics;
mod energy_account;
mod inputs;
mod joints;
mod page;
mod place;
mod plate_average;
mod saved;
mod simulation;

pub mod compare;
pub mod gradient;
pub mod measure;
pub mod record;

pub use build_error::{BuildError, RestoreError};
pub use continued::ContinueError;
pub use energy_account::{EnergyAccount, STOPPING_GROWTH, WARNING_FRACTION};
pub use plate_average::{PeriodAverage, PlateAverage};
pub use simulation::Simulation;

pub use stiction_complementarity::{self as complementarity, interrupt};
pub use stiction_geometry::{self as geometry, Dimension, Pose, Shape, planar, spatial};
pub use stiction_multibody::{
    self as multibody, BodyBuilder, BodyId, BodyKind, Configuration, ContactId, ContactMode, ContactRule, Coupling,
    Damper, Energy, Expression, Filter, ForceCallback, Forest, JointDof, JointDofId, JointId, JointKind, Layer,
    LayerMemory, LayerRule, LimitSurface, Load, Model, ModelBuilder, ModelError, Motion, Motor, OrientationUpdate,
    ShapeId, Site, SiteId, Spring, State, Support, SupportBuilder, SupportPoint, TreeDynamics, Tripod, Twist, Wrench,
};
pub use stiction_scene::{self as scene, Scene, SceneError};
pub use stiction_schemes::{self as schemes, MoreauJean, ReferenceStepper};
pub use stiction_sensitivity as sensitivity;
pub use stiction_stepping::{
    self as stepping, ClosingSpeed, ContactReport, Coordinates, CornerLogic, Correction, Culprit, Dynamics,
    EnergyBound, Event, EventKind, FrictionSet, Impact, ImpactReport, ImpulsePoints, Infeasibility, Ladder,
    LineariseAt, Manifold, Margin, Method, OnUnsolved, Order, PositionUpdate, PrescribedSlip, Preset, Residuals, Rung,
    Scheme, Solving, Stabilisation, StartImpact, StepCause, StepEnergy, StepError, StepProblem, StepReport, Stepper,
    Substeps, SupportPointReport, TimeStepper, Undetermined, Uniqueness, VelocityTerms,
};
