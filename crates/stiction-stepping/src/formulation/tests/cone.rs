//! The frictional problem: operator, constants, extraction, in all coordinates.

use stiction_complementarity::{Delassus, Law, Operator};
use stiction_multibody::{BodyBuilder, ContactRule, Dimension, Model};
use stiction_testkit::Random;

use super::{COORDINATES, FRICTION_SETS, arm_case};
use crate::constraints::Source;
use crate::formulation::{extract, impulses, size};
use crate::rates::{rate, side_rate};
use crate::tests::support::{Case, G, assert_all_near, assert_near, ball, cuboid, on_floor, world};
use crate::{Coordinates, FrictionSet, Preset, Scheme};

/// Balls and a box that touch each other and a floor, with torsion and rolling friction.
fn heap(scale: f64) -> Model {
    let rule = ContactRule {
        friction: 0.4,
        torsion: 0.05,
        rolling: 0.02,
        ellipse: [1.0, 0.7],
        direction_offset: 0.3,
        ..ContactRule::default()
    };
    let bodies = [
        ball("ball", scale, 0.5).position(0.0, 0.0, 0.5).velocity(1.0, 0.2, -0.5).angular_velocity(1.0, 2.0, 3.0),
        ball("other", 2.0 * scale, 0.5).position(1.0, 0.0, 0.5).velocity(-1.0, 0.0, 0.0),
        cuboid("box", 3.0 * scale, [0.5, 0.4, 0.3]).position(0.0, 3.0, 0.3).velocity(0.5, -0.5, 0.0),
    ];
    on_floor(Dimension::Spatial, rule, bodies)
}

/// Rates Hᵀ v⁺ + constants of all rows, from the velocities of the bodies and the impulses `r`.
fn rates(case: &Case, r: &[f64]) -> Vec<f64> {
    let (ws, model) = (&case.ws, &case.model);
    let (constraints, v) = (&ws.constraints, &ws.solution.velocity);
    let forest = ws.reduced.as_ref().map(|reduced| &reduced.velocity[..]);
    let mut all = Vec::new();
    for block in &constraints.blocks {
        let (rows, constants) = constraints.rows_of(block);
        match (block.source, block.bodies) {
            (Source::JointSpace(index), _) => {
                let row = &constraints.joint_space_rows[index];
                let compliant = row.compliance * r[all.len()] * ws.mass_unit;
                all.push(rate(model, &row.sides, v, forest) + constants[0] + compliant);
            }
            (_, Some((a, b))) => all.extend(rows.iter().zip(constants).map(|((on_a, on_b), constant)| {
                side_rate(model, v, a, on_a) + side_rate(model, v, b, on_b) + constant
            })),
            _ => panic!("a block without rows"),
        }
    }
    all
}

/// u = W r + q is Hᵀ v⁺ + bias for the velocities that any impulses r give, whatever the coordinates.   [STEP-11]
#[test]
fn the_operator_maps_impulses_to_rates() {
    let mut cases: Vec<Case> = COORDINATES.map(|coordinates| arm_case(coordinates, FrictionSet::Quadratic)).into();
    cases
        .extend(COORDINATES.map(|coordinates| Case::new(heap(1.0), Scheme { coordinates, ..Scheme::default() }, 0.01)));
    for mut case in cases {
        case.assemble().unwrap();
        let mut random = Random::new(1);
        let problem = &case.ws.friction.problem;
        let r: Vec<f64> = (0..problem.rows()).map(|_| random.uniform(-0.1, 0.1)).collect();
        let (mut u, mut state) = (Vec::new(), Vec::new());
        problem.velocities(&r, &mut u, &mut state);
        case.ws.friction.solution.r.clone_from(&r);
        case.with(extract);
        assert_all_near(&rates(&case, &r), &u, 1e-10);
    }
}

