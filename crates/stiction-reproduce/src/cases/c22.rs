//! C-22: four balls. One is thrown at a row of three; errors and variation as functions of the step, beside the published table.

use nalgebra::{Matrix3, Vector3};
use stiction::{
    BodyBuilder, BodyId, ContactReport, ContactRule, Dimension, LineariseAt, Margin, Model, ModelBuilder, Preset,
    Scheme, Simulation, spatial,
};
use stiction_plot::{Axis, Figure, Layer, Panel};

use crate::norms::{furthest, largest};
use crate::outline;
use crate::world::{friction, ground, run as simulate, steps};
use crate::{Account, CaseError, Expected, Reference, Row, Tolerance};

/// Numbers of a row of the table.
const COLUMNS: [(&str, &str); 3] = [
    ("velocity_error", "velocity error"),
    ("position_error", "position error"),
    ("variation", "variation of the velocity"),
];

pub(super) fn run(case: &Reference) -> Result<Account, CaseError> {
    let mut account = Account::default();
    table(case, LineariseAt::Predicted, ("scheme_single_pass", "one pass"), &mut account)?;
    table(case, LineariseAt::End, ("scheme_two_passes", "geometry at the end"), &mut account)?;
    let throw = Throw::run(case, LineariseAt::Predicted, case.number("derived.first_lift.h")?)?;
    throw.rows(case, &mut account)?;
    end_state(case, &mut account)?;
    account.draw(
        "Impulses in the step in which the thrown ball hits the row, seen from the side; each on the ball that is hit",
        "Figure 6: impulses at the collision",
        throw.impulses(case)?,
    );
    account.draw(
        "Centres of the balls from the side; grey outlines at the start, coloured ones at the end",
        "Figure 7: elevation view",
        throw.view(case, 2)?,
    );
    account.draw(
        "Centres of the balls from above; grey outlines at the start, coloured ones at the end",
        "Figure 8: plan view",
        throw.view(case, 1)?,
    );
    Ok(account)
}

fn model(case: &Reference) -> Result<Model, CaseError> {
    let number = |name: &str| case.parameter(name);
    let rule = |first: Vector3<f64>, mu: f64| ContactRule { first_direction: Some(first), ..friction(mu) };
    let mut builder = ModelBuilder::new(Dimension::Spatial);
    builder.gravity(0.0, 0.0, -number("gravity")?)?;
    let table = builder.body(BodyBuilder::fixed("table").shape(ground(Dimension::Spatial)?))?;
    builder.default_contact(rule(Vector3::z(), number("friction")?))?;
    for k in 0..BALLS {
        let [x, y, z] = case.vector(&format!("parameters.positions.{k}"))?;
        let inertia = Matrix3::from_diagonal_element(number("inertia")?);
        let mut ball = BodyBuilder::rigid(format!("ball {k}"), number("mass")?, inertia)
            .position(x, y, z)
            .shape(spatial::Shape::sphere(number("radius")?)?.into());
        if k == 0 {
            let [x, y, z] = case.vector("parameters.velocity_of_the_first")?;
            ball = ball.velocity(x, y, z);
        }
        let ball = builder.body(ball)?;
        builder.contact(table, ball, rule(Vector3::x(), number("friction")?))?;
    }
    Ok(builder.build()?)
}

const BALLS: usize = 4;

fn scheme(case: &Reference, at: LineariseAt) -> Result<Scheme, CaseError> {
    let mut scheme = Preset::StewartTrinkle.scheme().as_published();
    scheme.linearise_at = at;
    scheme.margin = Margin::Fixed(case.parameter("margin")?);
    scheme.directions = u32::try_from(case.count("parameters.directions")?).map_err(CaseError::other)?;
    Ok(scheme)
}

