//! Wi-Fi elements.

use lasthop_path::{FrameErrors, Protection, RadioConfig, Standard, WifiConfig};

use crate::fields::{Checked, Fields};
use crate::kind::{Case, Key, Kind, counted, explained, integer, key, probability, word};
use crate::problem::Report;

/// The standards by the names scenarios use; the letter alone will do.
pub(crate) const STANDARDS: [(&str, &str); 6] = [
    (
        "802.11b",
        "DSSS/CCK at 2.4 GHz, up to 11 Mbit/s (IEEE 802.11-2012, clause 17)",
    ),
    (
        "802.11a",
        "OFDM at 5 GHz, up to 54 Mbit/s (IEEE 802.11-2012, clause 18)",
    ),
    (
        "802.11g",
        "ERP-OFDM at 2.4 GHz, up to 54 Mbit/s (IEEE 802.11-2012, clause 19)",
    ),
    ("b", "802.11b"),
    ("a", "802.11a"),
    ("g", "802.11g"),
];

/// The frame error models with one line each.
pub(crate) const FRAME_ERRORS: [(&str, &str); 2] = [
    (
        "bit-error-rate",
        "each bit of a frame is wrong independently at this rate",
    ),
    (
        "snr",
        "the bit error rate follows from a signal-to-noise ratio and each frame's modulation",
    ),
];

fn errors() -> Kind {
    let keys = [
        key("rate", probability(), "Probability that a bit is wrong.").required(),
        key(
            "db",
            Kind::Number {
                min: -100.0,
                max: 200.0,
            },
            "The ratio in decibels.",
        )
        .required(),
    ];
    let cases = FRAME_ERRORS
        .into_iter()
        .zip(keys)
        .map(|((name, help), key)| Case {
            name,
            help: help.to_owned(),
            keys: vec![key],
        });
    Kind::Any(vec![
        word("none", "no frame is spoilt"),
        Kind::Tagged {
            what: "frame errors",
            cases: cases.collect(),
        },
    ])
}

fn radio_keys() -> Vec<Key> {
    vec![
        key(
            "retry_limit",
            integer(1, 255),
            "Failed attempts after which a frame is given up (dot11ShortRetryLimit; basic access).",
        ),
        key(
            "long_retry_limit",
            integer(1, 255),
            "The same for frames sent after RTS and CTS (dot11LongRetryLimit).",
        ),
        key(
            "queue",
            counted("packets", 1),
            "Packets the transmit queue holds, the one being sent included.",
        ),
        key(
            "errors",
            errors(),
            "How frames on the air are spoilt: RTS, CTS, data and MAC ACKs.",
        ),
    ]
}

/// The keys of a Wi-Fi element.
pub(crate) fn keys() -> Vec<Key> {
    let mut keys = vec![
        key("standard", explained("standard", &STANDARDS), "Which PHY.").required(),
        key("data_rate", Kind::Rate, "Rate of frames that carry packets.").otherwise("the standard's highest"),
        key(
            "basic_rates",
            Kind::List { of: Box::new(Kind::Rate), min: 1, max: 32 },
            "The basic rate set. A MAC ACK goes at the highest of these not above the rate of the frame it answers.",
        )
        .otherwise("the standard's mandatory rates"),
        key(
            "protection",
            explained(
                "protection",
                &[
                    ("none", "basic access"),
                    ("cts-to-self", "802.11g among 802.11b stations"),
                    ("rts-cts", "RTS and CTS before data"),
                ],
            ),
            "What precedes a data frame.",
        )
        .default("\"none\""),
        key("protection_rate", Kind::Rate, "Rate of RTS and CTS frames.").otherwise("the standard's"),
        key("rts_threshold", Kind::Size { min: 0, max: 65_535 }, "With rts-cts: frames of at most this size go without.")
            .default("\"0 B\""),
        key("short_preamble", Kind::Flag, "DSSS/CCK frames above 1 Mbit/s use the short preamble.").default("false"),
        key("short_slot", Kind::Flag, "802.11g with the 9 us slot (no 802.11b station is there).").default("true"),
        key("cw_min", integer(1, 65_535), "Smallest contention window in slots.").otherwise("the standard's"),
        key("cw_max", integer(1, 65_535), "Largest contention window in slots.").default("1023"),
    ];
    let defaults = ["7", "4", "\"100 packets\"", "\"none\""];
    keys.extend(
        radio_keys()
            .into_iter()
            .zip(defaults)
            .map(|(key, default)| key.default(default)),
    );
    let radio = || {
        Kind::Table(
            radio_keys()
                .into_iter()
                .map(|key| key.otherwise("the element's"))
                .collect(),
        )
    };
    keys.push(
        key(
            "access_point",
            radio(),
            "What differs at the access point's radio.",
        )
        .otherwise("nothing"),
    );
    keys.push(key("stations", radio(), "What differs at the stations' radios.").otherwise("nothing"));
    keys
}

