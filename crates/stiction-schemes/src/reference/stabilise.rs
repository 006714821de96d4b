//! Stabilisation of joints between events, besides projection: terms in the equations of motion.
//!
//! Errors of closed contacts are always removed by projection: events are signs of gaps and slips, and drift has a sign too.

use nalgebra::DVector;

use super::{balance::Mode, instant::Instant, projection::correction};
use stiction_stepping::Stabilisation;

impl Instant {
    /// Adds −a Φ̇ − b Φ to the accelerations of joints, if Baumgarte's equation is chosen.   [STAB-1]
    pub(super) fn stabilised(mut self, by: Stabilisation) -> Self {
        if let Stabilisation::Baumgarte { damping, stiffness } = by {
            for row in 0..self.joint_rows {
                self.free_rate[row] += damping * self.rate[row] + stiffness * self.value[row];
            }
        }
        self
    }

    /// Rows with a position: joints and normals.
    pub(super) fn position_rows(&self) -> Vec<usize> {
        (0..self.joint_rows).chain(self.contacts.iter().map(|block| block.first)).collect()
    }

    /// Rows at rest: joints, closed normals, sticking tangents.
    pub(super) fn velocity_rows(&self, modes: impl Iterator<Item = Mode>) -> Vec<usize> {
        let mut rows: Vec<_> = (0..self.joint_rows).collect();
        for (block, mode) in self.contacts.iter().zip(modes) {
            let count = if mode == Mode::Stick { block.rows } else { 1 };
            rows.extend(block.first..block.first + count);
        }
        rows
    }

    /// Terms that are added to the rates of positions and velocities: −α F(z) (Φ, Φ̇) by Ascher [STAB-3], the multipliers of the index-2
    /// form [STAB-6], or none.
    pub(super) fn stabilising_rates(&self, modes: &[Mode], by: Stabilisation) -> Option<[DVector<f64>; 2]> {
        match by {
            Stabilisation::Ascher { rate } => {
                let positions = correction(self, &self.position_rows(), &self.value);
                let velocities = correction(self, &self.velocity_rows(modes.iter().copied()), &self.rate);
                Some([positions * rate, velocities * rate])
            }
            Stabilisation::Multiplier => {
                let positions = correction(self, &self.position_rows(), &self.rate);
                let velocities = DVector::zeros(positions.len());
                Some([positions, velocities])
            }
            _ => None,
        }
    }
}
