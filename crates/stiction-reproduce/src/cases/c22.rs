//! C-22: four balls. One is thrown at a row of three; errors and variation over the step, beside the published table.

use nalgebra::{Matrix3, Vector3};
use stiction::compare::{self, Comparison, Entry, Plan, TruthCandidate, Unwatched};
use stiction::{
    BodyBuilder, ContactReport, ContactRule, Dimension, LineariseAt, Margin, Model, ModelBuilder, Preset, Scheme, spatial,
};
use stiction_plot::{Axis, Figure, Layer, Marker, Panel};

use crate::outline;
use crate::world::{friction, ground, run as simulate, steps};
use crate::{Account, CaseError, Expected, Reference, Row};

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
    let throw = Throw::run(case, case.number("derived.first_lift.h")?)?;
    throw.rows(case, &mut account)?;
    account.draw("Impulses in the step in which the thrown ball hits the row, seen from the side.", "figure 6", throw.impulses(case)?);
    account.draw("Centres of the balls from the side; outlines at the start, dots at the end.", "figure 7", throw.view(case, 2)?);
    account.draw("Centres of the balls from above; outlines at the start, dots at the end.", "figure 8", throw.view(case, 1)?);
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
    let mut scheme = Preset::StewartTrinkle.scheme();
    scheme.linearise_at = at;
    scheme.margin = Margin::Fixed(case.parameter("margin")?);
    scheme.directions = u32::try_from(case.count("parameters.directions")?).map_err(CaseError::other)?;
    Ok(scheme)
}

/// The published table by one of the two readings of the scheme, errors against its own finest step.
fn table(case: &Reference, at: LineariseAt, (column, name): (&str, &str), account: &mut Account) -> Result<(), CaseError> {
    let entry = Entry { name: name.to_owned(), scheme: Ok(scheme(case, at)?) };
    let published = case.table("published.table")?;
    let steps: Vec<f64> = published.iter().filter_map(|row| row.get("h")).collect();
    let finest = steps.iter().copied().reduce(f64::min);
    let mut plan = Plan::new(model(case)?, steps, case.parameter("duration")?);
    plan.truth = vec![TruthCandidate { entry: entry.clone(), step: finest }];
    plan.entries = vec![entry];
    let comparison: Comparison = compare::run(&plan, &mut Unwatched).map_err(CaseError::other)?;
    for ((ours, published), derived) in comparison.rows.iter().zip(published).zip(case.table(column)?) {
        let errors = ours.errors.ok_or_else(|| CaseError::Never(format!("a run with h = {} s", ours.step)))?;
        let values = [errors.velocity, errors.position, ours.variation];
        for ((key, quantity), value) in COLUMNS.into_iter().zip(values) {
            // The finest run is the truth and has no error in the table.
            let Some(theirs) = published.get(key) else { continue };
            let same = case.tolerance(&format!("tolerance.same_scheme.{key}"))?;
            account.add(
                Row::new(format!("{quantity}, {name}, h = {} s", ours.step), "", value)
                    .published(Expected::within(theirs, case.tolerance(&format!("tolerance.{key}"))?))
                    .reference(Expected::within(derived.number(key)?, same)),
            );
        }
    }
    Ok(())
}

/// One run, looked at closely.
struct Throw {
    h: f64,
    /// Time, places and velocities of the four balls.
    samples: Vec<(f64, [Vector3<f64>; BALLS], [Vector3<f64>; BALLS])>,
    problem_size: usize,
    table_hit: f64,
    ball_hit: f64,
    /// Contacts of the step of the hit.
    contacts: Vec<(ContactReport, [usize; 2])>,
}

impl Throw {
    fn run(case: &Reference, h: f64) -> Result<Self, CaseError> {
        let (mut samples, mut problem_size, mut table_hit, mut ball_hit) = (Vec::new(), 0, None, None);
        let mut contacts = Vec::new();
        let model = model(case)?;
        simulate(model, scheme(case, LineariseAt::Predicted)?, h, case.parameter("duration")?, |simulation, report| {
            let state = simulation.state();
            let part = |x: &[f64], k: usize, width: usize| Vector3::from_iterator(x.iter().skip(width * k).copied().take(3));
            let places = std::array::from_fn(|k| part(&state.q, k, 7));
            let velocities = std::array::from_fn(|k| part(&state.v, k, 6));
            samples.push((report.time, places, velocities));
            problem_size = problem_size.max(report.problem_size);
            // The table is the first body, the thrown ball the second.
            let pushes = |a: usize, b: usize| {
                let pair = |contact: &&ContactReport| [contact.body_a.index(), contact.body_b.index()];
                let found = |contact: &&ContactReport| pair(contact) == [a, b] || pair(contact) == [b, a];
                simulation.contacts().iter().filter(|contact| contact.normal_impulse > 0.0).any(|contact| found(&contact))
            };
            let [table, first, second] = [1, 2, 3];
            if pushes(table, first) {
                table_hit.get_or_insert(report.time);
            }
            if pushes(first, second) && ball_hit.is_none() {
                ball_hit = Some(report.time);
                let bodies = |contact: &ContactReport| [contact.body_a.index(), contact.body_b.index()];
                contacts = simulation.contacts().iter().map(|contact| (*contact, bodies(contact))).collect();
            }
            Ok(())
        })?;
        let never = |what: &str| CaseError::Never(what.to_owned());
        Ok(Self {
            h,
            samples,
            problem_size,
            table_hit: table_hit.ok_or_else(|| never("the hit on the table"))?,
            ball_hit: ball_hit.ok_or_else(|| never("the hit of the row"))?,
            contacts,
        })
    }

