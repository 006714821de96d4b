//! What a block does, how far it can follow a step, and when it must do something else.

use crate::friction::law::{Law, norm};

/// Tangential components at most.
const TANGENTS: usize = 3;

/// A tangential direction; components that a law does not have are zero.
pub(super) type Vec3 = [f64; TANGENTS];

/// An impulse below this fraction of the largest is none; one within this fraction of the boundary of its cone slips.
const NOTHING: f64 = 1e-12;
const ON_BOUNDARY: f64 = 1e-7;

/// A turn of the direction of slip in one step is at most this, rad.
const LARGEST_TURN: f64 = 0.5;

/// What a block is taken to do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Mode {
    /// r = 0, or r at its lower bound.
    Open,
    /// r at its upper bound.
    Upper,
    /// u = 0.
    Stick,
    /// u_N = 0 and r_T = −μ r_N e, with e along u_T.
    Slip(Vec3),
}

/// Impulses and velocities of one block.
pub(super) struct Block<'a> {
    pub(super) law: &'a Law,
    pub(super) r: &'a [f64],
    pub(super) u: &'a [f64],
}

impl Block<'_> {
    /// The mode that belongs to the impulses; `largest` is the largest component of all.
    pub(super) fn mode(&self, largest: f64) -> Mode {
        match (*self.law, self.r) {
            (Law::Cone { mu, .. }, [normal, tangential @ ..]) => {
                let limit = mu * normal;
                if *normal <= NOTHING * largest {
                    Mode::Open
                } else if norm(tangential) < (1.0 - ON_BOUNDARY) * limit {
                    Mode::Stick
                } else {
                    Mode::Slip(self.direction())
                }
            }
            (Law::Boxed { lower, upper }, [r]) => {
                if *r <= lower {
                    Mode::Open
                } else if *r >= upper {
                    Mode::Upper
                } else {
                    Mode::Stick
                }
            }
            _ => Mode::Stick,
        }
    }

    /// e = −r_T/‖r_T‖, or along u_T where there is no impulse.
    fn direction(&self) -> Vec3 {
        let mut e = [0.0; TANGENTS];
        if !turn_to(self.r, &mut e) {
            let tangential = self.u.get(1..).unwrap_or_default();
            let length = norm(tangential);
            if length > 0.0 {
                e.iter_mut().zip(tangential).for_each(|(e, u)| *e = u / length);
            } else {
                e[0] = 1.0;
            }
        }
        e
    }

    /// The share of the step at which the impulse meets a bound of its mode, if it does, and the mode that follows.
    pub(super) fn reach(&self, mode: &Mode, step: &[f64]) -> Option<(f64, Mode)> {
        match (*self.law, mode) {
            (Law::Cone { .. }, Mode::Slip(_)) => self.until_open(step),
            (Law::Cone { mu, .. }, Mode::Stick) => {
                let slips = self.until_slip(mu, step).map(|share| {
                    let along: Vec3 = std::array::from_fn(|k| self.at(k + 1, share, step));
                    let length = norm(&along);
                    (share, if length > 0.0 { Mode::Slip(along.map(|r| -r / length)) } else { Mode::Open })
                });
                match (self.until_open(step), slips) {
                    (Some(open), Some(slip)) if open.0 < slip.0 => Some(open),
                    (open, slip) => slip.or(open),
                }
            }
            (Law::Boxed { lower, upper }, Mode::Stick) => {
                let (r, d) = (self.r.first()?, step.first()?);
                if *d < 0.0 && lower.is_finite() {
                    Some((((lower - r) / d).max(0.0), Mode::Open))
                } else if *d > 0.0 && upper.is_finite() {
                    Some((((upper - r) / d).max(0.0), Mode::Upper))
                } else {
                    None
                }
            }
            _ => None,
        }
    }

    fn at(&self, k: usize, share: f64, step: &[f64]) -> f64 {
        self.r.get(k).copied().unwrap_or(0.0) + share * step.get(k).copied().unwrap_or(0.0)
    }

    fn until_open(&self, step: &[f64]) -> Option<(f64, Mode)> {
        let (r, d) = (self.r.first()?, step.first()?);
        (*d < 0.0).then(|| ((-r / d).max(0.0), Mode::Open))
    }

    /// The least s ≥ 0 with ‖r_T + s d_T‖ = μ (r_N + s d_N), leaving the cone there.
    fn until_slip(&self, mu: f64, step: &[f64]) -> Option<f64> {
        let ([n, t @ ..], [dn, dt @ ..]) = (self.r, step) else { return None };
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        // f(s) = ‖·‖² − μ² (·)² = a s² + 2 b s + c, at most 0 inside.
        let a = dot(dt, dt) - mu * mu * dn * dn;
        let b = dot(t, dt) - mu * mu * n * dn;
        let c = (dot(t, t) - mu * mu * n * n).min(0.0);
        let root = b * b - a * c;
        if root < 0.0 || (a <= 0.0 && b <= 0.0) {
            return None;
        }
        // The root at which f rises through zero, without cancellation. For b ≤ 0 the way leads inward first, and a > 0.
        Some(if b > 0.0 { -c / (b + root.sqrt()) } else { (root.sqrt() - b) / a })
    }

    /// The share of a change of velocity at which the mode stops to fit, if it fits now, and the mode that follows.
    pub(super) fn velocity_reach(&self, mode: &Mode, change: &[f64]) -> Option<(f64, Mode)> {
        let (now, rate, next) = match (*self.law, mode) {
            (Law::Cone { .. }, Mode::Open) => (*self.u.first()?, *change.first()?, Mode::Slip(self.direction())),
            (Law::Cone { mu, .. }, Mode::Slip(e)) if mu > 0.0 => (along(e, self.u), along(e, change), Mode::Stick),
            (Law::Boxed { .. }, Mode::Open) => (*self.u.first()?, *change.first()?, Mode::Stick),
            (Law::Boxed { .. }, Mode::Upper) => (-*self.u.first()?, -*change.first()?, Mode::Stick),
            _ => return None,
        };
        (now >= 0.0 && rate < 0.0).then_some((-now / rate, next))
    }

    /// How much the velocity contradicts the mode, and what has to be driven so that it does not.
    pub(super) fn contradiction(&self, mode: &Mode) -> Option<(f64, Drive)> {
        let normal = *self.u.first()?;
        match (*self.law, mode) {
            (Law::Cone { .. }, Mode::Open) if normal < 0.0 => Some((-normal, Drive::Close(Some(self.direction())))),
            (Law::Cone { mu, .. }, Mode::Slip(e)) if mu > 0.0 => {
                let speed = along(e, self.u);
                (speed < 0.0).then_some((-speed, Drive::Hold(*e)))
            }
            (Law::Boxed { .. }, Mode::Open) if normal < 0.0 => Some((-normal, Drive::Close(None))),
            (Law::Boxed { .. }, Mode::Upper) if normal > 0.0 => Some((normal, Drive::Lower)),
            _ => None,
        }
    }
}

