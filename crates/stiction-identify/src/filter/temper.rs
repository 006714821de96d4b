//! Weights, and tempering of the likelihood of a row.   [FILT-3] [FILT-6]

/// Effective number of particles: 1/Σw².
pub(super) fn effective(weights: &[f64]) -> f64 {
    1.0 / weights.iter().map(|weight| weight * weight).sum::<f64>()
}

/// w ∝ w exp(−fraction · Σ ρ(r)). Particles with an infinite loss have failed and get zero weight for any fraction. None if all have
/// failed.   [FILT-3]
pub(super) fn weighed(weights: &[f64], losses: &[f64], fraction: f64) -> Option<Vec<f64>> {
    let living = losses.iter().zip(weights).filter(|(_, weight)| **weight > 0.0);
    let least = living.map(|(loss, _)| *loss).fold(f64::INFINITY, f64::min);
    if !least.is_finite() {
        return None;
    }
    let raw = weights
        .iter()
        .zip(losses)
        .map(|(weight, loss)| if loss.is_finite() { weight * libm::exp(fraction * (least - loss)) } else { 0.0 });
    let raw: Vec<f64> = raw.collect();
    let total: f64 = raw.iter().sum();
    (total > 0.0).then(|| raw.iter().map(|weight| weight / total).collect())
}

/// Largest fraction of the losses, at most `left`, with which `enough` particles remain in effect; 0 if there is none.   [FILT-6]
pub(super) fn largest_fraction(weights: &[f64], losses: &[f64], left: f64, enough: f64) -> f64 {
    let fits = |fraction: f64| weighed(weights, losses, fraction).is_some_and(|weights| effective(&weights) >= enough);
    if fits(left) {
        return left;
    }
    // The effective number decreases with the fraction as long as weights are equal, and nearly so otherwise.
    let (mut low, mut high) = (0.0, left);
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        if fits(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_particles_have_no_weight_with_any_share() {
        let losses = [1.0, f64::INFINITY, 3.0];
        for fraction in [0.0, 0.5, 1.0] {
            let weights = weighed(&[0.25, 0.5, 0.25], &losses, fraction).unwrap();
            assert_eq!(weights[1], 0.0);
            let ratio = weights[2] / weights[0];
            assert!((ratio - libm::exp(-2.0 * fraction)).abs() < 1e-15, "{weights:?}");
        }
        assert!(weighed(&[0.5, 0.5], &[f64::INFINITY; 2], 0.5).is_none());
        assert!(weighed(&[1.0, 0.0], &[f64::INFINITY, 1.0], 0.5).is_none(), "the living have no weight");
    }

    #[test]
    fn sharp_rows_count_in_shares() {
        let (weights, losses) = (vec![0.01; 100], (0..100).map(f64::from).collect::<Vec<_>>());
        let found = largest_fraction(&weights, &losses, 1.0, 50.0);
        let reached = effective(&weighed(&weights, &losses, found).unwrap());
        assert!((reached - 50.0).abs() < 1e-6 && found < 0.1, "{found}: {reached}");
        assert_eq!(largest_fraction(&weights, &vec![7.0; 100], 0.4, 50.0), 0.4);
        assert_eq!(largest_fraction(&weights, &losses, 1.0, 101.0), 0.0);
    }
}
