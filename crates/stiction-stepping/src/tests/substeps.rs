//! Steps in parts: halving, sums over parts, parts for compliant layers.

use nalgebra::Vector3;
use stiction_complementarity::Status;
use stiction_multibody::{
    BodyBuilder, BodyId, ContactRule, Dimension, JointKind, Layer, LayerRule, Model, ModelBuilder, SupportBuilder,
};

use super::support::{Case, G, assert_all_near, assert_near, ball, builder, disc, floor, friction, on_floor};
use crate::Substeps;
use crate::{
    Coordinates, Scheme, Start, StepCause, StepReport, Stepper, Substepping, TimeStepper, Workspace, energy_bound,
    formulation::LIMIT_OF_THE_METHOD, joint_impulses,
};

/// Stepper that solves only steps of at most `longest`, and records the steps that it was asked for.
struct Picky {
    inner: TimeStepper,
    longest: f64,
    asked: Vec<f64>,
    hint: &'static str,
}

impl Picky {
    fn new(longest: f64) -> Self {
        Self { inner: TimeStepper::default(), longest, asked: Vec::new(), hint: LIMIT_OF_THE_METHOD }
    }
}

impl Stepper for Picky {
    fn step(&mut self, start: &Start, ws: &mut Workspace) -> Result<StepReport, StepCause> {
        self.asked.push(start.h);
        if start.h > self.longest {
            let (status, worst, rungs) = (Status::Breakdown, String::new(), Vec::new());
            return Err(StepCause::NotSolved { status, residual: 1.0, worst, rungs, hint: self.hint });
        }
        self.inner.step(start, ws)
    }
}

fn step(case: &mut Case, stepper: &mut dyn Stepper) -> Result<StepReport, StepCause> {
    let report = case.with(|start, ws| Substepping::default().step(stepper, start, ws))?;
    case.state.copy_from(&case.ws.result.next);
    Ok(report)
}

fn resting_ball(h: f64) -> Case {
    let body = ball("ball", 2.0, 0.5).position(0.0, 0.0, 0.5);
    Case::new(on_floor(Dimension::Spatial, friction(0.3), [body]), Scheme::default(), h)
}

/// Halves until parts are short enough; impulses are those of the whole step, the time is exact.
#[test]
fn unsolved_steps_are_halved() {
    let mut case = resting_ball(0.8);
    case.state.time = 0.1;
    let mut picky = Picky::new(0.3);
    let report = step(&mut case, &mut picky).unwrap();
    assert_eq!(picky.asked, [0.8, 0.4, 0.2, 0.2, 0.4, 0.2, 0.2]);
    assert_eq!((report.substeps, report.layer_substeps, report.passes, report.step), (4, 1, 4, 1));
    let expected = case.model.initial_state();
    let mut expected = stiction_multibody::State { time: 0.1, ..expected };
    expected.advance_time(0.8);
    assert_eq!((case.state.time, case.state.time_carry), (expected.time, expected.time_carry));
    let contact = &case.ws.result.contact_reports[0];
    assert_near(contact.normal_impulse, 2.0 * G * 0.8, 1e-10);
    assert_near(case.state.contacts[0].normal_impulse, contact.normal_impulse, 0.0);
}

/// A halved step is the same motion as steps of half the length.
#[test]
fn parts_are_steps_of_their_own() {
    let falling = || {
        let body =
            ball("ball", 1.0, 0.5).position(0.0, 0.0, 0.6).velocity(1.0, 0.0, -0.5).angular_velocity(0.0, 1.0, 2.0);
        on_floor(Dimension::Spatial, friction(0.3), [body])
    };
    let mut whole = Case::new(falling(), Scheme::default(), 0.1);
    let _ = step(&mut whole, &mut Picky::new(0.03)).unwrap();
    let mut parts = Case::new(falling(), Scheme::default(), 0.025);
    parts.run(4);
    assert_all_near(&whole.state.q, &parts.state.q, 0.0);
    assert_all_near(&whole.state.v, &parts.state.v, 0.0);
}

