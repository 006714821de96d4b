//! Gradients and Hessians against differences, for every function.

use nalgebra::{Point3, Vector3};
use stiction_geometry::implicit::{Automatic, Convex, ConvexFunction, ConvexPart};
use stiction_geometry::{Shape, planar, spatial};

use super::support::Random;

/// Compares both derivatives with central differences at a point.
fn compare(convex: &Convex, k: usize, x: &Point3<f64>, what: &str) {
    let step = 1e-5;
    let jet = convex.jet(k, x);
    for axis in 0..3 {
        let by = Vector3::ith(axis, step);
        let (after, before) = (convex.jet(k, &(x + by)), convex.jet(k, &(x - by)));
        let slope = (after.value - before.value) / (2.0 * step);
        assert!((slope - jet.gradient[axis]).abs() < 1e-7, "{what} {k} at {x}: {slope} {}", jet.gradient);
        let bend = (after.gradient - before.gradient) / (2.0 * step);
        let error = (bend - jet.hessian.column(axis)).amax();
        assert!(error < 1e-6 * (1.0 + jet.hessian.amax()), "{what} {k} at {x}: {bend} {}", jet.hessian);
    }
}

/// A point where no difference step crosses an edge of the definition: the core of a gauge, the ends of a capsule, an axis.
fn is_regular(convex: &Convex, k: usize, x: &Point3<f64>) -> bool {
    let here = convex.jet(k, x).hessian;
    let near = [Vector3::x(), Vector3::y(), Vector3::z()].map(|axis| axis * 3e-5);
    near.iter().all(|by| {
        [x + by, x - by].iter().all(|x| (convex.jet(k, x).hessian - here).amax() < 0.1 * (0.01 + here.amax()))
    })
}

fn check(shape: &Shape, random: &mut Random) {
    let convex = shape.convex().unwrap();
    let is_planar = matches!(shape, Shape::Planar(_));
    let mut checked = 0;
    for _ in 0..200 {
        let x = Point3::from(random.unit(is_planar) * random.uniform(0.05, 3.0));
        for k in 0..convex.functions() {
            if is_regular(&convex, k, &x) {
                compare(&convex, k, &x, shape.name());
                checked += 1;
            }
        }
    }
    assert!(checked > 150, "{}: {checked}", shape.name());
}

/// A rounded box by formula, in lengths: ‖x/a‖ with exponents four, and a tilted ball.
#[derive(Debug)]
struct Formula;

impl ConvexFunction for Formula {
    fn jet(&self, x: &Point3<f64>) -> stiction_geometry::implicit::Jet {
        let formula = |[x, y, z]: [stiction_geometry::implicit::Dual; 3]| {
            ((x / 1.3).powi(4) + (y * 0.9).powi(4) + (z - 0.1).powf(4.0)).powf(0.25) - 1.0
        };
        Automatic::new(formula).jet(x)
    }
}

#[test]
fn of_every_shape() {
    let mut random = Random(3);
    let tilted = random.pose(false, Vector3::new(0.1, -0.2, 0.15));
    let turned = random.pose(true, Vector3::new(0.1, -0.2, 0.0));
    let ellipse: Shape = planar::Shape::ellipse([1.2, 0.7]).unwrap().into();
    let ellipsoid: Shape = spatial::Shape::ellipsoid([1.2, 0.7, 0.9]).unwrap().into();
    let half_plane: Shape = planar::Shape::half_plane(nalgebra::Vector2::new(1.0, 2.0)).unwrap().into();
    let shapes: Vec<Shape> = vec![
        planar::Shape::disc(0.8).unwrap().into(),
        planar::Shape::capsule(0.6, 0.3).unwrap().into(),
        planar::Shape::rectangle([0.6, 0.3]).unwrap().into(),
        planar::Shape::superellipse([2.3, 1.1], 4.0).unwrap().into(),
        planar::Shape::superellipse([0.5, 1.1], 5.5).unwrap().into(),
        planar::Shape::intersection([
            ConvexPart::shape(&ellipse, &turned).unwrap(),
            ConvexPart::shape(&half_plane, &turned).unwrap(),
        ])
        .unwrap()
        .into(),
        half_plane,
        ellipse,
        spatial::Shape::sphere(0.8).unwrap().into(),
        spatial::Shape::capsule(0.6, 0.3).unwrap().into(),
        spatial::Shape::cuboid([0.6, 0.3, 0.4]).unwrap().into(),
        spatial::Shape::cylinder(0.6, 0.3).unwrap().into(),
        spatial::Shape::superquadric([1.0, 0.8, 1.3], [4.0, 3.0]).unwrap().into(),
        spatial::Shape::superquadric([1.0, 0.8, 1.3], [2.5, 6.5]).unwrap().into(),
        spatial::Shape::intersection([ConvexPart::shape(&ellipsoid, &tilted).unwrap(), ConvexPart::function(Formula)])
            .unwrap()
            .into(),
        ellipsoid,
    ];
    for shape in &shapes {
        check(shape, &mut random);
    }
}

/// Every operation of automatic differentiation, against differences of its own values.
#[test]
fn of_every_operation() {
    use stiction_geometry::implicit::Dual;
    let formulas: [fn([Dual; 3]) -> Dual; 8] = [
        |[x, y, z]| (x * x + 2.0 * y * y + z * z + 0.3).sqrt() - 1.0,
        |[x, y, z]| (x / (y * y + 1.5)) * z - 0.5 / (z * z + 1.0 * x.exp()),
        |[x, y, z]| (x - 0.3).exp() + (y * y + 1.0).ln() - z.powi(3),
        |[x, y, z]| (x.sin() * y.cos() - z) / 3.0 + 1.0,
        |[x, y, z]| (x * x + 0.1).powf(1.7) + (y.abs() + 1.0).powf(-0.5) + z.powf(3.0),
        |[x, y, z]| -(1.0 - x) * (y + z * 2.0) + x.powi(0) + y.powi(1),
        |[x, y, z]| (x * 3.0).max(y - z),
        |[x, y, z]| x.powf(-2.0) * y + z,
    ];
    let mut random = Random(4);
    let step = 1e-5;
    for formula in formulas {
        let function = Automatic::new(formula);
        for _ in 0..50 {
            let x = Point3::from(random.unit(false) + Vector3::repeat(0.2));
            if x.iter().any(|x| x.abs() < 0.05) || (3.0 * x.x - (x.y - x.z)).abs() < 0.01 {
                continue;
            }
            let jet = function.jet(&x);
            for axis in 0..3 {
                let by = Vector3::ith(axis, step);
                let (after, before) = (function.jet(&(x + by)), function.jet(&(x - by)));
                let scale = 1.0 + jet.hessian.amax();
                let slope = (after.value - before.value) / (2.0 * step);
                assert!((slope - jet.gradient[axis]).abs() < 1e-6 * scale, "{x} {slope} {}", jet.gradient);
                let bend = (after.gradient - before.gradient) / (2.0 * step);
                assert!((bend - jet.hessian.column(axis)).amax() < 1e-4 * scale * scale, "{x} {bend} {}", jet.hessian);
            }
        }
    }
}