/// The medium a checked table describes.
pub(crate) fn lower(fields: &Fields, report: &mut Report) -> Option<WifiConfig> {
    let name = fields.name("standard")?;
    let standard = Standard::from_name(name.trim_start_matches("802.11"))?;
    let mut config = WifiConfig::new(standard);
    if let Some(rate) = fields.rate("data_rate") {
        config.data_rate = rate;
    }
    if fields.get("basic_rates").is_some() {
        config.basic_rates = fields
            .list("basic_rates")
            .iter()
            .filter_map(Checked::rate)
            .collect();
    }
    if let Some(protection) = fields.name("protection").and_then(Protection::from_name) {
        config.protection = protection;
    }
    if let Some(rate) = fields.rate("protection_rate") {
        config.protection_rate = rate;
    }
    config.rts_threshold = fields.size("rts_threshold")? as u32;
    config.short_preamble = fields.flag("short_preamble")?;
    config.short_slot = fields.flag("short_slot")?;
    config.cw_min = fields.small("cw_min");
    config.cw_max = fields.small("cw_max");
    apply(&mut config.access_point, fields);
    apply(&mut config.stations, fields);
    for (key, radio) in [
        ("access_point", &mut config.access_point),
        ("stations", &mut config.stations),
    ] {
        if let Some(only) = fields.table(key) {
            apply(radio, only);
        }
    }
    check(&config, name, fields, report).then_some(config)
}

fn apply(radio: &mut RadioConfig, fields: &Fields) {
    if let Some(limit) = fields.small("retry_limit") {
        radio.short_retry_limit = limit;
    }
    if let Some(limit) = fields.small("long_retry_limit") {
        radio.long_retry_limit = limit;
    }
    if let Some(packets) = fields.small("queue") {
        radio.queue_packets = packets;
    }
    if let Some(errors) = fields.get("errors") {
        radio.errors = errors.table().map_or(FrameErrors::None, frame_errors);
    }
}

fn frame_errors(fields: &Fields) -> FrameErrors {
    match (fields.number("rate"), fields.number("db")) {
        (Some(rate), _) if rate > 0.0 => FrameErrors::BitErrorRate(rate),
        (_, Some(db)) => FrameErrors::Snr { db },
        _ => FrameErrors::None,
    }
}

/// Rates the standard lacks and windows that shrink.
fn check(config: &WifiConfig, name: &str, fields: &Fields, report: &mut Report) -> bool {
    let rates = config.standard.rates();
    let mut good = true;
    let mut known = |key: &str, rate: lasthop_units::BitRate| {
        if !rates.contains(&rate) {
            let list: Vec<String> = rates.iter().map(ToString::to_string).collect();
            let message = format!("{rate} is no rate of {name}; allowed: {}", list.join(", "));
            report.add(fields.at(key), message);
            good = false;
        }
    };
    known("data_rate", config.data_rate);
    known("protection_rate", config.protection_rate);
    for &rate in &config.basic_rates {
        known("basic_rates", rate);
    }
    if good && let Err(error) = config.check() {
        report.add(fields.at("cw_min"), error.to_string());
        good = false;
    }
    good
}
