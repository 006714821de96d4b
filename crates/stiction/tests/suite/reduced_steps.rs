//! Steps in reduced coordinates: joint reactions, the energy balance, and the reports of a run.

use nalgebra::{Matrix3, Vector3};
use stiction::{
    BodyBuilder, BodyId, Coordinates, Coupling, Dimension, Expression, Impact, JointDof, JointKind, LineariseAt, Model,
    ModelBuilder, Motor, Preset, Scheme, Simulation, planar,
    scene::{
        parse,
        robot::{ReadOptions, Robot, SceneOptions},
    },
    spatial,
};

use crate::drives::{Rig, schemes};
use crate::promises::chain;
use crate::support::{G, down, friction, on_floor, step, steps};

fn reduced(preset: Preset) -> Scheme {
    let mut scheme = preset.scheme();
    scheme.coordinates = Coordinates::Reduced;
    scheme
}

/// JNT-5.
#[test]
fn a_hanging_chain_carries_its_weight_in_reduced_coordinates() {
    for preset in [Preset::Ncp, Preset::StewartTrinkle] {
        for links in [1, 10, 50] {
            let mut simulation = Simulation::new(chain(links), reduced(preset), 0.01).unwrap();
            steps(&mut simulation, 10);
            for k in 0..links {
                let joint = simulation.model().find_joint(&format!("pin {k}")).unwrap();
                let wrench = simulation.joint_wrench(joint).unwrap();
                let weight = (links - k) as f64 * 0.5 * G;
                assert!((wrench.linear.y - weight).abs() < 1e-10, "joint {k} of {links}: {:?}", wrench.linear);
                assert!(wrench.linear.x.abs() < 1e-10);
            }
        }
    }
}

/// A chain of every kind of joint, in both directions, with springs and dampers in some.
fn mixed_chain() -> Model {
    let mut builder = ModelBuilder::new(Dimension::Spatial);
    builder.gravity(0.3, -0.2, -G).unwrap();
    let kinds = [
        JointKind::Revolute,
        JointKind::Universal,
        JointKind::Spherical,
        JointKind::Weld,
        JointKind::Cylindrical,
        JointKind::Prismatic,
        JointKind::Planar,
        JointKind::Revolute,
    ];
    let mut above = BodyId::WORLD;
    for (k, kind) in kinds.into_iter().enumerate() {
        let moments = Vector3::new(0.05, 0.06, 0.07) * (1.0 + 0.1 * k as f64);
        let body = BodyBuilder::rigid(format!("body {k}"), 0.5, Matrix3::from_diagonal(&moments));
        let body = builder.body(body.position(0.4 * k as f64 + 0.2, 0.05 * k as f64, 0.0)).unwrap();
        let bodies = if k % 2 == 0 || kind == JointKind::Planar { (above, body) } else { (body, above) };
        let (anchor, axis) = (Vector3::new(0.4 * k as f64, 0.02, -0.01), Vector3::new(0.2, 1.0, 0.3));
        let id = builder.joint_at(format!("joint {k}"), kind, bodies, anchor, axis).unwrap();
        let count = match kind {
            JointKind::Weld => 0,
            JointKind::Universal | JointKind::Cylindrical => 2,
            JointKind::Planar => 3,
            _ => 1,
        };
        for number in 0..count {
            let acting = JointDof { stiffness: 20.0, damping: 0.5, armature: 0.02, ..JointDof::default() };
            builder.joint_dof((id, number), acting).unwrap();
        }
        above = body;
    }
    builder.build().unwrap()
}

/// Largest difference between the joint reactions in the two coordinates.
fn apart(model: &Model, preset: Preset, h: f64, end: f64) -> f64 {
    let carried = [Coordinates::Maximal, Coordinates::Reduced].map(|coordinates| {
        let mut scheme = preset.scheme();
        scheme.coordinates = coordinates;
        let mut simulation = Simulation::new(model.clone(), scheme, h).unwrap();
        steps(&mut simulation, (end / h).round() as usize);
        let impulses = simulation.joint_impulses();
        impulses.iter().map(|p| p / h).collect::<Vec<_>>()
    });
    let [maximal, reduced] = carried;
    assert!(maximal.iter().any(|force| force.abs() > 1.0));
    maximal.iter().zip(&reduced).fold(0.0_f64, |most, (x, y)| most.max((x - y).abs()))
}

