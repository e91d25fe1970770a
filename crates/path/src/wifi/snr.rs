//! From frame errors as configured to the probability that a frame is spoilt.
//!
//! The signal-to-noise ratio is taken over the channel's width: 20 MHz for
//! OFDM, 22 MHz for DSSS/CCK, additive white Gaussian noise.
//!
//! * OFDM: the raw bit error rate of BPSK, QPSK, 16-QAM and 64-QAM with Gray
//!   mapping, then the union bound of the K = 7 convolutional code under hard
//!   decisions with the distance spectra of its rates 1/2, 2/3 and 3/4
//!   (Frenger, Orten and Ottosson 1999; the method of Pei and Henderson 2010).
//! * DSSS/CCK: DBPSK and DQPSK with the spreading gain, CCK by the union bound
//!   over its codewords (IEEE 802.15.2-2003).

use lasthop_units::BitRate;

use super::standard::{Modulation, modulation};
use super::{FrameErrors, Timing};
use crate::errors::loss_probability;

/// Loss probabilities of the frames one radio sends.
#[derive(Clone, Debug)]
pub(super) struct FrameLoss {
    data_bit_error_rate: f64,
    /// Probability that a MAC ACK, an RTS, a CTS is spoilt.
    pub(super) ack: f64,
    pub(super) rts: f64,
    pub(super) cts: f64,
    /// The last data frame's size and probability: each radio sends few sizes.
    cached: (u32, f64),
}

impl FrameLoss {
    pub(super) fn new(errors: FrameErrors, timing: &Timing) -> Self {
        let spoilt =
            |bytes: u32, rate| loss_probability(bit_error_rate(errors, rate), 8.0 * f64::from(bytes));
        Self {
            data_bit_error_rate: bit_error_rate(errors, timing.data_rate()),
            ack: spoilt(Timing::ACK_BYTES, timing.ack_rate),
            rts: spoilt(Timing::RTS_BYTES, timing.protection_rate),
            cts: spoilt(Timing::ACK_BYTES, timing.protection_rate),
            cached: (0, 0.0),
        }
    }

    /// Probability that a data frame of `bytes` MPDU bytes is spoilt.
    pub(super) fn data(&mut self, bytes: u32) -> f64 {
        if self.data_bit_error_rate == 0.0 {
            return 0.0;
        }
        if self.cached.0 != bytes {
            let bits = 8.0 * f64::from(bytes);
            self.cached = (bytes, loss_probability(self.data_bit_error_rate, bits));
        }
        self.cached.1
    }
}

/// Errors per bit of a frame sent at `rate`, after decoding.
fn bit_error_rate(errors: FrameErrors, rate: BitRate) -> f64 {
    match errors {
        FrameErrors::None => 0.0,
        FrameErrors::BitErrorRate(ber) => ber,
        FrameErrors::Snr { db } => {
            let snr = 10_f64.powf(db / 10.0);
            match modulation(rate) {
                Modulation::Dsss => dsss(snr, rate),
                Modulation::Ofdm => ofdm(snr, rate),
            }
        }
    }
}

/// A constellation by its bits per symbol and a code by its rate.
fn ofdm(snr: f64, rate: BitRate) -> f64 {
    let qam = |bits: i32| {
        // Gray-mapped square QAM: 2 (1 - 1/sqrt M) / log2 M erfc(sqrt(3/2 snr / (M - 1))).
        let points = 2_f64.powi(bits);
        let edge = 2.0 * (1.0 - 1.0 / points.sqrt()) / f64::from(bits);
        edge * erfc((1.5 * snr / (points - 1.0)).sqrt())
    };
    let bpsk = || 0.5 * erfc(snr.sqrt());
    match rate.as_bps() / 1_000_000 {
        6 => decoded(bpsk(), &HALF),
        9 => decoded(bpsk(), &THREE_QUARTERS),
        12 => decoded(qam(2), &HALF),
        18 => decoded(qam(2), &THREE_QUARTERS),
        24 => decoded(qam(4), &HALF),
        36 => decoded(qam(4), &THREE_QUARTERS),
        48 => decoded(qam(6), &TWO_THIRDS),
        _ => decoded(qam(6), &THREE_QUARTERS),
    }
}

/// A punctured code: input bits per branch, free distance, and the information
/// weights of paths at that distance and beyond.
struct Code {
    inputs: f64,
    free_distance: i32,
    weights: &'static [f64],
}

/// The (133, 171) code; its paths all have even weight.
const HALF: Code = Code {
    inputs: 1.0,
    free_distance: 10,
    weights: &[36.0, 0.0, 211.0, 0.0, 1404.0, 0.0, 11633.0],
};
const TWO_THIRDS: Code = Code {
    inputs: 2.0,
    free_distance: 6,
    weights: &[3.0, 70.0, 285.0, 1276.0, 6160.0, 27128.0],
};
const THREE_QUARTERS: Code = Code {
    inputs: 3.0,
    free_distance: 5,
    weights: &[42.0, 201.0, 1492.0, 10469.0, 62935.0, 379_644.0],
};

/// Union bound with Chernoff's bound of the pairwise error, D = sqrt(4 p (1 - p)).
fn decoded(raw: f64, code: &Code) -> f64 {
    let distance = (4.0 * raw * (1.0 - raw)).sqrt();
    let mut term = distance.powi(code.free_distance);
    let mut sum = 0.0;
    for weight in code.weights {
        sum += weight * term;
        term *= distance;
    }
    (sum / (2.0 * code.inputs)).min(0.5)
}

