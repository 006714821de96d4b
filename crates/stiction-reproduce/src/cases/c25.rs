//! C-25: a hand closes on a glass. With low friction the glass slips out, with high friction it is held. Constraint errors drift, decay or vanish.

use nalgebra::Vector3;
use stiction::{Simulation, StepCause};
use stiction_plot::{Axis, Figure, Layer, Panel};

use super::plate::scene;
use crate::draw::time_axis;
use crate::norms::largest;
use crate::outline;
use crate::world::steps;
use crate::{Account, CaseError, Expected, Reference, Row, Tolerance};

/// Metres to millimetres.
const MM: f64 = 1e3;

const SCENE: &str = include_str!("../../../../scenes/hand_grasp.toml");

pub(super) fn run(case: &Reference) -> Result<Account, CaseError> {
    let mut account = Account::default();
    let [little, much] = ["little", "much"].map(|name| case.parameter(&format!("friction.{name}")));
    let (little, much) = (little?, much?);
    let (mut escapes, mut holds) = (Vec::new(), Vec::new());
    for gamma in case.numbers("parameters.gammas")? {
        escapes.push(Grasp::run(case, gamma, little)?);
        holds.push(Grasp::run(case, gamma, much)?);
    }
    for grasp in &escapes {
        account.add(
            Row::new(
                format!("way of the glass from the palm, μ = {little}, γ = {}", grasp.gamma),
                "m",
                grasp.displacement,
            )
            .reference(case.at_least("derived.out_of_reach")?),
        );
    }
    for grasp in &holds {
        account.add(
            Row::new(
                format!("way of the glass from the palm, μ = {much}, γ = {}", grasp.gamma),
                "m",
                grasp.displacement.abs(),
            )
            .reference(case.at_most("tolerance.held")?),
        );
    }
    infeasibility(case, &holds, &mut account)?;
    layer(case, &mut account)?;

    account.draw(
        "Joint infeasibility over time, the glass slips out",
        "Figure 3: joint infeasibility",
        figure(&escapes, "joint infeasibility", |step| step.joints),
    );
    let total = |step: &Step| step.joints.max(step.contacts);
    account.draw(
        "Total infeasibility over time, the glass slips out",
        "Figure 4: total infeasibility",
        figure(&escapes, "total infeasibility", total),
    );
    if let [_, decays, ..] = &escapes[..] {
        let caption = format!("The hand and the glass from above, γ = {}", decays.gamma);
        account.draw(caption, "Figures 5 to 12: frames of the simulation", frames(decays));
    }
    account.remark(case.text("parameters.torques_note")?);
    account.remark(case.text("derived.note")?);
    Ok(account)
}

const KNUCKLES: [&str; 3] = ["joint.first knuckle.limits", "joint.second knuckle.limits", "joint.thumb knuckle.limits"];

/// The hand of the scene, with torques that begin later and fingers that stop before they collide.
fn hand(case: &Reference, gamma: f64, changes: &[(&str, f64)]) -> Result<Simulation, CaseError> {
    let from = case.parameter("torques_from")?;
    let changes = changes.iter().map(|(path, value)| (*path, value.to_string()));
    let [least, most]: [f64; 2] = case.vector("parameters.knuckle_limits")?;
    let limits = format!("[{least:?}, {most:?}]");
    let mut all = vec![("scheme.gamma", gamma.to_string())];
    all.extend(KNUCKLES.map(|knuckle| (knuckle, limits.clone())));
    all.extend(changes);
    let (ramp, delayed) = ("min(t/0.3, 1)", format!("max(0, min((t - {from})/0.3, 1))"));
    if !SCENE.contains(ramp) {
        return Err(CaseError::Absent(format!("torque with the ramp {ramp}")));
    }
    let text = SCENE.replace(ramp, &delayed);
    Ok(Simulation::from_scene(&scene("scenes/hand_grasp.toml", &text, &all)?)?)
}

/// Errors after a step.
struct Step {
    time: f64,
    contacts: f64,
    joints: f64,
}

/// Outlines from above.
struct Frame {
    time: f64,
    hand: Vec<Outline>,
    glass: Vec<Outline>,
}

type Outline = Vec<[f64; 2]>;

struct Grasp {
    gamma: f64,
    /// Distance that the glass moved from the palm, m.
    displacement: f64,
    steps: Vec<Step>,
    /// Outlines at the times of the published frames.
    frames: Vec<Frame>,
}

impl Grasp {
    fn run(case: &Reference, gamma: f64, friction: f64) -> Result<Self, CaseError> {
        let mut simulation = hand(case, gamma, &[("contact_default.friction", friction)])?;
        let h = simulation.step_size();
        let times = case.numbers("parameters.frames")?;
        let begin = glass(&simulation)?;
        let mut grasp = Self { gamma, displacement: 0.0, steps: Vec::new(), frames: Vec::new() };
        for _ in 0..steps(case.parameter("duration")?, h) {
            let report = simulation.step()?;
            grasp.steps.push(Step { time: report.time, contacts: report.penetration, joints: report.joint_error });
            if let Some(time) = times.iter().find(|time| (report.time - **time).abs() <= 0.5 * h) {
                grasp.frames.push(Frame::of(&simulation, *time));
            }
        }
        grasp.displacement = glass(&simulation)?.y - begin.y;
        Ok(grasp)
    }

