//! Small models, and the stages of a step one by one.

use std::sync::Arc;

use nalgebra::{Matrix3, Vector2, Vector3};
use stiction_geometry::{Shape, planar, spatial};
use stiction_multibody::{
    BodyBuilder, BodyId, Configuration, ContactRule, Dimension, Expression, ExpressionMotion, Model, ModelBuilder,
    State, Wrench, energy, mass_block,
};

use crate::{
    Contact, FeatureDetector, FrictionSet, Ladder, Scheme, Start, StepCause, StepReport, Stepper, Substepping,
    TimeStepper, Workspace, advance, assemble, detect, formulation, ladder::LadderOutcome, prepare, rates::Side,
};

/// Gravity of the models, m/s².
pub(crate) const G: f64 = 10.0;

/// Floor y ≤ 0 in the plane, z ≤ 0 in space.
pub(crate) fn floor(dimension: Dimension) -> Shape {
    match dimension {
        Dimension::Planar => planar::Shape::half_plane(Vector2::y()).unwrap().into(),
        Dimension::Spatial => spatial::Shape::half_space(Vector3::z()).unwrap().into(),
    }
}

/// Rule with this friction coefficient.
pub(crate) fn friction(mu: f64) -> ContactRule {
    ContactRule { friction: mu, ..ContactRule::default() }
}

pub(crate) fn expression(text: &str) -> Expression {
    Expression::parse(text).unwrap()
}

/// Body with prescribed motion in the plane.
pub(crate) fn prescribed(name: &str, [x, y, angle]: [&str; 3]) -> BodyBuilder {
    BodyBuilder::kinematic(name, Arc::new(ExpressionMotion::planar(expression(x), expression(y), expression(angle))))
}

/// Solid ball.
pub(crate) fn ball(name: &str, mass: f64, radius: f64) -> BodyBuilder {
    BodyBuilder::rigid(name, mass, Matrix3::from_diagonal_element(0.4 * mass * radius * radius))
        .shape(spatial::Shape::sphere(radius).unwrap().into())
}

/// Solid box.
pub(crate) fn cuboid(name: &str, mass: f64, half: [f64; 3]) -> BodyBuilder {
    let [a, b, c] = half.map(|half| half * half / 3.0 * mass);
    BodyBuilder::rigid(name, mass, Matrix3::from_diagonal(&Vector3::new(b + c, a + c, a + b)))
        .shape(spatial::Shape::cuboid(half).unwrap().into())
}

/// Solid disc in the plane.
pub(crate) fn disc(name: &str, mass: f64, radius: f64) -> BodyBuilder {
    BodyBuilder::planar(name, mass, 0.5 * mass * radius * radius).shape(planar::Shape::disc(radius).unwrap().into())
}

/// Solid rectangle in the plane.
pub(crate) fn rectangle(name: &str, mass: f64, half: [f64; 2]) -> BodyBuilder {
    let inertia = mass * (half[0] * half[0] + half[1] * half[1]) / 3.0;
    BodyBuilder::planar(name, mass, inertia).shape(planar::Shape::rectangle(half).unwrap().into())
}

/// Builder with gravity down and one rule for all contacts.
pub(crate) fn builder(dimension: Dimension, rule: ContactRule) -> ModelBuilder {
    let mut builder = ModelBuilder::new(dimension);
    match dimension {
        Dimension::Planar => builder.gravity(0.0, -G, 0.0).unwrap(),
        Dimension::Spatial => builder.gravity(0.0, 0.0, -G).unwrap(),
    };
    builder.default_contact(rule).unwrap();
    builder
}

/// Bodies under gravity, with one rule for all contacts.
pub(crate) fn world(dimension: Dimension, rule: ContactRule, bodies: impl IntoIterator<Item = BodyBuilder>) -> Model {
    let mut builder = builder(dimension, rule);
    for body in bodies {
        builder.body(body).unwrap();
    }
    builder.build().unwrap()
}

/// Bodies on a fixed floor.
pub(crate) fn on_floor(
    dimension: Dimension,
    rule: ContactRule,
    bodies: impl IntoIterator<Item = BodyBuilder>,
) -> Model {
    let ground = BodyBuilder::fixed("floor").shape(floor(dimension));
    world(dimension, rule, std::iter::once(ground).chain(bodies))
}

/// Default scheme with another friction set.
pub(crate) fn with_friction_set(friction: FrictionSet) -> Scheme {
    Scheme { friction, ..Scheme::default() }
}

