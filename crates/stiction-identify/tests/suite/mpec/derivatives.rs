//! Derivatives of the program against finite differences, and steps of the simulator as points of it.

use stiction_identify::{
    Target,
    mpec::{
        Member, MpecOptions,
        program::{Engine, Nlp, Program},
        program_of,
    },
};

use super::{particle, thrown};
use crate::sliding_block;

/// Numbers around one without a relation to each other.
fn generic(k: usize) -> f64 {
    let turned = 0.41 + 0.618_033_988_749_894_9 * k as f64;
    0.5 + turned - turned.floor()
}

/// Jacobian and Hessian of the Lagrangian against central differences of values and of gradients, for some variables.
fn check(name: &str, program: &Program) {
    let x: Vec<f64> = program
        .variables
        .iter()
        .enumerate()
        .map(|(k, v)| if v.upper < 1e3 && v.lower >= 0.0 { 0.4 } else { v.start + 0.1 * generic(k) })
        .collect();
    let nlp = Nlp::new(program, 1.0, &x);
    let (n, m) = (nlp.variables(), nlp.constraints());
    let multipliers: Vec<f64> = (0..m).map(generic).collect();
    let dense = |x: &[f64]| {
        let mut slopes = vec![0.0; nlp.jacobian_pattern().len()];
        nlp.jacobian(x, &mut slopes).unwrap();
        slopes
    };
    // Gradient of the Lagrangian without the objective.
    let gradient = |x: &[f64]| {
        let mut sum = vec![0.0; n];
        for ((row, k), slope) in nlp.jacobian_pattern().iter().zip(dense(x)) {
            sum[*k] += multipliers[*row] * slope;
        }
        sum
    };
    let mut second = vec![0.0; nlp.hessian_pattern().len()];
    nlp.hessian(&x, 0.0, &multipliers, &mut second).unwrap();
    let slopes = dense(&x);
    let (mut worst, mut worst_second) = (0.0_f64, 0.0_f64);
    for k in (0..n).step_by(7) {
        let h = 1e-5;
        let moved = |by: f64| {
            let mut moved = x.clone();
            moved[k] += by;
            moved
        };
        let (up, down) = (moved(h), moved(-h));
        let (mut above, mut below) = (vec![0.0; m], vec![0.0; m]);
        nlp.values(&up, &mut above).unwrap();
        nlp.values(&down, &mut below).unwrap();
        let mut column = vec![0.0; m];
        for ((row, j), slope) in nlp.jacobian_pattern().iter().zip(&slopes) {
            if *j == k {
                column[*row] += slope;
            }
        }
        for row in 0..m {
            let difference = (above[row] - below[row]) / (2.0 * h);
            worst = worst.max((difference - column[row]).abs() / (1.0 + column[row].abs()));
        }
        let (above, below) = (gradient(&up), gradient(&down));
        let mut column = vec![0.0; n];
        for ((i, j), value) in nlp.hessian_pattern().iter().zip(&second) {
            if *j == k {
                column[*i] += value;
            } else if *i == k {
                column[*j] += value;
            }
        }
        for row in 0..n {
            let difference = (above[row] - below[row]) / (2.0 * h);
            worst_second = worst_second.max((difference - column[row]).abs() / (1.0 + column[row].abs()));
        }
    }
    println!("{name}: {n} variables, slopes off by {worst:e}, curvatures by {worst_second:e}");
    assert!(worst < 1e-6 && worst_second < 1e-5, "{name}: {worst:e} {worst_second:e}");
}

#[test]
fn derivatives_agree_with_differences() {
    let recording = particle::seen("particle", ([0.0, 3.0], 0.2), 0.05, 1);
    let target = particle::target("mu", [0.0, 3.0]);
    let member = Member { rows: 10..25, ..Member::whole(&target, &recording) };
    check("particle", &program_of(&[member], &MpecOptions::new(Engine::Ipopt)).unwrap());
    let recording = sliding_block::seen(1);
    let cone = sliding_block::target();
    let mut several = cone.parameters.clone();
    several.push(stiction_identify::Parameter::new("mass", "body.block.mass", 1.0, [0.1, 10.0]));
    several.push(stiction_identify::Parameter::new("inertia", "body.block.inertia", 0.0067, [1e-4, 1.0]));
    let cone = Target { parameters: several, ..cone };
    let member = Member { rows: 40..46, ..Member::whole(&cone, &recording) };
    check("block", &program_of(&[member], &MpecOptions::new(Engine::Ipopt)).unwrap());
    let text = thrown::BOUNCES;
    let bounces = thrown::target(text, &[("restitution", 0.4), ("friction", 0.3)]);
    let recording = thrown::seen(text, "particle", 25, (1.0, 1));
    let member = Member { rows: 12..20, ..Member::whole(&bounces, &recording) };
    check("bounces", &program_of(&[member], &MpecOptions::new(Engine::Ipopt)).unwrap());
    let rolls = thrown::target(thrown::ROLLS, &[("friction", 0.3)]);
    let recording = thrown::seen(thrown::ROLLS, "ball", 8, (1.0, 1));
    check("ball", &program_of(&[Member::whole(&rolls, &recording)], &MpecOptions::new(Engine::Ipopt)).unwrap());
}
