//! Joints: subspaces, their rates and integration, by finite differences of transforms.

use nalgebra::Vector3;
use stiction_multibody::{
    Pose, Twist,
    articulated::{ElementaryMotion, Series, TreeJoint},
    rotation::to_rotation_vector,
};
use stiction_testkit::Random;

use super::all_joints;

fn columns(joint: &TreeJoint, q: &[f64]) -> Vec<Twist> {
    let mut columns = vec![Twist::default(); joint.velocities()];
    joint.motion_subspace(q, &joint.transform(q), &mut columns);
    columns
}

fn random_state(random: &mut Random, joint: &TreeJoint) -> (Vec<f64>, Vec<f64>) {
    let mut q = vec![0.0; joint.coordinates()];
    joint.write_neutral(&mut q);
    let v: Vec<f64> = (0..joint.velocities()).map(|_| random.uniform(-1.5, 1.5)).collect();
    joint.integrate(&mut q, &v, 1.0);
    (q, (0..joint.velocities()).map(|_| random.uniform(-1.5, 1.5)).collect())
}

fn moved(joint: &TreeJoint, q: &[f64], v: &[f64], h: f64) -> Vec<f64> {
    let mut q = q.to_vec();
    joint.integrate(&mut q, v, h);
    q
}

/// Twist of the motion from one pose to another over `time`, in axes and about the origin of the middle one.
fn twist_between(from: &Pose, middle: &Pose, to: &Pose, time: f64) -> Twist {
    let turn = from.rotation.inverse() * to.rotation;
    let shift: Vector3<f64> = to.translation.vector - from.translation.vector;
    Twist {
        linear: middle.rotation.inverse() * shift / time,
        angular: to_rotation_vector(&nalgebra::UnitQuaternion::from_rotation_matrix(&turn)) / time,
    }
}

fn sum(columns: &[Twist], v: &[f64]) -> Twist {
    columns.iter().zip(v).fold(Twist::default(), |sum, (column, v)| Twist {
        linear: sum.linear + column.linear * *v,
        angular: sum.angular + column.angular * *v,
    })
}

fn gap(a: &Twist, b: &Twist) -> f64 {
    (a.linear - b.linear).amax().max((a.angular - b.angular).amax())
}

/// JNT, ART-2: S v is the velocity of the link frame, by differences of the transform.
#[test]
fn subspace_is_the_derivative_of_the_transform() {
    let mut random = Random::new(701);
    for _ in 0..50 {
        for joint in all_joints(&mut random) {
            let (q, v) = random_state(&mut random, &joint);
            let h = 1e-5;
            let pose_at = |h: f64| joint.transform(&moved(&joint, &q, &v, h));
            let measured = twist_between(&pose_at(-h), &pose_at(0.0), &pose_at(h), 2.0 * h);
            let error = gap(&measured, &sum(&columns(&joint, &q), &v));
            assert!(error < 1e-8, "{joint:?}: {error}");
        }
    }
}

/// ART-3: S̊ v is the derivative of S relative to the link, times v.
#[test]
fn subspace_rate_is_the_derivative_of_the_subspace() {
    let mut random = Random::new(702);
    for _ in 0..50 {
        for joint in all_joints(&mut random) {
            let (q, v) = random_state(&mut random, &joint);
            let h = 1e-5;
            let twist_at = |h: f64| sum(&columns(&joint, &moved(&joint, &q, &v, h)), &v);
            let (before, after) = (twist_at(-h), twist_at(h));
            let measured = Twist {
                linear: (after.linear - before.linear) / (2.0 * h),
                angular: (after.angular - before.angular) / (2.0 * h),
            };
            let error = gap(&measured, &joint.subspace_rate(&columns(&joint, &q), &v).unwrap_or_default());
            assert!(error < 1e-8, "{joint:?}: {error}");
        }
    }
}

/// ART-4: difference and integration are inverse to each other.
#[test]
fn difference_is_the_inverse_of_integration() {
    let mut random = Random::new(703);
    for _ in 0..50 {
        for joint in all_joints(&mut random) {
            let (q, v) = random_state(&mut random, &joint);
            let mut back = vec![0.0; joint.velocities()];
            joint.difference(&q, &moved(&joint, &q, &v, 1.0), &mut back);
            assert!(v.iter().zip(&back).all(|(v, back)| (v - back).abs() < 1e-13), "{joint:?}");
        }
    }
}

/// ART-1: coordinates are those of the transform, and the columns of a series are orthonormal.
#[test]
fn series_read_what_they_write() {
    let mut random = Random::new(704);
    for _ in 0..50 {
        for joint in all_joints(&mut random) {
            let TreeJoint::Series(_) = joint else { continue };
            let (q, _) = random_state(&mut random, &joint);
            let mut read = vec![0.0; q.len()];
            joint.write_coordinates(&joint.transform(&q), &mut read);
            assert!(q.iter().zip(&read).all(|(q, read)| (q - read).abs() < 1e-14), "{joint:?}: {q:?}, {read:?}");
            let columns = columns(&joint, &q);
            for (i, a) in columns.iter().enumerate() {
                for (j, b) in columns.iter().enumerate() {
                    let product = a.linear.dot(&b.linear) + a.angular.dot(&b.angular);
                    assert!((product - f64::from(u8::from(i == j))).abs() < 1e-14, "{joint:?}: {i}, {j}");
                }
            }
        }
    }
}

/// FOREST-2: the inverse of a series has the inverse transform, coordinates in the reverse order.
#[test]
fn inverse_series() {
    use ElementaryMotion::{Slide, Turn};
    let new = |motions: &[ElementaryMotion]| Series::new(motions.iter().copied());
    for motions in [vec![Slide(1), Turn(1)], vec![Turn(0), Turn(1)], vec![Slide(2), Slide(0)], vec![Turn(2)]] {
        let series = new(&motions).unwrap();
        let q: Vec<f64> = (0..motions.len()).map(|k| 0.3 + k as f64).collect();
        let back: Vec<f64> = q.iter().rev().copied().collect();
        let there = TreeJoint::Series(series).transform(&q);
        let product = there * TreeJoint::Series(series.inverse().unwrap()).transform(&back);
        assert!((product.to_homogeneous() - nalgebra::Matrix4::identity()).amax() < 1e-15, "{motions:?}");
    }
    // The inverse would have translations along axes that turn.
    assert_eq!(new(&[Slide(0), Turn(2)]).unwrap().inverse(), None);
    for wrong in [vec![Slide(3)], vec![Turn(0), Turn(0)], vec![Turn(0), Turn(1), Turn(2)]] {
        assert_eq!(new(&wrong), None, "{wrong:?}");
    }
}
