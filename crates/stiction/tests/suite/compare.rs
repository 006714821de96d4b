//! Comparisons of schemes: the norms, the published table, orders, refusals and failures.

use nalgebra::{Matrix3, Quaternion, UnitQuaternion, Vector2, Vector3};
use stiction::{
    BodyBuilder, ContactRule, Dimension, Impact, LineariseAt, Margin, Model, ModelBuilder, Preset, State,
    compare::{
        self, Between, CompareError, Comparison, Entry, Errors, Outcome, Plan, Trajectory, TruthCandidate, Unwatched,
        Watch, difference,
    },
    planar,
};
use stiction_testkit::{Reference, Tol, assert_close, reference};

use crate::{
    published::balls,
    support::{floor, friction},
};

/// The reference is integrated to about 1e-11.
const CLOSE: Tol = Tol::absolute(1e-9, "");
const EXACT: Tol = Tol::absolute(1e-12, "");

fn plan(model: Model, presets: &[Preset], steps: &[f64], until: f64) -> Plan {
    let mut plan = Plan::new(model, steps.to_vec(), until);
    plan.entries = presets.iter().map(|preset| Entry::of(*preset)).collect();
    plan.truth = vec![TruthCandidate { entry: Entry::of(Preset::Reference), step: None }];
    plan
}

fn compared(plan: &Plan) -> Comparison {
    compare::run(plan, &mut Unwatched).unwrap()
}

/// The four balls by Stewart and Trinkle's scheme, measured against its own finest step as in their table.
fn four_balls(case: &Reference, at: LineariseAt) -> Plan {
    let mut scheme = Preset::StewartTrinkle.scheme().as_published();
    scheme.linearise_at = at;
    scheme.margin = Margin::Fixed(case.number("parameters.margin"));
    scheme.directions = case.number("parameters.directions") as u32;
    let entry = Entry { name: "stewart-trinkle".into(), scheme: Ok(scheme) };
    let steps: Vec<_> = case.table("published.table").iter().map(|row| row["h"]).collect();
    let finest = steps.iter().copied().reduce(f64::min);
    let mut plan = Plan::new(balls(case), steps, case.number("parameters.duration"));
    plan.truth = vec![TruthCandidate { entry: entry.clone(), step: finest }];
    plan.entries = vec![entry];
    plan
}

#[test]
fn c22_both_columns_of_the_published_table() {
    let case = reference("c22");
    for (at, column) in [(LineariseAt::Predicted, "scheme_single_pass"), (LineariseAt::End, "scheme_two_passes")] {
        let comparison = compared(&four_balls(&case, at));
        let table = case.table("published.table");
        assert_eq!(comparison.rows.len(), table.len());
        for ((row, published), derived) in comparison.rows.iter().zip(&table).zip(case.table(column)) {
            assert_eq!(row.step, published["h"]);
            let errors = row.errors.unwrap();
            let values = [
                ("velocity_error", errors.velocity),
                ("position_error", errors.position),
                ("variation", row.variation),
            ];
            for (name, value) in values {
                let tolerance = case.tolerance(&format!("tolerance.{name}"), "");
                // The finest run is the reference solution and has no error in the table.
                let Some(&expected) = published.get(name) else {
                    assert!(value < 1e-15, "{name} against itself: {value}");
                    continue;
                };
                assert_close!(value, expected, tolerance, "published {name} at h = {}, {at:?}", row.step);
                assert_close!(value, derived[name], tolerance, "{column}, {name} at h = {}", row.step);
            }
        }
    }
}

/// A stone in free fall, from rest.
fn stone() -> Model {
    let mut builder = ModelBuilder::new(Dimension::Planar);
    builder.gravity(0.0, -9.81, 0.0).unwrap();
    builder.body(BodyBuilder::particle("stone", 1.0)).unwrap();
    builder.build().unwrap()
}

