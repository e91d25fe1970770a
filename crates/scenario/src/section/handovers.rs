//! `[[handovers]]`: when radios go down and up.

use lasthop_path::QueuedFrames;
use lasthop_units::Span;

use crate::fields::Fields;
use crate::kind::{Key, Kind, duration, explained, integer, key, list, time};
use crate::problem::Report;
use crate::section::{Names, when};
use crate::spec::{Element, ElementKind, Handover, Host, Side};

pub(crate) fn kind() -> Kind {
    let keys: Vec<Key> = vec![
        key(
            "element",
            Kind::Identifier,
            "The Wi-Fi element whose radio goes down.",
        )
        .otherwise("the only one"),
        key(
            "host",
            Kind::Identifier,
            "The client group whose stations are meant.",
        )
        .otherwise("all stations"),
        key(
            "station",
            integer(0, 100_000),
            "One station of the group, counted from 0.",
        )
        .otherwise("all of the group"),
        key("at", time(), "When the radio goes down.").required(),
        key("lasts", duration(), "How long it stays down.").required(),
        key(
            "queued",
            explained(
                "treatment",
                &[
                    ("keep", "frames wait at both ends until the radio is back"),
                    (
                        "drop",
                        "frames are dropped at once, and so are those that come meanwhile",
                    ),
                    (
                        "retry",
                        "the other end goes on sending until each frame's retry limit",
                    ),
                ],
            ),
            "What happens to frames queued for the radio meanwhile.",
        )
        .default("\"keep\""),
        when(),
    ];
    list(Kind::Table(keys))
}

pub(crate) fn lower(
    root: &Fields,
    hosts: (&[Host], &Names),
    path: (&[Element], &Names),
    duration: Span,
    report: &mut Report,
) -> Vec<Handover> {
    let mut handovers: Vec<Handover> = Vec::new();
    for fields in root.tables("handovers") {
        let handover = report.within(fields.active, |report| handover(fields, hosts, path, report));
        let Some(handover) = handover.filter(|_| fields.active) else {
            continue;
        };
        if handover.at >= duration {
            let message = format!("{} is not before the end of the run at {duration}", handover.at);
            report.add(fields.at("at"), message);
        }
        if let Some(other) = handovers.iter().find(|other| overlap(other, &handover)) {
            report.add(
                fields.at("at"),
                format!(
                    "this station is down from {} to {} already; handovers of one station must not overlap",
                    other.at,
                    other.at + other.lasts
                ),
            );
        }
        handovers.push(handover);
    }
    handovers
}

/// Whether two handovers keep one station down at the same time.
fn overlap(a: &Handover, b: &Handover) -> bool {
    let same = |a: Option<usize>, b: Option<usize>| a.is_none() || b.is_none() || a == b;
    let stations = same(a.station.map(|n| n as usize), b.station.map(|n| n as usize));
    a.element == b.element
        && same(a.host, b.host)
        && stations
        && a.at < b.at + b.lasts
        && b.at < a.at + a.lasts
}

fn handover(
    fields: &Fields,
    (hosts, host_names): (&[Host], &Names),
    (path, path_names): (&[Element], &Names),
    report: &mut Report,
) -> Option<Handover> {
    let is_wifi = |element: &Element| matches!(element.kind, ElementKind::Wifi(_));
    let element = if let Some(name) = fields.text("element") {
        let at = fields.at("element");
        let index = path_names.find(name, at, "element", report)?;
        if !path.get(index).is_some_and(is_wifi) {
            report.add(
                at,
                format!("element \"{name}\" has no radio; only a wifi element has handovers"),
            );
            return None;
        }
        index
    } else if let Some(index) = path.iter().position(is_wifi) {
        index
    } else {
        if !report.is_quiet() {
            report.add(
                &fields.at,
                "the path has no wifi element that could have a handover",
            );
        }
        return None;
    };
    let host = match fields.text("host") {
        Some(name) => Some(group(name, fields, hosts, host_names, report)?),
        None => None,
    };
    let station = fields.small("station");
    if let Some(number) = station {
        let Some(index) = host.or_else(|| only_client(hosts)) else {
            report.add(
                fields.at("station"),
                "missing key \"host\": there are several client groups",
            );
            return None;
        };
        let count = hosts.get(index)?.count;
        if number >= count {
            report.add(
                fields.at("station"),
                format!("there is no station {number}; the group's {count} are counted from 0"),
            );
        }
    }
    Some(Handover {
        element,
        host: host.or_else(|| station.and_then(|_| only_client(hosts))),
        station,
        at: fields.time("at")?,
        lasts: fields.time("lasts")?,
        queued: QueuedFrames::from_name(fields.name("queued")?)?,
    })
}

fn group(name: &str, fields: &Fields, hosts: &[Host], names: &Names, report: &mut Report) -> Option<usize> {
    let at = fields.at("host");
    let index = names.find(name, at, "host", report)?;
    if hosts.get(index)?.side == Side::Server {
        report.add(
            at,
            format!("host \"{name}\" is at the server's end, where no radio is"),
        );
        return None;
    }
    Some(index)
}

fn only_client(hosts: &[Host]) -> Option<usize> {
    let mut clients = hosts
        .iter()
        .enumerate()
        .filter(|(_, host)| host.side == Side::Client);
    let first = clients.next()?.0;
    clients.next().is_none().then_some(first)
}
