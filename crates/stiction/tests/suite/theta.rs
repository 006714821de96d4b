//! The θ-method on systems of the user: closed forms, orders, waves, joints, dry friction, and failures that change nothing.

use nalgebra::{Matrix3, Vector3};
use stiction::schemes::MoreauJean;
use stiction::schemes::{ConstraintLaw, System, SystemState, ThetaError, ThetaScheme, ThetaStepper};
use stiction::stepping::{Ladder, Rung};
use stiction::{BodyBuilder, BodyId, Dimension, JointKind, ModelBuilder, Preset, Simulation, Spring, spatial};
use stiction_testkit::{FailingSolver, Fault, count_allocations};

use crate::support::{G, down, friction, on_floor, steps};

fn with_theta(theta: f64) -> ThetaStepper {
    let mut scheme = ThetaScheme::default();
    scheme.theta = theta;
    ThetaStepper::new(scheme).unwrap()
}

/// A mass on a spring, with dry friction of this limit.
struct Oscillator {
    stiffness: f64,
    limit: f64,
}

impl System for Oscillator {
    fn size(&self) -> usize {
        1
    }
    fn mass(&self, _q: &[f64], out: &mut [f64]) {
        out[0] = 1.0;
    }
    fn force(&self, _t: f64, q: &[f64], _v: &[f64], out: &mut [f64]) {
        out[0] = -self.stiffness * q[0];
    }
    fn stiffness(&self, _t: f64, _q: &[f64], _v: &[f64], out: &mut [f64]) {
        out[0] = self.stiffness;
    }
    fn constraints(&self) -> usize {
        usize::from(self.limit > 0.0)
    }
    fn law(&self, _: usize) -> ConstraintLaw {
        ConstraintLaw::DryFriction { limit: self.limit }
    }
    fn rows(&self, _: usize, _t: f64, _q: &[f64], out: &mut [f64]) {
        out[0] = 1.0;
    }
}

/// Each half swing loses 2F/k of its amplitude; where the spring is weaker than F it stays.
#[test]
fn dry_friction_takes_the_same_from_every_swing_and_then_sticks() {
    let system = Oscillator { stiffness: 100.0, limit: 2.0 };
    let (mut stepper, mut state) = (with_theta(0.5), SystemState::new(vec![0.51], vec![0.0]));
    let mut turns = Vec::new();
    while state.time < 10.0 {
        let before = state.v[0];
        let _ = stepper.step(&system, &mut state, 1e-4).unwrap();
        if before * state.v[0] < 0.0 || (before.abs() > 1e-12 && state.v[0].abs() <= 1e-12) {
            turns.push(state.q[0]);
        }
    }
    // 0.51 → −0.47 → 0.43 → … → 0.03 → 0.01.
    assert_eq!(turns.len(), 13, "{turns:?}");
    for (k, turn) in turns.iter().enumerate() {
        let amplitude = 0.51 - 0.04 * (k + 1) as f64;
        let exact = if k % 2 == 0 { -amplitude } else { amplitude };
        assert!((turn - exact).abs() < 1e-4, "turn {k} at {turn} instead of {exact}");
    }
    let rest = state.q[0];
    for _ in 0..100 {
        let _ = stepper.step(&system, &mut state, 1e-4).unwrap();
    }
    assert!(state.v[0].abs() < 1e-15 && (state.q[0] - rest).abs() < 1e-15, "stick is stick");
}

#[test]
fn stiff_springs_are_implicit() {
    let system = Oscillator { stiffness: 1e8, limit: 0.0 };
    for (theta, kept) in [(0.5, 1.0), (1.0, 0.0)] {
        let (mut stepper, mut state) = (with_theta(theta), SystemState::new(vec![1.0], vec![0.0]));
        for _ in 0..200 {
            // h ω = 100: an explicit step would be lost at 2.
            let _ = stepper.step(&system, &mut state, 1e-2).unwrap();
        }
        let energy = 0.5 * state.v[0] * state.v[0] + 0.5e8 * state.q[0] * state.q[0];
        assert!((energy / 0.5e8 - kept).abs() < 1e-9, "θ = {theta}: {energy}");
    }
}

