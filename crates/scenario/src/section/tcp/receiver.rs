//! The receiver: acknowledgements and the window announced.

use lasthop_tcp::{AutoTuning, Config, DelayedAck, Personality, ReceiveBuffer};
use lasthop_units::Span;

use super::{Setting, flag, setting};
use crate::fields::{Checked, Value};
use crate::kind::{Key, Kind, choice, duration, integer, key, word};

const MOST: u64 = u32::MAX as u64;
const LARGEST_WINDOW: u64 = 1 << 30;

pub(super) fn settings() -> Vec<Setting> {
    vec![
        setting(
            "delayed_ack",
            Kind::Any(vec![
                Kind::Flag,
                choice("delayed ACK", DelayedAck::names()),
                Kind::Table(vec![
                    key("timeout", duration(), "A fixed delay (RFC 9293: at most 500 ms).").otherwise("none"),
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
            Kind::Counted {
                noun: "segments",
                min: 0,
                max: MOST,
            },
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
                Kind::Size {
                    min: 1,
                    max: LARGEST_WINDOW,
                },
                Kind::Counted {
                    noun: "segments",
                    min: 1,
                    max: LARGEST_WINDOW,
                },
                word(
                    "auto",
                    "Linux's auto-tuning, with the personality's bounds if it has any",
                ),
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
    let size = Kind::Size {
        min: 1,
        max: LARGEST_WINDOW,
    };
    let keys = vec![
        key(
            "min",
            size.clone(),
            "Memory a socket is sure of (tcp_rmem's first number).",
        ),
        key("default", size.clone(), "Memory it begins with (the second)."),
        key("max", size, "Memory it may grow to (the third)."),
        key(
            "adv_win_scale",
            Kind::Number {
                min: -31.0,
                max: 31.0,
            },
            "tcp_adv_win_scale: 1/2^n of the buffer is kept for overhead; negative: all but 1/2^-n.",
        ),
        key(
            "initial_segments",
            integer(1, MOST),
            "Most segments announced at first.",
        ),
        key(
            "clamp",
            Kind::Flag,
            "Announce a slowly growing share of the window, not the whole buffer.",
        ),
    ];
    keys.into_iter()
        .map(|key| key.otherwise("the personality's, or Linux 6's"))
        .collect()
}

/// The personality's auto-tuning, or Linux 6's where it has none.
fn auto_tuning(config: &Config) -> Option<AutoTuning> {
    let linux = Personality::by_name("linux-6").map(|personality| personality.config.receive_buffer);
    [Some(config.receive_buffer), linux]
        .into_iter()
        .flatten()
        .find_map(|buffer| match buffer {
            ReceiveBuffer::Auto(tuning) => Some(tuning),
            ReceiveBuffer::Fixed { .. } => None,
        })
}

fn apply_receive_buffer(config: &mut Config, value: &Checked) {
    config.receive_buffer = match &value.value {
        Value::Size(bytes) => ReceiveBuffer::Fixed { bytes: *bytes },
        Value::Counted(segments) => {
            let bytes = segments
                .saturating_mul(u64::from(config.smss))
                .min(LARGEST_WINDOW);
            ReceiveBuffer::Fixed { bytes }
        }
        Value::Table(fields) => match auto_tuning(config) {
            Some(usual) => ReceiveBuffer::Auto(AutoTuning {
                min: fields.size("min").unwrap_or(usual.min),
                default: fields.size("default").unwrap_or(usual.default),
                max: fields.size("max").unwrap_or(usual.max),
                adv_win_scale: fields
                    .number("adv_win_scale")
                    .map_or(usual.adv_win_scale, |n| n as i8),
                initial_segments: fields.small("initial_segments").unwrap_or(usual.initial_segments),
                clamp: fields.flag("clamp").unwrap_or(usual.clamp),
                right_sizing: usual.right_sizing,
            }),
            None => config.receive_buffer,
        },
        _ => auto_tuning(config).map_or(config.receive_buffer, ReceiveBuffer::Auto),
    };
}
