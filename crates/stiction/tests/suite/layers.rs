//! C-12: a disc on a compliant half-plane with a rigid core, by the first-order scheme and by mean velocities, with and without substeps.

use stiction::{
    BodyBuilder, ContactRule, Dimension, EventKind, Layer, LayerRule, LineariseAt, Model, PositionUpdate, Preset,
    Scheme, Simulation, StepCause, planar,
};
use stiction_testkit::{Reference, assert_close, reference};

use crate::support::{down, on_floor, step};

fn disc(case: &Reference, layer: Layer) -> Model {
    let number = |name: &str| case.number(&format!("parameters.{name}"));
    let disc = BodyBuilder::planar("disc", number("mass"), number("inertia"))
        .position(0.0, number("height"), 0.0)
        .shape(planar::Shape::disc(number("radius")).unwrap().into());
    let rule = ContactRule { layer: LayerRule::Given(layer), ..ContactRule::default() };
    on_floor(Dimension::Planar, [disc], down(Dimension::Planar), rule)
}

fn layer(case: &Reference, core: &str) -> Layer {
    let number = |name: &str| case.number(&format!("parameters.{name}"));
    Layer::normal(number("stiffness"), number("damping")).with_depth(number(core))
}

fn scheme(update: PositionUpdate) -> Scheme {
    let mut scheme = Preset::Ncp.scheme();
    scheme.position_update = update;
    scheme
}

/// The energy of the disc with respect to the plane as the datum of its lowest point.
fn energy(simulation: &Simulation) -> f64 {
    simulation.energy().total() - 9.81
}

fn compression(simulation: &Simulation) -> f64 {
    simulation.contacts().first().and_then(|contact| contact.layer).map_or(0.0, |layer| layer.compression)
}

fn core_impulse(simulation: &Simulation) -> f64 {
    simulation.contacts().first().and_then(|contact| contact.layer).map_or(0.0, |layer| layer.core_impulse)
}

#[test]
fn c12_scheme_numbers_to_their_digits() {
    let case = reference("c12");
    let (deep_at, core_at) = (case.number("derived.deep_energy_at"), case.number("derived.core_energy_at"));
    let mut errors = Vec::new();
    for row in case.table("derived.scheme") {
        let h = row["h"];
        let mut simulation =
            Simulation::new(disc(&case, layer(&case, "core_missed")), scheme(PositionUpdate::End), h).unwrap();
        let mut deepest = 0.0_f64;
        while simulation.time() < deep_at - 0.5 * h {
            let report = step(&mut simulation);
            deepest = deepest.max(compression(&simulation));
            assert_eq!((report.impacts, core_impulse(&simulation)), (0, 0.0));
            assert_eq!(report.penetration, 0.0);
        }
        assert_close!(deepest, row["deflection"], case.tolerance("tolerance.deflection", "m"), "deflection at {h}");
        assert_close!(
            energy(&simulation),
            row["deep_energy"],
            case.tolerance("tolerance.energy", "J"),
            "energy at {h}"
        );
        errors.push((case.number("derived.deep.deflection") - deepest).abs());

        let mut simulation =
            Simulation::new(disc(&case, layer(&case, "core_hit")), scheme(PositionUpdate::End), h).unwrap();
        let (mut hit, mut total, mut large, mut impacts) = (None, 0.0, 0, 0);
        while simulation.time() < core_at - 0.5 * h {
            let report = step(&mut simulation);
            let impulse = core_impulse(&simulation);
            if impulse > 0.0 && hit.is_none() {
                hit = Some(report.time);
            }
            // All the impulse of the first impact, which takes two steps: the core is met within the first.
            if hit.is_some_and(|hit| report.time < hit + 1.5 * h) {
                total += impulse;
            }
            if hit.is_some_and(|hit| (report.time - hit - h).abs() < 0.5 * h) {
                assert!(simulation.state().v[1].abs() < 60.0 * h, "{h}: {}", simulation.state().v[1]);
            }
            large += usize::from(impulse > 1.0);
            impacts += report.impacts;
            assert!(report.penetration < 1e-12);
        }
        println!("h {h}: core {hit:?} {total} large {large} impacts {impacts} energy {}", energy(&simulation));
        assert_eq!(large, 1);
        assert!(hit.is_some_and(|hit| (hit - row["core_time"]).abs() < 1e-9));
        assert_close!(total, row["core_impulse"], case.tolerance("tolerance.impulse", "N s"), "impulse at {h}");
        assert_close!(
            energy(&simulation),
            row["core_energy"],
            case.tolerance("tolerance.energy", "J"),
            "energy at {h}"
        );
    }
    // First order: ten times the steps, a tenth of the error.
    assert!(errors.windows(2).all(|pair| (pair[0] / pair[1] - 10.0).abs() < 1.0), "{errors:?}");
}