/// After the halvings of the scheme the step fails, with a hint about them, and the state stays.
#[test]
fn halving_ends_at_the_limit_of_the_scheme() {
    for (halve_steps, tries) in [(0, 1), (1, 2), (3, 4)] {
        let mut case = resting_ball(0.8);
        case.scheme.solving.halve_steps = halve_steps;
        let before = case.state.clone();
        let mut picky = Picky::new(0.01);
        let cause = step(&mut case, &mut picky).unwrap_err();
        assert_eq!(picky.asked.len(), tries);
        let StepCause::NotSolved { hint, .. } = cause else { panic!("{cause}") };
        assert_eq!(hint.contains("halve_steps"), halve_steps > 0, "{hint}");
        assert!(case.state.bit_equal(&before));
        // A hint about the scene stays.
        let mut picky = Picky { hint: "bodies overlap", ..Picky::new(0.01) };
        let cause = step(&mut case, &mut picky).unwrap_err();
        assert!(matches!(cause, StepCause::NotSolved { hint: "bodies overlap", .. }));
    }
}

/// Stepper that always fails for a reason that halving cannot help.
struct Broken(u32);

impl Stepper for Broken {
    fn step(&mut self, _: &Start, _: &mut Workspace) -> Result<StepReport, StepCause> {
        self.0 += 1;
        Err(StepCause::non_finite("applied force", None))
    }
}

#[test]
fn other_failures_are_not_halved() {
    let mut broken = Broken(0);
    let cause = step(&mut resting_ball(0.1), &mut broken).unwrap_err();
    assert_eq!((broken.0, cause), (1, StepCause::non_finite("applied force", None)));
}

fn pendulum() -> Model {
    let mut builder = builder(Dimension::Planar, ContactRule::default());
    let bob = builder.body(BodyBuilder::planar("bob", 3.0, 0.1).position(0.0, -1.0, 0.0)).unwrap();
    builder.joint_at("pin", JointKind::Revolute, (BodyId::WORLD, bob), Vector3::zeros(), Vector3::z()).unwrap();
    builder.build().unwrap()
}

/// Joint impulses of the parts add up, also those that reduced coordinates compute on demand.
#[test]
fn joint_impulses_add_up() {
    for coordinates in [Coordinates::Maximal, Coordinates::Reduced, Coordinates::DivideAndConquer] {
        let mut case = Case::new(pendulum(), Scheme { coordinates, ..Scheme::default() }, 0.4);
        let report = step(&mut case, &mut Picky::new(0.1)).unwrap();
        assert_eq!(report.substeps, 4);
        let impulses = joint_impulses(&case.model, &case.ws);
        assert_near(impulses.iter().fold(0.0_f64, |most, p| most.max(p.abs())), 3.0 * G * 0.4, 1e-9);
        // Two momentum balances are not one.
        assert!(energy_bound(&case.model, &case.ws).is_none());
    }
}

#[test]
fn support_impulses_add_up() {
    let mut builder = ModelBuilder::new(Dimension::Planar);
    builder.gravity(0.0, 0.0, -G).unwrap();
    let slab = builder.body(disc("slab", 2.0, 0.5).velocity(8.0, 0.0, 0.0)).unwrap();
    builder.support(slab, &SupportBuilder::tripod([[0.2, 0.0], [-0.1, 0.2], [-0.15, -0.2]]).friction(0.25)).unwrap();
    let mut case = Case::new(builder.build().unwrap(), Scheme::default(), 0.4);
    let report = step(&mut case, &mut Picky::new(0.1)).unwrap();
    assert_eq!(report.substeps, 4);
    let total: f64 = case.ws.result.support_reports.iter().map(|report| report.friction_impulse.x).sum();
    // Friction μ m g over the whole step, all the way opposite to the motion.
    assert_near(total, -0.25 * 2.0 * G * 0.4, 1e-8);
    assert_near(2.0 * (case.v("slab")[0] - 8.0), total, 1e-8);
    assert_near(case.state.support_impulses.iter().step_by(3).sum::<f64>(), total, 1e-14);
}

