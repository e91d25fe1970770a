//! The file as a whole.

use lasthop_tcp::IpVersion;
use lasthop_units::Span;

use crate::fields::{Checked, Fields, Value};
use crate::kind::{Key, Kind, choice, duration, integer, key};
use crate::problem::Report;
use crate::section::{agents, handovers, hosts, path, record, workloads};
use crate::spec::World;

/// More seeds than anybody means.
pub(crate) const MOST_SEEDS: u64 = 1_000_000;

/// The keys of the file.
pub(crate) fn keys() -> Vec<Key> {
    let elsewhere = |expected| Kind::Elsewhere { expected };
    vec![
        key("name", Kind::Identifier, "The scenario's name.").otherwise("the file's name"),
        key("title", Kind::Text, "One line for people.").otherwise("the name"),
        key("duration", duration(), "The run ends here at the latest; it ends earlier when all work is done.")
            .required(),
        key(
            "seeds",
            Kind::Any(vec![
                integer(1, MOST_SEEDS),
                Kind::List { of: Box::new(integer(0, i64::MAX as u64)), min: 1, max: MOST_SEEDS as usize },
            ]),
            "The seeds every variant runs with: n means 1 to n; a list names them.",
        )
        .default("1"),
        key("ip", choice("network layer", IpVersion::names()), "The network layer of every host; over IPv6 a segment of the personality is 20 bytes shorter.")
            .default("\"ipv4\""),
        key("parameters", elsewhere("a table of parameters"), "Named values that `$name` refers to, `--set` overrides and `vary` ranges over.")
            .otherwise("none"),
        key("hosts", hosts::kind(), "Groups of equal hosts, by name; at least one at each end.").required(),
        key("path", path::kind(), "The elements from the server's end to the client's, in order.").required(),
        key("agents", agents::kind(), "Mechanisms that stand at places of the path; a downlink packet meets those of one place in this order.")
            .default("[]"),
        key("workloads", workloads::kind(), "What the hosts do.").required(),
        key("handovers", handovers::kind(), "Hard layer-2 handovers: when radios go down and up.").default("[]"),
        key("record", record::kind(), "What to write down besides the totals.").default("{}"),
        key("vary", elsewhere("a table from parameters to lists"), "Parameters and the values to run with; several make all combinations.")
            .otherwise("nothing"),
        key("variants", elsewhere("a list of variants"), "Variants by name, each with the parameters it sets.").otherwise("none"),
    ]
}

/// The world of one variant; `None` when something was reported.
pub(crate) fn lower(root: &Fields, report: &mut Report) -> Option<World> {
    let (hosts, host_names) = hosts::lower(root, report);
    let (elements, element_names) = path::lower(root, &host_names, report);
    // What refers to hosts and elements would be blamed for their errors.
    let incomplete = |problem: &crate::problem::Problem| {
        let path = &problem.path;
        path.is_empty() || path.starts_with("hosts") || path.starts_with("path")
    };
    if report.problems.iter().any(incomplete) {
        return None;
    }
    let duration = root.time("duration").unwrap_or(Span::MAX);
    let agents = agents::lower(root, (&hosts, &host_names), (&elements, &element_names), report);
    let workloads = workloads::lower(root, &hosts, &host_names, report);
    let handovers = handovers::lower(
        root,
        (&hosts, &host_names),
        (&elements, &element_names),
        duration,
        report,
    );
    let record = record::lower(root);
    report.is_empty().then_some(World {
        duration,
        hosts,
        path: elements,
        agents,
        workloads,
        handovers,
        record,
    })
}

/// The seeds of the file.
pub(crate) fn seeds(root: &Fields) -> Vec<u64> {
    match root.get("seeds").map(|checked| &checked.value) {
        Some(Value::Integer(count)) => (1..=*count).collect(),
        Some(Value::List(items)) => items.iter().filter_map(Checked::integer).collect(),
        _ => vec![1],
    }
}
