//! Particles and parts on moving plates: the tilting plate (C-15), the vibrating plate (C-16), their scenes.

use nalgebra::{Point3, Vector3};
use stiction::{BodyId, ContactMode, PeriodAverage, PlateAverage, PrescribedSlip, Preset, Scene, Scheme, Simulation};
use stiction_testkit::{Reference, Tol, assert_close, reference};

use crate::support::step;

fn scene(name: &str, changes: &[(&str, &str)]) -> Scene {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/plate");
    let changes: Vec<_> = changes.iter().map(|&(path, value)| (path.to_owned(), value.to_owned())).collect();
    stiction::scene::load_with(folder.join(name).with_extension("toml"), &changes).unwrap()
}

/// Metres to the centimetres of the thesis.
const CM: f64 = 100.0;

/// Place, velocity and contact mode of the particle, which is the only body that moves freely.
fn particle(simulation: &Simulation) -> (Point3<f64>, Vector3<f64>, ContactMode) {
    let component = |x: &[f64], k: usize| x.get(k).copied().unwrap_or(0.0);
    let (q, v) = (&simulation.state().q, &simulation.state().v);
    let place = Point3::new(q[0], q[1], component(q, 2));
    let mode = simulation.contacts().first().map_or(ContactMode::Open, |contact| contact.mode);
    (place, Vector3::new(v[0], v[1], component(v, 2)), mode)
}

fn plate(simulation: &Simulation) -> BodyId {
    simulation.model().find_body("plate").unwrap()
}

/// Results of a particle on a plate.
struct Account {
    periods: Vec<PeriodAverage>,
    sticking: f64,
}

fn account(mut simulation: Simulation, period: f64, duration: f64) -> Account {
    let (plate, h) = (plate(&simulation), simulation.step_size());
    let (mut averages, mut periods, mut stuck) = (PlateAverage::new(period), Vec::new(), 0);
    let steps = (duration / h).round() as u32;
    for _ in 0..steps {
        let _ = step(&mut simulation);
        let (place, velocity, mode) = particle(&simulation);
        stuck += u32::from(mode == ContactMode::Stick);
        let pose = simulation.configuration().pose(plate);
        periods.extend(averages.add((simulation.time(), h), &pose, place, velocity));
    }
    Account { periods, sticking: f64::from(stuck) / f64::from(steps) }
}

/// The tilting plate with its axis `depth` m below the surface.
fn tilting(depth: f64, step: f64, slip: &str) -> Simulation {
    let [on_plate, start] = [0.0, reference("c15").number("parameters.start")].map(|x| format!("[{x:?}, {depth:?}]"));
    let changes = [
        ("body.plate.shape.0.position", on_plate.as_str()),
        ("body.particle.position", start.as_str()),
        ("simulation.step", &format!("{step:?}")),
        ("scheme.prescribed_slip", slip),
    ];
    Simulation::from_scene(&scene("tilting", &changes)).unwrap()
}

/// b r + c r³ of C-15.
fn asymptotic(case: &Reference, depth: f64, r: f64) -> f64 {
    let number = |name: &str| case.number(&format!("parameters.{name}"));
    let (mu, g, alpha, period) =
        (number("friction"), number("gravity"), number("angular_acceleration"), number("period"));
    let d = alpha * depth;
    let b = mu * alpha * period * ((mu * g).powi(2) - 3.0 * d * d) / (8.0 * d * d);
    let c = -(mu * alpha).powi(3) * period / (8.0 * d * d);
    b * r + c * r.powi(3)
}

#[test]
fn c15_the_asymptotic_velocity_is_that_of_the_formula() {
    let case = reference("c15");
    let (depth, period) = (case.number("parameters.depth"), case.number("parameters.period"));
    assert_close!(asymptotic(&case, depth, 1e-6) / 1e-6, case.number("derived.b"), Tol::absolute(1e-8, "1/s"));
    for slip in ["end", "displacement"] {
        let done = account(tilting(depth, 1e-4, slip), period, 1.8);
        for average in done.periods.iter().filter(|a| a.time - 0.5 * period >= case.number("tolerance.formula_from")) {
            let exact = asymptotic(&case, depth, average.position.x);
            assert_close!(average.velocity.x, exact, case.tolerance("tolerance.formula", "m/s"));
        }
        let reversals = 2.0 * 1.8 / period;
        let stuck = done.sticking * 1.8 / 1e-4;
        assert!(stuck < case.number("tolerance.sticking_steps_per_reversal") * reversals, "{stuck} with {slip}");
    }
}