#[test]
fn joints_carry_the_same_in_both_coordinates_to_the_order_of_the_scheme() {
    let model = mixed_chain();
    for preset in [Preset::Ncp, Preset::StewartTrinkle] {
        let (coarse, fine) = (apart(&model, preset, 2e-3, 0.2), apart(&model, preset, 2.5e-4, 0.2));
        assert!(fine < 0.3 * coarse && fine < 0.1, "{preset:?}: {coarse} and {fine} N");
    }
}

#[test]
fn a_loop_and_a_contact_load_the_joints_alike_in_both_coordinates() {
    // A four-bar linkage whose coupler rests on the floor by a foot, driven by a spring.
    let mut builder = ModelBuilder::new(Dimension::Planar);
    builder.gravity(0.0, -G, 0.0).unwrap();
    let floor = BodyBuilder::fixed("floor").shape(crate::support::floor());
    builder.body(floor).unwrap();
    let rod = |name: &str, [x, y]: [f64; 2]| BodyBuilder::planar(name, 0.5, 0.02).position(x, y, 0.0);
    let left = builder.body(rod("left", [0.0, 0.5])).unwrap();
    let foot = planar::Shape::disc(0.1).unwrap();
    let coupler = builder.body(rod("coupler", [0.5, 0.1]).shape(foot.into())).unwrap();
    let right = builder.body(rod("right", [1.0, 0.5])).unwrap();
    let pins = [
        ("a", (BodyId::WORLD, left), [0.0, 1.0]),
        ("b", (left, coupler), [0.0, 0.1]),
        ("c", (coupler, right), [1.0, 0.1]),
        ("d", (right, BodyId::WORLD), [1.0, 1.0]),
    ];
    for (name, bodies, [x, y]) in pins {
        builder.joint_at(name, JointKind::Revolute, bodies, Vector3::new(x, y, 0.0), Vector3::x()).unwrap();
    }
    builder.default_contact(friction(0.4)).unwrap();
    let model = builder.build().unwrap();
    assert_eq!(model.forest().loops().len(), 1);
    for preset in [Preset::Ncp, Preset::StewartTrinkle] {
        // At rest both are exact: only the statically determinate part is compared, the sums over the coupler.
        let sums = [Coordinates::Maximal, Coordinates::Reduced].map(|coordinates| {
            let mut scheme = preset.scheme();
            scheme.coordinates = coordinates;
            let mut simulation = Simulation::new(model.clone(), scheme, 0.01).unwrap();
            steps(&mut simulation, 20);
            let wrench = |name: &str| simulation.joint_wrench(simulation.model().find_joint(name).unwrap()).unwrap();
            let contact: f64 = simulation.contacts().iter().map(|c| c.normal_impulse / 0.01).sum();
            // On the coupler: b pushes its second body, c its first.
            let lift = wrench("b").linear.y - wrench("c").linear.y + contact;
            assert!((lift - 0.5 * G).abs() < 1e-8, "{preset:?}, {coordinates:?}: {lift}");
            let on_right = wrench("c").linear.y - wrench("d").linear.y;
            assert!((on_right - 0.5 * G).abs() < 1e-8, "{preset:?}, {coordinates:?}: {on_right}");
            wrench("a").linear.y - wrench("b").linear.y
        });
        assert!((sums[0] - sums[1]).abs() < 1e-8, "{preset:?}: {sums:?}");
    }
}

