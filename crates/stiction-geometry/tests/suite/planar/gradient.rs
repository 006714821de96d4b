//! The gradient of every gap with respect to both poses is the wrench of its normal: `∇ψ = W_n`.

use nalgebra::{Vector2, Vector3};
use stiction_geometry::planar::Shape;
use stiction_geometry::{ContactPoint, Pose};

use super::support::{Random, bounded_pairs, bounded_shapes, contacts, pose};

const STEP: f64 = 1e-6;

/// The pose after a small displacement: translation, and rotation about the body's origin.
fn displaced(at: &Pose, [x, y, angle]: [f64; 3]) -> Pose {
    let turn = pose(0.0, 0.0, angle);
    Pose::from_parts((at.translation.vector + Vector3::new(x, y, 0.0)).into(), turn.rotation * at.rotation)
}

/// The wrench of the normal at the contact about the body's origin, as (force, moment).
fn wrench(contact: &ContactPoint, at: &Pose, sign: f64) -> [f64; 3] {
    let n = contact.normal.into_inner() * sign;
    let r = contact.point_b.coords - at.translation.vector;
    [n.x, n.y, r.x * n.y - r.y * n.x]
}

/// Central differences of the gap of one feature; none where the feature changes within the step.
fn differences(contact: &ContactPoint, gaps: impl Fn([f64; 3]) -> Vec<ContactPoint>) -> Option<[f64; 3]> {
    let gap = |step: [f64; 3]| gaps(step).iter().find(|c| c.feature == contact.feature).map(|c| c.gap);
    let mut gradient = [0.0; 3];
    for k in 0..3 {
        let mut step = [0.0; 3];
        step[k] = STEP;
        gradient[k] = (gap(step)? - gap(step.map(|x| -x))?) / (2.0 * STEP);
    }
    Some(gradient)
}

/// Returns the numbers of contacts that were checked and of those that changed their feature within the step.
///
/// `wider` is the margin of the displaced poses: contacts at the margin must not be lost.
pub(super) fn check(a: &Shape, b: &Shape, pose_a: &Pose, pose_b: &Pose, wider: f64) -> (usize, usize) {
    let (mut checked, mut changed) = (0, 0);
    for contact in contacts(a, pose_a, b, pose_b, 0.4).iter().filter(|c| c.normal_is_unique) {
        let of_a = differences(contact, |step| contacts(a, &displaced(pose_a, step), b, pose_b, wider));
        let of_b = differences(contact, |step| contacts(a, pose_a, b, &displaced(pose_b, step), wider));
        let (Some(of_a), Some(of_b)) = (of_a, of_b) else {
            changed += 1;
            continue;
        };
        checked += 1;
        for (found, expected) in [(of_a, wrench(contact, pose_a, -1.0)), (of_b, wrench(contact, pose_b, 1.0))] {
            for k in 0..3 {
                let error = (found[k] - expected[k]).abs();
                assert!(error < 1e-7, "{} on {}: {found:?}, not {expected:?}: {contact:?}", a.name(), b.name());
            }
        }
    }
    (checked, changed)
}

#[test]
fn gradient_of_the_gap_is_the_wrench_of_the_normal() {
    let mut random = Random(11);
    let mut pairs = bounded_pairs();
    let mut on_ground = bounded_shapes();
    on_ground.push(Shape::ellipse([0.8, 0.5]).unwrap());
    let ground = Shape::half_plane(Vector2::new(-0.2, 1.0)).unwrap();
    pairs.extend(on_ground.into_iter().map(|shape| (ground.clone(), shape)));
    for (a, b) in pairs {
        let (mut checked, mut changed) = (0, 0);
        for _ in 0..60 {
            let (now, lost) = check(&a, &b, &random.pose(0.8), &random.pose(0.8), 0.5);
            checked += now;
            changed += lost;
        }
        assert!(checked >= 20, "{} on {}: only {checked} contacts", a.name(), b.name());
        assert!(changed <= 2, "{} on {}: {changed} of {checked} features changed", a.name(), b.name());
    }
}

#[test]
fn gradient_holds_for_both_ends_of_a_slightly_tilted_box() {
    let (floor, block) = (Shape::rectangle([1.0, 0.2]).unwrap(), Shape::rectangle([0.5, 0.5]).unwrap());
    for tilt in [0.0, 1e-3, -1e-2, 0.1] {
        let (checked, changed) = check(&floor, &block, &pose(0.0, 0.0, 0.0), &pose(0.1, 0.72, tilt), 0.5);
        assert_eq!((checked, changed), (2, 0), "tilt {tilt}");
    }
}
