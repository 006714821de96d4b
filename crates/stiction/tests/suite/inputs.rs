//! Forces and controls from outside, and simulations that go on with another model.

use std::sync::Arc;

use nalgebra::{Vector2, Vector3};
use stiction::{BodyBuilder, ContactRule, Dimension, Model, ModelBuilder, Preset, Simulation, Wrench, planar};

/// A box that slides on a floor, with or without a disc above it.
fn sliding_box(with_disc: bool) -> Model {
    let mut builder = ModelBuilder::new(Dimension::Planar);
    builder.gravity(0.0, -9.81, 0.0).unwrap();
    builder.body(BodyBuilder::fixed("floor").shape(planar::Shape::half_plane(Vector2::y()).unwrap().into())).unwrap();
    if with_disc {
        let disc = BodyBuilder::planar("disc", 1.0, 0.1).position(0.0, 2.0, 0.0);
        builder.body(disc.shape(planar::Shape::disc(0.1).unwrap().into())).unwrap();
    }
    let sliding = BodyBuilder::planar("box", 1.0, 0.1).position(0.0, 0.25, 0.0).velocity(1.0, 0.0, 0.0);
    builder.body(sliding.shape(planar::Shape::rectangle([0.5, 0.25]).unwrap().into())).unwrap();
    builder.default_contact(ContactRule { friction: 0.5, ..ContactRule::default() }).unwrap();
    builder.build().unwrap()
}

fn simulation(model: impl Into<Arc<Model>>) -> Simulation {
    Simulation::new(model, Preset::Ncp.scheme(), 0.001).unwrap()
}

fn advance(simulation: &mut Simulation, steps: u32) {
    for _ in 0..steps {
        let _ = simulation.step().unwrap();
    }
}

#[test]
fn a_held_force_acts_until_it_is_released_and_on_this_simulation_only() {
    let model = Arc::new(sliding_box(false));
    let (mut pushed, mut other) = (simulation(Arc::clone(&model)), simulation(model));
    let id = pushed.model().find_body("box").unwrap();
    // The force of friction is 0.5 m g while the box slides.
    let force = Wrench { linear: Vector3::new(0.5 * 9.81, 0.0, 0.0), angular: Vector3::zeros() };
    pushed.hold_wrench(id, force).unwrap();
    advance(&mut pushed, 100);
    advance(&mut other, 100);
    assert!((pushed.state().v[0] - 1.0).abs() < 1e-9, "held against friction");
    assert!(other.state().v[0] < 0.6, "nobody holds the other");
    pushed.release_wrenches();
    advance(&mut pushed, 100);
    assert!((pushed.state().v[0] - (1.0 - 0.1 * 0.5 * 9.81)).abs() < 1e-9);
}

#[test]
fn forces_that_cannot_be_are_refused_at_the_call() {
    let mut simulation = simulation(sliding_box(false));
    let before = simulation.state().clone();
    let [floor, sliding] = ["floor", "box"].map(|name| simulation.model().find_body(name).unwrap());
    let along = |x: f64| Wrench { linear: Vector3::new(x, 0.0, 0.0), angular: Vector3::zeros() };
    for x in [f64::NAN, f64::INFINITY, 1e12, -1e12] {
        assert!(simulation.hold_wrench(sliding, along(x)).is_err(), "{x}");
    }
    let out = Wrench { linear: Vector3::z(), angular: Vector3::zeros() };
    assert!(simulation.hold_wrench(sliding, out).unwrap_err().to_string().contains("plane"));
    assert!(simulation.hold_wrench(floor, along(1.0)).unwrap_err().to_string().contains("dynamic"));
    assert!(simulation.hold_control(0, 1.0).unwrap_err().to_string().contains("another model"));
    assert!(simulation.state().bit_equal(&before));
    let mut untouched = self::simulation(sliding_box(false));
    advance(&mut simulation, 10);
    advance(&mut untouched, 10);
    assert!(simulation.state().bit_equal(untouched.state()), "what was refused is not held");
}

#[test]
fn going_on_with_the_same_model_changes_no_bit() {
    let model = Arc::new(sliding_box(true));
    let (mut changed, mut plain) = (simulation(Arc::clone(&model)), simulation(Arc::clone(&model)));
    for _ in 0..20 {
        advance(&mut changed, 50);
        advance(&mut plain, 50);
        changed.continue_with(Arc::clone(&model), |_| true).unwrap();
        assert!(changed.state().bit_equal(plain.state()));
    }
}

#[test]
fn bodies_that_stay_move_on_and_others_start_anew() {
    let mut simulation = simulation(sliding_box(false));
    advance(&mut simulation, 100);
    let (q, v, t) = (simulation.state().q.clone(), simulation.state().v.clone(), simulation.time());
    simulation.continue_with(sliding_box(true), |_| true).unwrap();
    assert_eq!(simulation.time().to_bits(), t.to_bits());
    assert_eq!((&simulation.state().q[3..], &simulation.state().v[3..]), (&q[..], &v[..]), "the box moves on");
    assert_eq!(simulation.state().q[..2], [0.0, 2.0], "the disc is new");
    assert!(!simulation.state().contacts.is_empty(), "what touched still does");
    advance(&mut simulation, 100);
    simulation.continue_with(sliding_box(true), |name| name != "box").unwrap();
    assert_eq!(simulation.state().q[3..], [0.0, 0.25, 0.0], "one that is not kept starts as the model says");
    assert!(simulation.state().q[1] < 2.0, "the disc fell meanwhile");
}
