//! Starts that joints do not allow: velocities that violate them, joints that are open, coordinates and poses set by hand.

use nalgebra::{Matrix3, Rotation3, Vector3};
use stiction::{
    BodyBuilder, BodyId, ClosingSpeed, Coordinates, Coupling, Dimension, JointDof, JointKind, Model, ModelBuilder,
    Preset, Scheme, Simulation,
    geometry::Pose,
    record::{Column, Ending, Recorder, RunLabels, RunTables, StartError},
    scene,
};

const ALL: [Coordinates; 3] = [Coordinates::Maximal, Coordinates::Reduced, Coordinates::DivideAndConquer];

fn scheme(coordinates: Coordinates) -> Scheme {
    let mut scheme = Preset::Ncp.scheme();
    scheme.coordinates = coordinates;
    scheme
}

fn link(name: impl Into<String>) -> BodyBuilder {
    BodyBuilder::rigid(name, 1.0, Matrix3::from_diagonal(&Vector3::new(0.02, 0.1, 0.1)))
}

/// Largest rate of the errors of all joints.
fn joint_rate(simulation: &Simulation) -> f64 {
    let at = simulation.configuration();
    let rates = simulation.model().joints().iter().flat_map(|joint| {
        let (a, b) = (at.twist(joint.a.0), at.twist(joint.b.0));
        joint.evaluate(at).map(move |row| (row.a.power(&a) + row.b.power(&b)).abs()).collect::<Vec<_>>()
    });
    rates.fold(0.0, f64::max)
}

fn joint_error(simulation: &Simulation) -> f64 {
    let at = simulation.configuration();
    let errors = simulation.model().joints().iter().flat_map(|joint| joint.evaluate(at).map(|row| row.value.abs()));
    errors.fold(0.0, f64::max)
}

/// A zigzag of `count` links of 1 m with hinges that are open by `gap` metres and `angle` radians.
fn open_chain(count: u32, (gap, angle): (f64, f64)) -> Model {
    let mut builder = ModelBuilder::new(Dimension::Spatial);
    let about_y = |angle: f64| Rotation3::from_axis_angle(&Vector3::y_axis(), angle);
    // The axis of a hinge is x of its frames: along z of the links.
    let upright = about_y(-std::f64::consts::FRAC_PI_2);
    let end = |x: f64, turned: Rotation3<f64>| Pose::from_parts(Vector3::new(x, 0.0, 0.0).into(), turned);
    let (mut last, mut tip) = ((BodyId::WORLD, end(0.0, upright)), Vector3::zeros());
    for k in 0..count {
        let lean = if k % 2 == 0 { 0.5 } else { -0.5 };
        let half = Vector3::new(f64::cos(lean), f64::sin(lean), 0.0) * 0.5;
        let center = tip + Vector3::new(gap, 0.0, 0.0) + half;
        let body = link(format!("link {k}")).position(center.x, center.y, 0.0);
        let body = builder.body(body.quaternion([f64::cos(lean / 2.0), 0.0, 0.0, f64::sin(lean / 2.0)])).unwrap();
        let frame = end(-0.5, about_y(angle) * upright);
        builder.joint(format!("joint {k}"), JointKind::Revolute, last, (body, frame)).unwrap();
        (last, tip) = ((body, end(0.5, upright)), center + half);
    }
    builder.build().unwrap()
}

/// The same zigzag in the plane with closed hinges, and a loop that is open by `gap` at its last joint.
fn open_loop(count: u32, gap: f64) -> Model {
    let mut builder = ModelBuilder::new(Dimension::Planar);
    let (mut last, mut tip) = (BodyId::WORLD, Vector3::zeros());
    for k in 0..count {
        let lean = if k % 2 == 0 { 0.5 } else { -0.5 };
        let half = Vector3::new(f64::cos(lean), f64::sin(lean), 0.0) * 0.5;
        let center = tip + half;
        let body = builder.body(link(format!("link {k}")).position(center.x, center.y, 0.0).angle(lean)).unwrap();
        builder.joint_at(format!("joint {k}"), JointKind::Revolute, (last, body), tip, Vector3::z()).unwrap();
        (last, tip) = (body, center + half);
    }
    let frames = (Pose::translation(0.5, 0.0, 0.0), Pose::translation(tip.x - gap, tip.y, 0.0));
    builder.joint("closing", JointKind::Revolute, (last, frames.0), (BodyId::WORLD, frames.1)).unwrap();
    builder.build().unwrap()
}

