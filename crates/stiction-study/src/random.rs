//! Random numbers of a trial: they depend on its index only, not on the thread or the time.

/// The increment of `SplitMix64`, 2⁶⁴ divided by the golden ratio.
const INCREMENT: u64 = 0x9E37_79B9_7F4A_7C15;

/// A stream of random numbers (`SplitMix64`).   [STUDY-1]
#[derive(Clone, Debug)]
pub struct Stream {
    state: u64,
}

impl Stream {
    /// The stream of trial `index` in the study with this seed. Both enter by a bijection: for one seed no two indices have the same
    /// stream, and for one index no two seeds.   [STUDY-1]
    pub fn new(seed: u64, index: u64) -> Self {
        Self { state: mix(seed ^ mix(index.wrapping_add(INCREMENT))) }
    }

    /// The next 64 bits.   [STUDY-1]
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(INCREMENT);
        mix(self.state)
    }

    /// A number in [0, 1), with 53 random bits.
    pub fn unit(&mut self) -> f64 {
        const STEP: f64 = 1.0 / (1_u64 << 53) as f64;
        (self.bits() >> 11) as f64 * STEP
    }

    /// A number between two others, uniformly.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }
}

/// The output function of `SplitMix64`, a bijection of 64 bits.
pub(crate) fn mix(z: u64) -> u64 {
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The published first outputs of `SplitMix64` from the state 1234567.
    #[test]
    fn the_generator_is_splitmix64() {
        let mut stream = Stream { state: 1_234_567 };
        let expected = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ];
        for bits in expected {
            assert_eq!(stream.bits(), bits);
        }
    }

    #[test]
    fn streams_of_neighbours_have_nothing_in_common() {
        let n = 20_000;
        let firsts: Vec<f64> = (0..n).map(|index| Stream::new(7, index).unit()).collect();
        let mean = firsts.iter().sum::<f64>() / n as f64;
        // Standard deviations of the mean and of the serial correlation: 0.29/√n and 1/√n.
        assert!((mean - 0.5).abs() < 4.0 * 0.29 / (n as f64).sqrt(), "{mean}");
        let products = firsts.windows(2).map(|pair| (pair[0] - 0.5) * (pair[1] - 0.5)).sum::<f64>() * 12.0 / n as f64;
        assert!(products.abs() < 4.0 / (n as f64).sqrt(), "{products}");
        assert_ne!(Stream::new(7, 3).bits(), Stream::new(8, 3).bits());
    }
}
