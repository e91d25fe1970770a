//! What describes an 802.11 medium.

use lasthop_units::BitRate;

use super::Standard;
use crate::names::named;

/// One 802.11 channel with an access point and its stations.
///
/// [`WifiConfig::new`] gives the usual settings of a standard; every field can
/// then be changed.
#[derive(Clone, Debug, PartialEq)]
pub struct WifiConfig {
    /// Which PHY.
    pub standard: Standard,
    /// Rate of frames that carry packets.
    pub data_rate: BitRate,
    /// The BSS basic rate set. A MAC ACK goes at the highest of these that is
    /// not above the rate of the frame it answers and modulated like it; if
    /// there is none, at such a mandatory rate (IEEE 802.11-2012, 9.7.6.5.2).
    pub basic_rates: Vec<BitRate>,
    /// What precedes a data frame.
    pub protection: Protection,
    /// Rate of RTS, and of the CTS that answers it or stands alone. In an
    /// 802.11g cell with 802.11b stations it is one of the DSSS/CCK rates (1,
    /// 2, 5.5, 11 Mbit/s), so that they understand it (9.23.2);
    /// such a rate brings the DSSS preamble with it.
    pub protection_rate: BitRate,
    /// With [`Protection::RtsCts`], MPDUs of at most this many bytes go without
    /// (dot11RTSThreshold). Longer ones count against the long retry limit.
    pub rts_threshold: u32,
    /// DSSS/CCK frames above 1 Mbit/s use the short preamble (96 µs instead of 192 µs).
    pub short_preamble: bool,
    /// 802.11g with the 9 µs slot, allowed while no 802.11b station is
    /// associated; otherwise 20 µs. Other standards ignore it.
    pub short_slot: bool,
    /// Smallest contention window, in slots, instead of the standard's.
    pub cw_min: Option<u32>,
    /// Largest contention window, in slots, instead of the standard's 1023.
    pub cw_max: Option<u32>,
    /// The access point's radio.
    pub access_point: RadioConfig,
    /// Every station's radio.
    pub stations: RadioConfig,
}

/// One radio.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RadioConfig {
    /// dot11ShortRetryLimit: a frame up to the RTS threshold (or its RTS) is
    /// given up after this many failed attempts. At least 1.
    pub short_retry_limit: u32,
    /// dot11LongRetryLimit: the same for longer frames, sent after RTS/CTS.
    pub long_retry_limit: u32,
    /// Packets the transmit queue holds, counting the one being sent.
    pub queue_packets: u32,
    /// How frames this radio sends are spoilt.
    pub errors: FrameErrors,
}

/// What precedes a data frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protection {
    /// Nothing: basic access.
    #[default]
    None,
    /// A CTS to oneself (9.3.2.11): 802.11g among 802.11b stations.
    CtsToSelf,
    /// RTS and CTS (9.3.2.6).
    RtsCts,
}

named!(Protection { None => "none", CtsToSelf => "cts-to-self", RtsCts => "rts-cts" });

/// How frames on the air are spoilt. Applies to every frame of an exchange:
/// RTS, CTS, data and MAC ACK.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum FrameErrors {
    /// Not at all.
    #[default]
    None,
    /// Each bit of the MPDU independently at this rate: 1 - (1 - ber)^bits.
    BitErrorRate(f64),
    /// Thermal noise at this signal-to-noise ratio over the channel's width;
    /// the bit error rate follows from each frame's modulation and coding.
    Snr {
        /// The ratio in decibels.
        db: f64,
    },
}

impl FrameErrors {
    /// The names of the kinds, in the order they are listed.
    pub const NAMES: &'static [&'static str] = &["none", "bit-error-rate", "snr"];

    /// The name of this kind.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::BitErrorRate(_) => "bit-error-rate",
            Self::Snr { .. } => "snr",
        }
    }

    /// The kind of that name with its number (a rate, or decibels).
    pub fn from_name(name: &str, value: f64) -> Option<Self> {
        match name {
            "none" => Some(Self::None),
            "bit-error-rate" => Some(Self::BitErrorRate(value)),
            "snr" => Some(Self::Snr { db: value }),
            _ => None,
        }
    }
}

