//! Joint-space constraints of joints with several DOFs: each against the recursion of one DOF, and all kinds in general motion.

use std::sync::Arc;

use nalgebra::Vector3;
use stiction::multibody::ExpressionMotion;
use stiction::{
    BodyBuilder, Coordinates, Coupling, Dimension, Expression, JointDof, JointKind, ModelBuilder, Preset, Simulation,
};

use crate::drives::{Rig, joint_dof, recursion, schemes};
use crate::support::{q, step, steps, v};

const MASS: f64 = 2.0;
const INERTIA: [f64; 3] = [0.5, 0.8, 1.1];

fn sprung(initial: f64) -> JointDof {
    JointDof { stiffness: 6.0, damping: 0.4, armature: 0.3, rest: 0.05, initial, ..JointDof::default() }
}

/// Steps a rig in which only one DOF moves, and compares it with its recursion.
fn alone(rig: &Rig, number: usize, mass: f64, rate: f64) {
    let acting = rig.joint_dofs[number];
    rig.everywhere(0.01, |name, simulation| {
        let mut expected = (acting.initial, rate);
        for _ in 0..100 {
            let _ = step(simulation);
            expected = recursion(expected, mass, &acting, 0.0, 0.01);
            let (phi, rate) = joint_dof(simulation, "joint", number);
            let error = (phi - expected.0).abs() + (rate - expected.1).abs();
            assert!(error < 1e-10, "{name}, DOF {number}: off by {error:e}");
        }
    });
}

#[test]
fn cylindrical_planar_and_universal_freedoms_follow_their_recursions() {
    let idle = JointDof { damping: 1.0, ..JointDof::default() };
    let slide = Rig { velocity: Vector3::x() * 0.7, ..Rig::new(JointKind::Prismatic, &[sprung(0.2)]) };
    alone(&slide, 0, MASS, 0.7);
    let mut cylindrical = Rig::new(JointKind::Cylindrical, &[sprung(0.2), sprung(-0.4)]);
    (cylindrical.velocity, cylindrical.spin) = (Vector3::x() * 0.7, Vector3::x() * -0.9);
    alone(&cylindrical, 0, MASS, 0.7);
    alone(&cylindrical, 1, INERTIA[0], -0.9);
    for (number, axis) in [(0, Vector3::y()), (1, Vector3::z())] {
        let mut joint_dofs = [idle; 3];
        joint_dofs[number] = sprung(0.3);
        let planar = Rig { velocity: axis * 0.5, ..Rig::new(JointKind::Planar, &joint_dofs) };
        alone(&planar, number, MASS, 0.5);
    }
    let planar = Rig::new(JointKind::Planar, &[idle, idle, sprung(0.3)]);
    alone(&Rig { spin: Vector3::x() * 1.5, ..planar }, 2, INERTIA[0], 1.5);
    let first = Rig::new(JointKind::Universal, &[sprung(0.3), idle]);
    alone(&Rig { spin: Vector3::x() * 1.5, ..first }, 0, INERTIA[0], 1.5);
    let second = Rig::new(JointKind::Universal, &[idle, sprung(0.3)]);
    alone(&Rig { spin: Vector3::y() * 1.5, ..second }, 1, INERTIA[1], 1.5);
}

#[test]
fn limits_and_friction_act_along_every_freedom() {
    let limited = JointDof { limits: Some([-0.2, 0.25]), ..JointDof::default() };
    let rubbing = JointDof { friction: 0.3, ..JointDof::default() };
    let rig = Rig { velocity: Vector3::x(), ..Rig::new(JointKind::Cylindrical, &[limited, rubbing]) };
    let rig = Rig { spin: Vector3::x() * 2.0, ..rig };
    rig.everywhere(0.01, |name, simulation| {
        steps(simulation, 50);
        let (slide, turn) = (joint_dof(simulation, "joint", 0), joint_dof(simulation, "joint", 1));
        assert!((slide.0 - 0.25).abs() < 1e-12 && slide.1.abs() < 1e-12, "{name}: {slide:?}");
        assert!((turn.1 - (2.0 - 0.3 * 0.5 / INERTIA[0])).abs() < 1e-11, "{name}: {turn:?}");
    });
}

