//! Complementarity between bounds as an equation Φ(z) = 0, with its slopes and its smoothing.   [NCP-3] [NCP-4]

/// C-function φ(a, b), which is zero exactly if 0 ≤ a ⊥ b ≥ 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reformulation {
    /// a + b − √(a² + b²): its square is smooth, which suits line searches.   [NCP-3]
    #[default]
    FischerBurmeister,
    /// min(a, b): exact after one step with the right active set.   [NCP-3]
    MinMap,
}

/// Value of Φ_i with its slopes in z_i (F constant) and in F_i.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Row {
    pub(super) value: f64,
    pub(super) on_z: f64,
    pub(super) on_f: f64,
}

impl Reformulation {
    /// φ_μ(a, b) with its slopes in a and b; one element of the generalised derivative at a kink.   [NCP-3]
    fn pair(self, a: f64, b: f64, smoothing: f64) -> (f64, f64, f64) {
        match self {
            Self::FischerBurmeister => {
                let size = a.abs().max(b.abs()).max(smoothing);
                if size == 0.0 {
                    return (0.0, 1.0 - std::f64::consts::FRAC_1_SQRT_2, 1.0 - std::f64::consts::FRAC_1_SQRT_2);
                }
                let (x, y, s) = (a / size, b / size, smoothing / size);
                let root = (x * x + y * y + 2.0 * s * s).sqrt();
                // For a + b > 0 the difference would cancel; the product form does not.
                let value = if x + y > 0.0 { 2.0 * (x * y - s * s) / (x + y + root) } else { x + y - root };
                (size * value, 1.0 - x / root, 1.0 - y / root)
            }
            Self::MinMap if smoothing == 0.0 => {
                if a < b {
                    (a, 1.0, 0.0)
                } else {
                    (b, 0.0, 1.0)
                }
            }
            Self::MinMap => {
                let (difference, sum) = (a - b, a + b);
                let root = (difference * difference + 4.0 * smoothing * smoothing).sqrt();
                (0.5 * (sum - root), 0.5 * (1.0 - difference / root), 0.5 * (1.0 + difference / root))
            }
        }
    }

    /// Φ_i(z, F) for one row between its bounds.   [NCP-4]
    pub(super) fn row(self, z: f64, f: f64, (lower, upper): (f64, f64), smoothing: f64) -> Row {
        // −φ(u − z, −F), or F itself without an upper bound.
        let above = if upper == f64::INFINITY {
            Row { value: f, on_z: 0.0, on_f: 1.0 }
        } else {
            let (value, on_a, on_b) = self.pair(upper - z, -f, smoothing);
            Row { value: -value, on_z: on_a, on_f: on_b }
        };
        if lower == f64::NEG_INFINITY {
            return above;
        }
        let (value, on_a, on_b) = self.pair(z - lower, above.value, smoothing);
        Row { value, on_z: on_a + on_b * above.on_z, on_f: on_b * above.on_f }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INFINITE: f64 = f64::INFINITY;

    #[test]
    fn rows_vanish_exactly_at_solutions() {
        for kind in [Reformulation::FischerBurmeister, Reformulation::MinMap] {
            for (z, f, bounds) in [
                (0.0, 3.0, (0.0, INFINITE)),
                (2.0, 0.0, (0.0, INFINITE)),
                (0.0, 0.0, (0.0, INFINITE)),
                (5.0, -2.0, (-INFINITE, 5.0)),
                (5.0, -2.0, (1.0, 5.0)),
                (1.0, 2.0, (1.0, 5.0)),
                (3.0, 0.0, (1.0, 5.0)),
                (-7.0, 0.0, (-INFINITE, INFINITE)),
                (1.0, -9.0, (1.0, 1.0)),
            ] {
                assert_eq!(kind.row(z, f, bounds, 0.0).value, 0.0, "{kind:?} {z} {f} {bounds:?}");
            }
            for (z, f, bounds) in [
                (0.0, -1.0, (0.0, INFINITE)),
                (2.0, 1.0, (0.0, INFINITE)),
                (-1.0, 0.0, (0.0, INFINITE)),
                (5.0, 2.0, (1.0, 5.0)),
                (1.0, -2.0, (1.0, 5.0)),
                (3.0, 1.0, (1.0, 5.0)),
                (0.0, 1.0, (-INFINITE, INFINITE)),
            ] {
                assert!(kind.row(z, f, bounds, 0.0).value.abs() > 0.1, "{kind:?} {z} {f} {bounds:?}");
            }
        }
    }

    #[test]
    fn slopes_agree_with_differences() {
        let step = 1e-6;
        for kind in [Reformulation::FischerBurmeister, Reformulation::MinMap] {
            for smoothing in [0.0, 0.3] {
                for (z, f, bounds) in [
                    (0.7, -0.4, (0.0, INFINITE)),
                    (0.7, 2.4, (0.0, INFINITE)),
                    (4.2, -0.3, (-INFINITE, 5.0)),
                    (3.2, 0.9, (1.0, 5.0)),
                    (4.9, -2.0, (1.0, 5.0)),
                ] {
                    let row = |z, f| kind.row(z, f, bounds, smoothing);
                    let on_z = (row(z + step, f).value - row(z - step, f).value) / (2.0 * step);
                    let on_f = (row(z, f + step).value - row(z, f - step).value) / (2.0 * step);
                    assert!((row(z, f).on_z - on_z).abs() < 1e-8, "{kind:?} {z} {f} {bounds:?}");
                    assert!((row(z, f).on_f - on_f).abs() < 1e-8, "{kind:?} {z} {f} {bounds:?}");
                }
            }
        }
    }
}