/// On a plane the geometrically implicit equations are the linearised ones: the same numbers.
#[test]
fn c12_implicit_geometry_has_the_same_numbers() {
    let case = reference("c12");
    let row = &case.table("derived.scheme")[0];
    let mut scheme = scheme(PositionUpdate::End);
    scheme.linearise_at = LineariseAt::End;
    let mut simulation = Simulation::new(disc(&case, layer(&case, "core_hit")), scheme, row["h"]).unwrap();
    while simulation.time() < case.number("derived.core_energy_at") - 0.5 * row["h"] {
        let _ = step(&mut simulation);
    }
    assert_close!(energy(&simulation), row["core_energy"], case.tolerance("tolerance.energy", "J"), "energy");
}

/// With mean velocities and the discrete gradient a bounce keeps its energy, whatever the step.
#[test]
fn an_undamped_bounce_keeps_its_energy() {
    let case = reference("c12");
    let tolerance = case.tolerance("tolerance.kept_energy", "J");
    let period = case.number("derived.deep.period");
    for h in [case.number("parameters.step"), 3e-3] {
        let model = disc(&case, layer(&case, "core_missed"));
        let mut simulation = Simulation::new(model, scheme(PositionUpdate::Average), h).unwrap();
        let (mut worst, mut most_passes, mut deepest) = (0.0_f64, 0, 0.0_f64);
        while simulation.time() < 10.0 * period {
            let report = simulation.step().unwrap();
            assert!(report.residual.value < 1e-9);
            worst = worst.max((energy(&simulation) - case.number("derived.energy")).abs());
            most_passes = most_passes.max(report.passes);
            deepest = deepest.max(compression(&simulation));
        }
        println!("h {h}: worst energy error {worst:e}, passes {most_passes}, deepest {deepest}");
        assert!(worst < 1e-11 && worst < tolerance.abs, "{h}: {worst:e}");
        assert!(most_passes <= 12, "{most_passes}");
        // The largest deflection falls between two steps.
        let error = case.number("derived.deep.deflection") - deepest;
        assert!(error.abs() < 1e3 * h * h, "{h}: {error}");
    }
}

/// Mean velocities are of second order: position and velocity in the middle of the second flight.
#[test]
fn mean_velocities_are_of_second_order() {
    let case = reference("c12");
    let (touch, lasts) = (case.number("derived.touch_time"), case.number("derived.deep.contact_lasts"));
    let speed = case.number("derived.touch_speed");
    let end = 0.6;
    let flight = end - touch - lasts;
    let (height, velocity) = (1.0 + flight * (speed - 0.5 * 9.81 * flight), speed - 9.81 * flight);
    let errors = [600.0, 1200.0, 2400.0, 4800.0].map(|steps: f64| {
        let model = disc(&case, layer(&case, "core_missed"));
        let mut simulation = Simulation::new(model, scheme(PositionUpdate::Average), end / steps).unwrap();
        for _ in 0..steps as usize {
            let _ = step(&mut simulation);
        }
        let state = simulation.state();
        (state.q[1] - height).abs().max((state.v[1] - velocity).abs())
    });
    println!("{errors:?}");
    let order = (errors[0] / errors[3]).log2() / 3.0;
    assert!((1.7..2.5).contains(&order), "{order}: {errors:?}");
}

/// mẍ = −k x − c ẋ without weight, from the touch to the moment the force vanishes: the coefficient of restitution of a damped layer.
fn restitution(zeta: f64) -> f64 {
    let root = (1.0 - zeta * zeta).sqrt();
    let angle = (2.0 * zeta * root).atan2(2.0 * zeta * zeta - 1.0);
    (-zeta / root * angle).exp()
}

