//! The three PHYs and their numbers. Clauses are those of IEEE 802.11-2012.

use lasthop_units::{BitRate, Span};

use crate::names::named;

/// Which PHY a medium uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standard {
    /// 802.11b: HR/DSSS at 2.4 GHz, up to 11 Mbit/s (clause 17).
    B,
    /// 802.11a: OFDM at 5 GHz, up to 54 Mbit/s (clause 18).
    A,
    /// 802.11g: ERP-OFDM at 2.4 GHz, up to 54 Mbit/s (clause 19).
    G,
}

named!(Standard { B => "b", A => "a", G => "g" });

/// How a rate is modulated, which decides preamble, frame time and error curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Modulation {
    /// DSSS and CCK: 1, 2, 5.5, 11 Mbit/s.
    Dsss,
    /// OFDM: 6 to 54 Mbit/s.
    Ofdm,
}

const fn kbps<const N: usize>(rates: [u64; N]) -> [BitRate; N] {
    let mut out = [BitRate::from_bps(1); N];
    let mut index = 0;
    while index < N {
        out[index] = BitRate::from_bps(rates[index] * 1_000);
        index += 1;
    }
    out
}

const DSSS: [BitRate; 4] = kbps([1_000, 2_000, 5_500, 11_000]);
const OFDM: [BitRate; 8] = kbps([6_000, 9_000, 12_000, 18_000, 24_000, 36_000, 48_000, 54_000]);
const ERP: [BitRate; 12] = kbps([
    1_000, 2_000, 5_500, 11_000, 6_000, 9_000, 12_000, 18_000, 24_000, 36_000, 48_000, 54_000,
]);
const BASIC_DSSS: [BitRate; 2] = kbps([1_000, 2_000]);
const BASIC_OFDM: [BitRate; 3] = kbps([6_000, 12_000, 24_000]);

/// The mandatory rates of each modulation (clauses 17, 18, 19), ascending.
pub(crate) const fn mandatory_rates(modulation: Modulation) -> &'static [BitRate] {
    match modulation {
        Modulation::Dsss => &DSSS,
        Modulation::Ofdm => &BASIC_OFDM,
    }
}

/// The modulation of `rate`: the DSSS/CCK and OFDM rates do not overlap.
pub(crate) fn modulation(rate: BitRate) -> Modulation {
    if DSSS.contains(&rate) {
        Modulation::Dsss
    } else {
        Modulation::Ofdm
    }
}

impl Standard {
    /// The rates it has; DSSS/CCK rates come first.
    pub const fn rates(self) -> &'static [BitRate] {
        match self {
            Self::B => &DSSS,
            Self::A => &OFDM,
            Self::G => &ERP,
        }
    }

    /// The usual basic rate set. OFDM: the mandatory 6, 12, 24 Mbit/s. DSSS: 1 and 2 Mbit/s, which every clause 16 station
    /// has too.
    pub const fn usual_basic_rates(self) -> &'static [BitRate] {
        match self {
            Self::B => &BASIC_DSSS,
            Self::A | Self::G => &BASIC_OFDM,
        }
    }

    /// The highest rate.
    pub const fn default_data_rate(self) -> BitRate {
        match self {
            Self::B => DSSS[3],
            Self::A | Self::G => OFDM[7],
        }
    }

    /// The rate of protection frames: understood by 802.11b stations in g.
    pub const fn default_protection_rate(self) -> BitRate {
        match self {
            Self::B => DSSS[1],
            Self::A => OFDM[4],
            Self::G => DSSS[3],
        }
    }

    /// aCWmin: 31 for HR/DSSS (clause 17), 15 for OFDM (clause 18) and for
    /// ERP stations whose access point has ERP rates (clause 19).
    pub const fn cw_min(self) -> u32 {
        match self {
            Self::B => 31,
            Self::A | Self::G => 15,
        }
    }

    /// aSIFSTime: 10 µs at 2.4 GHz, 16 µs for OFDM at 5 GHz.
    pub const fn sifs(self) -> Span {
        match self {
            Self::B | Self::G => Span::from_us(10),
            Self::A => Span::from_us(16),
        }
    }

    /// aSlotTime: 20 µs for HR/DSSS, 9 µs for OFDM, 9 or 20 µs for ERP.
    pub const fn slot(self, short: bool) -> Span {
        match self {
            Self::A => Span::from_us(9),
            Self::G if short => Span::from_us(9),
            Self::B | Self::G => Span::from_us(20),
        }
    }

    /// aSignalExtension: 6 µs of silence after each ERP-OFDM frame, so that
    /// 802.11g's 10 µs SIFS suits an OFDM decoder (clause 19).
    pub const fn signal_extension(self) -> Span {
        match self {
            Self::G => Span::from_us(6),
            Self::B | Self::A => Span::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back() {
        for &standard in Standard::ALL {
            assert_eq!(Standard::from_name(standard.name()), Some(standard));
        }
        assert_eq!(Standard::from_name("n"), None);
    }

    #[test]
    fn every_default_is_one_of_the_rates() {
        for &standard in Standard::ALL {
            let rates = standard.rates();
            assert!(rates.contains(&standard.default_data_rate()));
            assert!(rates.contains(&standard.default_protection_rate()));
            assert!(
                standard
                    .usual_basic_rates()
                    .iter()
                    .all(|rate| rates.contains(rate))
            );
        }
    }
}