/// A body on its centre: the error closes at the closing speed, in a straight line, and then the body rests.
#[test]
fn an_open_joint_closes_at_the_closing_speed() {
    for preset in [Preset::Ncp, Preset::StewartTrinkle, Preset::GeometricallyImplicit] {
        let mut builder = ModelBuilder::new(Dimension::Spatial);
        let arm = builder.body(link("arm").position(0.06, 0.08, 0.0)).unwrap();
        builder.joint("pin", JointKind::Spherical, (BodyId::WORLD, Pose::identity()), (arm, Pose::identity())).unwrap();
        let (h, speed) = (0.01, 0.5);
        let mut scheme = preset.scheme();
        scheme.joint_closing_speed = ClosingSpeed { linear: speed, angular: 1.0, ..ClosingSpeed::default() };
        let mut simulation = Simulation::new(builder.build().unwrap(), scheme, h).unwrap();
        for k in 1..=22_u32 {
            let _ = simulation.step().unwrap();
            let expected = (0.1 - speed * h * f64::from(k)).max(0.0);
            let at = simulation.configuration().pose(arm).translation.vector;
            assert!((at - Vector3::new(0.6, 0.8, 0.0) * expected).norm() < 1e-9, "{preset:?}, step {k}: {at:?}");
            // The state does not move but in the last step of closing.
            let most = if k == 20 { 0.5 * speed * speed } else { 0.0 };
            assert!(simulation.energy().kinetic < most + 1e-9, "{preset:?}, step {k}");
        }
    }
}

/// Chains with joints open by 0.3 m and 1 rad, and a loop: no energy beyond that of the closing speed, and rest when they are closed.
#[test]
fn open_chains_close_without_energy_that_grows() {
    let count = 4;
    for coordinates in ALL {
        for (gap, angle) in [(0.3, 0.0), (0.0, 1.0), (0.3, 1.0)] {
            let what = format!("{coordinates:?}, open by {gap} m and {angle} rad");
            close(open_chain(count, (gap, angle)), coordinates, &what);
        }
        close(open_loop(count, 0.3), coordinates, &format!("{coordinates:?}, loop"));
    }
}

/// Closes a chain of four links and checks its energy.
fn close(model: Model, coordinates: Coordinates, what: &str) {
    let (h, links) = (0.002, 4_u32);
    let mut simulation = Simulation::new(model, scheme(coordinates), h).unwrap();
    let ClosingSpeed { linear, angular, .. } = ClosingSpeed::default();
    // Every joint closes at both speeds: link k turns at k times the angular one, and moves by that of all links in front of it, of 1 m.
    let of_link = |k: f64| {
        let speed = k * linear + 0.5 * k * (k + 1.0) * angular;
        0.5 * speed.powi(2) + 0.5 * 0.1 * (k * angular).powi(2)
    };
    let bound: f64 = (1..=links).map(f64::from).map(of_link).sum();
    let mut closed_at = None;
    for k in 0..300_u32 {
        let _ = simulation.step().unwrap();
        let kinetic = simulation.energy().kinetic;
        assert!(kinetic <= bound, "{what}: {kinetic} J in step {k} of at most {bound} J");
        if joint_error(&simulation) < 1e-3 {
            closed_at = closed_at.or(Some(k));
        }
    }
    assert!(closed_at.is_some_and(|k| f64::from(k) * h < 0.35), "{what}: closed in step {closed_at:?}");
    let (rate, error, kinetic) = (joint_rate(&simulation), joint_error(&simulation), simulation.energy().kinetic);
    assert!(rate < 1e-3 && error < 1e-6, "{what}: rate {rate}, error {error}");
    // Of the motion that closed it next to nothing is left.
    assert!(kinetic < 0.02, "{what}: {kinetic} J");
}

/// Without the bound the same chain gets energy that depends on the step, so that the test above can fail.
#[test]
fn without_the_bound_open_chains_explode() {
    let mut published = scheme(Coordinates::Maximal);
    published.joint_closing_speed = ClosingSpeed::UNBOUNDED;
    let mut simulation = Simulation::new(open_chain(4, (0.3, 0.0)), published, 0.002).unwrap();
    let _ = simulation.step().unwrap();
    assert!(simulation.energy().kinetic > 1e4);
}