/// The published table by one of the two readings of the scheme, with errors against its own finest step.
fn table(
    case: &Reference,
    at: LineariseAt,
    (column, name): (&str, &str),
    account: &mut Account,
) -> Result<(), CaseError> {
    let published = case.table("published.table")?;
    let runs: Result<Vec<_>, _> = published.iter().map(|row| Throw::run(case, at, row.number("h")?)).collect();
    let runs = runs?;
    let finest = runs.last().ok_or_else(|| CaseError::Absent("row in the table".into()))?;
    for ((run, published), derived) in runs.iter().zip(published).zip(case.table(column)?) {
        let (velocity, position) = run.errors(finest);
        for ((key, quantity), value) in COLUMNS.into_iter().zip([velocity, position, run.variation()]) {
            // The finest run is the reference and has no error in the table.
            let Some(theirs) = published.get(key) else { continue };
            let same = case.tolerance(&format!("tolerance.same_scheme.{key}"))?;
            let row = Row::new(format!("{quantity}, {name}, h = {} s", run.h), "", value)
                .published(Expected::within(theirs, case.tolerance(&format!("tolerance.{key}"))?))
                .reference(Expected::within(derived.number(key)?, same));
            // The shortest step that has all three numbers, by the scheme as it is published.
            let shown = at == LineariseAt::Predicted && steps(run.h, finest.h) == 2;
            account.add(if shown { row.headline() } else { row });
        }
    }
    Ok(())
}

/// Coordinates of the norms: positions and integrated angles of each ball, or their rates.
type Coordinates = [f64; 6 * BALLS];

/// One run.
struct Throw {
    h: f64,
    /// Rates at the start and after every step.
    velocities: Vec<Coordinates>,
    /// Positions and integrated angles, likewise.
    positions: Vec<Coordinates>,
    problem_size: usize,
    table_hit: Option<f64>,
    ball_hit: Option<f64>,
    /// Contacts of the step of the impact on the row.
    contacts: Vec<ContactReport>,
}

impl Throw {
    fn run(case: &Reference, at: LineariseAt, h: f64) -> Result<Self, CaseError> {
        let model = model(case)?;
        let first = model.initial_state();
        let mut position: Coordinates = std::array::from_fn(|k| match k % 6 {
            axis @ 0..3 => first.q.get(7 * (k / 6) + axis).copied().unwrap_or(0.0),
            _ => 0.0,
        });
        let rates = |v: &[f64]| std::array::from_fn(|k| v.get(k).copied().unwrap_or(0.0));
        let mut throw = Self {
            h,
            velocities: vec![rates(&first.v)],
            positions: vec![position],
            problem_size: 0,
            table_hit: None,
            ball_hit: None,
            contacts: Vec::new(),
        };
        simulate(model, scheme(case, at)?, h, case.parameter("duration")?, |simulation, report| {
            let velocity: Coordinates = rates(&simulation.state().v);
            position.iter_mut().zip(velocity).for_each(|(x, v)| *x += h * v);
            throw.velocities.push(velocity);
            throw.positions.push(position);
            throw.problem_size = throw.problem_size.max(report.problem_size);
            throw.watch(simulation, report.time)
        })?;
        Ok(throw)
    }

    /// Records the times at which the thrown ball hits the table and the row, and the impulses on the row.
    fn watch(&mut self, simulation: &Simulation, time: f64) -> Result<(), CaseError> {
        let find =
            |name: &str| simulation.model().find_body(name).ok_or_else(|| CaseError::Absent(format!("body `{name}`")));
        let (table, thrown, row) = (find("table")?, find("ball 0")?, find("ball 1")?);
        let pushes = |a: BodyId, b: BodyId| {
            let between = |c: &&ContactReport| [c.body_a, c.body_b] == [a, b] || [c.body_a, c.body_b] == [b, a];
            simulation.contacts().iter().filter(between).any(|contact| contact.normal_impulse > 0.0)
        };
        if pushes(table, thrown) {
            self.table_hit.get_or_insert(time);
        }
        if self.ball_hit.is_none() && pushes(thrown, row) {
            self.ball_hit = Some(time);
            self.contacts = simulation.contacts().to_vec();
        }
        Ok(())
    }

