//! Properties of every kind of solid: functions, support function, bounds, moments, figure and contacts belong to one
//! solid.

use nalgebra::{Point3, Rotation3, Vector3};

use super::{Figure, Shape};
use crate::implicit::{Buffer, Convex, Scratch, closest};
use crate::moments::Moments;
use crate::{ContactPoint, Pose};

/// Directions spread over the unit sphere, by the golden angle.
fn directions(count: u32) -> impl Iterator<Item = Vector3<f64>> {
    (0..count).map(move |k| {
        let up = (f64::from(k) + 0.5) / f64::from(count) * 2.0 - 1.0;
        let (sine, cosine) = libm::sincos(2.399_963_229_728_653 * f64::from(k));
        let out = (1.0 - up * up).sqrt();
        Vector3::new(out * cosine, out * sine, up)
    })
}

/// Bounded examples with their functions.
fn bounded() -> impl Iterator<Item = (Shape, Convex)> {
    Shape::examples().into_iter().filter(Shape::is_bounded).map(|shape| {
        let convex = shape.convex(Buffer::default());
        (shape, convex)
    })
}

/// True for a solid with an interior.
fn is_solid(shape: &Shape) -> bool {
    !matches!(shape, Shape::Point)
}

/// Largest of the functions at a point, in lengths.
fn highest(convex: &Convex, point: &Point3<f64>) -> f64 {
    (0..convex.functions()).map(|k| convex.jet(k, point).value).fold(f64::NEG_INFINITY, f64::max)
}

/// Largest coordinate along `direction`, from the certified closest points of the solid and a distant half-space.
fn extent(convex: &Convex, direction: &Vector3<f64>) -> f64 {
    let away = 2.0 * convex.reach().unwrap() + 1.0;
    let opposite = Shape::half_space(-direction).unwrap().convex(Buffer::default());
    let pose = Pose::from_parts((direction * away).into(), Rotation3::identity());
    let found = closest((convex, &Pose::identity()), (&opposite, &pose), None, &mut Scratch::default());
    assert!(found.residual < 1e-10, "{}", found.residual);
    away - found.gap
}

/// Distance from the point `from` inside to the surface along a unit vector.
fn to_surface(convex: &Convex, from: &Point3<f64>, direction: &Vector3<f64>) -> f64 {
    let (mut inside, mut outside) = (0.0, 2.1 * convex.reach().unwrap());
    for _ in 0..50 {
        let middle = f64::midpoint(inside, outside);
        if highest(convex, &(from + direction * middle)) <= 0.0 { inside = middle } else { outside = middle }
    }
    inside
}

/// Moments of the solid inside a fine mesh of points where rays from `centre` leave it.
fn moments_by_rays(convex: &Convex, centre: &Point3<f64>) -> Moments {
    const LEVELS: u32 = 120;
    const MERIDIANS: u32 = 240;
    let point = |level: u32, k: u32| {
        let (out, up) = libm::sincos(std::f64::consts::PI * f64::from(level) / f64::from(LEVELS));
        let (sine, cosine) = libm::sincos(std::f64::consts::TAU * f64::from(k % MERIDIANS) / f64::from(MERIDIANS));
        let direction = Vector3::new(out * cosine, out * sine, -up);
        direction * to_surface(convex, centre, &direction)
    };
    let levels: Vec<Vec<_>> = (0..=LEVELS).map(|level| (0..=MERIDIANS).map(|k| point(level, k)).collect()).collect();
    let triangles = levels.iter().zip(levels.iter().skip(1)).flat_map(|(low, high)| {
        let cells = low.windows(2).zip(high.windows(2));
        cells.flat_map(|(p, q)| [[p[0], p[1], q[1]], [p[0], q[1], q[0]]])
    });
    Moments::of_simplices(centre.coords, triangles.map(|t| (t[0].dot(&t[1].cross(&t[2])) / 6.0, t)))
}

fn contacts(a: &Shape, b: &Shape, pose_b: &Pose) -> Vec<ContactPoint> {
    let mut out = Vec::new();
    let mut scratch = crate::spatial::Scratch::default();
    crate::spatial::contacts(a, &Pose::identity(), b, pose_b, 10.0, &mut scratch, &mut out).unwrap();
    out
}