/// THY-3: without friction the energy balance closes, in both coordinates, with springs, motors, limits and impacts.
#[test]
fn the_account_of_energy_knows_what_drives_do() {
    let acting =
        JointDof { limits: Some([-0.4, 0.6]), stiffness: 5.0, damping: 0.2, armature: 0.1, ..JointDof::default() };
    let rig = Rig::hinge(acting).spinning(2.0);
    let rig = rig.driven_by(|id| Motor {
        force_limits: Some([-1.0, 1.5]),
        ..Motor::position("servo", id, "0.8 * sin(6 * t)".parse().unwrap(), (30.0, 2.0))
    });
    rig.everywhere(0.01, |name, simulation| {
        let mut worked = 0.0_f64;
        for _ in 0..150 {
            let _ = step(simulation);
            let account = simulation.energy_bound().unwrap();
            let size = account.before + account.after + account.joint_space.abs() + account.lost + account.asked.abs();
            assert!(account.friction().abs() < 1e-9 * (1.0 + size), "{name}: {account:?}");
            assert!((account.after - simulation.energy().kinetic).abs() < 1e-9 * (1.0 + size), "{name}: {account:?}");
            worked = worked.max(account.joint_space.abs());
        }
        assert!(worked > 1e-3, "{name}");
    });
    for scheme in [reduced(Preset::Ncp), reduced(Preset::StewartTrinkle), Preset::Ncp.scheme()] {
        let mut simulation = Simulation::new(mixed_chain(), scheme, 1e-3).unwrap();
        for _ in 0..100 {
            let _ = step(&mut simulation);
            let account = simulation.energy_bound().unwrap();
            let size = account.before + account.forces.abs() + account.joint_space.abs() + account.lost;
            assert!(account.friction().abs() < 1e-8 * size.max(1e-3), "{account:?}");
        }
    }
}

/// Regression: a swinging spring does not gain energy; the reports omitted its potential energy.
#[test]
fn what_springs_and_rotors_store_is_energy() {
    let sprung = JointDof { stiffness: 40.0, armature: 0.3, initial: 1.2, ..JointDof::default() };
    Rig::hinge(sprung).everywhere(1e-3, |name, simulation| {
        let start = simulation.energy().total();
        assert!((start - 0.5 * 40.0 * 1.44).abs() < 1e-12, "{name}: {start}");
        let (mut before, mut least, mut most) = (start, f64::INFINITY, 0.0_f64);
        for _ in 0..500 {
            let _ = step(simulation);
            let energy = simulation.energy();
            assert!(energy.total() <= before + 1e-12 * start, "{name} gains {}", energy.total() - before);
            before = energy.total();
            (least, most) = (least.min(energy.kinetic), most.max(energy.kinetic));
        }
        assert!(before > 0.9 * start && least < 0.01 * start && most > 0.9 * start, "{name}: {before} {least} {most}");
    });
}

/// Poisson's hypothesis: springs and dampers exert no impulse in zero time, however stiff; rotors do.
#[test]
fn stiff_drives_do_not_carry_impacts() {
    let speed = |armature: f64, (stiffness, damping): (f64, f64), coordinates: Coordinates| {
        let mut builder = ModelBuilder::new(Dimension::Planar);
        builder.body(BodyBuilder::fixed("floor").shape(crate::support::floor())).unwrap();
        let tip = planar::Shape::disc(0.1).unwrap();
        let arm = BodyBuilder::planar("arm", 1.0, 0.1).position(1.0, 0.1005, 0.0).velocity(0.0, -1.0, 0.0);
        let arm = builder.body(arm.angular_velocity(0.0, 0.0, -1.0).shape(tip.into())).unwrap();
        let place = Vector3::new(0.0, 0.1005, 0.0);
        let id = builder.joint_at("hinge", JointKind::Revolute, (BodyId::WORLD, arm), place, Vector3::x()).unwrap();
        let rest = 0.0;
        builder.joint_dof((id, 0), JointDof { armature, stiffness, damping, rest, ..JointDof::default() }).unwrap();
        builder.default_contact(stiction::ContactRule { restitution: 0.5, ..friction(0.0) }).unwrap();
        let mut scheme = Preset::StewartTrinkle.scheme();
        (scheme.coordinates, scheme.impact) = (coordinates, Impact::Poisson);
        let mut simulation = Simulation::new(builder.build().unwrap(), scheme, 1e-3).unwrap();
        let _ = step(&mut simulation);
        let [impact] = simulation.impacts() else { panic!("one impact, not {}", simulation.impacts().len()) };
        impact.compression
    };
    for coordinates in [Coordinates::Maximal, Coordinates::Reduced] {
        // About the hinge: I + m l² = 1.1, at a lever of 1.
        for spring in [(0.0, 0.0), (1e6, 1e3)] {
            let found = speed(0.0, spring, coordinates);
            assert!((found - 1.1).abs() < 1e-10, "{coordinates:?}, {spring:?}: {found}");
            let found = speed(0.4, spring, coordinates);
            assert!((found - 1.5).abs() < 1e-10, "{coordinates:?}, {spring:?}: {found}");
        }
    }
}