    /// ∫ ‖v − v′‖∞ dt and sup ‖x − x′‖∞ against a finer run, on its grid.
    fn errors(&self, fine: &Self) -> (f64, f64) {
        let ratio = steps(self.h, fine.h);
        let distance =
            |ours: Option<&Coordinates>, theirs: &Coordinates| ours.map_or(f64::NAN, |ours| furthest(ours, theirs));
        // The velocity of a step is constant over it.
        let velocities = fine.velocities.iter().enumerate().skip(1);
        let integral = velocities.map(|(k, v)| fine.h * distance(self.velocities.get(k.div_ceil(ratio)), v)).sum();
        let positions = fine.positions.iter().step_by(ratio).enumerate();
        (integral, largest(positions.map(|(k, x)| distance(self.positions.get(k), x))))
    }

    /// Largest componentwise total variation of the velocity.
    fn variation(&self) -> f64 {
        let mut sums = [0.0; 6 * BALLS];
        for (before, after) in self.velocities.iter().zip(self.velocities.iter().skip(1)) {
            sums.iter_mut()
                .zip(before.iter().zip(after))
                .for_each(|(sum, (before, after))| *sum += (after - before).abs());
        }
        largest(sums)
    }

    /// Centre of a ball at the end of a step, or its velocity.
    fn centre(of: &Coordinates, ball: usize) -> Vector3<f64> {
        Vector3::from_iterator(of.iter().skip(6 * ball).copied().take(3))
    }

    fn rows(&self, case: &Reference, account: &mut Account) -> Result<(), CaseError> {
        let never = |what: &str| CaseError::Never(what.to_owned());
        account.add(
            Row::new(
                "largest complementarity problem, without velocities",
                "",
                self.problem_size.saturating_sub(6 * BALLS),
            )
            .published(case.exactly("published.lcp_size_max")?),
        );
        account.add(
            Row::new("largest mixed problem", "", self.problem_size)
                .reference(case.exactly("derived.problem_size_max")?),
        );
        let near = Tolerance::absolute(case.number("tolerance.event_steps")? * self.h);
        let hits = [("hit on the table", self.table_hit, "table_hit"), ("hit of the row", self.ball_hit, "ball_hit")];
        for (quantity, ours, name) in hits {
            account.add(
                Row::new(format!("{quantity}, h = {} s", self.h), "s", ours.ok_or_else(|| never(quantity))?)
                    .published(case.expected(&format!("published.{name}"), "tolerance.published_times")?)
                    .reference(Expected::within(case.value(&format!("derived.{name}.t"))?, near)),
            );
        }
        let lift = case.number("derived.first_lift.t")?;
        let after = self.velocities.get(steps(lift, self.h)).ok_or_else(|| never("the lift"))?;
        account.add(
            Row::new(
                format!("speed with which the thrown ball lifts off at t = {lift} s"),
                "m/s",
                Self::centre(after, 0).z,
            )
            .reference(case.expected("derived.first_lift.vz_of_the_first", "tolerance.first_lift")?),
        );
        let (end, radius) = (self.positions.last().ok_or_else(|| never("a step"))?, case.parameter("radius")?);
        let worst = largest((0..BALLS).map(|ball| (Self::centre(end, ball).z - radius).abs()));
        account.add(
            Row::new("largest distance of a ball from the table at the end", "m", worst)
                .reference(case.at_most("tolerance.z_end.abs")?),
        );
        Ok(())
    }

