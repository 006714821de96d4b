//! The mixed problem: friction directions, rows and their meaning, extraction.

use nalgebra::Vector3;
use stiction_complementarity::SparseMatrix;
use stiction_multibody::{BodyId, ContactRule, Dimension, ModelBuilder, SupportBuilder, Wrench};

use super::{COORDINATES, arm_case};
use crate::formulation::columns::{between, push_row};
use crate::formulation::directions;
use crate::rates::{Side, approach};
use crate::tests::support::{Case, assert_close, assert_near, ball, disc, friction, on_floor, with_friction_set};
use crate::{Coordinates, FrictionSet, Preset, RowMeaning, Scheme, SupportPointContact};

fn two_balls(rule: ContactRule, set: FrictionSet) -> Case {
    let bodies = [
        ball("ball", 1.0, 0.5).position(0.0, 0.0, 0.5).velocity(1.0, 0.0, 0.0),
        ball("other", 1.0, 0.5).position(3.0, 0.0, 0.5).velocity(0.0, -2.0, 0.0),
    ];
    Case::new(on_floor(Dimension::Spatial, rule, bodies), with_friction_set(set), 0.01)
}

/// Ranges of directions and friction bounds are consecutive, and a bound has its own directions.
#[test]
fn friction_directions_are_listed_contact_by_contact() {
    for (set, rule, per_contact, bounds) in [
        (FrictionSet::Polygon, friction(0.3), 8, 1),
        (FrictionSet::Polygon, ContactRule { directions: Some(12), ..friction(0.3) }, 12, 1),
        (FrictionSet::Box, friction(0.3), 4, 2),
        (FrictionSet::Polygon, ContactRule::default(), 0, 0),
    ] {
        let mut case = two_balls(rule, set);
        case.detect().unwrap();
        case.with(directions::choose);
        for (k, contact) in case.ws.constraints.contacts.iter().enumerate() {
            assert_eq!(contact.directions, k * per_contact..(k + 1) * per_contact);
            assert_eq!(contact.friction_bounds, k * bounds..(k + 1) * bounds);
            for bound in contact.friction_bounds.clone() {
                let own = &case.ws.mixed.directions[contact.directions_of(bound)];
                assert_eq!(own.len(), per_contact / bounds);
                let sum: Vector3<f64> = own.iter().sum();
                assert_close(&sum, &Vector3::zeros(), 1e-15);
                assert!(own.iter().all(|d| d.dot(&contact.normal).abs() < 1e-15));
            }
        }
        assert_eq!(case.ws.mixed.directions.len(), 2 * per_contact);
    }
}

/// Directions of support points follow those of contacts, horizontal even in planar models.
#[test]
fn support_points_have_directions_after_the_contacts() {
    for (set, per_point) in [(FrictionSet::Polygon, 8), (FrictionSet::Box, 4)] {
        let mut builder = ModelBuilder::new(Dimension::Planar);
        builder.gravity(0.0, 0.0, -10.0).unwrap();
        builder.default_contact(friction(0.2)).unwrap();
        let body = builder.body(disc("slab", 1.0, 0.5)).unwrap();
        builder.body(disc("other", 1.0, 0.5).position(1.0, 0.0, 0.0)).unwrap();
        builder.support(body, &SupportBuilder::tripod([[0.2, 0.0], [-0.1, 0.2], [-0.15, -0.2]]).friction(0.3)).unwrap();
        let mut case = Case::new(builder.build().unwrap(), with_friction_set(set), 0.01);
        case.detect().unwrap();
        case.with(directions::choose);
        assert_eq!(case.contact().directions, 0..2);
        let [x, y] = SupportPointContact::tangents();
        for (k, point) in case.ws.constraints.support_points.iter().enumerate() {
            assert_eq!(point.directions, 2 + k * per_point..2 + (k + 1) * per_point);
            let own = &case.ws.mixed.directions[point.directions.clone()];
            for axis in [x, -x, y, -y] {
                assert!(own.iter().any(|d| (d - axis).amax() < 1e-15), "{axis:?}");
            }
        }
    }
}

/// Rows of the problem at its solution: momentum is balanced, slacks and impulses are complementary, and bounds are μ p_n − Σ p_f.
#[test]
fn rows_have_their_meaning_at_the_solution() {
    for set in [FrictionSet::Polygon, FrictionSet::Box] {
        let mut case = two_balls(friction(0.3), set);
        case.solve().unwrap();
        let (problem, solution, layout) = (&case.ws.mixed.problem, &case.ws.mixed.solution, case.ws.mixed.layout);
        let (u, z) = (&solution.free, &solution.complementary);
        assert_eq!(layout.size(), problem.size());
        assert!((0..layout.free()).all(|row| problem.equality.value(row, u, z).abs() < 1e-12));
        for row in 0..layout.complementary() {
            let slack = problem.complementarity.value(row, u, z);
            assert!(slack > -1e-12 && z[row] > -1e-12 && (slack * z[row]).abs() < 1e-12);
            match layout.meaning(layout.free() + row) {
                RowMeaning::Normal(index) => {
                    let contact = &case.ws.constraints.contacts[index];
                    let v = &case.ws.solution.velocity;
                    let rate = approach(&case.model, contact, v, case.h) + contact.gap_start / case.h;
                    assert_near(slack, rate, 1e-12);
                }
                RowMeaning::FrictionBound(bound) => {
                    let contacts = &case.ws.constraints.contacts;
                    let index = contacts.iter().position(|c| c.friction_bounds.contains(&bound)).unwrap();
                    let used: f64 = contacts[index].directions_of(bound).map(|d| z[layout.friction_at(d)]).sum();
                    assert_near(slack, 0.3 * z[index] - used, 1e-12);
                }
                RowMeaning::Friction(_) => {}
                other => panic!("{other:?}"),
            }
        }
    }
}