    fn most(&self, of: impl Fn(&Step) -> f64) -> f64 {
        largest(self.steps.iter().map(of))
    }
}

fn glass(simulation: &Simulation) -> Result<Vector3<f64>, CaseError> {
    let glass = simulation.model().find_body("glass").ok_or_else(|| CaseError::Absent("body `glass`".into()))?;
    Ok(simulation.configuration().pose(glass).translation.vector)
}

impl Frame {
    fn of(simulation: &Simulation, time: f64) -> Self {
        let (model, at) = (simulation.model(), simulation.configuration());
        let glass = model.find_body("glass");
        let mut frame = Self { time, hand: Vec::new(), glass: Vec::new() };
        for (_, body, shape) in model.shapes() {
            let Some(outline) = outline::from_above(&shape.shape, &(at.pose(body) * shape.local)) else { continue };
            let list = if Some(body) == glass { &mut frame.glass } else { &mut frame.hand };
            list.push(outline.into_iter().map(|corner| corner.map(|x| x * MM)).collect());
        }
        frame
    }
}

/// γ = 0 drifts, γ = 0.2 decays, γ = 1 vanishes in one step.
fn infeasibility(case: &Reference, holds: &[Grasp], account: &mut Account) -> Result<(), CaseError> {
    let [drifts, decays, gone] = holds else { return Err(CaseError::Absent("three weights".into())) };
    for (name, of) in [("contacts", (|step| step.contacts) as fn(&Step) -> f64), ("joints", |step| step.joints)] {
        let end = drifts.steps.last().map_or(f64::NAN, of);
        account.add(
            Row::new(format!("γ = 0: error of {name} at the end over its largest"), "", end / drifts.most(of))
                .reference(case.at_least("tolerance.kept")?),
        );
    }
    let joints = |grasp: &Grasp, time: f64| {
        let near = |step: &&Step| (step.time - time).abs() < 0.5 * (grasp.steps.first().map_or(0.0, |step| step.time));
        grasp.steps.iter().find(near).map(|step| step.joints).ok_or_else(|| CaseError::Never(format!("t = {time} s")))
    };
    let [from, to]: [f64; 2] = case.vector("parameters.decay_between")?;
    let count = ((to - from) / case.parameter("step")?).round();
    let ratio = libm::pow(joints(decays, to)? / joints(decays, from)?, 1.0 / count);
    let decay = Tolerance::absolute(case.number("tolerance.decay")?);
    account.add(
        Row::new("γ = 0.2: error of joints between events, share left by a step", "", ratio)
            .reference(Expected::within(case.value("derived.decay_per_step")?, decay))
            .headline(),
    );
    let grasped = case.parameter("grasped_from")?;
    let late = largest(gone.steps.iter().filter(|step| step.time > grasped).map(|step| step.joints));
    account.add(
        Row::new(
            "γ = 1: error of joints after the grasp over that of γ = 0",
            "",
            late / drifts.most(|step| step.joints),
        )
        .reference(case.at_most("tolerance.gone")?),
    );
    Ok(())
}

/// With γ = 0 and a thin layer the run ends with an error that names the glass.
fn layer(case: &Reference, account: &mut Account) -> Result<(), CaseError> {
    let mut simulation = hand(case, 0.0, &[("scheme.protective_layer", case.number("derived.thin_layer")?)])?;
    let mut reported = false;
    while !reported && simulation.time() < case.parameter("duration")? {
        match simulation.step() {
            Ok(_) => {}
            Err(error) if matches!(error.cause, StepCause::LayerUsedUp { .. }) => reported = true,
            Err(error) => return Err(error.into()),
        }
    }
    account.add(
        Row::new("γ = 0: a layer that is used up is reported", "", reported)
            .published(case.exactly("published.stops_without_stabilisation")?),
    );
    Ok(())
}

fn figure(grasps: &[Grasp], label: &str, of: impl Fn(&Step) -> f64) -> Figure {
    let panel = Panel::new(time_axis(), Axis::new(label, "mm"));
    let panel = grasps.iter().fold(panel, |panel, grasp| {
        let (t, error) = grasp.steps.iter().map(|step| (step.time, of(step) * MM)).unzip();
        panel.with(Layer::line(t, error).named(format!("γ = {}", grasp.gamma)))
    });
    Figure::new("").with(panel)
}

fn frames(grasp: &Grasp) -> Figure {
    grasp.frames.iter().fold(Figure::new("").columns(4).panel_size(52.0, 62.0), |figure, frame| {
        let panel = Panel::new(Axis::new("x", "mm").range(-130.0, 130.0), Axis::new("y", "mm").range(-40.0, 320.0))
            .titled(format!("t = {} s", frame.time))
            .equal_aspect()
            .with(Layer::outlines(frame.hand.clone()))
            .with(Layer::outlines(frame.glass.clone()).colour(1));
        figure.with(panel)
    })
}