/// Step of a model, stage by stage.
pub(crate) struct Case {
    pub(crate) model: Model,
    pub(crate) scheme: Scheme,
    pub(crate) state: State,
    pub(crate) h: f64,
    pub(crate) ws: Workspace,
}

impl Case {
    pub(crate) fn new(model: Model, scheme: Scheme, h: f64) -> Self {
        let state = model.initial_state();
        Self { model, scheme, state, h, ws: Workspace::default() }
    }

    /// Calls a stage with its inputs and the workspace.
    pub(crate) fn with<T>(&mut self, stage: impl FnOnce(&Start, &mut Workspace) -> T) -> T {
        let Self { model, scheme, state, h, ws } = self;
        stage(&Start::new(model, scheme, state, *h), ws)
    }

    pub(crate) fn prepare(&mut self) -> Result<(), StepCause> {
        self.with(prepare)
    }

    /// Prepares and detects, linearised at the start.
    pub(crate) fn detect(&mut self) -> Result<(), StepCause> {
        self.prepare()?;
        self.ws.kinematics.linearisation_velocity.clear();
        self.with(|start, ws| detect(start, &mut FeatureDetector::default(), ws))
    }

    /// Prepares and detects, linearised at q ⊕ h v.
    pub(crate) fn detect_ahead(&mut self) -> Result<(), StepCause> {
        self.prepare()?;
        self.ws.kinematics.linearisation_velocity.clone_from(&self.state.v);
        self.with(|start, ws| detect(start, &mut FeatureDetector::default(), ws))
    }

    /// Detects and assembles the problem.
    pub(crate) fn assemble(&mut self) -> Result<(), StepCause> {
        self.detect()?;
        self.with(assemble)
    }

    /// Assembles and solves the problem.
    pub(crate) fn solve(&mut self) -> Result<LadderOutcome, StepCause> {
        self.assemble()?;
        self.with(|start, ws| formulation::solve(start, &mut Ladder::default(), ws))
    }

    /// Solves the problem and computes the next state, in one pass.
    pub(crate) fn advance(&mut self) {
        self.solve().unwrap();
        self.with(advance).unwrap();
    }

    /// Makes a step and continues from its end.
    pub(crate) fn step(&mut self) -> StepReport {
        let report = self.try_step().unwrap();
        self.state.copy_from(&self.ws.result.next);
        report
    }

    /// Makes several steps.
    pub(crate) fn run(&mut self, steps: usize) {
        for _ in 0..steps {
            let _ = self.step();
        }
    }

    pub(crate) fn try_step(&mut self) -> Result<StepReport, StepCause> {
        let mut stepper = TimeStepper::default();
        self.with(|start, ws| stepper.step(start, ws))
    }

    pub(crate) fn body(&self, name: &str) -> BodyId {
        self.model.find_body(name).unwrap()
    }

    /// Velocities v⁺ of a body in the solution.
    pub(crate) fn velocity(&self, name: &str) -> &[f64] {
        let (_, range) = self.model.unknowns(self.body(name)).unwrap();
        &self.ws.solution.velocity[range]
    }

    /// Velocities of a body in the state.
    pub(crate) fn v(&self, name: &str) -> &[f64] {
        let (_, range) = self.model.unknowns(self.body(name)).unwrap();
        &self.state.v[range]
    }

    /// Coordinates of a body in the state.
    pub(crate) fn q(&self, name: &str) -> &[f64] {
        &self.state.q[self.model.layout()[self.body(name).index()].q.clone()]
    }

    /// The only contact.
    pub(crate) fn contact(&self) -> &Contact {
        let [contact] = &self.ws.constraints.contacts[..] else {
            panic!("there are {} contacts", self.ws.constraints.contacts.len());
        };
        contact
    }

    /// Configuration at coordinates `q` and the start time, with the velocities of the state.
    pub(crate) fn configuration(&self, q: &[f64]) -> Configuration {
        let mut at = Configuration::default();
        at.update(&self.model, q, &self.state.v, self.state.time);
        at
    }

    /// Coordinates q ⊕ dt v.
    pub(crate) fn moved(&self, v: &[f64], dt: f64) -> Vec<f64> {
        let mut q = Vec::new();
        self.model.integrate(&self.state.q, v, dt, self.scheme.orientation, &mut q);
        q
    }

