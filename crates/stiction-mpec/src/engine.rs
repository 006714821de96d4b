//! Engines for nonlinear programs: external interior-point solvers.

use serde::Serialize;

use crate::{MpecError, Nlp};

/// External solver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub enum Engine {
    /// Ipopt, through its C interface; needs the feature `ipopt` and the library.
    Ipopt,
    /// ripopt, pure Rust; needs the feature `ripopt`.
    Ripopt,
}

/// Options of an engine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EngineOptions {
    /// Scaled error of the optimality conditions at which it ends.
    pub tolerance: f64,
    /// Largest number of iterations.
    pub iterations: u32,
    /// Initial barrier parameter: large from an initial guess, small from a point close to a solution.
    pub barrier: f64,
    /// Amount of output to stdout, from 0 for none to 12.
    pub print_level: u8,
    /// Time limit, s, after which the status is [`RunStatus::OutOfTime`]; `None` for no limit.
    ///
    /// Ipopt counts CPU time, ripopt wall-clock time. They check it every few iterations, so a run may take slightly longer.
    pub seconds: Option<f64>,
}

/// Status at the end of a run of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum RunStatus {
    /// The point satisfies the optimality conditions.
    Solved,
    /// The point satisfies them to a lower accuracy than requested.
    Acceptable,
    /// The time limit was reached.
    OutOfTime,
    /// Any other failure, with the status number of the engine.
    Failed(i32),
}

impl RunStatus {
    /// True if the engine reports a stationary point.
    pub fn is_stationary(self) -> bool {
        matches!(self, Self::Solved | Self::Acceptable)
    }
}

/// Result of a run of an engine.
#[derive(Clone, Debug)]
pub struct Run {
    /// The variables.
    pub x: Vec<f64>,
    /// Multipliers of the constraints: without bounds the gradient of objective + Σ multiplier · constraint vanishes.
    pub multipliers: Vec<f64>,
    /// Multipliers of lower and upper bounds of the variables, not negative.
    pub bounds: (Vec<f64>, Vec<f64>),
    /// Status at the end.
    pub status: RunStatus,
    /// Iterations.
    pub iterations: u32,
}

impl Run {
    /// Start of a run, without iterations.
    fn not_begun(nlp: &Nlp, from: Option<&Self>) -> Self {
        let zeros = || vec![0.0; nlp.variables()];
        from.cloned().unwrap_or_else(|| Self {
            x: nlp.start().to_vec(),
            multipliers: vec![0.0; nlp.constraints()],
            bounds: (zeros(), zeros()),
            status: RunStatus::OutOfTime,
            iterations: 0,
        })
    }
}

impl Engine {
    /// The engines of this build, the fastest first.
    pub fn available() -> &'static [Self] {
        match (cfg!(feature = "ipopt"), cfg!(feature = "ripopt")) {
            (true, true) => &[Self::Ipopt, Self::Ripopt],
            (true, false) => &[Self::Ipopt],
            (false, true) => &[Self::Ripopt],
            (false, false) => &[],
        }
    }

    /// Solves a program, from its initial guess or from the end of another run.
    pub fn run(self, nlp: &Nlp, options: &EngineOptions, from: Option<&Run>) -> Result<Run, MpecError> {
        // Engines check the time only every few iterations, so a small program might be solved despite an expired limit.
        if options.seconds.is_some_and(|seconds| seconds <= 0.0) && Self::available().contains(&self) {
            return Ok(Run { status: RunStatus::OutOfTime, iterations: 0, ..Run::not_begun(nlp, from) });
        }
        match self {
            #[cfg(feature = "ipopt")]
            Self::Ipopt => crate::ipopt::run(nlp, options, from),
            #[cfg(feature = "ripopt")]
            Self::Ripopt => Ok(crate::ripopt::run(nlp, options, from)),
            #[allow(unreachable_patterns, reason = "with all features every engine is there")]
            _ => {
                let _ = (nlp, options, from);
                Err(MpecError::NoEngine { engine: self })
            }
        }
    }
}
