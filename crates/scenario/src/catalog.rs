//! Everything a scenario can name, collected from the crates that provide it.

use lasthop_agent::{AgentConfig, PlaceKind};
use lasthop_tcp::{AckCounting, CongestionConfig, Personality, Recovery, SENDERS};
use serde::Serialize;

use crate::kind::{Case, Key, Kind};
use crate::section::{agents, handovers, path, record, tcp, wifi, wired, workloads};

/// One mechanism.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Mechanism {
    /// The name scenarios use.
    pub name: String,
    /// What it is: `sender`, `congestion control`, `recovery`, `ACK counting`,
    /// `personality`, `host`, `agent`, `path element`, `error model`, `frame errors`,
    /// `Wi-Fi standard`, `workload`, `handover`, `record`.
    pub kind: &'static str,
    /// What it does, in one line.
    pub summary: String,
    /// Who published or wrote it; empty where it is lasthop's own.
    pub source: String,
    /// Where it goes in a scenario.
    pub place: String,
    /// What can be set.
    pub parameters: Vec<MechanismParameter>,
    /// The engines that play it.
    pub engines: Vec<&'static str>,
}

/// Something a mechanism can be told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MechanismParameter {
    /// The key.
    pub name: String,
    /// Its value when nothing is said, as written in a scenario; words where it depends.
    pub default: String,
    /// The unit, or the kind of value.
    pub unit: String,
    /// What it means.
    pub help: String,
}

const SIM: &[&str] = &["sim"];
/// What lies between the hosts is the same on the real stack.
const BOTH: &[&str] = &["sim", "kernel"];
/// Programs of the user's need a real system around them.
const KERNEL: &[&str] = &["kernel"];

fn mechanism(kind: &'static str, name: &str, summary: &str, source: &str, place: &str) -> Mechanism {
    Mechanism {
        name: name.to_owned(),
        kind,
        summary: summary.to_owned(),
        source: source.to_owned(),
        place: place.to_owned(),
        parameters: Vec::new(),
        engines: SIM.to_vec(),
    }
}

/// Every mechanism, by kind.
pub fn catalog() -> Vec<Mechanism> {
    let mut all = senders();
    all.extend(agents());
    all.extend(cases("path element", &path::kind(), "[[path]]"));
    all.extend(wired_errors());
    all.extend(named(
        "frame errors",
        &wifi::FRAME_ERRORS,
        "[[path]] of type wifi: errors",
    ));
    // The bare letters are only short names.
    all.extend(named(
        "Wi-Fi standard",
        &wifi::STANDARDS[..3],
        "[[path]] of type wifi: standard",
    ));
    all.extend(cases("workload", &workloads::kind(), "[[workloads]]"));
    all.push(Mechanism {
        parameters: list_parameters(&handovers::kind()),
        ..mechanism(
            "handover",
            "handover",
            "a hard layer-2 handover: a radio goes down and up",
            "",
            "[[handovers]]",
        )
    });
    for entry in &mut all {
        entry.engines = engines(entry);
    }
    all.push(Mechanism {
        engines: BOTH.to_vec(),
        parameters: list_parameters(&record::kind()),
        ..mechanism(
            "record",
            "record",
            "what a run writes down besides its totals",
            "",
            "[record]",
        )
    });
    all
}

/// Which engines play a mechanism. Of the hosts' settings the real stack takes
/// those it has, which only a whole scenario can tell.
fn engines(entry: &Mechanism) -> Vec<&'static str> {
    match (entry.kind, entry.name.as_str()) {
        ("workload", "command") => KERNEL.to_vec(),
        ("agent", name) => {
            let in_bpf =
                AgentConfig::from_name(name).is_some_and(|agent| agent.bpf_form(PlaceKind::Client).is_ok());
            let bpf = in_bpf.then_some("kernel-ebpf");
            BOTH.iter().copied().chain(bpf).collect()
        }
        ("path element" | "error model" | "frame errors" | "Wi-Fi standard" | "workload" | "handover", _) => {
            BOTH.to_vec()
        }
        _ => entry.engines.clone(),
    }
}

fn senders() -> Vec<Mechanism> {
    let mut all: Vec<Mechanism> = SENDERS
        .iter()
        .map(|name| {
            let (summary, source) = split_source(tcp::help(name, tcp::SENDER));
            mechanism("sender", name, summary, source, "[hosts.NAME]: sender")
        })
        .collect();
    all.extend(
        CongestionConfig::names()
            .filter_map(CongestionConfig::from_name)
            .map(|control| {
                let (summary, source) = split_source(control.summary());
                let place = "[hosts.NAME]: congestion_control";
                Mechanism {
                    parameters: parameters(&tcp::congestion::keys(&control)),
                    ..mechanism("congestion control", control.name(), summary, source, place)
                }
            }),
    );
    let lines = |names: &mut dyn Iterator<Item = &'static str>, lines| -> Vec<(&str, &str)> {
        names.map(|name| (name, tcp::help(name, lines))).collect()
    };
    let recovery = lines(&mut Recovery::names(), tcp::RECOVERY);
    all.extend(named("recovery", &recovery, "[hosts.NAME]: recovery"));
    let counting = lines(&mut AckCounting::names(), tcp::ACK_COUNTING);
    all.extend(named("ACK counting", &counting, "[hosts.NAME]: ack_counting"));
    all.extend(Personality::all().into_iter().map(|personality| {
        let Personality {
            name,
            summary,
            source,
            ..
        } = personality;
        mechanism("personality", name, summary, source, "[hosts.NAME]: personality")
    }));
    let settings: Vec<Key> = tcp::settings()
        .iter()
        .map(|setting| setting.key.clone())
        .collect();
    all.push(Mechanism {
        parameters: parameters(&settings),
        ..mechanism(
            "host",
            "tcp",
            "every TCP setting of a host group",
            "",
            "[hosts.NAME]",
        )
    });
    all
}