    fn rows(&self, case: &Reference, account: &mut Account) -> Result<(), CaseError> {
        account.add(
            Row::new("largest complementarity problem, without velocities", "", self.problem_size - 6 * BALLS)
                .published(case.exactly("published.lcp_size_max")?),
        );
        account.add(Row::new("largest mixed problem", "", self.problem_size).reference(case.exactly("derived.problem_size_max")?));
        let steps_off = case.number("tolerance.event_steps")? * self.h;
        for (quantity, ours, name) in [("hit on the table", self.table_hit, "table_hit"), ("hit of the row", self.ball_hit, "ball_hit")] {
            let near = crate::Tolerance::absolute(steps_off);
            account.add(
                Row::new(format!("{quantity}, h = {} s", self.h), "s", ours)
                    .published(case.expected(&format!("published.{name}"), "tolerance.published_times")?)
                    .reference(Expected::within(case.value(&format!("derived.{name}.t"))?, near)),
            );
        }
        let lift = case.number("derived.first_lift.t")?;
        let after = self.samples.get(steps(lift, self.h).saturating_sub(1));
        let (_, _, velocities) = after.ok_or_else(|| CaseError::Never("the lift".into()))?;
        account.add(
            Row::new(format!("speed with which the thrown ball lifts off at t = {lift} s"), "m/s", velocities[0].z)
                .reference(case.expected("derived.first_lift.vz_of_the_first", "tolerance.first_lift")?),
        );
        let (_, places, _) = self.samples.last().ok_or_else(|| CaseError::Never("a step".into()))?;
        let radius = case.parameter("radius")?;
        let worst = places.iter().map(|place| (place.z - radius).abs()).fold(0.0, f64::max);
        account.add(
            Row::new("largest distance of a ball from the table at the end", "m", worst).reference(case.at_most("tolerance.z_end.abs")?),
        );
        Ok(())
    }

    /// Impulses on the balls in the plane of the row, at the contact points.
    fn impulses(&self, case: &Reference) -> Result<Figure, CaseError> {
        let radius = case.parameter("radius")?;
        let at = self.samples.iter().find(|(time, ..)| *time >= self.ball_hit);
        let (_, places, _) = at.ok_or_else(|| CaseError::Never("the hit".into()))?;
        let balls = places.iter().map(|place| outline::circle([place.x, place.z], radius)).collect();
        let mut panel = Panel::new(Axis::new("x", "m"), Axis::new("z", "m"))
            .equal_aspect()
            .with(Layer::outlines(balls).muted())
            .with(Layer::horizontal_marks(vec![0.0]).muted());
        let largest = self.contacts.iter().map(|(contact, _)| contact.normal_impulse).fold(0.0, f64::max);
        // The largest impulse is as long as a ball is wide.
        let scale = 2.0 * radius / largest;
        type Vector = fn(&ContactReport) -> Vector3<f64>;
        let kinds: [(&str, Vector); 2] = [
            ("normal", |contact| contact.normal * contact.normal_impulse),
            ("friction", |contact| contact.friction_impulse),
        ];
        for (name, vector) in kinds {
            let (mut from, mut to) = (Vec::new(), Vec::new());
            for (contact, _) in &self.contacts {
                // On the second body of the pair; the first feels the opposite.
                for side in [1.0, -1.0] {
                    let arrow = vector(contact) * (side * scale);
                    from.push([contact.point.x, contact.point.z]);
                    to.push([contact.point.x + arrow.x, contact.point.z + arrow.z]);
                }
            }
            panel = panel.with(Layer::arrows(from, to).named(format!("{name}, largest {largest:.2} N s")));
        }
        Ok(Figure::new("").with(panel))
    }

    /// Paths of the centres over x, along y (1) or z (2).
    fn view(&self, case: &Reference, axis: usize) -> Result<Figure, CaseError> {
        let radius = case.parameter("radius")?;
        let label = if axis == 1 { "y" } else { "z" };
        let mut panel = Panel::new(Axis::new("x", "m"), Axis::new(label, "m")).equal_aspect();
        let mut outlines = Vec::new();
        for k in 0..BALLS {
            let start: [f64; 3] = case.vector(&format!("parameters.positions.{k}"))?;
            outlines.push(outline::circle([start[0], start[axis]], radius));
        }
        panel = panel.with(Layer::outlines(outlines).muted());
        for k in 0..BALLS {
            let (x, y): (Vec<_>, Vec<_>) = self.samples.iter().map(|(_, places, _)| (places[k].x, places[k][axis])).unzip();
            let end = (x.last().copied().into_iter().collect(), y.last().copied().into_iter().collect());
            let name = if k == 0 { "thrown ball".to_owned() } else { format!("ball {k} of the row") };
            panel = panel.with(Layer::line(x, y).named(name).colour(k));
            panel = panel.with(Layer::points(end.0, end.1).marker(Marker::Disc).colour(k));
        }
        Ok(Figure::new("").with(panel))
    }
}
