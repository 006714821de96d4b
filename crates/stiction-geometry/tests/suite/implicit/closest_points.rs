//! Closest points against formulas, against sampling of the surfaces, and against the kernels of polygons and polyhedra.

use nalgebra::{Point3, Vector2, Vector3};
use stiction_geometry::implicit::{Automatic, Closest, Convex, ConvexPart};
use stiction_geometry::{Pose, Scratch, Shape, contacts, planar, spatial};

use super::support::{Random, cold};

fn closest_of(a: &Shape, pose_a: &Pose, b: &Shape, pose_b: &Pose) -> Closest {
    cold((&a.convex().unwrap(), pose_a), (&b.convex().unwrap(), pose_b))
}

fn assert_near(found: f64, expected: f64, what: &str) {
    assert!((found - expected).abs() <= 1e-12 * (1.0 + expected.abs()), "{what}: {found}, not {expected}");
}

#[test]
fn of_balls_and_half_spaces_by_formula() {
    let ball: Shape = spatial::Shape::sphere(1.0).unwrap().into();
    let small: Shape = spatial::Shape::sphere(0.5).unwrap().into();
    for distance in [3.0, 1.5, 1.2] {
        let found = closest_of(&ball, &Pose::identity(), &small, &Pose::translation(0.0, distance, 0.0));
        assert_near(found.gap, distance - 1.5, "balls");
        assert_near(found.point_a.y, 1.0, "balls");
        assert_near(found.normal.y, 1.0, "balls");
    }
    let ground: Shape = planar::Shape::half_plane(Vector2::y()).unwrap().into();
    let (a, b, angle) = (4.0, 2.0, 0.7);
    let ellipse: Shape = planar::Shape::ellipse([a, b]).unwrap().into();
    let tilted = Pose::new(Vector3::new(0.3, 8.0, 0.0), Vector3::z() * angle);
    let found = closest_of(&ground, &Pose::identity(), &ellipse, &tilted);
    let height = libm::hypot(a * libm::sin(angle), b * libm::cos(angle));
    assert_near(found.gap, 8.0 - height, "ellipse on ground");
}

/// Sphere and box: face, edge and corner, apart and in overlap.
#[test]
fn of_sphere_and_box_by_formula() {
    let cube: Shape = spatial::Shape::cuboid([1.0, 2.0, 3.0]).unwrap().into();
    let ball: Shape = spatial::Shape::sphere(0.5).unwrap().into();
    let cases = [
        ([2.0, 0.3, 0.1], 0.5, [1.0, 0.0, 0.0]),
        ([1.4, 0.3, 0.1], -0.1, [1.0, 0.0, 0.0]),
        ([2.0, 3.0, 0.1], 2f64.sqrt() - 0.5, [0.5f64.sqrt(), 0.5f64.sqrt(), 0.0]),
        ([2.0, 3.0, 4.0], 3f64.sqrt() - 0.5, [1.0 / 3f64.sqrt(); 3]),
        ([0.95, 0.1, 0.2], -0.55, [1.0, 0.0, 0.0]),
    ];
    for (centre, gap, normal) in cases {
        let found = closest_of(&cube, &Pose::identity(), &ball, &Pose::translation(centre[0], centre[1], centre[2]));
        assert_near(found.gap, gap, "sphere and box");
        assert!((found.normal.into_inner() - Vector3::from(normal)).norm() < 1e-10, "{centre:?}: {:?}", found.normal);
    }
}

