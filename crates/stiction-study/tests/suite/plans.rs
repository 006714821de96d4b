//! Single pushes: goals, arrivals, refusals.

use std::f64::consts::{FRAC_PI_2, TAU};

use stiction_study::{
    Outcome, Stream,
    push::{Goal, Path, Push, Sampler},
};

use crate::support::{goal, push_to, scene_with};

fn arrival(push: &Push, path: &Path) -> [f64; 3] {
    match push.follow(path) {
        Outcome::Done(arrival) => arrival.pose,
        Outcome::Failed(failure) => panic!("{failure:?}"),
    }
}

#[test]
fn a_push_through_the_centre_of_friction_moves_the_part_straight() {
    // Case C-09, first row: a frictionless needle at the height of the centre turns nothing.
    let path = Path::new(vec![[-0.6, 0.0], [-0.2, 0.0]], 0.5).unwrap();
    let [x, y, angle] = arrival(&push_to(goal([0.3, 0.0], 0.0)), &path);
    assert!((x - 0.3).abs() < 1e-9 && y.abs() < 1e-9 && angle.abs() < 1e-9, "{x} {y} {angle}");
}

#[test]
fn mirrored_pushes_have_mirrored_ends() {
    let push = push_to(goal([0.0, 0.2], 0.0));
    let points = vec![[0.2, -0.51], [0.15, -0.3], [-0.1, -0.15]];
    let mirrored = points.iter().map(|[x, y]| [-x, *y]).collect();
    let [x, y, angle] = arrival(&push, &Path::new(points, 0.5).unwrap());
    let other = arrival(&push, &Path::new(mirrored, 0.5).unwrap());
    assert!(y > 0.05 && angle.abs() > 0.1, "it was pushed: {x} {y} {angle}");
    for (a, b) in [-x, y, -angle].iter().zip(other) {
        assert!((a - b).abs() < 1e-7, "{x} {y} {angle} and {other:?}");
    }
}

#[test]
fn the_end_of_a_push_made_by_hand_is_a_goal_that_it_reaches() {
    let path = Path::new(vec![[-0.51, -0.1], [-0.3, -0.12], [-0.1, 0.05]], 0.5).unwrap();
    let [x, y, angle] = arrival(&push_to(goal([0.0, 0.0], 0.0)), &path);
    assert!(x > 0.2 && angle > 0.05, "it was pushed: {x} {y} {angle}");
    let exact = Goal::new([x, y], angle, (1e-9, 1e-9)).unwrap();
    let Outcome::Done(reached) = push_to(exact).follow(&path) else { panic!("the same push") };
    assert!(exact.is_reached(&reached.miss) && reached.miss.distance == 0.0, "{reached:?}");
    let elsewhere = Goal::new([x + 1e-6, y], angle, (1e-7, 1e-7)).unwrap();
    let Outcome::Done(missed) = push_to(elsewhere).follow(&path) else { panic!("the same push") };
    assert!(!elsewhere.is_reached(&missed.miss) && (missed.miss.distance - 1e-6).abs() < 1e-15, "{missed:?}");
}

#[test]
fn angles_are_measured_by_the_shorter_way_and_by_the_symmetry_of_the_part() {
    let plain = goal([0.0, 0.0], 10.0);
    for (turned, miss) in [(0.0, 10.0), (190.0, 180.0), (350.0, 20.0), (730.0, 0.0), (-355.0, 5.0)] {
        let found = plain.miss([0.0, 0.0, f64::to_radians(turned)]).angle.to_degrees();
        assert!((found - miss).abs() < 1e-9, "{turned}: {found}");
    }
    let square = plain.with_symmetry(4).unwrap();
    for quarter in -5..5 {
        let angle = 12_f64.to_radians() + f64::from(quarter) * FRAC_PI_2;
        assert!((square.miss([0.0, 0.0, angle]).angle.to_degrees() - 2.0).abs() < 1e-9);
    }
    assert!((square.miss([0.0, 0.0, TAU / 8.0]).angle.to_degrees() - 35.0).abs() < 1e-9);
}

#[test]
fn every_sampled_path_starts_beside_the_part_and_pushes_it() {
    let push = push_to(goal([0.2, 0.2], 0.0));
    let sampler = Sampler::new(&push, 3, [0.1, 0.2], 0.5).unwrap().with_clearance(0.02).unwrap();
    for index in 0..300 {
        let path = sampler.sample(&push, &mut Stream::new(3, index)).unwrap();
        assert_eq!(path.points().len(), 4);
        // The square reaches from −½ to ½: distance of the start by hand.
        let [x, y] = path.points()[0].map(|x: f64| (x.abs() - 0.5).max(0.0));
        let gap = x.hypot(y);
        assert!((0.0199..0.0205).contains(&gap), "{gap}");
        for (k, pair) in path.points().windows(2).enumerate() {
            let (dx, dy) = (pair[1][0] - pair[0][0], pair[1][1] - pair[0][1]);
            let length = dx.hypot(dy) - if k == 0 { 0.02 } else { 0.0 };
            assert!((0.1 - 1e-12..0.2 + 1e-12).contains(&length), "{length}");
            let turned = dy.atan2(dx) - 45_f64.to_radians();
            assert!(turned.abs() < 60.001_f64.to_radians(), "{turned}");
        }
    }
}

#[test]
fn a_needle_does_not_start_inside_another_body() {
    let wall = "[[body]]\nname = \"wall\"\nkind = \"fixed\"\nposition = [-0.55, 0.0]\n[[body.shape]]\nbox = { size = [0.08, 0.6] }";
    let push = Push::new(&scene_with(wall), "square", "needle", goal([0.3, 0.0], 0.0)).unwrap();
    let sampler = Sampler::new(&push, 1, [0.1, 0.2], 0.5).unwrap().with_clearance(0.05).unwrap();
    for index in 0..200 {
        let [x, y] = sampler.sample(&push, &mut Stream::new(1, index)).unwrap().points()[0];
        assert!(!((-0.59..=-0.51).contains(&x) && y.abs() <= 0.3), "{x} {y}");
    }
}

#[test]
fn questions_that_make_no_sense_are_refused_with_the_field() {
    let scene = scene_with("");
    let fair = goal([0.3, 0.0], 0.0);
    let refusal = |part: &str, needle: &str| Push::new(&scene, part, needle, fair).unwrap_err();
    assert_eq!(refusal("squar", "needle").hint.as_deref(), Some("did you mean `square`?"));
    assert_eq!((refusal("needle", "needle").field, refusal("square", "square").field), ("part", "needle"));
    assert_eq!(Goal::new([0.0, f64::NAN], 0.0, (0.1, 0.1)).unwrap_err().field, "goal");
    assert_eq!(Goal::new([0.0, 0.0], 0.0, (0.0, 0.1)).unwrap_err().field, "tolerance");
    let push = push_to(fair);
    for (segments, length, speed, field) in [
        (0, [0.1, 0.2], 1.0, "segments"),
        (9, [0.1, 0.2], 1.0, "segments"),
        (1, [0.3, 0.2], 1.0, "length"),
        (1, [0.1, 0.2], 0.0, "speed"),
        (1, [0.1, 1e5], 1e-6, "length"),
    ] {
        assert_eq!(Sampler::new(&push, segments, length, speed).unwrap_err().field, field);
    }
    assert!(push.settling(-1.0).is_err());
}
