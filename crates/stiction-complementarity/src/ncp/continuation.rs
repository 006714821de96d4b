//! Paths from an easier problem to the given one.   [NCP-6] [NCP-7]

use super::NcpFunction;
use super::newton::{Halt, NcpAttempt, NcpNewton, Stage};
use super::reformulation::Reformulation;

/// Newton steps of an attempt on the problem itself.
const DIRECT_STEPS: u32 = 150;

/// Newton steps at one point of a path.
const PATH_STEPS: u32 = 25;

/// The parameter of a path starts at this times the size of the equation, and has vanished at the fraction
/// [`PATH_END`] of that. Dimensionless.
const PATH_START: f64 = 10.0;

/// See [`PATH_START`].
const PATH_END: f64 = 1e-9;

/// A path is given up when the parameter cannot be lowered to this fraction of itself. Dimensionless.
const SHORTEST_STRIDE: f64 = 0.98;

impl NcpNewton {
    /// One attempt from `center`, and a last one with the sharp map from where it came to.
    pub(super) fn attempt<F: NcpFunction>(&mut self, function: &F, attempt: NcpAttempt) -> Halt {
        let (center, target) = (std::mem::take(&mut self.center), self.options.target);
        self.go_to(&center);
        self.center = center;
        let exact = Stage { reformulation: self.options.reformulation, smoothing: 0.0, proximal: 0.0 };
        let followed = match attempt {
            NcpAttempt::Newton => Halt::Reached,
            NcpAttempt::Smoothing => self.follow(function, |parameter| Stage { smoothing: parameter, ..exact }),
            NcpAttempt::Proximal => self.follow(function, |parameter| Stage { proximal: parameter, ..exact }),
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

    /// Lowers the parameter of `stage` to zero in strides as long as Newton follows.
    fn follow<F: NcpFunction>(&mut self, function: &F, stage: impl Fn(f64) -> Stage) -> Halt {
        let first = PATH_START * self.typical_size(function);
        let (mut parameter, mut stride) = (first, 0.2);
        // Near enough to the path for Newton to find the next point, and no nearer than rounding allows.
        let near = |parameter: f64| (1e-4 * parameter.min(1.0)).max(1e-10);
        let mut halt = self.descend(function, stage(parameter), near(parameter), PATH_STEPS);
        while halt == Halt::Reached && parameter > PATH_END * first {
            let mut kept = std::mem::take(&mut self.kept);
            kept.clear();
            kept.extend_from_slice(self.place());
            let next = stride * parameter;
            halt = self.descend(function, stage(next), near(next), PATH_STEPS);
            if halt == Halt::Reached {
                parameter = next;
                stride = (stride * stride.sqrt()).max(0.05);
            } else if self.iterations < self.options.max_iterations && stride < SHORTEST_STRIDE {
                self.go_to(&kept);
                stride = stride.sqrt();
                halt = Halt::Reached;
            }
            self.kept = kept;
        }
        halt
    }

    /// The size of F at the start relative to z, and of its slopes: what the parameters of the paths are compared with.
    fn typical_size<F: NcpFunction>(&mut self, function: &F) -> f64 {
        self.kept.resize(function.size(), 0.0);
        function.value(&self.center, &mut self.kept);
        let f = self.kept.iter().fold(0.0, |size: f64, f| size.max(f.abs()));
        let z = self.center.iter().fold(1.0, |size: f64, z| size.max(z.abs()));
        let size = self.largest_slope(function).max(f / z);
        if size.is_finite() { size.clamp(0.1, 1e6) } else { 1.0 }
    }
}
