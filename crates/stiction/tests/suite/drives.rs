//! Joint-space constraints, each against its closed form or its exact recursion, in maximal and in reduced coordinates, with
//! polygons and with second-order cones.

use nalgebra::{Matrix3, Vector3};
use stiction::{
    BodyBuilder, BodyId, Coordinates, Coupling, Dimension, Expression, Impact, JointDof, JointDofId, JointKind, Model,
    ModelBuilder, Motor, Preset, Scheme, Simulation,
};

use crate::support::{step, steps};

/// Moments about the axes of the body that all tests turn, and its mass.
const INERTIA: [f64; 3] = [0.5, 0.8, 1.1];
const MASS: f64 = 2.0;

/// All schemes that support joint-space constraints.
pub fn schemes() -> Vec<(String, Scheme)> {
    let mut all = Vec::new();
    for coordinates in [Coordinates::Maximal, Coordinates::Reduced] {
        for (preset, impact) in [
            (Preset::Ncp, Impact::Newton),
            (Preset::StewartTrinkle, Impact::Newton),
            (Preset::StewartTrinkle, Impact::Poisson),
        ] {
            let name = format!("{}, {}, {}", coordinates.name(), preset.name(), impact.name());
            let mut scheme = preset.scheme();
            (scheme.coordinates, scheme.impact) = (coordinates, impact);
            all.push((name, scheme));
        }
    }
    all
}

/// A body joined to the world at its centre, and what acts along the DOFs of the joint.
#[derive(Clone)]
pub struct Rig {
    pub dimension: Dimension,
    pub kind: JointKind,
    /// True if the body is the first of the joint's two.
    pub reversed: bool,
    pub joint_dofs: Vec<JointDof>,
    pub motors: Vec<Motor>,
    /// Initial twist of the body, along the axes x, y, z of the joint DOFs.
    pub velocity: Vector3<f64>,
    pub spin: Vector3<f64>,
}

impl Rig {
    pub fn new(kind: JointKind, joint_dofs: &[JointDof]) -> Self {
        let (velocity, spin) = (Vector3::zeros(), Vector3::zeros());
        let joint_dofs = joint_dofs.to_vec();
        Self { dimension: Dimension::Spatial, kind, reversed: false, joint_dofs, motors: Vec::new(), velocity, spin }
    }

    /// A hinge about x.
    pub fn hinge(joint_dof: JointDof) -> Self {
        Self::new(JointKind::Revolute, &[joint_dof])
    }

    /// Turning about x with this speed of the coordinate.
    pub fn spinning(mut self, speed: f64) -> Self {
        self.spin.x = speed;
        self
    }

    pub fn driven_by(mut self, motor: impl Fn(JointDofId) -> Motor) -> Self {
        // The only joint of the rig, and its first DOF.
        let id = (self.model().find_joint("joint").unwrap(), 0);
        self.motors.push(motor(id));
        self
    }

    pub fn model(&self) -> Model {
        let mut builder = ModelBuilder::new(self.dimension);
        let body = match self.dimension {
            Dimension::Planar => BodyBuilder::planar("body", MASS, INERTIA[0]),
            Dimension::Spatial => BodyBuilder::rigid("body", MASS, Matrix3::from_diagonal(&INERTIA.into())),
        };
        // The coordinate is that of the second body against the first.
        let sign = if self.reversed { -1.0 } else { 1.0 };
        let (v, w) = (self.velocity * sign, self.spin * sign);
        let w = if self.dimension == Dimension::Planar { Vector3::z() * w.x } else { w };
        let body = body.velocity(v.x, v.y, v.z).angular_velocity(w.x, w.y, w.z);
        let body = builder.body(body).unwrap();
        let world = (BodyId::WORLD, stiction::Pose::identity());
        let own = (body, stiction::Pose::identity());
        let (a, b) = if self.reversed { (own, world) } else { (world, own) };
        let joint = builder.joint("joint", self.kind, a, b).unwrap();
        for (number, joint_dof) in self.joint_dofs.iter().enumerate() {
            builder.joint_dof((joint, number), *joint_dof).unwrap();
        }
        for motor in &self.motors {
            builder.motor(motor.clone()).unwrap();
        }
        builder.build().unwrap()
    }

