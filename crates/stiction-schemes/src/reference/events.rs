//! Events that end a substep: signals that are positive as long as its modes hold.

use super::{
    balance::{Balance, Mode, dot, norm},
    instant::Instant,
};

/// Condition of the motion between two events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signal {
    /// Open gaps are not negative.
    Gap,
    /// A closed contact has a normal force that pushes.
    Push(usize),
    /// Friction of a sticking contact is within its cone.
    Cone(usize),
    /// A slip has not passed zero.
    Slip(usize),
    /// Some of the forces with the same accelerations obey the laws.
    Balance,
}

/// Signals with their values.
pub(super) type Signals = Vec<(Signal, f64)>;

/// Bound of rounding for gaps and slips: values above its negative count as not negative, m or m/s.
const SIGN: f64 = 1e-13;

/// Bound of rounding for forces, as a fraction of the largest.
const FORCE_SIGN: f64 = 1e-11;

/// Signals of closed contacts. Those of forces are present only if the forces are unique.
pub(super) fn contact_signals(at: &Instant, modes: &[Mode], balance: &Balance) -> Signals {
    debug_assert_eq!(at.touches.len(), modes.len(), "every closed contact has a mode");
    let mut signals = Signals::new();
    let unit = 1.0 + balance.force.amax();
    for (contact, (touch, mode)) in at.touches.iter().zip(modes).enumerate() {
        let normal = at.normal_of(contact, &balance.force);
        if !balance.redundant {
            signals.push((Signal::Push(contact), normal / unit));
            if *mode == Mode::Stick {
                let friction = norm(at.friction_of(contact, &balance.force));
                signals.push((Signal::Cone(contact), (touch.mu * normal - friction) / unit));
            }
        }
        if let Mode::Slip(start) = mode
            && touch.friction_rows > 0
        {
            signals.push((Signal::Slip(contact), dot(touch.slip(), *start)));
        }
    }
    signals
}

/// True if the condition of a signal does not hold any more.
pub(super) fn is_over((signal, value): &(Signal, f64)) -> bool {
    *value
        < match signal {
            Signal::Gap | Signal::Slip(_) => -SIGN,
            Signal::Push(_) | Signal::Cone(_) => -FORCE_SIGN,
            Signal::Balance => 0.0,
        }
}

/// The smallest value.
pub(super) fn least(signals: &Signals) -> f64 {
    signals.iter().fold(f64::INFINITY, |least, (_, value)| least.min(*value))
}

/// Bracket of the time at which the least signal vanishes: positive at `low`, negative at `high`. Regula falsi by the rule of Illinois,
/// with a bisection every third time.   [REF-9]
pub(super) struct Bracket {
    low: f64,
    high: f64,
    value_low: Option<f64>,
    value_high: f64,
    evaluations: u32,
}

impl Bracket {
    /// Bracket from a start where all conditions hold to an end where one does not.
    pub(super) fn new(length: f64, value: f64) -> Self {
        Self { low: 0.0, high: length, value_low: None, value_high: value, evaluations: 0 }
    }

    pub(super) fn width(&self) -> f64 {
        self.high - self.low
    }

    /// Next time to evaluate.
    pub(super) fn next(&self) -> f64 {
        let middle = 0.5 * (self.low + self.high);
        match self.value_low {
            Some(value) if !self.evaluations.is_multiple_of(3) => {
                let guess = self.low + self.width() * value / (value - self.value_high);
                if guess > self.low && guess < self.high { guess } else { middle }
            }
            _ => middle,
        }
    }

    /// Narrows the bracket by the value at a time.
    pub(super) fn narrow(&mut self, place: f64, value: f64) {
        self.evaluations += 1;
        if value > 0.0 {
            self.low = place;
            self.value_low = Some(value);
            self.value_high *= 0.5;
        } else {
            self.high = place;
            self.value_high = value.min(-f64::MIN_POSITIVE);
            self.value_low = self.value_low.map(|value| 0.5 * value);
        }
    }
}