#[test]
fn schemes_that_do_not_know_drives_refuse_them() {
    let model = Rig::hinge(JointDof { damping: 1.0, ..JointDof::default() }).model();
    for preset in [Preset::MoreauJean, Preset::Reference, Preset::Quasistatic, Preset::GeometricallyImplicit] {
        let error = Simulation::new(model.clone(), preset.scheme(), 0.01).err().unwrap().to_string();
        assert!(error.contains("\"joint\""), "{preset:?}: {error}");
    }
    assert_eq!(schemes().len(), 6);
    let mut builder = ModelBuilder::new(Dimension::Spatial);
    let body = builder.body(BodyBuilder::rigid("body", 1.0, Matrix3::identity())).unwrap();
    let bodies = (BodyId::WORLD, body);
    let id = builder.joint_at("ball", JointKind::Spherical, bodies, Vector3::zeros(), Vector3::x()).unwrap();
    let motor = Motor::torque("motor", (id, 0), Expression::constant(1.0));
    assert!(builder.motor(motor).unwrap_err().to_string().contains("motor"));
}

/// A box on a slide that the floor carries: its joint reaction is zero.
#[test]
fn contacts_unload_joints() {
    let body = crate::support::solid_rectangle("box", 2.0, [0.2, 0.1]).position(0.0, 0.1, 0.0);
    let free = on_floor(Dimension::Planar, [body], down(Dimension::Planar), friction(0.5));
    assert!(free.joints().is_empty());
    let mut builder = ModelBuilder::new(Dimension::Planar);
    builder.gravity(0.0, -G, 0.0).unwrap();
    builder.body(BodyBuilder::fixed("floor").shape(crate::support::floor())).unwrap();
    let body = crate::support::solid_rectangle("box", 2.0, [0.2, 0.1]).position(0.0, 0.1, 0.0);
    let body = builder.body(body).unwrap();
    let bodies = (body, BodyId::WORLD);
    builder.joint_at("slide", JointKind::Prismatic, bodies, Vector3::new(0.3, 0.7, 0.0), Vector3::y()).unwrap();
    builder.default_contact(friction(0.5)).unwrap();
    // A joint to the world does not keep bodies from the floor.
    let model = builder.build().unwrap();
    for preset in [Preset::Ncp, Preset::StewartTrinkle] {
        let mut simulation = Simulation::new(model.clone(), reduced(preset), 0.01).unwrap();
        steps(&mut simulation, 20);
        let carried: f64 = simulation.contacts().iter().map(|c| c.normal_impulse / 0.01).sum();
        assert!((carried - 2.0 * G).abs() < 1e-9, "{carried}");
        let id = simulation.model().find_joint("slide").unwrap();
        let wrench = simulation.joint_wrench(id).unwrap();
        assert!(wrench.linear.norm() < 1e-9, "{wrench:?}");
    }
}

