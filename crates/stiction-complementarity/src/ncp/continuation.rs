//! Continuation (homotopy) from an easier problem to the given one.   [NCP-6] [NCP-7]

use super::NcpFunction;
use super::newton::{Halt, NcpAttempt, NcpNewton, Stage};
use super::reformulation::Reformulation;
use crate::interrupt;

/// Largest number of Newton steps of an attempt on the problem itself.
const DIRECT_STEPS: u32 = 150;

/// Largest number of Newton steps at one point of a path.
const PATH_STEPS: u32 = 25;

/// Initial parameter of a path, as a multiple of the size of the equation. Dimensionless.
const PATH_START: f64 = 10.0;

/// Fraction of the initial parameter at which a path ends. Dimensionless.
const PATH_END: f64 = 1e-9;

/// Largest factor by which the parameter is lowered; a path that needs a larger one fails. Dimensionless.
const SHORTEST_STRIDE: f64 = 0.98;

impl NcpNewton {
    /// Makes one attempt from `center`; if it does not reach the target, the min map continues from its end.
    pub(super) fn attempt<F: NcpFunction>(&mut self, function: &F, attempt: NcpAttempt) -> Halt {
        let (center, target) = (std::mem::take(&mut self.center), self.options.target);
        self.set_point(&center);
        self.center = center;
        let exact = Stage { reformulation: self.options.reformulation, smoothing: 0.0, proximal: 0.0 };
        let followed = match attempt {
            NcpAttempt::Newton => Halt::Reached,
            NcpAttempt::Smoothing => self.follow_path(function, |parameter| Stage { smoothing: parameter, ..exact }),
            NcpAttempt::Proximal => self.follow_path(function, |parameter| Stage { proximal: parameter, ..exact }),
        };
        if followed != Halt::Reached {
            return followed;
        }
        let halt = self.descend(function, exact, target, DIRECT_STEPS);
        if halt == Halt::Reached || halt == Halt::NotFinite {
            return halt;
        }
        self.descend(function, Stage { reformulation: Reformulation::MinMap, ..exact }, target, PATH_STEPS)
    }

    /// Lowers the parameter of `stage` towards zero, with strides as long as Newton converges.
    fn follow_path<F: NcpFunction>(&mut self, function: &F, stage: impl Fn(f64) -> Stage) -> Halt {
        let first = PATH_START * self.typical_size(function);
        let (mut parameter, mut stride) = (first, 0.2);
        // Close enough to the path for Newton to find the next point, and not closer than rounding allows.
        let near = |parameter: f64| (1e-4 * parameter.min(1.0)).max(1e-10);
        let mut halt = self.descend(function, stage(parameter), near(parameter), PATH_STEPS);
        while halt == Halt::Reached && parameter > PATH_END * first && !interrupt::is_requested() {
            let mut kept = std::mem::take(&mut self.kept);
            kept.clear();
            kept.extend_from_slice(self.point());
            let next = stride * parameter;
            halt = self.descend(function, stage(next), near(next), PATH_STEPS);
            if halt == Halt::Reached {
                parameter = next;
                stride = (stride * stride.sqrt()).max(0.05);
            } else if self.iterations < self.options.max_iterations && stride < SHORTEST_STRIDE {
                self.set_point(&kept);
                stride = stride.sqrt();
                halt = Halt::Reached;
            }
            self.kept = kept;
        }
        halt
    }

    /// Typical size of F and of its slopes at the initial guess, which scales the parameters of the paths.
    fn typical_size<F: NcpFunction>(&mut self, function: &F) -> f64 {
        self.kept.resize(function.size(), 0.0);
        function.value(&self.center, &mut self.kept);
        let f = self.kept.iter().fold(0.0, |size: f64, f| size.max(f.abs()));
        let z = self.center.iter().fold(1.0, |size: f64, z| size.max(z.abs()));
        let size = self.largest_slope(function).max(f / z);
        if size.is_finite() { size.clamp(0.1, 1e6) } else { 1.0 }
    }
}