fn on_layer(height: f64, speed: f64, gravity: f64, layer: Layer) -> Model {
    let mut builder = ModelBuilder::new(Dimension::Spatial);
    builder.gravity(0.0, 0.0, -gravity).unwrap();
    let ground = builder.body(BodyBuilder::fixed("floor").shape(floor(Dimension::Spatial))).unwrap();
    let body = builder.body(ball("ball", 1.0, 0.5).position(0.0, 0.0, height).velocity(0.0, 0.0, speed)).unwrap();
    builder.contact(ground, body, ContactRule { layer: LayerRule::Given(layer), ..ContactRule::default() }).unwrap();
    builder.build().unwrap()
}

/// Parts of at most a twentieth of the natural period 2π √(m/K), all equally long.   [SOFT-10]
#[test]
fn stiff_layers_divide_the_step() {
    let scheme = Scheme { substeps: Substeps { steps_per_period: 20, ..Substeps::default() }, ..Scheme::default() };
    let model = on_layer(0.499, 0.0, G, Layer::normal(1e4, 0.0));
    let mut case = Case::new(model, scheme, 0.01);
    let mut picky = Picky::new(1.0);
    let report = step(&mut case, &mut picky).unwrap();
    let longest = std::f64::consts::TAU / 100.0 / 20.0;
    let parts = (0.01 / longest).ceil();
    assert_eq!(f64::from(report.substeps), parts);
    assert_eq!(report.layer_substeps, report.substeps);
    // The first try is the whole step.
    assert_eq!(picky.asked[0], 0.01);
    for length in &picky.asked[1..] {
        assert_near(*length, 0.01 / parts, 1e-14);
    }
    // A damper limits the substep as well: 2π m/C.
    let model = on_layer(0.499, 0.0, G, Layer::normal(1e2, 400.0));
    let mut case = Case::new(
        model,
        Scheme { substeps: Substeps { steps_per_period: 20, ..Substeps::default() }, ..Scheme::default() },
        0.01,
    );
    let report = step(&mut case, &mut Picky::new(1.0)).unwrap();
    assert_eq!(f64::from(report.substeps), (0.01 / (std::f64::consts::TAU / 400.0 / 20.0)).ceil());
}

/// The step is cut where the ball first touches the layer: at gap/speed without gravity.
#[test]
fn the_first_touch_of_a_layer_is_located() {
    let scheme = Scheme { substeps: Substeps { locate_contacts: true, ..Substeps::default() }, ..Scheme::default() };
    let (gap, speed) = (0.03, 5.0);
    let mut case = Case::new(on_layer(0.5 + gap, -speed, 0.0, Layer::normal(1e4, 10.0)), scheme, 0.01);
    let mut picky = Picky::new(1.0);
    let report = step(&mut case, &mut picky).unwrap();
    assert_eq!(report.layer_substeps, 2);
    // The last two steps are those up to the touch and from there.
    let [.., first, second] = picky.asked[..] else { panic!("{:?}", picky.asked) };
    assert_near(first, gap / speed, 1e-10);
    assert_near(first + second, 0.01, 1e-14);
    assert!(case.ws.result.contact_reports[0].normal_impulse > 0.0);
    // Nothing is cut if the layer stays open.
    let model = on_layer(0.7, -speed, 0.0, Layer::normal(1e4, 10.0));
    let mut case = Case::new(
        model,
        Scheme { substeps: Substeps { locate_contacts: true, ..Substeps::default() }, ..Scheme::default() },
        0.01,
    );
    assert_eq!(step(&mut case, &mut Picky::new(1.0)).unwrap().substeps, 1);
}

#[test]
fn too_many_substeps_are_refused() {
    let scheme = Scheme { substeps: Substeps { steps_per_period: 10_000, ..Substeps::default() }, ..Scheme::default() };
    let mut case = Case::new(on_layer(0.499, 0.0, G, Layer::normal(1e10, 0.0)), scheme, 0.1);
    let cause = step(&mut case, &mut TimeStepper::default()).unwrap_err();
    let StepCause::TooManySubsteps { most, shortest } = cause else { panic!("{cause}") };
    assert_eq!(most, 10_000);
    assert_near(shortest, std::f64::consts::TAU / 1e5 / 1e4, 1e-12);
}