/// Drift is no open joint: a pendulum that turns by 0.5 rad in a step moves as without a bound, to the last bit.
#[test]
fn the_bound_does_not_touch_drift() {
    let end = |speed: ClosingSpeed| {
        let mut builder = ModelBuilder::new(Dimension::Spatial);
        let spin = 50.0;
        let body = |name: &str| link(name).angular_velocity(0.0, 0.0, spin);
        let a = builder.body(body("a").position(1.0, 0.0, 0.0).velocity(0.0, spin, 0.0)).unwrap();
        let b = builder.body(body("b").position(2.0, 0.0, 0.0).velocity(0.0, 2.0 * spin, 0.0)).unwrap();
        let pins = [(BodyId::WORLD, a, 0.0), (a, b, 1.5)];
        for (k, (near, far, x)) in pins.into_iter().enumerate() {
            let anchor = Vector3::new(x, 0.0, 0.0);
            builder.joint_at(format!("pin {k}"), JointKind::Revolute, (near, far), anchor, Vector3::z()).unwrap();
        }
        let mut scheme = scheme(Coordinates::Maximal);
        scheme.joint_closing_speed = speed;
        let mut simulation = Simulation::new(builder.build().unwrap(), scheme, 0.01).unwrap();
        for _ in 0..50 {
            let _ = simulation.step().unwrap();
        }
        simulation.state().q.clone()
    };
    assert_eq!(end(ClosingSpeed::default()), end(ClosingSpeed::UNBOUNDED));
}

/// A collision of the links of a four-bar at the start, in all coordinates the same: energy, momentum balance and velocities at t = 0.
#[test]
fn velocities_that_loops_do_not_allow_collide_in_all_coordinates() {
    let starts = ALL.map(|coordinates| {
        let mut builder = ModelBuilder::new(Dimension::Spatial);
        let crank = builder.body(link("crank").position(0.0, 0.5, 0.0).velocity(3.0, 0.0, 0.0)).unwrap();
        let bar = builder.body(link("bar").position(0.5, 1.0, 0.0).angular_velocity(0.0, 0.0, 7.0)).unwrap();
        let rocker = builder.body(link("rocker").position(1.0, 0.5, 0.0)).unwrap();
        let pins = [(BodyId::WORLD, crank, 0.0, 0.0), (crank, bar, 0.0, 1.0), (bar, rocker, 1.0, 1.0)];
        for (k, (a, b, x, y)) in pins.into_iter().chain([(BodyId::WORLD, rocker, 1.0, 0.0)]).enumerate() {
            let anchor = Vector3::new(x, y, 0.0);
            builder.joint_at(format!("pin {k}"), JointKind::Revolute, (a, b), anchor, Vector3::z()).unwrap();
        }
        let simulation = Simulation::new(builder.build().unwrap(), scheme(coordinates), 1e-3).unwrap();
        let impact = simulation.start_impact().unwrap().clone();
        assert!((impact.kinetic_after - simulation.energy().kinetic).abs() < 1e-12);
        assert!((impact.kinetic_before - (4.5 + 0.5 * 0.1 * 49.0)).abs() < 1e-12);
        assert!(joint_rate(&simulation) < 1e-10, "{coordinates:?}: {}", joint_rate(&simulation));
        (simulation.state().v.clone(), impact)
    });
    for (v, impact) in &starts {
        assert!(v.iter().zip(&starts[0].0).all(|(a, b)| (a - b).abs() < 1e-9));
        assert!((impact.kinetic_after - starts[0].1.kinetic_after).abs() < 1e-9);
        assert!(impact.kinetic_after < impact.kinetic_before);
        assert_eq!((impact.joint, impact.velocity_error), (starts[0].1.joint, starts[0].1.velocity_error));
    }
}

