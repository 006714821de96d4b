//! Equality, of a joint, a coupling or an implicit force: u = 0 with free impulses.

use super::local::{EqualityBlock, LocalBlock};
use super::{Kind, Law, Rules};

/// Bilateral constraint of `rows` rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Equality {
    pub(super) rows: usize,
}

impl Rules for Equality {
    #[inline]
    fn rows(&self) -> usize {
        self.rows
    }

    fn is_legal(&self) -> bool {
        self.rows > 0
    }

    #[inline]
    fn kind(&self) -> Kind {
        Kind::Equality
    }

    fn scaled(&self, _: f64) -> Law {
        Law::Equality { rows: self.rows }
    }

    #[inline]
    fn de_saxce_correction(&self, _: &[f64]) -> f64 {
        0.0
    }

    #[inline]
    fn project(&self, _: &mut [f64]) {}

    #[inline]
    fn violation_squared(&self, _: &[f64], u: &[f64]) -> f64 {
        u.iter().map(|u| u * u).sum()
    }

    fn alart_curnier_function(&self, rho: &[f64], _: &[f64], u: &[f64], f: &mut [f64]) {
        f.iter_mut().zip(rho.iter().zip(u)).for_each(|(f, (rho, u))| *f = rho * u);
    }

    fn alart_curnier_jacobian(&self, rho: &[f64], r: &[f64], _: &[f64], _: &mut [f64], b: &mut [f64]) {
        let n = r.len();
        rho.iter().enumerate().for_each(|(k, rho)| b[k * (n + 1)] = *rho);
    }

    #[inline]
    fn alart_curnier_projection(&self, _: &mut [f64]) {}

    fn local_block(&self, a: &[f64]) -> LocalBlock {
        if self.rows == 1 {
            // A single equation needs neither factorisation nor allocation.
            let a = a.first().copied().unwrap_or(0.0);
            return LocalBlock::Bounded { a, lower: f64::NEG_INFINITY, upper: f64::INFINITY };
        }
        LocalBlock::Equality(EqualityBlock::new(self.rows, a))
    }

    fn describe(&self) -> String {
        "an equality (of a joint, a coupling or an implicit force)".to_owned()
    }
}
