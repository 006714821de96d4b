//! Motion of coordinates by velocities.

use nalgebra::{UnitQuaternion, Vector3};

use crate::{
    Mobility, Model,
    rotation::{self, quaternion_of},
};

impl Model {
    /// q⁺ = q ⊕ h v: positions and planar angles add, quaternions turn on the group.   [STEP-5]
    pub fn integrate(&self, q: &[f64], v: &[f64], h: f64, update: OrientationUpdate, out: &mut Vec<f64>) {
        out.clear();
        out.extend_from_slice(q);
        for (body, slot) in self.bodies.iter().zip(&self.layout) {
            let Some(mobility) = body.mobility() else { continue };
            let (Some(x), Some(rate)) = (out.get_mut(slot.q.clone()), v.get(slot.v.clone())) else {
                debug_assert!(false, "q or v is shorter than the layout of the model");
                continue;
            };
            let translating = if mobility == Mobility::Free { 3 } else { x.len() };
            x.iter_mut().zip(rate).take(translating).for_each(|(x, rate)| *x += h * rate);
            if let (Mobility::Free, [_, _, _, wx, wy, wz]) = (mobility, rate) {
                let omega = Vector3::new(*wx, *wy, *wz);
                let e = update.turn(&quaternion_of(x), &omega, h);
                [e.w, e.i, e.j, e.k].iter().zip(x.iter_mut().skip(3)).for_each(|(e, x)| *x = *e);
            }
        }
    }
}

/// Update rule of orientations in space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OrientationUpdate {
    /// Exponential map on the rotation group: exact for constant angular velocity.
    #[default]
    Exponential,
    /// Explicit Euler step of the quaternion, renormalised; for comparison.
    Euler,
}

impl OrientationUpdate {
    fn turn(self, e: &UnitQuaternion<f64>, omega: &Vector3<f64>, h: f64) -> UnitQuaternion<f64> {
        match self {
            Self::Exponential => rotation::turn(e, omega, h),
            Self::Euler => rotation::turn_euler(e, omega, h),
        }
    }
}