    /// Largest entry of M (v⁺ − v) − h f − H r over all bodies, from the constraints and impulses in the workspace.
    pub(crate) fn momentum_error(&self) -> f64 {
        let ws = &self.ws;
        let mut impulses: Vec<Wrench> = ws.kinematics.applied.iter().map(|wrench| wrench.scaled(self.h)).collect();
        let mut add = |body: BodyId, wrench: &Wrench, p: f64| impulses[body.index()].add(&wrench.scaled(p));
        for (contact, p) in ws.constraints.contacts.iter().zip(&ws.solution.contact_impulses) {
            let (a, b) = contact.row(&(contact.normal * p.normal + p.friction));
            let turning = contact.normal * p.spin + p.rolling;
            add(contact.a, &a, 1.0);
            add(contact.b, &b, 1.0);
            add(contact.a, &Wrench::of_torque(-turning), 1.0);
            add(contact.b, &Wrench::of_torque(turning), 1.0);
        }
        for (point, p) in ws.constraints.support_points.iter().zip(&ws.solution.support_impulses) {
            let (on, body) = point.row(&p.friction);
            add(point.supporting_body, &on, 1.0);
            add(point.body, &body, 1.0);
            add(point.supporting_body, &Wrench::of_torque(-Vector3::z() * p.spin), 1.0);
            add(point.body, &Wrench::of_torque(Vector3::z() * p.spin), 1.0);
        }
        for joint in self.model.joints() {
            for k in joint.first_row()..joint.first_row() + joint.rows() {
                let (row, p) = (&ws.constraints.joint_rows[k], ws.solution.joint_impulses[k]);
                add(joint.a.0, &row.a, p);
                add(joint.b.0, &row.b, p);
            }
        }
        for (row, p) in ws.constraints.joint_space_rows.iter().zip(&ws.solution.joint_space_impulses) {
            for side in row.sides.iter().flatten() {
                let Side::Wrench(body, wrench) = side else { panic!("maximal coordinates") };
                add(*body, wrench, *p);
            }
        }
        let mut worst = 0.0_f64;
        for (index, slot) in self.model.layout().iter().enumerate() {
            let Some((mobility, mass, inertia)) = mass_block(&self.model, &ws.kinematics.start, index) else {
                continue;
            };
            let twist = |v: &[f64]| mobility.twist(&v[slot.v.clone()]);
            let (before, after) = (twist(&ws.kinematics.before), twist(&ws.solution.velocity));
            let change = Wrench {
                linear: (after.linear - before.linear) * mass - impulses[index].linear,
                angular: inertia * (after.angular - before.angular) - impulses[index].angular,
            };
            worst = mobility.project(&change).iter().fold(worst, |worst, x| worst.max(x.abs()));
        }
        worst
    }
}

/// True if two numbers agree to a tolerance.
#[track_caller]
pub(crate) fn assert_near(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{found:e} instead of {expected:e}");
}

/// True if two vectors agree to a tolerance.
#[track_caller]
pub(crate) fn assert_close(found: &Vector3<f64>, expected: &Vector3<f64>, tolerance: f64) {
    assert!((found - expected).amax() <= tolerance, "{found:?} instead of {expected:?}");
}

/// Checks two lists of numbers entry by entry.
#[track_caller]
pub(crate) fn assert_all_near(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (k, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= tolerance, "entry {k} is {a:e} instead of {b:e}");
    }
}

/// Motion by whole steps, both kicks of a step of second order included.
pub(crate) struct Run {
    pub(crate) case: Case,
    stepper: TimeStepper,
    substepping: Substepping,
}

impl Run {
    pub(crate) fn new(model: Model, scheme: Scheme, h: f64) -> Self {
        let mut case = Case::new(model, scheme, h);
        crate::adopt(&case.model, &case.scheme, &mut case.state);
        Self { case, stepper: TimeStepper::default(), substepping: Substepping::default() }
    }

    pub(crate) fn step(&mut self) {
        let Case { model, scheme, state, h, ws } = &mut self.case;
        let start = Start::new(model, scheme, state, *h);
        let _ = self.substepping.step(&mut self.stepper, &start, ws).unwrap();
        state.copy_from(&ws.result.next);
    }

    pub(crate) fn steps(&mut self, count: usize) -> &Case {
        (0..count).for_each(|_| self.step());
        &self.case
    }

    pub(crate) fn configuration(&self) -> Configuration {
        let Case { model, state, .. } = &self.case;
        let mut at = Configuration::default();
        at.update(model, &state.q, &state.v, state.time);
        at
    }

    pub(crate) fn energy(&self) -> f64 {
        let energy = energy(&self.case.model, &self.configuration(), &self.case.state.angles);
        energy.kinetic + energy.potential
    }
}
