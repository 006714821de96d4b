//! Names and order of the coordinates and velocities of a body.

use nalgebra::UnitQuaternion;
use serde::{Deserialize, Serialize};
use stiction_multibody::{Body, BodyKind, Dimension, Mobility, Model, State};

/// Kind of motion of a recorded body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Never moves; its pose is in the list of bodies.
    Fixed,
    /// Moves as a given function of time.
    Kinematic,
    /// A particle in the plane.
    PlanarParticle,
    /// A rigid body in the plane.
    Planar,
    /// A particle in space.
    Particle,
    /// A rigid body in space.
    Free,
}

impl Role {
    pub(crate) fn of(body: &Body) -> Self {
        match &body.kind {
            BodyKind::Fixed => Self::Fixed,
            BodyKind::Kinematic(_) => Self::Kinematic,
            BodyKind::Dynamic { mobility, .. } => match mobility {
                Mobility::PlanarParticle => Self::PlanarParticle,
                Mobility::Planar => Self::Planar,
                Mobility::Particle => Self::Particle,
                Mobility::Free => Self::Free,
            },
        }
    }

    /// True if the body contributes to q and v of the state.
    pub(crate) fn has_unknowns(self) -> bool {
        !matches!(self, Self::Fixed | Self::Kinematic)
    }

    /// Names of its coordinates.
    pub(crate) fn coordinates(self, dimension: Dimension) -> &'static [&'static str] {
        match (self, dimension) {
            (Self::Fixed, _) => &[],
            (Self::PlanarParticle, _) => &["x", "y"],
            (Self::Planar, _) | (Self::Kinematic, Dimension::Planar) => &["x", "y", "angle"],
            (Self::Particle, _) => &["x", "y", "z"],
            (Self::Free, _) | (Self::Kinematic, Dimension::Spatial) => &["x", "y", "z", "qw", "qx", "qy", "qz"],
        }
    }

    /// Names of its velocities: world axes, of the centre of mass.
    pub(crate) fn velocities(self, dimension: Dimension) -> &'static [&'static str] {
        match (self, dimension) {
            (Self::Fixed, _) => &[],
            (Self::PlanarParticle, _) => &["vx", "vy"],
            (Self::Planar, _) | (Self::Kinematic, Dimension::Planar) => &["vx", "vy", "wz"],
            (Self::Particle, _) => &["vx", "vy", "vz"],
            (Self::Free, _) | (Self::Kinematic, Dimension::Spatial) => &["vx", "vy", "vz", "wx", "wy", "wz"],
        }
    }
}

/// Coordinates and velocities of one body at one moment.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sample {
    pub(crate) q: Vec<f64>,
    pub(crate) v: Vec<f64>,
}

impl Sample {
    /// Fills in body number `index` of the model; empty for fixed bodies.
    pub(crate) fn take(&mut self, model: &Model, index: usize, state: &State) {
        self.q.clear();
        self.v.clear();
        let (Some(body), Some(slot)) = (model.bodies().get(index), model.layout().get(index)) else { return };
        match &body.kind {
            BodyKind::Fixed => {}
            BodyKind::Dynamic { .. } => {
                self.q.extend_from_slice(state.q.get(slot.q.clone()).unwrap_or_default());
                self.v.extend_from_slice(state.v.get(slot.v.clone()).unwrap_or_default());
            }
            BodyKind::Kinematic(motion) => {
                let at = motion.at(state.time);
                let (p, v, w) = (&at.position, &at.twist.linear, &at.twist.angular);
                if model.dimension() == Dimension::Planar {
                    self.q.extend([p.x, p.y, at.angle]);
                    self.v.extend([v.x, v.y, w.z]);
                } else {
                    self.q.extend([p.x, p.y, p.z]);
                    self.q.extend(w_first(&at.orientation));
                    self.v.extend([v.x, v.y, v.z, w.x, w.y, w.z]);
                }
            }
        }
    }
}

/// Quaternion in the order of files: w, x, y, z.
pub(crate) fn w_first(e: &UnitQuaternion<f64>) -> [f64; 4] {
    [e.w, e.i, e.j, e.k]
}