/// Two bodies in free flight keep momentum and angular momentum in the impact.
#[test]
fn an_impact_at_the_start_keeps_the_momentum() {
    let after = ALL.map(|coordinates| {
        let mut builder = ModelBuilder::new(Dimension::Spatial);
        let a = builder.body(link("light").angular_velocity(1.0, 2.0, 10.0)).unwrap();
        let b = builder.body(link("heavy").position(1.0, 0.0, 0.0).velocity(0.0, 1.0, -2.0)).unwrap();
        builder.joint_at("hinge", JointKind::Revolute, (a, b), Vector3::new(0.5, 0.0, 0.0), Vector3::z()).unwrap();
        let simulation = Simulation::new(builder.build().unwrap(), scheme(coordinates), 1e-3).unwrap();
        let moment = Vector3::new(0.02, 0.2, 1.0) + Vector3::new(1.0, 0.0, 0.0).cross(&Vector3::new(0.0, 1.0, -2.0));
        let momentum = simulation.momentum();
        assert!((momentum.linear - Vector3::new(0.0, 1.0, -2.0)).norm() < 1e-12, "{coordinates:?}");
        assert!((momentum.angular - moment).norm() < 1e-12, "{coordinates:?}: {:?}", momentum.angular);
        simulation.energy().kinetic
    });
    assert!(after.iter().all(|energy| (energy - after[0]).abs() < 1e-12), "{after:?}");
}

const ARM: &str = r#"
[simulation]
duration = 1.0
step = 0.01
gravity = [0.0, 0.0, 0.0]
[[body]]
name = "upper"
mass = 1.0
inertia = [0.02, 0.1, 0.1]
position = [0.5, 0.0, 0.0]
[[body]]
name = "lower"
mass = 1.0
inertia = [0.02, 0.1, 0.1]
position = [1.5, 0.0, 0.0]
[[joint]]
name = "shoulder"
kind = "revolute"
between = ["world", "upper"]
anchor = [0.0, 0.0, 0.0]
axis = [0.0, 0.0, 1.0]
reference = 0.1
[[joint]]
name = "elbow"
kind = "revolute"
between = ["lower", "upper"]
anchor = [1.0, 0.0, 0.0]
axis = [0.0, 0.0, 1.0]
"#;

fn arm(coordinates: Coordinates, changes: &[(&str, &str)]) -> Simulation {
    let mut changes: Vec<_> = changes.iter().map(|(path, value)| ((*path).to_owned(), (*value).to_owned())).collect();
    changes.push(("scheme.coordinates".to_owned(), coordinates.name().to_owned()));
    Simulation::from_scene(&scene::parse_with(ARM, "arm.toml", &changes).unwrap()).unwrap()
}

fn place(simulation: &Simulation, body: &str) -> Vector3<f64> {
    simulation.configuration().pose(simulation.model().find_body(body).unwrap()).translation.vector
}

fn coordinate(simulation: &Simulation, joint: &str) -> f64 {
    simulation.joint_coordinate((simulation.model().find_joint(joint).unwrap(), 0)).unwrap()
}

/// `initial` turns the links beyond a joint from `reference`, also against the direction of a joint and by more than half a turn; nothing opens.
#[test]
fn initial_moves_the_arm_in_all_coordinates() {
    for coordinates in ALL {
        let turned = arm(coordinates, &[("joint.shoulder.initial", "0.6"), ("joint.elbow.initial", "4.0")]);
        // The elbow measures the upper link against the lower one, so the lower link turns backwards.
        let (first, second) = (0.5, 0.5 - 4.0);
        let elbow = Vector3::new(libm::cos(first), libm::sin(first), 0.0);
        let lower = elbow + Vector3::new(libm::cos(second), libm::sin(second), 0.0) * 0.5;
        assert!((place(&turned, "upper") - elbow * 0.5).norm() < 1e-12, "{coordinates:?}");
        assert!((place(&turned, "lower") - lower).norm() < 1e-12, "{coordinates:?}: {:?}", place(&turned, "lower"));
        assert!((coordinate(&turned, "shoulder") - 0.6).abs() < 1e-12);
        assert!((coordinate(&turned, "elbow") - 4.0).abs() < 1e-12);
        assert!(joint_error(&turned) < 1e-14 && turned.start_impact().is_none());
        let still = arm(coordinates, &[]);
        assert!((coordinate(&still, "shoulder") - 0.1).abs() < 1e-15);
        assert!((place(&still, "lower") - Vector3::new(1.5, 0.0, 0.0)).norm() < 1e-15);
    }
}

