//! How long frames and gaps last.

use lasthop_units::{BitRate, Span};

use super::standard::{Modulation, mandatory_rates, modulation};
use super::{Protection, Standard, WifiConfig};

/// MAC header (24) and FCS (4) of a data frame (8.3.2; three addresses).
const DATA_OVERHEAD: u32 = 28;
/// LLC/SNAP header in front of the IP packet (RFC 1042).
const LLC_SNAP: u32 = 8;

/// The durations of one configured medium. Clauses are those of IEEE 802.11-2012.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timing {
    standard: Standard,
    data_rate: BitRate,
    short_preamble: bool,
    /// aSlotTime.
    pub slot: Span,
    /// Gap between the frames of one exchange.
    pub sifs: Span,
    /// Idle time before backoff counts down: SIFS + 2 slots (9.3.7).
    pub difs: Span,
    /// The same after a frame that could not be understood: SIFS + DIFS + an
    /// ACK at the lowest mandatory rate (9.3.7) of the data rate's modulation.
    /// For ERP-OFDM that is 6 Mbit/s: 802.11-2012 read to the letter says 1,
    /// which would keep bystanders silent for 342 µs in a cell without DSSS.
    pub eifs: Span,
    /// A MAC ACK, at the basic rate that answers a data frame.
    pub ack: Span,
    /// Rate of that ACK.
    pub ack_rate: BitRate,
    /// How long a sender waits for the start of the ACK or CTS: SIFS + slot +
    /// aPHY-RX-START-Delay (9.3.2.8).
    pub ack_timeout: Span,
    /// An RTS.
    pub rts: Span,
    /// A CTS, answering an RTS or to oneself.
    pub cts: Span,
    /// How long the sender of an RTS waits for the start of the CTS.
    pub cts_timeout: Span,
    /// Rate of RTS and CTS.
    pub protection_rate: BitRate,
}

impl Timing {
    /// MPDU bytes of a MAC ACK and of a CTS (8.3.1.3, 8.3.1.4).
    pub const ACK_BYTES: u32 = 14;
    /// MPDU bytes of an RTS (8.3.1.2).
    pub const RTS_BYTES: u32 = 20;

    /// The durations `config` leads to.
    pub fn new(config: &WifiConfig) -> Self {
        let standard = config.standard;
        let short = config.short_preamble;
        let slot = standard.slot(config.short_slot);
        let sifs = standard.sifs();
        let difs = sifs + slot * 2;
        let ack_rate = answer_rate(config.data_rate, &config.basic_rates);
        let lowest = mandatory_rates(modulation(config.data_rate))[0];
        let frame = |bytes, rate| frame_time(standard, short, bytes, rate);
        let timeout = |rate| sifs + slot + rx_start_delay(standard, short, rate);
        // Without protection the rate of its frames must not matter.
        let protection_rate = match config.protection {
            Protection::None => ack_rate,
            Protection::CtsToSelf | Protection::RtsCts => config.protection_rate,
        };
        Self {
            standard,
            data_rate: config.data_rate,
            short_preamble: short,
            slot,
            sifs,
            difs,
            eifs: sifs + difs + frame_time(standard, false, Self::ACK_BYTES, lowest),
            ack: frame(Self::ACK_BYTES, ack_rate),
            ack_rate,
            ack_timeout: timeout(ack_rate),
            rts: frame(Self::RTS_BYTES, protection_rate),
            cts: frame(Self::ACK_BYTES, protection_rate),
            cts_timeout: timeout(protection_rate),
            protection_rate,
        }
    }

    /// MPDU bytes of a packet of `wire_bytes` bytes.
    pub const fn frame_bytes(wire_bytes: u32) -> u32 {
        wire_bytes + LLC_SNAP + DATA_OVERHEAD
    }

    /// Rate of data frames.
    pub const fn data_rate(&self) -> BitRate {
        self.data_rate
    }

    /// Air time of a data frame of `frame_bytes` MPDU bytes.
    pub fn data(&self, frame_bytes: u32) -> Span {
        frame_time(self.standard, self.short_preamble, frame_bytes, self.data_rate)
    }
}

/// The rate of a control response (9.7.6.5.2): the highest basic rate that is
/// not above the rate answered and of the same modulation; if there is none,
/// the highest mandatory rate of that kind.
fn answer_rate(answered: BitRate, basic: &[BitRate]) -> BitRate {
    let class = modulation(answered);
    let fits = |rate: &&BitRate| **rate <= answered && modulation(**rate) == class;
    let best = basic.iter().filter(fits).max();
    let best = best.or_else(|| mandatory_rates(class).iter().filter(fits).max());
    best.copied().unwrap_or(answered)
}

