//! C-02: the planar pendulum of two bars. Angle errors and joint drift of the scheme over the step and the weight γ.

use crate::cases::pendulum::Family;
use crate::world::{q, run as simulate, stewart_trinkle};
use crate::{Account, CaseError, Expected, Reference, Row};

pub(super) fn run(case: &Reference) -> Result<Account, CaseError> {
    let mut account = Account::default();
    for row in case.table("scheme")? {
        let (gamma, h) = (row.number("gamma")?, row.number("h")?);
        let run = pendulum(case, gamma, h)?;
        let quantities = [
            ("error_theta_a", "error of the upper angle at t = 1 s", "rad", run.errors[0]),
            ("error_theta_b", "error of the lower angle at t = 1 s", "rad", run.errors[1]),
            ("phi_max", "largest joint error up to t = 1 s", "m", run.joint_error),
        ];
        for (name, quantity, unit, ours) in quantities {
            let Some(theirs) = row.get(name) else { continue };
            // Only the angle errors without stabilisation are printed to two digits.
            let rounded = gamma == 0.0 && name == "error_theta_a";
            let tolerance = case.tolerance(if rounded { "tolerance.scheme_rounded" } else { "tolerance.scheme" })?;
            let quantity = format!("{quantity}, γ = {gamma}, h = {h} s");
            account.add(Row::new(quantity, unit, ours).reference(Expected::within(theirs, tolerance)));
        }
        if account.rows.len() == 3 {
            let size = Row::new("unknowns of a step", "", run.problem_size);
            account.add(size.published(case.exactly("published.problem_size")?));
        }
    }
    Ok(account)
}

/// What one run shows.
struct Run {
    /// Errors of both angles at t = 1, rad.
    errors: [f64; 2],
    /// Largest joint error, m.
    joint_error: f64,
    problem_size: usize,
}

fn pendulum(case: &Reference, gamma: f64, h: f64) -> Result<Run, CaseError> {
    let (mut joint_error, mut problem_size) = (0.0_f64, 0);
    let end = simulate(Family::read(case)?.model()?, stewart_trinkle(gamma), h, 1.0, |_, report| {
        joint_error = joint_error.max(report.joint_error);
        problem_size = problem_size.max(report.problem_size);
        Ok(())
    })?;
    let [_, _, upper] = q(&end, "a")?;
    let [_, _, lower] = q(&end, "b")?;
    let exact = ["theta_a", "theta_b"].map(|name| case.number(&format!("derived.motion.2.{name}")));
    let [exact_upper, exact_lower] = exact;
    Ok(Run { errors: [(upper - exact_upper?).abs(), (lower - exact_lower?).abs()], joint_error, problem_size })
}