/// Two rods of length and mass one at their ends, in angles: M depends on q.
struct DoublePendulum {
    derivatives: bool,
}

impl System for DoublePendulum {
    fn size(&self) -> usize {
        2
    }
    fn mass(&self, q: &[f64], out: &mut [f64]) {
        let c = (q[0] - q[1]).cos();
        out.copy_from_slice(&[2.0, c, c, 1.0]);
    }
    fn force(&self, _t: f64, q: &[f64], v: &[f64], out: &mut [f64]) {
        let s = (q[0] - q[1]).sin();
        out[0] = -s * v[1] * v[1] - 2.0 * G * q[0].sin();
        out[1] = s * v[0] * v[0] - G * q[1].sin();
    }
    fn stiffness(&self, _t: f64, q: &[f64], v: &[f64], out: &mut [f64]) {
        if self.derivatives {
            let c = (q[0] - q[1]).cos();
            let (a, b) = (c * v[1] * v[1], c * v[0] * v[0]);
            out.copy_from_slice(&[a + 2.0 * G * q[0].cos(), -a, -b, b + G * q[1].cos()]);
        }
    }
    fn damping(&self, _t: f64, q: &[f64], v: &[f64], out: &mut [f64]) {
        if self.derivatives {
            let s = (q[0] - q[1]).sin();
            out.copy_from_slice(&[0.0, 2.0 * s * v[1], -2.0 * s * v[0], 0.0]);
        }
    }
}

fn double_pendulum(h: f64, theta: f64, derivatives: bool) -> (Vec<f64>, u32) {
    let mut state = SystemState::new(vec![1.0, 2.0], vec![0.0, 0.5]);
    let (mut stepper, mut newton_steps) = (with_theta(theta), 0);
    for _ in 0..(1.0 / h).round() as usize {
        newton_steps += stepper.step(&DoublePendulum { derivatives }, &mut state, h).unwrap().newton_steps;
    }
    (state.q, newton_steps)
}

#[test]
fn nonlinear_systems_are_second_order_with_one_half_and_first_with_one() {
    for (theta, ratio) in [(0.5, 4.0), (1.0, 2.0)] {
        let [a, b, c] = [4e-3, 2e-3, 1e-3].map(|h| double_pendulum(h, theta, true).0[1]);
        let measured = (a - b) / (b - c);
        assert!((measured / ratio - 1.0).abs() < 0.1, "θ = {theta}: ratio {measured}");
    }
    let (with, few) = double_pendulum(4e-3, 0.5, true);
    let (without, many) = double_pendulum(4e-3, 0.5, false);
    assert!(with.iter().zip(&without).all(|(a, b)| (a - b).abs() < 1e-9), "the same answer without derivatives");
    assert!(few < many, "derivatives save steps: {few} and {many}");
}

/// A bar of lumps and springs, unit length, mass and wave speed, that flies against a wall at −x.
struct Bar {
    lumps: usize,
}

impl System for Bar {
    fn size(&self) -> usize {
        self.lumps
    }
    fn mass(&self, _q: &[f64], out: &mut [f64]) {
        out.iter_mut().step_by(self.lumps + 1).for_each(|m| *m = 1.0 / self.lumps as f64);
    }
    fn force(&self, _t: f64, q: &[f64], _v: &[f64], out: &mut [f64]) {
        for k in 1..self.lumps {
            let tension = self.lumps as f64 * (q[k] - q[k - 1]);
            out[k - 1] += tension;
            out[k] -= tension;
        }
    }
    fn stiffness(&self, _t: f64, _q: &[f64], _v: &[f64], out: &mut [f64]) {
        let (n, stiffness) = (self.lumps, self.lumps as f64);
        for k in 1..n {
            out[(k - 1) * n + k - 1] += stiffness;
            out[k * n + k] += stiffness;
            out[(k - 1) * n + k] -= stiffness;
            out[k * n + k - 1] -= stiffness;
        }
    }
    fn constraints(&self) -> usize {
        1
    }
    fn law(&self, _: usize) -> ConstraintLaw {
        ConstraintLaw::frictionless(0.0)
    }
    fn gap(&self, _: usize, _t: f64, q: &[f64]) -> f64 {
        q[0]
    }
    fn rows(&self, _: usize, _t: f64, _q: &[f64], out: &mut [f64]) {
        out[0] = 1.0;
    }
}