/// C-18: the hub of a gear at (0, 22) and a finger that is a corner of two half-planes.
#[test]
fn of_the_gear_and_the_finger() {
    let hub: Shape = planar::Shape::disc(20.75).unwrap().into();
    let at = Pose::translation(0.0, 22.0, 0.0);
    let finger = |x: f64| -> Shape {
        let top: Shape = planar::Shape::half_plane(Vector2::y()).unwrap().into();
        let side: Shape = planar::Shape::half_plane(-Vector2::x()).unwrap().into();
        let moved = Pose::translation(x, 0.0, 0.0);
        let pieces = [ConvexPart::shape(&top, &Pose::identity()).unwrap(), ConvexPart::shape(&side, &moved).unwrap()];
        planar::Shape::intersection(pieces).unwrap().into()
    };
    let tip = closest_of(&finger(5.0), &Pose::identity(), &hub, &at);
    assert_near(tip.gap, 509f64.sqrt() - 20.75, "tip");
    assert!((tip.point_a - Point3::new(5.0, 0.0, 0.0)).norm() < 1e-11);
    assert!(tip.multipliers_a.len() == 2 && tip.multipliers_a.iter().all(|(_, m)| m > 0.1));
    let edge = closest_of(&finger(-5.0), &Pose::identity(), &hub, &at);
    assert_near(edge.gap, 1.25, "edge");
    assert!(edge.point_a.coords.norm() < 1e-11);
    assert_eq!(edge.multipliers_a.iter().map(|(k, _)| k).collect::<Vec<_>>(), [0]);
}

/// A point of the surface along a ray from the interior, by bisection on the functions.
fn on_surface(convex: &Convex, inside: &Point3<f64>, direction: &Vector3<f64>, far: f64) -> Point3<f64> {
    let highest = |t: f64| {
        let x = inside + direction * t;
        (0..convex.functions()).map(|k| convex.jet(k, &x).value).fold(f64::NEG_INFINITY, f64::max)
    };
    let (mut low, mut high) = (0.0, far);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if highest(middle) <= 0.0 { low = middle } else { high = middle }
    }
    inside + direction * low
}

fn samples(shape: &Shape, pose: &Pose, random: &mut Random, count: usize) -> Vec<Point3<f64>> {
    let is_planar = matches!(shape, Shape::Planar(_));
    let convex = shape.convex().unwrap();
    let far = 2.1 * shape.radius_bound().unwrap();
    let ray = |random: &mut Random| on_surface(&convex, &Point3::origin(), &random.unit(is_planar), far);
    (0..count).map(|_| pose * ray(random)).collect()
}

/// Both solids lie behind the planes through the closest points, which proves that these are the closest.
#[test]
fn planes_through_the_points_separate_sampled_surfaces() {
    let mut random = Random(21);
    let mut apart = 0;
    for round in 0..400 {
        let is_planar = round % 2 == 0;
        let sizes = [random.size(0.3, 3.0), random.size(0.3, 3.0)];
        let [a, b] = sizes.map(|size| random.shape(is_planar, size));
        if a.name() == "point" || b.name() == "point" || a.name().starts_with("poly") || b.name().starts_with("poly") {
            continue;
        }
        let pose_a = random.pose(is_planar, Vector3::zeros());
        let away = random.unit(is_planar) * (sizes[0] + sizes[1]) * random.uniform(0.9, 2.0);
        let pose_b = random.pose(is_planar, away);
        let found = closest_of(&a, &pose_a, &b, &pose_b);
        if found.gap <= 0.0 {
            continue;
        }
        apart += 1;
        let n = found.normal.into_inner();
        for p in samples(&a, &pose_a, &mut random, 300) {
            assert!(n.dot(&(p - found.point_a)) < 1e-9 * sizes[0], "{} {}", a.name(), b.name());
        }
        for q in samples(&b, &pose_b, &mut random, 300) {
            assert!(n.dot(&(q - found.point_b)) > -1e-9 * sizes[1], "{} {}", a.name(), b.name());
        }
    }
    assert!(apart > 100, "{apart}");
}

