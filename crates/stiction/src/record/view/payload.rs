//! Columns of numbers as compact text.
//!
//! A page holds a column as 32-bit floats. A column that varies little about a large value is stored with an offset, so that plots keep
//! their resolution. The bit patterns are differenced and their four bytes are stored as four planes, which deflate compresses well for
//! smooth data. The result is encoded in base64.

use miniz_oxide::deflate::compress_to_vec_zlib;
use serde::Serialize;

/// Compression level: higher levels cost more time than they gain.
const LEVEL: u8 = 6;

/// A column that varies by less than this fraction of its magnitude is stored relative to an offset.
const SMALL_VARIATION: f64 = 1e-2;

/// Position of a column in the payload, and the offset of its values.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Packed {
    /// First byte.
    at: usize,
    /// Number of bytes.
    bytes: usize,
    /// Number of values.
    values: usize,
    /// Offset of the values.
    base: f64,
}

/// The bytes of all columns, one after the other.
#[derive(Debug, Default)]
pub(crate) struct Payload {
    bytes: Vec<u8>,
}

impl Payload {
    /// Adds a column.
    pub(crate) fn push(&mut self, values: &[f64]) -> Packed {
        let base = base_of(values);
        let (at, count) = (self.bytes.len(), values.len());
        self.bytes.extend(compress_to_vec_zlib(&planes(values.iter().map(|x| (x - base) as f32)), LEVEL));
        Packed { at, bytes: self.bytes.len() - at, values: count, base }
    }

    /// Adds a column to 48 bits, as two: the nearest 32-bit floats and the remainders.
    pub(crate) fn push_fine(&mut self, values: &[f64]) -> [Packed; 2] {
        let coarse = |x: &f64| f64::from(*x as f32);
        let [near, rest]: [Vec<f64>; 2] =
            [values.iter().map(coarse).collect(), values.iter().map(|x| x - coarse(x)).collect()];
        [self.push_plain(&near), self.push_plain(&rest)]
    }

    fn push_plain(&mut self, values: &[f64]) -> Packed {
        let at = self.bytes.len();
        self.bytes.extend(compress_to_vec_zlib(&planes(values.iter().map(|x| *x as f32)), LEVEL));
        Packed { at, bytes: self.bytes.len() - at, values: values.len(), base: 0.0 }
    }

    /// Returns everything in base64.
    pub(crate) fn text(&self) -> String {
        base64(&self.bytes)
    }
}

/// Middle of the range of a column that varies little about it, otherwise zero.
fn base_of(values: &[f64]) -> f64 {
    let finite = values.iter().copied().filter(|x| x.is_finite());
    let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
    let size = low.abs().max(high.abs());
    if size.is_finite() && high - low < SMALL_VARIATION * size { low + 0.5 * (high - low) } else { 0.0 }
}

/// Differences of bit patterns, lowest bytes first, then the second, third and highest.
fn planes(values: impl Iterator<Item = f32>) -> Vec<u8> {
    let mut last = 0_u32;
    let differences: Vec<u32> = values
        .map(|x| {
            let bits = x.to_bits();
            let difference = bits.wrapping_sub(last);
            last = bits;
            difference
        })
        .collect();
    (0..4).flat_map(|byte| differences.iter().map(move |word| (word >> (8 * byte)) as u8)).collect()
}

fn base64(bytes: &[u8]) -> String {
    const SIGNS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let sign = |six: u32| SIGNS.get((six & 63) as usize).map_or('=', |sign| char::from(*sign));
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let word = (0..3).fold(0_u32, |word, k| word << 8 | u32::from(group.get(k).copied().unwrap_or(0)));
        let signs = [18, 12, 6, 0].map(|shift| sign(word >> shift));
        text.extend(signs.iter().take(group.len() + 1));
        text.extend(std::iter::repeat_n('=', 3 - group.len()));
    }
    text
}

#[cfg(test)]
mod tests {
    use miniz_oxide::inflate::decompress_to_vec_zlib;

    use super::*;

    /// Decodes a column as the page does.
    fn read(payload: &Payload, packed: &Packed) -> Vec<f64> {
        let bytes = decompress_to_vec_zlib(&payload.bytes[packed.at..packed.at + packed.bytes]).expect("whole");
        let mut bits = 0_u32;
        (0..packed.values)
            .map(|k| {
                let byte = |plane: usize| u32::from(bytes[plane * packed.values + k]);
                bits = bits.wrapping_add(byte(0) | byte(1) << 8 | byte(2) << 16 | byte(3) << 24);
                packed.base + f64::from(f32::from_bits(bits))
            })
            .collect()
    }

    #[test]
    fn columns_come_back_to_seven_digits_of_what_varies() {
        let mut payload = Payload::default();
        let near_ten: Vec<f64> = (0..1000).map(|k| 10.0 + 1e-9 * f64::from(k % 17)).collect();
        let wide: Vec<f64> = (0..1000).map(|k| 1.5_f64.powi(k % 40) * if k % 3 == 0 { -1.0 } else { 1.0 }).collect();
        let (narrow, broad) = (payload.push(&near_ten), payload.push(&wide));
        assert!(read(&payload, &narrow).iter().zip(&near_ten).all(|(a, b)| (a - b).abs() < 1e-14));
        assert!(read(&payload, &broad).iter().zip(&wide).all(|(a, b)| (a - b).abs() <= 6e-8 * b.abs()));
    }

    #[test]
    fn numbers_that_are_none_stay_none() {
        let mut payload = Payload::default();
        let odd = payload.push(&[f64::NAN, f64::INFINITY, 1e300, 0.0, -0.0]);
        let back = read(&payload, &odd);
        assert!(back[0].is_nan() && back[1] == f64::INFINITY && back[2] == f64::INFINITY && back[3] == 0.0);
        assert_eq!(payload.push(&[]).values, 0);
    }

    #[test]
    fn times_keep_forty_eight_bits() {
        let mut payload = Payload::default();
        let times: Vec<f64> = (0..5000).map(|k| 1000.0 + 1e-5 * f64::from(k)).collect();
        let [near, rest] = payload.push_fine(&times);
        let sum = read(&payload, &near).into_iter().zip(read(&payload, &rest)).map(|(a, b)| a + b);
        assert!(sum.zip(&times).all(|(a, b)| (a - b).abs() < 1e-11));
    }

    #[test]
    fn base64_is_that_of_the_standard() {
        let pairs = [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")];
        for (plain, encoded) in pairs {
            assert_eq!(base64(plain.as_bytes()), encoded);
        }
        assert_eq!(base64(&[255, 254, 253]), "//79");
    }
}