#[test]
fn free_fall_has_the_errors_of_the_textbook() {
    let (g, until) = (9.81, 1.0);
    let comparison = compared(&plan(stone(), &[Preset::Ncp, Preset::MoreauJean], &[0.1, 0.05, 0.025], until));
    assert_eq!(comparison.truth.preset, "reference");
    for row in &comparison.rows {
        let (h, errors) = (row.step, row.errors.unwrap());
        // Held velocities g h k against g t: a sawtooth of height g h.
        assert_close!(errors.velocity, g * h / 2.0 * until, CLOSE);
        // Velocities of the step end add up to g h t / 2 too much; those of its middle err by the chord of a parabola only,
        // seen at the samples of the reference solution.
        let chord = g * h * h / 8.0;
        let expected = if row.preset == "ncp" { g * h * until / 2.0 } else { chord };
        let tolerance = if row.preset == "ncp" { chord } else { 1e-9 };
        assert!((errors.position - expected).abs() <= tolerance, "{} at {h}: {}", row.preset, errors.position);
        assert_close!(row.variation, g * until, CLOSE);
    }
    for row in comparison.rows.iter().filter(|row| row.step < 0.1) {
        let order = if row.preset == "ncp" { 1.0 } else { 2.0 };
        assert!((row.orders.velocity.unwrap() - 1.0).abs() < 1e-6, "{:?}", row.orders);
        assert!((row.orders.position.unwrap() - order).abs() < 0.02, "{:?}", row.orders);
    }
}

/// A box that slides at 1 m/s and stops after v / (μ g).
fn sliding_box() -> Model {
    let mut builder = ModelBuilder::new(Dimension::Planar);
    builder.gravity(0.0, -10.0, 0.0).unwrap();
    builder.body(BodyBuilder::fixed("floor").shape(floor())).unwrap();
    let shape = planar::Shape::rectangle([0.5, 0.25]).unwrap();
    let sliding = BodyBuilder::planar("box", 1.0, 0.1).position(0.0, 0.25, 0.0).velocity(1.0, 0.0, 0.0);
    builder.body(sliding.shape(shape.into())).unwrap();
    builder.default_contact(friction(0.5)).unwrap();
    builder.build().unwrap()
}