#[test]
fn c15_the_scheme_gives_the_derived_numbers() {
    let case = reference("c15");
    let period = case.number("parameters.period");
    let done = account(tilting(case.number("parameters.depth"), 1e-5, "end"), period, 1.23);
    for row in case.table("scheme.periods") {
        let average = done.periods[(row["t"] / period).round() as usize - 1];
        assert_close!(average.position.x * CM, row["r"], case.tolerance("tolerance.scheme", "cm"));
        assert_close!(average.velocity.x * CM, row["v"], case.tolerance("tolerance.scheme", "cm/s"));
    }
}

#[test]
fn c15_with_the_axis_near_the_particle_sticks_and_the_formula_fails() {
    let case = reference("c15");
    for row in case.table("scheme.near") {
        let done = account(tilting(row["depth"], 1e-4, "end"), case.number("parameters.period"), 1.8);
        assert!(done.sticking > case.number("tolerance.sticking_when_near"));
        let range = row["sticking_from"]..=row["sticking_to"];
        assert!(range.contains(&done.sticking), "{} at {}", done.sticking, row["depth"]);
        // Where the formula gives the number of the table, the particle is slower.
        let off = |a: &PeriodAverage| (asymptotic(&case, row["depth"], a.position.x) * CM - row["formula"]).abs();
        let there = done.periods.iter().min_by(|a, b| off(a).total_cmp(&off(b))).unwrap();
        assert!(off(there) < 0.02);
        assert_close!(there.velocity.x * CM, row["v"], case.tolerance("tolerance.near", "cm/s"));
    }
}

fn scheme(preset: Preset, slip: PrescribedSlip, directions: u32) -> Scheme {
    let mut scheme = preset.scheme();
    (scheme.prescribed_slip, scheme.directions) = (slip, directions);
    scheme
}

/// Positions of the particle of a field at these times, cm.
fn places<const N: usize>(field: &Scene, scheme: Scheme, h: f64, times: [f64; N]) -> ([Point3<f64>; N], Simulation) {
    let mut simulation = Simulation::new(field.model.clone(), scheme, h).unwrap();
    let places = times.map(|time| {
        while simulation.time() < time - 0.5 * h {
            let report = step(&mut simulation);
            assert!(report.penetration < 1e-9);
        }
        particle(&simulation).0 * CM
    });
    (places, simulation)
}

/// Distances in the plane of the plate.
fn distances<const N: usize>(a: &[Point3<f64>; N], b: &[Point3<f64>; N]) -> [f64; N] {
    std::array::from_fn(|k| (a[k].xy() - b[k].xy()).norm())
}

const STEPS: [f64; 4] = [1e-4, 2.5e-4, 5e-4, 1e-3];

/// Errors of the centrifuge at 1 s and 6 s against the finest step.
fn step_study(slip: PrescribedSlip) -> [[f64; 2]; 4] {
    let (field, times) = (scene("centrifuge", &[]), [1.0, 6.0]);
    let run = |h: f64| places(&field, scheme(Preset::Ncp, slip, 8), h, times).0;
    let base = run(reference("c16").number("parameters.base_step"));
    STEPS.map(|h| distances(&run(h), &base))
}

#[test]
fn c16_the_error_falls_with_the_step() {
    let case = reference("c16");
    let errors = step_study(PrescribedSlip::End);
    for (row, error) in case.table("derived.centrifuge.steps").iter().zip(errors) {
        assert_close!(error[0], row["at_1"], case.tolerance("tolerance.numbers", "cm"));
        assert_close!(error[1], row["at_6"], case.tolerance("tolerance.numbers", "cm"));
    }
    // The base has half the step of the finest row and so, at first order, as much error as their distance.
    let halving = case.numbers("tolerance.halving");
    let total = errors.map(|error| error[1] + errors[0][1]);
    for ratio in [total[3] / total[2], total[2] / total[1]] {
        assert!((halving[0]..=halving[1]).contains(&ratio), "{ratio} of {errors:?}");
    }
}

#[test]
#[ignore = "long: run by cargo xtask test --all"]
fn c16_how_good_the_prescribed_velocity_is_depends_on_when_it_is_taken() {
    let [end, displacement, start] =
        [PrescribedSlip::End, PrescribedSlip::Displacement, PrescribedSlip::Start].map(step_study);
    println!("errors at 6 s of h = {STEPS:?}, cm: end {end:?}, displacement {displacement:?}, start {start:?}");
    for k in 0..STEPS.len() {
        assert!(start[k][1] < 0.1 * displacement[k][1] && displacement[k][1] < 0.6 * end[k][1]);
    }
    // At the start of the step it has the phase of the normal impulse, and the field converges with second order.
    assert!((3.5..4.5).contains(&(start[3][1] / start[2][1])), "{start:?}");
}

