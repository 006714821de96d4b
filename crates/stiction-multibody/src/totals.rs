//! Energy and momentum of a system.

use nalgebra::Vector3;

/// Mechanical energy, J. Gravity counts from the origin of the world.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Energy {
    /// ½ νᵀ M ν of all bodies, and ½ A φ̇² of the rotors of joints.
    pub kinetic: f64,
    /// −m g · c of all bodies, ½ k (L − L₀)² of all springs, and ½ k (φ − φ₀)² of those in joints.
    pub potential: f64,
}

impl Energy {
    /// Kinetic plus potential.
    pub fn total(&self) -> f64 {
        self.kinetic + self.potential
    }
}

/// Momentum of all dynamic bodies.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Momentum {
    /// Σ m v, kg m/s.
    pub linear: Vector3<f64>,
    /// Σ c × m v + I ω about the world origin, kg m²/s.
    pub angular: Vector3<f64>,
}
