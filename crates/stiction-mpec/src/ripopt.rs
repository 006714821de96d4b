//! Interface to ripopt.

use ripopt::{NlpProblem, SolveStatus, SolverOptions};

use crate::{EngineOptions, Nlp, Run, RunStatus};

/// A program with its initial guess.
struct From<'a, 'p> {
    nlp: &'a Nlp<'p>,
    run: Option<&'a Run>,
}

impl NlpProblem for From<'_, '_> {
    fn num_variables(&self) -> usize {
        self.nlp.variables()
    }

    fn num_constraints(&self) -> usize {
        self.nlp.constraints()
    }

    fn bounds(&self, low: &mut [f64], high: &mut [f64]) {
        let (l, h) = self.nlp.bounds();
        low.copy_from_slice(&l);
        high.copy_from_slice(&h);
    }

    fn constraint_bounds(&self, low: &mut [f64], high: &mut [f64]) {
        let (l, h) = self.nlp.constraint_bounds();
        low.copy_from_slice(&l);
        high.copy_from_slice(&h);
    }

    fn initial_point(&self, x: &mut [f64]) {
        x.copy_from_slice(self.run.map_or_else(|| self.nlp.start(), |run| &run.x));
    }

    fn objective(&self, x: &[f64], _: bool, out: &mut f64) -> bool {
        *out = self.nlp.objective(x);
        out.is_finite()
    }

    fn gradient(&self, x: &[f64], _: bool, out: &mut [f64]) -> bool {
        self.nlp.gradient(x, out);
        true
    }

    fn constraints(&self, x: &[f64], _: bool, out: &mut [f64]) -> bool {
        self.nlp.values(x, out).is_ok()
    }

    fn jacobian_structure(&self) -> (Vec<usize>, Vec<usize>) {
        self.nlp.jacobian_pattern().iter().copied().unzip()
    }

    fn jacobian_values(&self, x: &[f64], _: bool, out: &mut [f64]) -> bool {
        self.nlp.jacobian(x, out).is_ok()
    }

    fn hessian_structure(&self) -> (Vec<usize>, Vec<usize>) {
        self.nlp.hessian_pattern().iter().copied().unzip()
    }

    fn hessian_values(&self, x: &[f64], _: bool, factor: f64, multipliers: &[f64], out: &mut [f64]) -> bool {
        self.nlp.hessian(x, factor, multipliers, out).is_ok()
    }
}

/// Solves a program.
pub(crate) fn run(nlp: &Nlp, options: &EngineOptions, from: Option<&Run>) -> Run {
    let settings = SolverOptions {
        tol: options.tolerance,
        constr_viol_tol: options.tolerance.min(1e-8),
        max_iter: options.iterations as usize,
        mu_init: options.barrier,
        print_level: options.print_level,
        bound_relax_factor: 0.0,
        // The run starts from the end of another run, but without its multipliers: with them version 0.8.2 spends hundreds of iterations in its
        // restoration phase (20 steps of case C-19: no result in 90 s, without them 1 s).
        warm_start: false,
        mu_strategy_adaptive: true,
        // 0 means no limit.
        max_wall_time: options.seconds.map_or(0.0, |seconds| seconds.max(f64::MIN_POSITIVE)),
        ..SolverOptions::default()
    };
    let result = ripopt::solve(&From { nlp, run: from }, &settings);
    let status = match result.status {
        SolveStatus::Optimal => RunStatus::Solved,
        SolveStatus::Acceptable => RunStatus::Acceptable,
        SolveStatus::MaxTimeExceeded => RunStatus::OutOfTime,
        other => RunStatus::Failed(other as i32),
    };
    Run {
        x: result.x,
        multipliers: result.constraint_multipliers,
        bounds: (result.bound_multipliers_lower, result.bound_multipliers_upper),
        status,
        iterations: u32::try_from(result.iterations).unwrap_or(u32::MAX),
    }
}
