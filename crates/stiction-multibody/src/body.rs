//! Bodies: kind, inertia, shapes and initial state.

use std::sync::Arc;

use nalgebra::{Matrix3, UnitQuaternion, Vector3};
use stiction_geometry::{Pose, Shape, implicit::Convex};

use crate::{Expression, Layer, Motion, Support, Twist, Wrench};

/// The root joint of a dynamic body: which components of its twist are unknowns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mobility {
    /// A particle in the plane: x, y.
    PlanarParticle,
    /// A body in the plane: x, y, angle.
    Planar,
    /// A particle in space: x, y, z.
    Particle,
    /// A free body in space: position and unit quaternion (w, x, y, z); velocity [v; ω].
    Free,
}

impl Mobility {
    /// Number of velocity unknowns.
    pub fn dof(self) -> usize {
        match self {
            Self::PlanarParticle => 2,
            Self::Planar | Self::Particle => 3,
            Self::Free => 6,
        }
    }

    /// Number of configuration coordinates.
    pub fn coordinates(self) -> usize {
        if self == Self::Free { 7 } else { self.dof() }
    }

    /// True if the body has an orientation.
    pub fn turns(self) -> bool {
        matches!(self, Self::Planar | Self::Free)
    }

    /// ν = S v: the twist of a body with these velocities; zero for a list of another length.   [DYN-2]
    #[inline]
    pub fn twist(self, v: &[f64]) -> Twist {
        let (linear, angular) = match (self, v) {
            (Self::PlanarParticle, &[x, y]) => ([x, y, 0.0], [0.0; 3]),
            (Self::Planar, &[x, y, w]) => ([x, y, 0.0], [0.0, 0.0, w]),
            (Self::Particle, &[x, y, z]) => ([x, y, z], [0.0; 3]),
            (Self::Free, &[x, y, z, wx, wy, wz]) => ([x, y, z], [wx, wy, wz]),
            _ => return Twist::default(),
        };
        Twist { linear: linear.into(), angular: angular.into() }
    }

    /// Writes the velocities Sᵀ ν of a body with this twist (the columns of S are orthonormal); nothing into a list of another
    /// length.   [DYN-2]
    #[inline]
    pub fn write_velocities(self, twist: &Twist, v: &mut [f64]) {
        let (linear, angular) = (&twist.linear, &twist.angular);
        match (self, v) {
            (Self::PlanarParticle, [x, y]) => (*x, *y) = (linear.x, linear.y),
            (Self::Planar, [x, y, w]) => (*x, *y, *w) = (linear.x, linear.y, angular.z),
            (Self::Particle, [x, y, z]) => (*x, *y, *z) = (linear.x, linear.y, linear.z),
            (Self::Free, [x, y, z, wx, wy, wz]) => {
                (*x, *y, *z) = (linear.x, linear.y, linear.z);
                (*wx, *wy, *wz) = (angular.x, angular.y, angular.z);
            }
            _ => {}
        }
    }

    /// Sᵀ w: the components of a wrench that do work on this body; the rest is zero.   [DYN-1]
    #[inline]
    pub fn project(self, w: &Wrench) -> [f64; 6] {
        let (f, t) = (&w.linear, &w.angular);
        match self {
            Self::PlanarParticle => [f.x, f.y, 0.0, 0.0, 0.0, 0.0],
            Self::Planar => [f.x, f.y, t.z, 0.0, 0.0, 0.0],
            Self::Particle => [f.x, f.y, f.z, 0.0, 0.0, 0.0],
            Self::Free => [f.x, f.y, f.z, t.x, t.y, t.z],
        }
    }
}

/// Kind of motion of a body.
#[derive(Clone, Debug)]
pub enum BodyKind {
    /// Immobile.
    Fixed,
    /// A prescribed function of time.
    Kinematic(Arc<dyn Motion>),
    /// The equations of motion.
    Dynamic {
        /// Its root joint.
        mobility: Mobility,
        /// Mass, kg.
        mass: f64,
        /// Inertia about the centre of mass in body axes, kg m². In the plane only the zz entry counts.
        inertia: Matrix3<f64>,
    },
}

