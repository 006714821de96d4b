//! C-17: the initial orientation for which a plate that vibrates about two axes oscillates symmetrically.

use stiction::multibody::{Motion, Sinusoid, SinusoidalPlate, rotation};
use stiction_plot::{Axis, Figure, Layer, Panel};

use crate::draw::time_axis;
use crate::{Account, CaseError, Expected, Reference, Row};

pub(super) fn run(case: &Reference) -> Result<Account, CaseError> {
    let mut account = Account::default();
    let plate = plate(case)?;
    let start = plate.at(0.0).orientation;
    let published: [f64; 4] = case.vector("published.quaternion")?;
    let halves: [f64; 3] = case.vector("derived.half_angles")?;
    account.add(
        Row::new("initial quaternion, scalar part", "", start.w)
            .published(Expected::within(published[0], case.tolerance("tolerance.scalar")?)),
    );
    let parts = [("x", start.i), ("y", start.j), ("z", start.k)];
    for (((name, ours), published), half) in parts.into_iter().zip(&published[1..]).zip(halves) {
        let tolerance = case.tolerance(&format!("tolerance.{name}"))?;
        let row = Row::new(format!("initial quaternion, {name} part"), "", ours)
            .published(Expected::within(*published, tolerance))
            .reference(Expected::within(half, tolerance));
        account.add(if name == "x" { row.headline() } else { row });
    }

    let from_identity = swing(&plate, case, true)?;
    let corrected = swing(&plate, case, false)?;
    let symmetry = case.tolerance("tolerance.symmetry")?;
    let [low, high]: [f64; 2] = case.vector("derived.x_from_identity")?;
    let (x, y) = (range(&from_identity[0]), range(&from_identity[1]));
    let y_amplitude = case.number("derived.y_amplitude")?;
    let rows = [
        ("from the identity: smallest angle about x", x[0], low),
        ("from the identity: largest angle about x", x[1], high),
        ("from the identity: smallest angle about y", y[0], -y_amplitude),
        ("from the identity: largest angle about y", y[1], y_amplitude),
    ];
    for (quantity, ours, expected) in rows {
        account.add(Row::new(quantity, "rad", ours).reference(Expected::within(expected, symmetry)));
    }
    let amplitude = case.number("derived.amplitude")?;
    for (axis, angles) in ["x", "y"].into_iter().zip(&corrected) {
        for (side, ours, expected) in
            [("smallest", range(angles)[0], -amplitude), ("largest", range(angles)[1], amplitude)]
        {
            let quantity = format!("from the computed start: {side} angle about {axis}");
            account.add(Row::new(quantity, "rad", ours).reference(Expected::within(expected, symmetry)));
        }
    }
    account.draw(
        "Angles over one period from the identity: those about x are not symmetric about zero",
        "Figure 5.13 a, b: angles from the identity",
        figure(&from_identity, case)?,
    );
    account.draw(
        "Angles over one period from the computed start: both are symmetric about zero",
        "Figure 5.14 a, b: angles from the computed start",
        figure(&corrected, case)?,
    );
    Ok(account)
}

fn plate(case: &Reference) -> Result<SinusoidalPlate, CaseError> {
    let sinusoid = |name: &str| {
        let [amplitude, phase] = case.vector(&format!("parameters.{name}"))?;
        Ok::<_, CaseError>(Sinusoid { amplitude, phase })
    };
    let about = [sinusoid("about_x")?, sinusoid("about_y")?, Sinusoid::default()];
    SinusoidalPlate::new(case.parameter("frequency")?, [Sinusoid::default(); 3], about)
        .ok_or_else(|| CaseError::Absent("plate with these accelerations".into()))
}

/// Angles about x and y of R = Rx Ry Rz over one period, sampled with the step of the source.
fn swing(plate: &SinusoidalPlate, case: &Reference, from_identity: bool) -> Result<[Vec<f64>; 2], CaseError> {
    let back = plate.at(0.0).orientation.inverse();
    let mut angles = [Vec::new(), Vec::new()];
    for t in times(case)? {
        let now = plate.at(t).orientation;
        // The angular velocity is given in world axes: another initial orientation multiplies the motion from the right.
        let now = if from_identity { now * back } else { now };
        let [x, y, _] = rotation::to_body_123(&now).angles;
        angles[0].push(x);
        angles[1].push(y);
    }
    Ok(angles)
}

fn times(case: &Reference) -> Result<Vec<f64>, CaseError> {
    let (h, period) = (case.parameter("step")?, 1.0 / case.parameter("frequency")?);
    let steps = crate::world::steps(period, h);
    Ok((0..=steps).map(|k| k as f64 * h).collect())
}

fn range(angles: &[f64]) -> [f64; 2] {
    angles.iter().fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], &angle| [low.min(angle), high.max(angle)])
}

fn figure(angles: &[Vec<f64>; 2], case: &Reference) -> Result<Figure, CaseError> {
    let times = times(case)?;
    let panel = |name: &str, angles: &[f64]| {
        let milli = angles.iter().map(|angle| angle * 1e3).collect();
        Panel::new(time_axis(), Axis::new(format!("angle about {name}"), "mrad"))
            .with(Layer::horizontal_marks(vec![0.0]).muted())
            .with(Layer::line(times.clone(), milli))
    };
    Ok(Figure::new("").columns(2).with(panel("x", &angles[0]).titled("(a)")).with(panel("y", &angles[1]).titled("(b)")))
}