/// Two floating bodies that move alike, and a joint between them that starts at 0.3, 0.5, … instead of 0.05.
fn started(dimension: Dimension, kind: JointKind) -> Model {
    let mut builder = ModelBuilder::new(dimension);
    let inertia = Matrix3::from_diagonal(&Vector3::new(0.02, 0.1, 0.1));
    let body = |name: &str| BodyBuilder::rigid(name, 1.0, inertia).velocity(0.3, -0.2, 0.0);
    let a = builder.body(body("a")).unwrap();
    let b = builder.body(body("b").position(1.0, 0.0, 0.0)).unwrap();
    let (anchor, axis) = (Vector3::new(0.4, 0.1, 0.0), Vector3::new(0.6, 0.8, 0.0));
    let joint = builder.joint_at("joint", kind, (a, b), anchor, axis).unwrap();
    for number in 0..kind.dof_is_length(dimension).count() {
        builder.joint_dof((joint, number), JointDof { initial: 0.05, ..JointDof::default() }).unwrap();
        builder.joint_start((joint, number), 0.3 + 0.2 * number as f64).unwrap();
    }
    builder.build().unwrap()
}

/// All kinds of joints with coordinates start at those that are asked for and stay there, closed.
#[test]
fn every_joint_with_a_coordinate_starts_where_it_is_told() {
    for dimension in [Dimension::Planar, Dimension::Spatial] {
        for kind in JointKind::all(dimension) {
            let without = matches!(kind, JointKind::Spherical | JointKind::Distance(_));
            let dofs = if without { 0 } else { kind.dof_is_length(dimension).count() };
            for coordinates in ALL.into_iter().filter(|_| dofs > 0) {
                let mut simulation = Simulation::new(started(dimension, kind), scheme(coordinates), 0.01).unwrap();
                let joint = simulation.model().find_joint("joint").unwrap();
                for _ in 0..3 {
                    for number in 0..dofs {
                        let found = simulation.joint_coordinate((joint, number)).unwrap();
                        let expected = 0.3 + 0.2 * number as f64;
                        assert!((found - expected).abs() < 1e-9, "{kind:?} {number} {coordinates:?}: {found}");
                    }
                    assert!(joint_error(&simulation) < 1e-9 && joint_rate(&simulation) < 1e-9, "{kind:?}");
                    let _ = simulation.step().unwrap();
                }
            }
        }
    }
}

/// A joint that closes a loop has no start of its own, and says so at its place in the file.
#[test]
fn initial_of_a_loop_is_refused() {
    // The two joints on the world are in the tree, and the elbow closes the loop.
    let looped = format!(
        "{ARM}initial = 0.3\n[[joint]]\nname = \"last\"\nkind = \"revolute\"\nbetween = [\"lower\", \"world\"]\nanchor = [2.0, 0.0, 0.0]\naxis = [0.0, 0.0, 1.0]\n"
    );
    let error = scene::parse(&looped, "arm.toml").unwrap_err().to_string();
    assert!(error.contains("elbow") && error.contains("closes a loop") && error.contains("another joint"), "{error}");
}

/// Joints and links moved by hand stay moved; poses that joints do not allow are refused and change nothing.
#[test]
fn poses_set_by_hand_stay_or_are_refused() {
    for coordinates in ALL {
        let mut simulation = arm(coordinates, &[]);
        let ids = ["shoulder", "elbow"].map(|name| simulation.model().find_joint(name).unwrap());
        simulation.set_joint((ids[0], 0), 0.1 + std::f64::consts::FRAC_PI_2).unwrap();
        for _ in 0..3 {
            assert!((place(&simulation, "lower") - Vector3::new(0.0, 1.5, 0.0)).norm() < 1e-12, "{coordinates:?}");
            let _ = simulation.step().unwrap();
        }
        // All poses of the arm stretched along x again.
        let straight = arm(coordinates, &[]).state().q.clone();
        simulation.set_coordinates(Some(&straight), None).unwrap();
        let _ = simulation.step().unwrap();
        assert!((place(&simulation, "lower") - Vector3::new(1.5, 0.0, 0.0)).norm() < 1e-12);
        // The upper link turned about the shoulder carries the lower one in reduced coordinates.
        let upper = simulation.model().find_body("upper").unwrap();
        let turned = [0.0, 0.5, 0.0, 0.5_f64.sqrt(), 0.0, 0.0, 0.5_f64.sqrt()];
        let lifted = [0.5, 0.0, 0.2, 1.0, 0.0, 0.0, 0.0];
        if coordinates == Coordinates::Maximal {
            continue;
        }
        let before = simulation.state().clone();
        let error = simulation.set_body_coordinates(upper, &lifted).unwrap_err().to_string();
        assert!(error.contains("shoulder") && error.contains("set_joint"), "{error}");
        assert_eq!(simulation.state(), &before);
        simulation.set_body_coordinates(upper, &turned).unwrap();
        let _ = simulation.step().unwrap();
        assert!((place(&simulation, "lower") - Vector3::new(0.0, 1.5, 0.0)).norm() < 1e-9);
        assert!((coordinate(&simulation, "elbow")).abs() < 1e-9);
    }
}

