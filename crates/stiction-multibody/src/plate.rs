//! A vibrating plate: six sinusoids of acceleration, at one frequency.
//!
//! Accelerations A sin(φ + C) with φ = 2π f t are integrated twice with constants that make the means vanish. Angular
//! velocity about several axes has no orientation in closed form. One period of [KIN-5] is integrated by the fourth-order
//! Runge-Kutta method and stored as a table; later periods follow from it exactly.

use std::f64::consts::TAU;

use nalgebra::{Quaternion, UnitQuaternion, Vector3};

use crate::{Motion, MotionSample, Twist, rotation};

/// Acceleration of one degree of freedom, A sin(2π f t + C).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sinusoid {
    /// A, in m/s² or rad/s².
    pub amplitude: f64,
    /// C, in rad.
    pub phase: f64,
}

impl Sinusoid {
    /// A sin(2π f t + C).
    pub fn new(amplitude: f64, phase: f64) -> Self {
        Self { amplitude, phase }
    }
}

/// Steps of the Runge-Kutta method in one period.
const STEPS: u32 = 1024;

/// Largest amplitude of rotations about several axes, rad. The angles of [KIN-8] that centre them are singular at a right angle.
const LARGEST_TILT: f64 = 1.0;

/// A kinematic plate that vibrates about a mean position, PLT-1 to PLT-4.
#[derive(Clone, Debug)]
pub struct SinusoidalPlate {
    /// Frequency, Hz.
    frequency: f64,
    /// Accelerations along and about the axes, divided by (2π f)²: m and rad.
    along: Oscillation,
    about: Oscillation,
    turning: Turning,
    /// Mean position, and the orientation at rest.
    place: Vector3<f64>,
    base: UnitQuaternion<f64>,
}

impl SinusoidalPlate {
    /// A plate whose accelerations along and about the world axes are `along` (m/s²) and `about` (rad/s²), at `frequency` Hz.
    ///
    /// `None` unless the frequency is positive and all numbers are finite; rotations about more than one axis must stay below
    /// 1 rad each.
    pub fn new(frequency: f64, along: [Sinusoid; 3], about: [Sinusoid; 3]) -> Option<Self> {
        let square = (TAU * frequency) * (TAU * frequency);
        if !(frequency > 0.0 && square.is_normal()) {
            return None;
        }
        let [along, about] = [Oscillation::new(along, square)?, Oscillation::new(about, square)?];
        let turning = Turning::new(&about)?;
        let (place, base) = (Vector3::zeros(), UnitQuaternion::identity());
        Some(Self { frequency, along, about, turning, place, base })
    }

    /// Sets the mean position and the orientation at rest.
    #[must_use]
    pub fn about(mut self, place: Vector3<f64>, base: UnitQuaternion<f64>) -> Self {
        (self.place, self.base) = (place, base);
        self
    }

    /// Rotation vector of the plate over one period, world axes, rad.
    ///
    /// Angular velocities about several axes with zero mean do not restore the orientation. If the normal of a plate moves
    /// around a cone of half-angle a, the plate rotates about the normal by π a² per period.
    pub fn turn_per_period(&self) -> Vector3<f64> {
        match &self.turning {
            Turning::OneAxis => Vector3::zeros(),
            Turning::SeveralAxes { per_period, .. } => *per_period,
        }
    }
}

impl Motion for SinusoidalPlate {
    fn at(&self, t: f64) -> MotionSample {
        let turns = self.frequency * t;
        let periods = libm::floor(turns);
        let phase = Phase::new(TAU * (turns - periods));
        let speed = TAU * self.frequency;
        MotionSample {
            position: self.place - self.along.sine(&phase),
            orientation: self.turning.at(&self.about, periods, &phase) * self.base,
            angle: 0.0,
            twist: Twist { linear: self.along.cosine(&phase) * -speed, angular: self.about.cosine(&phase) * -speed },
        }
    }
}

/// The phase φ ∈ [0, 2π) of the period, with its sine and cosine.
struct Phase {
    angle: f64,
    sin: f64,
    cos: f64,
}

impl Phase {
    fn new(angle: f64) -> Self {
        let (sin, cos) = libm::sincos(angle);
        Self { angle, sin, cos }
    }
}

/// a sin(φ + C) for three axes, as (a cos C) sin φ + (a sin C) cos φ.
#[derive(Clone, Debug)]
struct Oscillation {
    of_sin: Vector3<f64>,
    of_cos: Vector3<f64>,
}

impl Oscillation {
    fn new(sinusoids: [Sinusoid; 3], divisor: f64) -> Option<Self> {
        let of_sin = sinusoids.map(|s| s.amplitude * libm::cos(s.phase) / divisor);
        let of_cos = sinusoids.map(|s| s.amplitude * libm::sin(s.phase) / divisor);
        let finite = of_sin.iter().chain(&of_cos).all(|x| x.is_finite());
        finite.then(|| Self { of_sin: of_sin.into(), of_cos: of_cos.into() })
    }

