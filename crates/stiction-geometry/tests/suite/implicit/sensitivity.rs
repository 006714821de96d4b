//! The motion of closest points against differences, and the gradient of the gap as the wrench of the normal.

use nalgebra::{Matrix3x6, Vector3, Vector6};
use stiction_geometry::implicit::{Closest, Convex, Scratch, closest, sensitivity};
use stiction_geometry::{Pose, Shape};

use super::support::{Random, cold};

/// B after a small motion: `twist` is the velocity of its material point at `about` and its angular velocity.
fn moved(pose: &Pose, about: &nalgebra::Point3<f64>, twist: &Vector6<f64>, by: f64) -> Pose {
    let (v, w) = (twist.fixed_rows::<3>(0) * by, twist.fixed_rows::<3>(3) * by);
    let turn = nalgebra::Rotation3::from_scaled_axis(w);
    let arm = pose.translation.vector - about.coords;
    Pose::from_parts((about.coords + turn * arm + v).into(), turn * pose.rotation)
}

/// Shapes whose closest points move smoothly: curved, or corners that stay corners.
fn pair(random: &mut Random, is_planar: bool) -> (Shape, Shape, Pose, Pose) {
    let [a, b] = [random.size(0.5, 2.0), random.size(0.5, 2.0)].map(|size| random.shape(is_planar, size));
    let pose_a = random.pose(is_planar, Vector3::zeros());
    let away = random.unit(is_planar) * random.uniform(1.5, 5.0);
    let pose_b = random.pose(is_planar, away);
    (a, b, pose_a, pose_b)
}

fn is_same_set(p: &Closest, q: &Closest) -> bool {
    let set = |m: &stiction_geometry::implicit::Multipliers| {
        let mut numbers: Vec<_> = m.iter().map(|(k, _)| k).collect();
        numbers.sort_unstable();
        numbers
    };
    set(&p.multipliers_a) == set(&q.multipliers_a) && set(&p.multipliers_b) == set(&q.multipliers_b)
}

#[test]
fn is_the_difference_of_solutions() {
    let mut random = Random(31);
    let mut compared = 0;
    let step = 1e-5;
    for round in 0..1500 {
        let is_planar = round % 2 == 0;
        let (a, b, pose_a, pose_b) = pair(&mut random, is_planar);
        if a.name() == "point" && b.name() == "point" {
            continue;
        }
        let (a, b) = (a.convex().unwrap(), b.convex().unwrap());
        let found = cold((&a, &pose_a), (&b, &pose_b));
        let Some(predicted) = sensitivity((&a, &pose_a), (&b, &pose_b), &found) else { continue };
        let axes: &[usize] = if is_planar { &[0, 1, 5] } else { &[0, 1, 2, 3, 4, 5] };
        if let Some([point, normal, on_b]) = differences((&a, &pose_a), (&b, &pose_b), &found, axes, step) {
            let scale = 1.0 + predicted.point_a.amax() + predicted.normal.amax();
            // For rapidly changing curvature, differences are meaningless.
            if scale > 30.0 {
                continue;
            }
            for &k in axes {
                let what = format!("{a:?} {b:?} {k} {found:?}");
                assert!((point.column(k) - predicted.point_a.column(k)).amax() < 2e-4 * scale * scale, "{what}");
                assert!((normal.column(k) - predicted.normal.column(k)).amax() < 2e-4 * scale * scale, "{what}");
                assert!((on_b.column(k) - predicted.point_b(&found).column(k)).amax() < 2e-4 * scale * scale, "{what}");
            }
            compared += 1;
        }
    }
    assert!(compared > 500, "{compared}");
}