/// DSSS and CCK; energy per bit follows from 22 MHz of noise and the bit rate.
fn dsss(snr: f64, rate: BitRate) -> f64 {
    let per_bit = snr * 22e6 / rate.as_bps() as f64;
    let q = |x: f64| 0.5 * erfc(x / std::f64::consts::SQRT_2);
    // Energy per 8-chip codeword over noise density, for CCK at 11 Mchip/s.
    let per_codeword = snr * 22e6 / 1.375e6;
    let bit_of_codeword = |error: f64, bits: i32| {
        let words = 2_f64.powi(bits);
        error.min(1.0) * (words / 2.0) / (words - 1.0)
    };
    match rate.as_bps() {
        1_000_000 => 0.5 * (-per_bit).exp(),
        2_000_000 => {
            // Differentially detected, Gray-mapped QPSK at high ratios.
            let two = std::f64::consts::SQRT_2;
            let scale = (two + 1.0) / (8.0 * std::f64::consts::PI * two).sqrt();
            (scale / per_bit.sqrt() * (-(2.0 - two) * per_bit).exp()).min(0.5)
        }
        5_500_000 => {
            let error = 14.0 * q((per_codeword * 0.5).sqrt()) + q(per_codeword.sqrt());
            bit_of_codeword(error, 4)
        }
        _ => {
            // (codewords at that distance, share of the full distance)
            let spectrum = [
                (24.0, 4.0),
                (16.0, 6.0),
                (174.0, 8.0),
                (16.0, 10.0),
                (24.0, 12.0),
                (1.0, 16.0),
            ];
            let error = spectrum
                .iter()
                .map(|(n, d)| n * q((per_codeword * d / 16.0).sqrt()))
                .sum();
            bit_of_codeword(error, 8)
        }
    }
}

/// The complementary error function for x >= 0, relative error below 1.2e-7
/// (Chebyshev fit of Press et al., Numerical Recipes, 6.2).
fn erfc(x: f64) -> f64 {
    const FIT: [f64; 10] = [
        -1.265_512_23,
        1.000_023_68,
        0.374_091_96,
        0.096_784_18,
        -0.186_288_06,
        0.278_868_07,
        -1.135_203_98,
        1.488_515_87,
        -0.822_152_23,
        0.170_872_77,
    ];
    let t = 1.0 / (1.0 + 0.5 * x);
    let polynomial = FIT
        .iter()
        .rev()
        .fold(0.0, |sum, coefficient| sum * t + coefficient);
    t * (-x * x + polynomial).exp()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wifi::Standard;

    fn mbps(rate: f64) -> BitRate {
        BitRate::from_bps((rate * 1e6) as u64)
    }

    /// Loss of a 1500-byte packet's frame.
    fn frame_loss(db: f64, rate: f64) -> f64 {
        let ber = bit_error_rate(FrameErrors::Snr { db }, mbps(rate));
        loss_probability(ber, 8.0 * 1536.0)
    }

    #[test]
    fn the_error_function_meets_tabulated_values() {
        for (x, expected) in [
            (0.0, 1.0),
            (0.5, 0.479_500_1),
            (1.0, 0.157_299_2),
            (3.0, 2.209_05e-5),
        ] {
            assert!((erfc(x) / expected - 1.0).abs() < 1e-5, "erfc({x}) = {}", erfc(x));
        }
    }

    #[test]
    fn loss_falls_with_the_ratio_and_grows_with_the_rate() {
        let ofdm = [6.0, 12.0, 18.0, 24.0, 36.0, 48.0, 54.0];
        for rate in ofdm {
            let losses: Vec<f64> = (0..60)
                .map(|half| frame_loss(f64::from(half) / 2.0, rate))
                .collect();
            assert!(
                losses.windows(2).all(|pair| pair[0] >= pair[1]),
                "{rate}: {losses:?}"
            );
            assert!(losses[0] > 0.9 && losses[59] < 1e-6, "{rate}: {losses:?}");
        }
        for pair in ofdm.windows(2) {
            assert!(frame_loss(14.0, pair[0]) <= frame_loss(14.0, pair[1]), "{pair:?}");
        }
        for pair in [1.0, 2.0, 5.5, 11.0].windows(2) {
            assert!(frame_loss(3.0, pair[0]) <= frame_loss(3.0, pair[1]), "{pair:?}");
        }
    }

    /// Where a long frame is lost every second time. With hard decisions
    /// 54 Mbit/s needs about 22 dB, 6 Mbit/s a few dB, and DSSS works below 0 dB.
    #[test]
    fn each_rate_has_its_threshold() {
        let threshold = |rate| {
            (0..400)
                .map(|step| f64::from(step) / 10.0 - 10.0)
                .find(|&db| frame_loss(db, rate) < 0.5)
        };
        let near = |rate, low, high| {
            let db = threshold(rate).unwrap();
            assert!((low..high).contains(&db), "{rate}: {db} dB");
        };
        near(54.0, 20.0, 24.0);
        near(24.0, 11.0, 15.0);
        near(6.0, 1.0, 5.0);
        near(11.0, 2.0, 8.0);
        near(1.0, -6.0, 0.0);
    }

    #[test]
    fn control_frames_have_their_own_probabilities() {
        let timing = Timing::new(&super::super::WifiConfig::new(Standard::G));
        let mut loss = FrameLoss::new(FrameErrors::BitErrorRate(1e-4), &timing);
        assert!((loss.ack - 0.0111).abs() < 1e-4);
        assert!((loss.data(1536) - 0.7073).abs() < 1e-3);
        assert!((loss.data(76) - 0.0590).abs() < 1e-3);
        let mut none = FrameLoss::new(FrameErrors::None, &timing);
        assert!(none.data(1536) + none.ack + none.rts + none.cts < f64::MIN_POSITIVE);
    }
}
