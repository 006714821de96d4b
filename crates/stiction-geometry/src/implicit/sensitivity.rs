//! The derivative of the closest points with respect to the poses, from the closest-point conditions.   [IMP-10]

use nalgebra::Matrix3x6;

use super::closest::Closest;
use super::convex::Convex;
use super::kkt::{Linearised, State};
use super::pair::Pair;
use super::responses::responses;
use crate::Pose;

/// Changes of the point on A and of the normal, relative to A and in world axes, for a unit twist of B relative to A.
///
/// Columns: the linear velocity of B's material point at [`Closest::point_b`], then the angular velocity of B
/// relative to A.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sensitivity {
    /// ∂a₁.
    pub point_a: Matrix3x6<f64>,
    /// ∂n.
    pub normal: Matrix3x6<f64>,
}

/// Returns the sensitivity of a result of [`closest`](super::closest); `None` if the points are not unique (flat on
/// flat).
///
/// At a change of the active set it is the sensitivity for the functions active in `closest`.
pub fn sensitivity(a: (&Convex, &Pose), b: (&Convex, &Pose), closest: &Closest) -> Option<Sensitivity> {
    let pair = Pair::new(a, b);
    let state = State {
        a: a.1.inverse_transform_point(&closest.point_a).coords,
        b: a.1.inverse_transform_point(&closest.point_b).coords,
        gap: closest.gap,
        lambda: closest.multipliers_a,
        mu: closest.multipliers_b,
    };
    let found = Linearised::new(&pair, &state);
    let [point, normal] = responses(&pair, &found, 6)?;
    let world = a.1.rotation.matrix();
    let to_a = world.transpose();
    let in_world = |response: Matrix3x6<f64>| {
        let linear = world * response.fixed_columns::<3>(0) * to_a;
        let angular = world * response.fixed_columns::<3>(3) * to_a;
        let mut turned = Matrix3x6::zeros();
        turned.fixed_columns_mut::<3>(0).copy_from(&linear);
        turned.fixed_columns_mut::<3>(3).copy_from(&angular);
        turned
    };
    Some(Sensitivity { point_a: in_world(point), normal: in_world(normal) })
}

impl Sensitivity {
    /// Returns ∂a₂ relative to A, from a₂ = a₁ + ψ n and ∂ψ = n · v.
    pub fn point_b(&self, closest: &Closest) -> Matrix3x6<f64> {
        let mut along = Matrix3x6::zeros();
        for axis in 0..3 {
            along.set_column(axis, &(closest.normal.into_inner() * closest.normal[axis]));
        }
        self.point_a + self.normal * closest.gap + along
    }
}