#[test]
fn a_sliding_box_is_first_order_with_every_preset_of_time_stepping() {
    let presets = [Preset::Ncp, Preset::StewartTrinkle, Preset::AnitescuPotra, Preset::AnitescuHart];
    let comparison = compared(&plan(sliding_box(), &presets, &[0.02, 0.01, 0.005], 0.3));
    for row in &comparison.rows {
        let (h, errors) = (row.step, row.errors.unwrap());
        // Over the 0.2 s of the slide v is wrong by a sawtooth of height μ g h, and x ends v h / 2 short.
        assert_close!(errors.velocity, 5.0 * h / 2.0 * 0.2, CLOSE);
        assert_close!(errors.position, h / 2.0, CLOSE);
        assert_close!(row.slip, 0.1 - h / 2.0, CLOSE);
        assert_close!(row.variation, 1.0, CLOSE);
        assert_close!(row.energy.r#final - row.energy.initial, -0.5, CLOSE);
        assert!(row.infeasibility.total.max < 1e-12 && errors.heading.unwrap() < 1e-9);
        for order in [row.orders.velocity, row.orders.position] {
            assert!(order.is_none_or(|order| (order - 1.0).abs() < 1e-6), "{:?}", row.orders);
        }
    }
    assert_eq!(comparison.rows.iter().filter(|row| row.orders.velocity.is_some()).count(), 2 * presets.len());
}

/// Numbers that repeat, from -1 to 1.
fn noise(seed: &mut u64) -> f64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

fn random_walk(seed: &mut u64, steps: usize, h: f64, between: Between) -> Trajectory {
    let mut state = State { q: vec![0.0, 0.0], v: vec![noise(seed), noise(seed)], ..State::default() };
    let mut trajectory = Trajectory::starting_at(&state, between);
    for k in 1..=steps {
        state.time = k as f64 * h;
        state.v = vec![noise(seed), noise(seed)];
        state.q.iter_mut().zip(&state.v).for_each(|(q, v)| *q += h * v);
        trajectory.push(&state);
    }
    trajectory
}

/// Velocity and position of a walk at any time, straight from the definition.
fn sample(walk: &Trajectory, time: f64, between: Between) -> ([f64; 2], [f64; 2]) {
    let k = (1..walk.len()).find(|k| walk.time(*k).unwrap() >= time).unwrap();
    let (t0, t1) = (walk.time(k - 1).unwrap(), walk.time(k).unwrap());
    let fraction = (time - t0) / (t1 - t0);
    let mix = |a: f64, b: f64, fraction: f64| a * (1.0 - fraction) + b * fraction;
    let v_fraction = if between == Between::Held { 1.0 } else { fraction };
    let at =
        |i: usize| (mix(walk.v(k - 1)[i], walk.v(k)[i], v_fraction), mix(walk.q(k - 1)[i], walk.q(k)[i], fraction));
    ([at(0).0, at(1).0], [at(0).1, at(1).1])
}

#[test]
fn the_norms_agree_with_a_fine_sum_over_time() {
    let (model, mut seed) = (stone(), 7);
    for (between, ratio) in [(Between::Held, 1.0), (Between::Linear, 1.0), (Between::Held, 0.37)] {
        // Steps of which neither divides the other, and ends that differ.
        let a = random_walk(&mut seed, 13, 0.1, Between::Held);
        let b = random_walk(&mut seed, 60, 0.031 * ratio, between);
        let until = 1.2_f64.min(a.end()).min(b.end());
        let errors = Errors::between(&model, &a, &b, 1.2);
        let (count, mut integral, mut most) = (200_000, 0.0, 0.0_f64);
        for k in 0..count {
            let time = (f64::from(k) + 0.5) / f64::from(count) * until;
            let ((va, qa), (vb, qb)) = (sample(&a, time, Between::Held), sample(&b, time, between));
            let largest = |x: [f64; 2], y: [f64; 2]| (x[0] - y[0]).abs().max((x[1] - y[1]).abs());
            integral += largest(va, vb) * until / f64::from(count);
            most = most.max(largest(qa, qb));
        }
        // The trapezoidal rule overestimates the kinks of the largest component if velocities are not held: here in every interval.
        let tolerance = if between == Between::Held { 1e-4 } else { 0.02 * integral };
        assert!((errors.velocity - integral).abs() < tolerance, "{between:?}: {} against {integral}", errors.velocity);
        assert!((errors.position - most).abs() < 1e-4, "{between:?}: {} against {most}", errors.position);
    }
}

#[test]
fn orientations_differ_by_the_rotation_between_them() {
    let mut builder = ModelBuilder::new(Dimension::Spatial);
    builder.body(BodyBuilder::rigid("body", 1.0, Matrix3::identity())).unwrap();
    let model = builder.build().unwrap();
    let pose = |turn: Vector3<f64>, sign: f64| {
        let e: Quaternion<f64> = UnitQuaternion::from_scaled_axis(turn).into_inner() * sign;
        vec![0.0, 0.0, 0.1, e.w, e.i, e.j, e.k]
    };
    let start = Vector3::new(0.3, -0.2, 0.9);
    assert!(difference(&model, &pose(start, 1.0), &pose(start, -1.0)) < 1e-15, "a quaternion has two signs");
    let turned =
        UnitQuaternion::from_scaled_axis(Vector3::new(0.0, 0.25, -0.5)) * UnitQuaternion::from_scaled_axis(start);
    let other = pose(turned.scaled_axis(), 1.0);
    assert_close!(difference(&model, &other, &pose(start, 1.0)), 0.5, EXACT);
}

/// A spinning body seen at every step and at every tenth is the same motion: the shortest turn is followed between samples.
#[test]
fn a_thinned_spin_is_the_same_motion() {
    let mut builder = ModelBuilder::new(Dimension::Spatial);
    builder.gravity(0.0, 0.0, 0.0).unwrap();
    let spinning = BodyBuilder::rigid("body", 1.0, Matrix3::identity()).angular_velocity(3.0, -4.0, 12.0);
    builder.body(spinning).unwrap();
    let model = builder.build().unwrap();
    let mut simulation = stiction::Simulation::new(model, Preset::Ncp.scheme(), 0.01).unwrap();
    let mut whole = Trajectory::starting_at(simulation.state(), Between::Held);
    for _ in 0..100 {
        let _ = crate::support::step(&mut simulation);
        whole.push(simulation.state());
    }
    let errors = Errors::between(simulation.model(), &whole.thinned(10), &whole, 1.0);
    assert!(errors.position < 1e-12 && errors.velocity < 1e-12 && errors.heading.is_none(), "{errors:?}");
}

#[test]
fn a_scheme_that_the_model_refuses_is_listed_and_the_others_go_on() {
    let mut plan = plan(sliding_box(), &[Preset::Ncp], &[0.02], 0.1);
    let mut poisson = Preset::Ncp.scheme();
    poisson.impact = Impact::Poisson;
    plan.entries.insert(0, Entry { name: "impossible".into(), scheme: Ok(poisson) });
    plan.entries.push(Entry { name: "unreadable".into(), scheme: Err("the file says so".into()) });
    let comparison = compared(&plan);
    assert_eq!(comparison.rows.len(), 1);
    let [first, second] = comparison.refusals.as_slice() else { panic!("{:?}", comparison.refusals) };
    assert!(first.preset == "impossible" && first.reason.contains("Poisson's law and the second-order cone"));
    assert_eq!((second.preset.as_str(), second.reason.as_str()), ("unreadable", "the file says so"));
}

/// A ball that bounces more often in a step of 5 s than the reference follows.
fn bouncing_ball() -> Model {
    let mut builder = ModelBuilder::new(Dimension::Planar);
    builder.gravity(0.0, -9.81, 0.0).unwrap();
    builder.body(BodyBuilder::fixed("floor").shape(floor())).unwrap();
    let ball = BodyBuilder::planar("ball", 1.0, 0.004).position(0.0, 0.11, 0.0);
    builder.body(ball.shape(planar::Shape::disc(0.1).unwrap().into())).unwrap();
    builder.default_contact(ContactRule { restitution: 0.99, ..ContactRule::default() }).unwrap();
    builder.build().unwrap()
}

#[test]
#[ignore = "long: run by cargo xtask test --all"]
fn a_run_that_fails_is_reported_with_its_step_and_cause() {
    let mut plan = plan(bouncing_ball(), &[Preset::Reference, Preset::Ncp], &[5.0], 10.0);
    plan.truth = vec![
        TruthCandidate { entry: Entry::of(Preset::Reference), step: Some(5.0) },
        TruthCandidate { entry: Entry::of(Preset::Ncp), step: Some(0.01) },
    ];
    let comparison = compared(&plan);
    let [failed, finished] = comparison.rows.as_slice() else { panic!("{:?}", comparison.rows) };
    let Outcome::Failed { step, time, cause } = &failed.outcome else { panic!("{failed:?}") };
    assert!((*step, *time) == (2, 5.0) && cause.contains("more than 1000 events"), "{failed:?}");
    assert!(failed.errors.is_none() && failed.cost.steps == 1);
    assert!(finished.outcome == Outcome::Finished && finished.errors.is_some());
    // The same failure made the second candidate the reference solution.
    assert_eq!(comparison.truth.preset, "ncp");
    let [rejected_candidates] = comparison.truth.rejected_candidates.as_slice() else {
        panic!("{:?}", comparison.truth)
    };
    assert!(
        rejected_candidates.reason.contains("step 2 from t = 5: more than 1000 events"),
        "{}",
        rejected_candidates.reason
    );
    plan.truth.truncate(1);
    let error = compare::run(&plan, &mut Unwatched).unwrap_err();
    assert!(matches!(&error, CompareError::NoTruth(reasons) if reasons.len() == 1), "{error}");
}

#[test]
fn a_comparison_repeats_to_the_bit() {
    let model = || balls(&reference("c22"));
    let plan = || plan(model(), &Preset::INERTIAL, &[0.01, 0.005], 0.6);
    let (once, again) = (compared(&plan()), compared(&plan()));
    assert_eq!(once.rows.len(), 2 * Preset::INERTIAL.len());
    assert_eq!(serde_json::to_string(&once).unwrap(), serde_json::to_string(&again).unwrap());
    let read: Comparison = serde_json::from_str(&serde_json::to_string(&once).unwrap()).unwrap();
    assert_eq!(read, once);
    let page = compare::page(&once).unwrap();
    assert!(Preset::INERTIAL.iter().all(|preset| page.contains(preset.name())));
}

/// Stops after this many steps, with a clock that ticks once per call.
struct Impatient(u64, f64);

impl Watch for Impatient {
    fn now(&mut self) -> f64 {
        self.1 += 1.0;
        self.1
    }

    fn goes_on(&mut self) -> bool {
        self.0 = self.0.saturating_sub(1);
        self.0 > 0
    }
}

#[test]
fn a_comparison_can_be_stopped_and_keeps_what_is_done() {
    let plan = plan(stone(), &[Preset::Ncp], &[0.1, 0.05], 1.0);
    assert_eq!(plan.total_steps(), 80 + 10 + 20);
    assert_eq!(compare::run(&plan, &mut Impatient(50, 0.0)).unwrap_err(), CompareError::Stopped);
    let stopped = compare::run(&plan, &mut Impatient(95, 0.0)).unwrap();
    assert!(stopped.interrupted && stopped.rows.len() == 1, "{stopped:?}");
    // Ten steps take ten ticks, which exceeds the limit for repetitions.
    assert_eq!(stopped.rows[0].cost.wall_seconds, 10.0);
    let whole = compare::run(&plan, &mut Impatient(1000, 0.0)).unwrap();
    assert!(!whole.interrupted && whole.rows.len() == 2);
}

#[test]
fn the_time_of_a_run_is_the_least_of_its_passes() {
    let mut plan = plan(stone(), &[Preset::Ncp], &[0.1], 1.0);
    plan.patience = 100.0;
    let row = &compare::run(&plan, &mut Impatient(1000, 0.0)).unwrap().rows[0];
    // The first pass is timed step by step, ten ticks; the others in one.
    assert_eq!(row.cost.wall_seconds, 1.0);
}

#[test]
fn plans_with_impossible_numbers_are_refused() {
    let good = || plan(stone(), &[Preset::Ncp], &[0.1], 1.0);
    assert_eq!(good().validate(), Ok(()));
    let with_steps = |steps: &[f64]| Plan { steps: steps.to_vec(), ..good() };
    let cases = [
        (with_steps(&[]), "at least one step"),
        (with_steps(&[0.0]), "a step must be from"),
        (with_steps(&[f64::NAN]), "a step must be from"),
        (with_steps(&[1e-8]), "need too much memory"),
        (Plan { entries: Vec::new(), ..good() }, "at least one scheme"),
        (Plan { until: -1.0, ..good() }, "must be positive"),
        (Plan { until: f64::INFINITY, ..good() }, "must be positive"),
    ];
    for (plan, sentence) in cases {
        let error = compare::run(&plan, &mut Unwatched).unwrap_err().to_string();
        assert!(error.contains(sentence), "{sentence} in {error}");
    }
}

#[test]
fn headings_are_those_of_the_ways_gone() {
    let mut builder = ModelBuilder::new(Dimension::Planar);
    for name in ["first", "second"] {
        builder.body(BodyBuilder::particle(name, 1.0)).unwrap();
    }
    let model = builder.build().unwrap();
    let walk = |ways: [Vector2<f64>; 2]| {
        let mut state = State { q: vec![1.0; 4], v: vec![0.0; 4], ..State::default() };
        let mut trajectory = Trajectory::starting_at(&state, Between::Held);
        state.time = 1.0;
        state.q = ways.iter().flat_map(|way| [1.0 + way.x, 1.0 + way.y]).collect();
        trajectory.push(&state);
        trajectory
    };
    let heading = |a, b| Errors::between(&model, &walk(a), &walk(b), 1.0).heading;
    let (east, north, still) = (Vector2::x(), Vector2::y(), Vector2::zeros());
    assert_close!(heading([east, still], [north, still]).unwrap(), std::f64::consts::FRAC_PI_2, EXACT);
    assert_close!(heading([east, still], [-east, still]).unwrap(), std::f64::consts::PI, EXACT);
    // The second body hardly moves beside the first, and has no heading.
    assert_close!(heading([east, east * 1e-5], [east, north * 1e-5]).unwrap(), 0.0, EXACT);
    assert_eq!(heading([still; 2], [still; 2]), None);
}
