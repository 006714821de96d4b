//! C-26: friction of a sliding block from camera observations: full trajectories, windows, particle filters, direct transcription (MPEC).

use stiction::{Scene, Simulation, scene};
use stiction_identify::filter::{Drift, Filter, FilterOptions, FilterReport, Keep};
use stiction_identify::mpec::{Member, MpecOptions, MpecReport, fit};
use stiction_identify::shooting::{Fit, FitOptions, FitReport, Window, windows};
use stiction_identify::{Noise, Parameter, Recording, Target};
use stiction_plot::{Axis, Figure, Layer, Marker, Panel};
use stiction_study::Stream;

use super::recorded::{Camera, engine, of, remark_without_engine, rounded, seen};
use crate::draw::{grid, time_axis};
use crate::world::{q, v};
use crate::{Account, CaseError, Expected, Reference, Row, Tolerance, Value};

pub(super) fn run(case: &Reference) -> Result<Account, CaseError> {
    let mut account = Account::default();
    let truth = truth(case)?;
    truth_rows(case, &truth, &mut account)?;
    let recording = recorded(case, &truth)?;
    let whole = shoot(&cone(case)?, &recording)?;
    whole_rows(case, (&whole, &shoot(&polygon(case)?, &recording)?), &mut account)?;
    let moving = window_rows(case, (&recording, &whole), &mut account)?;
    let followed = follow(case, &recording)?;
    let average = followed.averages.first().copied().unwrap_or(f64::NAN);
    let row = Row::new("friction by particles, mean over time", "", average)
        .published(Expected::shown(case.number("published.filter")?))
        .reference(case.expected("parameters.friction", "tolerance.filter")?);
    account.add(row.headline());
    let transcribed = mpec_rows(case, &recording, &mut account)?;
    let motions = Motions::of(case, (&whole, &followed, transcribed.as_ref()))?;
    motions.rows(case, &mut account)?;
    account.draw(
        "Place, angle and speed of the block: seen, and as each method estimates them",
        "The figures of section 7.6.2 that compare the methods",
        motions.figure(&recording),
    );
    account.draw(
        "Friction from the last so many frames, frame after frame, and by particles; the band holds 95 % of their weight",
        "The figures of section 7.6.2 for windows of 5, 20 and 50 frames",
        estimates(case, &moving, &followed)?,
    );
    account.remark(case.text("published.note")?);
    remark_without_engine(&mut account);
    Ok(account)
}

/// The block; `scheme` follows the settings of the simulation.
fn text(case: &Reference, preset: &str, scheme: &str) -> Result<String, CaseError> {
    let number = |name: &str| case.parameter(name);
    let pair = |name: &str| case.vector::<2>(&format!("parameters.{name}"));
    let support_points: Result<Vec<[f64; 2]>, _> =
        (0..case.length("parameters.feet")?).map(|k| pair(&format!("feet.{k}"))).collect();
    let (step, frames) = (number("step")?, number("frames")?);
    Ok(format!(
        "[simulation]\n{preset}step = {step:?}\nduration = {:?}\ngravity = [0.0, 0.0, {:?}]\n\
         [[body]]\nname = \"block\"\nmass = {:?}\ninertia = {:?}\nposition = [0.0, 0.0]\n\
         [body.support]\nfeet = {:?}\nfriction = {:?}\n[[body.shape]]\nbox = {{ size = {:?} }}\n\
         [[load]]\nbody = \"block\"\nforce = {:?}\npoint = {:?}\n{scheme}",
        step * frames,
        -number("gravity")?,
        number("mass")?,
        number("inertia")?,
        support_points?,
        number("friction")?,
        pair("size")?,
        pair("force")?,
        pair("point")?,
    ))
}

fn target(case: &Reference, text: String) -> Result<Target, CaseError> {
    let bounds = case.vector("parameters.bounds")?;
    let friction = Parameter::new("friction", "body.block.support.friction", case.parameter("first_guess")?, bounds);
    Ok(Target { text, file_name: "block.toml".to_owned(), parameters: vec![friction] })
}

/// The block with the second-order cone, the law of the recording.
fn cone(case: &Reference) -> Result<Target, CaseError> {
    target(case, text(case, "", "")?)
}

