//! Supports: loads by statics, refusals, and fits of tripods and limit surfaces.

use nalgebra::Vector2;
use stiction_multibody::{
    BodyBuilder, BodyId, Dimension, Element, LimitSurface, Model, ModelBuilder, ModelError, PressureError,
    SupportBuilder, Tripod, dissipation,
};
use stiction_testkit::Random;

use crate::refusals::refused;

const POINTS: [[f64; 2]; 3] = [[0.3, 0.1], [-0.2, 0.25], [-0.05, -0.4]];

/// A body of 2 kg on a support, loaded by gravity.
fn supported(support: &SupportBuilder, gravity: [f64; 3]) -> Result<Model, ModelError> {
    let mut builder = ModelBuilder::new(Dimension::Planar);
    builder.gravity(gravity[0], gravity[1], gravity[2])?;
    let body = builder.body(BodyBuilder::planar("part", 2.0, 0.1))?;
    builder.support(body, support)?;
    builder.build()
}

const DOWN: [f64; 3] = [0.0, 0.0, -9.81];

#[test]
fn statics_gives_the_loads_of_a_tripod() {
    let model = supported(&SupportBuilder::tripod(POINTS).frictions([0.1, 0.2, 0.3]), DOWN).unwrap();
    let support_points: Vec<_> = model.support_points().map(|(.., support_point)| *support_point).collect();
    assert_eq!(model.support_point_count(), 3);
    assert!((support_points.iter().map(|support_point| support_point.load).sum::<f64>() - 19.62).abs() < 1e-14);
    let moment = support_points
        .iter()
        .fold(nalgebra::Vector3::zeros(), |sum, support_point| sum + support_point.point * support_point.load);
    assert!(moment.norm() < 1e-15, "{moment}");
    assert_eq!(support_points.iter().map(|support_point| support_point.friction).collect::<Vec<_>>(), [0.1, 0.2, 0.3]);
    // Gravity out of the plane moves nothing and has no energy.
    let state = model.initial_state();
    let mut at = stiction_multibody::Configuration::default();
    at.update(&model, &state.q, &state.v, 0.0);
    let mut wrenches = Vec::new();
    stiction_multibody::applied_wrenches(&model, &at, 0.0, &mut wrenches);
    assert!(wrenches.iter().all(|wrench| wrench.linear.norm() == 0.0));
    assert_eq!(stiction_multibody::energy(&model, &at, &[]).total(), 0.0);
    assert_eq!(state.support_impulses, vec![0.0; 9]);
}

#[test]
fn shares_are_of_the_weight() {
    let support = SupportBuilder::points([[1.0, 0.0], [-1.0, 0.0]], [3.0, 1.0]).friction(0.5);
    let loads: Vec<_> = supported(&support, [1.0, 2.0, -10.0])
        .unwrap()
        .support_points()
        .map(|(.., support_point)| support_point.load)
        .collect();
    assert_eq!(loads, [15.0, 5.0]);
}

#[test]
fn supports_that_cannot_be_are_refused() {
    let part = Element::Body("part".into());
    let cases = [
        (SupportBuilder::tripod([[1.0, 0.0], [2.0, 1.0], [2.0, -1.0]]), "points", "point 1"),
        (SupportBuilder::tripod([[-1.0, 0.0], [2.0, 0.0], [1.0, 0.0]]), "points", "in line"),
        (SupportBuilder::tripod([[f64::NAN, 0.0], [2.0, 0.0], [1.0, 0.0]]), "points", "NaN"),
        (SupportBuilder::tripod(POINTS).friction(-0.1), "friction", "negative"),
        (SupportBuilder::tripod(POINTS).frictions([0.1, 0.2]), "friction", "2 numbers for 3 points"),
        (SupportBuilder::points([[0.0; 2]; 2], [1.0]), "loads", "1 for 2 points"),
        (SupportBuilder::points([[0.0; 2]; 2], [1.0, -1.0]), "loads", "negative"),
        (SupportBuilder::points([[0.0; 2]; 2], [0.0, 0.0]), "loads", "all be zero"),
        (SupportBuilder::points([], []), "loads", "each needs one"),
    ];
    for (support, field, part_of_reason) in cases {
        let reason = refused(supported(&support, DOWN), &part, field);
        assert!(reason.contains(part_of_reason), "{reason}");
    }
    for up in [0.0, 9.81] {
        let reason = refused(supported(&SupportBuilder::point(), [0.0, -9.81, up]), &part, "support");
        assert!(reason.contains("[0, 0, -9.81]"), "{reason}");
    }
}

