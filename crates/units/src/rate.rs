//! Transmission rates.

use std::fmt;

use crate::Span;

/// A rate in bit/s; never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BitRate(u64);

impl BitRate {
    /// A rate of `bps` bit/s; a zero rate becomes 1 bit/s so that time stays finite.
    pub const fn from_bps(bps: u64) -> Self {
        Self(if bps == 0 { 1 } else { bps })
    }

    /// The rate in bit/s.
    pub const fn as_bps(self) -> u64 {
        self.0
    }

    /// The time `bytes` bytes take on the wire, rounded to the nearest nanosecond.
    pub const fn tx_time(self, bytes: u64) -> Span {
        // 2^64 ns·bit/s hold 2.3 GB; beyond that the wide product is needed.
        match bytes.checked_mul(8_000_000_000) {
            Some(scaled) => Span::from_ns((scaled / self.0) + ((scaled % self.0) * 2 >= self.0) as u64),
            None => Span::from_ns(((bytes as u128 * 8_000_000_000) / self.0 as u128) as u64),
        }
    }
}

impl fmt::Display for BitRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, name) = match self.0 {
            n if n >= 1_000_000_000 => (1e9, "Gbit/s"),
            n if n >= 1_000_000 => (1e6, "Mbit/s"),
            n if n >= 1_000 => (1e3, "kbit/s"),
            _ => (1.0, "bit/s"),
        };
        write!(f, "{} {name}", self.0 as f64 / unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transmission_time_of_the_dumbbell() {
        assert_eq!(BitRate::from_bps(10_000_000).tx_time(1040), Span::from_us(832));
        assert_eq!(BitRate::from_bps(100_000_000).tx_time(40), Span::from_ns(3_200));
        assert_eq!(BitRate::from_bps(3).tx_time(1), Span::from_ns(2_666_666_667));
    }

    #[test]
    fn rates_print_in_the_largest_unit() {
        assert_eq!(BitRate::from_bps(16_200_000).to_string(), "16.2 Mbit/s");
    }
}