/// The block with a friction polygon, the first direction along x: not the law of the recording.
fn polygon(case: &Reference) -> Result<Target, CaseError> {
    let scheme = format!("[scheme]\ndirections = {}\n", case.count("parameters.directions")?);
    target(case, text(case, "preset = \"stewart-trinkle\"\n", &scheme)?)
}

/// (x, y, angle) and rates at a frame.
type Frame = ([f64; 3], [f64; 3]);

fn frames(
    scene: &Scene,
    start: Option<&stiction::State>,
    count: usize,
    per_frame: usize,
) -> Result<Vec<Frame>, CaseError> {
    let mut simulation = Simulation::from_scene(scene)?;
    if let Some(state) = start {
        simulation.set_state(state).map_err(CaseError::other)?;
    }
    let mut frames = vec![(q(&simulation, "block")?, v(&simulation, "block")?)];
    for _ in 0..count {
        for _ in 0..per_frame {
            let _ = simulation.step()?;
        }
        frames.push((q(&simulation, "block")?, v(&simulation, "block")?));
    }
    Ok(frames)
}

/// The true motion, with shorter steps than those of the estimates.
fn truth(case: &Reference) -> Result<Vec<Frame>, CaseError> {
    let per_frame = case.count("parameters.true_steps_per_frame")?;
    let step = case.parameter("step")? / per_frame as f64;
    let fine = [("simulation.step".to_owned(), format!("{step:?}"))];
    let scene = scene::parse_with(&text(case, "", "")?, "block.toml", &fine).map_err(CaseError::other)?;
    frames(&scene, None, case.count("parameters.frames")?, per_frame)
}

const COORDINATES: [(&str, &str); 3] = [("x", "m"), ("y", "m"), ("angle", "rad")];
const RATES: [(&str, &str); 3] = [("vx", "m/s"), ("vy", "m/s"), ("spin", "rad/s")];

fn truth_rows(case: &Reference, truth: &[Frame], account: &mut Account) -> Result<(), CaseError> {
    let (end, rates) = truth.last().ok_or_else(|| CaseError::Never("a step".into()))?;
    for ((name, unit), ours) in COORDINATES.into_iter().zip(end).chain(RATES.into_iter().zip(rates)) {
        let row = Row::new(format!("true motion: {name} at the end"), unit, *ours);
        account.add(row.reference(case.expected(&format!("derived.end.{name}"), "tolerance.truth")?));
    }
    Ok(())
}

/// Camera observations of the true motion.
fn recorded(case: &Reference, truth: &[Frame]) -> Result<Recording, CaseError> {
    let noise =
        Noise { position: case.number("parameters.noise.position")?, angle: case.number("parameters.noise.angle")? };
    let mut stream = Stream::new(case.count("parameters.seed")? as u64, 0);
    let mut normal = |deviation: f64| {
        let (a, b) = (stream.unit(), stream.unit());
        deviation * (-2.0 * libm::log(1.0 - a)).sqrt() * libm::cos(std::f64::consts::TAU * b)
    };
    let step = case.parameter("step")?;
    let mut camera = Camera::new("camera", "block", noise);
    for (frame, ([x, y, angle], _)) in truth.iter().enumerate() {
        let place = [x, y].map(|x| x + normal(noise.position));
        camera.see(step * frame as f64, place, Some(angle + normal(noise.angle)));
    }
    Ok(camera.recording())
}

fn shoot(target: &Target, recording: &Recording) -> Result<FitReport, CaseError> {
    let recordings = std::slice::from_ref(recording);
    Fit::of_all(target, recordings, FitOptions::default()).run().map_err(CaseError::other)
}

fn value(report: &FitReport) -> f64 {
    report.estimates.first().map_or(f64::NAN, |friction| friction.value)
}

fn whole_rows(
    case: &Reference,
    (cone, polygon): (&FitReport, &FitReport),
    account: &mut Account,
) -> Result<(), CaseError> {
    account.add(
        Row::new("friction by shooting, whole history, cone", "", value(cone))
            .reference(case.expected("parameters.friction", "tolerance.cone")?)
            .headline(),
    );
    account.add(
        Row::new("friction by shooting, whole history, polygon of 8 directions", "", value(polygon))
            .reference(case.expected("parameters.friction", "tolerance.polygon")?),
    );
    let row = Row::new("the same, cone, beside another sample of the noise", "", value(cone));
    account.add(row.reference(Expected::shown(case.number("derived.one_realisation.whole")?)));
    Ok(())
}

