//! How far a configuration violates its constraints.

use stiction_geometry::{ContactPoint, Scratch, contacts};
use stiction_multibody::{Configuration, Model};

use crate::StepCause;

/// I(q) of a configuration: penetration and joint error.   [STEP-9]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Infeasibility {
    /// Deepest penetration max(0, −ψ), m.
    pub penetration: f64,
    /// Largest |Φ| over all joint rows.
    pub joints: f64,
}

impl Infeasibility {
    /// The larger of the two.
    pub fn total(&self) -> f64 {
        self.penetration.max(self.joints)
    }
}

/// Measures the infeasibility at a configuration, looking for penetration among `pairs` of shapes.
pub fn infeasibility(
    model: &Model,
    at: &Configuration,
    pairs: &[(usize, usize)],
    scratch: (&mut Scratch, &mut Vec<ContactPoint>),
) -> Result<Infeasibility, StepCause> {
    let (scratch, points) = scratch;
    let mut measured = Infeasibility::default();
    for joint in model.joints() {
        for row in joint.evaluate(at) {
            measured.joints = measured.joints.max(row.value.abs());
        }
    }
    for &(i, j) in pairs {
        let (Some((_, a, shape_a)), Some((_, b, shape_b))) = (model.shape(i), model.shape(j)) else { continue };
        points.clear();
        let (pose_a, pose_b) = (at.pose(a) * shape_a.local, at.pose(b) * shape_b.local);
        contacts(&shape_a.shape, &pose_a, &shape_b.shape, &pose_b, 0.0, scratch, points)
            .map_err(|unsupported| StepCause::Geometry(unsupported.to_string()))?;
        for point in points.iter() {
            measured.penetration = measured.penetration.max(-point.gap);
        }
    }
    Ok(measured)
}