    /// Calls `each` with a simulation for every scheme, both directions of the joint, and hinges also in the plane.
    pub fn everywhere(&self, h: f64, mut each: impl FnMut(&str, &mut Simulation)) {
        let dimensions: &[Dimension] = match self.kind {
            JointKind::Revolute => &[Dimension::Spatial, Dimension::Planar],
            _ => &[Dimension::Spatial],
        };
        for &dimension in dimensions {
            for reversed in [false, true] {
                let model = Self { dimension, reversed, ..self.clone() }.model();
                for (name, scheme) in schemes() {
                    let mut simulation = Simulation::new(model.clone(), scheme, h).unwrap();
                    each(&format!("{name}, {dimension:?}, reversed: {reversed}"), &mut simulation);
                }
            }
        }
    }
}

/// Coordinate and rate of a joint DOF, full turns counted.
pub fn joint_dof(simulation: &Simulation, joint: &str, number: usize) -> (f64, f64) {
    let model = simulation.model();
    let id = (model.find_joint(joint).unwrap(), number);
    let place = model.joint_space_dofs().iter().position(|&driven| driven == id);
    let before = place.and_then(|place| simulation.state().angles.get(place)).copied();
    model.joint(id.0).unwrap().measured(number, simulation.configuration(), before).unwrap()
}

fn phi(simulation: &Simulation) -> (f64, f64) {
    joint_dof(simulation, "joint", 0)
}

#[track_caller]
fn near(actual: f64, expected: f64, tolerance: f64, name: &str) {
    let error = (actual - expected).abs();
    assert!(error <= tolerance * expected.abs().max(1.0), "{name}: {actual} is not {expected}, off by {error:e}");
}

/// One step of (m + A) φ̈ = −k (φ − φ₀) − d φ̇ + τ by the implicit rule.
pub fn recursion((phi, rate): (f64, f64), mass: f64, f: &JointDof, torque: f64, h: f64) -> (f64, f64) {
    let c = mass + f.armature + h * f.damping + h * h * f.stiffness;
    let next = ((mass + f.armature) * rate + h * (torque - f.stiffness * (phi - f.rest))) / c;
    (phi + h * next, next)
}

#[test]
fn springs_dampers_and_rotors_follow_their_recursion_to_rounding() {
    let joint_dof =
        JointDof { stiffness: 8.0, damping: 0.3, armature: 0.25, rest: 0.1, initial: 0.4, ..JointDof::default() };
    let h = 0.01;
    let rig =
        Rig::hinge(joint_dof).spinning(1.5).driven_by(|id| Motor::torque("motor", id, "0.2 * t".parse().unwrap()));
    rig.everywhere(h, |name, simulation| {
        let mut expected = (0.4, 1.5);
        for k in 1..=200 {
            let _ = step(simulation);
            expected = recursion(expected, INERTIA[0], &joint_dof, 0.2 * (f64::from(k) * h), h);
            let (phi, rate) = phi(simulation);
            near(phi, expected.0, 1e-11, name);
            near(rate, expected.1, 1e-11, name);
        }
    });
}

#[test]
fn a_spring_swings_with_its_frequency_to_first_order() {
    let joint_dof = JointDof { stiffness: 8.0, initial: 0.3, ..JointDof::default() };
    let exact = 0.3 * (4.0_f64 * 1.0).cos();
    let error = |h: f64| {
        let mut errors = Vec::new();
        Rig::hinge(joint_dof).everywhere(h, |_, simulation| {
            steps(simulation, (1.0 / h).round() as usize);
            errors.push((phi(simulation).0 - exact).abs());
        });
        errors
    };
    for (coarse, fine) in error(0.01).into_iter().zip(error(0.005)) {
        let ratio = coarse / fine;
        assert!((1.8..2.2).contains(&ratio) && fine < 0.02, "errors {coarse} and {fine}");
    }
}

