//! The woodpecker toy: a system that is not made of rigid bodies, stepped by the θ-method.
//!
//! A sleeve with play slides down a pole, and a bird hangs on it by a spring. The sleeve jams, the bird swings, its beak hits the
//! pole, the sleeve comes free and falls a little, again and again. Three coordinates: height y of the sleeve, its tilt and the
//! angle of the bird, both small. The model is that of \[Leine2003\].

use stiction::schemes::{ConstraintLaw, System, SystemState, ThetaError, ThetaStepper};

/// The toy in SI units.
struct Woodpecker;

/// Sleeve and bird: masses and moments of inertia.
const M_M: f64 = 0.0003;
const M_S: f64 = 0.0045;
const J_M: f64 = 5e-9;
const J_S: f64 = 7e-7;
/// Radii of the pole and of the hole in the sleeve, and half the height of the sleeve.
const R_O: f64 = 0.0025;
const R_M: f64 = 0.0031;
const H_M: f64 = 0.0058;
/// Arms: of the spring, of the bird's centre of mass and of its beak (along and across).
const L_M: f64 = 0.010;
const L_G: f64 = 0.015;
const L_S: f64 = 0.0201;
const H_S: f64 = 0.02;
/// The spring between sleeve and bird, friction, gravity.
const C_PHI: f64 = 0.0056;
const MU: f64 = 0.3;
const G: f64 = 9.81;

impl System for Woodpecker {
    fn size(&self) -> usize {
        3
    }

    fn mass(&self, _q: &[f64], out: &mut [f64]) {
        let (first, second, third) = (M_S + M_M, M_S * L_M, M_S * L_G);
        let (sleeve, bird, both) = (J_M + M_S * L_M * L_M, J_S + M_S * L_G * L_G, M_S * L_M * L_G);
        out.copy_from_slice(&[first, second, third, second, sleeve, both, third, both, bird]);
    }

    fn force(&self, _t: f64, q: &[f64], _v: &[f64], out: &mut [f64]) {
        let torque = C_PHI * (q[2] - q[1]);
        out.copy_from_slice(&[-G * (M_S + M_M), torque - G * M_S * L_M, -torque - G * M_S * L_G]);
    }

    fn stiffness(&self, _t: f64, _q: &[f64], _v: &[f64], out: &mut [f64]) {
        out.copy_from_slice(&[0.0, 0.0, 0.0, 0.0, C_PHI, -C_PHI, 0.0, -C_PHI, C_PHI]);
    }

    fn constraints(&self) -> usize {
        3
    }

    /// The beak bounces a little, the sleeve does not.
    fn law(&self, constraint: usize) -> ConstraintLaw {
        ConstraintLaw::planar(MU, if constraint == 0 { 0.5 } else { 0.0 })
    }

    fn gap(&self, constraint: usize, _t: f64, q: &[f64]) -> f64 {
        match constraint {
            0 => L_M + L_G - L_S - R_O - H_S * q[2],
            1 => R_M - R_O + H_M * q[1],
            _ => R_M - R_O - H_M * q[1],
        }
    }

    fn rows(&self, constraint: usize, _t: f64, _q: &[f64], out: &mut [f64]) {
        out.copy_from_slice(&match constraint {
            0 => [0.0, 0.0, -H_S, 1.0, L_M, L_G - L_S],
            1 => [0.0, H_M, 0.0, 1.0, R_M, 0.0],
            _ => [0.0, -H_M, 0.0, 1.0, R_M, 0.0],
        });
    }
}

fn main() -> Result<(), ThetaError> {
    let mut stepper = ThetaStepper::default();
    let mut state = SystemState::new(vec![0.0, -0.1036, -0.2788], vec![-0.3411, 0.0, -7.4583]);
    let (h, level) = (2e-5, -0.1);
    // Once per cycle the bird swings back through this angle.
    let mut passages = Vec::new();
    while state.time < 0.8 {
        let before = (state.time, state.q[0], state.q[2]);
        let _ = stepper.step(&Woodpecker, &mut state, h)?;
        if before.2 < level && state.q[2] >= level {
            let fraction = (level - before.2) / (state.q[2] - before.2);
            passages.push((before.0 + fraction * h, before.1 + fraction * (state.q[0] - before.1)));
        }
    }
    for pair in passages.windows(2) {
        let (period, drop) = (pair[1].0 - pair[0].0, pair[0].1 - pair[1].1);
        println!("a cycle of {:.2} ms, {:.2} mm down", 1e3 * period, 1e3 * drop);
        assert!((period - 0.146).abs() < 0.001, "the toy pecks about seven times a second");
        assert!((drop - 0.0195).abs() < 0.001);
    }
    assert_eq!(passages.len(), 6);
    Ok(())
}
