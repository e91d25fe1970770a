//! Independent losses, packet by packet.

use lasthop_units::Stream;

/// Loses each packet with one probability.
#[derive(Clone, Debug)]
pub(crate) struct PerPacket {
    probability: f64,
    stream: Stream,
}

impl PerPacket {
    pub(crate) fn new(probability: f64, seed: u64, purpose: &str) -> Self {
        Self {
            probability,
            stream: Stream::new(seed, purpose),
        }
    }

    pub(crate) fn judge(&mut self) -> bool {
        self.stream.chance(self.probability)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loses_the_share_it_is_told() {
        let mut model = PerPacket::new(0.03, 1, "loss");
        let lost = (0..100_000).filter(|_| model.judge()).count();
        // Five standard deviations of the binomial are 270.
        assert!((2_730..3_270).contains(&lost), "{lost}");
    }

    #[test]
    fn the_bounds_are_exact() {
        let mut never = PerPacket::new(0.0, 1, "loss");
        let mut always = PerPacket::new(1.0, 1, "loss");
        assert!((0..10_000).all(|_| !never.judge()));
        assert!((0..10_000).all(|_| always.judge()));
    }

    #[test]
    fn a_higher_probability_loses_a_superset() {
        let mut low = PerPacket::new(0.1, 1, "loss");
        let mut high = PerPacket::new(0.2, 1, "loss");
        assert!((0..10_000).all(|_| !low.judge() | high.judge()));
    }
}
