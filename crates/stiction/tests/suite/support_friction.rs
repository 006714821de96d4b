//! Planar bodies on supports: friction with known loads, in the plane and against gravity out of it.

use std::sync::Arc;

use stiction::multibody::ExpressionMotion;
use stiction::{
    BodyBuilder, BodyId, ContactMode, ContactRule, Dimension, Expression, FrictionSet, JointKind, LimitSurface, Model,
    ModelBuilder, Preset, Scheme, Simulation, SupportBuilder, planar,
};
use stiction_testkit::{Reference, reference};

use crate::support::{G, constant, friction, q, run, solid_rectangle, step, steps, v};

/// Support points of an equilateral tripod, the first towards +y.
pub fn equilateral(radius: f64) -> [[f64; 2]; 3] {
    let (far, near) = (0.75_f64.sqrt() * radius, 0.5 * radius);
    [[0.0, radius], [-far, -near], [far, -near]]
}

/// A model in the plane pressed on by gravity, with what `fill` adds.
pub fn table(gravity: [f64; 3], fill: impl FnOnce(&mut ModelBuilder)) -> Model {
    let mut builder = ModelBuilder::new(Dimension::Planar);
    builder.gravity(gravity[0], gravity[1], gravity[2]).unwrap();
    fill(&mut builder);
    builder.build().unwrap()
}

const DOWN: [f64; 3] = [0.0, 0.0, -G];

/// One body "part" on one support.
pub fn part(body: BodyBuilder, gravity: [f64; 3], support: &SupportBuilder) -> Model {
    table(gravity, |builder| {
        let id = builder.body(body).unwrap();
        builder.support(id, support).unwrap();
    })
}

/// The square of C-10 with a velocity.
fn square(case: &Reference, [x, y, spin]: [f64; 3]) -> Model {
    let number = |name: &str| case.number(&format!("parameters.{name}"));
    let body = BodyBuilder::planar("part", number("mass"), number("inertia"));
    let support = SupportBuilder::tripod(equilateral(number("tripod_radius"))).friction(number("friction"));
    let gravity = [0.0, 0.0, -number("gravity")];
    part(body.velocity(x, y, 0.0).angular_velocity(0.0, 0.0, spin), gravity, &support)
}

/// Runs until nothing moves: the time, and where that is.
fn stop(model: Model, scheme: Scheme, h: f64) -> (f64, [f64; 3]) {
    let mut simulation = Simulation::new(model, scheme, h).unwrap();
    for _ in 0..(10.0 / h) as usize {
        let _ = step(&mut simulation);
        if v(&simulation, "part").iter().all(|v| v.abs() < 1e-9) {
            let [x, y, angle] = *q(&simulation, "part") else { panic!("three coordinates") };
            return (simulation.time(), [x, y, angle]);
        }
    }
    panic!("still moves: {:?}", v(&simulation, "part"));
}

fn polygon(directions: u32) -> Scheme {
    let mut scheme = Preset::StewartTrinkle.scheme();
    scheme.directions = directions;
    scheme
}

fn relative(ours: f64, exact: f64) -> f64 {
    (ours / exact - 1.0).abs()
}

#[test]
fn c10_a_square_slides_and_spins_to_rest() {
    let case = reference("c10");
    let allowed = case.number("tolerance.quadratic.rel");
    let (time, distance) = (case.number("derived.sliding.time"), case.number("derived.sliding.distance"));
    let (spin_time, angle) = (case.number("derived.spinning.time"), case.number("derived.spinning.angle"));
    let ncp = || Preset::Ncp.scheme();
    let sliding = |h: f64| stop(square(&case, [0.6, 0.8, 0.0]), ncp(), h);
    let spinning = |h: f64| stop(square(&case, [0.0, 0.0, 5.0]), ncp(), h);
    let ((t, [x, y, turned]), (spin_t, [.., spun])) = (sliding(5e-4), spinning(5e-4));
    assert!(relative(t, time) < allowed && relative(x.hypot(y), distance) < allowed, "{t} {x} {y}");
    assert!((y / x - 0.8 / 0.6).abs() < 1e-9 && turned.abs() < 1e-9, "straight on: {x} {y} {turned}");
    assert!(relative(spin_t, spin_time) < allowed && relative(spun, angle) < allowed, "{spin_t} {spun}");
    // Order one: half the step, half the error.
    for (exact, at) in [
        (
            distance,
            &(|h| {
                let (_, [x, y, _]) = sliding(h);
                x.hypot(y)
            }) as &dyn Fn(f64) -> f64,
        ),
        (angle, &|h| spinning(h).1[2]),
    ] {
        let [coarse, fine] = [4e-3, 2e-3].map(|h| (at(h) - exact).abs());
        assert!((1.5..2.6).contains(&(coarse / fine)), "errors {coarse:e} and {fine:e}");
    }
}