    fn sine(&self, phase: &Phase) -> Vector3<f64> {
        self.of_sin * phase.sin + self.of_cos * phase.cos
    }

    fn cosine(&self, phase: &Phase) -> Vector3<f64> {
        self.of_sin * phase.cos - self.of_cos * phase.sin
    }

    fn amplitudes(&self) -> Vector3<f64> {
        self.of_sin.zip_map(&self.of_cos, libm::hypot)
    }
}

/// The orientation as a function of time.
#[derive(Clone, Debug)]
enum Turning {
    /// Closed form: the angle −A sin(φ + C)/(2π f)² about the axis.   [KIN-10]
    OneAxis,
    /// e(φ) = Φ(φ) P^k e₀ in period k.   [KIN-11]
    SeveralAxes {
        /// Φ at the phases 2π j/STEPS, from the identity.
        table: Vec<Quaternion<f64>>,
        /// Rotation vector of P = Φ(2π).
        per_period: Vector3<f64>,
        /// e₀, which makes the angles symmetric about zero.
        start: UnitQuaternion<f64>,
    },
}

impl Turning {
    fn new(about: &Oscillation) -> Option<Self> {
        let amplitudes = about.amplitudes();
        if amplitudes.iter().filter(|&&a| a > 0.0).count() <= 1 {
            return Some(Self::OneAxis);
        }
        if amplitudes.max() > LARGEST_TILT {
            return None;
        }
        let step = TAU / f64::from(STEPS);
        let mut table = Vec::with_capacity(STEPS as usize + 1);
        let mut e = Quaternion::identity();
        for k in 0..STEPS {
            table.push(e);
            e = runge_kutta(about, &e, step * f64::from(k), step);
        }
        table.push(e);
        let per_period = rotation::to_rotation_vector(&UnitQuaternion::new_unchecked(e));
        let start = symmetric_start(&table);
        Some(Self::SeveralAxes { table, per_period, start })
    }

    fn at(&self, about: &Oscillation, periods: f64, phase: &Phase) -> UnitQuaternion<f64> {
        match self {
            Self::OneAxis => rotation::from_rotation_vector(&-about.sine(phase)),
            Self::SeveralAxes { table, per_period, start } => {
                let steps = phase.angle / TAU * f64::from(STEPS);
                let node = libm::floor(steps).clamp(0.0, f64::from(STEPS - 1));
                let from = node * (TAU / f64::from(STEPS));
                debug_assert_eq!(table.len(), STEPS as usize + 1, "the table covers one period");
                #[allow(clippy::cast_sign_loss, reason = "clamped to the table")]
                let before = table.get(node as usize).copied().unwrap_or_else(Quaternion::identity);
                let within = runge_kutta(about, &before, from, phase.angle - from);
                let earlier = rotation::from_rotation_vector(&(per_period * periods));
                UnitQuaternion::new_unchecked(within) * earlier * start
            }
        }
    }
}

/// One step of the classical Runge-Kutta method for de/dφ = ½ (0, ω/(2π f)) ⊗ e, normalised.   [KIN-11]
fn runge_kutta(about: &Oscillation, e: &Quaternion<f64>, phase: f64, step: f64) -> Quaternion<f64> {
    // [KIN-5] in the phase: ω/(2π f) = −a cos(φ + C).
    let rate = |omega: &Vector3<f64>, e: Quaternion<f64>| Quaternion::from_imag(omega * 0.5) * e;
    let [start, middle, end] = [0.0, 0.5, 1.0].map(|fraction| -about.cosine(&Phase::new(phase + fraction * step)));
    let k1 = rate(&start, *e);
    let k2 = rate(&middle, e + k1 * (0.5 * step));
    let k3 = rate(&middle, e + k2 * (0.5 * step));
    let k4 = rate(&end, e + k3 * step);
    (e + (k1 + (k2 + k3) * 2.0 + k4) * (step / 6.0)).normalize()
}

/// Initial orientation for which the three angles of [KIN-8] oscillate symmetrically: the rotation by −(max + min)/2 of each,
/// applied to the identity that the table starts from (a product of quaternions, not a sum).
fn symmetric_start(table: &[Quaternion<f64>]) -> UnitQuaternion<f64> {
    let mut range = [(f64::INFINITY, f64::NEG_INFINITY); 3];
    for e in table {
        let angles = rotation::to_body_123(&UnitQuaternion::new_unchecked(*e)).angles;
        for ((low, high), angle) in range.iter_mut().zip(angles) {
            (*low, *high) = (low.min(angle), high.max(angle));
        }
    }
    rotation::from_body_123(range.map(|(low, high)| -0.5 * (low + high)))
}
