//! Every setting of a host's TCP by key.

pub(crate) mod congestion;
mod names;
mod receiver;
mod recovery;
mod window;

use std::sync::OnceLock;

use lasthop_tcp::{Config, IpVersion, Personality, SENDERS, apply_sender};

use crate::fields::{Checked, Fields};
use crate::kind::{Key, Kind, Name, key, time, word};

use names::described;
pub(crate) use names::{ACK_COUNTING, RECOVERY, SENDER, help};

/// At least one segment, and no more than any window holds.
pub(super) fn segments() -> Kind {
    Kind::Counted {
        noun: "segments",
        min: 1,
        max: 1 << 20,
    }
}

/// A key of a host and the setting it changes.
pub(crate) struct Setting {
    pub key: Key,
    pub(super) apply: fn(&mut Config, &Checked),
}

pub(super) fn setting(
    name: &'static str,
    kind: Kind,
    help: &str,
    apply: fn(&mut Config, &Checked),
) -> Setting {
    Setting {
        key: key(name, kind, help).otherwise("the personality's"),
        apply,
    }
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
    ($key:literal, $field:ident, $type:ident, $what:literal, $lines:expr, $help:literal) => {
        setting(
            $key,
            described($what, $type::names(), $lines),
            $help,
            |config, value| {
                if let Some(choice) = value.name().and_then($type::from_name) {
                    config.$field = choice;
                }
            },
        )
    };
}

use {flag, named};

/// `personality` and `sender`, which the other settings start from.
pub(crate) fn base_keys() -> Vec<Key> {
    let personalities = Personality::all()
        .into_iter()
        .map(|p| Name {
            name: p.name,
            help: p.summary,
        })
        .collect();
    vec![
        key(
            "personality",
            Kind::Choice {
                what: "personality",
                names: personalities,
            },
            "The stack this host behaves like: the bundle of settings all others start from.",
        )
        .default("\"linux-6\""),
        key(
            "sender",
            described("sender", SENDERS.iter().copied(), names::SENDER),
            "The sender of the literature by one name: recovery and congestion control together. \
             The classic four choose the recovery and Reno's growth; the others choose the congestion \
             control and keep the personality's recovery.",
        )
        .otherwise("the personality's"),
    ]
}

/// Every other setting, in the order they are applied.
pub(crate) fn settings() -> &'static [Setting] {
    static SETTINGS: OnceLock<Vec<Setting>> = OnceLock::new();
    SETTINGS.get_or_init(|| {
        let groups = [
            segment_settings(),
            window::settings(),
            recovery::settings(),
            receiver::settings(),
        ];
        groups.into_iter().flatten().collect()
    })
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
                word("real", "IP, TCP and its options as they are"),
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

/// The host's TCP: its personality's, with the sender and single settings changed.
pub(crate) fn configure(fields: &Fields, ip: IpVersion) -> Option<(String, Config)> {
    let personality = Personality::by_name(fields.name("personality")?)?;
    let mut config = personality.config;
    config.ip_version = ip;
    if config.header_bytes.is_none() {
        // The device carries packets of the same size.
        config.smss -= ip.header_bytes() - IpVersion::V4.header_bytes();
    }
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