#[test]
fn c10_with_polygons() {
    let case = reference("c10");
    let (_, [.., spun]) = stop(square(&case, [0.0, 0.0, 5.0]), polygon(8), 1e-3);
    let allowed = case.number("tolerance.polygon_of_8_spinning.rel");
    assert!(relative(spun, case.number("derived.spinning.angle")) < allowed, "{spun}");
    for direction in [0.1_f64, 0.3, 0.6] {
        let (sin, cos) = direction.sin_cos();
        let (_, [x, y, _]) = stop(square(&case, [cos, sin, 0.0]), polygon(8), 1e-3);
        let off = (y.atan2(x) - direction).abs();
        assert!(off < std::f64::consts::PI / 8.0, "{off} rad at {direction}");
        // A polygon inside the disc is weaker by at most the cosine of half its angle.
        let ratio = x.hypot(y) / case.number("derived.sliding.distance");
        assert!((0.99..1.01 / (std::f64::consts::PI / 8.0).cos()).contains(&ratio), "{ratio}");
    }
    // The box is a square around the disc: slides shorter, and straight along its axes.
    let mut scheme = Preset::StewartTrinkle.scheme();
    scheme.friction = FrictionSet::Box;
    let (_, [x, y, _]) = stop(square(&case, [1.0, 0.0, 0.0]), scheme, 1e-3);
    assert!(relative(x, case.number("derived.sliding.distance")) < 0.005 && y.abs() < 1e-9, "{x} {y}");
}

/// Both velocities at once: polygons come to the cone as they grow.
#[test]
fn polygons_tend_to_the_cone() {
    let case = reference("c10");
    let end = |scheme| stop(square(&case, [0.7, 0.2, 3.0]), scheme, 2e-3).1;
    let exact = end(Preset::Ncp.scheme());
    let errors = [4, 16, 64].map(|n_d| {
        let ours = end(polygon(n_d));
        ours.iter().zip(exact).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    });
    assert!(errors[1] < 0.5 * errors[0] && errors[2] < 0.5 * errors[1] && errors[2] < 2e-3, "{errors:?}");
}

#[test]
fn a_tilted_table_holds_what_its_friction_holds() {
    let mu = 0.4_f64;
    for scheme in [Preset::Ncp.scheme(), polygon(8), Preset::MoreauJean.scheme()] {
        for (factor, slides) in [(0.999, false), (1.05, true)] {
            let slope = (mu * factor).atan();
            let support = SupportBuilder::tripod([[0.1, 0.2], [-0.3, 0.0], [0.1, -0.25]]).friction(mu);
            let gravity = [G * slope.sin(), 0.0, -G * slope.cos()];
            let body = solid_rectangle("part", 2.0, [0.3, 0.2]);
            let simulation = run(part(body, gravity, &support), scheme.clone(), 0.01, 1.0, |simulation, _| {
                let mode = if slides { ContactMode::Slip } else { ContactMode::Stick };
                assert!(
                    simulation.support_points().iter().all(|support_point| support_point.mode == mode),
                    "{:?}",
                    simulation.support_points()
                );
            });
            let expected = if slides { G * (slope.sin() - mu * slope.cos()) } else { 0.0 };
            let [x, y, spin] = *v(&simulation, "part") else { panic!("three velocities") };
            assert!((x - expected).abs() < 1e-10 && y.abs() < 1e-10, "{x}, not {expected}; {y}");
            assert!(spin.abs() < 1e-9, "{spin}");
        }
    }
}

