//! Stack personalities: named bundles of settings that behave like a real
//! stack (or like ns-2).

use lasthop_units::Span;

use crate::config::{
    AckCounting, AutoTuning, Config, DelayedAck, IdleRestart, InitialSsthresh, IpVersion, LossDetection,
    ReceiveBuffer, Recovery, Reduction, RightSizing, RtoConfig, RttEstimator,
};
use crate::congestion::CongestionConfig;

/// A stack's name and settings.
#[derive(Clone, Debug)]
pub struct Personality {
    /// The name scenarios use.
    pub name: &'static str,
    /// One line for people.
    pub summary: &'static str,
    /// Where the settings come from.
    pub source: &'static str,
    /// The settings.
    pub config: Config,
}

impl Personality {
    /// Every personality, oldest first.
    pub fn all() -> Vec<Self> {
        vec![ns2(), linux_2_6(), linux_6(), freebsd_14()]
    }

    /// The personality of that name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::all()
            .into_iter()
            .find(|personality| personality.name == name)
    }

    /// Every name.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Self::all().into_iter().map(|personality| personality.name)
    }
}

fn ns2() -> Personality {
    Personality {
        name: "ns-2",
        summary: "ns-2 2.35's one-way TCP agents: 1000-byte packets, 40 header bytes, no options on the wire",
        source: "ns-2 2.35: tcl/lib/ns-default.tcl, tcp/tcp.cc, tcp/tcp-sack1.cc, tcp/tcp-sink.cc",
        config: Config {
            smss: 1000,
            ip_version: IpVersion::V4,
            header_bytes: Some(40),
            timestamps: false,
            sack: true,
            dsack: false,
            window_scaling: true,
            congestion: CongestionConfig::reno(),
            initial_window_segments: 2,
            initial_ssthresh: InitialSsthresh::PeerWindow,
            ack_counting: AckCounting::PerAck,
            cwnd_limited_growth: false,
            idle_restart: IdleRestart::OneSegment,
            max_cwnd_segments: None,
            recovery: Recovery::Sack,
            reduction: Reduction::Ns2,
            loss_detection: LossDetection::DupAcks,
            dup_ack_threshold: 3,
            limited_transmit: true,
            tail_loss_probe: false,
            frto: false,
            undo: false,
            rto: RtoConfig {
                initial: Span::from_secs(3),
                min: Span::from_ms(200),
                max: Span::from_secs(60),
                estimator: RttEstimator::Ticks,
                tick: Span::from_ms(10),
                // 10 ms times the second number ns-2 draws with seed 1.
                tick_phase: Span::from_ns(5_558_807),
                heartbeat: Span::ZERO,
                max_backoff: u32::MAX,
                max_retries: u32::MAX,
                max_syn_retries: u32::MAX,
            },
            nagle: false,
            time_wait: Span::from_secs(60),
            delayed_ack: DelayedAck::Off,
            quick_ack_segments: 0,
            receive_buffer: ReceiveBuffer::Fixed { bytes: 20_000 },
            auto_read: true,
        },
    }
}