/// In shallow overlap the depth is the least over all directions, sampled densely.
#[test]
fn shallow_depth_is_the_least_of_all_directions() {
    const FAN: usize = 3600;
    let mut random = Random(22);
    let fan: Vec<_> = (0..FAN).map(|k| libm::sincos(k as f64 * std::f64::consts::TAU / FAN as f64)).collect();
    let mut checked = 0;
    for _ in 0..150 {
        let [a, b] = [random.size(0.5, 2.0), random.size(0.5, 2.0)].map(|size| random.shape(true, size));
        if [&a, &b].iter().any(|shape| shape.name() == "point" || shape.name().starts_with("poly")) {
            continue;
        }
        let (pose_a, mut pose_b) = (random.pose(true, Vector3::zeros()), random.pose(true, Vector3::zeros()));
        pose_b.translation.vector = random.unit(true) * 5.0;
        let apart = closest_of(&a, &pose_a, &b, &pose_b);
        let thin = [&a, &b].map(|shape| -highest(&shape.convex().unwrap(), &Point3::origin()));
        let depth = 0.1 * thin[0].min(thin[1]) * random.uniform(0.1, 1.0);
        pose_b.translation.vector -= apart.normal.into_inner() * (apart.gap + depth);
        let found = closest_of(&a, &pose_a, &b, &pose_b);
        let support = |shape: &Shape, pose: &Pose, n: &Vector3<f64>| {
            let local = pose.inverse_transform_vector(n);
            let [low, high] = shape
                .aabb(&Pose::new(Vector3::zeros(), Vector3::z() * -libm::atan2(local.y, local.x)))
                .map(|aabb| [aabb.min.x, aabb.max.x])
                .unwrap();
            assert!(low <= high);
            n.dot(&pose.translation.vector) + high
        };
        let least = fan
            .iter()
            .map(|&(sine, cosine)| Vector3::new(cosine, sine, 0.0))
            .map(|n| -support(&a, &pose_a, &n) - support(&b, &pose_b, &-n))
            .fold(f64::NEG_INFINITY, f64::max);
        checked += 1;
        assert!(found.gap <= 0.0 && found.gap >= least - 1e-9, "{} {}: {} {least}", a.name(), b.name(), found.gap);
        assert!(found.gap <= least + 1e-2, "{} {}: {} {least}", a.name(), b.name(), found.gap);
    }
    assert!(checked > 60, "{checked}");
}

fn highest(convex: &Convex, x: &Point3<f64>) -> f64 {
    (0..convex.functions()).map(|k| convex.jet(k, x).value).fold(f64::NEG_INFINITY, f64::max)
}

/// Returns the least gap by the kernels of vertices, edges and faces, which do not use functions.
#[test]
fn of_cores_as_the_other_kernels_find_them() {
    let mut random = Random(23);
    let mut scratch = Scratch::default();
    let mut compared = 0;
    for round in 0..600 {
        let is_planar = round % 2 == 0;
        let [a, b] = [random.size(0.3, 3.0), random.size(0.3, 3.0)].map(|size| random.shape(is_planar, size));
        let is_core = |shape: &Shape| {
            ["point", "disc", "sphere", "capsule", "box", "polygon", "polyhedron"].contains(&shape.name())
        };
        if !(is_core(&a) && is_core(&b)) || (a.name() == "point" && b.name() == "point") {
            continue;
        }
        let pose_a = random.pose(is_planar, Vector3::zeros());
        let away = random.unit(is_planar) * random.uniform(2.0, 6.0);
        let pose_b = random.pose(is_planar, away);
        let found = closest_of(&a, &pose_a, &b, &pose_b);
        if found.gap <= 0.0 {
            continue;
        }
        let mut out = Vec::new();
        contacts(&a, &pose_a, &b, &pose_b, found.gap + 1.0, &mut scratch, &mut out).unwrap();
        let least = out.iter().map(|contact| contact.gap).fold(f64::INFINITY, f64::min);
        assert!((found.gap - least).abs() < 1e-10, "{} {}: {} {least}", a.name(), b.name(), found.gap);
        compared += 1;
    }
    assert!(compared > 100, "{compared}");
}