#[test]
fn bodies_that_cannot_lie_on_something_are_refused() {
    let mut builder = ModelBuilder::new(Dimension::Planar);
    builder.gravity(0.0, 0.0, -9.81).unwrap();
    let [a, b] = ["a", "b"].map(|name| builder.body(BodyBuilder::planar(name, 1.0, 1.0)).unwrap());
    let table = builder.body(BodyBuilder::fixed("table")).unwrap();
    let grain = builder.body(BodyBuilder::particle("grain", 1.0)).unwrap();
    let named = |name: &str| Element::Body(name.into());
    let point = SupportBuilder::point();
    refused(builder.support(table, &point).map(drop), &named("table"), "support");
    refused(builder.support(BodyId::WORLD, &point).map(drop), &named("world"), "support");
    refused(builder.support(grain, &SupportBuilder::tripod(POINTS)).map(drop), &named("grain"), "points");
    refused(builder.support(a, &point.clone().on(a)).map(drop), &named("a"), "on");
    builder.support(a, &point.clone().on(b)).unwrap();
    refused(builder.support(b, &point.clone().on(a)).map(drop), &named("b"), "on");
    refused(builder.support(a, &point).map(drop), &named("a"), "support");
    builder.support(b, &point.clone().on(table)).unwrap();
    builder.support(grain, &point).unwrap();
    let model = builder.build().unwrap();
    assert_eq!(model.support_point_count(), 3);
    assert!(!stiction_multibody::may_collide(&model, a, b), "what lies on something passes over it");
    let mut space = ModelBuilder::new(Dimension::Spatial);
    let ball = space.body(BodyBuilder::particle("ball", 1.0)).unwrap();
    refused(space.support(ball, &point).map(drop), &named("ball"), "support");
}

/// Points of a sunflower: equal areas of the unit disc.
fn sunflower(count: usize) -> Vec<[f64; 2]> {
    let turn = std::f64::consts::PI * (3.0 - 5.0_f64.sqrt());
    let place = |k: usize| ((k as f64 + 0.5) / count as f64, turn * k as f64);
    (0..count)
        .map(place)
        .map(|(area, angle)| [area.sqrt() * libm::cos(angle), area.sqrt() * libm::sin(angle)])
        .collect()
}

fn ring(count: usize) -> Vec<[f64; 2]> {
    let angle = |k: usize| std::f64::consts::TAU * k as f64 / count as f64;
    (0..count).map(|k| [libm::cos(angle(k)), libm::sin(angle(k))]).collect()
}

/// Largest relative error of P over rotation centres at distances from 0 to 20, in many directions.
fn worst(surface: &LimitSurface, points: &[[f64; 2]]) -> f64 {
    let loads = vec![1.0; points.len()];
    let mut worst = 0.0_f64;
    for k in 0..60 {
        let distance = 0.02 * 1.1225_f64.powi(k);
        for angle in [0.0, 0.4, 1.1, 2.5, 4.0] {
            // Rotation about c with ω = 1 moves the centre by −1 × c.
            let v = [distance * libm::sin(angle), -distance * libm::cos(angle)];
            let exact = dissipation(points, &loads, v, 1.0).unwrap();
            worst = worst.max((surface.power(v, 1.0) / exact - 1.0).abs());
        }
    }
    worst
}

#[test]
fn limit_surfaces_dissipate_as_their_pressure_does() {
    let disc = LimitSurface::uniform_disc(1.0).unwrap();
    assert!(worst(&disc, &sunflower(400)) < 0.01, "{} {disc:?}", worst(&disc, &sunflower(400)));
    // Pure rotation of a disc: 2/3 of its radius; of ellipsoids: the mean lever.
    assert!((disc.power([0.0; 2], 1.0) - 2.0 / 3.0).abs() < 1e-3);
    assert!((disc.power([1.0, 0.0], 0.0) - 1.0).abs() < 1e-12);
    let ring = ring(400);
    let fitted = LimitSurface::of_pressure(&ring, &[1.0; 400]).unwrap();
    assert!(worst(&fitted, &ring) < 0.01, "{} {fitted:?}", worst(&fitted, &ring));
    assert!(disc.points.len() <= 16 && fitted.points.len() <= 16);
    assert!((fitted.error - worst(&fitted, &ring)).abs() < 2e-3, "{} told", fitted.error);
    // One ellipsoid alone has a larger error than the sum.
    let one = LimitSurface::ellipsoid(2.0 / 3.0).unwrap();
    assert!(worst(&one, &sunflower(400)) > 0.02, "{}", worst(&one, &sunflower(400)));
}

