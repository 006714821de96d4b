//! Sobol points with Owen's scrambling.
//!
//! Of 2^k points every dimension has one in each of 2^k equal intervals, and so has every set of 2^k points that begins at a multiple of
//! 2^k. Scrambling keeps that and makes every point uniformly distributed, so that means over the points have no bias.   [STUDY-5]

use crate::random::mix;

/// Largest number of dimensions.
pub(super) const MOST_DIMENSIONS: usize = 21;

/// Bits of a coordinate.
const BITS: usize = 32;

/// Degree s, coefficients a and first direction numbers m of a primitive polynomial over GF(2) for each dimension from the second on \[Joe2008\].
const DIRECTIONS: [(usize, u32, &[u32]); MOST_DIMENSIONS - 1] = [
    (1, 0, &[1]),
    (2, 1, &[1, 3]),
    (3, 1, &[1, 3, 1]),
    (3, 2, &[1, 1, 1]),
    (4, 1, &[1, 1, 3, 3]),
    (4, 4, &[1, 3, 5, 13]),
    (5, 2, &[1, 1, 5, 5, 17]),
    (5, 4, &[1, 1, 5, 5, 5]),
    (5, 7, &[1, 1, 7, 11, 19]),
    (5, 11, &[1, 1, 5, 1, 1]),
    (5, 13, &[1, 1, 1, 3, 11]),
    (5, 14, &[1, 3, 5, 5, 31]),
    (6, 1, &[1, 3, 3, 9, 7, 49]),
    (6, 13, &[1, 1, 1, 15, 21, 21]),
    (6, 16, &[1, 3, 1, 13, 27, 49]),
    (6, 19, &[1, 1, 1, 15, 7, 5]),
    (6, 22, &[1, 3, 1, 15, 13, 25]),
    (6, 25, &[1, 1, 5, 5, 19, 61]),
    (7, 1, &[1, 3, 7, 11, 23, 15, 103]),
    (7, 4, &[1, 3, 7, 13, 13, 15, 69]),
];

/// Coordinate `dimension` of point `index`, scrambled by `seed`; 32 bits of a number from 0 to 1. Zero for dimensions beyond the largest.
pub(super) fn point(index: u32, dimension: usize, seed: u64) -> u32 {
    match directions(dimension) {
        Some(directions) => scrambled(unscrambled(index, &directions), seed),
        None => 0,
    }
}

/// The sum (without carry) of the directions that the bits of the index choose.
fn unscrambled(index: u32, directions: &[u32; BITS]) -> u32 {
    let chosen = directions.iter().enumerate().filter(|(bit, _)| index >> bit & 1 == 1);
    chosen.fold(0, |sum, (_, direction)| sum ^ direction)
}

/// The directions of a dimension: `v_k = m_k / 2^k` with `m_k = 2 a_1 m_{k−1} ⊕ … ⊕ 2^s m_{k−s} ⊕ m_{k−s}`.
fn directions(dimension: usize) -> Option<[u32; BITS]> {
    let Some(dimension) = dimension.checked_sub(1) else {
        return Some(std::array::from_fn(|k| 1 << (BITS - 1 - k)));
    };
    let (degree, coefficients, first) = *DIRECTIONS.get(dimension)?;
    let mut directions = [0_u32; BITS];
    for k in 0..BITS {
        let before = |back: usize| k.checked_sub(back).and_then(|at| directions.get(at)).copied().unwrap_or(0);
        let next = match first.get(k) {
            Some(m) => m << (BITS - 1 - k),
            None => (1..degree)
                .filter(|back| coefficients >> (degree - 1 - back) & 1 == 1)
                .fold(before(degree) ^ (before(degree) >> degree), |sum, back| sum ^ before(back)),
        };
        if let Some(slot) = directions.get_mut(k) {
            *slot = next;
        }
    }
    Some(directions)
}

/// Owen's scrambling: each bit is flipped or not by a coin that belongs to the bits above it.
fn scrambled(point: u32, seed: u64) -> u32 {
    (0..BITS).fold(0, |flipped, bit| {
        // A leading one distinguishes prefixes of different lengths; there is nothing above the first bit.
        let prefix = 1_u64 << bit | if bit == 0 { 0 } else { u64::from(point >> (BITS - bit)) };
        let coin = (mix(seed ^ mix(prefix)) >> 63) as u32;
        flipped | (coin ^ (point >> (BITS - 1 - bit) & 1)) << (BITS - 1 - bit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dimension_is_spread_evenly_at_every_scale_with_and_without_scrambling() {
        for dimension in 0..MOST_DIMENSIONS {
            let plain = directions(dimension).unwrap();
            for power in [1, 4, 8] {
                for block in 0..3 {
                    for seed in [None, Some(1), Some(99)] {
                        let mut seen: Vec<_> = (block << power..(block + 1) << power)
                            .map(|index| {
                                seed.map_or_else(|| unscrambled(index, &plain), |seed| point(index, dimension, seed))
                            })
                            .map(|x| x >> (BITS as u32 - power))
                            .collect();
                        seen.sort_unstable();
                        assert!(seen.into_iter().eq(0..1 << power), "{dimension} {power} {block} {seed:?}");
                    }
                }
            }
        }
    }

    /// The second and third point, and the pair of the first two dimensions: one of 2^(a+b) points in every box of 2^-a by 2^-b.
    #[test]
    fn the_first_two_dimensions_are_a_net() {
        let [x, y] = [0, 1].map(|dimension| directions(dimension).unwrap());
        assert_eq!((unscrambled(1, &y), unscrambled(2, &y), unscrambled(3, &y)), (1 << 31, 3 << 30, 1 << 30));
        for a in 0..=8_u32 {
            for seeds in [None, Some((3, 4))] {
                let mut boxes: Vec<_> = (0..256)
                    .map(|i| {
                        seeds
                            .map_or((unscrambled(i, &x), unscrambled(i, &y)), |(s, t)| (point(i, 0, s), point(i, 1, t)))
                    })
                    .map(|(u, v)| (u64::from(u) >> (32 - a), u64::from(v) >> (32 - (8 - a))))
                    .collect();
                boxes.sort_unstable();
                boxes.dedup();
                assert_eq!(boxes.len(), 256, "{a}");
            }
        }
    }

    /// Joe and Kuo choose their numbers so that neighbouring dimensions are good together; a wrong one would show here.
    #[test]
    fn means_of_products_converge_faster_than_random_ones() {
        let n = 4096_u32;
        for dimension in 1..MOST_DIMENSIONS {
            let unit = |i, d| (f64::from(point(i, d, 7 + d as u64)) + 0.5) / 4_294_967_296.0;
            let mean =
                (0..n).map(|i| (unit(i, dimension) - 0.5) * (unit(i, dimension - 1) - 0.5)).sum::<f64>() / f64::from(n);
            // Random points would be off by 1/(12 √n) = 1.3e-3.
            assert!(mean.abs() < 4e-4, "{dimension}: {mean}");
        }
    }
}
