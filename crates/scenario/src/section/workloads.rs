//! `[[workloads]]`: what the hosts do.

use lasthop_units::Direction;

use crate::fields::{Checked, Fields, Value};
use crate::kind::{Case, Key, Kind, counted, duration, explained, integer, key, time, word};
use crate::problem::Report;
use crate::section::{Names, when};
use crate::spec::{End, Host, Side, Workload, WorkloadKind};

/// More flows than any run has room for.
const MOST_FLOWS: u64 = 100_000;

/// The kinds of workload with one line each.
pub(crate) const WORKLOADS: [(&str, &str); 4] = [
    (
        "bulk",
        "one TCP transfer per flow: so many bytes, or as much as fits",
    ),
    ("objects", "requests and responses on one TCP connection per flow"),
    (
        "udp",
        "datagrams at a constant rate, or as many as the first element takes",
    ),
    (
        "command",
        "a program such as curl or iperf3, on the real stack only",
    ),
];

fn size() -> Kind {
    Kind::Size { min: 1, max: 1 << 50 }
}

fn common() -> Vec<Key> {
    vec![
        key("name", Kind::Identifier, "What results call the workload.").otherwise("its type"),
        when(),
        key(
            "from",
            Kind::Identifier,
            "The host group that sends the bulk of the data.",
        )
        .otherwise("the only one at its end"),
        key("to", Kind::Identifier, "The host group that receives it.").otherwise("the only one at its end"),
        key(
            "direction",
            explained(
                "direction",
                &[
                    ("downlink", "server's end to client's"),
                    ("uplink", "client's end to server's"),
                ],
            ),
            "Which way the bulk of the data goes.",
        )
        .otherwise("from `from` and `to`, else downlink"),
        key("flows", integer(1, MOST_FLOWS), "Flows of every client.").default("1"),
        key("start", time(), "When the first flow starts.").default("\"0 s\""),
        key("stagger", time(), "How much later each further flow starts.").default("\"0 s\""),
    ]
}

fn command() -> Vec<Key> {
    vec![
        key(
            "run",
            Kind::Text,
            "What the host's shell runs; hosts are known by their names, as in `curl http://server/bytes/1000000`.",
        )
        .required(),
        key(
            "at",
            explained(
                "end",
                &[
                    ("receiver", "in the data's receiver"),
                    ("sender", "in the data's sender"),
                ],
            ),
            "Where it runs.",
        )
        .default("\"receiver\""),
        key(
            "serve",
            Kind::Flag,
            "Whether a file server listens at port 80 of the other end; /bytes/N gives N bytes.",
        )
        .default("true"),
    ]
}

pub(crate) fn kind() -> Kind {
    let bulk = vec![
        key(
            "bytes",
            Kind::Any(vec![
                size(),
                counted("segments", 1),
                word("unlimited", "as much as fits into the run"),
            ]),
            "How much to move; segments are those of the data's sender.",
        )
        .default("\"unlimited\""),
        key(
            "lasts",
            duration(),
            "The sender's application stops after this time.",
        )
        .otherwise("until the end"),
        key(
            "opens",
            explained(
                "opener",
                &[
                    ("receiver", "the data's receiver, with a request (a download)"),
                    ("sender", "the data's sender, as ns-2's sources do"),
                ],
            ),
            "Who opens the connection.",
        )
        .default("\"receiver\""),
        key(
            "request",
            Kind::Size { min: 0, max: 1 << 30 },
            "What the receiver sends first when it opens.",
        )
        .default("\"100 B\""),
        key("close", Kind::Flag, "Whether the sender closes when done.").default("true"),
    ];
    let objects = vec![
        key("request", size(), "Size of a request.").default("\"400 B\""),
        key(
            "response",
            Kind::Any(vec![
                size(),
                Kind::List {
                    of: Box::new(size()),
                    min: 1,
                    max: 100_000,
                },
            ]),
            "Size of each response; a list is gone through again and again.",
        )
        .required(),
        key("objects", integer(1, u64::from(u32::MAX)), "How many requests.").required(),
        key(
            "think_time",
            time(),
            "Pause between the end of a response and the next request.",
        )
        .default("\"0 s\""),
    ];
    let udp = vec![
        key(
            "rate",
            Kind::Any(vec![
                Kind::Rate,
                word("saturate", "the sender's queue is never empty"),
            ]),
            "Payload rate.",
        )
        .default("\"saturate\""),
        key(
            "payload",
            Kind::Size { min: 1, max: 65_507 },
            "Payload of each datagram.",
        )
        .default("\"1470 B\""),
    ];
    let cases = WORKLOADS
        .into_iter()
        .zip([bulk, objects, udp, command()])
        .map(|((name, help), keys)| Case {
            name,
            help: help.to_owned(),
            keys: [common(), keys].concat(),
        });
    Kind::List {
        of: Box::new(Kind::Tagged {
            what: "workload",
            cases: cases.collect(),
        }),
        min: 1,
        max: 10_000,
    }
}