/// A four-bar linkage whose last bar reaches the ground pivot only if that is near enough.
#[test]
fn a_loop_that_cannot_close_is_refused_by_the_names_of_its_joints() {
    let model = |pivot: f64| {
        let mut builder = ModelBuilder::new(Dimension::Planar);
        let [crank, coupler, rocker] = [("crank", 0.0, 0.5), ("coupler", 0.5, 1.0), ("rocker", 1.0, 0.5)]
            .map(|(name, x, y)| builder.body(link(name).position(x, y, 0.0)).unwrap());
        let at = |x: f64, y: f64| Vector3::new(x, y, 0.0);
        let hinge = JointKind::Revolute;
        builder.joint_at("first", hinge, (BodyId::WORLD, crank), at(0.0, 0.0), Vector3::z()).unwrap();
        builder.joint_at("second", hinge, (crank, coupler), at(0.0, 1.0), Vector3::z()).unwrap();
        builder.joint_at("third", hinge, (coupler, rocker), at(1.0, 1.0), Vector3::z()).unwrap();
        let frames = (Pose::translation(0.0, -0.5, 0.0), Pose::translation(pivot, 0.0, 0.0));
        builder.joint("last", hinge, (rocker, frames.0), (BodyId::WORLD, frames.1)).unwrap();
        builder.build().unwrap()
    };
    for coordinates in ALL {
        let refused = Simulation::new(model(3.6), scheme(coordinates), 0.002).map(|_| ()).unwrap_err().to_string();
        for name in ["first", "second", "third", "last"] {
            assert!(refused.contains(&format!("\"{name}\"")), "{refused}");
        }
        // In reach it closes, from 1.9 m away at 1 m/s.
        let mut simulation = Simulation::new(model(2.9), scheme(coordinates), 0.002).unwrap();
        for _ in 0..1500 {
            let _ = simulation.step().unwrap();
        }
        assert!(joint_error(&simulation) < 1e-3, "{coordinates:?}: {}", joint_error(&simulation));
    }
}

/// True for the last step but one of closing, which may do half of what is left.
fn is_last_but_one(error: f64, per_step: f64, step: u32) -> bool {
    let left = error - per_step * f64::from(step);
    left > -1e-9 && left < 1.001 * per_step
}

/// A door that starts 1 rad beyond its limit comes back at 5 rad/s and stays there at rest, and a drawer 0.3 m beyond it at 1 m/s.
#[test]
fn passed_limits_are_left_at_the_closing_speed() {
    for coordinates in ALL {
        for (kind, beyond, speed) in [(JointKind::Revolute, 1.001, 5.0), (JointKind::Prismatic, 0.3, 1.0)] {
            for sign in [1.0, -1.0] {
                let mut builder = ModelBuilder::new(Dimension::Spatial);
                let body = builder.body(link("body")).unwrap();
                let joint =
                    builder.joint_at("joint", kind, (BodyId::WORLD, body), Vector3::zeros(), Vector3::z()).unwrap();
                let limits = if sign > 0.0 { [beyond, 10.0] } else { [-10.0, -beyond] };
                builder.joint_dof((joint, 0), JointDof { limits: Some(limits), ..JointDof::default() }).unwrap();
                let h = 0.002;
                let mut simulation = Simulation::new(builder.build().unwrap(), scheme(coordinates), h).unwrap();
                for k in 1..=200_u32 {
                    let _ = simulation.step().unwrap();
                    let expected = sign * (speed * h * f64::from(k)).min(beyond);
                    let found = coordinate(&simulation, "joint");
                    let close = if is_last_but_one(beyond, speed * h, k) { speed * h } else { 1e-12 };
                    assert!((found - expected).abs() < close, "{coordinates:?}, {kind:?}, step {k}: {found}");
                    let kinetic = simulation.energy().kinetic;
                    assert!(kinetic < 1e-24, "{coordinates:?}, {kind:?}, step {k}: {kinetic} J");
                }
            }
        }
    }
}