fn friction(window: &Window) -> f64 {
    window.values.first().copied().unwrap_or(f64::NAN)
}

/// Estimates from the last so many frames, for each length.
fn window_rows(
    case: &Reference,
    (recording, whole): (&Recording, &FitReport),
    account: &mut Account,
) -> Result<Vec<Vec<Window>>, CaseError> {
    let (target, every) = (cone(case)?, case.count("parameters.every")?);
    let (mut all, mut scatters) = (Vec::new(), Vec::new());
    let [low, high] = case.vector("parameters.bounds")?;
    for (k, other) in case.table("derived.one_realisation.windows")?.iter().enumerate() {
        let length = case.count(&format!("parameters.windows.{k}"))?;
        let found = windows(&target, recording, (length, every), FitOptions::default()).map_err(CaseError::other)?;
        let values: Vec<f64> = found.iter().map(friction).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let scatter = (values.iter().map(|mu| (mu - mean).powi(2)).sum::<f64>() / values.len() as f64).sqrt();
        let name = format!("windows of {length} frames");
        let row = Row::new(format!("{name}: mean friction"), "", mean);
        account.add(row.reference(Expected::shown(other.number("mean")?)));
        let row = Row::new(format!("{name}: standard deviation of friction"), "", scatter);
        account.add(row.reference(Expected::shown(other.number("scatter")?)));
        let inside = values.iter().all(|mu| (low..=high).contains(mu));
        let row = Row::new(format!("{name}: friction is always within its bounds"), "", inside);
        account.add(row.reference(case.exactly("derived.within_bounds")?));
        scatters.push(scatter);
        all.push(found);
    }
    let falls = scatters.is_sorted_by(|short, long| short > long);
    account.add(
        Row::new("longer windows scatter less", "", falls).reference(case.exactly("derived.scatter_falls")?).headline(),
    );
    let last = all.last().and_then(|found| found.last()).ok_or_else(|| CaseError::Never("a window".into()))?;
    let deviation = last.deviations.first().copied().flatten().unwrap_or(f64::NAN);
    let off = (friction(last) - value(whole)).abs() / deviation;
    let row = Row::new("last window from the whole history, in its standard deviations", "", off);
    account.add(row.reference(case.at_most("tolerance.last_window_deviations")?));
    Ok(all)
}

/// Particle filter as in the source: negative values are set to zero.
fn follow(case: &Reference, recording: &Recording) -> Result<FilterReport, CaseError> {
    let drift = Drift { walk: case.number("parameters.filter.walk")?, spread: None };
    let options = FilterOptions {
        particles: case.count("parameters.filter.particles")?,
        seed: case.count("parameters.filter.seed")? as u64,
        keep: Keep::Clamped,
        drifts: vec![drift],
        ..FilterOptions::default()
    };
    Filter { target: &cone(case)?, recording, options }.run().map_err(CaseError::other)
}

/// Direct transcription (MPEC).
fn mpec_rows(case: &Reference, recording: &Recording, account: &mut Account) -> Result<Option<MpecReport>, CaseError> {
    let target = cone(case)?;
    let solve = |engine| fit(&[Member::whole(&target, recording)], &MpecOptions::new(engine)).map_err(CaseError::other);
    let report = engine().map(solve).transpose()?;
    let known = report.as_ref();
    let friction = of(known, |report| {
        let deviation = report.fit.estimates.first().and_then(|friction| friction.deviation);
        rounded(value(&report.fit), 0.01 * deviation.unwrap_or(f64::NAN))
    });
    let row = Row::new("friction by the program of all steps, cone", "", friction)
        .published(Expected::shown(case.number("published.program")?))
        .reference(case.expected("parameters.friction", "tolerance.cone")?);
    account.add(row.headline());
    let most = case.number("tolerance.complementarity.abs")?;
    let certified = of(known, |report| Value::Flag(report.fit.converged && report.certificate.complementarity < most));
    let row = Row::new(format!("the program is solved, with complementarity below {most:e}"), "", certified);
    account.add(row.reference(case.exactly("derived.solved")?));
    Ok(report)
}

