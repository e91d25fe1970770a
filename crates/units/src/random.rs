//! Seeded random streams, one per purpose.
//!
//! A stream is named by what it is for (`"wlan/backoff"`, `"wire/down/loss"`),
//! so adding a consumer, or changing one variant's sender, never shifts the
//! numbers another consumer sees (common random numbers).

use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A random stream: xoshiro256++ seeded from (seed, purpose).
#[derive(Clone, Debug)]
pub struct Stream {
    rng: Xoshiro256PlusPlus,
}

impl Stream {
    /// The stream of `seed` for `purpose`; equal arguments give equal streams.
    pub fn new(seed: u64, purpose: &str) -> Self {
        // FNV-1a keeps the seeding independent of any library's hash.
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for byte in purpose.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        let mixed = hash ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31);
        Self {
            rng: Xoshiro256PlusPlus::seed_from_u64(mixed),
        }
    }

    /// The next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.rng.next_u64()
    }

    /// A number in [0, 1) with 53 random bits.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
    }

    /// True with the given probability. Draws exactly once, whatever the probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// A whole number in `0..bound`, unbiased; 0 when `bound` is 0.
    pub fn below(&mut self, bound: u32) -> u32 {
        if bound == 0 {
            return 0;
        }
        let mut wide = u64::from(self.bits() as u32) * u64::from(bound);
        if (wide as u32) < bound {
            let threshold = bound.wrapping_neg() % bound;
            while (wide as u32) < threshold {
                wide = u64::from(self.bits() as u32) * u64::from(bound);
            }
        }
        (wide >> 32) as u32
    }

    /// An exponentially distributed number with the given mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.unit()).ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_named_not_numbered() {
        let first: Vec<u64> = {
            let mut s = Stream::new(1, "a");
            (0..4).map(|_| s.bits()).collect()
        };
        let again: Vec<u64> = {
            let mut s = Stream::new(1, "a");
            (0..4).map(|_| s.bits()).collect()
        };
        let other: Vec<u64> = {
            let mut s = Stream::new(1, "b");
            (0..4).map(|_| s.bits()).collect()
        };
        let seeded: Vec<u64> = {
            let mut s = Stream::new(2, "a");
            (0..4).map(|_| s.bits()).collect()
        };
        assert_eq!(first, again);
        assert_ne!(first, other);
        assert_ne!(first, seeded);
    }

    #[test]
    fn numbers_below_a_bound_are_uniform() {
        let mut stream = Stream::new(7, "uniform");
        let mut counts = [0_u32; 16];
        for _ in 0..160_000 {
            counts[stream.below(16) as usize] += 1;
        }
        assert!(
            counts.iter().all(|&count| (9_600..10_400).contains(&count)),
            "{counts:?}"
        );
    }

    #[test]
    fn chance_meets_its_probability() {
        let mut stream = Stream::new(3, "loss");
        let hits = (0..100_000).filter(|_| stream.chance(0.03)).count();
        assert!((2_800..3_200).contains(&hits), "{hits}");
    }
}