/// e·x_T.
fn along(e: &Vec3, x: &[f64]) -> f64 {
    e.iter().zip(x.get(1..).unwrap_or_default()).map(|(e, x)| e * x).sum()
}

/// What is driven, at unit rate, on the way to another mode.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Drive {
    /// r_N of a contact that closes and slips along e, or r of a bounded row.
    Close(Option<Vec3>),
    /// r of a row that leaves its upper bound.
    Lower,
    /// What friction along −e lacks to its limit, until the contact holds.
    Hold(Vec3),
}

/// A block on its way to another mode.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Driven {
    pub(super) block: usize,
    pub(super) drive: Drive,
}

impl Driven {
    /// Whether the block is on its way from slip to stick.
    pub(super) fn holds(&self) -> bool {
        matches!(self.drive, Drive::Hold(_))
    }

    /// What is missing from u_N or e·u_T to zero, and how fast it comes, per unit of the drive.
    pub(super) fn missing(&self, u: &[f64], change: &[f64]) -> (f64, f64) {
        match (&self.drive, u, change) {
            (Drive::Hold(e), _, _) => (-along(e, u), along(e, change)),
            (Drive::Close(_), [u, ..], [change, ..]) => (-u, *change),
            (Drive::Lower, [u, ..], [change, ..]) => (*u, -change),
            _ => (0.0, 0.0),
        }
    }

    /// The mode at the end.
    pub(super) fn arrived(&self, mode: &Mode) -> Mode {
        match self.drive {
            Drive::Hold(_) => Mode::Stick,
            Drive::Close(_) | Drive::Lower => *mode,
        }
    }
}