/// The wall stops one end, a wave runs to the other and back: contact lasts 2L/c, and the bar leaves as fast as it came, although
/// every lump is inelastic. After warm-up nothing allocates.
#[test]
fn an_elastic_bar_bounces_from_a_wall() {
    let bar = Bar { lumps: 40 };
    let (mut stepper, h) = (with_theta(0.5), 0.005);
    let mut state = SystemState::new(vec![0.01; 40], vec![-1.0; 40]);
    let (mut impulse, mut first, mut last) = (0.0, None, 0.0);
    for step in 0..600 {
        let allocations = count_allocations(|| {
            let _ = stepper.step(&bar, &mut state, h).unwrap();
        });
        assert!(step < 50 || allocations.count == 0, "allocates in step {step}");
        if state.impulses[0] > 0.0 {
            impulse += state.impulses[0];
            first.get_or_insert(state.time);
            last = state.time;
        }
    }
    let duration = last - first.unwrap();
    assert!((duration - 2.0).abs() < 0.1, "in contact for {duration} of 2");
    let momentum: f64 = state.v.iter().sum::<f64>() / 40.0;
    assert!((impulse - 2.0).abs() < 0.1 && (momentum - 1.0).abs() < 0.1, "{impulse}, {momentum}");
    assert!((momentum + 1.0 - impulse).abs() < 1e-12, "momentum is what the wall gave");
}

/// A particle on a circle, in x and y.
struct Ring;

impl System for Ring {
    fn size(&self) -> usize {
        2
    }
    fn mass(&self, _q: &[f64], out: &mut [f64]) {
        (out[0], out[3]) = (2.0, 2.0);
    }
    fn force(&self, _t: f64, _q: &[f64], _v: &[f64], out: &mut [f64]) {
        out[1] = -2.0 * G;
    }
    fn constraints(&self) -> usize {
        1
    }
    fn gap(&self, _: usize, _t: f64, q: &[f64]) -> f64 {
        0.5 * (q[0] * q[0] + q[1] * q[1] - 1.0)
    }
    fn rows(&self, _: usize, _t: f64, q: &[f64], out: &mut [f64]) {
        out.copy_from_slice(q);
    }
}

#[test]
fn a_joint_of_the_user_stays_closed_and_swings_in_time() {
    let amplitude = 0.1_f64;
    let swing = |h: f64| {
        let (mut stepper, mut error, mut turns) = (with_theta(0.5), 0.0_f64, Vec::new());
        let mut state = SystemState::new(vec![amplitude.sin(), -amplitude.cos()], vec![0.0; 2]);
        while state.time < 9.0 {
            let before = (state.time, state.q[0]);
            let _ = stepper.step(&Ring, &mut state, h).unwrap();
            error = error.max(Ring.gap(0, 0.0, &state.q).abs());
            if before.1 < 0.0 && state.q[0] >= 0.0 {
                turns.push(before.0 - h * before.1 / (state.q[0] - before.1));
            }
        }
        ((turns[turns.len() - 1] - turns[0]) / (turns.len() - 1) as f64, error)
    };
    let exact = std::f64::consts::TAU / G.sqrt() * (1.0 + amplitude * amplitude / 16.0);
    let ((period, coarse), (_, fine)) = (swing(2e-3), swing(1e-3));
    assert!((period / exact - 1.0).abs() < 1e-3, "{period} of {exact}");
    assert!(coarse < 1e-5 && coarse / fine > 3.0, "joint errors {coarse} and {fine}");
}

