//! Bounded row: contact without friction, joint limit, motor, dry friction in a joint.

use super::local::LocalBlock;
use super::{Kind, Law, Rules};

/// One row with bounds lower ≤ r ≤ upper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bounded {
    pub(super) lower: f64,
    pub(super) upper: f64,
}

/// Lower bound that a file does not state.
pub(super) fn none_below() -> f64 {
    f64::NEG_INFINITY
}

/// Upper bound that a file does not state.
pub(super) fn none_above() -> f64 {
    f64::INFINITY
}

/// A bound in a file: nothing where it is infinite, which JSON cannot write.
macro_rules! bound_in_file {
    ($name:ident, $none:path) => {
        pub(super) mod $name {
            use serde::{Deserialize, Deserializer, Serialize, Serializer};

            #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
            pub(in super::super) fn serialize<S: Serializer>(bound: &f64, to: S) -> Result<S::Ok, S::Error> {
                Some(*bound).filter(|bound| bound.is_finite()).serialize(to)
            }

            pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
                Ok(Option::deserialize(from)?.unwrap_or_else($none))
            }
        }
    };
}
bound_in_file!(lower, super::none_below);
bound_in_file!(upper, super::none_above);

impl Rules for Bounded {
    #[inline]
    fn rows(&self) -> usize {
        1
    }

    fn is_legal(&self) -> bool {
        self.lower <= self.upper && self.lower < f64::INFINITY && self.upper > f64::NEG_INFINITY
    }

    #[inline]
    fn kind(&self) -> Kind {
        Kind::Bounded { lower: self.lower, upper: self.upper }
    }

    #[inline]
    fn scaled(&self, factor: f64) -> Law {
        let Self { lower, upper } = *self;
        if factor == 1.0 {
            return Law::Bounded { lower, upper };
        }
        Law::Bounded { lower: lower * factor, upper: upper * factor }
    }

    #[inline]
    fn de_saxce_correction(&self, _: &[f64]) -> f64 {
        0.0
    }

    #[inline]
    fn project(&self, r: &mut [f64]) {
        if let [r] = r {
            *r = r.max(self.lower).min(self.upper);
        }
    }

    fn alart_curnier_function(&self, rho: &[f64], r: &[f64], u: &[f64], f: &mut [f64]) {
        let z = r[0] - rho[0] * u[0];
        // Between the bounds r − z is computed as ρ u, without cancellation.
        f[0] = if z < self.lower {
            r[0] - self.lower
        } else if z > self.upper {
            r[0] - self.upper
        } else {
            rho[0] * u[0]
        };
    }

    fn alart_curnier_jacobian(&self, rho: &[f64], r: &[f64], u: &[f64], a: &mut [f64], b: &mut [f64]) {
        let z = r[0] - rho[0] * u[0];
        (a[0], b[0]) = if z < self.lower || z > self.upper { (1.0, 0.0) } else { (0.0, rho[0]) };
    }

    #[inline]
    fn alart_curnier_projection(&self, z: &mut [f64]) {
        self.project(z);
    }

    fn local_block(&self, a: &[f64]) -> LocalBlock {
        LocalBlock::Bounded { a: a.first().copied().unwrap_or(0.0), lower: self.lower, upper: self.upper }
    }

    fn describe(&self) -> String {
        "a row with bounds".to_owned()
    }
}
