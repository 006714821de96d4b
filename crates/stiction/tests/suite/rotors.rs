//! Rotors whose joint axes move with the bodies: energy, momentum, and one motion in all coordinates.   [JSPACE-10]

use nalgebra::{Matrix3, Vector3};
use stiction::{
    BodyBuilder, BodyId, Coordinates, Dimension, JointDof, JointKind, Model, ModelBuilder, Order, Preset, Scheme,
    Simulation,
};

fn scheme(coordinates: Coordinates, order: Order) -> Scheme {
    let mut scheme = Preset::Ncp.scheme();
    (scheme.coordinates, scheme.order) = (coordinates, order);
    scheme
}

/// An arm of 1 kg that turns at 3 rad/s, with a slider of 1 kg at 0.3 m, whose motion along the arm turns a rotor.
fn slider() -> Model {
    let mut builder = ModelBuilder::new(Dimension::Planar);
    let arm = builder.body(BodyBuilder::planar("arm", 1.0, 0.1).angular_velocity(0.0, 0.0, 3.0)).unwrap();
    let slider = BodyBuilder::planar("slider", 1.0, 0.01).position(0.3, 0.0, 0.0).velocity(0.0, 0.9, 0.0);
    let slider = builder.body(slider.angular_velocity(0.0, 0.0, 3.0)).unwrap();
    let zero = Vector3::zeros();
    builder.joint_at("hinge", JointKind::Revolute, (BodyId::WORLD, arm), zero, Vector3::z()).unwrap();
    let guide = builder.joint_at("guide", JointKind::Prismatic, (arm, slider), zero, Vector3::x()).unwrap();
    builder.joint_dof((guide, 0), JointDof { armature: 1.0, ..JointDof::default() }).unwrap();
    builder.build().unwrap()
}

/// Kinetic energy at the end, relative to that at the start.
fn ratio(simulation: &mut Simulation, duration: f64) -> f64 {
    let before = simulation.energy().kinetic;
    let steps = (duration / simulation.step_size()).round() as usize;
    for _ in 0..steps {
        let _ = simulation.step().unwrap();
    }
    simulation.energy().kinetic / before
}

/// The error of energy is of the order of the scheme. An independent program of the same scheme has −4.5e-3 and −7.5e-5 at 10 ms.
#[test]
fn a_slider_on_a_turning_arm_keeps_its_energy() {
    for (order, most, [least_ratio, most_ratio]) in
        [(Order::First, 5e-3, [1.7, 2.3]), (Order::Second, 1e-4, [3.4, 4.6])]
    {
        let error = |h: f64| {
            let mut simulation = Simulation::new(slider(), scheme(Coordinates::Maximal, order), h).unwrap();
            let before = simulation.momentum().angular;
            let error = (ratio(&mut simulation, 1.0) - 1.0).abs();
            assert!((simulation.momentum().angular - before).norm() < 1e-9, "{order:?}: angular momentum");
            let account = simulation.energy_account();
            assert!(!account.is_warning(), "{order:?}: {account:?}");
            error
        };
        let [coarse, fine] = [error(0.01), error(0.005)];
        assert!(coarse < most, "{order:?}: {coarse:e}");
        assert!((least_ratio..most_ratio).contains(&(coarse / fine)), "{order:?}: {coarse:e} {fine:e}");
    }
}

/// Two or three bodies in space on joints of one kind with rotors, which turn about no principal axis.
fn chain(kind: JointKind, reversed: bool, held: bool) -> Model {
    let mut builder = ModelBuilder::new(Dimension::Spatial);
    let omega = Vector3::new(0.6, -0.9, 1.2);
    let body = |name: &str, x: f64| {
        let at = Vector3::new(x, 0.1, 0.0);
        let v = omega.cross(&at);
        let inertia = Matrix3::from_diagonal(&Vector3::new(0.02, 0.03, 0.04));
        BodyBuilder::rigid(name, 1.0, inertia)
            .position(at.x, at.y, at.z)
            .velocity(v.x, v.y, v.z)
            .angular_velocity(omega.x, omega.y, omega.z)
    };
    let first = builder.body(body("first", 0.2)).unwrap();
    // The second body moves along the DOFs of all kinds as well; the first step starts with an impact where a joint allows less.
    let second = body("second", 0.6).angular_velocity(omega.x, omega.y + 0.8, omega.z);
    let second = builder.body(second).unwrap();
    if held {
        builder.joint_at("ball", JointKind::Spherical, (BodyId::WORLD, first), Vector3::zeros(), Vector3::x()).unwrap();
    }
    let pair = if reversed { (second, first) } else { (first, second) };
    let joint = builder.joint_at("joint", kind, pair, Vector3::new(0.4, 0.1, 0.0), Vector3::y()).unwrap();
    for number in 0..kind.dof_is_length(Dimension::Spatial).count() {
        let armature = [0.5, 0.3, 0.04][number];
        builder.joint_dof((joint, number), JointDof { armature, ..JointDof::default() }).unwrap();
    }
    builder.build().unwrap()
}

/// Maximal and reduced coordinates differ by the order of the scheme; where a joint is reversed, planar ones stay constraints in both.
#[test]
fn rotors_move_alike_in_all_coordinates() {
    let with_rotors = |kind: &JointKind| !matches!(kind, JointKind::Weld | JointKind::Distance(_));
    for kind in JointKind::all(Dimension::Spatial).filter(with_rotors) {
        for (reversed, held) in [(false, false), (true, false), (false, true), (true, true)] {
            for (order, least) in [(Order::First, 1.5), (Order::Second, 3.0)] {
                let end = |coordinates, h| {
                    let scheme = scheme(coordinates, order);
                    let mut simulation = Simulation::new(chain(kind, reversed, held), scheme, h).unwrap();
                    let energy = (ratio(&mut simulation, 0.4) - 1.0).abs();
                    (simulation.state().q.clone(), energy)
                };
                let reference = end(Coordinates::Reduced, 0.00025).0;
                let apart = |a: &[f64]| a.iter().zip(&reference).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                let [(coarse, energy), (fine, _)] = [0.008, 0.004].map(|h| end(Coordinates::Maximal, h));
                let [coarse, fine] = [coarse, fine].map(|q| apart(&q));
                let name = format!("{kind:?}, reversed: {reversed}, held: {held}, {order:?}");
                assert!(energy < 0.02, "{name}: {energy:e}");
                assert!(fine < 1e-9 || coarse / fine > least, "{name}: {coarse:e} {fine:e}");
            }
        }
    }
}