    /// Impulses on the balls in the plane of the row, at the contact points.
    fn impulses(&self, case: &Reference) -> Result<Figure, CaseError> {
        let radius = case.parameter("radius")?;
        let at = self.ball_hit.and_then(|time| self.positions.get(steps(time, self.h)));
        let at = at.ok_or_else(|| CaseError::Never("the hit of the row".into()))?;
        let centres = (0..BALLS).map(|ball| Self::centre(at, ball));
        let balls = centres.map(|centre| outline::circle([centre.x, centre.z], radius)).collect();
        let mut panel = Panel::new(Axis::new("x", "m"), Axis::new("z", "m"))
            .equal_aspect()
            .with(Layer::horizontal_marks(vec![0.0]).muted())
            .with(Layer::outlines(balls).muted());
        let longest = largest(self.contacts.iter().map(|contact| contact.normal_impulse));
        // The largest impulse is drawn as long as the diameter of a ball.
        let scale = 2.0 * radius / longest;
        let from: Vec<_> = self.contacts.iter().map(|contact| [contact.point.x, contact.point.z]).collect();
        let normal = self.contacts.iter().map(|contact| contact.normal * contact.normal_impulse).collect();
        let friction = self.contacts.iter().map(|contact| contact.friction_impulse).collect();
        for (name, impulses) in [("normal impulse", normal), ("friction impulse", friction)] {
            let impulses: Vec<Vector3<f64>> = impulses;
            let tips = from.iter().zip(impulses).map(|([x, z], p)| [x + scale * p.x, z + scale * p.z]);
            panel = panel.with(Layer::arrows(from.clone(), tips.collect()).named(name));
        }
        Ok(Figure::new("").with(panel.titled(format!("the longest arrow is {longest:.2} N s"))))
    }

    /// Paths of the centres over x, along y (1) or z (2).
    fn view(&self, case: &Reference, axis: usize) -> Result<Figure, CaseError> {
        let radius = case.parameter("radius")?;
        let label = if axis == 1 { "y" } else { "z" };
        let mut panel = Panel::new(Axis::new("x", "m"), Axis::new(label, "m")).equal_aspect();
        if axis == 2 {
            panel = panel.with(Layer::horizontal_marks(vec![0.0]).muted());
        }
        for ball in 0..BALLS {
            let path = self.positions.iter().map(|at| Self::centre(at, ball));
            let (x, y): (Vec<_>, Vec<_>) = path.map(|centre| (centre.x, centre[axis])).unzip();
            let ends = [(x.first(), y.first()), (x.last(), y.last())];
            let ends = ends.map(|(x, y)| [x.copied().unwrap_or(f64::NAN), y.copied().unwrap_or(f64::NAN)]);
            let [start, end] = ends.map(|centre| outline::circle(centre, radius));
            let name = if ball == 0 { "thrown ball".to_owned() } else { format!("ball {ball} of the row") };
            panel = panel
                .with(Layer::outlines(vec![start]).muted())
                .with(Layer::outlines(vec![end]).colour(ball))
                .with(Layer::line(x, y).named(name).colour(ball));
        }
        Ok(Figure::new("").with(panel))
    }
}

/// Final positions and velocities of the balls, with a short step.
fn end_state(case: &Reference, account: &mut Account) -> Result<(), CaseError> {
    let fine = Throw::run(case, LineariseAt::End, case.number("derived.end_state_step")?)?;
    let never = || CaseError::Never("a step".into());
    let (place, velocity) = (fine.positions.last().ok_or_else(never)?, fine.velocities.last().ok_or_else(never)?);
    let tolerance = case.tolerance("tolerance.end_state")?;
    for (ball, row) in case.table("derived.end_state")?.iter().enumerate() {
        let (x, v) = (Throw::centre(place, ball), Throw::centre(velocity, ball));
        let numbers = [("x", "m", x.x), ("y", "m", x.y), ("vx", "m/s", v.x), ("vy", "m/s", v.y)];
        for (name, unit, ours) in numbers {
            account.add(
                Row::new(format!("{name} of ball {} at the end, h = {} s", ball + 1, fine.h), unit, ours)
                    .reference(Expected::within(row.number(name)?, tolerance)),
            );
        }
    }
    Ok(())
}
