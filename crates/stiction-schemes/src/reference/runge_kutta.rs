//! One step of the pair of Dormand and Prince, of order 5 with an error estimate of order 4 \[Dormand1980\].

use super::motion::Motion;

/// Rate of motion at a time, with the loads to be integrated.
pub(super) struct Sample<T> {
    pub(super) rate: Motion,
    /// Loads on joints and contacts, integrated to impulses with the weights of the step.
    pub(super) loads: Vec<f64>,
    /// Data of this evaluation that the caller keeps.
    pub(super) kept: T,
}

/// Trial step.
pub(super) struct Trial<T> {
    pub(super) motion: Motion,
    /// ∫ loads dt over the step.
    pub(super) impulses: Vec<f64>,
    /// Error in units of the tolerance: a step is accepted up to one.
    pub(super) error: f64,
    /// The evaluation at the end.
    pub(super) end: T,
}

/// Nodes c_i and rows a_ij of the tableau; the last row holds the weights b_i.   [REF-4]
const NODES: [f64; 7] = [0.0, 0.2, 0.3, 0.8, 8.0 / 9.0, 1.0, 1.0];
const STAGES: [&[f64]; 7] = [
    &[],
    &[0.2],
    &[3.0 / 40.0, 9.0 / 40.0],
    &[44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0],
    &[19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0],
    &[9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0],
    &[35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0],
];

/// Weights of the error estimate, b_i − b̂_i.
const ERRORS: [f64; 7] =
    [71.0 / 57600.0, 0.0, -71.0 / 16695.0, 71.0 / 1920.0, -17253.0 / 339_200.0, 22.0 / 525.0, -1.0 / 40.0];

/// Tries a step of length `dt` from `start`; `sample` evaluates the rate.   [REF-4]
pub(super) fn attempt<T, E>(
    start: &Motion,
    time: f64,
    dt: f64,
    tolerance: f64,
    mut sample: impl FnMut(&mut Motion, f64) -> Result<Sample<T>, E>,
) -> Result<Trial<T>, E> {
    let mut samples: Vec<Sample<T>> = Vec::with_capacity(7);
    let mut stage = start.clone();
    for (node, row) in NODES.iter().zip(STAGES) {
        stage = start.plus(row.iter().zip(&samples).map(|(weight, s)| (dt * weight, &s.rate)));
        samples.push(sample(&mut stage, time + node * dt)?);
    }
    let error = start_error(start, &stage, dt, tolerance, &samples);
    let weights = STAGES[6];
    let loads = samples.first().map_or(0, |s| s.loads.len());
    debug_assert!(samples.iter().all(|s| s.loads.len() == loads), "all stages have the same loads");
    let impulse = |k: usize| {
        let weighted = weights.iter().zip(&samples).map(|(w, s)| w * s.loads.get(k).copied().unwrap_or(0.0));
        dt * weighted.sum::<f64>()
    };
    let impulses = (0..loads).map(impulse).collect();
    // The last stage is the end of the step itself.
    let end = samples.swap_remove(6).kept;
    Ok(Trial { motion: stage, impulses, error, end })
}

/// max |error_i| / (tolerance (1 + |y_i|)).
fn start_error<T>(start: &Motion, end: &Motion, dt: f64, tolerance: f64, samples: &[Sample<T>]) -> f64 {
    let zero = Motion { q: vec![0.0; start.q.len()], v: vec![0.0; start.v.len()] };
    let error = zero.plus(ERRORS.iter().zip(samples).map(|(weight, s)| (dt * weight, &s.rate)));
    let errors = error.q.iter().chain(&error.v);
    let sizes = start.q.iter().chain(&start.v).zip(end.q.iter().chain(&end.v));
    errors.zip(sizes).fold(0.0, |most: f64, (error, (a, b))| {
        let scaled = error.abs() / (tolerance * (1.0 + a.abs().max(b.abs())));
        if scaled.is_nan() { f64::INFINITY } else { most.max(scaled) }
    })
}