/// What becomes of the frames queued from and for a radio that goes down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QueuedFrames {
    /// They wait at both ends until the radio is back, and further packets
    /// join them as far as the queues hold; a frame in the air counts as one
    /// failed attempt and waits too. What a buffering access point does.
    #[default]
    Keep,
    /// They are dropped at once, and so is every packet handed over while the
    /// radio is down. What an access point does that is told of the departure.
    Drop,
    /// The other end does not know: it goes on sending, hears no MAC ACK, and
    /// gives up each frame at its retry limit, using airtime meanwhile. The
    /// radio's own frames wait. What an access point does until it notices.
    Retry,
}

named!(QueuedFrames { Keep => "keep", Drop => "drop", Retry => "retry" });

/// What a packet is, for the airtime account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FrameClass {
    /// It carries payload.
    #[default]
    Data,
    /// A TCP segment without payload.
    Ack,
    /// Anything else.
    Other,
}

named!(FrameClass { Data => "data", Ack => "ack", Other => "other" });

/// Why a [`WifiConfig`] cannot work.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum WifiError {
    /// The data rate, a basic rate or the protection rate is none of the standard's.
    #[error("{rate} is no rate of 802.11{}; it has {}", standard.name(), spell(standard.rates()))]
    Rate {
        /// The rate asked for.
        rate: BitRate,
        /// The standard asked for.
        standard: Standard,
    },
    /// No basic rate is given.
    #[error("the basic rate set is empty")]
    NoBasicRate,
    /// A retry limit of zero would drop every frame unsent.
    #[error("a retry limit must be at least 1")]
    RetryLimit,
    /// A contention window is empty, or the largest below the smallest.
    #[error("the contention window must grow from {min} to {max} slots")]
    ContentionWindow {
        /// The smallest window.
        min: u32,
        /// The largest window.
        max: u32,
    },
    /// A bit error rate outside 0..=1, or an infinite or undefined ratio.
    #[error("{0} is no bit error rate or signal-to-noise ratio")]
    Errors(f64),
}

fn spell(rates: &[BitRate]) -> String {
    rates
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(", ")
}

impl RadioConfig {
    /// The standard's retry limits (7 and 4), 100 packets, no errors.
    pub const fn new() -> Self {
        Self {
            short_retry_limit: 7,
            long_retry_limit: 4,
            queue_packets: 100,
            errors: FrameErrors::None,
        }
    }

    fn check(&self) -> Result<(), WifiError> {
        if self.short_retry_limit == 0 || self.long_retry_limit == 0 {
            return Err(WifiError::RetryLimit);
        }
        match self.errors {
            FrameErrors::BitErrorRate(rate) if !(0.0..=1.0).contains(&rate) => Err(WifiError::Errors(rate)),
            FrameErrors::Snr { db } if !db.is_finite() => Err(WifiError::Errors(db)),
            _ => Ok(()),
        }
    }
}

impl Default for RadioConfig {
    fn default() -> Self {
        Self::new()
    }
}

impl WifiConfig {
    /// The usual settings of `standard`: its highest rate, the usual basic
    /// rate set, no protection, the long DSSS preamble, and for
    /// 802.11g a cell without 802.11b stations.
    pub fn new(standard: Standard) -> Self {
        Self {
            standard,
            data_rate: standard.default_data_rate(),
            basic_rates: standard.usual_basic_rates().to_vec(),
            protection: Protection::None,
            protection_rate: standard.default_protection_rate(),
            rts_threshold: 0,
            short_preamble: false,
            short_slot: true,
            cw_min: None,
            cw_max: None,
            access_point: RadioConfig::new(),
            stations: RadioConfig::new(),
        }
    }

    /// Smallest and largest contention window in slots.
    pub fn contention_window(&self) -> (u32, u32) {
        let max = self.cw_max.unwrap_or(1023);
        (self.cw_min.unwrap_or_else(|| self.standard.cw_min()), max)
    }

    /// Checks what [`crate::Medium::new`] relies on.
    ///
    /// # Errors
    /// The first thing found wrong.
    pub fn check(&self) -> Result<(), WifiError> {
        if self.basic_rates.is_empty() {
            return Err(WifiError::NoBasicRate);
        }
        let rates = [self.data_rate, self.protection_rate];
        for &rate in rates.iter().chain(&self.basic_rates) {
            if !self.standard.rates().contains(&rate) {
                return Err(WifiError::Rate {
                    rate,
                    standard: self.standard,
                });
            }
        }
        let (min, max) = self.contention_window();
        if min == 0 || max < min || max > 65_535 {
            return Err(WifiError::ContentionWindow { min, max });
        }
        self.access_point.check()?;
        self.stations.check()
    }
}