/// Two links in a line, open in nothing but the laws of their two hinges or slides, "p" on the world and "q" between them.
fn two_links(kind: JointKind, limits: Option<[f64; 2]>, law: Option<Coupling>) -> Model {
    let mut builder = ModelBuilder::new(Dimension::Planar);
    let [a, b] = [("a", 0.5), ("b", 1.5)].map(|(name, x)| builder.body(link(name).position(x, 0.0, 0.0)).unwrap());
    let ids = [("p", BodyId::WORLD, a, 0.0), ("q", a, b, 1.0)].map(|(name, near, far, x)| {
        let axis = if kind == JointKind::Revolute { Vector3::z() } else { Vector3::x() };
        builder.joint_at(name, kind, (near, far), Vector3::new(x, 0.0, 0.0), axis).unwrap()
    });
    builder.joint_dof((ids[1], 0), JointDof { limits, ..JointDof::default() }).unwrap();
    if let Some(law) = law {
        let leader = law.leader.is_some().then_some((ids[0], 0));
        builder.coupling(Coupling { follower: (ids[1], 0), leader, ..law }).unwrap();
    }
    builder.build().unwrap()
}

/// Couplings that start open close at the closing speed, and the links rest: q = p + 1.001 rad, q = 0.4 rad, q = 2 p - 0.3 m, q = p² + p + 0.4 rad.
#[test]
fn open_couplings_close_at_the_closing_speed() {
    let laws = [
        (JointKind::Revolute, true, [1.001, 1.0, 0.0]),
        (JointKind::Revolute, false, [0.4, 0.0, 0.0]),
        (JointKind::Prismatic, true, [-0.3, 2.0, 0.0]),
        (JointKind::Revolute, true, [0.4, 1.0, 1.0]),
    ];
    for coordinates in ALL {
        for (kind, leads, [c0, c1, c2]) in laws {
            let any = two_links(kind, None, None).find_joint("p").unwrap();
            let polynomial = [c0, c1, c2, 0.0, 0.0];
            let leader = leads.then_some((any, 0));
            let law = Coupling { name: "law".into(), follower: (any, 0), leader, polynomial };
            let h = 0.005;
            let mut simulation = Simulation::new(two_links(kind, None, Some(law)), scheme(coordinates), h).unwrap();
            let speed = if kind == JointKind::Revolute { 5.0 } else { 1.0 };
            for k in 1..=100_u32 {
                let _ = simulation.step().unwrap();
                let [p, q] = ["p", "q"].map(|name| coordinate(&simulation, name));
                let error = q - c0 - c1 * p - c2 * p * p;
                let expected = -c0.signum() * (c0.abs() - speed * h * f64::from(k)).max(0.0);
                // The row of a step has the slope at its start.
                let last = if is_last_but_one(c0.abs(), speed * h, k) { speed * h } else { 0.0 };
                let curved = c2 * f64::from(k) * (speed * h).powi(2) + last + 1e-7;
                assert!((error - expected).abs() < curved, "{coordinates:?}, {kind:?}, step {k}: {error}, {expected}");
                // In maximal coordinates the hinges drift by ½ (h ω)² of an arm, and that closes in the next step.
                let turns = kind == JointKind::Revolute && coordinates == Coordinates::Maximal;
                // Coupled coordinates drift by the curvature of their law, ½ f″ (h ψ̇)².
                let drift = if turns { 0.5 * h * speed * speed } else { 0.0 } + c2 * h * speed * speed;
                let kinetic = simulation.energy().kinetic;
                assert!(kinetic < drift * drift + 1e-18, "{coordinates:?}, {kind:?}, step {k}: {kinetic} J");
            }
            let kinetic = simulation.energy().kinetic;
            assert!(joint_error(&simulation) < 1e-9 && kinetic < 1e-9, "{coordinates:?}, {kind:?}: {kinetic} J");
        }
    }
}