#[test]
fn every_kind_has_examples_and_a_name_of_its_own() {
    let mut names: Vec<_> = Shape::examples().iter().map(Shape::name).collect();
    names.dedup();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count, "{names:?}");
    assert!(count >= 10);
}

#[test]
fn the_support_function_and_the_bounds_are_those_of_the_functions() {
    let pose = Pose::new(Vector3::new(0.3, -2.0, 0.5), Vector3::new(0.4, 1.1, -0.7));
    for (shape, convex) in bounded() {
        let name = shape.name();
        let reach = shape.radius_bound().unwrap();
        for direction in directions(60) {
            let extent = extent(&convex, &direction);
            assert!(extent <= reach + 1e-9, "{name}");
            if let Some(support) = shape.ask(|solid| solid.support(&direction)) {
                assert!((support - extent).abs() < 1e-9, "{name}: {support} {extent}");
            }
        }
        let aabb = shape.aabb(&pose).unwrap();
        for (i, axis) in [Vector3::x(), Vector3::y(), Vector3::z()].into_iter().enumerate() {
            let local = pose.rotation.inverse() * axis;
            let high = pose.translation.vector[i] + extent(&convex, &local);
            let low = pose.translation.vector[i] - extent(&convex, &-local);
            assert!(aabb.min[i] <= low + 1e-9 && aabb.max[i] >= high - 1e-9, "{name}: {aabb:?}");
        }
    }
}

#[test]
fn the_moments_are_those_of_a_fine_mesh() {
    for (shape, convex) in bounded() {
        let Some(moments) = shape.moments() else { continue };
        let name = shape.name();
        let mesh = moments_by_rays(&convex, &moments.centre);
        assert!((moments.measure / mesh.measure - 1.0).abs() < 3e-3, "{name}: {moments:?} {mesh:?}");
        assert!((moments.centre - mesh.centre).amax() < 3e-3 * shape.radius_bound().unwrap(), "{name}");
        assert!((moments.second - mesh.second).amax() < 6e-3 * moments.second.amax(), "{name}: {moments:?} {mesh:?}");
    }
}

#[test]
fn figures_are_on_the_surface() {
    for shape in Shape::examples() {
        let convex = shape.convex(Buffer::default());
        let figure = shape.figure().unwrap_or_else(|| panic!("a {} has no figure", shape.name()));
        let Figure::Wireframe { vertices, edges } = figure else { continue };
        for vertex in &vertices {
            assert!(highest(&convex, vertex).abs() < 1e-12, "{}: {vertex}", shape.name());
        }
        assert!(edges.iter().flatten().all(|&k| (k as usize) < vertices.len()));
    }
}

/// The supporting planes at both points of a contact certify its gap: no two points of the solids are closer.
#[test]
fn a_sphere_finds_every_solid_at_the_certified_gap() {
    let radius = 0.2;
    let sphere = Shape::sphere(radius).unwrap();
    for (shape, convex) in bounded() {
        let name = shape.name();
        let reach = shape.radius_bound().unwrap();
        for direction in directions(40) {
            let centre = direction * (reach + radius + 0.1);
            let pose = Pose::from_parts(centre.into(), Rotation3::identity());
            let found = contacts(&shape, &sphere, &pose);
            let nearest = found.iter().min_by(|p, q| p.gap.total_cmp(&q.gap)).unwrap();
            let normal = nearest.normal.into_inner();
            assert!(nearest.gap > 0.0 && (nearest.point_b - nearest.point_a - normal * nearest.gap).amax() < 1e-9);
            assert!(!is_solid(&shape) || highest(&convex, &nearest.point_a).abs() < 1e-9, "{name}: {nearest:?}");
            assert!((extent(&convex, &normal) - normal.dot(&nearest.point_a.coords)).abs() < 1e-9, "{name}");
            assert!((nearest.point_b.coords - centre + normal * radius).amax() < 1e-9, "{name}");
        }
    }
}
