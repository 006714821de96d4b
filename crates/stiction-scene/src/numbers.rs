//! Numbers in messages: plain if that is short, else with an exponent.

pub(crate) use stiction_multibody::plain;

/// Formats a time in seconds, without trailing digits of round-off.
pub(crate) fn moment(t: f64) -> String {
    if t != 0.0 && t.abs() < 1e-6 {
        return plain(t);
    }
    let text = format!("{t:.9}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::{moment, plain};

    #[test]
    fn exponents_appear_only_where_they_shorten() {
        for (x, text) in [(-2.0, "-2"), (0.0, "0"), (1e-4, "0.0001"), (1e-9, "1e-9"), (1e6, "1000000"), (1e9, "1e9")] {
            assert_eq!(plain(x), text);
        }
        assert_eq!(plain(f64::NEG_INFINITY), "-inf");
    }

    #[test]
    fn moments_are_free_of_rounding() {
        for (t, text) in [(0.565_000_000_000_000_1, "0.565"), (0.0, "0"), (3.0, "3"), (1.5e-8, "1.5e-8")] {
            assert_eq!(moment(t), text);
        }
    }
}