/// Reports of support points: forces at the limit against the slip, in balance with the acceleration.
#[test]
fn feet_report_their_forces() {
    let case = reference("c10");
    let model = square(&case, [1.0, 0.0, 2.0]);
    let mut simulation = Simulation::new(model, Preset::Ncp.scheme(), 0.001).unwrap();
    let before = simulation.momentum().linear;
    let _ = step(&mut simulation);
    let support_points = simulation.support_points();
    assert_eq!(support_points.len(), 3);
    let mut total = nalgebra::Vector3::zeros();
    for (index, support_point) in support_points.iter().enumerate() {
        assert_eq!((support_point.support_point, support_point.on), (index, BodyId::WORLD));
        assert!((support_point.load - G / 3.0).abs() < 1e-12);
        let limit = 0.3 * support_point.load * 0.001;
        assert!(
            (support_point.friction_impulse + support_point.slip.normalize() * limit).norm() < 1e-9 * limit.max(1e-3),
            "{support_point:?}"
        );
        total += support_point.friction_impulse;
    }
    assert!((simulation.momentum().linear - before - total).norm() < 1e-12);
}

/// A table that moves as given.
fn moving(x: &str, y: &str, angle: &str) -> BodyBuilder {
    let [x, y, angle] = [x, y, angle].map(|text| text.parse::<Expression>().unwrap());
    BodyBuilder::kinematic("table", Arc::new(ExpressionMotion::planar(x, y, angle)))
}

#[test]
fn what_sticks_to_a_moving_table_moves_with_it_exactly() {
    let supports = [
        SupportBuilder::tripod(equilateral(0.1)).friction(0.8),
        SupportBuilder::limit_surface(LimitSurface::uniform_disc(0.1).unwrap()).friction(0.8),
    ];
    for support in supports {
        let model = table(DOWN, |builder| {
            let table = builder.body(moving("0.1*sin(3*t)", "0.05*cos(2*t)-0.05", "0.5*sin(2*t)")).unwrap();
            let body = BodyBuilder::planar("part", 1.3, 0.01).position(0.2, 0.1, 0.0).angle(0.3);
            // With the velocity of the table below it.
            let body = body.velocity(0.2, 0.2, 0.0).angular_velocity(0.0, 0.0, 1.0);
            let body = builder.body(body).unwrap();
            builder.support(body, &support.clone().on(table)).unwrap();
        });
        let local = |simulation: &Simulation| {
            let id = |name| simulation.model().find_body(name).unwrap();
            let [table, part] = ["table", "part"].map(|name| simulation.configuration().pose(id(name)));
            table.inverse() * part
        };
        let mut simulation = Simulation::new(model, Preset::Ncp.scheme(), 0.01).unwrap();
        let start = local(&simulation);
        for _ in 0..300 {
            let _ = step(&mut simulation);
            assert!(simulation.support_points().iter().all(|support_point| support_point.mode == ContactMode::Stick));
        }
        let moved = (local(&simulation).to_homogeneous() - start.to_homogeneous()).norm();
        assert!(moved < 1e-9, "{moved}");
    }
}

#[test]
fn a_belt_takes_a_part_along() {
    for scheme in [Preset::Ncp.scheme(), polygon(8)] {
        let model = table(DOWN, |builder| {
            let belt = builder.body(BodyBuilder::fixed("belt").conveyor(constant(0.3, -0.1, 0.0))).unwrap();
            let grain = builder.body(BodyBuilder::particle("grain", 0.1)).unwrap();
            builder.support(grain, &SupportBuilder::point().friction(0.2).on(belt)).unwrap();
        });
        let simulation = run(model, scheme, 0.001, 1.0, |_, _| ());
        let v = v(&simulation, "grain");
        assert!((v[0] - 0.3).abs() < 1e-9 && (v[1] + 0.1).abs() < 1e-9, "{v:?}");
        assert!(simulation.support_points()[0].mode == ContactMode::Stick);
    }
}

/// A tray that slides freely under a part: momentum is kept, and they end with one velocity.
#[test]
fn a_tray_carries_a_part() {
    for scheme in [Preset::Ncp.scheme(), polygon(16)] {
        let square: stiction::Shape = planar::Shape::rectangle([0.2, 0.2]).unwrap().into();
        let model = table(DOWN, |builder| {
            let tray = BodyBuilder::planar("tray", 2.0, 0.3).velocity(1.0, 0.0, 0.0).shape(square.clone());
            let tray = builder.body(tray).unwrap();
            let part =
                builder.body(BodyBuilder::planar("part", 1.0, 0.02).position(0.1, 0.05, 0.0).shape(square)).unwrap();
            builder.support(part, &SupportBuilder::tripod(equilateral(0.05)).friction(0.3).on(tray)).unwrap();
        });
        let mut simulation = Simulation::new(model, scheme, 0.002).unwrap();
        let start = simulation.momentum();
        steps(&mut simulation, 400);
        let end = simulation.momentum();
        assert!((end.linear - start.linear).norm() < 1e-12, "{end:?}");
        // Arms are those of the start of a step, and bodies move on within it: exact up to the step.
        assert!((end.angular - start.angular).norm() < 2e-3, "{end:?} {start:?}");
        let (tray, part) = (v(&simulation, "tray").to_vec(), v(&simulation, "part").to_vec());
        assert!((tray[2] - part[2]).abs() < 1e-9, "they turn together: {tray:?} {part:?}");
        assert!(
            simulation.support_points().iter().all(|support_point| support_point.mode == ContactMode::Stick),
            "{:?}",
            simulation.support_points()
        );
    }
}