/// Motion as estimated by each method.
struct Motions {
    step: f64,
    named: Vec<(&'static str, Option<Vec<Frame>>)>,
}

impl Motions {
    fn of(
        case: &Reference,
        (whole, followed, transcribed): (&FitReport, &FilterReport, Option<&MpecReport>),
    ) -> Result<Self, CaseError> {
        let scene = cone(case)?.scene(&whole.values()).map_err(CaseError::other)?;
        let start = whole.starts.first().map(|start| &start.state);
        let shot = frames(&scene, start, case.count("parameters.frames")?, 1)?;
        let three = |numbers: &[f64]| std::array::from_fn(|k| numbers.get(k).copied().unwrap_or(f64::NAN));
        let moments = followed.moments.iter().map(|moment| (three(&moment.q), three(&moment.v))).collect();
        let transcribed = transcribed.and_then(|report| report.motions.first());
        let transcribed =
            transcribed.map(|motion| motion.q.iter().zip(&motion.v).map(|(q, v)| (three(q), three(v))).collect());
        let named = vec![("shooting", Some(shot)), ("particles", Some(moments)), ("program of all steps", transcribed)];
        Ok(Self { step: case.parameter("step")?, named })
    }

    /// Final state of each method.
    fn rows(&self, case: &Reference, account: &mut Account) -> Result<(), CaseError> {
        let many = case.number("tolerance.end_deviations")?;
        let position = case.number("parameters.noise.position")?;
        let deviations = [position, position, case.number("parameters.noise.angle")?];
        for (method, motion) in &self.named {
            for (k, ((name, unit), deviation)) in COORDINATES.into_iter().zip(deviations).enumerate() {
                let end = motion.as_ref().and_then(|motion| motion.last());
                let at = of(end, |(q, _)| rounded(q.get(k).copied().unwrap_or(f64::NAN), 1e-2 * deviation));
                let expected = case.value(&format!("derived.end.{name}"))?;
                let row = Row::new(format!("{name} at the end by {method}"), unit, at);
                account.add(row.reference(Expected::within(expected, Tolerance::absolute(many * deviation))));
            }
        }
        Ok(())
    }

    fn figure(&self, recording: &Recording) -> Figure {
        let mut figure = grid(2);
        let axes = [("x", "m"), ("y", "m"), ("angle", "rad"), ("speed along x", "m/s")];
        for (k, (label, unit)) in axes.into_iter().enumerate() {
            let mut panel = Panel::new(time_axis(), Axis::new(label, unit));
            if k < 3 {
                let points = Layer::points(recording.times.clone(), seen(recording, k));
                panel = panel.with(points.marker(Marker::Cross).muted().named("seen"));
            }
            for (colour, (name, motion)) in self.named.iter().enumerate() {
                let Some(motion) = motion else { continue };
                let times = (0..motion.len()).map(|frame| self.step * frame as f64).collect();
                let of = |(q, v): &Frame| q.get(k).or(v.first()).copied().unwrap_or(f64::NAN);
                panel = panel.with(Layer::line(times, motion.iter().map(of).collect()).colour(colour).named(*name));
            }
            figure = figure.with(panel);
        }
        figure
    }
}

fn estimates(case: &Reference, moving: &[Vec<Window>], followed: &FilterReport) -> Result<Figure, CaseError> {
    let axis = || Axis::new("friction", "").range(0.2, 0.5);
    let truth = || Ok::<_, CaseError>(Layer::horizontal_marks(vec![case.parameter("friction")?]).muted());
    let mut windows = Panel::new(time_axis(), axis()).titled("windows").with(truth()?);
    for (k, found) in moving.iter().enumerate() {
        let name = format!("{} frames", case.count(&format!("parameters.windows.{k}"))?);
        let values = found.iter().map(friction).collect();
        let times = found.iter().map(|window| window.time).collect();
        windows = windows.with(Layer::line(times, values).colour(k).named(name));
    }
    let moments = followed.moments.iter().filter_map(|moment| Some((moment.time, moment.parameters.first()?)));
    let (mut times, mut mean, mut low, mut high) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (time, friction) in moments {
        times.push(time);
        mean.push(friction.mean);
        low.push(friction.interval[0]);
        high.push(friction.interval[1]);
    }
    let particles = Panel::new(time_axis(), axis())
        .titled("particles")
        .with(truth()?)
        .with(Layer::band(times.clone(), low, high).colour(3))
        .with(Layer::line(times, mean).colour(3).named("mean"));
    Ok(grid(2).with(windows).with(particles))
}
