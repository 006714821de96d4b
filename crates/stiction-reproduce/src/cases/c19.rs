//! C-19: friction of particles that fall and slide, from noisy positions, by direct transcription (MPEC).

use stiction::{Simulation, scene};
use stiction_identify::mpec::{Member, MpecOptions, MpecReport, StartVelocity, fit, program::Engine};
use stiction_identify::{Noise, Parameter, Recording, Target};
use stiction_plot::{Axis, Figure, Layer, Marker, Panel};
use stiction_study::Stream;

use super::recorded::{Camera, engine, of, remark_without_engine, rounded, seen};
use crate::world::larger;
use crate::{Account, CaseError, Entry, Expected, Reference, Row, Tolerance, Value};

pub(super) fn run(case: &Reference) -> Result<Account, CaseError> {
    let mut account = Account::default();
    let setting = Setting::of(case)?;
    motion_rows(case, &setting, &mut account)?;
    table_7_1(case, &setting, &mut account)?;
    table_7_2(case, &setting, &mut account)?;
    account.remark(case.text("parameters.several.note")?);
    remark_without_engine(&mut account);
    Ok(account)
}

/// Parameters common to all particles.
struct Setting {
    mass: f64,
    step: f64,
    steps: usize,
    force: [f64; 2],
    start: [f64; 2],
    friction: f64,
    first_guess: f64,
    bounds: [f64; 2],
}

/// Initial position of a particle, and its friction.
type Particle = ([f64; 2], f64);

impl Setting {
    fn of(case: &Reference) -> Result<Self, CaseError> {
        Ok(Self {
            mass: case.parameter("mass")?,
            step: case.parameter("step")?,
            steps: case.count("parameters.steps")?,
            force: case.vector("parameters.force")?,
            start: case.vector("parameters.start")?,
            friction: case.parameter("friction")?,
            first_guess: case.parameter("first_guess")?,
            bounds: case.vector("parameters.bounds")?,
        })
    }

    fn text(&self, (start, friction): Particle) -> String {
        let Self { mass, step, force, .. } = self;
        format!(
            "[simulation]\nstep = {step:?}\nduration = {:?}\npreset = \"stewart-trinkle\"\ngravity = [0.0, 0.0]\n\
             [[body]]\nname = \"ground\"\nkind = \"fixed\"\n[[body.shape]]\nhalfspace = {{ normal = [0.0, 1.0] }}\n\
             [[body]]\nname = \"particle\"\nparticle = true\nmass = {mass:?}\nposition = {start:?}\n[[body.shape]]\npoint = {{}}\n\
             [[load]]\nbody = \"particle\"\nforce = {force:?}\n\
             [contact_default]\nfriction = {friction:?}\n",
            step * self.steps as f64
        )
    }

    /// Coordinates and velocities at the start and after every step.
    fn motion(&self, particle: Particle) -> Result<Vec<[f64; 4]>, CaseError> {
        let scene = scene::parse(&self.text(particle), "particle.toml").map_err(CaseError::other)?;
        let mut simulation = Simulation::from_scene(&scene)?;
        let mut motion = Vec::new();
        for _ in 0..=self.steps {
            let [x, y] = crate::world::q(&simulation, "particle")?;
            let [vx, vy] = crate::world::v(&simulation, "particle")?;
            motion.push([x, y, vx, vy]);
            let _ = simulation.step()?;
        }
        Ok(motion)
    }

    /// Observations of the motion after every step, with errors between −ε and ε.
    fn seen(&self, particle: Particle, epsilon: f64, seed: u64) -> Result<Recording, CaseError> {
        let mut stream = Stream::new(seed, 0);
        // Standard deviation of a uniform distribution.
        let noise = Noise { position: epsilon / 3.0_f64.sqrt(), angle: 1.0 };
        let mut camera = Camera::new("particle", "particle", noise);
        for (step, [x, y, ..]) in self.motion(particle)?.into_iter().enumerate() {
            let [x, y] = [x, y].map(|x| x + stream.between(-epsilon, epsilon));
            camera.see(self.step * step as f64, [x, y], None);
        }
        Ok(camera.recording())
    }

