//! Seeded random numbers: the same sequence on every platform and in every version.
//!
//! xoshiro256++ seeded by splitmix64 \[Blackman2021\]. Integer arithmetic and square roots only, so no bit depends on a
//! mathematical library. The generator is meant for tests, not for statistics or cryptography.

/// A deterministic generator.
#[derive(Clone, Debug)]
pub struct Random {
    state: [u64; 4],
}

impl Random {
    /// The generator of `seed`; different seeds give independent sequences.
    pub fn new(seed: u64) -> Self {
        let mut z = seed;
        let state = std::array::from_fn(|_| {
            z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut x = z;
            x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            x ^ (x >> 31)
        });
        Self { state }
    }

    /// The next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        let [a, b, c, d] = self.state;
        let result = a.wrapping_add(d).rotate_left(23).wrapping_add(a);
        let (c, d) = (c ^ a, d ^ b);
        self.state = [a ^ d, b ^ c, c ^ (b << 17), d.rotate_left(45)];
        result
    }

    /// Uniform in [0, 1), all 53 bits used.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// Uniform in [`low`, `high`).
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Uniform in 0 … `count` − 1; zero if `count` is zero. The bias of the multiplication is below 2⁻³².
    pub fn below(&mut self, count: usize) -> usize {
        (((self.bits() >> 32) * count as u64) >> 32) as usize
    }

    /// Nearly normal, mean 0, variance 1: the sum of twelve uniform numbers, so never beyond ±6.
    pub fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }

    /// Uniform on the unit sphere.
    pub fn direction(&mut self) -> [f64; 3] {
        /// Largest number of tries. Each succeeds with probability π/6; 100 failures in a row have probability 10⁻³².
        const TRIES: usize = 100;
        for _ in 0..TRIES {
            let v: [f64; 3] = std::array::from_fn(|_| self.uniform(-1.0, 1.0));
            let length = v.iter().map(|x| x * x).sum::<f64>().sqrt();
            // The lower bound keeps the division accurate.
            if (0.1..=1.0).contains(&length) {
                return v.map(|x| x / length);
            }
        }
        [0.0, 0.0, 1.0]
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    /// First outputs of the published reference implementation from the state 1, 2, 3, 4.
    #[test]
    fn the_sequence_is_the_published_one() {
        let mut random = Random { state: [1, 2, 3, 4] };
        let first: Vec<u64> = (0..4).map(|_| random.bits()).collect();
        assert_eq!(first, [41_943_041, 58_720_359, 3_588_806_011_781_223, 3_591_011_842_654_386]);
    }

    #[test]
    fn moments_are_right() {
        let mut random = Random::new(1);
        let n = 100_000;
        let samples: Vec<f64> = (0..n).map(|_| random.normal()).collect();
        let mean = samples.iter().sum::<f64>() / f64::from(n);
        let variance = samples.iter().map(|x| x * x).sum::<f64>() / f64::from(n);
        assert!(mean.abs() < 0.015 && (variance - 1.0).abs() < 0.02, "{mean} {variance}");
    }

    #[test]
    fn directions_are_unit_and_fill_the_sphere() {
        let mut random = Random::new(2);
        let mut sum = [0.0; 3];
        for _ in 0..20_000 {
            let d = random.direction();
            assert!((d.iter().map(|x| x * x).sum::<f64>() - 1.0).abs() < 1e-15);
            for (total, x) in sum.iter_mut().zip(d) {
                *total += x / 20_000.0;
            }
        }
        assert!(sum.iter().all(|mean| mean.abs() < 0.02), "{sum:?}");
    }

    #[test]
    fn below_stays_below_and_reaches_everything() {
        let mut random = Random::new(3);
        let mut seen = [false; 7];
        for _ in 0..1000 {
            seen[random.below(7)] = true;
        }
        assert_eq!(seen, [true; 7]);
        assert_eq!(random.below(0), 0);
    }
}
