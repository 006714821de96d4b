//! Engines for nonlinear programs: interior points that others wrote.

use serde::Serialize;

use crate::{MpecError, Nlp};

/// Which solver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub enum Engine {
    /// Ipopt, through its C interface; needs the feature `ipopt` and the library.
    Ipopt,
    /// ripopt, pure Rust; needs the feature `ripopt`.
    Ripopt,
}

/// How far an engine goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EngineOptions {
    /// Scaled error of the optimality conditions at which it ends.
    pub tolerance: f64,
    /// Iterations at most.
    pub iterations: u32,
    /// The barrier it starts with: large from a first guess, small from a point that is nearly a solution.
    pub barrier: f64,
    /// How much it writes to the standard output, from 0 for nothing to 12.
    pub print_level: u8,
    /// Seconds after which it gives up, [`RunStatus::OutOfTime`]; none for as long as its iterations take. Ipopt counts those of the processor,
    /// ripopt those of the clock; they look every few iterations, so that a run may take a little longer.
    pub seconds: Option<f64>,
}

/// How a run of an engine ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum RunStatus {
    /// At a point that satisfies the conditions.
    Solved,
    /// Near one, but not as near as was asked.
    Acceptable,
    /// Anywhere, because its seconds were over.
    OutOfTime,
    /// Anywhere else; the number is that of the engine.
    Failed(i32),
}

impl RunStatus {
    /// Whether the engine calls where it ended a stationary point.
    pub fn is_stationary(self) -> bool {
        matches!(self, Self::Solved | Self::Acceptable)
    }
}

/// What an engine found.
#[derive(Clone, Debug)]
pub struct Run {
    /// The variables.
    pub x: Vec<f64>,
    /// Multipliers of the constraints: the gradient of objective + Σ multiplier · constraint vanishes but for bounds.
    pub multipliers: Vec<f64>,
    /// Multipliers of lower and upper bounds of the variables, not negative.
    pub bounds: (Vec<f64>, Vec<f64>),
    /// How it ended.
    pub status: RunStatus,
    /// Iterations.
    pub iterations: u32,
}

impl Run {
    /// Where a run would begin.
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

    /// Solves a program, from its first guess or from where another run ended.
    pub fn run(self, nlp: &Nlp, options: &EngineOptions, from: Option<&Run>) -> Result<Run, MpecError> {
        // Engines look at their clocks only now and then: a small program might be solved in no time at all.
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
