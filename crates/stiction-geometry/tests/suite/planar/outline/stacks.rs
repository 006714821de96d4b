//! Flat on flat: ends at which both bodies have a corner count once, regardless of round-off.   [GEOM-12]

use nalgebra::Point2;
use stiction_geometry::planar::{self, Shape};
use stiction_geometry::{ContactPoint, Feature, Pose, chains};

use super::pairs::{enters, placed};
use crate::planar::oracle::mirrored;
use crate::planar::support::{Random, contacts, pose};

const GAPS: [f64; 9] = [0.0, 1e-12, -1e-12, 1e-9, -1e-9, 1e-6, -1e-6, 1e-3, -1e-3];
const TILTS: [f64; 9] = [0.0, 1e-16, -1e-16, 1e-14, -1e-14, 1e-12, -1e-12, 1e-9, -1e-9];

fn by_outline(a: &Shape, pose_a: &Pose, b: &Shape, pose_b: &Pose, margin: f64) -> Vec<ContactPoint> {
    let mut out = Vec::new();
    planar::outline_contacts((a, pose_a), (b, pose_b), margin, &mut planar::Scratch::default(), &mut out);
    out
}

fn shape(list: &[(f64, f64)]) -> Shape {
    Shape::polygon(&list.iter().map(|&(x, y)| Point2::new(x, y)).collect::<Vec<_>>()).unwrap()
}

fn corners(shape: &Shape) -> Vec<Point2<f64>> {
    match shape {
        Shape::SimplePolygon(polygon) => polygon.vertices().to_vec(),
        Shape::Box { half_extents: [x, y] } => {
            [(-x, -y), (*x, -y), (*x, *y), (-x, *y)].map(|(x, y)| Point2::new(x, y)).into()
        }
        _ => panic!("no corners"),
    }
}

/// A bridge of width 1 and height 0.6, its top and its two feet flat.
fn bridge() -> Shape {
    let corners =
        [(-0.5, -0.3), (-0.2, -0.3), (-0.2, 0.0), (0.2, 0.0), (0.2, -0.3), (0.5, -0.3), (0.5, 0.3), (-0.5, 0.3)];
    Shape::polygon(&corners.map(|(x, y)| Point2::new(x, y))).unwrap()
}

#[test]
fn bridge_on_an_equal_bridge_has_four_contacts_that_all_hold() {
    let mut random = Random(501);
    for gap in GAPS {
        for tilt in TILTS {
            for world_angle in [0.0, 0.3, -1.1, 2.5] {
                let noise = [(); 3].map(|()| random.between(-2e-16, 2e-16));
                let world = pose(random.between(-1.0, 1.0), random.between(-1.0, 1.0), world_angle);
                let upper = world * pose(noise[0], 0.6 + gap + noise[1], tilt + noise[2]);
                let found = contacts(&bridge(), &world, &bridge(), &upper, 0.01);
                let features: Vec<_> = found.iter().map(|contact| contact.feature).collect();
                // The outer corners meet in pairs; the inner ones of the feet stand on the top face.
                let expected = [(6, 5), (7, 0), (8 + 6, 1), (8 + 6, 4)].map(|(a, b)| Feature::new(a, b));
                assert_eq!(features, expected, "gap {gap:e}, tilt {tilt:e}: {found:#?}");
                assert_eq!(chains(&found).count(), 4);
                let up = world.rotation * nalgebra::Vector3::y();
                for contact in &found {
                    assert!((contact.normal.into_inner() - up).norm() < 1e-15 + 1.01 * tilt.abs());
                    assert!((contact.gap - gap).abs() < 1e-15 + 0.51 * tilt.abs(), "{contact:?}");
                }
                assert_eq!(found, mirrored(&contacts(&bridge(), &upper, &bridge(), &world, 0.01)));
            }
        }
    }
}

