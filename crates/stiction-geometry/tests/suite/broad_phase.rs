//! The tree and the all-pairs loop find the same pairs.

use nalgebra::{Point3, Vector3};
use stiction_geometry::{
    Pose, Shape,
    broad_phase::{Aabb, BroadPhase},
    planar, spatial,
};

use crate::planar::support::Random;

fn random_box(random: &mut Random, reach: f64) -> Aabb {
    let min = Point3::new(random.between(-reach, reach), random.between(-reach, reach), random.between(-1.0, 1.0));
    let side = random.between(0.1, 2.0);
    Aabb { min, max: Point3::new(min.x + side, min.y + side, min.z + side) }
}

fn brute_force(proxies: &[Option<Aabb>], keep: impl Fn(usize, usize) -> bool) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    for i in 0..proxies.len() {
        for j in i + 1..proxies.len() {
            let close = match (&proxies[i], &proxies[j]) {
                (Some(a), Some(b)) => (0..3).all(|k| a.min[k] <= b.max[k] && b.min[k] <= a.max[k]),
                _ => true,
            };
            if close && keep(i, j) {
                pairs.push((i, j));
            }
        }
    }
    pairs
}

#[test]
fn every_count_of_proxies_gives_the_brute_force_list() {
    let mut random = Random(41);
    let mut broad_phase = BroadPhase::default();
    let mut found = Vec::new();
    let mut total = 0;
    for count in [0, 1, 2, 3, 31, 32, 33, 34, 35, 100, 33, 300, 5] {
        // Several rounds with the same count move the leaves of an existing tree.
        for _ in 0..6 {
            let proxies: Vec<_> =
                (0..count).map(|_| (random.unit() > 0.03).then(|| random_box(&mut random, 6.0))).collect();
            let keep = |i: usize, j: usize| !(i * 7 + j).is_multiple_of(5);
            broad_phase.pairs(&proxies, keep, &mut found);
            assert_eq!(found, brute_force(&proxies, keep), "{count} proxies");
            total += found.len();
        }
    }
    assert!(total > 1000);
}

#[test]
fn a_tree_that_has_moved_for_long_still_finds_every_pair() {
    let mut random = Random(42);
    let mut broad_phase = BroadPhase::default();
    let mut found = Vec::new();
    let mut boxes: Vec<_> = (0..200).map(|_| random_box(&mut random, 10.0)).collect();
    for _ in 0..200 {
        for aabb in &mut boxes {
            let by = nalgebra::Vector3::new(random.between(-0.3, 0.3), random.between(-0.3, 0.3), 0.0);
            aabb.min += by;
            aabb.max += by;
        }
        let proxies: Vec<_> = boxes.iter().copied().map(Some).collect();
        broad_phase.pairs(&proxies, |_, _| true, &mut found);
        assert_eq!(found, brute_force(&proxies, |_, _| true));
    }
}

#[test]
fn touching_boxes_overlap_and_padding_reaches() {
    let unit = Aabb { min: Point3::origin(), max: Point3::new(1.0, 1.0, 0.0) };
    let touching = Aabb { min: Point3::new(1.0, 0.0, 0.0), max: Point3::new(2.0, 1.0, 0.0) };
    let apart = Aabb { min: Point3::new(1.125, 0.0, 0.0), max: Point3::new(2.0, 1.0, 0.0) };
    assert!(unit.overlaps(&touching) && !unit.overlaps(&apart));
    assert!(unit.padded(0.0625).overlaps(&apart.padded(0.0625)));
}

#[test]
fn a_half_space_along_an_axis_has_a_box_that_ends_in_its_plane() {
    let pose = Pose::translation(1.0, 2.0, 3.0);
    let extent = |normal: Vector3<f64>| Shape::from(spatial::Shape::half_space(normal).unwrap()).extent(&pose);
    let (up, down) = (extent(Vector3::z()).unwrap(), extent(-Vector3::z()).unwrap());
    assert_eq!((up.min.z, up.max.z), (f64::NEG_INFINITY, 3.0));
    assert_eq!((down.min.z, down.max.z), (3.0, f64::INFINITY));
    assert_eq!((up.min.x, up.max.y), (f64::NEG_INFINITY, f64::INFINITY));
    assert!(extent(Vector3::new(0.0, 1e-9, 1.0)).is_none());
    let wall = Shape::from(planar::Shape::half_plane(-nalgebra::Vector2::x()).unwrap());
    assert_eq!(wall.extent(&pose).map(|wall| (wall.min.x, wall.max.x)), Some((1.0, f64::INFINITY)));
    assert!(wall.aabb(&pose).is_none());
}

#[test]
fn boxes_without_an_end_meet_what_is_near_their_other_sides() {
    let mut random = Random(43);
    let (mut broad_phase, mut found) = (BroadPhase::default(), Vec::new());
    for count in [5, 32, 33, 100] {
        let mut proxies: Vec<_> = (0..count).map(|_| Some(random_box(&mut random, 6.0))).collect();
        let everywhere = Vector3::repeat(f64::INFINITY);
        for (place, axis) in [(0, 2), (3, 0)] {
            let mut ground = Aabb { min: (-everywhere).into(), max: everywhere.into() };
            ground.max[axis] = 0.0;
            proxies[place] = Some(ground);
        }
        broad_phase.pairs(&proxies, |_, _| true, &mut found);
        assert_eq!(found, brute_force(&proxies, |_, _| true), "{count} proxies");
        let with_ground = found.iter().filter(|pair| pair.0 == 0).count();
        assert!(with_ground > 0 && with_ground < count - 1);
    }
}