/// A few points on an ellipse cannot fit every distribution: a bad fit reports its error.
#[test]
fn a_fit_tells_its_error() {
    let two = LimitSurface::of_pressure(&[[0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [4.0, 0.0]], &[1.0; 4]).unwrap();
    assert!((Vector2::from(two.centre) - Vector2::new(1.0, 0.0)).norm() < 1e-12);
    assert!((0.05..1.0).contains(&two.error), "{}", two.error);
    let bar: Vec<_> = (0_u32..40).map(|k| [f64::from(k) * 0.1, 0.0]).collect();
    let bar = LimitSurface::of_pressure(&bar, &[1.0; 40]).unwrap();
    assert!(bar.error < 0.1, "{}", bar.error);
    let grid: Vec<_> = (0..400).map(|k| [f64::from(k % 20) / 19.0, f64::from(k / 20) / 19.0]).collect();
    let square = LimitSurface::of_pressure(&grid, &[1.0; 400]).unwrap();
    assert!(square.error < 0.02, "{}", square.error);
}

#[test]
fn a_tripod_has_the_moments_of_its_pressure() {
    let mut random = Random::new(17);
    for _ in 0..50 {
        let points: Vec<_> = (0..9).map(|_| [random.uniform(-1.0, 1.0), random.uniform(-0.2, 0.5)]).collect();
        let loads: Vec<_> = points.iter().map(|_| random.uniform(0.1, 1.0)).collect();
        let total: f64 = loads.iter().sum();
        let tripod = Tripod::of_pressure(&points, &loads).unwrap().points;
        let moment = |power: fn(&[f64; 2]) -> f64| {
            let whole: f64 = points.iter().zip(&loads).map(|(x, load)| load / total * power(x)).sum();
            (whole, tripod.iter().map(|x| power(x) / 3.0).sum::<f64>())
        };
        let powers: [fn(&[f64; 2]) -> f64; 5] = [|x| x[0], |x| x[1], |x| x[0] * x[0], |x| x[0] * x[1], |x| x[1] * x[1]];
        for power in powers {
            let (whole, three) = moment(power);
            assert!((whole - three).abs() < 1e-14, "{whole} {three}");
        }
    }
    // Points in line across the first axis have a tripod in line too.
    let line = Tripod::of_pressure(&[[0.0, 1.0], [0.0, -1.0]], &[1.0, 1.0]).unwrap();
    assert!(
        line.points.iter().all(|support_point| support_point[0] == 0.0)
            && (line.points[0][1] - 2.0_f64.sqrt()).abs() < 1e-15
    );
    let limit = Tripod::of_limit_surface(3.0, 0.9, [1.0, 2.0]).unwrap();
    for support_point in limit.points {
        let arm = Vector2::from(support_point) - Vector2::new(1.0, 2.0);
        assert!((arm.norm() - 0.3).abs() < 1e-15, "{arm}");
    }
}

#[test]
fn pressures_that_cannot_be_are_refused() {
    assert_eq!(Tripod::of_pressure(&[], &[]), Err(PressureError::Count { points: 0, loads: 0 }));
    assert_eq!(dissipation(&[[0.0; 2]], &[-1.0], [0.0; 2], 1.0), Err(PressureError::Point(0)));
    assert!(LimitSurface::of_pressure(&[[0.0, f64::NAN]], &[1.0]).is_err());
    assert_eq!(LimitSurface::of_pressure(&[[0.0; 2]], &[0.0]), Err(PressureError::Weightless));
    assert_eq!(LimitSurface::ellipsoid(-1.0), Err(PressureError::Lever(-1.0)));
    assert!(LimitSurface::uniform_disc(f64::INFINITY).is_err());
    assert!(Tripod::of_limit_surface(0.0, 1.0, [0.0; 2]).unwrap_err().to_string().contains("positive force"));
}
