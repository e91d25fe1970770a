//! How late packets left compared with their ideal departure.

use lasthop_units::Span;

/// Sub-buckets of each power of two: values keep 1/16 relative precision.
const SUB_BITS: u32 = 4;
const SUB: usize = 1 << SUB_BITS;
/// Enough powers of two for every 64-bit span.
const BUCKETS: usize = (64 - SUB_BITS as usize + 1) * SUB;

/// A histogram of spans in logarithmic buckets, constant in memory.
#[derive(Clone, Debug)]
pub struct Lateness {
    counts: Vec<u64>,
    total: u64,
    max: Span,
}

/// The quantiles a run reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LatenessSummary {
    /// Packets counted.
    pub packets: u64,
    /// Median.
    pub p50: Span,
    /// 99th percentile.
    pub p99: Span,
    /// 99.9th percentile.
    pub p999: Span,
    /// The worst single packet.
    pub max: Span,
}

impl Default for Lateness {
    fn default() -> Self {
        Self {
            counts: vec![0; BUCKETS],
            total: 0,
            max: Span::ZERO,
        }
    }
}

fn bucket(ns: u64) -> usize {
    if ns < SUB as u64 {
        return ns as usize;
    }
    let shift = ns.ilog2() - SUB_BITS;
    (shift as usize + 1) * SUB + ((ns >> shift) as usize - SUB)
}

/// The largest value a bucket holds.
fn upper_edge(bucket: usize) -> u64 {
    if bucket < SUB {
        return bucket as u64;
    }
    let shift = (bucket / SUB - 1) as u32;
    let first = (SUB + bucket % SUB) as u64;
    (first << shift) + ((1 << shift) - 1)
}

impl Lateness {
    /// Counts one packet.
    pub fn add(&mut self, lateness: Span) {
        self.counts[bucket(lateness.as_ns())] += 1;
        self.total += 1;
        self.max = self.max.max(lateness);
    }

    /// The span that a share `q` (0 to 1) of the packets did not exceed,
    /// rounded up by at most 1/16; zero when none was counted.
    pub fn quantile(&self, q: f64) -> Span {
        let rank = ((self.total as f64 * q).ceil() as u64).max(1);
        let mut seen = 0;
        for (index, &count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= rank {
                return Span::from_ns(upper_edge(index)).min(self.max);
            }
        }
        self.max
    }

    /// The reported quantiles.
    pub fn summary(&self) -> LatenessSummary {
        LatenessSummary {
            packets: self.total,
            p50: self.quantile(0.5),
            p99: self.quantile(0.99),
            p999: self.quantile(0.999),
            max: self.max,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_bucket_holds_its_value_within_a_sixteenth(ns in any::<u64>()) {
            let edge = upper_edge(bucket(ns));
            prop_assert!(edge >= ns);
            prop_assert!(edge - ns <= ns / 16);
        }
    }

    #[test]
    fn quantiles_of_a_known_set() {
        let mut lateness = Lateness::default();
        for us in 1..=1000 {
            lateness.add(Span::from_us(us));
        }
        let summary = lateness.summary();
        assert_eq!(summary.packets, 1000);
        assert_eq!(summary.max, Span::from_us(1000));
        assert!((500..532).contains(&(summary.p50.as_ns() / 1000)), "{summary:?}");
        assert!(
            (990..=1000).contains(&(summary.p99.as_ns() / 1000)),
            "{summary:?}"
        );
    }

    #[test]
    fn nothing_counted_gives_zero() {
        assert_eq!(Lateness::default().summary(), LatenessSummary::default());
    }
}
