//! C-02: the planar pendulum of two bars. Angle errors and joint drift of the scheme as functions of the step and of the weight γ.

use stiction_plot::{Axis, Figure, Layer, Marker, Panel};

use crate::cases::pendulum::{self, Family};
use crate::draw::{Trace, grid, time_axis};
use crate::world::{larger, q, run as simulate, stewart_trinkle};
use crate::{Account, CaseError, Entry, Expected, Reference, Row};

pub(super) fn run(case: &Reference) -> Result<Account, CaseError> {
    let mut account = Account::default();
    let size = pendulum::largest_problem(&Family::read(case)?, 0.5)?;
    account.add(Row::new("unknowns of a step", "", size).published(case.exactly("published.problem_size")?));
    pendulum::motion_rows(&mut account, case, &Family::read(case)?, "derived.motion", 0.0)?;
    let rows = case.table("scheme")?;
    let runs = rows.iter().map(|row| pendulum(case, row)).collect::<Result<Vec<_>, _>>()?;
    for (row, run) in rows.iter().zip(&runs) {
        scheme_rows(&mut account, case, row, run)?;
    }
    account.draw(
        "Angles of both bars; rings are the reference",
        "No figure of the source: figure 2.8 is the diagram of the system",
        motion(case)?,
    );
    account.draw(
        "Joint error and angle error over the step, for weights γ of the joint error; rings are the reference",
        "No figure of the source",
        errors(&rows, &runs)?,
    );
    Ok(account)
}

/// Errors of both angles at t = 1 (rad), and largest joint error up to then (m).
type Errors = [f64; 3];

const NAMES: [&str; 3] = ["error_theta_a", "error_theta_b", "phi_max"];

fn pendulum(case: &Reference, row: &Entry) -> Result<Errors, CaseError> {
    let mut joint_error = 0.0_f64;
    let scheme = stewart_trinkle(row.number("gamma")?);
    let end = simulate(Family::read(case)?.model()?, scheme, row.number("h")?, 1.0, |_, report| {
        joint_error = larger(joint_error, report.joint_error);
        Ok(())
    })?;
    let exact = |name: &str| case.number(&format!("derived.motion.2.{name}"));
    let ([_, _, upper], [_, _, lower]) = (q(&end, "a")?, q(&end, "b")?);
    Ok([(upper - exact("theta_a")?).abs(), (lower - exact("theta_b")?).abs(), joint_error])
}

fn scheme_rows(account: &mut Account, case: &Reference, row: &Entry, run: &Errors) -> Result<(), CaseError> {
    let (gamma, h) = (row.number("gamma")?, row.number("h")?);
    let quantities = [
        ("error of the upper angle at t = 1 s", "rad"),
        ("error of the lower angle at t = 1 s", "rad"),
        ("largest joint error up to t = 1 s", "m"),
    ];
    for ((name, (quantity, unit)), ours) in NAMES.into_iter().zip(quantities).zip(run) {
        let Some(theirs) = row.get(name) else { continue };
        // Only the angle errors without stabilisation are printed to two digits.
        let rounded = gamma == 0.0 && name == "error_theta_a";
        let tolerance = case.tolerance(if rounded { "tolerance.scheme_rounded" } else { "tolerance.scheme" })?;
        let quantity = format!("{quantity}, γ = {gamma}, h = {h} s");
        account.add(Row::new(quantity, unit, *ours).reference(Expected::within(theirs, tolerance)));
    }
    Ok(())
}

fn motion(case: &Reference) -> Result<Figure, CaseError> {
    let mut trace = Trace::<2>::default();
    let (h, duration) = (case.number("comparison.step")?, case.number("comparison.duration")?);
    simulate(Family::read(case)?.model()?, stewart_trinkle(1.0), h, duration, |simulation, report| {
        let ([_, _, upper], [_, _, lower]) = (q(simulation, "a")?, q(simulation, "b")?);
        trace.push(report.time, [upper, lower]);
        Ok(())
    })?;
    let panel = pendulum::with_marks(
        Panel::new(time_axis(), Axis::new("angle from the horizontal", "rad")),
        &case.table("derived.motion")?,
        0.0,
        [("theta_a", "upper bar", trace.line(0)), ("theta_b", "lower bar", trace.line(1))],
    )?;
    Ok(Figure::new("").with(panel))
}

fn errors(rows: &[Entry], runs: &[Errors]) -> Result<Figure, CaseError> {
    let step = || Axis::new("step", "s").log();
    let mut drift = Panel::new(step(), Axis::new("largest joint error", "m").log());
    let mut angle = Panel::new(step(), Axis::new("error of the upper angle", "rad").log());
    for (colour, gamma) in [1.0, 0.2, 0.0].into_iter().enumerate() {
        let mut lines = [const { (Vec::new(), Vec::new()) }; 2];
        let mut marks = lines.clone();
        for (row, run) in rows.iter().zip(runs).filter(|(row, _)| row.get("gamma") == Some(gamma)) {
            let [upper, _, joint] = run;
            for (((xs, ys), (mark_xs, mark_ys)), (ours, name)) in
                lines.iter_mut().zip(&mut marks).zip([(joint, "phi_max"), (upper, "error_theta_a")])
            {
                xs.push(row.number("h")?);
                ys.push(*ours);
                if let Some(theirs) = row.get(name) {
                    mark_xs.push(row.number("h")?);
                    mark_ys.push(theirs);
                }
            }
        }
        for ((panel, (x, y)), (mark_x, mark_y)) in [&mut drift, &mut angle].into_iter().zip(lines).zip(marks) {
            if !mark_x.is_empty() {
                panel.layers.push(Layer::line(x, y).named(format!("γ = {gamma}")).colour(colour));
                panel.layers.push(Layer::points(mark_x, mark_y).colour(colour).marker(Marker::Ring));
            }
        }
    }
    Ok(grid(2).with(drift).with(angle))
}