/// Impulses act as velocities are measured: C = Dᵀ in the velocity rows.
#[test]
fn impulse_columns_are_the_transpose_of_velocity_columns() {
    for coordinates in [Coordinates::Maximal, Coordinates::Reduced] {
        let mut case = arm_case(coordinates, FrictionSet::Polygon);
        case.assemble().unwrap();
        let (problem, velocities) = (&case.ws.mixed.problem, case.ws.mixed.layout.velocities);
        let entry =
            |m: &SparseMatrix, i: usize, j: usize| m.row(i).filter(|(k, _)| *k == j).map(|(_, x)| x).sum::<f64>();
        let (d, c) = (&problem.complementarity.on_free, &problem.equality.on_complementary);
        assert!(d.entries() > 10);
        for row in 0..d.rows() {
            for column in 0..velocities {
                assert_eq!(entry(d, row, column), entry(c, column, row));
            }
        }
    }
}

/// A sliding ball in a polygon: friction is μ p_n along a vertex that opposes the slip.
#[test]
fn sliding_friction_is_at_a_vertex_of_the_polygon() {
    let mut case = two_balls(friction(0.01), FrictionSet::Polygon);
    case.solve().unwrap();
    let [first, second] = &case.ws.solution.contact_impulses[..] else { panic!("two contacts") };
    assert_close(&first.friction, &Vector3::new(-0.01 * first.normal, 0.0, 0.0), 1e-12);
    assert_close(&second.friction, &Vector3::new(0.0, 0.01 * second.normal, 0.0), 1e-12);
    assert!(first.sigma > 0.9 && second.sigma > 1.9);
}

/// The box holds more than the disc across a diagonal, the polygon less than the disc between its vertices.
#[test]
fn friction_sets_contain_each_other() {
    let held = |set: FrictionSet, directions: u32| {
        let (sin, cos) = libm::sincos(std::f64::consts::PI / 8.0);
        let speed = 2.0;
        let body = ball("ball", 1.0, 0.5).position(0.0, 0.0, 0.5).velocity(speed * cos, speed * sin, 0.0);
        let model = on_floor(Dimension::Spatial, friction(0.3), [body]);
        let mut case = Case::new(model, Scheme { friction: set, directions, ..Scheme::default() }, 0.01);
        case.solve().unwrap();
        let p = case.ws.solution.contact_impulses[0];
        p.friction.norm() / (0.3 * p.normal)
    };
    assert_near(held(FrictionSet::Quadratic, 8), 1.0, 1e-9);
    // Between two vertices of the octagon the nearest vertex or edge acts; its points are at most 1 from the centre.
    assert!(held(FrictionSet::Polygon, 8) <= 1.0 + 1e-12);
    assert!(held(FrictionSet::Polygon, 8) >= libm::cos(std::f64::consts::PI / 8.0) - 1e-12);
    assert_near(held(FrictionSet::Box, 8), std::f64::consts::SQRT_2, 1e-9);
}

/// Two sides of a row on the same body are one entry per column, their sum.
#[test]
fn sides_on_one_body_are_added() {
    let model = on_floor(
        Dimension::Spatial,
        ContactRule::default(),
        [ball("ball", 1.0, 0.5), ball("other", 1.0, 0.5).position(3.0, 0.0, 0.0)],
    );
    let (a, b) = (model.find_body("ball").unwrap(), model.find_body("other").unwrap());
    let wrench = |x: f64| Wrench { linear: Vector3::new(x, 2.0 * x, 3.0), angular: Vector3::new(-x, 0.0, 1.0) };
    let mut matrix = SparseMatrix::zeros(0, 0);
    matrix.clear(2, model.dof());
    let sides = [
        Some(Side::Wrench(a, wrench(1.0))),
        Some(Side::Wrench(b, wrench(5.0))),
        Some(Side::Wrench(a, wrench(10.0))),
        None,
    ];
    push_row((&model, 1.0), None, &mut matrix, &sides);
    matrix.finish_row();
    // A fixed body has no columns.
    push_row((&model, 1.0), None, &mut matrix, &between((BodyId::WORLD, &wrench(1.0)), (b, &wrench(2.0))));
    matrix.finish_row();
    let row: Vec<f64> = matrix.row(0).map(|(_, x)| x).collect();
    assert_eq!(row, [11.0, 22.0, 6.0, -11.0, 0.0, 2.0, 5.0, 10.0, 3.0, -5.0, 0.0, 1.0]);
    assert_eq!(matrix.row(1).map(|(k, _)| k).collect::<Vec<_>>(), [6, 7, 8, 9, 10, 11]);
}

/// A row with two bounds is a friction row about their midpoint: its impulse stays within them.
#[test]
fn joint_space_impulses_stay_within_their_bounds() {
    for coordinates in COORDINATES {
        for preset in [Preset::Ncp, Preset::StewartTrinkle] {
            let mut case = arm_case(coordinates, preset.scheme().friction);
            case.solve().unwrap();
            let rows = case.ws.constraints.joint_space_rows.iter().zip(&case.ws.solution.joint_space_impulses);
            let mut bounded = 0;
            for (row, p) in rows {
                if let stiction_complementarity::Law::Bounded { lower, upper } = row.law {
                    assert!(*p >= lower - 1e-12 && *p <= upper + 1e-12, "{p} outside [{lower}, {upper}]");
                    bounded += 1;
                }
            }
            assert_eq!(bounded, 2, "dry friction and one limit");
        }
    }
}