pub(crate) fn lower(root: &Fields, hosts: &[Host], names: &Names, report: &mut Report) -> Vec<Workload> {
    let mut workloads: Vec<Workload> = Vec::new();
    let mut taken = Names::default();
    for fields in root.tables("workloads") {
        let workload = report.within(fields.active, |report| workload(fields, hosts, names, report));
        let Some(mut workload) = workload.filter(|_| fields.active) else {
            continue;
        };
        if fields.get("name").is_none() {
            // The second nameless bulk is "bulk-2".
            let base = workload.name.clone();
            for number in 2.. {
                if taken.index(&workload.name).is_none() {
                    break;
                }
                workload.name = format!("{base}-{number}");
            }
        }
        taken.add(
            &workload.name,
            Some(workloads.len()),
            fields.at("name"),
            "workload",
            report,
        );
        workloads.push(workload);
    }
    if workloads.is_empty() && report.is_empty() {
        report.add(
            root.at("workloads"),
            "no workload is left; at least one is needed",
        );
    }
    workloads
}

fn workload(fields: &Fields, hosts: &[Host], names: &Names, report: &mut Report) -> Option<Workload> {
    let unknown = report.problems.len();
    let from = group(fields, "from", names, report);
    let to = group(fields, "to", names, report);
    if report.problems.len() > unknown {
        return None;
    }
    let direction = direction(fields, (from, to), hosts, report)?;
    let (sending, receiving) = match direction {
        Direction::Downlink => (Side::Server, Side::Client),
        Direction::Uplink => (Side::Client, Side::Server),
    };
    let from = end(fields, "from", (from, sending), hosts, report);
    let to = end(fields, "to", (to, receiving), hosts, report);
    let (from, to) = (from?, to?);
    let (server, client) = if direction == Direction::Downlink {
        (from, to)
    } else {
        (to, from)
    };
    let smss = u64::from(hosts.get(from)?.tcp.smss);
    Some(Workload {
        name: fields.text("name").unwrap_or(fields.case).to_owned(),
        server,
        client,
        direction,
        flows: fields.small("flows")?,
        start: fields.time("start")?,
        stagger: fields.time("stagger")?,
        kind: kind_of(fields, smss)?,
    })
}

/// The group a key names, if it names one.
fn group(fields: &Fields, key: &str, names: &Names, report: &mut Report) -> Option<usize> {
    names.find(fields.text(key)?, fields.at(key), "host", report)
}

/// The direction: spelt out, or from the ends named, which must agree.
fn direction(
    fields: &Fields,
    (from, to): (Option<usize>, Option<usize>),
    hosts: &[Host],
    report: &mut Report,
) -> Option<Direction> {
    let side = |index: Option<usize>| index.and_then(|index| hosts.get(index)).map(|host| host.side);
    let implied = match (side(from), side(to)) {
        (Some(from), Some(to)) if from == to => {
            report.add(
                fields.at("to"),
                "both hosts are at the same end; data goes from one end to the other",
            );
            return None;
        }
        (Some(Side::Client), _) | (_, Some(Side::Server)) => Some(Direction::Uplink),
        (Some(Side::Server), _) | (_, Some(Side::Client)) => Some(Direction::Downlink),
        (None, None) => None,
    };
    let spelt = fields.name("direction").map(|name| match name {
        "uplink" => Direction::Uplink,
        _ => Direction::Downlink,
    });
    if let (Some(implied), Some(spelt)) = (implied, spelt)
        && implied != spelt
    {
        let message = format!("`from` and `to` make this a transfer on the {}", implied.name());
        report.add(fields.at("direction"), message);
        return None;
    }
    Some(spelt.or(implied).unwrap_or(Direction::Downlink))
}

/// The host group at one end: the one named, or the only one there is.
fn end(
    fields: &Fields,
    key: &str,
    (named, side): (Option<usize>, Side),
    hosts: &[Host],
    report: &mut Report,
) -> Option<usize> {
    if named.is_some() {
        return named;
    }
    let mut there = hosts.iter().enumerate().filter(|(_, host)| host.side == side);
    let first = there.next()?.0;
    if there.next().is_some() {
        let groups: Vec<&str> = hosts
            .iter()
            .filter(|host| host.side == side)
            .map(|host| host.name.as_str())
            .collect();
        report.add(
            &fields.at,
            format!("missing key \"{key}\"; allowed: {}", groups.join(", ")),
        );
        return None;
    }
    Some(first)
}

fn kind_of(fields: &Fields, smss: u64) -> Option<WorkloadKind> {
    Some(match fields.case {
        "bulk" => WorkloadKind::Bulk {
            bytes: match fields.get("bytes")?.value {
                Value::Size(bytes) => Some(bytes),
                Value::Counted(segments) => Some(segments.saturating_mul(smss)),
                _ => None,
            },
            lasts: fields.time("lasts"),
            sender_opens: fields.name("opens")? == "sender",
            request_bytes: fields.size("request")?,
            close: fields.flag("close")?,
        },
        "objects" => WorkloadKind::Objects {
            request_bytes: fields.size("request")?,
            response_bytes: match &fields.get("response")?.value {
                Value::Size(bytes) => vec![*bytes],
                Value::List(items) => items.iter().filter_map(Checked::size).collect(),
                _ => return None,
            },
            objects: fields.small("objects")?,
            think_time: fields.time("think_time")?,
        },
        "command" => WorkloadKind::Command {
            run: fields.text("run")?.to_owned(),
            at: if fields.name("at")? == "sender" {
                End::Sender
            } else {
                End::Receiver
            },
            serve: fields.flag("serve")?,
        },
        _ => WorkloadKind::Udp {
            rate: fields.rate("rate"),
            payload_bytes: fields.size("payload")? as u32,
        },
    })
}