fn linux_2_6() -> Personality {
    Personality {
        name: "linux-2.6",
        summary: "Linux 2.6.35: Reno by choice of the sources, SACK with rate halving, initial window 3",
        source: "Linux 2.6.35 net/ipv4; Ciminieri 2013, 7.1 and table 7.6",
        config: Config {
            smss: 1448,
            ip_version: IpVersion::V4,
            header_bytes: None,
            timestamps: true,
            sack: true,
            dsack: true,
            window_scaling: true,
            congestion: CongestionConfig::reno(),
            initial_window_segments: 3,
            initial_ssthresh: InitialSsthresh::Unlimited,
            ack_counting: AckCounting::PerAckOfSegment,
            cwnd_limited_growth: true,
            idle_restart: IdleRestart::Decay,
            max_cwnd_segments: None,
            recovery: Recovery::Sack,
            reduction: Reduction::RateHalving,
            loss_detection: LossDetection::Fack,
            dup_ack_threshold: 3,
            limited_transmit: true,
            tail_loss_probe: false,
            frto: true,
            undo: true,
            rto: RtoConfig {
                initial: Span::from_secs(3),
                max_syn_retries: 5,
                ..linux_rto()
            },
            nagle: true,
            time_wait: Span::from_secs(60),
            delayed_ack: DelayedAck::Linux {
                min: Span::from_ms(40),
                max: Span::from_ms(200),
            },
            quick_ack_segments: 16,
            receive_buffer: ReceiveBuffer::Auto(AutoTuning {
                min: 4096,
                default: 87_380,
                max: 3_244_032,
                adv_win_scale: 2,
                clamp: true,
                initial_segments: 4,
                right_sizing: RightSizing::Doubling,
            }),
            auto_read: true,
        },
    }
}

fn linux_6() -> Personality {
    let base = linux_2_6().config;
    Personality {
        name: "linux-6",
        summary: "Linux 6: CUBIC, RACK-TLP, PRR, initial window 10",
        source: "Linux 6 net/ipv4 and Documentation/networking/ip-sysctl.rst",
        config: Config {
            congestion: CongestionConfig::cubic(),
            initial_window_segments: 10,
            ack_counting: AckCounting::PerSegment,
            reduction: Reduction::Prr,
            loss_detection: LossDetection::Rack,
            tail_loss_probe: true,
            rto: RtoConfig {
                max_syn_retries: 6,
                ..linux_rto()
            },
            receive_buffer: ReceiveBuffer::Auto(AutoTuning {
                min: 4096,
                default: 131_072,
                max: 6_291_456,
                adv_win_scale: 1,
                clamp: true,
                initial_segments: 44,
                right_sizing: RightSizing::Extrapolating,
            }),
            ..base
        },
    }
}

/// Linux: 200 ms floor under the variance term, 120 s ceiling, `tcp_retries2` = 15.
fn linux_rto() -> RtoConfig {
    RtoConfig {
        initial: Span::from_secs(1),
        min: Span::from_ms(200),
        max: Span::from_secs(120),
        estimator: RttEstimator::Linux,
        tick: Span::ZERO,
        tick_phase: Span::ZERO,
        heartbeat: Span::ZERO,
        max_backoff: u32::MAX,
        max_retries: 15,
        max_syn_retries: 6,
    }
}

fn freebsd_14() -> Personality {
    let base = linux_2_6().config;
    Personality {
        name: "freebsd-14",
        summary: "FreeBSD 14: CUBIC, SACK with PRR, byte counting with L = 2, 40 ms delayed ACK",
        source: "FreeBSD 14 sys/netinet and tcp(4)",
        config: Config {
            congestion: CongestionConfig::cubic(),
            initial_window_segments: 10,
            ack_counting: AckCounting::PerByte { limit_segments: 2 },
            cwnd_limited_growth: true,
            idle_restart: IdleRestart::InitialWindow,
            reduction: Reduction::Prr,
            frto: false,
            undo: true,
            rto: RtoConfig {
                initial: Span::from_secs(1),
                min: Span::from_ms(30),
                max: Span::from_secs(64),
                estimator: RttEstimator::Rfc6298,
                tick: Span::from_ms(1),
                tick_phase: Span::ZERO,
                heartbeat: Span::ZERO,
                max_backoff: 512,
                max_retries: 12,
                max_syn_retries: 12,
            },
            delayed_ack: DelayedAck::Fixed {
                timeout: Span::from_ms(40),
            },
            quick_ack_segments: 0,
            receive_buffer: ReceiveBuffer::Auto(AutoTuning {
                min: 65_536,
                default: 65_536,
                max: 2_097_152,
                adv_win_scale: 0,
                clamp: false,
                initial_segments: 44,
                right_sizing: RightSizing::Doubling,
            }),
            ..base
        },
    }
}
