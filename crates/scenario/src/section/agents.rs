//! `[[agents]]`: mechanisms at their places. Their keys come from their own
//! descriptions in the agent crate.

use lasthop_agent::{AgentConfig, Description, Parameter, ParameterKind, PlaceKind, Value as Setting};

use crate::fields::{Checked, Fields, Value};
use crate::kind::{Case, Key, Kind, choice, explained, integer, key, list, time};
use crate::problem::{Report, allowed};
use crate::section::{Names, when};
use crate::spec::{AgentAt, Element, ElementKind, Host, Place, Scope, Side, Via};

pub(crate) fn kind() -> Kind {
    let cases = AgentConfig::all().into_iter().map(|agent| {
        let description = agent.description();
        let mut keys = vec![
            key(
                "at",
                Kind::Identifier,
                format!(
                    "Where it stands: a host group, a Wi-Fi element (its access point) or a node. {}",
                    places(description)
                ),
            )
            .required(),
            via_key(),
            when(),
        ];
        keys.extend(description.parameters.iter().map(parameter_key));
        let help = format!("{} ({})", description.summary, description.source);
        Case {
            name: description.name,
            help,
            keys,
        }
    });
    list(Kind::Tagged {
        what: "agent",
        cases: cases.collect(),
    })
}

fn places(description: &Description) -> String {
    let words: Vec<&str> = description.places.iter().map(|place| place.name()).collect();
    format!("It makes sense at: {}.", words.join(", "))
}

fn via_key() -> Key {
    key(
        "via",
        explained(
            "way",
            &[
                (
                    Via::Ebpf.name(),
                    "as a BPF program at the client's interface; needs root",
                ),
                (Via::Userspace.name(), "on the path, on real packets"),
            ],
        ),
        "Where it runs on the real Linux stack; the simulator does not look.",
    )
    .otherwise("the engine's: `kernel` on the path, `kernel-ebpf` and `kernel-curl` in BPF where that can be")
}

fn parameter_key(parameter: &Parameter) -> Key {
    let kind = match parameter.kind {
        ParameterKind::Integer { min, max } => integer(min, max),
        ParameterKind::Choice(names) => choice(parameter.name, names.iter().copied()),
        ParameterKind::Flag => Kind::Flag,
        ParameterKind::Span => time(),
    };
    key(parameter.name, kind, parameter.help).otherwise(spell(&parameter.default))
}

/// A default as documentation shows it.
fn spell(value: &Setting<'_>) -> String {
    match value {
        Setting::Integer(number) => number.to_string(),
        Setting::Choice(name) => format!("\"{name}\""),
        Setting::Flag(flag) => flag.to_string(),
        Setting::Span(span) => format!("\"{span}\""),
    }
}

pub(crate) fn lower(
    root: &Fields,
    hosts: (&[Host], &Names),
    path: (&[Element], &Names),
    report: &mut Report,
) -> Vec<AgentAt> {
    let mut agents = Vec::new();
    for fields in root.tables("agents") {
        let agent = report.within(fields.active, |report| agent(fields, hosts, path, report));
        agents.extend(agent.filter(|_| fields.active));
    }
    agents
}

fn agent(
    fields: &Fields,
    hosts: (&[Host], &Names),
    path: (&[Element], &Names),
    report: &mut Report,
) -> Option<AgentAt> {
    let mut agent = AgentConfig::from_name(fields.case)?;
    for parameter in agent.description().parameters {
        let Some(checked) = fields.get(parameter.name) else {
            continue;
        };
        let Some(setting) = setting(checked) else { continue };
        if let Err(error) = agent.set(parameter.name, setting) {
            report.add(&checked.at, error.to_string());
        }
    }
    let (place, kind) = place(fields, hosts, path, report)?;
    let description = agent.description();
    if !description.places.contains(&kind) {
        let words = description.places.iter().map(|place| place.name());
        let message = format!(
            "{} does not work at the {}; {}",
            description.name,
            kind.name(),
            allowed("", words)
        );
        report.add(fields.at("at"), message);
    }
    let via = fields.name("via").and_then(Via::from_name);
    if via == Some(Via::Ebpf)
        && let Err(reason) = agent.bpf_form(kind)
    {
        let message = format!("\"ebpf\" cannot be: {reason}; \"userspace\" can");
        report.add(fields.at("via"), message);
    }
    Some(AgentAt { place, agent, via })
}

fn setting(checked: &Checked) -> Option<Setting<'static>> {
    Some(match checked.value {
        Value::Integer(number) => Setting::Integer(number),
        Value::Name(name) => Setting::Choice(name),
        Value::Flag(flag) => Setting::Flag(flag),
        Value::Time(span) => Setting::Span(span),
        _ => return None,
    })
}

fn place(
    fields: &Fields,
    (hosts, host_names): (&[Host], &Names),
    (path, path_names): (&[Element], &Names),
    report: &mut Report,
) -> Option<(Place, PlaceKind)> {
    let name = fields.text("at")?;
    if let Some(index) = host_names.index(name) {
        let kind = match hosts.get(index)?.side {
            Side::Server => PlaceKind::Server,
            Side::Client => PlaceKind::Client,
        };
        return Some((Place::Host(index), kind));
    }
    let at = fields.at("at");
    let Some(index) = path_names.index(name) else {
        let left_out = host_names
            .all()
            .chain(path_names.all())
            .any(|known| known == name);
        if left_out {
            path_names.find(name, at, "place", report);
        } else {
            let names = host_names.all().chain(path_names.all());
            report.add(at, format!("unknown place \"{name}\"; {}", allowed(name, names)));
        }
        return None;
    };
    let element = path.get(index)?;
    if matches!(element.kind, ElementKind::Wired(_)) || element.scope == Scope::PerFlow {
        report.add(
            at,
            format!("an agent cannot stand on the wire \"{name}\"; put a node element beside it"),
        );
        return None;
    }
    Some((Place::Before(index), PlaceKind::Path))
}
