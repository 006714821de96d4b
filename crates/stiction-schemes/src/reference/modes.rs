//! Contact modes: stick, slip or open, determined from accelerations if velocities leave them undecided.

use nalgebra::DVector;
use stiction_multibody::Model;

use super::{
    balance::{Balance, Mode, balance, norm},
    friction::Impulses,
    instant::Instant,
};

/// Slip that counts as zero, m/s: rounding and the location of events leave so much of a slip that stopped.
pub(super) const NO_SLIP: f64 = 1e-9;

/// Forces and accelerations that count as zero, as a fraction of the largest.
const ZERO: f64 = 1e-9;

/// Relative change of a slip over the time for which its friction is evaluated.
const SLIP_CHANGE: f64 = 1e-3;

/// Tolerance of the agreement between the accelerations of modes and of the contact laws, as a fraction of the accelerations.
const AGREEMENT: f64 = 1e-7;

/// Time over which a shock is evaluated, s. Its impulse does not depend on it. Its error is that of a force over this time.
pub(super) const SHOCK_TIME: f64 = 1e-8;

/// Result of the analysis of an instant.
pub(super) enum Decision {
    /// The motion continues with these modes.
    Modes(Vec<Mode>),
    /// No forces are consistent: an impulse without collision, over all rows.
    Shock(DVector<f64>),
}

/// Determines the modes of all contacts of an instant; `None` if no modes are consistent.   [REF-7]
pub(super) fn decide(model: &Model, at: &Instant, impulses: &mut Impulses) -> Option<Decision> {
    let slips: Vec<_> = at.touches.iter().map(super::geometry::Touch::slip).collect();
    let modes_by_velocity: Vec<_> = at
        .touches
        .iter()
        .zip(&slips)
        .map(|(touch, &slip)| match norm(slip) {
            _ if touch.friction_rows == 0 => Mode::Slip([0.0; 3]),
            size if size <= NO_SLIP => Mode::Stick,
            size => Mode::Slip(slip.map(|s| s / size)),
        })
        .collect();
    if feasible(at, &modes_by_velocity, &balance(at, &modes_by_velocity)) {
        return Some(Decision::Modes(modes_by_velocity));
    }
    let answer = under_friction(model, at, impulses)?;
    let (least_force, least_rate) = (ZERO * (1.0 + answer.force.amax()), ZERO * (1.0 + at.free_rate.amax()));
    let modes: Vec<_> = modes_by_velocity
        .iter()
        .enumerate()
        .map(|(contact, &moving)| {
            let opening = at.normal_of(contact, &answer.rate);
            let slip = at.friction_of(contact, &answer.rate);
            let size = norm(slip);
            if at.normal_of(contact, &answer.force) <= least_force && opening > least_rate {
                Mode::Open
            } else if moving == Mode::Stick && size > least_rate {
                Mode::Slip(slip.map(|s| s / size))
            } else {
                moving
            }
        })
        .collect();
    let answer_of_modes = balance(at, &modes);
    if feasible(at, &modes, &answer_of_modes) || agree(at, &answer_of_modes, &answer) {
        return Some(Decision::Modes(modes));
    }
    let stopped = slips.iter().enumerate().any(|(contact, &slip)| {
        let change = at.friction_of(contact, &answer.rate);
        let after: [f64; 3] = std::array::from_fn(|k| slip[k] + answer.duration * change[k]);
        norm(slip) > NO_SLIP && norm(after) < 0.5 * norm(slip)
    });
    if stopped { shock(model, at, impulses).map(Decision::Shock) } else { None }
}

/// True if the forces of these modes are feasible, or other forces with the same accelerations are.   [REF-7]
pub(super) fn consistent(
    model: &Model,
    at: &Instant,
    modes: &[Mode],
    of_modes: &Balance,
    impulses: &mut Impulses,
) -> bool {
    feasible(at, modes, of_modes)
        || (of_modes.redundant
            && under_friction(model, at, impulses).is_some_and(|answer| agree(at, of_modes, &answer)))
}

/// Checks N ≥ 0, friction within the cone of a sticking contact, and no approach of an open one.
fn feasible(at: &Instant, modes: &[Mode], balance: &Balance) -> bool {
    debug_assert_eq!(at.touches.len(), modes.len(), "every closed contact has a mode");
    let (force, rate) = (ZERO * (1.0 + balance.force.amax()), ZERO * (1.0 + at.free_rate.amax()));
    at.touches.iter().zip(modes).enumerate().all(|(contact, (touch, mode))| {
        let normal = at.normal_of(contact, &balance.force);
        match mode {
            Mode::Open => at.normal_of(contact, &balance.rate) >= -rate,
            Mode::Slip(_) => normal >= -force,
            Mode::Stick => {
                normal >= -force && norm(at.friction_of(contact, &balance.force)) <= touch.mu * normal + force
            }
        }
    })
}

/// Accelerations of all rows under the laws of contact themselves.
struct Answer {
    force: DVector<f64>,
    rate: DVector<f64>,
    /// Time over which slips are extrapolated, s.
    duration: f64,
}

/// Solves for the accelerations that obey the contact laws. Contacts that slip already enter with their slip after a short time, so that
/// friction opposes it: σ/δ + σ̇ in the units of accelerations.   [REF-6]
fn under_friction(model: &Model, at: &Instant, impulses: &mut Impulses) -> Option<Answer> {
    let slowest =
        at.touches.iter().map(|touch| norm(touch.slip())).filter(|&slip| slip > NO_SLIP).fold(f64::INFINITY, f64::min);
    let duration = if slowest.is_finite() { SLIP_CHANGE * slowest / (1.0 + at.free_rate.amax()) } else { 0.0 };
    let mut q = at.free_rate.clone();
    for (touch, block) in at.touches.iter().zip(&at.contacts) {
        let slip = touch.slip();
        if norm(slip) > NO_SLIP {
            (1..block.rows).for_each(|k| q[block.first + k] += slip[k - 1] / duration);
        }
    }
    let force = impulses.solve(model, at, &q)?;
    let rate = &at.delassus * &force + &at.free_rate;
    Some(Answer { force, rate, duration })
}

fn agree(at: &Instant, of_modes: &Balance, answer: &Answer) -> bool {
    let tolerance = if answer.duration > 0.0 { SLIP_CHANGE } else { AGREEMENT };
    let difference = &of_modes.acceleration - &at.free - &at.response * &answer.force;
    difference.amax() <= tolerance * (1.0 + at.free.amax())
}

/// Impulse that stops a slip for which no force exists: that of a very short step.   [REF-8]
fn shock(model: &Model, at: &Instant, impulses: &mut Impulses) -> Option<DVector<f64>> {
    let mut q = &at.free_rate * SHOCK_TIME;
    for (touch, block) in at.touches.iter().zip(&at.contacts) {
        let slip = touch.slip();
        (1..block.rows).for_each(|k| q[block.first + k] += slip[k - 1]);
    }
    impulses.solve(model, at, &q)
}
