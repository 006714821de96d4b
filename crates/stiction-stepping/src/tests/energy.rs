//! Balance of kinetic energy over a step.

use stiction_multibody::{BodyBuilder, ContactRule, Dimension, Layer, LayerRule};

use super::support::{Case, G, assert_near, ball, builder, floor, friction, on_floor, rectangle, world};
use crate::formulation::tests::{COORDINATES, FRICTION_SETS, arm_case};
use crate::{EnergyBound, PositionUpdate, Preset, Scheme, energy_bound};

fn bound(case: &Case) -> EnergyBound {
    energy_bound(&case.model, &case.ws).unwrap()
}

/// In free flight forces do all the work: after = before + h v·f + ½ h² f²/m.
#[test]
fn free_flight_changes_energy_by_forces() {
    for coordinates in COORDINATES {
        let stone = BodyBuilder::particle("stone", 2.0).velocity(3.0, 0.0, 1.0);
        let model = world(Dimension::Spatial, ContactRule::default(), [stone]);
        let mut case = Case::new(model, Scheme { coordinates, ..Scheme::default() }, 0.1);
        assert!(energy_bound(&case.model, &case.ws).is_none(), "no step was made");
        case.run(1);
        let energy = bound(&case);
        assert_near(energy.before, 10.0, 1e-12);
        assert_near(energy.forces, -2.0 * G * 0.1 + 0.5 * 0.01 * 4.0 * G * G / 2.0, 1e-12);
        assert_near(energy.after, 9.0, 1e-12);
        assert_near(energy.lost + energy.asked.abs() + energy.friction().abs(), 0.0, 1e-12);
        assert_near(energy.bound(), energy.after, 1e-12);
    }
}

/// The remainder of the balance is the work p_f · v⁺ of sliding friction, −μ m g h (v − μ g h).   [ENERGY-1]
#[test]
fn the_work_of_friction_is_the_remainder() {
    for friction_set in FRICTION_SETS {
        for coordinates in COORDINATES {
            let block = rectangle("block", 2.0, [0.5, 0.25]).position(0.0, 0.25, 0.0).velocity(1.0, 0.0, 0.0);
            let model = on_floor(Dimension::Planar, friction(0.3), [block]);
            let scheme = Scheme { friction: friction_set, coordinates, ..Scheme::default() };
            let mut case = Case::new(model, scheme, 0.01);
            case.run(1);
            let slowed = 1.0 - 0.3 * G * 0.01;
            assert_near(bound(&case).friction(), -0.3 * 2.0 * G * 0.01 * slowed, 1e-9);
        }
    }
}

/// Removing an overlap of d in a step adds at most ½ m (d/h)², and the bound says so.   [ENERGY-3]
#[test]
fn removed_overlaps_are_within_the_bound() {
    let body = ball("ball", 2.0, 0.5).position(0.0, 0.0, 0.49);
    let mut case = Case::new(on_floor(Dimension::Spatial, ContactRule::default(), [body]), Scheme::default(), 0.1);
    case.run(1);
    let energy = bound(&case);
    // The ball leaves with 0.1 m/s, after an impulse of m (0.1 + g h).
    assert_near(energy.after, 0.01, 1e-10);
    assert_near(energy.asked, 2.0 * (0.1 + G * 0.1) * 0.1, 1e-10);
    assert_near(energy.lost, (0.1 + G * 0.1) * (0.1 + G * 0.1), 1e-10);
    assert!(energy.infeasibility() >= 0.0);
    assert!(energy.after <= energy.bound() + 1e-12);
    let given = EnergyBound { asked: 3.0, lost: 1.0, ..EnergyBound::default() };
    assert_eq!(given.infeasibility(), 2.0);
    assert_eq!(EnergyBound { lost: 5.0, ..given }.infeasibility(), 0.0);
}

/// Compressed layers take energy from the body, and the frictionless balance closes with their work.   [SOFT-9]
#[test]
fn layers_have_their_work_in_the_balance() {
    let mut builder = builder(Dimension::Spatial, ContactRule::default());
    let ground = builder.body(BodyBuilder::fixed("floor").shape(floor(Dimension::Spatial))).unwrap();
    let body = builder.body(ball("ball", 2.0, 0.5).position(0.0, 0.0, 0.499).velocity(0.0, 0.0, -1.0)).unwrap();
    let layer = LayerRule::Given(Layer::normal(1e4, 20.0).with_depth(0.02));
    builder.contact(ground, body, ContactRule { layer, ..ContactRule::default() }).unwrap();
    let model = builder.build().unwrap();
    let mut case = Case::new(model.clone(), Scheme::default(), 0.001);
    for _ in 0..10 {
        case.run(1);
        let energy = bound(&case);
        assert!(energy.layers < 0.0 || case.v("ball")[2] > 0.0);
        assert_near(energy.friction(), 0.0, 1e-10);
        assert!(energy.after <= energy.bound() + 1e-10);
    }
    // By mean velocities layers keep their own account.
    let mut case = Case::new(model, Scheme { position_update: PositionUpdate::Average, ..Scheme::default() }, 0.001);
    case.run(1);
    assert!(energy_bound(&case.model, &case.ws).is_none());
}

/// Friction never adds energy, and the bound holds, for the arm in all coordinates and friction sets.
#[test]
fn the_bound_holds_for_arms_with_contact() {
    for friction_set in FRICTION_SETS {
        for coordinates in COORDINATES {
            let mut case = arm_case(coordinates, friction_set);
            for _ in 0..20 {
                case.run(1);
                let energy = bound(&case);
                assert!(energy.friction() <= 1e-9, "{coordinates:?}, {friction_set:?}: {energy:?}");
                assert!(energy.after <= energy.bound() + 1e-9, "{coordinates:?}, {friction_set:?}: {energy:?}");
            }
        }
    }
}

/// Quasistatic steps balance no momentum.
#[test]
fn quasistatic_steps_have_no_balance_of_energy() {
    let body = ball("ball", 2.0, 0.5).position(0.0, 0.0, 0.5);
    let model = on_floor(Dimension::Spatial, friction(0.3), [body]);
    let mut case = Case::new(model, Preset::Quasistatic.scheme(), 0.01);
    case.run(1);
    assert!(energy_bound(&case.model, &case.ws).is_none());
}
