//! STB-6: penetration removed after a step at velocity level.

use nalgebra::{Matrix3, Vector3};
use stiction::{
    BodyBuilder, BodyId, ContactRule, Dimension, JointKind, Manifold, Model, ModelBuilder, Preset, Scheme, Simulation,
    Stabilisation, planar, spatial,
};
use stiction_testkit::{count_allocations, reference};

use crate::{
    ellipse::ellipse,
    family::Family,
    stabilisation::{joint_rate, velocity_level},
    support::{floor, friction, run, v},
};

fn projected(preset: Preset) -> Scheme {
    let mut scheme = preset.scheme();
    (scheme.gamma, scheme.joint_gamma) = (0.0, 0.0);
    scheme.stabilisation = Stabilisation::Projection(Manifold::Positions);
    scheme
}

fn in_space(bodies: Vec<BodyBuilder>, rule: ContactRule) -> Model {
    let mut builder = ModelBuilder::new(Dimension::Spatial);
    builder.gravity(0.0, 0.0, -9.81).unwrap();
    let ground = spatial::Shape::half_space(Vector3::z()).unwrap();
    builder.body(BodyBuilder::fixed("floor").shape(ground.into())).unwrap();
    for body in bodies {
        builder.body(body).unwrap();
    }
    builder.default_contact(rule).unwrap();
    builder.build().unwrap()
}

fn ball(height: f64) -> BodyBuilder {
    let inertia = Matrix3::from_diagonal_element(0.4 * 0.01);
    BodyBuilder::rigid("ball", 1.0, inertia)
        .position(0.0, 0.0, height)
        .shape(spatial::Shape::sphere(0.1).unwrap().into())
}

/// C-24: the ellipse sinks without stabilisation; projected it touches, and the energy of the correction is reported.
#[test]
fn a_rolling_ellipse_does_not_sink() {
    let case = reference("c24");
    let h = case.number("parameters.step");
    let sinks = |scheme: Scheme, h: f64| {
        let (mut deepest, mut added) = (0.0_f64, 0.0);
        run(ellipse(&case), scheme, h, case.number("parameters.duration"), |_, report| {
            deepest = deepest.max(report.penetration);
            added += report.correction.map_or(0.0, |correction| correction.energy);
        });
        (deepest, added)
    };
    let (plain, _) = sinks(velocity_level(Stabilisation::Usual), h);
    let added = [h, h / 4.0, h / 16.0].map(|h| {
        let (deepest, added) = sinks(projected(Preset::AnitescuPotra), h);
        assert!(deepest < 1e-12, "{deepest}");
        added
    });
    println!("sinks by {plain} m without, projection adds {added:?} J");
    assert!(plain > 0.1);
    // Lifted out against gravity; of first order, like the scheme.
    assert!(added[0] > 0.0 && added[1] < 0.4 * added[0] && added[2] < 0.4 * added[1], "{added:?}");
}

/// A ball typed with 0.7 bounces with 0.7 also where it is lifted out of the floor before it is hit.
#[test]
fn projection_leaves_the_speed_of_an_impact_alone() {
    for preset in [Preset::AnitescuPotra, Preset::Ncp, Preset::MoreauJean] {
        let rule = ContactRule { restitution: 0.7, ..ContactRule::default() };
        let mut simulation = Simulation::new(in_space(vec![ball(0.613)], rule), projected(preset), 0.01).unwrap();
        // The last speed of falling, until it is answered.
        let (mut hits, mut falling) = (Vec::new(), None);
        for _ in 0..120 {
            let report = crate::support::step(&mut simulation);
            assert!(report.penetration < 1e-12, "{preset:?}: {report:?}");
            let speed = v(&simulation, "ball")[2];
            if speed < 0.0 {
                falling = Some(-speed);
            } else if speed > 0.0
                && let Some(before) = falling.take()
            {
                hits.push(speed / before);
            }
        }
        assert!(hits.len() >= 2, "{preset:?}: {hits:?}");
        assert!(hits.iter().all(|ratio| (ratio - 0.7).abs() < 1e-9), "{preset:?}: {hits:?}");
    }
}

/// A box dropped on an edge, with friction: corners come and go, nothing sinks, and after a while nothing moves.
#[test]
fn a_tumbling_box_comes_to_rest_on_the_floor() {
    let inertia = Matrix3::from_diagonal(&Vector3::new(0.02, 0.03, 0.04));
    let shape = spatial::Shape::cuboid([0.25, 0.2, 0.15]).unwrap();
    let tumbling = BodyBuilder::rigid("box", 1.0, inertia)
        .position(0.0, 0.0, 0.6)
        .quaternion([0.9, 0.3, 0.1, 0.3])
        .velocity(0.5, 0.0, 0.0)
        .shape(shape.into());
    for preset in [Preset::AnitescuPotra, Preset::Ncp, Preset::MoreauJean] {
        let model = in_space(vec![tumbling.clone()], friction(0.5));
        let mut simulation = Simulation::new(model, projected(preset), 0.005).unwrap();
        let start = simulation.save();
        for pass in 0..2 {
            let mut allocated = 0;
            for _ in 0..400 {
                let mut report = None;
                allocated += count_allocations(|| report = Some(simulation.step().unwrap())).count;
                let report = report.unwrap();
                assert!(report.penetration < 1e-12, "{preset:?}: {report:?}");
            }
            let speed = simulation.state().v.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
            assert!(speed < 1e-8, "{preset:?}: still moves at {speed}");
            assert!(pass == 0 || allocated == 0, "{preset:?} allocates");
            simulation.restore(&start).unwrap();
        }
    }
}

