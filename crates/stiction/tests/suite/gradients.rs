//! Gradients of runs against differences of whole runs, on scenes with impacts, stick and slip.   [GRAD-1..8]

use stiction::{
    ContactMode, Simulation, State,
    gradient::{GradientRun, SensitivityOptions, Tape, Unknown, Variants, displacement},
    multibody::OrientationUpdate,
    scene,
};

/// Scene, number of steps, and unknowns of a case.
struct Case {
    name: &'static str,
    text: String,
    steps: u32,
    unknowns: Vec<Unknown>,
    /// Modes that must occur, so that the case tests what it is there for.
    modes: &'static [ContactMode],
}

const BALL: &str = include_str!("gradients/ball.toml");
const BRICK: &str = include_str!("gradients/brick.toml");
const VERGE: &str = include_str!("gradients/verge.toml");

fn file(name: &str) -> String {
    let path = format!("{}/../../scenes/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    scene::text_of(path, &scene::RobotOptions::default()).unwrap().text
}

fn value(path: &str, value: f64) -> Unknown {
    Unknown::value(path, value)
}

fn case(
    name: &'static str,
    text: impl Into<String>,
    steps: u32,
    modes: &'static [ContactMode],
    unknowns: Vec<Unknown>,
) -> Case {
    Case { name, text: text.into(), steps, unknowns, modes }
}

fn cases() -> Vec<Case> {
    let mut cases = thrown_and_slid();
    cases.extend(driven());
    cases
}

fn thrown_and_slid() -> Vec<Case> {
    use ContactMode::{Slip, Stick};
    let friction = |path: &str, mu: f64| value(&format!("{path}.friction"), mu);
    let polygons = BALL.replace("step = 0.005", "step = 0.005\npreset = \"stewart-trinkle\"");
    let bouncing = BALL.replace("friction = 0.1", "friction = 0.1\nrestitution = 0.6\n[scheme]\nimpact = \"newton\"");
    vec![
        case(
            "a box slides and stops",
            file("sliding_box"),
            150,
            &[Slip, Stick],
            vec![
                friction("contact_default", 0.4),
                value("body.box.mass", 1.0),
                value("body.box.velocity.0", 2.0),
                value("simulation.gravity.1", -9.81),
            ],
        ),
        case(
            "a rod falls on its end, sticks and slaps down",
            file("falling_rod"),
            190,
            &[Stick],
            vec![
                friction("contact.0", 0.6),
                value("body.rod.inertia", 0.002),
                value("body.rod.angular_velocity", 4.0),
                Unknown::Place(1),
                Unknown::Velocity(0),
            ],
        ),
        case(
            "a ball is thrown on the floor and begins to roll",
            BALL,
            200,
            &[Slip, Stick],
            vec![
                friction("contact_default", 0.1),
                value("body.ball.mass", 0.7),
                value("body.ball.velocity.0", 2.0),
                value("body.ball.shape.0.sphere.radius", 0.1),
                Unknown::Velocity(5),
            ],
        ),
        case(
            "the same with friction in a polygon",
            polygons,
            80,
            &[Slip],
            vec![friction("contact_default", 0.1), value("body.ball.velocity.1", 0.8), Unknown::Place(2)],
        ),
        case(
            "a ball bounces",
            bouncing,
            130,
            &[Slip],
            vec![
                value("contact_default.restitution", 0.6),
                friction("contact_default", 0.1),
                value("body.ball.position.2", 0.3),
            ],
        ),
        case(
            "a brick slides on four corners",
            BRICK,
            30,
            &[Slip],
            vec![friction("contact_default", 0.35), Unknown::Velocity(0), Unknown::Velocity(1)],
        ),
        case(
            "a brick comes to rest",
            BRICK,
            80,
            &[Slip, Stick],
            vec![friction("contact_default", 0.35), Unknown::Velocity(0)],
        ),
    ]
}

fn driven() -> Vec<Case> {
    use ContactMode::Slip;
    vec![
        case(
            "a pendulum drags its block",
            file("pendulum_friction"),
            300,
            &[Slip],
            vec![value("contact.0.friction", 0.1), value("body.lower.mass", 1.0), Unknown::Velocity(5)],
        ),
        case(
            "a belt carries a block under a pendulum",
            file("pendulum_on_belt"),
            200,
            &[Slip],
            vec![value("contact.0.friction", 0.3), value("body.floor.conveyor.velocity.0", 0.4)],
        ),
        case(
            "a part slides on three feet",
            include_str!("gradients/feet.toml"),
            20,
            &[Slip],
            vec![
                value("body.block.support.friction", 0.33),
                value("load.0.force.0", 1.0),
                Unknown::Velocity(2),
                Unknown::Place(2),
            ],
        ),
        case(
            "a disc flies by mean velocities",
            include_str!("gradients/disc.toml"),
            50,
            &[],
            vec![value("simulation.gravity.1", -9.81), value("body.disc.velocity.0", 1.0)],
        ),
        case(
            "a spring and a damper pull at a pendulum on a belt",
            file("spring_pendulum"),
            200,
            &[Slip],
            vec![
                value("spring.0.stiffness", 50.0),
                value("damper.0.damping", 0.5),
                value("spring.0.rest_length", 0.5),
                value("body.weight.mass", 0.5),
            ],
        ),
        case(
            "a servo lifts an arm to its limit",
            include_str!("gradients/servo.toml"),
            120,
            &[],
            vec![value("motor.0.stiffness", 20.0), value("body.arm.mass", 0.5), Unknown::Velocity(2)],
        ),
    ]
}

/// Another value of an unknown.
fn moved(unknown: &Unknown, by: f64) -> Unknown {
    let mut other = unknown.clone();
    if let Unknown::Value { value, .. } = &mut other {
        *value += by;
    }
    other
}

/// A run: its last state, and the modes of its contacts on the way.
fn run(case: &Case, (unknowns, start): (&[Unknown], Option<&State>)) -> (State, Vec<Vec<ContactMode>>) {
    let scene = Variants::read(&case.text, "case.toml", unknowns).unwrap().scene;
    let mut simulation = Simulation::from_scene(&scene).unwrap();
    if let Some(start) = start {
        simulation.set_state(start).unwrap();
    }
    let mut modes = Vec::new();
    for _ in 0..case.steps {
        let _ = simulation.step().unwrap();
        let contacts = simulation.contacts().iter().filter(|contact| contact.normal_impulse > 0.0).map(|c| c.mode);
        modes
            .push(contacts.chain(simulation.support_points().iter().map(|support_point| support_point.mode)).collect());
    }
    (simulation.state().clone(), modes)
}

/// The run with one unknown moved.
fn run_beside(case: &Case, place: usize, by: f64) -> (State, Vec<Vec<ContactMode>>) {
    let mut unknowns = case.unknowns.clone();
    unknowns[place] = moved(&unknowns[place], by);
    let model = Variants::read(&case.text, "case.toml", &unknowns).unwrap().scene.model;
    let mut start = model.initial_state();
    let mut shift = vec![0.0; model.dof()];
    match unknowns[place] {
        Unknown::Place(k) => {
            shift[k] = by;
            let q = start.q.clone();
            model.integrate(&q, &shift, 1.0, OrientationUpdate::Exponential, &mut start.q);
        }
        Unknown::Velocity(k) => start.v[k] += by,
        _ => {}
    }
    run(case, (&unknowns, Some(&start)))
}

/// Differences of whole runs by five points, with the widest spacing at which all of them go through the same modes.
fn differences(case: &Case, place: usize, modes: &[Vec<ContactMode>], nominal: &State) -> Vec<f64> {
    let model = Variants::read(&case.text, "case.toml", &case.unknowns).unwrap().scene.model;
    let scale = if let Unknown::Value { scale, .. } = &case.unknowns[place] { *scale } else { 0.1 };
    for spacing in [1e-3, 1e-4, 1e-5, 1e-6].map(|fraction| fraction * scale) {
        let mut slope = vec![0.0; 2 * model.dof()];
        let beside: Vec<_> = [-2.0, -1.0, 1.0, 2.0].iter().map(|k| run_beside(case, place, k * spacing)).collect();
        if beside.iter().any(|(_, other)| other != modes) {
            continue;
        }
        for ((state, _), weight) in beside.iter().zip([1.0, -8.0, 8.0, -1.0]) {
            let change = displacement(&model, &nominal.q, &state.q).into_iter();
            let change = change.chain(state.v.iter().zip(&nominal.v).map(|(v, nominal)| v - nominal));
            slope.iter_mut().zip(change).for_each(|(slope, x)| *slope += weight * x / (12.0 * spacing));
        }
        return slope;
    }
    panic!("{}, {:?}: modes change however near one looks", case.name, case.unknowns[place]);
}

#[test]
fn gradients_of_runs_are_those_of_differences() {
    let wrong: Vec<_> = cases().iter().flat_map(compare_with_differences).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Errors of the gradient of a case.
fn compare_with_differences(case: &Case) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut gradients = GradientRun::new(&case.text, "case.toml", &case.unknowns).unwrap();
    for _ in 0..case.steps {
        match gradients.step() {
            Ok((_, derivative)) if derivative.left < 1e-9 => {}
            Ok((report, derivative)) => {
                wrong.push(format!("{}, step {}: {} is left", case.name, report.step, derivative.left));
            }
            Err(error) => return vec![format!("{}: {error}", case.name)],
        }
    }
    let (state, modes) = run(case, (&case.unknowns, None));
    assert!(gradients.simulation().state().bit_equal(&state), "{}", case.name);
    for mode in case.modes {
        let seen = modes.iter().flatten().any(|seen| seen == mode);
        if !seen {
            wrong.push(format!("{}: no contact is {mode:?}", case.name));
        }
    }
    for place in 0..case.unknowns.len() {
        let slope = differences(case, place, &modes, &state);
        let (x, v) = (gradients.displacements(), gradients.velocities());
        let ours: Vec<f64> = x.column(place).iter().chain(v.column(place).iter()).copied().collect();
        let size = slope.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        let off = ours.iter().zip(&slope).fold(0.0_f64, |most, (a, b)| most.max((a - b).abs()));
        println!("{}, {:?}: {off:.1e} of {size:.2e}", case.name, case.unknowns[place]);
        if off > 1e-6 * size + 1e-10 {
            wrong.push(format!(
                "{}, {:?}: off by {off:.1e} of {size:.2e}:\n  {ours:?}\n  {slope:?}",
                case.name, case.unknowns[place]
            ));
        }
    }
    wrong
}

#[test]
fn the_adjoint_gives_the_same_as_forward_sensitivities() {
    for case in cases().into_iter().take(5) {
        let variants = Variants::read(&case.text, "case.toml", &case.unknowns).unwrap();
        let mut tape = Tape::new(&variants);
        let mut run = GradientRun::of(variants).unwrap();
        // The sum of squares of all positions and velocities at every tenth step.
        let (mut forward, mut slopes) = (nalgebra::DVector::zeros(case.unknowns.len()), vec![None]);
        for step in 1..=case.steps {
            let (_, derivative) = run.step().unwrap();
            tape.push(derivative);
            let n = run.simulation().model().dof();
            let v = &run.simulation().state().v;
            let slope = nalgebra::DVector::from_fn(2 * n, |row, _| if row < n { 0.3 } else { 2.0 * v[row - n] });
            let asked = step % 10 == 0;
            if asked {
                forward += run.displacements().tr_mul(&slope.rows(0, n)) + run.velocities().tr_mul(&slope.rows(n, n));
            }
            slopes.push(asked.then_some(slope));
        }
        let backward = tape.gradient(|step| slopes[step].clone());
        let off = (&backward - &forward).amax() / forward.amax();
        assert!(off < 1e-10, "{}: {backward} {forward}", case.name);
    }
}

#[test]
fn smoothing_blends_modes_and_vanishes_with_its_speed() {
    let case = &cases()[0];
    let slope = |smoothing: f64| {
        let run = GradientRun::new(&case.text, "case.toml", &case.unknowns).unwrap();
        let mut run = run.with_options(SensitivityOptions { smoothing });
        (0..60).for_each(|_| drop(run.step().unwrap()));
        run.velocities()[(0, 0)]
    };
    let (exact, near, far) = (slope(0.0), slope(1e-7), slope(1e-2));
    assert!((near - exact).abs() < 1e-3 * exact.abs(), "{near} {exact}");
    assert!((far - exact).abs() > 1e-3 * exact.abs(), "{far} {exact}");
    assert!((far - exact).abs() < 0.5 * exact.abs(), "{far} {exact}");
}

#[test]
fn where_modes_change_the_derivative_is_that_of_sticking() {
    let unknowns = [value("load.0.force.0", 10.0)];
    let slope = |text: &str, smoothing: f64| {
        let run = GradientRun::new(text, "verge.toml", &unknowns).unwrap();
        let mut run = run.with_options(SensitivityOptions { smoothing });
        let (_, derivative) = run.step().unwrap();
        (run.simulation().contacts()[0].mode, run.velocities()[(0, 0)], derivative.clearance.unwrap().speed)
    };
    // h/m = 0.005 where it slides, and nothing where it sticks.
    let (mode, stuck, clearance) = slope(VERGE, 0.0);
    assert_eq!((mode, stuck), (ContactMode::Stick, 0.0));
    assert!(clearance.abs() < 1e-12, "{clearance}");
    let (mode, free, clearance) = slope(&VERGE.replace("friction = 0.5", "friction = 0.499"), 0.0);
    assert_eq!(mode, ContactMode::Slip);
    assert!((free - 0.005).abs() < 1e-12 && clearance < 1e-3, "{free} {clearance}");
    let (_, blended, _) = slope(VERGE, 1e-4);
    assert!((blended / 0.005 - 0.5).abs() < 0.1, "{blended}");
}

#[test]
fn what_has_no_derivative_is_refused_by_name() {
    for (change, named) in [
        ("preset = \"moreau-jean\"", "time-stepping"),
        ("preset = \"geometrically-implicit\"", "linearised"),
        ("preset = \"quasistatic\"", "quasistatic"),
    ] {
        let text = VERGE.replace("step = 0.01", &format!("step = 0.01\n{change}"));
        let Ok(mut run) = GradientRun::new(&text, "verge.toml", &[]) else { continue };
        let error = run.step().unwrap_err().to_string();
        assert!(error.contains(named), "{change}: {error}");
    }
}
