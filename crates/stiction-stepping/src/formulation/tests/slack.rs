//! Slack of jammed contacts: which contacts get it, and what it leaves as it is.

use nalgebra::Vector2;
use stiction_complementarity::{FrictionLadder, Law};
use stiction_geometry::planar;
use stiction_multibody::{Dimension, Model};

use crate::constraints::Source;
use crate::formulation::{assemble_rows, review_jam, solve};
use crate::tests::support::{Case, assert_near, disc, floor, friction, prescribed, world};
use crate::{Acceptance, Ladder, Rung, Scheme, Start, StepCause, slack};

const H: f64 = 0.01;

/// A disc between the floor and a plate that comes down at this speed, and another one on the floor.
fn press(speed: f64) -> Model {
    let plate = planar::Shape::half_plane(-Vector2::y()).unwrap();
    let bodies = [
        stiction_multibody::BodyBuilder::fixed("floor").shape(floor(Dimension::Planar)),
        prescribed("plate", ["0", &format!("0.4 - {speed}*t"), "0"]).shape(plate.into()),
        disc("jammed", 2.0, 0.2).position(0.0, 0.2, 0.0),
        disc("free", 1.0, 0.1).position(1.0, 0.1, 0.0),
    ];
    world(Dimension::Planar, friction(0.5), bodies)
}

/// Problem of the first step, which its methods do not solve.
fn unsolved(speed: f64) -> Case {
    let mut case = Case::new(press(speed), Scheme::default(), H);
    assert!(matches!(case.solve(), Err(StepCause::NotSolved { .. })));
    case
}

/// Only the two contacts of the pressed disc get slack. Its rate is half the speed of the plate, the disc goes down at the other half, both contacts
/// just touch, and the other disc rests.
#[test]
fn slack_is_shared_by_connected_contacts() {
    let speed = 1e-3;
    let mut case = unsolved(speed);
    let mut ladder = Ladder::default();
    assert!(case.with(|start, ws| review_jam(start, &ladder, ws)));
    let outcome = case.with(|start, ws| {
        assemble_rows(start, ws).unwrap();
        solve(start, &mut ladder, ws).unwrap()
    });
    assert!(outcome.residual.value < 1e-9);
    let constraints = &case.ws.constraints;
    let jammed = case.body("jammed");
    for block in &constraints.blocks {
        let is_of_jammed = block.bodies.is_some_and(|(a, b)| a == jammed || b == jammed);
        assert!(matches!(block.source, Source::Contact(_)));
        assert_eq!(block.auxiliary.is_some(), is_of_jammed);
    }
    let rate = constraints.slack.as_ref().unwrap().rate;
    assert_near(rate, 0.5 * speed, 1e-12);
    assert_near(case.velocity("jammed")[1], -0.5 * speed, 1e-12);
    assert_near(case.velocity("free")[1], 0.0, 1e-12);
    // Momentum is that of the bodies: the impulses of the two contacts differ by the weight, and are those that make the mass of the slack move.
    let impulses: Vec<f64> = case.ws.solution.contact_impulses.iter().map(|impulse| impulse.normal).collect();
    let mass = constraints.slack.as_ref().unwrap().mass;
    assert_eq!(impulses.len(), 3);
    assert_near(impulses.iter().sum::<f64>() - H * 10.0, mass * rate, 1e-9 * mass * rate);
    // A second time the same contacts get none.
    assert!(!case.with(|start, ws| review_jam(start, &ladder, ws)));
}

/// A large overlap is refused, and a smaller one too while the step may be halved. If the scheme asks for any solution, every overlap is accepted.
#[test]
fn a_large_overlap_is_refused() {
    let radius = 0.2;
    for (acceptance, largest) in
        [(Acceptance::Usual, 1e-4), (Acceptance::Loose, 1e-3), (Acceptance::Any, f64::INFINITY)]
    {
        for factor in [0.9, 1.1, 30.0] {
            let overlap = factor * radius * if largest.is_finite() { largest } else { 1e-3 };
            let mut case = unsolved(2.0 * overlap / H);
            let result = case.with(|start, ws| {
                let (start, mut ladder) = (Start { acceptance, ..*start }, Ladder::default());
                assert!(review_jam(&start, &ladder, ws));
                assemble_rows(&start, ws).unwrap();
                solve(&start, &mut ladder, ws)
            });
            assert_eq!(result.is_ok(), factor < 1.0 || acceptance == Acceptance::Any, "{acceptance:?}, {factor}");
            if let Err(cause) = result {
                assert!(cause.to_string().contains("bodies are jammed"), "{cause}");
            }
        }
    }
}

/// Custom methods solve the problem as it is.
#[test]
fn custom_methods_get_no_slack() {
    let mut case = unsolved(1e-3);
    let ladder = Ladder::for_cones(vec![Rung { name: "own", solver: Box::new(FrictionLadder::default()) }]);
    assert!(!case.with(|start, ws| review_jam(start, &ladder, ws)));
    assert!(case.ws.constraints.slack.is_none());
}

/// Contacts and one-sided limits may jam; motors, dry friction and joints do not.
#[test]
fn laws_without_a_bound_above_may_jam() {
    let infinite = f64::INFINITY;
    let laws = [
        (Law::Cone { rows: 3, mu: 0.5 }, true),
        (Law::Rolling { rows: 5, mu: 0.5, mu_r: 1.0 }, true),
        (Law::Bounded { lower: 0.0, upper: infinite }, true),
        (Law::Bounded { lower: 0.0, upper: 1.0 }, false),
        (Law::Bounded { lower: -infinite, upper: infinite }, false),
        (Law::Equality { rows: 2 }, false),
    ];
    for (law, expected) in laws {
        assert_eq!(slack::may_jam(law), expected, "{law:?}");
    }
}
