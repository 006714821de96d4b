//! Contact modes, ratio tests and driving variables of the single-pivot method.

use crate::friction::law::{Kind, Law, norm};

/// Largest number of tangential components.
const TANGENTS: usize = 3;

/// Tangential direction; components that a law does not have are zero.
pub(super) type Vec3 = [f64; TANGENTS];

/// Fraction of the largest impulse up to which a normal impulse counts as zero.
const ZERO_IMPULSE: f64 = 1e-12;

/// Relative distance from the boundary of the friction cone within which an impulse counts as slipping.
const ON_BOUNDARY: f64 = 1e-7;

/// Tangent of the largest rotation of the slip direction in one step.
const MAX_ROTATION: f64 = 0.5;

/// Contact mode of a block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Mode {
    /// Impulse held at its lower bound: zero at an open contact; at a bounded row the lower bound, which need not be zero.
    Open,
    /// r at its upper bound.
    Upper,
    /// u = 0: a contact that sticks, an equality, or a bounded row between its bounds (called free in the glossary).
    Stick,
    /// u_N = 0 and r_T = −μ r_N e, with e along u_T.
    Slip(Vec3),
}

/// Law, impulses and velocities of one block.
pub(super) struct Block<'a> {
    pub(super) law: &'a Law,
    pub(super) r: &'a [f64],
    pub(super) u: &'a [f64],
}

