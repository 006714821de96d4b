//! Which contacts stick, slip or open: decided from accelerations where velocities leave it open.

use nalgebra::DVector;
use stiction_multibody::Model;

use super::{
    balance::{Balance, Mode, balance, norm},
    friction::Impulses,
    instant::Instant,
};

/// Slips slower than this are none, m/s: what rounding and the location of events leave of a slip that stopped.
pub(super) const STILL: f64 = 1e-9;

/// Forces and accelerations below this share of the largest are zero.
const NOTHING: f64 = 1e-9;

/// A slip keeps this much of its direction over the time for which its friction is asked.
const BRIEF: f64 = 1e-3;

/// Modes and the shock of a Painlevé paradox agree or not to this share of the accelerations.
const AGREEMENT: f64 = 1e-7;

/// The time over which a shock is asked for, s. Its impulse does not depend on it, its error is that of a force over this time.
pub(super) const SHOCK_TIME: f64 = 1e-8;

/// What follows from an instant.
pub(super) enum Decision {
    /// The contacts go on like this.
    Modes(Vec<Mode>),
    /// No forces do: an impulse without collision, over all rows.
    Shock(DVector<f64>),
}

/// Decides the modes of all contacts of an instant; `None` where nothing is consistent.   [REF-7]
pub(super) fn decide(model: &Model, at: &Instant, impulses: &mut Impulses) -> Option<Decision> {
    let slips: Vec<_> = at.touches.iter().map(super::geometry::Touch::slip).collect();
    let as_they_move: Vec<_> = at
        .touches
        .iter()
        .zip(&slips)
        .map(|(touch, &slip)| match norm(slip) {
            _ if touch.friction_rows == 0 => Mode::Slip([0.0; 3]),
            size if size <= STILL => Mode::Stick,
            size => Mode::Slip(slip.map(|s| s / size)),
        })
        .collect();
    if feasible(at, &as_they_move, &balance(at, &as_they_move)) {
        return Some(Decision::Modes(as_they_move));
    }
    let answer = under_friction(model, at, impulses)?;
    let (least_force, least_rate) = (NOTHING * (1.0 + answer.force.amax()), NOTHING * (1.0 + at.free_rate.amax()));
    let modes: Vec<_> = as_they_move
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
        norm(slip) > STILL && norm(after) < 0.5 * norm(slip)
    });
    if stopped { shock(model, at, impulses).map(Decision::Shock) } else { None }
}

/// Whether forces of these modes are good, or other forces with the same accelerations are.   [REF-7]
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

/// N ≥ 0, friction within the cone where a contact sticks, no approach where it is open.
fn feasible(at: &Instant, modes: &[Mode], balance: &Balance) -> bool {
    let (force, rate) = (NOTHING * (1.0 + balance.force.amax()), NOTHING * (1.0 + at.free_rate.amax()));
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
    /// The time over which slips were followed, s.
    duration: f64,
}

/// The accelerations that obey the laws of contact. Contacts that slip already are asked for their slip after a brief time, so
/// that friction opposes it: σ/δ + σ̇ in the units of accelerations.   [REF-6]
fn under_friction(model: &Model, at: &Instant, impulses: &mut Impulses) -> Option<Answer> {
    let slowest =
        at.touches.iter().map(|touch| norm(touch.slip())).filter(|&slip| slip > STILL).fold(f64::INFINITY, f64::min);
    let duration = if slowest.is_finite() { BRIEF * slowest / (1.0 + at.free_rate.amax()) } else { 0.0 };
    let mut q = at.free_rate.clone();
    for (touch, block) in at.touches.iter().zip(&at.contacts) {
        let slip = touch.slip();
        if norm(slip) > STILL {
            (1..block.rows).for_each(|k| q[block.first + k] += slip[k - 1] / duration);
        }
    }
    let force = impulses.solve(model, at, &q)?;
    let rate = &at.delassus * &force + &at.free_rate;
    Some(Answer { force, rate, duration })
}

fn agree(at: &Instant, of_modes: &Balance, answer: &Answer) -> bool {
    let tolerance = if answer.duration > 0.0 { BRIEF } else { AGREEMENT };
    let difference = &of_modes.acceleration - &at.free - &at.response * &answer.force;
    difference.amax() <= tolerance * (1.0 + at.free.amax())
}

/// The impulse that stops a slip for which no force exists: that of a very brief step.   [REF-8]
fn shock(model: &Model, at: &Instant, impulses: &mut Impulses) -> Option<DVector<f64>> {
    let mut q = &at.free_rate * SHOCK_TIME;
    for (touch, block) in at.touches.iter().zip(&at.contacts) {
        let slip = touch.slip();
        (1..block.rows).for_each(|k| q[block.first + k] += slip[k - 1]);
    }
    impulses.solve(model, at, &q)
}