/// Equal loads spread over a unit disc.
fn sunflower(count: usize, radius: f64) -> Vec<[f64; 2]> {
    let turn = std::f64::consts::PI * (3.0 - 5.0_f64.sqrt());
    let place = |k: usize| (radius * ((k as f64 + 0.5) / count as f64).sqrt(), turn * k as f64);
    (0..count).map(place).map(|(r, angle)| [r * angle.cos(), r * angle.sin()]).collect()
}

fn ring(count: usize, radius: f64) -> Vec<[f64; 2]> {
    let angle = |k: usize| std::f64::consts::TAU * k as f64 / count as f64;
    (0..count).map(|k| [radius * angle(k).cos(), radius * angle(k).sin()]).collect()
}

#[test]
fn a_limit_surface_stops_a_part_where_many_feet_do() {
    let radius = 0.2;
    let disc = LimitSurface::uniform_disc(radius).unwrap();
    let ring_of = ring(400, radius);
    let fitted = LimitSurface::of_pressure(&ring_of, &[1.0; 400]).unwrap();
    for (surface, points, inertia) in [(disc, sunflower(400, radius), 0.02), (fitted, ring_of, 0.04)] {
        for spin in [1.0, 5.0, 20.0] {
            let end = |support: SupportBuilder| {
                let body =
                    BodyBuilder::planar("part", 1.0, inertia).velocity(1.0, 0.0, 0.0).angular_velocity(0.0, 0.0, spin);
                stop(part(body, DOWN, &support.friction(0.3)), Preset::Ncp.scheme(), 2e-3)
            };
            let many = end(SupportBuilder::points(points.clone(), vec![1.0; points.len()]));
            let few = end(SupportBuilder::limit_surface(surface.clone()));
            let pairs = [(few.0, many.0), (few.1[0], many.1[0]), (few.1[2], many.1[2])];
            for (few, many) in pairs {
                assert!(relative(few, many) < 0.01, "spin {spin}: {few} with few support points, {many} with many");
            }
        }
    }
}

/// Spinning on an ellipsoid: the torque is μ m g e, as that of a ball with torsion.
#[test]
fn an_ellipsoid_slows_a_spin_by_its_lever() {
    let support = SupportBuilder::limit_surface(LimitSurface::ellipsoid(0.07).unwrap()).friction(0.5);
    let body = BodyBuilder::planar("part", 2.0, 0.1).angular_velocity(0.0, 0.0, 6.0);
    let simulation = run(part(body, DOWN, &support), Preset::Ncp.scheme(), 0.001, 0.5, |_, _| ());
    let expected = 6.0 - 0.5 * 2.0 * G * 0.07 / 0.1 * 0.5;
    assert!((v(&simulation, "part")[2] - expected).abs() < 1e-9, "{:?}", v(&simulation, "part"));
}