/// Collision filter. Two shapes may touch if a group of one is among the groups that the other meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filter {
    /// The groups a shape belongs to, one bit each.
    pub groups: u32,
    /// The groups it meets, one bit each.
    pub meets: u32,
}

impl Default for Filter {
    fn default() -> Self {
        Self { groups: 1, meets: 1 }
    }
}

impl Filter {
    /// True if two shapes with these filters may touch.
    pub fn meets(&self, other: &Self) -> bool {
        self.groups & other.meets != 0 || other.groups & self.meets != 0
    }
}

/// A collision shape placed on a body.
#[derive(Clone, Debug)]
pub struct ShapeOnBody {
    /// The shape.
    pub shape: Shape,
    /// Its pose in the body frame.
    pub local: Pose,
    /// Its collision filter.
    pub filter: Filter,
    /// The shape as an intersection of convex functions; none for a non-convex polygon.
    convex: Option<Convex>,
}

impl ShapeOnBody {
    /// A shape at a pose in the body frame.
    pub fn new(shape: Shape, local: Pose) -> Self {
        let convex = shape.convex();
        Self { shape, local, filter: Filter::default(), convex }
    }

    /// The shape as an intersection of convex functions; none for a non-convex polygon.
    pub fn convex(&self) -> Option<&Convex> {
        self.convex.as_ref()
    }

    /// Radius of a ball about the reference point of the body that contains the shape, m; none for unbounded shapes.
    pub fn radius(&self) -> Option<f64> {
        Some(self.shape.radius_bound()? + self.local.translation.vector.norm())
    }
}

/// A body of a [`crate::Model`].
#[derive(Clone, Debug)]
pub struct Body {
    /// Unique name.
    pub name: String,
    /// Kind of its motion.
    pub kind: BodyKind,
    /// Initial position (of the centre of mass of a dynamic body).
    pub position: Vector3<f64>,
    /// Initial orientation.
    pub orientation: UnitQuaternion<f64>,
    /// Initial angle of a planar body, which counts full turns (the orientation cannot).
    pub angle: f64,
    /// Initial velocity of the centre of mass.
    pub linear_velocity: Vector3<f64>,
    /// Initial angular velocity.
    pub angular_velocity: Vector3<f64>,
    /// Collision shapes.
    pub shapes: Vec<ShapeOnBody>,
    /// Velocity of the surface relative to the body (a conveyor belt), in world axes, as functions of time.
    pub surface_velocity: Option<[Expression; 3]>,
    /// Its support in a planar model; see [`crate::ModelBuilder::support`].
    pub support: Option<Support>,
    /// Its compliant layer.
    pub layer: Option<Layer>,
}

impl Body {
    /// The root joint, for dynamic bodies.
    #[inline]
    pub fn mobility(&self) -> Option<Mobility> {
        match self.kind {
            BodyKind::Dynamic { mobility, .. } => Some(mobility),
            BodyKind::Fixed | BodyKind::Kinematic(_) => None,
        }
    }

    /// Radius of a ball about the reference point that contains all its bounded shapes, m.
    pub fn radius(&self) -> f64 {
        self.shapes.iter().filter_map(ShapeOnBody::radius).fold(0.0, f64::max)
    }

    /// Mass of a dynamic body.
    #[inline]
    pub fn mass(&self) -> Option<f64> {
        match self.kind {
            BodyKind::Dynamic { mass, .. } => Some(mass),
            BodyKind::Fixed | BodyKind::Kinematic(_) => None,
        }
    }
}

/// A body to be added with [`crate::ModelBuilder::body`]. Everything not set is zero, identity or absent.
#[derive(Clone, Debug)]
pub struct BodyBuilder {
    pub(crate) body: Body,
    pub(crate) requested: RequestedKind,
    pub(crate) quaternion: Option<[f64; 4]>,
}

/// Requested kind of a body; numbers are checked when it is added to the model.
#[derive(Clone, Debug)]
pub(crate) enum RequestedKind {
    Fixed,
    Kinematic(Arc<dyn Motion>),
    Rigid { mass: f64, inertia: Matrix3<f64> },
    Particle { mass: f64 },
    Frame,
}

