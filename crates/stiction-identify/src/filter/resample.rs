//! Resampling, stratified by the contact modes.
//!
//! Plain resampling loses a mode that few particles have, although it may turn out to be the right one a few rows later: a block that is
//! just beginning to slip. Here every mode is a stratum. Its weight is kept exactly. Its number of particles follows the weight, and is at
//! least its number of survivors as long as it holds the weight `rare`. Modes with less weight form one stratum together.   [FILT-4]

use std::collections::BTreeMap;

use stiction_study::Stream;

/// Inverse of the fraction of particles that survive of a mode with enough weight; fewer if it has fewer members.
const SURVIVORS: usize = 50;

/// Particles of one stratum.
#[derive(Debug)]
pub(super) struct Stratum {
    /// Members with their weights.
    pub(super) members: Vec<(usize, f64)>,
    /// Members that survive, each as often as it is chosen.
    pub(super) chosen: Vec<usize>,
    /// Weight of each survivor.
    pub(super) each: f64,
}

/// Resamples by modes; as many particles survive as there are weights, which sum to 1.
pub(super) fn by_modes(weights: &[f64], modes: &[&str], rare: f64, stream: &mut Stream) -> Vec<Stratum> {
    let mut groups: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (of, (weight, mode)) in weights.iter().zip(modes).enumerate() {
        if *weight > 0.0 {
            groups.entry(mode).or_default().push(of);
        }
    }
    let weight = |of: &usize| weights.get(*of).copied().unwrap_or(0.0);
    let total = |members: &[usize]| members.iter().map(weight).sum::<f64>();
    let (mut strata, others): (Vec<_>, Vec<_>) = groups.into_values().partition(|members| total(members) >= rare);
    let mut others = others.concat();
    others.sort_unstable();
    if !others.is_empty() {
        strata.push(others);
    }
    let totals: Vec<f64> = strata.iter().map(|members| total(members)).collect();
    let members: Vec<usize> = strata.iter().map(Vec::len).collect();
    let counts = allotted(&totals, &members, weights.len());
    let filled = strata.into_iter().zip(&totals).zip(counts).map(|((members, total), count)| {
        let own: Vec<f64> = members.iter().map(weight).collect();
        let picked = systematic(&own, *total, count, stream.unit());
        Stratum {
            chosen: picked.into_iter().filter_map(|place| members.get(place).copied()).collect(),
            members: members.into_iter().zip(own).collect(),
            each: total / count.max(1) as f64,
        }
    });
    filled.collect()
}

/// Number of particles of each stratum: by its weight, and at least its survivors.
#[allow(clippy::cast_sign_loss)] // Weights are not negative.
fn allotted(totals: &[f64], members: &[usize], count: usize) -> Vec<usize> {
    let all: f64 = totals.iter().sum();
    let wanted: Vec<f64> = totals.iter().map(|total| total / all * count as f64).collect();
    let survivors = count.div_ceil(SURVIVORS);
    let mut least: Vec<usize> = members.iter().map(|members| survivors.min(*members).max(1)).collect();
    if least.iter().sum::<usize>() > count {
        least.fill(1);
    }
    let mut counts: Vec<usize> =
        wanted.iter().zip(&least).map(|(wanted, least)| (*wanted as usize).max(*least)).collect();
    let mut sum: usize = counts.iter().sum();
    // The difference is added to, or taken from, the strata that are farthest from their weight.
    while sum != count {
        let excess = |k: usize| counts[k] as f64 - wanted[k];
        let order = |a: &usize, b: &usize| excess(*a).total_cmp(&excess(*b));
        let grows = sum < count;
        let place = if grows {
            (0..counts.len()).min_by(order)
        } else {
            (0..counts.len()).filter(|k| counts[*k] > least[*k]).max_by(order)
        };
        let Some(place) = place else { break };
        if grows {
            counts[place] += 1;
            sum += 1;
        } else {
            counts[place] -= 1;
            sum -= 1;
        }
    }
    counts
}

