//! Wired elements.

use lasthop_path::{ErrorModel, Jitter, LinkConfig, QueueLimit, WiredConfig};
use lasthop_units::{Direction, Span};

use crate::fields::{Checked, Fields, Value};
use crate::kind::{Case, Key, Kind, choice, counted, explained, key, list, probability, time, word};
use crate::problem::Report;
use crate::section::when;

/// The settings both directions have.
fn direction_keys() -> Vec<Key> {
    vec![
        key(
            "rate",
            Kind::Any(vec![
                Kind::Rate,
                word("unlimited", "packets take no time on the wire"),
            ]),
            "Serialisation rate.",
        ),
        key("delay", time(), "Propagation delay, one way."),
        key(
            "jitter",
            Kind::Any(vec![
                time(),
                Kind::Table(vec![
                    key(
                        "spread",
                        time(),
                        "Half the width (uniform) or standard deviation (normal).",
                    )
                    .required(),
                    key(
                        "type",
                        choice("jitter", ["uniform", "normal"]),
                        "The distribution.",
                    )
                    .default("\"uniform\""),
                    key(
                        "reorder",
                        Kind::Flag,
                        "Whether a packet may overtake earlier ones.",
                    )
                    .default("false"),
                ]),
            ]),
            "How the delay varies from packet to packet; a time alone is uniform in delay ± that time, \
             without reordering.",
        ),
        key(
            "queue",
            Kind::Any(vec![
                counted("packets", 1),
                Kind::Size {
                    min: 1,
                    max: u64::MAX,
                },
                word("unlimited", "nothing is dropped for lack of room"),
            ]),
            "What the drop-tail queue holds, the packet in service included.",
        ),
    ]
}

/// The keys of a wired element.
pub(crate) fn keys() -> Vec<Key> {
    let defaults = ["\"unlimited\"", "\"0 s\"", "\"0 s\"", "\"unlimited\""];
    let mut keys: Vec<Key> = direction_keys()
        .into_iter()
        .zip(defaults)
        .map(|(key, default)| key.default(default))
        .collect();
    let one_way = || {
        Kind::Table(
            direction_keys()
                .into_iter()
                .map(|key| key.otherwise("the element's"))
                .collect(),
        )
    };
    keys.push(
        key("errors", Kind::Any(vec![list(errors()), errors()]), "Error models, a list or a single one; a packet is lost when one of them says so, after the queue, the wire and the delay.")
            .default("[]"),
    );
    keys.push(
        key(
            "downlink",
            one_way(),
            "What differs from the server's side to the client's.",
        )
        .otherwise("nothing"),
    );
    keys.push(
        key(
            "uplink",
            one_way(),
            "What differs from the client's side to the server's.",
        )
        .otherwise("nothing"),
    );
    keys
}

/// The error models of a link with one line each.
pub(crate) const ERROR_MODELS: [(&str, &str); 4] = [
    ("per-packet", "loses each packet independently"),
    ("per-bit", "spoils each bit independently"),
    (
        "gilbert-elliott",
        "losses in bursts: a two-state chain that moves once per packet (Gilbert 1960, Elliott 1963)",
    ),
    ("drop-list", "loses data packets by number, each once"),
];

fn errors() -> Kind {
    let keys =
        [
            vec![key("probability", probability(), "That a packet is lost.").required()],
            vec![key("rate", probability(), "Probability that a bit is wrong.").required()],
            vec![
            key(
                "transitions",
                list(probability()),
                "Probabilities per packet to turn bad and to turn good again: [good to bad, bad to good]. \
                 An empty list switches the model off.",
            )
            .required(),
            key("loss", list(probability()), "Loss probabilities in the good and in the bad state.")
                .default("[0, 1]"),
        ],
            vec![
                key(
                    "packets",
                    list(Kind::Integer {
                        min: 1,
                        max: u64::MAX,
                    }),
                    "Numbers of the data packets to lose, counted from 1 as they leave the queue; \
                 retransmissions count, packets without payload do not.",
                )
                .required(),
            ],
        ];
    let cases = ERROR_MODELS
        .into_iter()
        .zip(keys)
        .map(|((name, help), mut keys)| {
            let default = if name == "drop-list" {
                "\"downlink\""
            } else {
                "\"both\""
            };
            keys.push(
                key(
                    "direction",
                    explained(
                        "direction",
                        &[
                            ("downlink", "towards the client"),
                            ("uplink", "towards the server"),
                            ("both", "each way"),
                        ],
                    ),
                    "The direction it spoils; both directions draw independently.",
                )
                .default(default),
            );
            keys.push(when());
            Case {
                name,
                help: help.to_owned(),
                keys,
            }
        });
    Kind::Tagged {
        what: "error model",
        cases: cases.collect(),
    }
}

