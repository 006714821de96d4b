//! Ten thousand pairs of every kind: separated, touching and overlapping.

use nalgebra::Vector3;
use stiction_geometry::implicit::{Closest, Convex, Scratch, closest};
use stiction_geometry::{Pose, Shape};

use super::support::{Random, certificate, cold};

/// Largest accepted violation of the closest-point conditions.
const TOLERANCE: f64 = 1e-10;

struct Sample {
    shapes: [Shape; 2],
    poses: [Pose; 2],
}

/// Shapes up to a hundred times different in size; then B is moved along the normal to the wanted gap.
fn sample(random: &mut Random) -> Option<Sample> {
    let is_planar = random.index(2) == 0;
    let sizes = [random.size(0.1, 10.0), random.size(0.1, 10.0)];
    let a = if random.index(8) == 0 { random.half_space(is_planar) } else { random.shape(is_planar, sizes[0]) };
    let b = random.shape(is_planar, sizes[1]);
    if a.name() == "point" && b.name() == "point" {
        return None;
    }
    let away = random.unit(is_planar) * (sizes[0] + sizes[1]) * random.uniform(1.0, 3.0);
    let pose_a = random.pose(is_planar, Vector3::zeros());
    let mut pose_b = random.pose(is_planar, away);
    let (convex_a, convex_b) = (a.convex().unwrap(), b.convex().unwrap());
    let apart = cold((&convex_a, &pose_a), (&convex_b, &pose_b));
    let smaller = sizes[0].min(sizes[1]);
    let thin = thinnest(&convex_a, &a).min(thinnest(&convex_b, &b));
    let gap = match random.index(4) {
        0 => return Some(Sample { shapes: [a, b], poses: [pose_a, pose_b] }),
        1 => smaller * random.size(1e-6, 1.0),
        2 => 0.0,
        _ => -thin * random.size(1e-6, 0.2),
    };
    pose_b.translation.vector += apart.normal.into_inner() * (gap - apart.gap);
    Some(Sample { shapes: [a, b], poses: [pose_a, pose_b] })
}

/// Depth of the origin.
fn thinnest(convex: &Convex, shape: &Shape) -> f64 {
    if shape.radius_bound().is_none() {
        return f64::INFINITY;
    }
    let depths = (0..convex.functions()).map(|k| -convex.jet(k, &nalgebra::Point3::origin()).value);
    depths.fold(f64::INFINITY, f64::min).max(0.0)
}

#[test]
fn ten_thousand_pairs() {
    let mut random = Random(1);
    let mut scratch = Scratch::default();
    let mut failures = Vec::new();
    let mut tested = 0;
    let mut last: Option<Closest> = None;
    while tested < 10_000 {
        let Some(Sample { shapes, poses }) = sample(&mut random) else { continue };
        tested += 1;
        let [a, b] = [0, 1].map(|k| shapes[k].convex().unwrap());
        let (a, b) = ((&a, &poses[0]), (&b, &poses[1]));
        let found = closest(a, b, None, &mut scratch);
        let again = closest(a, b, last.as_ref(), &mut scratch);
        for (result, how) in [(&found, "cold"), (&again, "from garbage")] {
            let violation = certificate(a, b, result);
            if violation > TOLERANCE {
                let [a, b] = [shapes[0].name(), shapes[1].name()];
                failures.push(format!("{tested} {how}: {a} {b}: {violation:e}, gap {:e}", result.gap));
            }
        }
        last = Some(found);
    }
    assert!(failures.is_empty(), "{} failures: {failures:#?}", failures.len());
}

/// Random poses at any depth: the result is still a certified pair of opposite points.
#[test]
fn deep_overlaps_are_solved() {
    let mut random = Random(2);
    let mut scratch = Scratch::default();
    let mut tested = 0;
    while tested < 3000 {
        let is_planar = random.index(2) == 0;
        let sizes = [random.size(0.3, 3.0), random.size(0.3, 3.0)];
        let [a, b] = sizes.map(|size| random.shape(is_planar, size));
        if a.name() == "point" && b.name() == "point" {
            continue;
        }
        tested += 1;
        let away = random.unit(is_planar) * (sizes[0] + sizes[1]) * random.uniform(0.0, 0.6);
        let poses = [random.pose(is_planar, Vector3::zeros()), random.pose(is_planar, away)];
        let [a_convex, b_convex] = [a.convex().unwrap(), b.convex().unwrap()];
        let (in_a, in_b) = ((&a_convex, &poses[0]), (&b_convex, &poses[1]));
        let found = closest(in_a, in_b, None, &mut scratch);
        let violation = certificate(in_a, in_b, &found);
        assert!(violation <= TOLERANCE, "{} {}: {violation:e}, gap {:e}", a.name(), b.name(), found.gap);
    }
}

/// NaN and infinite inputs cause neither a panic nor an endless loop.
#[test]
fn nonsense_is_survived() {
    let mut random = Random(3);
    let mut scratch = Scratch::default();
    for bad in [f64::NAN, f64::INFINITY, 1e300, 1e-300] {
        for round in 0..40 {
            let is_planar = round % 2 == 0;
            let [a, b] =
                [random.shape(is_planar, 1.0), random.shape(is_planar, 1.0)].map(|shape| shape.convex().unwrap());
            let pose_a = random.pose(is_planar, Vector3::zeros());
            let pose_b = random.pose(is_planar, Vector3::new(bad, 0.0, 0.0));
            let found = closest((&a, &pose_a), (&b, &pose_b), None, &mut scratch);
            assert!(found.residual >= 0.0);
            let again = closest((&a, &pose_a), (&b, &pose_a), Some(&found), &mut scratch);
            assert!(again.residual >= 0.0);
        }
    }
}