/// Systematic resampling: the places that a comb of `count` teeth hits, shifted by a random fraction of their distance.   [FILT-4]
fn systematic(weights: &[f64], total: f64, count: usize, shift: f64) -> Vec<usize> {
    let tooth = |k: usize| (k as f64 + shift) / count as f64 * total;
    let (mut picked, mut reached) = (Vec::with_capacity(count), 0.0);
    for (place, weight) in weights.iter().enumerate() {
        reached += weight;
        while picked.len() < count && tooth(picked.len()) < reached {
            picked.push(place);
        }
    }
    // Rounding may leave the last tooth beyond the sum.
    while picked.len() < count && !weights.is_empty() {
        picked.push(weights.len() - 1);
    }
    picked
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Weights of 100 particles: two stick and hold 4 % together, one has a mode with hardly any weight, one has no weight at all.
    fn cloud() -> (Vec<f64>, Vec<&'static str>) {
        let mut weights = vec![(1.0 - 0.04 - 1e-4) / 96.0; 100];
        let mut modes = vec!["slip"; 100];
        for (of, mode, weight) in [(10, "stick", 0.02), (11, "stick", 0.02), (50, "open", 1e-4), (51, "gone", 0.0)] {
            (weights[of], modes[of]) = (weight, mode);
        }
        (weights, modes)
    }

    /// Particles that survive, each with its weight.
    fn living(strata: &[Stratum]) -> Vec<(usize, f64)> {
        strata.iter().flat_map(|stratum| stratum.chosen.iter().map(|of| (*of, stratum.each))).collect()
    }

    #[test]
    fn every_mode_keeps_its_weight_and_rare_ones_survive() {
        let (weights, modes) = cloud();
        for seed in 0..50 {
            let chosen = living(&by_modes(&weights, &modes, 0.01, &mut Stream::new(seed, 0)));
            assert_eq!(chosen.len(), 100);
            let of_mode = |mode: &str| chosen.iter().filter(|(of, _)| modes[*of] == mode).map(|x| x.1).sum::<f64>();
            assert!((of_mode("stick") - 0.04).abs() < 1e-12 && (of_mode("open") - 1e-4).abs() < 1e-12);
            assert!((of_mode("slip") - (1.0 - 0.0401)).abs() < 1e-12 && of_mode("gone") == 0.0);
            let sticking: Vec<_> = chosen.iter().map(|x| x.0).filter(|of| modes[*of] == "stick").collect();
            assert!(sticking.contains(&10) && sticking.contains(&11), "{sticking:?}");
        }
    }

    #[test]
    fn means_are_right_on_average() {
        let (weights, modes) = cloud();
        let value = |of: usize| (of * of) as f64;
        let expected: f64 = weights.iter().enumerate().map(|(of, weight)| weight * value(of)).sum();
        let means: Vec<f64> = (0..400)
            .map(|seed| living(&by_modes(&weights, &modes, 0.01, &mut Stream::new(seed, 1))))
            .map(|chosen| chosen.iter().map(|(of, weight)| weight * value(*of)).sum())
            .collect();
        let mean = means.iter().sum::<f64>() / 400.0;
        let spread = (means.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 400.0).sqrt();
        assert!((mean - expected).abs() < 4.0 * spread / 20.0, "{mean} {expected} {spread}");
    }

    #[test]
    fn more_modes_than_survivors_fit_all_the_same() {
        let weights = vec![0.1; 10];
        let names: Vec<String> = (0..10).map(|k| format!("mode {k}")).collect();
        let modes: Vec<&str> = names.iter().map(String::as_str).collect();
        let chosen = living(&by_modes(&weights, &modes, 0.01, &mut Stream::new(1, 0)));
        let mut places: Vec<_> = chosen.iter().map(|x| x.0).collect();
        places.sort_unstable();
        assert_eq!(places, (0..10).collect::<Vec<_>>());
    }
}