/// The Delassus matrix of the forest, by rows or by divide and conquer, is that of the bodies where there are no joints.
#[test]
fn all_coordinates_have_the_same_delassus_matrix() {
    let dense = |coordinates| {
        let mut case = Case::new(heap(1.0), Scheme { coordinates, ..Scheme::default() }, 0.01);
        case.assemble().unwrap();
        let problem = &case.ws.friction.problem;
        let mut w = vec![0.0; problem.rows() * problem.rows()];
        assert!(problem.operator().assemble(&mut w));
        let is_assembled = matches!(problem.operator(), Operator::Assembled(_));
        (w, problem.q().to_vec(), is_assembled)
    };
    let (w, q, is_assembled) = dense(Coordinates::Maximal);
    assert!(!is_assembled);
    let divided = dense(Coordinates::DivideAndConquer);
    assert!(divided.2);
    let reduced = dense(Coordinates::Reduced);
    for (other_w, other_q, _) in [divided, reduced] {
        assert_all_near(&other_w, &w, 1e-11);
        // Gyroscopic torques differ by rounding only.
        assert_all_near(&other_q, &q, 1e-11);
    }
}

/// Starting at rest, all coordinates and friction sets solve for the same velocities and impulses.
#[test]
fn all_coordinates_give_the_same_step_from_rest() {
    for friction in FRICTION_SETS {
        let results = COORDINATES.map(|coordinates| {
            let mut case = arm_case(coordinates, friction);
            case.solve().unwrap();
            let normals: Vec<f64> = case.ws.solution.contact_impulses.iter().map(|p| p.normal).collect();
            (case.ws.solution.velocity.clone(), normals)
        });
        assert!(results[0].1.iter().all(|p| *p > 1e-3), "everything is pressed");
        assert!(results[0].0.iter().any(|v| *v > 0.01), "the overlap is removed");
        for (velocity, normals) in &results[1..] {
            assert_all_near(velocity, &results[0].0, 1e-8);
            assert_all_near(normals, &results[0].1, 1e-8);
        }
    }
}

/// Masses in another unit, a power of two, give the same problem to the last bit, and impulses in proportion.
#[test]
fn the_problem_does_not_depend_on_the_unit_of_mass() {
    for scheme in [Scheme::default(), Preset::StewartTrinkle.scheme()] {
        let run = |scale: f64| {
            let mut model = heap(scale);
            if scheme.friction == FrictionSet::Polygon {
                let body = ball("ball", scale, 0.5).position(0.0, 0.0, 0.5).velocity(1.0, 0.2, -0.5);
                model = on_floor(Dimension::Spatial, crate::tests::support::friction(0.4), [body]);
            }
            let mut case = Case::new(model, scheme.clone(), 0.01);
            case.solve().unwrap();
            let impulses: Vec<f64> = case.ws.solution.contact_impulses.iter().map(|p| p.normal / scale).collect();
            let (mixed, friction) = (case.ws.mixed.problem.clone(), case.ws.friction.problem.q().to_vec());
            (mixed, friction, case.ws.solution.velocity.clone(), impulses)
        };
        let (light, heavy) = (run(1.0), run(1024.0));
        assert!(light == heavy);
        assert!(light.3.iter().any(|p| *p > 0.0));
    }
}

/// Without contacts nothing is solved, and v⁺ = v + h g to the last bit.
#[test]
fn free_flight_has_no_rows() {
    for coordinates in COORDINATES {
        let body = BodyBuilder::particle("stone", 3.0).velocity(1.0, 2.0, 3.0);
        let model = world(Dimension::Spatial, ContactRule::default(), [body]);
        let mut case = Case::new(model, Scheme { coordinates, ..Scheme::default() }, 0.125);
        case.solve().unwrap();
        assert_eq!(case.ws.friction.problem.rows(), 0);
        assert_eq!(case.ws.solution.velocity, [1.0, 2.0, 3.0 - G * 0.125]);
    }
}

/// M (v⁺ − v) = h f + H r, for every friction set.   [STEP-1]
#[test]
fn momentum_is_balanced() {
    for friction in FRICTION_SETS {
        let mut case = arm_case(Coordinates::Maximal, friction);
        case.solve().unwrap();
        assert!(case.momentum_error() < 1e-10, "{friction:?}: {:e}", case.momentum_error());
    }
    let mut case = Case::new(heap(1.0), Scheme::default(), 0.01);
    case.solve().unwrap();
    assert!(case.ws.solution.contact_impulses.iter().any(|p| p.spin != 0.0 && p.rolling.norm() > 0.0));
    assert!(case.momentum_error() < 1e-10, "{:e}", case.momentum_error());
}