    fn target(&self, name: &str, particle: Particle) -> Target {
        let friction = Parameter::new(name, "contact_default.friction", self.first_guess, self.bounds);
        Target { text: self.text(particle), file_name: "particle.toml".to_owned(), parameters: vec![friction] }
    }
}

/// All particles as one MPEC. Errors are in a box of ±ε, which is √3 standard deviations; particles start at rest.
fn solve(engine: Engine, particles: &[(Target, Recording)]) -> Result<MpecReport, CaseError> {
    let members: Vec<_> = particles.iter().map(|(target, recording)| Member::whole(target, recording)).collect();
    let options = MpecOptions {
        error_bound: 3.0_f64.sqrt(),
        start_velocity: StartVelocity::AsInScene,
        ..MpecOptions::new(engine)
    };
    fit(&members, &options).map_err(CaseError::other)
}

fn motion_rows(case: &Reference, setting: &Setting, account: &mut Account) -> Result<(), CaseError> {
    let motion = setting.motion((setting.start, setting.friction))?;
    let tolerance = case.tolerance("tolerance.motion")?;
    for derived in case.table("derived.motion")? {
        let step = derived.number("step")?;
        let at = motion.iter().enumerate().find(|(k, _)| *k as f64 == step);
        let (_, ours) = at.ok_or_else(|| CaseError::Never(format!("step {step}")))?;
        for ((name, unit), ours) in [("x", "m"), ("y", "m"), ("vx", "m/s"), ("vy", "m/s")].into_iter().zip(ours) {
            let row = Row::new(format!("motion without noise: {name} after step {step}"), unit, *ours);
            account.add(row.reference(Expected::within(derived.number(name)?, tolerance)));
        }
    }
    Ok(())
}

/// Rows common to all MPECs: the problem is solved, and one of each complementary pair is zero.
struct Certified {
    solved: bool,
    complementarity: f64,
}

impl Certified {
    fn of<'r>(reports: impl Iterator<Item = &'r MpecReport>) -> Self {
        let start = Self { solved: true, complementarity: 0.0 };
        reports.fold(start, |all, report| Self {
            solved: all.solved && report.fit.converged,
            complementarity: larger(all.complementarity, report.certificate.complementarity),
        })
    }

    fn row(case: &Reference, table: &str, reports: &[Option<MpecReport>]) -> Result<Row, CaseError> {
        let most = case.number("tolerance.complementarity.abs")?;
        let ours = if reports.iter().any(Option::is_none) {
            Value::NotInBuild
        } else {
            let Self { solved, complementarity } = Self::of(reports.iter().flatten());
            Value::Flag(solved && complementarity < most)
        };
        let quantity = format!("{table}: all are solved, with complementarity below {most:e}");
        Ok(Row::new(quantity, "", ours).reference(case.exactly("derived.solved")?))
    }
}

/// Row of the objective. The MPEC minimises ½ (n/σ)² with σ² = ε²/3, the source Σ n².
fn objective_row(
    case: &Reference,
    (label, epsilon, count): (&str, f64, usize),
    (report, published): (Option<&MpecReport>, &Entry),
) -> Result<Row, CaseError> {
    let (squares, count) = (epsilon * epsilon, count as f64);
    let expected = count * squares * case.number("derived.objective_per_epsilon2")?;
    let spread = count.sqrt() * squares * case.number("derived.objective_deviation_per_epsilon2")?;
    let tolerance = Tolerance::absolute(case.number("tolerance.deviations")? * spread);
    let ours = of(report, |report| rounded(report.certificate.objective * 2.0 * squares / 3.0, 1e-3 * spread));
    Ok(Row::new(format!("{label}: sum of squares"), "m²", ours)
        .published(Expected::shown(published.number("objective")?))
        .reference(Expected::within(expected, tolerance)))
}