/// An arm that a clamped servo lifts and drops on the floor, with a sprung and limited ball joint, dry friction, and a slide that a turn leads.
pub fn driven_arm() -> Model {
    let mut builder = ModelBuilder::new(Dimension::Spatial);
    builder.gravity(0.0, 0.0, -9.81).unwrap();
    let ground = spatial::Shape::half_space(Vector3::z()).unwrap();
    builder.body(BodyBuilder::fixed("floor").shape(ground.into())).unwrap();
    let inertia = Matrix3::from_diagonal(&Vector3::new(0.002, 0.004, 0.005));
    let mut above = BodyId::WORLD;
    let kinds = [JointKind::Revolute, JointKind::Spherical, JointKind::Revolute, JointKind::Prismatic];
    let joints = [0, 1, 2, 3].map(|k| {
        let place = Vector3::new(0.3 * f64::from(k), 0.0, 0.35);
        let tip = spatial::Shape::sphere(0.06).unwrap();
        let body = BodyBuilder::rigid(format!("link {k}"), 0.3, inertia).position(place.x + 0.15, 0.0, 0.35);
        let body = builder.body(body.shape(tip.into())).unwrap();
        let bodies = if k == 2 { (body, above) } else { (above, body) };
        above = body;
        let axis = if k == 3 { Vector3::x() } else { Vector3::y() };
        builder.joint_at(format!("joint {k}"), kinds[k as usize], bodies, place, axis).unwrap()
    });
    let acting = [
        JointDof { armature: 0.01, damping: 0.02, ..JointDof::default() },
        JointDof { limits: Some([0.0, 0.5]), stiffness: 0.5, damping: 0.02, ..JointDof::default() },
        JointDof { limits: Some([-0.6, 0.6]), friction: 0.05, ..JointDof::default() },
        JointDof::default(),
    ];
    for (id, joint_dof) in joints.iter().zip(acting) {
        builder.joint_dof((*id, 0), joint_dof).unwrap();
    }
    let servo = Motor::position("servo", (joints[0], 0), "0.6 * sin(7 * t)".parse().unwrap(), (20.0, 1.0));
    builder.motor(Motor { force_limits: Some([-4.0, 3.0]), ..servo }).unwrap();
    let (follower, leader) = ((joints[3], 0), Some((joints[2], 0)));
    let polynomial = [0.0, 0.1, 0.05, 0.0, 0.0];
    builder.coupling(Coupling { name: "cam".into(), follower, leader, polynomial }).unwrap();
    builder.default_contact(friction(0.5)).unwrap();
    builder.build().unwrap()
}

/// The slide holds the disc, so its contact with the floor must not act: gliding must not depend on the rounding of the height.
#[test]
fn a_contact_that_a_slide_holds_is_none_on_either_side_of_zero() {
    let end_at = |gap: f64| {
        let mut builder = ModelBuilder::new(Dimension::Planar);
        builder.gravity(0.0, -G, 0.0).unwrap();
        builder.body(BodyBuilder::fixed("floor").shape(crate::support::floor())).unwrap();
        let disc = BodyBuilder::planar("disc", 1.0, 0.01).position(0.0, 0.1 + gap, 0.0).velocity(1.0, 0.0, 0.0);
        let disc = builder.body(disc.shape(planar::Shape::disc(0.1).unwrap().into())).unwrap();
        let at = Vector3::new(0.0, 0.1 + gap, 0.0);
        builder.joint_at("slide", JointKind::Prismatic, (BodyId::WORLD, disc), at, Vector3::x()).unwrap();
        builder.default_contact(friction(0.8)).unwrap();
        let mut simulation = Simulation::new(builder.build().unwrap(), reduced(Preset::Ncp), 0.01).unwrap();
        steps(&mut simulation, 50);
        simulation.state().q[0]
    };
    for gap in [-1e-15, 0.0, 1e-17, 1e-15, 1e-9] {
        let x = end_at(gap);
        assert!((x - 0.5).abs() < 1e-12, "gap {gap}: glided to {x}");
    }
}