impl BodyBuilder {
    fn new(name: impl Into<String>, requested: RequestedKind) -> Self {
        let body = Body {
            name: name.into(),
            kind: BodyKind::Fixed,
            position: Vector3::zeros(),
            orientation: UnitQuaternion::identity(),
            angle: 0.0,
            linear_velocity: Vector3::zeros(),
            angular_velocity: Vector3::zeros(),
            shapes: Vec::new(),
            surface_velocity: None,
            support: None,
            layer: None,
        };
        Self { body, requested, quaternion: None }
    }

    /// A fixed body (an obstacle).
    pub fn fixed(name: impl Into<String>) -> Self {
        Self::new(name, RequestedKind::Fixed)
    }

    /// A body whose pose is a function of time.
    pub fn kinematic(name: impl Into<String>, motion: Arc<dyn Motion>) -> Self {
        Self::new(name, RequestedKind::Kinematic(motion))
    }

    /// A rigid body in the plane; `inertia` about its centre of mass, kg m².
    pub fn planar(name: impl Into<String>, mass: f64, inertia: f64) -> Self {
        Self::new(name, RequestedKind::Rigid { mass, inertia: Matrix3::from_diagonal_element(inertia) })
    }

    /// A rigid body in space; `inertia` about its centre of mass in body axes, kg m².
    pub fn rigid(name: impl Into<String>, mass: f64, inertia: Matrix3<f64>) -> Self {
        Self::new(name, RequestedKind::Rigid { mass, inertia })
    }

    /// A point mass without orientation, in the plane or in space.
    pub fn particle(name: impl Into<String>, mass: f64) -> Self {
        Self::new(name, RequestedKind::Particle { mass })
    }

    /// A massless frame between two joints in series, for reduced coordinates.
    pub fn frame(name: impl Into<String>) -> Self {
        Self::new(name, RequestedKind::Frame)
    }

    /// Initial position; the third component is zero in the plane.
    pub fn position(mut self, x: f64, y: f64, z: f64) -> Self {
        self.body.position = Vector3::new(x, y, z);
        self
    }

    /// Initial angle in the plane, rad.
    pub fn angle(mut self, angle: f64) -> Self {
        self.body.angle = angle;
        self
    }

    /// Initial orientation in space as a quaternion `[w, x, y, z]`, normalised if its norm is almost one.
    pub fn quaternion(mut self, wxyz: [f64; 4]) -> Self {
        self.quaternion = Some(wxyz);
        self
    }

    /// Initial velocity of the centre of mass.
    pub fn velocity(mut self, x: f64, y: f64, z: f64) -> Self {
        self.body.linear_velocity = Vector3::new(x, y, z);
        self
    }

    /// Initial angular velocity; in the plane only the z component.
    pub fn angular_velocity(mut self, x: f64, y: f64, z: f64) -> Self {
        self.body.angular_velocity = Vector3::new(x, y, z);
        self
    }

    /// Adds a collision shape in the body frame.
    pub fn shape(self, shape: Shape) -> Self {
        self.shape_at(shape, Pose::identity())
    }

    /// Adds a collision shape at a pose in the body frame.
    pub fn shape_at(mut self, shape: Shape, local: Pose) -> Self {
        self.body.shapes.push(ShapeOnBody::new(shape, local));
        self
    }

    /// Adds a collision shape with a filter.
    pub fn shape_among(mut self, shape: Shape, local: Pose, filter: Filter) -> Self {
        self.body.shapes.push(ShapeOnBody { filter, ..ShapeOnBody::new(shape, local) });
        self
    }

    /// Sets its compliant layer.
    pub fn layer(mut self, layer: Layer) -> Self {
        self.body.layer = Some(layer);
        self
    }

    /// Sets the velocity of the surface relative to the body, as of a conveyor belt, in world axes (functions of time).
    pub fn conveyor(mut self, velocity: [Expression; 3]) -> Self {
        self.body.surface_velocity = Some(velocity);
        self
    }
}
