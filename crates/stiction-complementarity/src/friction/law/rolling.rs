//! Coulomb and rolling friction: two parts with limits of their own.   [CONE-25]

use super::local::{LocalBlock, RollingBlock};
use super::parts::{Parts, is_coefficient, norm, projected_normal, shrink};
use super::{Kind, Law, Rules, alart_curnier};

/// Coulomb and rolling friction ‖r_T‖ ≤ μ r_N and ‖r_M‖ ≤ μ_r r_N with 3, 4, 5 or 6 components, normal included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rolling {
    pub(super) rows: usize,
    pub(super) mu: f64,
    pub(super) mu_r: f64,
}

/// Rows of the law in space, which files need not state.
pub(super) fn rows_in_space() -> usize {
    5
}

/// True for the number of rows that files need not state.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
pub(super) fn is_in_space(rows: &usize) -> bool {
    *rows == rows_in_space()
}

impl Rolling {
    /// Number of components T: 1 in the plane, 2 in space, 3 with torsion.
    #[inline]
    fn sliding(&self) -> usize {
        self.rows / 2
    }

    #[inline]
    fn parts(&self) -> Parts {
        let sliding = self.sliding();
        Parts::two((sliding, self.mu), (self.rows.saturating_sub(1 + sliding), self.mu_r))
    }
}

impl Rules for Rolling {
    #[inline]
    fn rows(&self) -> usize {
        self.rows
    }

    fn is_legal(&self) -> bool {
        (3..=6).contains(&self.rows) && is_coefficient(self.mu) && is_coefficient(self.mu_r)
    }

    #[inline]
    fn kind(&self) -> Kind {
        Kind::Contact(self.parts())
    }

    #[inline]
    fn scaled(&self, _: f64) -> Law {
        Law::Rolling { rows: self.rows, mu: self.mu, mu_r: self.mu_r }
    }

    #[inline]
    fn de_saxce_correction(&self, u: &[f64]) -> f64 {
        let Some((slip, roll)) = u.get(1..).and_then(|u| u.split_at_checked(self.sliding())) else { return 0.0 };
        self.mu * norm(slip) + self.mu_r * norm(roll)
    }

    #[inline]
    fn project(&self, r: &mut [f64]) {
        let Some((normal, friction)) = r.split_first_mut() else { return };
        let Some((slide, roll)) = friction.split_at_mut_checked(self.sliding()) else { return };
        let (slides, rolls) = (norm(slide), norm(roll));
        let n = projected_normal(*normal, [(slides, self.mu), (rolls, self.mu_r)]);
        shrink(slide, slides, self.mu * n);
        shrink(roll, rolls, self.mu_r * n);
        *normal = n;
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
        LocalBlock::Rolling(Box::new(RollingBlock::new(self.rows, self.mu, self.mu_r, a)))
    }

    fn describe(&self) -> String {
        format!("a contact with μ {} and rolling friction {}", self.mu, self.mu_r)
    }
}