/// Without contacts nothing is linearised, and the reaction of the pin of a fast pendulum cannot depend on a linearisation velocity.
#[test]
fn a_pin_carries_the_same_wherever_constraints_are_linearised() {
    let carried = [LineariseAt::Start, LineariseAt::Predicted, LineariseAt::End].map(|linearise_at| {
        let mut builder = ModelBuilder::new(Dimension::Planar);
        builder.gravity(0.0, -G, 0.0).unwrap();
        let bob = BodyBuilder::planar("bob", 2.0, 0.1).position(0.7, 0.0, 0.0).velocity(0.0, 7.0, 0.0);
        let bob = builder.body(bob.angular_velocity(0.0, 0.0, 10.0)).unwrap();
        builder.joint_at("pin", JointKind::Revolute, (BodyId::WORLD, bob), Vector3::zeros(), Vector3::x()).unwrap();
        let mut scheme = reduced(Preset::Ncp);
        scheme.linearise_at = linearise_at;
        let mut simulation = Simulation::new(builder.build().unwrap(), scheme, 0.01).unwrap();
        steps(&mut simulation, 7);
        let pin = simulation.model().find_joint("pin").unwrap();
        simulation.joint_wrench(pin).unwrap().linear
    });
    assert!(carried[0].norm() > 50.0);
    for other in &carried[1..] {
        assert!((carried[0] - other).norm() < 1e-9, "{carried:?}");
    }
}

/// A wrist of three hinges on massless frames, turned until the first and the last axis coincide: the difference of the two is undetermined.
#[test]
fn a_wrist_in_gimbal_lock_fails_by_name_and_leaves_the_state() {
    let simulation = |pitch: f64| {
        let text = format!(
            r#"<mujoco><compiler angle="radian"/><option gravity="0 0 0"/><worldbody><body name="hand">
            <joint name="yaw" axis="0 0 1"/><joint name="pitch" axis="0 1 0"/><joint name="roll" axis="1 0 0"/>
            <geom type="box" size="0.1 0.2 0.3"/></body></worldbody>
            <keyframe><key name="turned" qpos="0.2 {pitch} 0.1" qvel="0.3 0 0.2"/></keyframe></mujoco>"#
        );
        let robot = Robot::parse(&text, "wrist.xml", &ReadOptions::default()).unwrap();
        let options = SceneOptions { keyframe: Some("turned".to_owned()), ..SceneOptions::default() };
        let scene = robot.to_scene("wrist.xml", &options).unwrap();
        Simulation::from_scene(&parse(&scene.text, "wrist.toml").unwrap()).unwrap()
    };
    let mut locked = simulation(std::f64::consts::FRAC_PI_2);
    let before = locked.save();
    let error = locked.step().unwrap_err().to_string();
    assert!(error.contains("nothing with mass follows") && error.contains("hand"), "{error}");
    assert_eq!(locked.save(), before, "the state is untouched");
    // Slightly away from the singularity the wrist moves.
    let _ = simulation(std::f64::consts::FRAC_PI_2 - 1e-3).step().unwrap();
}

/// A limit that is passed at the start is reached at the closing speed of robots, 0.2 rad/s at most, also behind a frame without mass.
#[test]
fn limits_close_behind_massless_frames() {
    let text = r#"<mujoco><compiler angle="radian"/><option gravity="0 0 0" timestep="0.01"/><worldbody><body name="hand">
        <joint name="yaw" axis="0 0 1"/><joint name="pitch" axis="0 1 0" limited="true" range="-2 -0.1"/>
        <geom type="box" size="0.1 0.2 0.3"/></body></worldbody></mujoco>"#;
    let robot = Robot::parse(text, "wrist.xml", &ReadOptions::default()).unwrap();
    let scene = robot.to_scene("wrist.xml", &SceneOptions::default()).unwrap();
    let mut simulation = Simulation::from_scene(&parse(&scene.text, "wrist.toml").unwrap()).unwrap();
    let turned = |simulation: &Simulation| {
        let hand = simulation.model().find_body("hand").unwrap();
        simulation.configuration().pose(hand).rotation.euler_angles().1
    };
    for _ in 0..60 {
        let before = turned(&simulation);
        let _ = simulation.step().unwrap();
        let change = before - turned(&simulation);
        assert!(change.abs() <= 0.002 + 1e-9, "{change}");
    }
    assert!(turned(&simulation) <= -0.1 + 1e-9, "{}", turned(&simulation));
}
