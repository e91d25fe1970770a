//! Every setting of a host's TCP by key.

use lasthop_tcp::{
    AckCounting, AutoTuning, Config, CongestionConfig, DelayedAck, IdleRestart, InitialSsthresh,
    LossDetection, Personality, ReceiveBuffer, Recovery, Reduction, RttEstimator, SENDERS,
    apply_sender,
};
use lasthop_units::Span;

use crate::fields::{Checked, Fields, Value};
use crate::kind::{
    Key, Kind, Name, choice, duration, explained, integer, key, time, word,
};

const MOST: u64 = u32::MAX as u64;
const LARGEST_WINDOW: u64 = 1 << 30;

/// At least one segment, and no more than any window holds.
fn segments() -> Kind {
    Kind::Counted { noun: "segments", min: 1, max: 1 << 20 }
}

/// A key of a host and the setting it changes.
pub(crate) struct Setting {
    pub key: Key,
    apply: fn(&mut Config, &Checked),
}

fn setting(name: &'static str, kind: Kind, help: &str, apply: fn(&mut Config, &Checked)) -> Setting {
    Setting { key: key(name, kind, help).otherwise("the personality's"), apply }
}

/// A setting that is true or false.
macro_rules! flag {
    ($name:ident, $help:literal) => {
        setting(stringify!($name), Kind::Flag, $help, |config, value| {
            if let Some(flag) = value.flag() {
                config.$name = flag;
            }
        })
    };
}

/// A setting chosen by name.
macro_rules! named {
    ($key:literal, $field:ident, $type:ident, $what:literal, $names:expr, $help:literal) => {
        setting($key, explained($what, $names), $help, |config, value| {
            if let Some(choice) = value.name().and_then($type::from_name) {
                config.$field = choice;
            }
        })
    };
}

/// The senders by name with one line each.
pub(crate) const SENDER_HELP: [(&str, &str); 8] = [
    ("tahoe", "fast retransmit, then slow start from one segment"),
    ("reno", "fast retransmit and fast recovery (RFC 2581)"),
    ("newreno", "fast recovery that partial ACKs continue (RFC 6582)"),
    ("sack", "recovery from selective acknowledgements (RFC 6675), growth as Reno"),
    ("cubic", "CUBIC growth (RFC 9438) with the personality's recovery"),
    ("vegas", "Vegas with the personality's recovery"),
    ("westwood", "Westwood+ with the personality's recovery"),
    ("veno", "Veno with the personality's recovery"),
];

/// One line about a sender.
pub(crate) fn sender_help(name: &str) -> &'static str {
    SENDER_HELP.iter().find(|(known, _)| *known == name).map_or("", |(_, help)| help)
}

/// `personality` and `sender`, which the other settings start from.
pub(crate) fn base_keys() -> Vec<Key> {
    let personalities =
        Personality::all().into_iter().map(|p| Name { name: p.name, help: p.summary }).collect();
    let senders = SENDERS.iter().map(|name| Name { name, help: sender_help(name) }).collect();
    vec![
        key(
            "personality",
            Kind::Choice { what: "personality", names: personalities },
            "The stack this host behaves like: the bundle of settings all others start from.",
        )
        .default("\"linux-6\""),
        key(
            "sender",
            Kind::Choice { what: "sender", names: senders },
            "The sender of the literature by one name: recovery and congestion control together. \
             The classic four choose the recovery and Reno's growth; the others choose the congestion \
             control and keep the personality's recovery.",
        )
        .otherwise("the personality's"),
    ]
}

/// Every other setting, in the order they are applied.
pub(crate) fn settings() -> Vec<Setting> {
    let mut all = segment_settings();
    all.extend(window_settings());
    all.extend(recovery_settings());
    all.extend(receiver_settings());
    all
}

fn segment_settings() -> Vec<Setting> {
    vec![
        setting(
            "smss",
            Kind::Size { min: 1, max: 65_495 },
            "Payload bytes of a full segment.",
            |config, value| {
                if let Some(bytes) = value.size() {
                    config.smss = bytes as u32;
                }
            },
        ),
        setting(
            "header_bytes",
            Kind::Any(vec![
                Kind::Size { min: 0, max: 120 },
                word("real", "IPv4, TCP and its options as they are"),
            ]),
            "Header bytes counted on the wire; ns-2 counts 40 whatever the options.",
            |config, value| config.header_bytes = value.size().map(|bytes| bytes as u32),
        ),
        flag!(timestamps, "Offer and accept timestamps (RFC 7323)."),
        flag!(sack, "Offer and accept selective acknowledgements (RFC 2018)."),
        flag!(dsack, "Report duplicates in the first SACK block (RFC 2883)."),
        flag!(window_scaling, "Offer and accept window scaling (RFC 7323)."),
        flag!(nagle, "Nagle's algorithm (RFC 9293 section 3.7.4)."),
        setting(
            "time_wait",
            time(),
            "How long a closed connection lingers in TIME-WAIT.",
            |config, value| {
                if let Some(span) = value.time() {
                    config.time_wait = span;
                }
            },
        ),
    ]
}