#[test]
fn a_spherical_joint_is_sprung_and_damped_about_every_axis() {
    let acting = JointDof { rest: 0.0, ..sprung(0.0) };
    for (axis, mass) in [(Vector3::x(), INERTIA[0]), (Vector3::y(), INERTIA[1]), (-Vector3::z(), INERTIA[2])] {
        let rig = Rig { spin: axis * 1.5, ..Rig::new(JointKind::Spherical, &[acting]) };
        rig.everywhere(0.01, |name, simulation| {
            let mut expected = (0.0, 1.5);
            for _ in 0..150 {
                let _ = step(simulation);
                expected = recursion(expected, mass, &acting, 0.0, 0.01);
                let bend = joint_dof(simulation, "joint", 0).0;
                assert!((bend - expected.0.abs()).abs() < 1e-9, "{name}: {bend} against {}", expected.0);
            }
        });
    }
}

#[test]
fn a_spherical_joint_bends_to_its_limit_in_every_direction() {
    let limited = JointDof { limits: Some([0.0, 0.5]), ..JointDof::default() };
    for axis in [Vector3::x(), -Vector3::x(), Vector3::y(), -Vector3::z()] {
        let rig = Rig { spin: axis * 2.0, ..Rig::new(JointKind::Spherical, &[limited]) };
        rig.everywhere(0.01, |name, simulation| {
            let mut most = 0.0_f64;
            for _ in 0..40 {
                let _ = step(simulation);
                most = most.max(joint_dof(simulation, "joint", 0).0);
            }
            assert!(most <= 0.5 + 1e-12, "{name} bends by {most}");
            assert!((joint_dof(simulation, "joint", 0).0 - 0.5).abs() < 1e-9, "{name} about {axis:?}");
        });
    }
    // About no principal axis it goes on along the limit; what it overshoots is of the order of the step.
    let rig = Rig { spin: Vector3::new(2.0, -1.0, 1.5), ..Rig::new(JointKind::Spherical, &[limited]) };
    rig.everywhere(0.005, |name, simulation| {
        for _ in 0..200 {
            let _ = step(simulation);
            let bend = joint_dof(simulation, "joint", 0).0;
            assert!(bend <= 0.5 + 5e-4, "{name} bends by {bend}");
        }
    });
}

#[test]
fn both_coordinates_approximate_the_same_motion() {
    let kinds = [
        (JointKind::Universal, 2),
        (JointKind::Spherical, 1),
        (JointKind::Cylindrical, 2),
        (JointKind::Planar, 3),
        (JointKind::Prismatic, 1),
    ];
    for (kind, count) in kinds {
        for reversed in [false, true] {
            let joint_dofs: Vec<_> = (0..count)
                .map(|k| sprung(if kind == JointKind::Spherical { 0.0 } else { 0.1 * f64::from(k) }))
                .collect();
            let mut rig = Rig::new(kind, &joint_dofs);
            rig.reversed = reversed;
            let turns = !matches!(kind, JointKind::Prismatic);
            rig.spin = if turns { Vector3::new(1.0, 0.8, -0.6) } else { Vector3::zeros() };
            match kind {
                JointKind::Universal => rig.spin.z = 0.0,
                JointKind::Cylindrical | JointKind::Planar => rig.spin = Vector3::x(),
                _ => {}
            }
            if matches!(kind, JointKind::Cylindrical | JointKind::Prismatic) {
                rig.velocity = Vector3::x() * 0.5;
            }
            if kind == JointKind::Planar {
                rig.velocity = Vector3::new(0.0, 0.4, -0.3);
            }
            let apart = |h: f64| {
                let ends = [Coordinates::Maximal, Coordinates::Reduced].map(|coordinates| {
                    let mut scheme = Preset::Ncp.scheme();
                    scheme.coordinates = coordinates;
                    let mut simulation = Simulation::new(rig.model(), scheme, h).unwrap();
                    steps(&mut simulation, (0.5 / h).round() as usize);
                    simulation.state().v.clone()
                });
                let [maximal, reduced] = ends;
                maximal.iter().zip(&reduced).fold(0.0_f64, |most, (x, y)| most.max((x - y).abs()))
            };
            let (coarse, fine) = (apart(0.01), apart(0.0025));
            assert!(fine < 0.02 && (fine < 0.35 * coarse || fine < 1e-9), "{kind:?} {reversed}: {coarse:e}, {fine:e}");
        }
    }
}