/// TST-13: a polygon as an intersection of half-planes has the distance of the polygon, to round-off.
#[test]
fn of_half_planes_that_make_a_polygon() {
    let corners = [(0.0, -1.0), (1.0, 0.0), (0.5, 1.2), (-1.0, 0.7)].map(|(x, y)| nalgebra::Point2::new(x, y));
    let polygon: Shape = planar::Shape::polygon(&corners).unwrap().into();
    let disc: Shape = planar::Shape::disc(0.3).unwrap().into();
    // A large disc without effect keeps the intersection from becoming a polygon again.
    let large: Shape = planar::Shape::disc(50.0).unwrap().into();
    let mut pieces = vec![ConvexPart::shape(&large, &Pose::identity()).unwrap()];
    for (p, q) in corners.iter().zip(corners.iter().cycle().skip(1)) {
        let half_plane: Shape = planar::Shape::half_plane(Vector2::new((q - p).y, -(q - p).x)).unwrap().into();
        pieces.push(ConvexPart::shape(&half_plane, &Pose::translation(p.x, p.y, 0.0)).unwrap());
    }
    let implicit: Shape = planar::Shape::intersection(pieces).unwrap().into();
    assert_eq!(implicit.name(), "implicit shape");
    let mut random = Random(24);
    for _ in 0..200 {
        let at = random.unit(true) * random.uniform(1.3, 4.0);
        let pose = random.pose(true, at);
        let exact = closest_of(&polygon, &Pose::identity(), &disc, &pose);
        let found = closest_of(&implicit, &Pose::identity(), &disc, &pose);
        assert_near(found.gap, exact.gap, "polygon of half-planes");
        assert!((found.point_a - exact.point_a).norm() < 1e-10);
    }
}

#[test]
fn of_a_user_function_as_of_the_shape_it_describes() {
    let formula = Automatic::new(|[x, y, z]| {
        0.5 * (((x / 0.5).powi(2) + (y / 0.8).powi(2) + (z / 1.1).powi(2) + 1e-30).sqrt() - 1.0)
    });
    let custom: Shape = spatial::Shape::intersection([ConvexPart::function(formula)]).unwrap().into();
    let ellipsoid: Shape = spatial::Shape::ellipsoid([0.5, 0.8, 1.1]).unwrap().into();
    let cube: Shape = spatial::Shape::cuboid([0.4, 0.6, 0.5]).unwrap().into();
    let mut random = Random(25);
    for _ in 0..100 {
        let at = random.unit(false) * random.uniform(1.9, 3.0);
        let pose = random.pose(false, at);
        let exact = closest_of(&ellipsoid, &Pose::identity(), &cube, &pose);
        let found = closest_of(&custom, &Pose::identity(), &cube, &pose);
        assert!((found.gap - exact.gap).abs() < 1e-11, "{} {}", found.gap, exact.gap);
    }
}

#[test]
fn exchanged_solids_give_the_mirrored_result() {
    let mut random = Random(26);
    for round in 0..500 {
        let is_planar = round % 2 == 0;
        let [a, b] = [random.size(0.3, 3.0), random.size(0.3, 3.0)].map(|size| random.shape(is_planar, size));
        if a.name() == "point" && b.name() == "point" {
            continue;
        }
        let pose_a = random.pose(is_planar, Vector3::zeros());
        let away = random.unit(is_planar) * random.uniform(2.0, 8.0);
        let pose_b = random.pose(is_planar, away);
        let (found, mirrored) = (closest_of(&a, &pose_a, &b, &pose_b), closest_of(&b, &pose_b, &a, &pose_a));
        if found.gap > 0.0 {
            assert!((found.gap - mirrored.gap).abs() < 1e-10, "{} {}", a.name(), b.name());
            assert!(
                (found.normal.into_inner() + mirrored.normal.into_inner()).norm() < 1e-6,
                "{} {}",
                a.name(),
                b.name()
            );
        }
    }
}