#[test]
fn a_damper_slows_exponentially_and_a_rotor_makes_heavier() {
    let damped = JointDof { damping: 0.7, armature: 0.2, ..JointDof::default() };
    let (h, mass) = (1e-3, INERTIA[0] + 0.2);
    Rig::hinge(damped).spinning(3.0).everywhere(h, |name, simulation| {
        steps(simulation, 500);
        let exact = 3.0 * (-0.7 * 0.5 / mass).exp();
        near(phi(simulation).1, exact, h, name);
    });
    let rotor = JointDof { armature: 0.2, ..JointDof::default() };
    let rig = Rig::hinge(rotor).driven_by(|id| Motor::torque("motor", id, Expression::constant(2.0)));
    rig.everywhere(h, |name, simulation| {
        steps(simulation, 500);
        near(phi(simulation).1, 2.0 * 0.5 / mass, 1e-11, name);
    });
}

#[test]
fn dry_friction_sticks_below_its_force_and_takes_exactly_it_above() {
    let (h, dry) = (0.01, JointDof { friction: 0.6, ..JointDof::default() });
    let pushed =
        |torque: f64| Rig::hinge(dry).driven_by(move |id| Motor::torque("motor", id, Expression::constant(torque)));
    pushed(0.59).everywhere(h, |name, simulation| {
        steps(simulation, 50);
        assert!(phi(simulation).1.abs() < 1e-14 && phi(simulation).0.abs() < 1e-14, "{name}: {:?}", phi(simulation));
    });
    pushed(-1.1).everywhere(h, |name, simulation| {
        steps(simulation, 50);
        near(phi(simulation).1, -0.5 * 0.5 / INERTIA[0], 1e-11, name);
    });
    Rig::hinge(dry).spinning(-2.0).everywhere(h, |name, simulation| {
        steps(simulation, 100);
        near(phi(simulation).1, -2.0 + 0.6 * 1.0 / INERTIA[0], 1e-11, name);
        steps(simulation, 100);
        assert!(phi(simulation).1.abs() < 1e-13, "{name}: it stops, and stays: {:?}", phi(simulation));
    });
}

#[test]
fn limits_stop_without_overshoot_and_hold_a_load() {
    let limited = JointDof { limits: Some([-0.3, 0.5]), ..JointDof::default() };
    for (speed, torque, wall) in [(2.0, 4.0, 0.5), (-7.0, -4.0, -0.3), (2.0, 0.0, 0.5)] {
        let rig = Rig::hinge(limited).spinning(speed);
        let rig = rig.driven_by(move |id| Motor::torque("motor", id, Expression::constant(torque)));
        rig.everywhere(0.01, |name, simulation| {
            for _ in 0..60 {
                let _ = step(simulation);
                let (phi, _) = phi(simulation);
                assert!((-0.3 - 1e-12..0.5 + 1e-12).contains(&phi), "{name}: {phi}");
            }
            let (phi, rate) = phi(simulation);
            near(phi, wall, 1e-12, name);
            assert!(rate.abs() < 1e-12, "{name}: it does not bounce: {rate}");
        });
    }
}

#[test]
fn a_limit_out_of_reach_that_is_hit_within_a_step_is_found() {
    // At rest nothing is within reach; the torque would carry it 8 rad in one step.
    let limited = JointDof { limits: Some([-1.0, 1.0]), ..JointDof::default() };
    for torque in [4e4, -4e4] {
        let rig = Rig::hinge(limited);
        let rig = rig.driven_by(move |id| Motor::torque("motor", id, Expression::constant(torque)));
        rig.everywhere(0.01, |name, simulation| {
            let report = step(simulation);
            near(phi(simulation).0, torque.signum(), 1e-12, name);
            assert!(report.passes >= 2, "{name}: {} passes", report.passes);
        });
    }
}

#[test]
fn full_turns_are_counted() {
    let most = 10.0 * std::f64::consts::TAU;
    let limited = JointDof { limits: Some([-most, most]), ..JointDof::default() };
    for speed in [60.0, -60.0] {
        Rig::hinge(limited).spinning(speed).everywhere(0.01, |name, simulation| {
            steps(simulation, 150);
            near(phi(simulation).0, most.copysign(speed), 1e-10, name);
            assert!(phi(simulation).1.abs() < 1e-9, "{name}");
        });
    }
    // Faster than half a turn a step.
    Rig::hinge(limited).spinning(500.0).everywhere(0.01, |name, simulation| {
        steps(simulation, 30);
        near(phi(simulation).0, most, 1e-10, name);
    });
    let wound = JointDof { stiffness: 0.5, damping: 0.05, rest: 30.0, ..JointDof::default() };
    Rig::hinge(wound).everywhere(0.01, |name, simulation| {
        let mut expected = (0.0, 0.0);
        for _ in 0..600 {
            let _ = step(simulation);
            expected = recursion(expected, INERTIA[0], &wound, 0.0, 0.01);
        }
        near(phi(simulation).0, expected.0, 1e-9, name);
        let stretch = expected.0 - 30.0;
        near(simulation.energy().potential, 0.25 * stretch * stretch, 1e-8, name);
    });
}