/// The wire a checked table describes.
pub(crate) fn lower(fields: &Fields, report: &mut Report) -> WiredConfig {
    let mut wired = WiredConfig::default();
    for (direction, link) in [
        (Direction::Downlink, &mut wired.downlink),
        (Direction::Uplink, &mut wired.uplink),
    ] {
        apply(link, fields);
        if let Some(only) = fields.table(direction.name()) {
            apply(link, only);
        }
    }
    let single = fields.table("errors");
    for model in fields.tables("errors").chain(single) {
        let lowered = report.within(model.active, |report| error_model(model, report));
        // A model without effect keeps its place: models draw from streams
        // numbered by place, and a variant must not shift another's losses.
        let lowered = lowered.filter(|_| model.active).unwrap_or_else(nothing);
        let direction = model.name("direction").unwrap_or("both");
        for (name, link) in [("downlink", &mut wired.downlink), ("uplink", &mut wired.uplink)] {
            let here = direction == "both" || direction == name;
            link.errors.push(if here { lowered.clone() } else { nothing() });
        }
    }
    for link in [&mut wired.downlink, &mut wired.uplink] {
        while link.errors.last() == Some(&nothing()) {
            link.errors.pop();
        }
    }
    wired
}

fn apply(link: &mut LinkConfig, fields: &Fields) {
    if let Some(rate) = fields.get("rate") {
        link.rate = rate.rate();
    }
    if let Some(delay) = fields.time("delay") {
        link.delay = delay;
    }
    if let Some(jitter) = fields.get("jitter") {
        link.jitter = self::jitter(jitter);
    }
    if let Some(queue) = fields.get("queue") {
        link.queue = match queue.value {
            Value::Counted(packets) => QueueLimit::Packets(packets as u32),
            Value::Size(bytes) => QueueLimit::Bytes(bytes),
            _ => QueueLimit::Unlimited,
        };
    }
}

fn jitter(value: &Checked) -> Jitter {
    let (name, spread, reorder) = match &value.value {
        Value::Time(spread) => ("uniform", *spread, false),
        Value::Table(fields) => (
            fields.name("type").unwrap_or("uniform"),
            fields.time("spread").unwrap_or(Span::ZERO),
            fields.flag("reorder").unwrap_or(false),
        ),
        _ => return Jitter::None,
    };
    if spread == Span::ZERO {
        return Jitter::None;
    }
    Jitter::from_name(name, spread, reorder).unwrap_or(Jitter::None)
}

/// A model that loses nothing and draws nothing.
fn nothing() -> ErrorModel {
    ErrorModel::DropList { packets: Vec::new() }
}

fn numbers(items: &[Checked]) -> Vec<f64> {
    items.iter().filter_map(Checked::number).collect()
}

/// The model, or `None` when it cannot lose anything.
fn error_model(fields: &Fields, report: &mut Report) -> Option<ErrorModel> {
    match fields.case {
        "per-packet" => {
            let probability = fields.number("probability")?;
            (probability > 0.0).then_some(ErrorModel::PerPacket { probability })
        }
        "per-bit" => {
            let rate = fields.number("rate")?;
            (rate > 0.0).then_some(ErrorModel::PerBit { rate })
        }
        "drop-list" => {
            let packets: Vec<u64> = fields
                .list("packets")
                .iter()
                .filter_map(Checked::integer)
                .collect();
            (!packets.is_empty()).then_some(ErrorModel::DropList { packets })
        }
        _ => gilbert_elliott(fields, report),
    }
}

fn gilbert_elliott(fields: &Fields, report: &mut Report) -> Option<ErrorModel> {
    let transitions = numbers(fields.get("transitions")?.items());
    let loss = numbers(fields.get("loss")?.items());
    let [loss_good, loss_bad] = loss[..] else {
        report.add(
            fields.at("loss"),
            "two probabilities are needed: [in the good state, in the bad state]",
        );
        return None;
    };
    match transitions[..] {
        [] => None,
        [p_good_to_bad, p_bad_to_good] => {
            if p_good_to_bad > 0.0 && p_bad_to_good <= 0.0 {
                report.add(
                    fields.at("transitions"),
                    "a chain that never turns good again loses everything; bad to good must be above 0",
                );
            }
            let harmless = loss_good <= 0.0 && (p_good_to_bad <= 0.0 || loss_bad <= 0.0);
            (!harmless).then_some(ErrorModel::GilbertElliott {
                p_good_to_bad,
                p_bad_to_good,
                loss_good,
                loss_bad,
            })
        }
        _ => {
            report.add(
                fields.at("transitions"),
                format!(
                    "found {} probabilities; two are needed: [good to bad, bad to good], or none",
                    transitions.len()
                ),
            );
            None
        }
    }
}
