//! Joints that are open at the start and that no motion from there closes: a bar that is too short, an anchor out of reach.   [STAB-12]
//!
//! The sum of squares of all joint errors is minimised from the poses of the start by the method of Levenberg and Marquardt. If it ends in a stationary
//! point with errors left, joints cannot be closed from there. Then every step would close them in vain, near a position in which their rows are singular.

use nalgebra::{DMatrix, DVector};
use stiction_multibody::{Configuration, Model, OrientationUpdate, State, Wrench};

/// Joint error below which a start counts as closed, m or rad: the steps remove it.
const OPEN: f64 = 1e-3;

/// Fraction of the joint error that a stationary point must leave. A smaller error may still vanish slowly.
const LEFT: f64 = 1e-2;

/// Largest cosine of the angle between the errors and the changes that motions can make in a stationary point. Dimensionless.
const STATIONARY: f64 = 1e-6;

/// Largest number of iterations; a start that is not decided by then is accepted.
const MAX_ITERATIONS: u32 = 500;

/// Largest number of degrees of freedom for which the dense least-squares problems are solved.
const MAX_DOF: usize = 200;

/// Joints that cannot be closed from the poses of the start.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(
    "joints cannot be closed from the poses at the start: at the nearest poses {} left open by up to {error:.3} (m or rad); check their anchors and the lengths between them",
    names(joints)
)]
#[non_exhaustive]
pub struct UnclosableJoints {
    /// Names of the joints with an error at the nearest poses.
    pub joints: Vec<String>,
    /// Largest error there, m or rad.
    pub error: f64,
}

fn names(joints: &[String]) -> String {
    let quoted: Vec<String> = joints.iter().map(|name| format!("\"{name}\"")).collect();
    match quoted.as_slice() {
        [one] => format!("joint {one} is"),
        all => format!("joints {} are", all.join(", ")),
    }
}

/// Finds joints that cannot be closed from the poses of a state.   [STAB-12]
pub fn check_closable(model: &Model, state: &State) -> Result<(), UnclosableJoints> {
    let mut at = Configuration::default();
    at.update(model, &state.q, &state.v, state.time);
    let at_start =
        model.joints().iter().flat_map(|joint| joint.evaluate(&at)).map(|row| row.value.abs()).fold(0.0, f64::max);
    if at_start <= OPEN || model.dof() > MAX_DOF {
        return Ok(());
    }
    let largest = |errors: &DVector<f64>| errors.iter().fold(0.0_f64, |most, error| most.max(error.abs()));
    let (mut errors, mut jacobian) = linearise(model, &at);
    let (mut q, mut damping) = (state.q.clone(), 1e-3);
    for _ in 0..MAX_ITERATIONS {
        if largest(&errors) <= LEFT * at_start {
            return Ok(());
        }
        let gradient = jacobian.tr_mul(&errors);
        if is_stationary(&jacobian, &gradient, &errors) {
            return Err(unclosable(model, &at, at_start));
        }
        let mut normal = jacobian.tr_mul(&jacobian);
        for k in 0..normal.nrows() {
            normal[(k, k)] += damping * (normal[(k, k)] + f64::EPSILON);
        }
        let Some(step) = normal.cholesky().map(|factor| -factor.solve(&gradient)) else {
            damping *= 10.0;
            continue;
        };
        let mut next = q.clone();
        model.integrate(&q, step.as_slice(), 1.0, OrientationUpdate::Exponential, &mut next);
        at.update(model, &next, &state.v, state.time);
        let (new_errors, new_jacobian) = linearise(model, &at);
        if new_errors.norm_squared() < errors.norm_squared() {
            (q, errors, jacobian) = (next, new_errors, new_jacobian);
            damping = (0.3 * damping).max(1e-9);
        } else {
            at.update(model, &q, &state.v, state.time);
            damping *= 10.0;
        }
    }
    Ok(())
}

/// True if no motion changes the sum of squares of the errors to first order.
fn is_stationary(jacobian: &DMatrix<f64>, gradient: &DVector<f64>, errors: &DVector<f64>) -> bool {
    let size = errors.norm();
    let columns = jacobian.column_iter().zip(gradient.iter());
    columns.map(|(column, change)| change.abs() / (column.norm() * size).max(f64::MIN_POSITIVE)).fold(0.0, f64::max)
        <= STATIONARY
}

/// Joint errors, and their rates by the velocities of the bodies.
fn linearise(model: &Model, at: &Configuration) -> (DVector<f64>, DMatrix<f64>) {
    let mut errors = DVector::zeros(model.joint_rows());
    let mut jacobian = DMatrix::zeros(model.joint_rows(), model.dof());
    let rows = model.joints().iter().flat_map(|joint| joint.evaluate(at).map(move |row| (joint, row)));
    for (place, (joint, row)) in rows.enumerate() {
        errors[place] = row.value;
        for (id, wrench) in [(joint.a.0, row.a), (joint.b.0, row.b)] {
            let Some((mobility, range)) = model.unknowns(id) else { continue };
            let entries: &Wrench = &wrench;
            for (column, entry) in range.zip(mobility.project(entries)) {
                jacobian[(place, column)] += entry;
            }
        }
    }
    (errors, jacobian)
}

/// Joints with errors in the stationary point, by name.
fn unclosable(model: &Model, at: &Configuration, at_start: f64) -> UnclosableJoints {
    let errors = model.joints().iter().map(|joint| {
        let error = joint.evaluate(at).map(|row| row.value.abs()).fold(0.0, f64::max);
        (joint.name.clone(), error)
    });
    let left: Vec<_> = errors.filter(|(_, error)| *error > LEFT * LEFT * at_start).collect();
    let error = left.iter().map(|(_, error)| *error).fold(0.0, f64::max);
    UnclosableJoints { joints: left.into_iter().map(|(name, _)| name).collect(), error }
}