/// Row of the work, which is not compared.
fn iterations_row(label: &str, report: Option<&MpecReport>, published: &Entry) -> Result<Row, CaseError> {
    let ours = of(report, |report| Value::Number(f64::from(report.iterations)));
    let row = Row::new(format!("{label}: iterations of the engine"), "", ours);
    Ok(row.published(Expected::shown(published.number("iterations")?)).timing())
}

/// One particle under five noises, from the initial guess of the source.
fn table_7_1(case: &Reference, setting: &Setting, account: &mut Account) -> Result<(), CaseError> {
    let particle = (setting.start, setting.friction);
    let deviations = case.number("tolerance.deviations")?;
    let (seed, infeasible) = (case.count("parameters.seed")? as u64, case.number("published.infeasible.epsilon")?);
    let (mut reports, mut recordings, mut off) = (Vec::new(), Vec::new(), Vec::new());
    for published in case.table("published.table_7_1")? {
        let epsilon = published.number("epsilon")?;
        let label = format!("table 7.1, ε = {epsilon} m");
        let recording = setting.seen(particle, epsilon, seed)?;
        let members = [(setting.target("friction", particle), recording)];
        let report = engine().map(|engine| solve(engine, &members)).transpose()?;
        let known = report.as_ref();
        let derived = epsilon * case.number("derived.friction_deviation_per_epsilon")?;
        let estimate = |report: &MpecReport| report.fit.estimates.first().cloned();
        let found = known.and_then(estimate);
        let friction = of(found.as_ref(), |found| rounded(found.value, 0.01 * derived));
        let row = Row::new(format!("{label}: friction"), "", friction)
            .published(Expected::shown(published.number("friction")?))
            .reference(Expected::within(setting.friction, Tolerance::absolute(deviations * derived)));
        account.add(if epsilon == infeasible { row.headline() } else { row });
        let spread = of(found.as_ref(), |found| rounded(found.deviation.unwrap_or(f64::NAN), 1e-3 * derived));
        let row = Row::new(format!("{label}: standard deviation of the friction"), "", spread);
        account.add(row.reference(Expected::within(derived, case.tolerance("tolerance.friction_deviation")?)));
        account.add(objective_row(case, (&label, epsilon, 1), (known, &published))?);
        if epsilon == infeasible {
            let row = Row::new(format!("{label}: solved"), "", of(known, |report| report.fit.converged.into()))
                .published(case.exactly("published.infeasible.solved")?)
                .reference(case.exactly("derived.solved")?);
            account.add(row.explained(case.text("published.note")?));
        }
        account.add(iterations_row(&label, known, &published)?);
        off.extend(found.map(|found| (epsilon, (found.value - setting.friction) / derived)));
        recordings.extend(members.into_iter().map(|(_, recording)| recording));
        reports.push(report);
    }
    let variables = of(reports.iter().flatten().next(), |report| report.variables.into());
    let row = Row::new("table 7.1: variables of a program", "", variables);
    account.add(row.reference(case.exactly("parameters.variables_per_particle")?));
    account.add(Certified::row(case, "table 7.1", &reports)?);
    draw(setting, account, (&recordings, &reports), &off)
}