/// A disc thrown without weight against a damped layer rebounds as the linear oscillator that nothing pulls back does.
#[test]
fn damped_rebounds_follow_the_oscillator() {
    let (mass, stiffness): (f64, f64) = (1.0, 1000.0);
    for zeta in [0.05, 0.2, 0.5, 0.8] {
        let damping = 2.0 * zeta * (mass * stiffness).sqrt();
        let rebound = |update: PositionUpdate, h: f64| {
            let disc = BodyBuilder::planar("disc", mass, 0.5)
                .position(0.0, 1.01, 0.0)
                .velocity(0.0, -1.0, 0.0)
                .shape(planar::Shape::disc(1.0).unwrap().into());
            let rule =
                ContactRule { layer: LayerRule::Given(Layer::normal(stiffness, damping)), ..ContactRule::default() };
            let model = on_floor(Dimension::Planar, [disc], [0.0; 3], rule);
            let mut simulation = Simulation::new(model, scheme(update), h).unwrap();
            while simulation.time() < 0.2 {
                let _ = step(&mut simulation);
            }
            assert!(compression(&simulation) >= 0.0);
            simulation.state().v[1]
        };
        for update in [PositionUpdate::End, PositionUpdate::Average] {
            let errors = [1e-3, 5e-4, 2.5e-4, 1.25e-4].map(|h| (rebound(update, h) - restitution(zeta)).abs());
            println!("{update:?} zeta {zeta}: e {} errors {errors:?}", restitution(zeta));
            let order = (errors[0] / errors[3]).log2() / 3.0;
            assert!(errors[3] < 6e-3, "{update:?} {zeta}: {errors:?}");
            assert!(order > 0.8, "{update:?} {zeta}: {order} {errors:?}");
        }
    }
}

fn viscoelastic(steps_per_period: u32) -> Scheme {
    let mut scheme = scheme(PositionUpdate::Average);
    scheme.substeps.locate_contacts = true;
    scheme.substeps.steps_per_period = steps_per_period;
    scheme
}

/// The time of the first touch does not depend on the step: free flight by mean velocities is exact, and the step is cut there.
#[test]
fn the_first_touch_is_located() {
    let case = reference("c12");
    let tolerance = case.tolerance("tolerance.touch_time", "s");
    for h in [0.1, 0.013, 1e-3] {
        let mut simulation = Simulation::new(disc(&case, layer(&case, "core_missed")), viscoelastic(40), h).unwrap();
        let mut touch = None;
        while touch.is_none() {
            let report = simulation.step().unwrap();
            touch = simulation.events().iter().find(|event| event.kind == EventKind::Touch).map(|event| event.time);
            // The step ends at its time, whatever the substeps.
            assert!((simulation.time() - h * report.step as f64).abs() < 1e-14);
        }
        println!("h {h}: touch {touch:?}");
        assert_close!(touch.unwrap(), case.number("derived.touch_time"), tolerance, "touch at {h}");
        assert!((touch.unwrap() - (2.0 * 0.5 / 9.81_f64).sqrt()).abs() < 1e-10);
    }
}

/// Steps far longer than the contact lasts: substeps of its period resolve it, at second order, and keep the energy.
#[test]
fn pieces_resolve_what_the_step_does_not() {
    let case = reference("c12");
    let (touch, lasts) = (case.number("derived.touch_time"), case.number("derived.deep.contact_lasts"));
    let flight = 0.6 - touch - lasts;
    let height = 1.0 + flight * (case.number("derived.touch_speed") - 0.5 * 9.81 * flight);
    let errors = [20, 40, 80, 160].map(|substeps| {
        let model = disc(&case, layer(&case, "core_missed"));
        let mut simulation = Simulation::new(model, viscoelastic(substeps), 0.1).unwrap();
        let mut most = 0;
        for _ in 0..6 {
            let report = simulation.step().unwrap();
            most = most.max(report.layer_substeps);
            assert_eq!(report.substeps, report.layer_substeps, "none was halved");
        }
        assert!(most > substeps / 4, "{most} of {substeps}");
        assert!((energy(&simulation) - case.number("derived.energy")).abs() < 1e-11, "{}", energy(&simulation));
        (simulation.state().q[1] - height).abs()
    });
    println!("{errors:?}");
    let order = (errors[0] / errors[3]).log2() / 3.0;
    assert!((1.5..2.8).contains(&order), "{order} {errors:?}");
}