/// A mass on a table that goes up and down.
struct Table;

fn table(t: f64) -> (f64, f64) {
    (0.01 * (20.0 * t).sin(), 0.2 * (20.0 * t).cos())
}

impl System for Table {
    fn size(&self) -> usize {
        1
    }
    fn mass(&self, _q: &[f64], out: &mut [f64]) {
        out[0] = 3.0;
    }
    fn force(&self, t: f64, _q: &[f64], _v: &[f64], out: &mut [f64]) {
        // Something breaks after a second.
        out[0] = if t < 1.0 { -3.0 * G } else { f64::NAN };
    }
    fn constraints(&self) -> usize {
        1
    }
    fn law(&self, _: usize) -> ConstraintLaw {
        ConstraintLaw::frictionless(0.0)
    }
    fn gap(&self, _: usize, t: f64, q: &[f64]) -> f64 {
        q[0] - table(t).0
    }
    fn rows(&self, _: usize, _t: f64, _q: &[f64], out: &mut [f64]) {
        out[0] = 1.0;
    }
    fn drift(&self, _: usize, t: f64, _q: &[f64], out: &mut [f64]) {
        out[0] = -table(t).1;
    }
}

#[test]
fn a_table_carries_what_lies_on_it_and_failures_change_nothing() {
    let (mut stepper, h) = (ThetaStepper::default(), 1e-3);
    let mut state = SystemState::new(vec![-1e-6], vec![0.2]);
    // Its acceleration stays below g, so nothing leaves it.
    for _ in 0..900 {
        let report = stepper.step(&Table, &mut state, h).unwrap();
        assert_eq!(report.active, 1);
        assert!((state.v[0] - table(state.time).1).abs() < 1e-12);
    }
    let before = state.clone();
    for fault in Fault::ALL {
        let solver = FailingSolver::from_call(stiction::complementarity::FrictionLadder::default(), fault, 0);
        let rungs = vec![Rung { name: "failing", solver: Box::new(solver) }];
        let mut failing = ThetaStepper::default();
        failing.ladder = Ladder::for_cones(rungs);
        let error = failing.step(&Table, &mut state, h).unwrap_err();
        assert!(matches!(error, ThetaError::NotSolved { constraint: 0, .. }), "{fault:?}: {error}");
        assert_eq!(state, before);
    }
    for h in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(stepper.step(&Table, &mut state, h), Err(ThetaError::Step(_))));
    }
    let error = stepper.step(&Table, &mut state, 0.2).unwrap_err();
    assert!(matches!(error, ThetaError::NonFinite { what: "force or momentum", index: 0 }), "{error}");
    assert_eq!(state, before);
    let mut wrong = SystemState::new(vec![0.0; 2], vec![0.0]);
    assert!(matches!(stepper.step(&Table, &mut wrong, h), Err(ThetaError::Size { expected: 1, .. })));
    let mut scheme = ThetaScheme::default();
    scheme.theta = 1.5;
    assert!(matches!(ThetaStepper::new(scheme), Err(ThetaError::Option(_))));
}

