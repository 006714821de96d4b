//! Steps that are interrupted: the state does not change, and the simulation goes on as if nothing had been.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use stiction::interrupt::Interrupt;
use stiction::{BodyBuilder, Dimension, Preset, Scheme, Simulation, StepCause};

use crate::support::{down, friction, on_floor, solid_box};

const HALF: f64 = 0.1;
const H: f64 = 0.01;

/// Turned boxes that fall on each other.
fn falling(count: u32, scheme: Scheme) -> Simulation {
    let bodies = (0..count).map(|k| {
        let angle = 0.25 * (f64::from(k) + 0.6);
        let turned = [angle.cos(), 0.6 * angle.sin(), 0.0, 0.8 * angle.sin()];
        let body: BodyBuilder = solid_box(&format!("box {k}"), 1.0, [HALF; 3]);
        body.position(0.02 * f64::from(k % 3), 0.0, 0.2 + 0.25 * f64::from(k)).quaternion(turned)
    });
    Simulation::new(on_floor(Dimension::Spatial, bodies, down(Dimension::Spatial), friction(0.5)), scheme, H).unwrap()
}

/// Interrupts steps at many places, each time with another number of questions, and compares with a run that was left alone.
fn interrupted_everywhere(scheme: &Scheme, steps: u32) {
    let (mut alone, mut disturbed) = (falling(4, scheme.clone()), falling(4, scheme.clone()));
    let mut interrupts = 0;
    for step in 0..steps {
        let asked = Arc::new(AtomicU32::new(0));
        let limit = Arc::new(AtomicU32::new(step % 3));
        let interrupt = {
            let (asked, limit) = (Arc::clone(&asked), Arc::clone(&limit));
            Interrupt::new(move || asked.fetch_add(1, Ordering::Relaxed) >= limit.load(Ordering::Relaxed))
        };
        let before = disturbed.state().clone();
        while let Err(error) = interrupt.during(|| disturbed.step()) {
            assert_eq!((error.cause, error.step), (StepCause::Interrupted, u64::from(step) + 1));
            assert!(disturbed.state().bit_equal(&before), "step {step}");
            interrupts += 1;
            // The next try comes further.
            asked.store(0, Ordering::Relaxed);
            limit.fetch_add(7, Ordering::Relaxed);
        }
        let _ = alone.step().unwrap();
        assert!(disturbed.state().bit_equal(alone.state()), "step {step}: other bits after an interrupt");
    }
    println!("{:?}: {interrupts} interrupts", scheme.method);
    assert!(interrupts > steps);
}

#[test]
fn an_interrupted_step_changes_nothing() {
    for preset in [Preset::Ncp, Preset::MoreauJean, Preset::StewartTrinkle, Preset::GeometricallyImplicit] {
        interrupted_everywhere(&preset.scheme(), 60);
    }
}

#[test]
fn the_reference_stepper_can_be_interrupted() {
    let ball = crate::support::solid_ball("ball", 1.0, HALF).position(0.0, 0.0, 1.0);
    let model = on_floor(Dimension::Spatial, [ball], down(Dimension::Spatial), friction(0.5));
    let mut simulation = Simulation::new(model, Preset::Reference.scheme(), H).unwrap();
    let error = Interrupt::new(|| true).during(|| simulation.step()).unwrap_err();
    assert_eq!((error.cause, simulation.state().step), (StepCause::Interrupted, 0));
    assert_eq!(simulation.step().unwrap().step, 1);
}