/// A wheel on a hub whose motion is prescribed: what acts between them follows the whole relative motion.
#[test]
fn drives_to_prescribed_bodies_follow_the_relative_motion() {
    let wheel = |acting: JointDof, held: bool, turn: &str, scheme: stiction::Scheme| {
        let mut builder = ModelBuilder::new(Dimension::Planar);
        let zero = || Expression::constant(0.0);
        let motion = ExpressionMotion::planar(zero(), zero(), turn.parse().unwrap());
        let hub = builder.body(BodyBuilder::kinematic("hub", Arc::new(motion))).unwrap();
        let wheel = builder.body(BodyBuilder::planar("wheel", MASS, INERTIA[0])).unwrap();
        let id = builder.joint_at("joint", JointKind::Revolute, (hub, wheel), Vector3::zeros(), Vector3::x()).unwrap();
        builder.joint_dof((id, 0), acting).unwrap();
        if held {
            let coupling = Coupling { name: "held".into(), follower: (id, 0), leader: None, polynomial: [0.0; 5] };
            builder.coupling(coupling).unwrap();
        }
        Simulation::new(builder.build().unwrap(), scheme, 0.01).unwrap()
    };
    for (name, scheme) in schemes() {
        let rubbing = JointDof { friction: 0.6, ..JointDof::default() };
        let mut simulation = wheel(rubbing, false, "2 * t", scheme.clone());
        steps(&mut simulation, 100);
        assert!((v(&simulation, "wheel")[2] - 0.6 / INERTIA[0]).abs() < 1e-10, "{name}: dragged along");
        steps(&mut simulation, 100);
        assert!((v(&simulation, "wheel")[2] - 2.0).abs() < 1e-10, "{name}: and no further");
        let limited = JointDof { limits: Some([-0.3, 0.3]), ..JointDof::default() };
        let mut simulation = wheel(limited, false, "2 * t", scheme.clone());
        steps(&mut simulation, 100);
        assert!((joint_dof(&simulation, "joint", 0).0 + 0.3).abs() < 1e-10, "{name}: carried by the limit");
        let mut simulation = wheel(JointDof::default(), true, "sin(3 * t)", scheme.clone());
        for _ in 0..100 {
            let _ = step(&mut simulation);
            let turned = q(&simulation, "wheel")[2] - (3.0 * simulation.time()).sin();
            assert!(turned.abs() < 1e-12, "{name}: held, off by {turned:e}");
        }
        let sprung = JointDof { stiffness: 9.0, damping: 0.5, ..JointDof::default() };
        let mut simulation = wheel(sprung, false, "sin(3 * t)", scheme);
        let mut expected = (0.0_f64, 0.0_f64);
        for _ in 0..100 {
            let hub = |t: f64| (3.0 * t).sin();
            let (before, after) = (hub(simulation.time()), hub(simulation.time() + 0.01));
            let _ = step(&mut simulation);
            // I ω⁺ = I ω − h k (φ⁺) − h d φ̇⁺ with φ the angle against the hub, and its mean rate over the step.
            let c = INERTIA[0] + 0.01 * 0.5 + 1e-4 * 9.0;
            let push = 0.01 * 9.0 * (after - expected.0) + 0.5 * (after - before);
            expected.1 = (INERTIA[0] * expected.1 + push) / c;
            expected.0 += 0.01 * expected.1;
            let error = (v(&simulation, "wheel")[2] - expected.1).abs();
            assert!(error < 1e-10, "{name}: off by {error:e}");
        }
    }
}