impl Block<'_> {
    /// Mode of the impulses; `largest` is the largest absolute impulse of all blocks.
    pub(super) fn mode(&self, largest: f64) -> Mode {
        match (self.law.kind(), self.r) {
            (Kind::Contact(parts), [normal, tangential @ ..]) => {
                let limit = parts.mu() * normal;
                if *normal <= ZERO_IMPULSE * largest {
                    Mode::Open
                } else if norm(tangential) < (1.0 - ON_BOUNDARY) * limit {
                    Mode::Stick
                } else {
                    Mode::Slip(self.direction())
                }
            }
            (Kind::Bounded { lower, upper }, [r]) => {
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

    /// Slip direction e = −r_T/‖r_T‖, or along u_T if there is no friction impulse.
    fn direction(&self) -> Vec3 {
        let mut e = [0.0; TANGENTS];
        if !set_slip_direction(self.r, &mut e) {
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

    /// Ratio test of the impulse: step length at which it reaches a bound of its mode, and the next mode.
    pub(super) fn impulse_ratio(&self, mode: &Mode, step: &[f64]) -> Option<(f64, Mode)> {
        match (self.law.kind(), mode) {
            (Kind::Contact(_), Mode::Slip(_)) => self.ratio_to_open(step),
            (Kind::Contact(parts), Mode::Stick) => {
                let slips = self.ratio_to_slip(parts.mu(), step).map(|ratio| {
                    let friction: Vec3 = std::array::from_fn(|k| self.at(k + 1, ratio, step));
                    let length = norm(&friction);
                    (ratio, if length > 0.0 { Mode::Slip(friction.map(|r| -r / length)) } else { Mode::Open })
                });
                match (self.ratio_to_open(step), slips) {
                    (Some(open), Some(slip)) if open.0 < slip.0 => Some(open),
                    (open, slip) => slip.or(open),
                }
            }
            (Kind::Bounded { lower, upper }, Mode::Stick) => {
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

    /// Component k of r + ratio · step; zero if the law has fewer components.
    fn at(&self, k: usize, ratio: f64, step: &[f64]) -> f64 {
        self.r.get(k).copied().unwrap_or(0.0) + ratio * step.get(k).copied().unwrap_or(0.0)
    }

    /// Step length at which the normal impulse becomes zero.
    fn ratio_to_open(&self, step: &[f64]) -> Option<(f64, Mode)> {
        let (r, d) = (self.r.first()?, step.first()?);
        (*d < 0.0).then(|| ((-r / d).max(0.0), Mode::Open))
    }

    /// Least s ≥ 0 with ‖r_T + s d_T‖ = μ (r_N + s d_N) at which the impulse leaves the cone.
    fn ratio_to_slip(&self, mu: f64, step: &[f64]) -> Option<f64> {
        let ([n, t @ ..], [dn, dt @ ..]) = (self.r, step) else { return None };
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        // f(s) = ‖·‖² − μ² (·)² = a s² + 2 b s + c, at most 0 inside.
        let a = dot(dt, dt) - mu * mu * dn * dn;
        let b = dot(t, dt) - mu * mu * n * dn;
        let c = (dot(t, t) - mu * mu * n * n).min(0.0);
        let discriminant = b * b - a * c;
        if discriminant < 0.0 || (a <= 0.0 && b <= 0.0) {
            return None;
        }
        // The root at which f increases through zero, without cancellation. For b ≤ 0 the step first leads inward, and a > 0.
        Some(if b > 0.0 { -c / (b + discriminant.sqrt()) } else { (discriminant.sqrt() - b) / a })
    }

    /// Ratio test of the velocity: fraction of `change` at which the mode becomes violated, if it is not violated yet, and the next mode.
    pub(super) fn velocity_ratio(&self, mode: &Mode, change: &[f64]) -> Option<(f64, Mode)> {
        let (now, rate, next) = match (self.law.kind(), mode) {
            (Kind::Contact(_), Mode::Open) => (*self.u.first()?, *change.first()?, Mode::Slip(self.direction())),
            (Kind::Contact(parts), Mode::Slip(e)) if parts.mu() > 0.0 => {
                (along(e, self.u), along(e, change), Mode::Stick)
            }
            (Kind::Bounded { .. }, Mode::Open) => (*self.u.first()?, *change.first()?, Mode::Stick),
            (Kind::Bounded { .. }, Mode::Upper) => (-*self.u.first()?, -*change.first()?, Mode::Stick),
            _ => return None,
        };
        (now >= 0.0 && rate < 0.0).then_some((-now / rate, next))
    }

    /// Size of the velocity that violates the mode, and the driving variable that removes it.
    pub(super) fn mode_violation(&self, mode: &Mode) -> Option<(f64, Driving)> {
        let normal = *self.u.first()?;
        match (self.law.kind(), mode) {
            (Kind::Contact(_), Mode::Open) if normal < 0.0 => {
                Some((-normal, Driving::LowerBound(Some(self.direction()))))
            }
            (Kind::Contact(parts), Mode::Slip(e)) if parts.mu() > 0.0 => {
                let speed = along(e, self.u);
                (speed < 0.0).then_some((-speed, Driving::Slip(*e)))
            }
            (Kind::Bounded { .. }, Mode::Open) if normal < 0.0 => Some((-normal, Driving::LowerBound(None))),
            (Kind::Bounded { .. }, Mode::Upper) if normal > 0.0 => Some((normal, Driving::UpperBound)),
            _ => None,
        }
    }
}

/// Component e·x_T of the tangential part of x along e.
fn along(e: &Vec3, x: &[f64]) -> f64 {
    e.iter().zip(x.get(1..).unwrap_or_default()).map(|(e, x)| e * x).sum()
}

/// Driving variable of a pivot, named by the bound or mode it leaves; it increases at unit rate.   [SET-5]
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Driving {
    /// Normal impulse of a contact that closes and slips along e, or impulse of a row that leaves its lower bound.
    LowerBound(Option<Vec3>),
    /// Impulse of a row that leaves its upper bound, with the opposite sign.
    UpperBound,
    /// Distance of the friction along −e from its limit, for a contact that changes from slip to stick.
    Slip(Vec3),
}

/// Block that changes its mode by a pivot, with its driving variable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct DrivingBlock {
    pub(super) block: usize,
    pub(super) variable: Driving,
}

impl DrivingBlock {
    /// True if the block changes from slip to stick.
    pub(super) fn leaves_slip(&self) -> bool {
        matches!(self.variable, Driving::Slip(_))
    }

    /// Violating velocity, −u_N or −e·u_T (u_N at an upper bound), and its rate of decrease per unit of the driving variable.
    pub(super) fn violating_velocity(&self, u: &[f64], change: &[f64]) -> (f64, f64) {
        match (&self.variable, u, change) {
            (Driving::Slip(e), _, _) => (-along(e, u), along(e, change)),
            (Driving::LowerBound(_), [u, ..], [change, ..]) => (-u, *change),
            (Driving::UpperBound, [u, ..], [change, ..]) => (*u, -change),
            _ => {
                debug_assert!(false, "a driving block has rows");
                (0.0, 0.0)
            }
        }
    }

    /// Mode after the pivot.
    pub(super) fn final_mode(&self, mode: &Mode) -> Mode {
        match self.variable {
            Driving::Slip(_) => Mode::Stick,
            Driving::LowerBound(_) | Driving::UpperBound => *mode,
        }
    }
}

/// Moves an impulse along its step. A slipping impulse stays on the boundary of its cone and rotates, unless it leaves slip.
pub(super) fn advance(law: &Law, mode: &Mode, leaves_slip: bool, length: f64, step: &[f64], r: &mut [f64]) {
    match (law.kind(), mode) {
        (_, _) if leaves_slip => r.iter_mut().zip(step).for_each(|(r, step)| *r += length * step),
        (_, Mode::Open | Mode::Upper) => {}
        (Kind::Contact(parts), Mode::Slip(e)) => {
            let mu = parts.mu();
            let ([normal, tangential @ ..], [dn, dt @ ..]) = (r, step) else {
                debug_assert!(false, "a contact has a normal component");
                return;
            };
            let limit = mu * *normal;
            let along: f64 = e.iter().zip(dt).map(|(e, t)| e * t).sum();
            let mut direction: Vec3 = [0.0; TANGENTS];
            // r_T/(μ r_N) = −e; its change orthogonal to e is the rotation.
            let across = |k: usize| dt.get(k).copied().unwrap_or(0.0) - along * e[k];
            let size = norm(&[across(0), across(1), across(2)]) * length / limit;
            let damping = if size > MAX_ROTATION { MAX_ROTATION / size } else { 1.0 };
            for (k, direction) in direction.iter_mut().enumerate() {
                let rotation = if limit > 0.0 { damping * length * across(k) / limit } else { 0.0 };
                *direction = -e[k] + rotation;
            }
            let size = norm(&direction);
            *normal += length * dn;
            for (r, direction) in tangential.iter_mut().zip(direction) {
                *r = mu * normal.max(0.0) * direction / size;
            }
        }
        _ => r.iter_mut().zip(step).for_each(|(r, step)| *r += length * step),
    }
}

/// Projects an impulse onto its mode: zero, at its bound, or on the boundary of the cone.
pub(super) fn project(law: &Law, mode: &Mode, r: &mut [f64]) {
    match (law.kind(), mode) {
        (Kind::Contact(_), Mode::Open) => r.fill(0.0),
        (Kind::Bounded { lower, .. }, Mode::Open) => r.fill(lower),
        (Kind::Bounded { upper, .. }, Mode::Upper) => r.fill(upper),
        (Kind::Contact(parts), Mode::Slip(e)) => {
            let mu = parts.mu();
            let [normal, tangential @ ..] = r else {
                debug_assert!(false, "a contact has a normal component");
                return;
            };
            tangential.iter_mut().zip(e).for_each(|(r, e)| *r = -mu * *normal * e);
        }
        _ => {}
    }
}

/// e ← −r_T/‖r_T‖. Returns false and leaves e unchanged if there is no friction impulse.
pub(super) fn set_slip_direction(r: &[f64], e: &mut Vec3) -> bool {
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
            let factor = mu * r[0] / norm(&r[1..]) * if case % 3 == 0 { 1.0 } else { 0.9 * random().abs() };
            (r[1], r[2]) = (r[1] * factor, r[2] * factor);
            let step = [random(), random(), random()];
            let block = Block { law: &Law::Cone { rows: 3, mu }, r: &r, u: &[0.0; 3] };
            let at = |s: f64| -> Vec<f64> { r.iter().zip(&step).map(|(r, d)| r + s * d).collect() };
            match block.impulse_ratio(&Mode::Stick, &step) {
                Some((ratio, _)) => {
                    assert!((0..100).all(|k| outside(mu, &at(ratio * f64::from(k) / 100.0)) < 1e-9), "{r:?} {step:?}");
                    assert!(outside(mu, &at(ratio * 1.001 + 1e-6)) > 0.0, "{r:?} {step:?} {ratio}");
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
            advance(
                &Law::Cone { rows: 3, mu },
                &Mode::Slip(e),
                false,
                1.0,
                &[0.3 * random(), random(), random()],
                &mut r,
            );
            assert!(outside(mu, &r).abs() < 1e-14);
            let mut direction = [0.0; TANGENTS];
            assert!(set_slip_direction(&r, &mut direction));
            assert!(along(&e, &[0.0, direction[0], direction[1], 0.0]) >= libm::cos(MAX_ROTATION) - 1e-12);
        }
    }
}