#[test]
fn motors_obey_gear_and_ranges_of_control() {
    let rig = Rig::hinge(JointDof::default()).driven_by(|id| Motor {
        gear: -3.0,
        gain: 2.0,
        bias: [0.25, 0.0, 0.0],
        control_limits: Some([-0.5, 0.5]),
        ..Motor::torque("motor", id, Expression::constant(7.0))
    });
    rig.everywhere(0.01, |name, simulation| {
        steps(simulation, 40);
        near(phi(simulation).1, -3.0 * (2.0 * 0.5 + 0.25) * 0.4 / INERTIA[0], 1e-11, name);
    });
    // A force that grows with the speed is known at the start of the step, and so are its limits.
    let rig = Rig::hinge(JointDof::default()).driven_by(|id| Motor {
        bias: [0.0, 0.0, 50.0],
        force_limits: Some([-1.0, 1.0]),
        ..Motor::torque("motor", id, Expression::constant(0.01))
    });
    rig.everywhere(0.01, |name, simulation| {
        steps(simulation, 100);
        let before = phi(simulation).1;
        steps(simulation, 100);
        near(phi(simulation).1 - before, 1.0 / INERTIA[0], 1e-10, name);
    });
}

#[test]
fn stiff_servos_are_stable_and_velocity_servos_follow_their_recursion() {
    let rig = Rig::hinge(JointDof::default()).spinning(5.0);
    let servo = rig.clone().driven_by(|id| Motor::position("servo", id, Expression::constant(0.7), (1e9, 1e6)));
    servo.everywhere(0.01, |name, simulation| {
        steps(simulation, 300);
        near(phi(simulation).0, 0.7, 1e-9, name);
        assert!(phi(simulation).1.abs() < 1e-7, "{name}");
    });
    let servo = rig.driven_by(|id| Motor::velocity("servo", id, Expression::constant(-2.0), 3.0));
    servo.everywhere(0.01, |name, simulation| {
        let mut rate = 5.0;
        for _ in 0..100 {
            let _ = step(simulation);
            rate = (INERTIA[0] * rate + 0.01 * 3.0 * -2.0) / (INERTIA[0] + 0.01 * 3.0);
        }
        near(phi(simulation).1, rate, 1e-11, name);
    });
}

#[test]
fn a_clamped_servo_pulls_with_exactly_its_limit_and_arrives() {
    let clamp = |id| Motor {
        force_limits: Some([-2.0, 3.0]),
        ..Motor::position("servo", id, Expression::constant(1.0), (400.0, 30.0))
    };
    Rig::hinge(JointDof::default()).driven_by(clamp).everywhere(0.01, |name, simulation| {
        for k in 1..=20 {
            let _ = step(simulation);
            near(phi(simulation).1, 3.0 * f64::from(k) * 0.01 / INERTIA[0], 1e-10, name);
        }
        steps(simulation, 400);
        near(phi(simulation).0, 1.0, 1e-6, name);
    });
    Rig::hinge(JointDof { initial: 9.0, ..JointDof::default() }).driven_by(clamp).everywhere(
        0.01,
        |name, simulation| {
            steps(simulation, 20);
            near(phi(simulation).1, -2.0 * 0.2 / INERTIA[0], 1e-10, name);
        },
    );
}