/// The impulses of the solution obey their laws: inside cones, and on their surface where they slip.
#[test]
fn solved_impulses_obey_coulombs_law() {
    let mut case = Case::new(heap(1.0), Scheme::default(), 0.01);
    case.solve().unwrap();
    let mut u = Vec::new();
    let problem = &case.ws.friction.problem;
    let r = &case.ws.friction.solution.r;
    problem.velocities(r, &mut u, &mut Vec::new());
    for (block, law) in problem.laws().iter().enumerate() {
        let Law::Rolling { rows, mu, .. } = law else { panic!("{law:?}") };
        let (r, u) = (&r[problem.range(block)], &u[problem.range(block)]);
        let sliding = rows - 2;
        let norm = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
        let (force, slip) = (norm(&r[1..sliding]), norm(&u[1..sliding]));
        assert!(r[0] >= -1e-12 && u[0] >= -1e-9 && (r[0] * u[0]).abs() < 1e-9);
        assert!(force <= mu * r[0] + 1e-9);
        assert!(slip < 1e-8 || (force - mu * r[0]).abs() < 1e-8, "slip {slip}, force {force} of {}", mu * r[0]);
        // Friction opposes the slip.
        let power: f64 = r[1..sliding].iter().zip(&u[1..sliding]).map(|(r, u)| r * u).sum();
        assert!((power + force * slip).abs() < 1e-8);
    }
}

/// Sizes for reports: velocities, impulses and one slip speed for each friction limit.
#[test]
fn problem_sizes_count_velocities_impulses_and_slip_speeds() {
    let count = |scheme: Scheme, rule: ContactRule| {
        let model = on_floor(Dimension::Spatial, rule, [ball("ball", 1.0, 0.5).position(0.0, 0.0, 0.5)]);
        let mut case = Case::new(model, scheme, 0.01);
        case.assemble().unwrap();
        case.with(|start, ws| size(start, ws))
    };
    let friction = || crate::tests::support::friction(0.3);
    assert_eq!(count(Scheme::default(), ContactRule::default()), 6 + 1);
    assert_eq!(count(Scheme::default(), friction()), 6 + 3 + 1);
    assert_eq!(count(Scheme::default(), ContactRule { torsion: 0.1, ..friction() }), 6 + 4 + 1);
    assert_eq!(count(Scheme::default(), ContactRule { rolling: 0.1, ..friction() }), 6 + 5 + 2);
    assert_eq!(count(Preset::StewartTrinkle.scheme(), friction()), 6 + 1 + 8 + 1);
    assert_eq!(count(Scheme { friction: FrictionSet::Box, ..Scheme::default() }, friction()), 6 + 1 + 4 + 2);
    assert_eq!(count(Preset::GeometricallyImplicit.scheme(), friction()), 6 + 3 + 1 + 8);
}

/// Impulses alone are unknowns with divide and conquer, and in reduced coordinates of few rows.
#[test]
fn few_rows_in_reduced_coordinates_are_solved_in_impulses() {
    let applies = |coordinates, rows: usize, scheme: Scheme| {
        let mut case = Case::new(heap(1.0), Scheme { coordinates, ..scheme }, 0.01);
        case.detect().unwrap();
        case.with(|start, ws| impulses::applies(start, ws, rows))
    };
    assert!(!applies(Coordinates::Maximal, 3, Scheme::default()));
    assert!(applies(Coordinates::Reduced, 3, Scheme::default()));
    assert!(!applies(Coordinates::Reduced, 10_000, Scheme::default()));
    assert!(applies(Coordinates::DivideAndConquer, 10_000, Scheme::default()));
    assert!(!applies(Coordinates::Reduced, 3, Preset::GeometricallyImplicit.scheme()));
}

/// The normal impulse of a resting ball is its weight times h, and nothing else acts.
#[test]
fn a_resting_ball_is_carried_by_its_contact() {
    for coordinates in COORDINATES {
        let body = ball("ball", 2.0, 0.5).position(0.0, 0.0, 0.5);
        let model = on_floor(Dimension::Spatial, crate::tests::support::friction(0.3), [body]);
        let mut case = Case::new(model, Scheme { coordinates, ..Scheme::default() }, 0.01);
        case.solve().unwrap();
        let p = case.ws.solution.contact_impulses[0];
        assert_near(p.normal, 2.0 * G * 0.01, 1e-12);
        assert!(p.friction.norm() < 1e-12);
        assert_all_near(case.velocity("ball"), &[0.0; 6], 1e-12);
    }
}