/// A box that slides over a floor in space, by bodies: v²/(2 μ g) far, straight, and with the same bits from any scratch memory.
#[test]
fn a_box_slides_by_the_same_scheme() {
    let (mu, speed, h, half) = (0.5, 3.0_f64, 1e-3, 0.05);
    let (sin, cos) = 0.4_f64.sin_cos();
    let slide = || {
        let inertia = Matrix3::from_diagonal_element(half * half / 1.5);
        let block = BodyBuilder::rigid("box", 1.0, inertia)
            .position(0.0, 0.0, half)
            .velocity(speed * cos, speed * sin, 0.0)
            .shape(spatial::Shape::cuboid([half; 3]).unwrap().into());
        let model = on_floor(Dimension::Spatial, [block], down(Dimension::Spatial), friction(mu));
        let simulation = Simulation::new(model, Preset::Ncp.scheme(), h).unwrap();
        simulation.with_stepper(MoreauJean::default())
    };
    let (mut simulation, mut poisoned) = (slide(), slide());
    let start = simulation.save();
    steps(&mut simulation, 800);
    simulation.restore(&start).unwrap();
    for step in 0..800 {
        let allocations = count_allocations(|| steps(&mut simulation, 1));
        assert_eq!(allocations.count, 0, "allocates in step {step}");
        poisoned.workspace_mut().poison();
        steps(&mut poisoned, 1);
        assert!(simulation.state().bit_equal(poisoned.state()), "step {step}");
    }
    let q = &simulation.state().q;
    let exact = speed * speed / (2.0 * mu * G);
    // Exact but for the step in which it stops.
    assert!((q[0].hypot(q[1]) - exact).abs() < mu * G * h * h / 2.0, "{} of {exact}", q[0].hypot(q[1]));
    assert!((q[1] / q[0] - sin / cos).abs() < 1e-9 && (q[2] - half).abs() < 1e-9);
    assert!(simulation.state().v.iter().all(|v| v.abs() < 1e-12), "at rest");
}

/// Forces of bodies at the middle of the step: a spring is followed to second order.
#[test]
fn a_spring_of_a_scene_is_of_second_order() {
    let error = |h: f64| {
        let mut builder = ModelBuilder::new(Dimension::Planar);
        let mass = builder.body(BodyBuilder::particle("mass", 2.0).position(1.5, 0.0, 0.0)).unwrap();
        let ends = ((BodyId::WORLD, Vector3::zeros()), (mass, Vector3::zeros()));
        let spring = Spring { a: ends.0, b: ends.1, stiffness: 18.0, rest_length: 1.0, damping: 0.0 };
        builder.spring(spring).unwrap();
        let simulation = Simulation::new(builder.build().unwrap(), Preset::Ncp.scheme(), h).unwrap();
        let mut simulation = simulation.with_stepper(MoreauJean::default());
        steps(&mut simulation, (1.0 / h).round() as usize);
        // ω = 3.
        simulation.state().q[0] - (1.0 + 0.5 * 3.0_f64.cos())
    };
    let (coarse, fine) = (error(0.01), error(0.005));
    assert!((coarse / fine / 4.0 - 1.0).abs() < 0.1 && coarse.abs() < 1e-3, "{coarse} and {fine}");
}

/// Joint errors removed through velocities would feed a pendulum; projected, it only loses, at first order.
#[test]
fn a_pendulum_gains_no_energy_and_stays_on_its_joint() {
    let swing = |h: f64| {
        let mut builder = ModelBuilder::new(Dimension::Planar);
        builder.gravity(0.0, -9.81, 0.0).unwrap();
        let bob = builder.body(BodyBuilder::planar("bob", 1.0, 0.01).position(1.0, 0.0, 0.0)).unwrap();
        let origin = Vector3::zeros();
        builder.joint_at("pivot", JointKind::Revolute, (BodyId::WORLD, bob), origin, Vector3::z()).unwrap();
        let mut simulation = Simulation::new(builder.build().unwrap(), Preset::MoreauJean.scheme(), h).unwrap();
        let (mut gain, mut lowest) = (0.0_f64, f64::INFINITY);
        for _ in 0..(10.0 / h).round() as usize {
            let report = crate::support::step(&mut simulation);
            assert!(report.joint_error <= 1e-12, "{}", report.joint_error);
            let energy = simulation.energy().total();
            gain = gain.max(energy - lowest);
            lowest = lowest.min(energy);
        }
        (gain, -lowest)
    };
    let (coarse, fine) = (swing(0.01), swing(0.005));
    assert!(coarse.0 <= 0.01 && fine.0 <= 0.002, "gained {} and {} J", coarse.0, fine.0);
    assert!((1.4..2.2).contains(&(coarse.1 / fine.1)), "lost {} and {} J", coarse.1, fine.1);
}