/// Two bodies on hinges about x, the first driven, and a coupling between them.
fn coupled(polynomial: [f64; 5], led: bool, torque: f64) -> Model {
    let mut builder = ModelBuilder::new(Dimension::Spatial);
    let [leader, follower] = ["leader", "follower"].map(|name| {
        let body = BodyBuilder::rigid(name, MASS, Matrix3::from_diagonal(&INERTIA.into()));
        let body = builder.body(body.position(0.0, if name == "leader" { 0.0 } else { 2.0 }, 0.0)).unwrap();
        let place = if name == "leader" { Vector3::zeros() } else { Vector3::y() * 2.0 };
        builder.joint_at(name, JointKind::Revolute, (BodyId::WORLD, body), place, Vector3::x()).unwrap()
    });
    let start = Coupling { name: String::new(), follower: (follower, 0), leader: None, polynomial }.at(0.0).0;
    builder.joint_dof((follower, 0), JointDof { initial: start, ..JointDof::default() }).unwrap();
    let leads = led.then_some((leader, 0));
    builder.coupling(Coupling { name: "gear".into(), follower: (follower, 0), leader: leads, polynomial }).unwrap();
    builder.motor(Motor::torque("motor", (leader, 0), Expression::constant(torque))).unwrap();
    builder.build().unwrap()
}

#[test]
fn gears_and_mimics_keep_their_ratio_to_rounding() {
    let h = 0.01;
    for polynomial in [[0.0, -3.0, 0.0, 0.0, 0.0], [0.4, 0.5, 0.0, 0.0, 0.0]] {
        let [start, ratio, ..] = polynomial;
        for (name, scheme) in schemes() {
            let mut simulation = Simulation::new(coupled(polynomial, true, 2.0), scheme, h).unwrap();
            for _ in 0..100 {
                let _ = step(&mut simulation);
                let (psi, phi) = (joint_dof(&simulation, "leader", 0), joint_dof(&simulation, "follower", 0));
                assert!((phi.0 - start - ratio * psi.0).abs() < 1e-12, "{name}: {phi:?} after {psi:?}");
            }
            let rate = joint_dof(&simulation, "leader", 0).1;
            near(rate, 2.0 / (INERTIA[0] * (1.0 + ratio * ratio)), 1e-10, &name);
        }
    }
}

#[test]
fn polynomials_are_followed_to_second_order_and_held_without_a_leader() {
    let polynomial = [0.2, 0.5, -0.3, 0.1, 0.05];
    let worst = |scheme: &Scheme, h: f64| {
        let mut simulation = Simulation::new(coupled(polynomial, true, 1.0), scheme.clone(), h).unwrap();
        let mut worst = 0.0_f64;
        for _ in 0..(1.0 / h).round() as usize {
            let _ = step(&mut simulation);
            let x = joint_dof(&simulation, "leader", 0).0;
            let wanted = polynomial.iter().rev().fold(0.0, |sum, c| sum * x + c);
            worst = worst.max((joint_dof(&simulation, "follower", 0).0 - wanted).abs());
        }
        worst
    };
    for (name, scheme) in schemes() {
        let (coarse, fine) = (worst(&scheme, 0.01), worst(&scheme, 0.005));
        assert!((3.5..4.5).contains(&(coarse / fine)) && fine < 1e-4, "{name}: {coarse} and {fine}");
        let mut held = Simulation::new(coupled([0.3, 0.0, 0.0, 0.0, 0.0], false, 1.0), scheme, 0.01).unwrap();
        steps(&mut held, 50);
        assert!((joint_dof(&held, "follower", 0).0 - 0.3).abs() < 1e-12, "{name}");
    }
}

#[test]
fn a_control_that_is_no_number_names_its_motor() {
    for (name, mut scheme) in schemes() {
        for coordinates in [scheme.coordinates, Coordinates::DivideAndConquer] {
            scheme.coordinates = coordinates;
            for limits in [None, Some([-1.0, 1.0])] {
                let rig = Rig::hinge(JointDof::default()).driven_by(|id| {
                    let control = Expression::parse("sqrt(0.035 - t)").unwrap();
                    Motor { control_limits: limits, ..Motor::torque("winch", id, control) }
                });
                let mut simulation = Simulation::new(rig.model(), scheme.clone(), 0.01).unwrap();
                steps(&mut simulation, 3);
                let before = simulation.save();
                let error = simulation.step().unwrap_err().to_string();
                assert!(error.contains("winch") && error.contains("control"), "{name}: {error}");
                assert_eq!(simulation.save(), before, "{name}: the state is untouched");
            }
        }
    }
}
