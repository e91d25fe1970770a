//! Independent bit errors.

use lasthop_units::Stream;

/// Loses a packet when one of its bits is wrong: probability
/// 1 - (1 - rate)^bits.
#[derive(Clone, Debug)]
pub(crate) struct PerBit {
    rate: f64,
    stream: Stream,
    /// The last size asked for and its loss probability: links carry few sizes.
    cached: (u32, f64),
}

/// Probability that at least one of `bits` bits is wrong at bit error rate `rate`.
pub(crate) fn loss_probability(rate: f64, bits: f64) -> f64 {
    // ln_1p and exp_m1 keep the digits of rates near 1e-9.
    -(bits * (-rate).ln_1p()).exp_m1()
}

impl PerBit {
    pub(crate) fn new(rate: f64, seed: u64, purpose: &str) -> Self {
        Self {
            rate,
            stream: Stream::new(seed, purpose),
            cached: (0, 0.0),
        }
    }

    pub(crate) fn judge(&mut self, wire_bytes: u32) -> bool {
        if self.cached.0 != wire_bytes {
            self.cached = (
                wire_bytes,
                loss_probability(self.rate, 8.0 * f64::from(wire_bytes)),
            );
        }
        self.stream.chance(self.cached.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The packet error rates of Taank's 12288-bit frame (section 4).
    #[test]
    fn bit_errors_add_up_over_the_frame() {
        for (rate, expected) in [(1e-5, 0.116), (3e-5, 0.308), (1e-4, 0.707)] {
            let probability = loss_probability(rate, 12_288.0);
            assert!((probability - expected).abs() < 5e-4, "{rate}: {probability}");
        }
        assert!(loss_probability(0.0, 12_288.0).abs() < f64::MIN_POSITIVE);
        assert!(loss_probability(1.0, 12_288.0) >= 1.0);
    }

    #[test]
    fn long_packets_are_lost_more_often() {
        let mut model = PerBit::new(1e-5, 1, "loss");
        let long = (0..50_000).filter(|_| model.judge(1500)).count();
        let short = (0..50_000).filter(|_| model.judge(40)).count();
        assert!((5_300..6_000).contains(&long), "{long}");
        assert!((100..220).contains(&short), "{short}");
    }
}