/// Air time of `bytes` MPDU bytes at `rate`.
///
/// DSSS/CCK (17.2.2): preamble and PLCP header 192 µs long or 96 µs short,
/// then the bits at the rate, rounded up to whole microseconds as in the
/// LENGTH field; 1 Mbit/s always has the long preamble. OFDM (18.4.3): 20 µs of
/// preamble and SIGNAL, then symbols of 4 µs that also hold 16 service and 6
/// tail bits; ERP-OFDM adds the signal extension.
fn frame_time(standard: Standard, short_preamble: bool, bytes: u32, rate: BitRate) -> Span {
    let bits = u64::from(bytes) * 8;
    match modulation(rate) {
        Modulation::Dsss => {
            let micros = (bits * 1_000_000).div_ceil(rate.as_bps());
            Span::from_us(dsss_preamble_us(short_preamble, rate) + micros)
        }
        Modulation::Ofdm => {
            let bits_per_symbol = (rate.as_bps() * 4 / 1_000_000).max(1);
            let symbols = (22 + bits).div_ceil(bits_per_symbol);
            Span::from_us(20 + 4 * symbols) + standard.signal_extension()
        }
    }
}

fn dsss_preamble_us(short: bool, rate: BitRate) -> u64 {
    if short && rate.as_bps() > 1_000_000 {
        96
    } else {
        192
    }
}

/// aPHY-RX-START-Delay: the DSSS preamble and header; 25 µs for OFDM
/// (clause 18), 24 µs for ERP-OFDM (clause 19).
fn rx_start_delay(standard: Standard, short_preamble: bool, rate: BitRate) -> Span {
    match (modulation(rate), standard) {
        (Modulation::Dsss, _) => Span::from_us(dsss_preamble_us(short_preamble, rate)),
        (Modulation::Ofdm, Standard::G) => Span::from_us(24),
        (Modulation::Ofdm, _) => Span::from_us(25),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(span: Span) -> u64 {
        assert_eq!(span.as_ns() % 1_000, 0);
        span.as_ns() / 1_000
    }

    /// Taank 7.4.2.2: the 802.11g frame times behind his tables 7.3 to 7.6.
    #[test]
    fn durations_of_802_11g_at_54() {
        let timing = Timing::new(&WifiConfig::new(Standard::G));
        assert_eq!((us(timing.slot), us(timing.difs)), (9, 28));
        assert_eq!(us(timing.data(1536)), 254);
        assert_eq!(us(timing.ack), 34);
        assert_eq!(us(timing.ack_timeout), 43);
        // 22 + 14 * 8 = 134 bits at 24 per symbol: 6 symbols; 20 + 24 + 6 = 50.
        assert_eq!(us(timing.eifs), 10 + 28 + 50);
    }

    #[test]
    fn durations_of_802_11a_at_54() {
        let timing = Timing::new(&WifiConfig::new(Standard::A));
        assert_eq!((us(timing.slot), us(timing.sifs), us(timing.difs)), (9, 16, 34));
        assert_eq!(us(timing.data(1534)), 248);
        assert_eq!(us(timing.ack), 28);
        assert_eq!(us(timing.eifs), 16 + 34 + 44);
    }

    #[test]
    fn durations_of_802_11b_at_11() {
        let mut config = WifiConfig::new(Standard::B);
        let timing = Timing::new(&config);
        assert_eq!((us(timing.slot), us(timing.sifs), us(timing.difs)), (20, 10, 50));
        assert_eq!(us(timing.data(1534)), 192 + 1_116);
        assert_eq!(us(timing.ack), 192 + 56);
        assert_eq!(us(timing.eifs), 10 + 50 + 304);
        config.short_preamble = true;
        assert_eq!(us(Timing::new(&config).ack), 96 + 56);
    }

    #[test]
    fn protection_among_802_11b_stations_is_dsss() {
        let mut config = WifiConfig::new(Standard::G);
        config.protection = Protection::CtsToSelf;
        let timing = Timing::new(&config);
        assert_eq!(us(timing.cts), 192 + 11);
        assert_eq!(us(timing.rts), 192 + 15);
        assert_eq!(us(timing.ack), 34);
    }

    #[test]
    fn answers_go_at_a_basic_rate_of_the_same_kind() {
        let mbps = |rate: u64| BitRate::from_bps(rate * 1_000_000);
        let mixed = [mbps(1), mbps(2), mbps(11), mbps(6), mbps(12)];
        assert_eq!(answer_rate(mbps(54), &mixed), mbps(12));
        assert_eq!(answer_rate(mbps(9), &mixed), mbps(6));
        assert_eq!(answer_rate(mbps(11), &mixed), mbps(11));
        // Without a basic rate of the kind, a mandatory one serves.
        assert_eq!(answer_rate(mbps(54), &mixed[..3]), mbps(24));
        assert_eq!(answer_rate(mbps(6), &[mbps(24)]), mbps(6));
        assert_eq!(answer_rate(mbps(11), &[mbps(6)]), mbps(11));
    }
}
