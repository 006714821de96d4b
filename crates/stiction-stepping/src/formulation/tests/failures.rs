//! Steps that are not solved: the worst row by name, and a hint.

use stiction_complementarity::{Residual, Status};
use stiction_multibody::{ContactRule, Dimension, ModelBuilder, SupportBuilder};

use super::arm_case;
use crate::constraints::Source;
use crate::formulation::{LIMIT_OF_THE_METHOD, not_solved};
use crate::ladder::LadderOutcome;
use crate::rates::RowOwner;
use crate::tests::support::{Case, ball, disc, friction, on_floor};
use crate::{Coordinates, FrictionSet, Ladder, Preset, RowMeaning, Scheme, StepCause};

/// Name and hint of a problem whose worst row is `row`.
fn failed(case: &Case, row: usize) -> (String, &'static str) {
    let residual = Residual { value: 0.5, row };
    let outcome = LadderOutcome { rung: "none", status: Status::BudgetExhausted, residual, iterations: 3, worst: None };
    let cause = not_solved(&case.model, &Ladder::default(), &case.ws, &outcome);
    let StepCause::NotSolved { status, residual, worst, rungs, hint } = cause else { panic!("{cause}") };
    assert_eq!((status, residual), (Status::BudgetExhausted, 0.5));
    assert!(!rungs.is_empty());
    (worst, hint)
}

#[test]
fn the_worst_block_of_a_cone_problem_is_named() {
    let mut case = arm_case(Coordinates::Maximal, FrictionSet::Quadratic);
    case.assemble().unwrap();
    let name = |id| case.model.body(id).unwrap().name.clone();
    let constraints = &case.ws.constraints;
    for (index, block) in constraints.blocks.iter().enumerate() {
        let expected = match block.source {
            Source::Joint(joint) => format!("joint \"{}\"", ["shoulder", "elbow"][joint]),
            Source::Contact(contact) => {
                let contact = &constraints.contacts[contact];
                format!("the contact between \"{}\" and \"{}\"", name(contact.a), name(contact.b))
            }
            Source::JointSpace(row) => {
                let RowOwner::Joint(joint) = constraints.joint_space_rows[row].owner else {
                    unreachable!("no springs")
                };
                let joint = case.model.joint(joint).unwrap();
                format!("the joint-space constraint of joint \"{}\"", joint.name)
            }
            other => panic!("{other:?}"),
        };
        for row in case.ws.friction.problem.range(index) {
            assert_eq!(failed(&case, row).0, expected);
        }
    }
}

#[test]
fn the_worst_row_of_a_mixed_problem_is_named() {
    for coordinates in [Coordinates::Maximal, Coordinates::Reduced, Coordinates::DivideAndConquer] {
        let mut case = arm_case(coordinates, FrictionSet::Polygon);
        case.assemble().unwrap();
        let layout = case.ws.mixed.layout;
        for row in 0..layout.size() {
            let worst = failed(&case, row).0;
            let own = match layout.meaning(row) {
                RowMeaning::Momentum(_) => "body \"",
                RowMeaning::Joint(_) => "joint \"",
                RowMeaning::Normal(_) => "the contact between \"",
                RowMeaning::Friction(direction) if direction < case.ws.mixed.directions.len() => {
                    "the contact between \""
                }
                RowMeaning::FrictionBound(bound) if bound < case.ws.constraints.contacts.len() => {
                    "the contact between \""
                }
                RowMeaning::Friction(_) | RowMeaning::FrictionBound(_) | RowMeaning::Limit(_) => {
                    "the joint-space constraint of joint \"elbow\""
                }
            };
            assert!(worst.contains(own), "row {row} of {coordinates:?}: {worst}");
            assert!(!worst.contains('?'), "row {row} of {coordinates:?}: {worst}");
        }
    }
}

#[test]
fn support_points_are_named_by_number() {
    for scheme in [Scheme::default(), Preset::StewartTrinkle.scheme()] {
        let mut builder = ModelBuilder::new(Dimension::Planar);
        builder.gravity(0.0, 0.0, -10.0).unwrap();
        let slab = builder.body(disc("slab", 1.0, 0.5)).unwrap();
        builder.support(slab, &SupportBuilder::tripod([[0.2, 0.0], [-0.1, 0.2], [-0.15, -0.2]]).friction(0.3)).unwrap();
        let mut case = Case::new(builder.build().unwrap(), scheme, 0.01);
        case.assemble().unwrap();
        // Three rows for each cone; three velocities, then eight directions for each polygon.
        let rows = if case.ws.is_friction_problem { [0, 3, 6] } else { [3, 3 + 8, 3 + 16] };
        for (number, row) in rows.into_iter().enumerate() {
            assert_eq!(failed(&case, row).0, format!("support point {number} of body \"slab\""));
        }
    }
}

#[test]
fn hints_name_the_likely_cause() {
    let hint = |height: f64, mass: f64| {
        let bodies =
            [ball("ball", 1.0, 0.5).position(0.0, 0.0, height), ball("heavy", mass, 0.5).position(4.0, 0.0, 0.5)];
        let mut case = Case::new(on_floor(Dimension::Spatial, friction(0.3), bodies), Scheme::default(), 0.01);
        case.assemble().unwrap();
        failed(&case, 0).1
    };
    assert_eq!(hint(0.5, 1.0), LIMIT_OF_THE_METHOD);
    assert!(hint(0.49, 1.0).starts_with("bodies overlap"));
    assert!(hint(0.5, 1e7).starts_with("masses differ by more than a million"));
    let mut jointed = arm_case(Coordinates::Maximal, FrictionSet::Quadratic);
    jointed.assemble().unwrap();
    assert!(failed(&jointed, 0).1.starts_with("look for redundant joints"));
    jointed.ws.proximal_mass_fraction = Some(0.1);
    assert!(failed(&jointed, 0).1.contains("jammed between prescribed bodies"));
}

/// A problem with numbers that overflow is refused, not solved.
#[test]
fn problems_that_are_not_finite_are_refused() {
    for scheme in [Scheme::default(), Preset::StewartTrinkle.scheme()] {
        let body = ball("ball", 1.0, 0.5).position(0.0, 0.0, 0.5);
        let model = on_floor(Dimension::Spatial, ContactRule::default(), [body]);
        let mut case = Case::new(model, scheme, 0.01);
        case.detect().unwrap();
        case.ws.constraints.contacts[0].gap_end = f64::INFINITY;
        let cause = case.with(crate::assemble).unwrap_err();
        assert_eq!(cause.to_string(), "the assembled problem of the system is not a finite number");
    }
}