/// Central differences of the point on A, the normal and the point on B; none where the active functions change.
fn differences(
    a: (&Convex, &Pose),
    b: (&Convex, &Pose),
    found: &Closest,
    axes: &[usize],
    step: f64,
) -> Option<[Matrix3x6<f64>; 3]> {
    let mut scratch = Scratch::default();
    let mut result = [Matrix3x6::zeros(); 3];
    for &k in axes {
        let mut twist = Vector6::zeros();
        twist[k] = 1.0;
        let mut at = |by: f64| closest(a, (b.0, &moved(b.1, &found.point_b, &twist, by)), Some(found), &mut scratch);
        let (after, before) = (at(step), at(-step));
        if !(is_same_set(&after, found) && is_same_set(&before, found)) || after.residual.max(before.residual) > 1e-10 {
            return None;
        }
        result[0].set_column(k, &((after.point_a - before.point_a) / (2.0 * step)));
        result[1].set_column(k, &((after.normal.into_inner() - before.normal.into_inner()) / (2.0 * step)));
        result[2].set_column(k, &((after.point_b - before.point_b) / (2.0 * step)));
    }
    Some(result)
}

/// ∂ψ = n · v for the material point of B at the contact: rotations about it change nothing.
#[test]
fn gradient_of_the_gap_is_the_wrench_of_the_normal() {
    let mut random = Random(32);
    let step = 1e-6;
    let mut compared = 0;
    for round in 0..600 {
        let is_planar = round % 2 == 0;
        let (a, b, pose_a, pose_b) = pair(&mut random, is_planar);
        if a.name() == "point" && b.name() == "point" {
            continue;
        }
        let (a, b) = (a.convex().unwrap(), b.convex().unwrap());
        let found = cold((&a, &pose_a), (&b, &pose_b));
        if found.gap <= 0.01 {
            continue;
        }
        for k in if is_planar { vec![0, 1, 5] } else { vec![0, 1, 2, 3, 4, 5] } {
            let mut twist = Vector6::zeros();
            twist[k] = 1.0;
            let gap = |by: f64| cold((&a, &pose_a), (&b, &moved(&pose_b, &found.point_b, &twist, by))).gap;
            let rate = (gap(step) - gap(-step)) / (2.0 * step);
            let expected = if k < 3 { found.normal[k] } else { 0.0 };
            // Corners turn the normal by step / gap within the difference.
            assert!((rate - expected).abs() < 1e-6 + 4.0 * step / found.gap, "{a:?} {b:?} {k}: {rate} {expected}");
        }
        compared += 1;
    }
    assert!(compared > 200, "{compared}");
}

#[test]
fn flat_on_flat_has_none() {
    let cube: Shape = stiction_geometry::spatial::Shape::cuboid([1.0, 1.0, 1.0]).unwrap().into();
    let convex = cube.convex().unwrap();
    let (below, above) = (Pose::identity(), Pose::translation(0.3, 0.2, 2.5));
    let found = cold((&convex, &below), (&convex, &above));
    assert!((found.gap - 0.5).abs() < 1e-12 && found.residual < 1e-10 && !found.unique, "{found:?}");
    assert!(sensitivity((&convex, &below), (&convex, &above), &found).is_none());
}

/// A particle on the ground with its axes along those of the ground: one function suffices for balance, but not to
/// fix the point.
#[test]
fn a_point_does_not_slide_on_itself() {
    let ground: Shape = stiction_geometry::spatial::Shape::half_space(Vector3::z()).unwrap().into();
    let point: Shape = stiction_geometry::spatial::Shape::point().into();
    let (ground, point) = (ground.convex().unwrap(), point.convex().unwrap());
    for height in [0.5, 0.0, -0.1] {
        let at = Pose::translation(3.0, 2.0, height);
        let found = cold((&ground, &Pose::identity()), (&point, &at));
        assert!((found.gap - height).abs() < 1e-13 && found.unique && found.residual < 1e-12, "{found:?}");
        let moved = sensitivity((&ground, &Pose::identity()), (&point, &at), &found).unwrap();
        let mut expected = Matrix3x6::zeros();
        (expected[(0, 0)], expected[(1, 1)]) = (1.0, 1.0);
        assert!((moved.point_a - expected).amax() < 1e-12 && moved.normal.amax() < 1e-12, "{moved:?}");
    }
}
