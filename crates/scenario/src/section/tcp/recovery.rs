//! Loss recovery and the retransmission timeout.

use lasthop_tcp::{Config, LossDetection, Recovery, Reduction, RttEstimator};
use lasthop_units::Span;

use super::names::{self, described};
use super::{Setting, flag, named, setting};
use crate::fields::Fields;
use crate::kind::{Key, Kind, duration, integer, key, time};

const MOST: u64 = u32::MAX as u64;

pub(super) fn settings() -> Vec<Setting> {
    vec![
        named!(
            "recovery",
            recovery,
            Recovery,
            "recovery",
            names::RECOVERY,
            "Which algorithm repairs losses."
        ),
        named!(
            "reduction",
            reduction,
            Reduction,
            "reduction",
            names::REDUCTION,
            "How the congestion window comes down to the new threshold in recovery."
        ),
        named!(
            "loss_detection",
            loss_detection,
            LossDetection,
            "loss detection",
            names::LOSS_DETECTION,
            "How losses are told from reordering."
        ),
        setting(
            "dup_ack_threshold",
            integer(1, 255),
            "Duplicate ACKs that start fast retransmit.",
            |config, value| {
                if let Some(threshold) = value.small() {
                    config.dup_ack_threshold = threshold;
                }
            },
        ),
        flag!(
            limited_transmit,
            "Send new data on the first duplicate ACKs (RFC 3042)."
        ),
        flag!(tail_loss_probe, "Tail loss probe (RFC 8985 section 7)."),
        flag!(frto, "Detect spurious timeouts by F-RTO (RFC 5682)."),
        flag!(
            undo,
            "Undo reductions that timestamps (RFC 4015) or DSACKs (RFC 3708) show to have been needless."
        ),
        Setting {
            key: key(
                "rto",
                Kind::Table(rto_keys()),
                "The retransmission timeout (RFC 6298).",
            )
            .otherwise("the personality's"),
            apply: |config, value| {
                if let Some(fields) = value.table() {
                    apply_rto(config, fields);
                }
            },
        },
    ]
}

fn rto_keys() -> Vec<Key> {
    let keys = vec![
        key("initial", duration(), "Before the first measurement."),
        key("min", time(), "Floor."),
        key("max", duration(), "Ceiling, back-off included."),
        key(
            "estimator",
            described("estimator", RttEstimator::names(), names::ESTIMATOR),
            "How round-trip times become a timeout.",
        ),
        key(
            "tick",
            time(),
            "The clock round-trip times are measured with; \"0 s\" is exact.",
        ),
        key(
            "heartbeat",
            time(),
            "The timer goes off only at multiples of this (BSD's 500 ms); \"0 s\" is exact.",
        ),
        key("max_backoff", integer(1, MOST), "Largest back-off factor."),
        key(
            "max_retries",
            integer(1, MOST),
            "Timeouts of one segment before the connection is given up.",
        ),
        key(
            "max_syn_retries",
            integer(1, MOST),
            "Timeouts of a SYN before the connection is given up.",
        ),
    ];
    keys.into_iter()
        .map(|key| key.otherwise("the personality's"))
        .collect()
}

fn apply_rto(config: &mut Config, fields: &Fields) {
    let rto = &mut config.rto;
    let times: [(&str, &mut Span); 5] = [
        ("initial", &mut rto.initial),
        ("min", &mut rto.min),
        ("max", &mut rto.max),
        ("tick", &mut rto.tick),
        ("heartbeat", &mut rto.heartbeat),
    ];
    for (key, field) in times {
        *field = fields.time(key).unwrap_or(*field);
    }
    let counts: [(&str, &mut u32); 3] = [
        ("max_backoff", &mut rto.max_backoff),
        ("max_retries", &mut rto.max_retries),
        ("max_syn_retries", &mut rto.max_syn_retries),
    ];
    for (key, field) in counts {
        *field = fields.small(key).unwrap_or(*field);
    }
    if let Some(estimator) = fields.name("estimator").and_then(RttEstimator::from_name) {
        rto.estimator = estimator;
    }
}