/// Two links in free flight that turn together, with the elbow 0.5 rad beyond its limit: it closes, and they turn on as one body with the angular
/// momentum of the start.
#[test]
fn a_limit_that_closes_in_flight_keeps_the_angular_momentum() {
    for coordinates in ALL {
        let mut builder = ModelBuilder::new(Dimension::Planar);
        let spin = 2.0;
        let [a, b] = [("a", -0.5), ("b", 0.5)].map(|(name, x)| {
            let body = link(name).position(x, 0.0, 0.0).velocity(0.0, spin * x, 0.0).angular_velocity(0.0, 0.0, spin);
            builder.body(body).unwrap()
        });
        let elbow = builder.joint_at("elbow", JointKind::Revolute, (a, b), Vector3::zeros(), Vector3::z()).unwrap();
        builder.joint_dof((elbow, 0), JointDof { limits: Some([0.5, 1.0]), ..JointDof::default() }).unwrap();
        let h = 0.001;
        let mut simulation = Simulation::new(builder.build().unwrap(), scheme(coordinates), h).unwrap();
        let momentum = simulation.momentum().angular.z;
        for _ in 0..150 {
            let _ = simulation.step().unwrap();
        }
        // 1 kg and 0.1 kg m² each, with the centres 0.5 m from the elbow.
        let inertia = 2.0 * (0.1 + (0.5 * libm::cos(0.25)).powi(2));
        let kept = simulation.momentum().angular.z;
        assert!((kept - momentum).abs() < 1e-9, "{coordinates:?}: {kept} of {momentum}");
        let (kinetic, expected) = (simulation.energy().kinetic, 0.5 * momentum * momentum / inertia);
        assert!((kinetic - expected).abs() < 1e-4 * expected, "{coordinates:?}: {kinetic} J, {expected} J");
        assert!((coordinate(&simulation, "elbow") - 0.5).abs() < 1e-9, "{coordinates:?}");
    }
}

/// The summary of a run and the first row of its table tell of a joint that is open by 0.1 m, a limit that is passed and a coupling.
#[test]
fn runs_tell_what_does_not_hold_at_the_start() {
    let text = r#"
[simulation]
duration = 0.1
step = 0.005
gravity = [0.0, 0.0]
[[body]]
name = "a"
mass = 1.0
inertia = 0.08
position = [0.5, 0.0]
[[body]]
name = "b"
mass = 1.0
inertia = 0.08
position = [0.5, 2.0]
[[joint]]
name = "weld"
kind = "weld"
between = ["world", "a"]
anchors = [[0.0, 0.0], [0.1, 0.0]]
[[joint]]
name = "hinge"
kind = "revolute"
between = ["world", "b"]
anchor = [0.0, 2.0]
initial = 3.0
limits = [-1.0, 1.0]
[[coupling]]
follower = "hinge"
offset = 0.5
"#;
    for coordinates in ALL {
        let changes = [("scheme.coordinates".to_owned(), coordinates.name().to_owned())];
        let scene = scene::parse_with(text, "start.toml", &changes).unwrap();
        let simulation = Simulation::from_scene(&scene).unwrap();
        let folder = std::env::temp_dir().join(format!("stiction-start-{coordinates:?}-{}", std::process::id()));
        let labels = RunLabels { scene: "start".into(), preset: "ncp".into(), solver: "-".into(), record_every: 1 };
        let recorder = Recorder::create(&folder, &labels, &simulation).unwrap();
        let summary = recorder.finish(&simulation, 0.0, Ending::Finished).summary;
        let errors = RunTables::open(&folder).unwrap().column("joint_error").unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        let [weld, limit, coupling] = &summary.joint_error.at_start[..] else {
            panic!("{coordinates:?}: {:?}", summary.joint_error.at_start)
        };
        let is_maximal = coordinates == Coordinates::Maximal;
        let (joint, error) = match weld {
            StartError::OpenJoint { joint, error } if is_maximal => (joint, error),
            StartError::MovedJoint { joint, error } if !is_maximal => (joint, error),
            other => panic!("{coordinates:?}: {other:?}"),
        };
        assert!(joint == "weld" && (error - 0.1).abs() < 1e-12, "{joint}: {error}");
        let StartError::PassedLimit { joint, dof: None, coordinate, limits: [-1.0, 1.0] } = limit else {
            panic!("{coordinates:?}: {limit:?}")
        };
        assert!(joint == "hinge" && (coordinate - 3.0).abs() < 1e-12, "{coordinate}");
        let StartError::OpenCoupling { error, .. } = coupling else { panic!("{coordinates:?}: {coupling:?}") };
        assert!((error - 2.5).abs() < 1e-12, "{error}");
        let Column::Reals(errors) = errors else { panic!("joint errors are numbers") };
        let expected = if is_maximal { 0.1 } else { 0.0 };
        assert!(errors.len() == 1 && (errors[0] - expected).abs() < 1e-12, "{coordinates:?}: {errors:?}");
    }
}