/// The impulse of a step with substeps is that of the whole: momentum changes by it and by the weight.
#[test]
fn impulses_of_pieces_add_up() {
    let case = reference("c12");
    let (h, mut core) = (0.05, 0.0);
    let mut simulation = Simulation::new(disc(&case, layer(&case, "core_hit")), viscoelastic(60), h).unwrap();
    for _ in 0..40 {
        let before = simulation.state().v[1];
        let report = simulation.step().unwrap();
        let contacts = simulation.contacts();
        let impulse: f64 = contacts.iter().map(|contact| contact.normal_impulse).sum();
        core += contacts.iter().filter_map(|contact| contact.layer).map(|layer| layer.core_impulse).sum::<f64>();
        assert!((simulation.state().v[1] - before + 9.81 * h - impulse).abs() < 1e-9, "at {}", report.time);
    }
    assert!((core - case.number("derived.core.impulse")).abs() < 0.3, "{core}");
}

#[test]
fn too_many_pieces_are_refused_and_the_state_stays() {
    let case = reference("c12");
    let model = disc(&case, Layer::normal(1e13, 0.0));
    let mut simulation = Simulation::new(model, viscoelastic(1000), 0.1).unwrap();
    for _ in 0..3 {
        let _ = simulation.step().unwrap();
    }
    let before = simulation.state().clone();
    let error = simulation.step().unwrap_err();
    assert!(matches!(error.cause, StepCause::TooManySubsteps { .. }), "{error}");
    assert!(error.to_string().contains("leave it out (layers of any stiffness are stable)"), "{error}");
    assert!(simulation.state().bit_equal(&before));
}

/// With located touches the accuracy of the damped rebound of mean velocities is that of its substeps.
#[test]
fn located_damped_rebounds_converge() {
    let stiffness: f64 = 1000.0;
    for zeta in [0.05, 0.3, 0.7] {
        let damping = 2.0 * zeta * stiffness.sqrt();
        let errors = [50, 100, 200, 400].map(|substeps| {
            let disc = BodyBuilder::planar("disc", 1.0, 0.5)
                .position(0.0, 1.01, 0.0)
                .velocity(0.0, -1.0, 0.0)
                .shape(planar::Shape::disc(1.0).unwrap().into());
            let rule =
                ContactRule { layer: LayerRule::Given(Layer::normal(stiffness, damping)), ..ContactRule::default() };
            let model = on_floor(Dimension::Planar, [disc], [0.0; 3], rule);
            let mut simulation = Simulation::new(model, viscoelastic(substeps), 0.1).unwrap();
            for _ in 0..3 {
                let _ = simulation.step().unwrap();
            }
            (simulation.state().v[1] - restitution(zeta)).abs()
        });
        println!("zeta {zeta}: {errors:?}");
        assert!(errors[3] < 2e-3 && errors[3] < 0.3 * errors[0], "{zeta}: {errors:?}");
    }
}

/// The two scenes of the catalogue are the two runs.
#[test]
fn the_scenes_are_the_two_runs() {
    let case = reference("c12");
    let open = |name: &str| {
        let path = format!("{}/../../scenes/{name}.toml", env!("CARGO_MANIFEST_DIR"));
        stiction::scene::load(std::path::Path::new(&path)).unwrap()
    };
    let mut soft = Simulation::from_scene(&open("soft_landing")).unwrap();
    let mut touch = None;
    for _ in 0..3000 {
        let _ = soft.step().unwrap();
        let touched = soft.events().iter().find(|event| event.kind == EventKind::Touch).map(|event| event.time);
        touch = touch.or(touched);
        assert!((energy(&soft) - case.number("derived.energy")).abs() < 1e-11);
    }
    assert!((touch.unwrap() - case.number("derived.touch_time")).abs() < 1e-9);
    let mut core = Simulation::from_scene(&open("core_landing")).unwrap();
    let row = &case.table("derived.scheme")[1];
    while core.time() < case.number("derived.core_energy_at") - 0.5 * row["h"] {
        let _ = step(&mut core);
    }
    assert_close!(energy(&core), row["core_energy"], case.tolerance("tolerance.energy", "J"), "energy");
}