/// Two bars with support points, joined by a hinge: sliding together they stop as one, turning against each other they stop too.
#[test]
fn joined_bodies_rub_with_all_their_feet() {
    let bars = |first: [f64; 3], second: [f64; 3]| {
        table(DOWN, |builder| {
            let mut ends = [("left", -0.25, first), ("right", 0.25, second)].map(|(name, x, [vx, vy, w])| {
                let bar = solid_rectangle(name, 1.0, [0.25, 0.05]).position(x, 0.0, 0.0);
                let bar = builder.body(bar.velocity(vx, vy, 0.0).angular_velocity(0.0, 0.0, w)).unwrap();
                builder.support(bar, &SupportBuilder::tripod(equilateral(0.05)).friction(0.3)).unwrap();
                bar
            });
            ends.sort();
            let [left, right] = ends;
            let (x, origin) = (nalgebra::Vector3::x(), nalgebra::Vector3::zeros());
            builder.joint_at("hinge", JointKind::Revolute, (left, right), origin, x).unwrap();
        })
    };
    for scheme in [Preset::Ncp.scheme(), polygon(8), Preset::MoreauJean.scheme()] {
        let together = bars([0.0, 1.0, 0.0], [0.0, 1.0, 0.0]);
        let mut rest = None;
        let end = run(together, scheme.clone(), 1e-3, 0.4, |simulation, _| {
            if rest.is_none() && v(simulation, "left")[1].abs() < 1e-9 {
                rest = Some(simulation.time());
            }
        });
        let exact = 1.0 / (0.3 * G);
        assert!((rest.unwrap() - exact).abs() < 2e-3, "{rest:?}, not {exact}");
        assert!((q(&end, "left")[1] - q(&end, "right")[1]).abs() < 1e-9);
        // Folding: the outer ends swing up while the hinge goes down.
        let folding = bars([0.0, 0.0, -4.0], [0.0, 0.0, 4.0]);
        let mut joint_error = 0.0_f64;
        let end = run(folding, scheme, 1e-3, 1.5, |_, report| joint_error = joint_error.max(report.joint_error));
        assert!(end.state().v.iter().all(|v| v.abs() < 1e-8), "{:?}", end.state().v);
        assert!(joint_error < 1e-4, "{joint_error}");
        let (left, right) = (q(&end, "left"), q(&end, "right"));
        assert!((left[2] + right[2]).abs() < 1e-6 && right[2] > 0.1, "mirrored: {left:?} {right:?}");
    }
}

/// A part slides into a wall and turns off it.
pub fn against_a_wall() -> Model {
    table(DOWN, |builder| {
        let wall = planar::Shape::half_plane(-nalgebra::Vector2::x()).unwrap();
        builder.body(BodyBuilder::fixed("wall").position(1.0, 0.0, 0.0).shape(wall.into())).unwrap();
        let part = solid_rectangle("part", 1.0, [0.2, 0.1]).velocity(2.5, 0.4, 0.0).angular_velocity(0.0, 0.0, 3.0);
        let part = builder.body(part).unwrap();
        builder.support(part, &SupportBuilder::tripod(equilateral(0.1)).frictions([0.2, 0.3, 0.4])).unwrap();
        builder.default_contact(ContactRule { restitution: 0.4, ..friction(0.3) }).unwrap();
    })
}

#[test]
fn supports_and_contacts_go_together() {
    for scheme in [Preset::Ncp.scheme(), polygon(16), Preset::MoreauJean.scheme()] {
        let mut touched = false;
        let end = run(against_a_wall(), scheme, 0.002, 2.0, |simulation, report| {
            touched |= !simulation.events().is_empty();
            assert!(report.penetration < 5e-3, "{}", report.penetration);
        });
        assert!(touched && end.state().v.iter().all(|v| v.abs() < 1e-8), "{:?}", end.state().v);
    }
}

#[test]
fn what_does_not_go_with_supports_is_refused() {
    let case = reference("c10");
    let refused =
        |model: Model, preset: Preset| Simulation::new(model, preset.scheme(), 0.01).err().unwrap().to_string();
    let reason = refused(square(&case, [0.0; 3]), Preset::Reference);
    assert!(reason.contains("has no planar supports"), "{reason}");
    let disc = SupportBuilder::limit_surface(LimitSurface::ellipsoid(0.1).unwrap()).friction(0.3);
    let reason = refused(part(BodyBuilder::planar("part", 1.0, 0.1), DOWN, &disc), Preset::StewartTrinkle);
    assert!(reason.contains("limit surfaces and linear friction sets"), "{reason}");
    // A custom stepper reports an error when it steps.
    let simulation = Simulation::new(square(&case, [0.0; 3]), Preset::Ncp.scheme(), 0.01).unwrap();
    let error = simulation.with_stepper(stiction::ReferenceStepper::default()).step().unwrap_err().to_string();
    assert!(error.contains("has no planar supports"), "{error}");
}

#[test]
fn a_state_of_other_feet_is_refused() {
    let case = reference("c10");
    let mut simulation = Simulation::new(square(&case, [1.0, 0.0, 1.0]), Preset::Ncp.scheme(), 0.01).unwrap();
    steps(&mut simulation, 3);
    let mut state = simulation.state().clone();
    assert!(state.support_impulses.iter().any(|p| *p != 0.0));
    state.support_impulses.pop();
    assert!(simulation.set_state(&state).unwrap_err().to_string().contains("support points"));
}