/// Wedged between two walls nothing can be projected: the step fails and the state stays.
#[test]
fn what_cannot_be_projected_is_told() {
    let mut builder = ModelBuilder::new(Dimension::Spatial);
    builder.gravity(0.0, 0.0, -9.81).unwrap();
    for (name, normal, x) in [("left", Vector3::x(), -0.09), ("right", -Vector3::x(), 0.09)] {
        let wall = spatial::Shape::half_space(normal).unwrap();
        builder.body(BodyBuilder::fixed(name).position(x, 0.0, 0.0).shape(wall.into())).unwrap();
    }
    builder.body(ball(0.0)).unwrap();
    let model = builder.build().unwrap();
    let mut simulation = Simulation::new(model, projected(Preset::AnitescuPotra), 0.01).unwrap();
    let before = simulation.state().clone();
    let error = simulation.step().unwrap_err();
    assert!(error.to_string().contains("could not be projected") && error.to_string().contains("ball"), "{error}");
    assert!(simulation.state().bit_equal(&before));
}

/// A box that sits askew in the floor is moved the least, in the metric of its mass matrix: whatever else would part the two is
/// further away.
#[test]
fn projection_finds_the_nearest_configuration() {
    let (mass, inertia, sides) = (2.0, 0.05, [0.3, 0.2]);
    let shape = planar::Shape::rectangle(sides).unwrap();
    for angle in [0.0_f64, 0.02, -0.05, 0.4] {
        let mut builder = ModelBuilder::new(Dimension::Planar);
        builder.body(BodyBuilder::fixed("floor").shape(floor())).unwrap();
        let body = BodyBuilder::planar("box", mass, inertia).position(0.0, 0.17, 0.0).angle(angle);
        builder.body(body.shape(shape.clone().into())).unwrap();
        let model = builder.build().unwrap();
        let mut simulation = Simulation::new(model, projected(Preset::AnitescuPotra), 1e-9).unwrap();
        let start = simulation.state().q.clone();
        let _ = crate::support::step(&mut simulation);
        let end = simulation.state().q.clone();
        let distance = |q: &[f64]| {
            let d: Vec<f64> = q.iter().zip(&start).map(|(q, start)| q - start).collect();
            mass * (d[0] * d[0] + d[1] * d[1]) + inertia * d[2] * d[2]
        };
        // Lowest corner, from the coordinates alone.
        let lowest = |q: &[f64]| q[1] - sides[0] * q[2].sin().abs() - sides[1] * q[2].cos().abs();
        assert!(lowest(&end).abs() < 1e-12, "{}", lowest(&end));
        let nearest = distance(&end);
        for k in 0..20_000 {
            let (turn, lift) = (f64::from(k % 200) - 100.0, f64::from(k / 200));
            let other = [end[0], end[1] + (lift - 50.0) * 1e-3, end[2] + turn * 1e-3];
            assert!(
                lowest(&other) < 0.0 || distance(&other) > nearest * (1.0 - 1e-9),
                "{other:?} is nearer than {end:?}"
            );
        }
    }
}

/// The same bits whatever is left in scratch memory, and after a restart, for everything that corrects.
#[test]
fn stabilised_steps_depend_on_the_state_alone() {
    let baumgarte = Stabilisation::Baumgarte { damping: 30.0, stiffness: 300.0 };
    let both = Stabilisation::Projection(Manifold::Both);
    let family = Family::read(&reference("c04"), &["rod_b", "block"]);
    for stabilisation in [baumgarte, both, Stabilisation::Ascher { rate: 40.0 }, Stabilisation::Multiplier] {
        let new = || Simulation::new(family.model(), velocity_level(stabilisation), 0.005).unwrap();
        let (mut plain, mut dropped, mut poisoned, mut resumed) = (new(), new(), new(), new());
        for step in 0..150 {
            *dropped.workspace_mut() = stiction::stepping::Workspace::default();
            poisoned.workspace_mut().poison();
            if step == 75 {
                resumed = new();
                resumed.restore(&plain.save()).unwrap();
            }
            for simulation in [&mut plain, &mut dropped, &mut poisoned, &mut resumed] {
                let _ = crate::support::step(simulation);
            }
        }
        for other in [&dropped, &poisoned, &resumed] {
            assert!(other.state().bit_equal(plain.state()), "{stabilisation:?}");
        }
    }
}

/// A door on two hinges has redundant rows: projection handles them as the step does.
#[test]
fn redundant_joints_are_projected() {
    let mut builder = ModelBuilder::new(Dimension::Spatial);
    builder.gravity(0.3, 0.2, -9.81).unwrap();
    let door = BodyBuilder::rigid("door", 3.0, Matrix3::from_diagonal(&Vector3::new(0.1, 0.2, 0.3)));
    let door = builder.body(door.position(0.5, 0.0, 0.0)).unwrap();
    for (name, height) in [("upper", 0.4), ("lower", -0.4)] {
        let place = Vector3::new(0.0, 0.0, height);
        builder.joint_at(name, JointKind::Revolute, (BodyId::WORLD, door), place, Vector3::z()).unwrap();
    }
    let mut scheme = projected(Preset::Ncp);
    scheme.stabilisation = Stabilisation::Projection(Manifold::Both);
    let mut simulation = Simulation::new(builder.build().unwrap(), scheme, 0.01).unwrap();
    for _ in 0..100 {
        let report = crate::support::step(&mut simulation);
        assert!(report.joint_error < 1e-12 && joint_rate(&simulation) < 1e-12, "{report:?}");
    }
    assert!(simulation.energy().kinetic > 0.01);
}
