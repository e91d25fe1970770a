//! Congestion window.

use lasthop_tcp::{AckCounting, IdleRestart, InitialSsthresh};

use super::congestion;
use super::names::{self, described};
use super::{Setting, flag, named, segments, setting};
use crate::kind::{Kind, word};

pub(super) fn settings() -> Vec<Setting> {
    vec![
        setting(
            "congestion_control",
            congestion::kind(),
            "How the congestion window grows and what it comes down to, whatever the recovery: a name, \
             or a table with its parameters.",
            congestion::apply,
        ),
        setting(
            "initial_window",
            segments(),
            "Congestion window after the handshake.",
            |config, value| {
                if let Some(segments) = value.small() {
                    config.initial_window_segments = segments;
                }
            },
        ),
        setting(
            "initial_ssthresh",
            Kind::Any(vec![
                segments(),
                word("unlimited", "slow start lasts until the first loss (RFC 5681)"),
                word(
                    "peer-window",
                    "the window the peer announces in the handshake (ns-2's window_)",
                ),
            ]),
            "Slow-start threshold after the handshake.",
            |config, value| {
                config.initial_ssthresh = match (value.small(), value.name()) {
                    (Some(segments), _) => InitialSsthresh::Segments(segments),
                    (_, Some("peer-window")) => InitialSsthresh::PeerWindow,
                    _ => InitialSsthresh::Unlimited,
                };
            },
        ),
        setting(
            "ack_counting",
            described("ACK counting", AckCounting::names(), names::ACK_COUNTING),
            "What one ACK is worth to the growth of the congestion window.",
            |config, value| {
                if let Some(rule) = value.name().and_then(AckCounting::from_name) {
                    config.ack_counting = rule;
                }
            },
        ),
        setting(
            "ack_counting_limit",
            segments(),
            "With per-byte counting: the most one ACK is worth in slow start (RFC 3465's L).",
            |config, value| {
                if let (Some(limit), AckCounting::PerByte { limit_segments }) =
                    (value.small(), &mut config.ack_counting)
                {
                    *limit_segments = limit;
                }
            },
        ),
        flag!(
            cwnd_limited_growth,
            "Grow only while the congestion window is what limits the flow (Linux, RFC 7661)."
        ),
        named!(
            "idle_restart",
            idle_restart,
            IdleRestart,
            "idle restart",
            names::IDLE_RESTART,
            "What a pause of more than one RTO does to the congestion window."
        ),
        setting(
            "max_cwnd",
            Kind::Any(vec![segments(), word("unlimited", "no bound")]),
            "Upper bound of the congestion window (Linux's snd_cwnd_clamp).",
            |config, value| config.max_cwnd_segments = value.small(),
        ),
    ]
}