/// Faces that converge away from their common end: falling onto it, the two corners would pass each other between their chains.
#[test]
fn corners_that_would_pass_each_other_are_merged() {
    for tilt in [-1e-4, -1e-3] {
        for shift in [-0.4, 0.0, 0.4].map(|part| part * tilt * 0.01) {
            // Turned about its lower left corner, which is above the upper left corner of the lower bridge.
            let upper = pose(-0.5 + shift, 0.305, tilt) * pose(0.5, 0.3, 0.0);
            let found = contacts(&bridge(), &pose(0.0, 0.0, 0.0), &bridge(), &upper, 0.01);
            let left: Vec<_> = found.iter().filter(|contact| contact.point_a.x < -0.4).collect();
            assert_eq!(left.len(), 1, "tilt {tilt}, shift {shift}: {left:#?}");
            assert_eq!(left[0].feature, Feature::new(7, 0));
        }
    }
    // Faces that diverge leave no wedge, and the corners stay free to slide past each other.
    let upper = pose(-0.5 + 1e-6, 0.305, 1e-3) * pose(0.5, 0.3, 0.0);
    let found = contacts(&bridge(), &pose(0.0, 0.0, 0.0), &bridge(), &upper, 0.01);
    assert_eq!(found.iter().filter(|contact| contact.point_a.x < -0.4).count(), 4);
}

/// Flat on flat, the corner over the other's face determines the end contact, for any overlap of the faces.
#[test]
fn sliding_flat_across_an_end_keeps_one_contact_there() {
    for x in [-5e-3, -1e-9, -1e-14, 0.0, 1e-14, 1e-9, 5e-3] {
        let found = contacts(&bridge(), &pose(0.0, 0.0, 0.0), &bridge(), &pose(x, 0.6, 0.0), 0.01);
        let left: Vec<_> = found.iter().filter(|contact| contact.point_a.x < -0.4).collect();
        assert_eq!(left.len(), 1, "{left:#?}");
        assert_eq!(left[0].feature, Feature::new(7, 0));
        assert!((left[0].point_a.x - (-0.5 + x.max(0.0))).abs() < 1e-13 && left[0].gap.abs() < 1e-15);
    }
}

#[test]
fn corner_before_corner_diagonally_stays_a_choice() {
    let found = contacts(&bridge(), &pose(0.0, 0.0, 0.0), &bridge(), &pose(1.0, 0.6, 0.0), 0.01);
    assert_eq!(chains(&found).map(<[_]>::len).collect::<Vec<_>>(), [2, 2], "{found:#?}");
}

/// On flat stacks of boxes the outline kernel agrees with the convex one; only the features of tilted ends may
/// differ.
#[test]
fn both_kernels_agree_on_stacks_of_equal_boxes() {
    let block = Shape::rectangle([0.5, 0.3]).unwrap();
    for gap in GAPS {
        for tilt in TILTS {
            let (lower, upper) = (pose(0.0, 0.0, 0.0), pose(0.0, 0.6 + gap, tilt));
            let from_left = |mut found: Vec<ContactPoint>| {
                found.sort_by(|c, d| c.point_a.x.total_cmp(&d.point_a.x));
                found
            };
            let convex = from_left(contacts(&block, &lower, &block, &upper, 0.01));
            let outline = from_left(by_outline(&block, &lower, &block, &upper, 0.01));
            assert_eq!((convex.len(), outline.len()), (2, 2), "gap {gap:e}, tilt {tilt:e}: {outline:#?}");
            for (c, o) in convex.iter().zip(&outline) {
                // Where the corners do not quite meet, the convex kernel may measure at the other one.
                assert!(
                    (c.gap - o.gap).abs() < 1e-15 + tilt * tilt
                        && (c.normal.into_inner() - o.normal.into_inner()).norm() <= tilt.abs() * 1.01
                );
            }
        }
    }
}