/// Several particles at once, each with its own friction. They are independent, and are solved separately.
fn table_7_2(case: &Reference, setting: &Setting, account: &mut Account) -> Result<(), CaseError> {
    let several = |name: &str| format!("parameters.several.{name}");
    let epsilon = case.number(&several("epsilon"))?;
    let [x, y, friction]: [[f64; 2]; 3] =
        [case.vector(&several("x"))?, case.vector(&several("y"))?, case.vector(&several("friction"))?];
    let [seed, first_noise] = [case.count(&several("seed"))? as u64, case.count(&several("first_noise_seed"))? as u64];
    let in_report = case.numbers(&several("in_report"))?;
    let mut reports = Vec::new();
    for published in case.table("published.table_7_2")? {
        let count = published.number("particles")?;
        if !in_report.contains(&count) {
            continue;
        }
        let count = crate::world::steps(count, 1.0);
        let label = format!("table 7.2, {count} particles");
        let mut random = Stream::new(seed, count as u64);
        let mut between = |[low, high]: [f64; 2]| random.between(low, high);
        // Friction is above zero and at most one half.
        let truth: Vec<Particle> = (0..count)
            .map(|_| ([between(x), between(y)], friction[1] - between([0.0, friction[1] - friction[0]])))
            .collect();
        let member = |(k, particle): (usize, &Particle)| {
            let recording = setting.seen(*particle, epsilon, first_noise + k as u64)?;
            Ok((setting.target(&format!("friction {k}"), *particle), recording))
        };
        let members: Vec<_> = truth.iter().enumerate().map(member).collect::<Result<_, CaseError>>()?;
        let report = engine().map(|engine| solve(engine, &members)).transpose()?;
        let known = report.as_ref();
        let row = Row::new(format!("{label}: variables"), "", of(known, |report| report.variables.into()));
        account.add(row.published(Expected::within(published.number("variables")?, Tolerance::default())));
        let distances = |report: &MpecReport| -> Vec<[f64; 2]> {
            let pairs = report.fit.estimates.iter().zip(&truth);
            pairs.map(|(found, (_, truth))| [found.value - truth, found.deviation.unwrap_or(f64::NAN)]).collect()
        };
        let rms = of(known, |report| {
            let squares: f64 = distances(report).iter().map(|[off, _]| off * off).sum();
            rounded((squares / count as f64).sqrt(), 1e-3 * epsilon * 1e-3)
        });
        let row = Row::new(format!("{label}: root mean square of the errors of friction"), "", rms);
        account.add(row.published(Expected::shown(published.number("friction_rms")?)));
        let furthest = of(known, |report| {
            let all = distances(report).into_iter().map(|[off, deviation]| (off / deviation).abs());
            rounded(all.fold(0.0, larger), 1e-2)
        });
        let row =
            Row::new(format!("{label}: furthest friction from the truth, in its standard deviations"), "", furthest);
        account.add(row.reference(case.at_most("tolerance.deviations")?));
        account.add(objective_row(case, (&label, epsilon, count), (known, &published))?);
        account.add(iterations_row(&label, known, &published)?);
        reports.push(report);
    }
    account.add(Certified::row(case, "table 7.2", &reports)?);
    Ok(())
}

fn draw(
    setting: &Setting,
    account: &mut Account,
    (recordings, reports): (&[Recording], &[Option<MpecReport>]),
    off: &[(f64, f64)],
) -> Result<(), CaseError> {
    let truth = setting.motion((setting.start, setting.friction))?;
    let column = |k: usize| truth.iter().filter_map(|row| row.get(k).copied()).collect::<Vec<_>>();
    let mut panel = Panel::new(Axis::new("x", "m"), Axis::new("y", "m"));
    if let Some(recording) = recordings.last() {
        panel = panel
            .with(Layer::points(seen(recording, 0), seen(recording, 1)).marker(Marker::Cross).muted().named("seen"));
    }
    panel = panel.with(Layer::line(column(0), column(1)).colour(0).named("true"));
    let estimated = reports.last().and_then(Option::as_ref).and_then(|report| report.motions.first());
    if let Some(motion) = estimated {
        let of = |k: usize| motion.q.iter().filter_map(|q| q.get(k).copied()).collect::<Vec<_>>();
        panel = panel.with(Layer::line(of(0), of(1)).colour(1).named("estimated"));
    }
    account.draw(
        "The particle as it was seen under the largest noise, its true motion, and the estimated one",
        "No figure of the source: table 7.1",
        Figure::new("").with(panel),
    );
    if !off.is_empty() {
        let (noise, off): (Vec<f64>, Vec<f64>) = off.iter().copied().unzip();
        let panel = Panel::new(
            Axis::new("largest error of a position", "m").log(),
            Axis::new("friction minus truth, in standard deviations", ""),
        )
        .with(Layer::horizontal_marks(vec![-4.0, 0.0, 4.0]).muted())
        .with(Layer::points(noise, off).named("estimated"));
        account.draw(
            "Estimated friction beside the true one, in the standard deviations that were derived",
            "No figure of the source: table 7.1",
            Figure::new("").with(panel),
        );
    }
    Ok(())
}
