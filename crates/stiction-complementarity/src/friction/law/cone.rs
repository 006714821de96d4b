//! Coulomb friction in the plane, in space, and in space with torsion: one part.

use super::local::{ConeBlock, LocalBlock};
use super::parts::{Parts, is_coefficient, norm, projected_normal, shrink};
use super::{Kind, Law, Rules, alart_curnier};

/// Coulomb friction ‖r_T‖ ≤ μ r_N with 2, 3 or 4 components, normal included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cone {
    pub(super) rows: usize,
    pub(super) mu: f64,
}

impl Cone {
    #[inline]
    fn parts(&self) -> Parts {
        Parts::one(self.rows.saturating_sub(1), self.mu)
    }
}

impl Rules for Cone {
    #[inline]
    fn rows(&self) -> usize {
        self.rows
    }

    fn is_legal(&self) -> bool {
        (2..=4).contains(&self.rows) && is_coefficient(self.mu)
    }

    #[inline]
    fn kind(&self) -> Kind {
        Kind::Contact(self.parts())
    }

    #[inline]
    fn scaled(&self, _: f64) -> Law {
        Law::Cone { rows: self.rows, mu: self.mu }
    }

    #[inline]
    fn de_saxce_correction(&self, u: &[f64]) -> f64 {
        match u {
            [_, tangential @ ..] => self.mu * norm(tangential),
            [] => 0.0,
        }
    }

    #[inline]
    fn project(&self, r: &mut [f64]) {
        if let [normal, tangential @ ..] = r {
            let length = norm(tangential);
            let n = projected_normal(*normal, [(length, self.mu)]);
            shrink(tangential, length, self.mu * n);
            *normal = n;
        }
    }

    fn alart_curnier_function(&self, rho: &[f64], r: &[f64], u: &[f64], f: &mut [f64]) {
        alart_curnier::function(&self.parts(), rho, r, u, f);
    }

    fn alart_curnier_jacobian(&self, rho: &[f64], r: &[f64], u: &[f64], a: &mut [f64], b: &mut [f64]) {
        alart_curnier::jacobian(&self.parts(), rho, r, u, a, b);
    }

    #[inline]
    fn alart_curnier_projection(&self, z: &mut [f64]) {
        alart_curnier::project(&self.parts(), z);
    }

    fn local_block(&self, a: &[f64]) -> LocalBlock {
        match self.rows {
            2 => LocalBlock::Plane(ConeBlock::new(self.mu, a)),
            3 => LocalBlock::Space(ConeBlock::new(self.mu, a)),
            _ => LocalBlock::Torsion(ConeBlock::new(self.mu, a)),
        }
    }

    fn describe(&self) -> String {
        format!("a contact with μ {}", self.mu)
    }
}