fn agents() -> Vec<Mechanism> {
    let kind = agents::kind();
    let mut all = cases("agent", &kind, "[[agents]]");
    for (entry, agent) in all.iter_mut().zip(AgentConfig::all()) {
        let description = agent.description();
        description.summary.clone_into(&mut entry.summary);
        description.source.clone_into(&mut entry.source);
        let places: Vec<&str> = description.places.iter().map(|place| place.name()).collect();
        entry.place = format!("[[agents]] at: {}", places.join(", "));
    }
    all
}

fn wired_errors() -> Vec<Mechanism> {
    let errors = wired::keys().into_iter().find(|key| key.name == "errors");
    errors.map_or_else(Vec::new, |key| {
        cases("error model", &key.kind, "[[path]] of type wired: errors")
    })
}

/// The source in brackets at the end of a summary.
fn split_source(text: &str) -> (&str, &str) {
    match text.strip_suffix(')').and_then(|text| text.rsplit_once(" (")) {
        Some((summary, source)) => (summary, source),
        None => (text, ""),
    }
}

fn named(kind: &'static str, names: &[(&str, &str)], place: &str) -> Vec<Mechanism> {
    let entry = |&(name, help): &(&str, &str)| {
        let (summary, source) = split_source(help);
        mechanism(kind, name, summary, source, place)
    };
    names.iter().map(entry).collect()
}

/// One mechanism for each case of a tagged kind, or of a list of them.
fn cases(kind: &'static str, of: &Kind, place: &str) -> Vec<Mechanism> {
    let entry = |case: &Case| {
        let (summary, source) = split_source(&case.help);
        Mechanism {
            parameters: parameters(&case.keys),
            ..mechanism(kind, case.name, summary, source, place)
        }
    };
    match of {
        Kind::List { of, .. } => cases(kind, of, place),
        // A list or a single one.
        Kind::Any(kinds) => kinds
            .first()
            .map_or_else(Vec::new, |first| cases(kind, first, place)),
        Kind::Tagged { cases, .. } => cases.iter().map(entry).collect(),
        _ => Vec::new(),
    }
}

fn list_parameters(kind: &Kind) -> Vec<MechanismParameter> {
    match kind {
        Kind::List { of, .. } => list_parameters(of),
        Kind::Table(keys) => parameters(keys),
        _ => Vec::new(),
    }
}

fn parameters(keys: &[Key]) -> Vec<MechanismParameter> {
    let keys = keys.iter().filter(|key| !matches!(key.kind, Kind::When));
    keys.map(|key| MechanismParameter {
        name: key.name.to_owned(),
        default: match (&key.default, &key.otherwise) {
            (Some((text, _)), _) => (*text).to_owned(),
            (None, Some(words)) => words.clone(),
            (None, None) => "required".to_owned(),
        },
        unit: unit(&key.kind),
        help: key.help.clone(),
    })
    .collect()
}

/// The unit or kind of a value in a word or two.
pub(crate) fn unit(kind: &Kind) -> String {
    match kind {
        Kind::Text => "text".to_owned(),
        Kind::Identifier => "name".to_owned(),
        Kind::Flag => "true or false".to_owned(),
        Kind::Integer { .. } => "whole number".to_owned(),
        Kind::Number { min, max } if (*min, *max) == (0.0, 1.0) => "probability".to_owned(),
        Kind::Number { .. } => "number".to_owned(),
        Kind::Time { .. } => "time".to_owned(),
        Kind::Rate => "rate".to_owned(),
        Kind::Size { .. } => "size".to_owned(),
        Kind::Counted { noun, .. } => (*noun).to_owned(),
        Kind::Choice { names, .. } => {
            let names: Vec<&str> = names.iter().map(|choice| choice.name).collect();
            names.join(" | ")
        }
        Kind::Word { word, .. } => format!("\"{word}\""),
        Kind::Any(kinds) => {
            let units: Vec<String> = kinds.iter().map(unit).collect();
            units.join(" | ")
        }
        Kind::List { of, .. } => format!("list of {}", unit(of)),
        Kind::Table(_) | Kind::Named(_) | Kind::When | Kind::Elsewhere { .. } => "table".to_owned(),
        Kind::Tagged { what, .. } => (*what).to_owned(),
    }
}