/// Moves an impulse along its step; on the boundary of the cone it stays there and turns, unless it is driven off.
pub(super) fn follow(law: &Law, mode: &Mode, driven: bool, length: f64, step: &[f64], r: &mut [f64]) {
    match (law, mode) {
        (_, _) if driven => r.iter_mut().zip(step).for_each(|(r, step)| *r += length * step),
        (_, Mode::Open | Mode::Upper) => {}
        (Law::Cone { mu, .. }, Mode::Slip(e)) => {
            let ([normal, tangential @ ..], [load, turn @ ..]) = (r, step) else { return };
            let limit = mu * *normal;
            let along: f64 = e.iter().zip(turn).map(|(e, t)| e * t).sum();
            let mut direction: Vec3 = [0.0; TANGENTS];
            // r_T/(μ r_N) = −e; its change across e is the turn.
            let across = |k: usize| turn.get(k).copied().unwrap_or(0.0) - along * e[k];
            let size = norm(&[across(0), across(1), across(2)]) * length / limit;
            let damping = if size > LARGEST_TURN { LARGEST_TURN / size } else { 1.0 };
            for (k, direction) in direction.iter_mut().enumerate() {
                let turned = if limit > 0.0 { damping * length * across(k) / limit } else { 0.0 };
                *direction = -e[k] + turned;
            }
            let size = norm(&direction);
            *normal += length * load;
            for (r, direction) in tangential.iter_mut().zip(direction) {
                *r = mu * normal.max(0.0) * direction / size;
            }
        }
        _ => r.iter_mut().zip(step).for_each(|(r, step)| *r += length * step),
    }
}

/// Puts an impulse exactly where its new mode has it.
pub(super) fn stick_recovery(law: &Law, mode: &Mode, r: &mut [f64]) {
    match (*law, mode) {
        (Law::Cone { .. }, Mode::Open) => r.fill(0.0),
        (Law::Boxed { lower, .. }, Mode::Open) => r.fill(lower),
        (Law::Boxed { upper, .. }, Mode::Upper) => r.fill(upper),
        (Law::Cone { mu, .. }, Mode::Slip(e)) => {
            let [normal, tangential @ ..] = r else { return };
            tangential.iter_mut().zip(e).for_each(|(r, e)| *r = -mu * *normal * e);
        }
        _ => {}
    }
}

/// e ← −r_T/‖r_T‖; false, and e unchanged, where there is no impulse.
pub(super) fn turn_to(r: &[f64], e: &mut Vec3) -> bool {
    let tangential = r.get(1..).unwrap_or_default();
    let length = norm(tangential);
    if length > 0.0 {
        e.iter_mut().zip(tangential).for_each(|(e, r)| *e = -r / length);
    }
    length > 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(seed: u64) -> impl FnMut() -> f64 {
        let mut state = seed;
        move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
        }
    }

    fn outside(mu: f64, r: &[f64]) -> f64 {
        norm(&r[1..]) - mu * r[0]
    }

    #[test]
    fn impulses_leave_the_cone_where_a_fine_search_sees_it() {
        let mut random = numbers(1);
        for case in 0..2000 {
            let mu = 0.5 + random();
            let mut r = [random().abs() + 0.01, random(), random()];
            // Inside, and in every third case on the boundary.
            let reach = mu * r[0] / norm(&r[1..]) * if case % 3 == 0 { 1.0 } else { 0.9 * random().abs() };
            (r[1], r[2]) = (r[1] * reach, r[2] * reach);
            let step = [random(), random(), random()];
            let block = Block { law: &Law::Cone { rows: 3, mu }, r: &r, u: &[0.0; 3] };
            let at = |s: f64| -> Vec<f64> { r.iter().zip(&step).map(|(r, d)| r + s * d).collect() };
            match block.reach(&Mode::Stick, &step) {
                Some((share, _)) => {
                    assert!((0..100).all(|k| outside(mu, &at(share * f64::from(k) / 100.0)) < 1e-9), "{r:?} {step:?}");
                    assert!(outside(mu, &at(share * 1.001 + 1e-6)) > 0.0, "{r:?} {step:?} {share}");
                }
                None => assert!((0..1000).all(|k| outside(mu, &at(f64::from(k))) < 1e-6), "{r:?} {step:?}"),
            }
        }
    }

    #[test]
    fn a_slipping_impulse_stays_on_its_cone_and_turns_no_further_than_allowed() {
        let mut random = numbers(2);
        for _ in 0..500 {
            let (mu, angle) = (0.6, 6.0 * random());
            let e = [libm::cos(angle), libm::sin(angle), 0.0];
            let mut r = [1.0, -mu * e[0], -mu * e[1]];
            follow(
                &Law::Cone { rows: 3, mu },
                &Mode::Slip(e),
                false,
                1.0,
                &[0.3 * random(), random(), random()],
                &mut r,
            );
            assert!(outside(mu, &r).abs() < 1e-14);
            let mut turned = [0.0; TANGENTS];
            assert!(turn_to(&r, &mut turned));
            assert!(along(&e, &[0.0, turned[0], turned[1], 0.0]) >= libm::cos(LARGEST_TURN) - 1e-12);
        }
    }
}
