//! `[[path]]`: the elements between the hosts, in order.

use crate::fields::Fields;
use crate::kind::{Case, Key, Kind, explained, key};
use crate::problem::Report;
use crate::section::{Names, when, wifi, wired};
use crate::spec::{Element, ElementKind, Scope};

/// The kinds of element with one line each.
pub(crate) const ELEMENTS: [(&str, &str); 3] = [
    (
        "wired",
        "a full-duplex wire: rate, delay, jitter, drop-tail queue, error models",
    ),
    (
        "wifi",
        "one half-duplex 802.11 medium under DCF, its access point on the server's side (IEEE 802.11-2012, clause 9)",
    ),
    (
        "node",
        "a place for agents such as a home agent or a gateway; costs nothing",
    ),
];

fn common() -> Vec<Key> {
    vec![
        key(
            "name",
            Kind::Identifier,
            "What agents and handovers call the element; unique on the path.",
        )
        .required(),
        when(),
    ]
}

fn scope() -> Key {
    key(
        "scope",
        explained(
            "scope",
            &[
                ("shared", "all flows pass the same element"),
                ("per-flow", "every flow has one of its own"),
            ],
        ),
        "Who shares the element.",
    )
    .default("\"shared\"")
}

pub(crate) fn kind() -> Kind {
    let keys: [Vec<Key>; 3] = [[vec![scope()], wired::keys()].concat(), wifi::keys(), Vec::new()];
    let cases = ELEMENTS.into_iter().zip(keys).map(|((name, help), keys)| Case {
        name,
        help: help.to_owned(),
        keys: [common(), keys].concat(),
    });
    Kind::List {
        of: Box::new(Kind::Tagged {
            what: "element",
            cases: cases.collect(),
        }),
        min: 1,
        max: 64,
    }
}

/// The elements with their names.
pub(crate) fn lower(root: &Fields, hosts: &Names, report: &mut Report) -> (Vec<Element>, Names) {
    let mut path: Vec<Element> = Vec::new();
    let mut names = Names::default();
    for fields in root.tables("path") {
        let element = report.within(fields.active, |report| element(fields, report));
        let Some(name) = fields.text("name") else { continue };
        let at = fields.at("name");
        let index = fields.active.then_some(path.len());
        names.add(name, index, at, "element", report);
        if hosts.index(name).is_some() && fields.active {
            report.add(
                at,
                format!("a host is called \"{name}\" already; agents could not tell them apart"),
            );
        }
        let is_wifi = |element: &Element| matches!(element.kind, ElementKind::Wifi(_));
        if let Some(element) = element.filter(|_| fields.active) {
            if is_wifi(&element)
                && let Some(first) = path.iter().find(|element| is_wifi(element))
            {
                report.add(
                    at,
                    format!(
                        "a path has at most one wifi element, and \"{}\" is one",
                        first.name
                    ),
                );
            }
            path.push(element);
        }
    }
    if path.is_empty() && report.is_empty() {
        report.add(
            root.at("path"),
            "no element is left on the path; at least one is needed",
        );
    }
    (path, names)
}

fn element(fields: &Fields, report: &mut Report) -> Option<Element> {
    let kind = match fields.case {
        "wired" => ElementKind::Wired(wired::lower(fields, report)),
        "wifi" => ElementKind::Wifi(wifi::lower(fields, report)?),
        _ => ElementKind::Node,
    };
    let scope = match fields.name("scope") {
        Some("per-flow") => Scope::PerFlow,
        _ => Scope::Shared,
    };
    Some(Element {
        name: fields.text("name")?.to_owned(),
        scope,
        kind,
    })
}