/// On boxes that overlap in part, the binding gap of the chains is the least gap of the convex kernel.
#[test]
fn both_kernels_agree_on_the_gap_of_boxes_flat_on_each_other() {
    let (lower, upper) = (Shape::rectangle([0.5, 0.3]).unwrap(), Shape::rectangle([0.4, 0.2]).unwrap());
    for x in [-0.85, -0.3, -0.1, -0.099, 0.0, 0.1, 0.105, 0.5, 0.89] {
        for gap in [0.005, 0.0, -1e-6, -1e-3] {
            let (below, above) = (pose(0.0, 0.0, 0.0), pose(x, 0.5 + gap, 0.0));
            let convex = contacts(&lower, &below, &upper, &above, 0.01);
            let outline = by_outline(&lower, &below, &upper, &above, 0.01);
            let binding = chains(&outline).map(|chain| chain.iter().map(|c| c.gap).fold(f64::MIN, f64::max));
            let at_gap = binding.filter(|g| (g - gap).abs() < 1e-15).count();
            // While the bodies are apart, a corner just beside the end of a face is no nearer than the gap, and is reported too.
            assert!(convex.len() == 2 && (at_gap == 2 || (gap > 0.0 && at_gap == 3)), "{x} {gap}: {outline:#?}");
        }
    }
}

/// Shapes of a grid at poses of the grid, a little apart or inside and a little beside: flat ends everywhere. The chains, merged or not, hold
/// exactly while no convex corner is inside the other body, and the order of the bodies does not matter.
#[test]
fn chains_of_aligned_shapes_hold_exactly_while_no_corner_is_inside() {
    let shapes = [
        bridge(),
        shape(&[(0.0, 0.0), (1.0, 0.0), (1.0, 0.1), (0.1, 0.1), (0.1, 1.0), (0.0, 1.0)]),
        shape(&[
            (0.0, 0.0),
            (0.7, 0.0),
            (0.7, 0.5),
            (0.6, 0.5),
            (0.6, 0.1),
            (0.4, 0.1),
            (0.4, 0.5),
            (0.3, 0.5),
            (0.3, 0.1),
            (0.0, 0.1),
        ]),
        shape(&[(-0.5, -0.5), (0.5, -0.5), (0.5, 0.0), (0.0, 0.0), (0.0, 0.5), (-0.5, 0.5)]),
        Shape::rectangle([0.5, 0.05]).unwrap(),
    ];
    let mut random = Random(502);
    let (mut apart, mut entered, mut merged) = (0, 0, 0);
    for _ in 0..20_000 {
        let (a, b) = (&shapes[random.below(4)], &shapes[random.below(5)]);
        let mut coordinate = || 0.1 * random.between(-12.0, 12.0).round();
        let (x, y) = (coordinate(), coordinate());
        let angle = std::f64::consts::FRAC_PI_2 * random.between(-2.0, 2.0).round();
        let size = [1e-6, 1e-3, 0.02][random.below(3)];
        let mut noisy = |value: f64| value + size * random.between(-1.0, 1.0);
        let pose_b = pose(noisy(x), noisy(y), angle);
        let margin = [1e-4, 0.01, 0.15][random.below(3)];
        let here = pose(0.0, 0.0, 0.0);
        let (p, q) = (corners(a), placed(&corners(b), &pose_b));
        let (Some(into_a), Some(into_b)) = (enters(&q, &p), enters(&p, &q)) else { continue };
        let found = contacts(a, &here, b, &pose_b, margin);
        let holds = chains(&found).all(|chain| chain.iter().any(|contact| contact.gap >= 0.0));
        assert_eq!(holds, !(into_a || into_b), "{a:?} on {b:?} at {pose_b:?} within {margin}: {found:#?}");
        assert_eq!(found, mirrored(&contacts(b, &pose_b, a, &here, margin)));
        let is_merged =
            |c: &ContactPoint| (c.feature.0 >> 32) < p.len() as u64 && (c.feature.0 & 0xFFFF_FFFF) < q.len() as u64;
        merged += usize::from(found.iter().any(is_merged));
        if into_a || into_b { entered += 1 } else { apart += 1 }
    }
    assert!(apart > 2000 && entered > 2000 && merged > 1000, "{apart} apart, {entered} not, {merged} merged");
}