fn window_settings() -> Vec<Setting> {
    let congestion_controls = CongestionConfig::names()
        .map(|name| Name { name, help: CongestionConfig::from_name(name).map_or("", |c| c.summary()) })
        .collect();
    vec![
        setting(
            "congestion_control",
            Kind::Choice { what: "congestion control", names: congestion_controls },
            "How the congestion window grows and what it comes down to, whatever the recovery.",
            |config, value| {
                if let Some(choice) = value.name().and_then(CongestionConfig::from_name) {
                    config.congestion = choice;
                }
            },
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
                word("peer-window", "the window the peer announces in the handshake (ns-2's window_)"),
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
            explained("ACK counting", ACK_COUNTING),
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
            &[
                ("off", "nothing"),
                ("initial-window", "back to the initial window (RFC 5681 section 4.1)"),
                ("decay", "halved for every RTO of pause (RFC 2861, Linux)"),
            ],
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

/// The counting rules with one line each.
pub(crate) const ACK_COUNTING: &[(&str, &str)] = &[
    ("per-ack", "every ACK of new data counts as one segment, however little it acknowledges"),
    ("per-segment", "whole segments acknowledged are counted (Linux)"),
    ("per-byte", "bytes acknowledged are counted, at most a limit per ACK (RFC 3465)"),
];

/// The recovery algorithms with one line each.
pub(crate) const RECOVERY: &[(&str, &str)] = &[
    ("tahoe", "fast retransmit, then slow start from one segment"),
    ("reno", "fast retransmit and fast recovery (RFC 2581)"),
    ("newreno", "fast recovery that partial ACKs continue (RFC 6582)"),
    ("sack", "selective acknowledgements (RFC 6675)"),
];

fn recovery_settings() -> Vec<Setting> {
    vec![
        named!(
            "recovery",
            recovery,
            Recovery,
            "recovery",
            RECOVERY,
            "Which algorithm repairs losses."
        ),
        named!(
            "reduction",
            reduction,
            Reduction,
            "reduction",
            &[
                ("ns-2", "window inflation by duplicate ACKs, or a counted pipe, as ns-2 2.35"),
                ("at-once", "at once (RFC 5681, RFC 6675)"),
                ("rate-halving", "one segment for every second ACK (Linux before 3.2)"),
                ("prr", "in proportion to what the receiver gets (RFC 6937)"),
            ],
            "How the congestion window comes down to the new threshold in recovery."
        ),
        named!(
            "loss_detection",
            loss_detection,
            LossDetection,
            "loss detection",
            &[
                ("dup-acks", "duplicate ACKs, or SACKed segments above the hole (RFC 6675)"),
                ("rack", "time since a segment sent later was delivered (RFC 8985)"),
            ],
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
        flag!(limited_transmit, "Send new data on the first duplicate ACKs (RFC 3042)."),
        flag!(tail_loss_probe, "Tail loss probe (RFC 8985 section 7)."),
        flag!(frto, "Detect spurious timeouts by F-RTO (RFC 5682)."),
        flag!(undo, "Undo reductions that timestamps (RFC 4015) or DSACKs (RFC 3708) show to have been needless."),
        Setting {
            key: key("rto", Kind::Table(rto_keys()), "The retransmission timeout (RFC 6298).")
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
            explained(
                "estimator",
                &[
                    ("rfc-6298", "SRTT + max(G, 4 RTTVAR), then the floor"),
                    ("linux", "the floor bounds the variance term, which falls once per round trip"),
                    ("ticks", "whole clock ticks in scaled integers (ns-2, Jacobson's code)"),
                ],
            ),
            "How round-trip times become a timeout.",
        ),
        key("tick", time(), "The clock round-trip times are measured with; \"0 s\" is exact."),
        key("heartbeat", time(), "The timer goes off only at multiples of this (BSD's 500 ms); \"0 s\" is exact."),
        key("max_backoff", integer(1, MOST), "Largest back-off factor."),
        key("max_retries", integer(1, MOST), "Timeouts of one segment before the connection is given up."),
        key("max_syn_retries", integer(1, MOST), "Timeouts of a SYN before the connection is given up."),
    ];
    keys.into_iter().map(|key| key.otherwise("the personality's")).collect()
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

fn receiver_settings() -> Vec<Setting> {
    vec![
        setting(
            "delayed_ack",
            Kind::Any(vec![
                Kind::Flag,
                choice("delayed ACK", DelayedAck::names()),
                Kind::Table(vec![
                    key("timeout", duration(), "A fixed delay (RFC 9293: at most 500 ms)."),
                    key("min", duration(), "Linux's adaptive delay: its floor.").otherwise("40 ms"),
                    key("max", duration(), "Linux's adaptive delay: its ceiling.").otherwise("200 ms"),
                ]),
            ]),
            "When in-order data is acknowledged: false or \"off\" at once; true as the personality does \
             (100 ms if it never delays); \"fixed\" every second segment or after 100 ms; \"linux\" after \
             40 to 200 ms by the sender's pace; or a table with `timeout`, or `min` and `max`.",
            apply_delayed_ack,
        ),
        setting(
            "quick_ack",
            Kind::Counted { noun: "segments", min: 0, max: MOST },
            "Segments acknowledged at once at the start of a connection and after disorder; \
             \"0 segments\" switches it off.",
            |config, value| {
                if let Some(segments) = value.small() {
                    config.quick_ack_segments = segments;
                }
            },
        ),
        setting(
            "receive_buffer",
            Kind::Any(vec![
                Kind::Size { min: 1, max: LARGEST_WINDOW },
                Kind::Counted { noun: "segments", min: 1, max: LARGEST_WINDOW },
                word("auto", "Linux's auto-tuning, with the personality's bounds if it has any"),
                Kind::Table(auto_tuning_keys()),
            ]),
            "The receive buffer. A size or a number of segments is announced whole from the first ACK \
             on; \"auto\" or a table means Linux's auto-tuning.",
            apply_receive_buffer,
        ),
        flag!(auto_read, "The application reads data as soon as it is in order."),
    ]
}

fn apply_delayed_ack(config: &mut Config, value: &Checked) {
    let usual = |name| DelayedAck::from_name(name).unwrap_or(DelayedAck::Off);
    config.delayed_ack = match &value.value {
        Value::Flag(true) if config.delayed_ack != DelayedAck::Off => config.delayed_ack,
        Value::Flag(true) => usual("fixed"),
        Value::Name(name) => usual(name),
        Value::Table(fields) => match fields.time("timeout") {
            Some(timeout) => DelayedAck::Fixed { timeout },
            None => DelayedAck::Linux {
                min: fields.time("min").unwrap_or(Span::from_ms(40)),
                max: fields.time("max").unwrap_or(Span::from_ms(200)),
            },
        },
        _ => DelayedAck::Off,
    };
}

fn auto_tuning_keys() -> Vec<Key> {
    let size = Kind::Size { min: 1, max: LARGEST_WINDOW };
    let keys = vec![
        key("min", size.clone(), "Memory a socket is sure of (tcp_rmem's first number)."),
        key("default", size.clone(), "Memory it begins with (the second)."),
        key("max", size, "Memory it may grow to (the third)."),
        key(
            "adv_win_scale",
            Kind::Number { min: -31.0, max: 31.0 },
            "tcp_adv_win_scale: 1/2^n of the buffer is kept for overhead; negative: all but 1/2^-n.",
        ),
        key("initial_segments", integer(1, MOST), "Most segments announced at first."),
        key("clamp", Kind::Flag, "Announce a slowly growing share of the window, not the whole buffer."),
    ];
    keys.into_iter().map(|key| key.otherwise("the personality's, or Linux 6's")).collect()
}

/// The personality's auto-tuning, or Linux 6's where it has none.
fn auto_tuning(config: &Config) -> Option<AutoTuning> {
    let linux = Personality::by_name("linux-6").map(|personality| personality.config.receive_buffer);
    [Some(config.receive_buffer), linux].into_iter().flatten().find_map(|buffer| match buffer {
        ReceiveBuffer::Auto(tuning) => Some(tuning),
        ReceiveBuffer::Fixed { .. } => None,
    })
}

fn apply_receive_buffer(config: &mut Config, value: &Checked) {
    config.receive_buffer = match &value.value {
        Value::Size(bytes) => ReceiveBuffer::Fixed { bytes: *bytes },
        Value::Counted(segments) => {
            let bytes = segments.saturating_mul(u64::from(config.smss)).min(LARGEST_WINDOW);
            ReceiveBuffer::Fixed { bytes }
        }
        Value::Table(fields) => match auto_tuning(config) {
            Some(usual) => ReceiveBuffer::Auto(AutoTuning {
                min: fields.size("min").unwrap_or(usual.min),
                default: fields.size("default").unwrap_or(usual.default),
                max: fields.size("max").unwrap_or(usual.max),
                adv_win_scale: fields.number("adv_win_scale").map_or(usual.adv_win_scale, |n| n as i8),
                initial_segments: fields.small("initial_segments").unwrap_or(usual.initial_segments),
                clamp: fields.flag("clamp").unwrap_or(usual.clamp),
            }),
            None => config.receive_buffer,
        },
        _ => auto_tuning(config).map_or(config.receive_buffer, ReceiveBuffer::Auto),
    };
}

/// The host's TCP: its personality's, with the sender and single settings changed.
pub(crate) fn configure(fields: &Fields) -> Option<(String, Config)> {
    let personality = Personality::by_name(fields.name("personality")?)?;
    let mut config = personality.config;
    if let Some(sender) = fields.name("sender") {
        apply_sender(&mut config, sender);
    }
    for setting in settings() {
        if let Some(value) = fields.get(setting.key.name) {
            (setting.apply)(&mut config, value);
        }
    }
    Some((personality.name.to_owned(), config))
}