/// Errors of polygons against the second-order cone at 1, 3 and 6 s; those not asked for are not run.
fn direction_study(name: &str, corners: &[u32]) -> (Point3<f64>, Vec<[f64; 3]>) {
    let case = reference("c16");
    let (field, h) = (scene(name, &[]), case.number("parameters.step"));
    let times = [1.0, 3.0, 6.0];
    let run = |preset, n_d| places(&field, scheme(preset, PrescribedSlip::End, n_d), h, times);
    let (base, simulation) = run(Preset::Ncp, 8);
    let rows = case.table(&format!("derived.{name}.directions"));
    let errors = corners.iter().map(|&n_d| {
        let error = distances(&run(Preset::StewartTrinkle, n_d).0, &base);
        let row = rows.iter().find(|row| row["n_d"] == f64::from(n_d)).unwrap();
        for (error, at) in error.iter().zip(["at_1", "at_3", "at_6"]) {
            assert_close!(*error, row[at], case.tolerance("tolerance.numbers", "cm"));
        }
        error
    });
    let errors = errors.collect();
    let pose = simulation.configuration().pose(plate(&simulation));
    (pose.inverse_transform_point(&particle(&simulation).0) * CM, errors)
}

#[test]
#[ignore = "long: run by cargo xtask test --all"]
fn c16_the_error_of_polygons_levels_off_for_the_centrifuge() {
    let case = reference("c16");
    let (end, errors) = direction_study("centrifuge", &[4, 16, 32]);
    for (k, exact) in case.numbers("derived.centrifuge.end_on_plate").into_iter().enumerate() {
        assert_close!(end[k], exact, case.tolerance("tolerance.end", "cm"));
    }
    assert!(errors[1][2] < 0.2 * errors[0][2]);
    // Twice as many corners from here on no longer help: up to 3 s, 64 are worse than 32.
    let (field, h, times) = (scene("centrifuge", &[]), case.number("parameters.step"), [1.0, 3.0]);
    let run = |preset, n_d| places(&field, scheme(preset, PrescribedSlip::End, n_d), h, times).0;
    let finest = distances(&run(Preset::StewartTrinkle, 64), &run(Preset::Ncp, 8));
    assert!(finest[0] > errors[2][0] && finest[1] > errors[2][1], "{finest:?} against {:?}", errors[2]);
}

#[test]
#[ignore = "long: run by cargo xtask test --all"]
fn c16_the_error_of_polygons_falls_for_the_scaled_circle() {
    let case = reference("c16");
    let (_, errors) = direction_study("scaled_circle", &[4, 8, 16, 32]);
    assert!(errors.windows(2).all(|pair| pair[1][2] < 0.7 * pair[0][2]), "{errors:?}");
    let (end, _) = places(
        &scene("scaled_circle", &[]),
        scheme(Preset::Ncp, PrescribedSlip::End, 8),
        case.number("parameters.step"),
        [6.0],
    );
    for (k, exact) in case.numbers("derived.scaled_circle.end").into_iter().enumerate() {
        assert_close!(end[0][k], exact, case.tolerance("tolerance.end", "cm"));
    }
}

#[test]
fn every_field_starts_on_its_plate() {
    let particles =
        ["circle", "scaled_circle", "centrifuge", "learned_circle", "learned_circle_in_contact", "learned_saddle"];
    for name in particles.into_iter().chain(["tripod"]) {
        let simulation = Simulation::from_scene(&scene(name, &[])).unwrap();
        let (model, at) = (simulation.model(), simulation.configuration());
        let plate = at.pose(plate(&simulation));
        for (_, body, shape) in model.shapes().filter(|(_, body, _)| model.unknowns(*body).is_some()) {
            let foot = plate.inverse_transform_point(&((at.pose(body) * shape.local).translation.vector.into()));
            assert!(foot.z.abs() < 1e-9, "{name}: {:e} m above the plate at {foot}", foot.z);
        }
    }
}

#[test]
fn a_tripod_part_is_carried_round_like_a_particle() {
    let mut simulation = Simulation::from_scene(&scene("tripod", &[])).unwrap();
    let mut most = 0;
    for _ in 0..10_000 {
        let report = step(&mut simulation);
        most = most.max(report.contacts);
        assert!(report.penetration < 1e-9);
    }
    let q = &simulation.state().q;
    let (radius, angle) = (q[0].hypot(q[1]), q[1].atan2(q[0]));
    println!("tripod after 1 s: {radius} m, {angle} rad");
    assert_eq!(most, 3);
    assert!((radius - 0.06).abs() < 1e-3 && (0.04..0.12).contains(&angle), "{radius} {angle}");
}
