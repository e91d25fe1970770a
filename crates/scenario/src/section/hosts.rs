//! `[hosts.NAME]`: groups of equal hosts.

use lasthop_tcp::{AckCounting, IpVersion, ReceiveBuffer};

use crate::fields::{Fields, Named};
use crate::kind::{Key, Kind, explained, integer, key};
use crate::problem::Report;
use crate::section::{Names, tcp, when};
use crate::spec::{Host, Side};

const KERNEL_CONTROL: &str = "kernel_congestion_control";
/// Bytes in such a name (`TCP_CA_NAME_MAX`, without the closing zero).
const LONGEST_CONTROL: usize = 15;

/// More hosts than any run has room for.
const MOST_HOSTS: u64 = 100_000;

pub(crate) fn kind() -> Kind {
    let mut keys: Vec<Key> = vec![
        key(
            "side",
            explained(
                "side",
                &[
                    ("server", "the wired end"),
                    ("client", "the end behind the last hop"),
                ],
            ),
            "Which end of the path the group stands at.",
        )
        .otherwise("the group's name, if it is server or client"),
        key(
            "count",
            integer(1, MOST_HOSTS),
            "How many hosts the group has; behind a Wi-Fi element each client is a station.",
        )
        .default("1"),
        key(
            KERNEL_CONTROL,
            Kind::Text,
            "A congestion control of this machine's Linux kernel by its name there, as \"bbr\", in place of \
             `congestion_control`; on the kernel engine only. `lasthop doctor` lists them.",
        ),
        when(),
    ];
    keys.extend(tcp::base_keys());
    keys.extend(tcp::settings().iter().map(|setting| setting.key.clone()));
    Kind::Named(Box::new(Kind::Table(keys)))
}

/// The hosts with their names.
pub(crate) fn lower(root: &Fields, report: &mut Report) -> (Vec<Host>, Names) {
    let mut hosts = Vec::new();
    let mut names = Names::default();
    let ip = root
        .name("ip")
        .and_then(IpVersion::from_name)
        .unwrap_or(IpVersion::V4);
    for named in root.named("hosts") {
        let active = named.fields.active;
        let host = report.within(active, |report| host(named, ip, report));
        let index = active.then_some(hosts.len());
        names.add(&named.name, index, &named.name_at, "host", report);
        match host {
            Some(host) if active => hosts.push(host),
            // A placeholder keeps later references meaningful; the load has failed.
            None if active => return (hosts, names),
            _ => {}
        }
    }
    for (side, word) in [(Side::Server, "server"), (Side::Client, "client")] {
        if report.is_empty() && !hosts.iter().any(|host: &Host| host.side == side) {
            report.add(
                root.at("hosts"),
                format!("no host has side \"{word}\"; both ends need one"),
            );
        }
    }
    (hosts, names)
}

fn host(named: &Named, ip: IpVersion, report: &mut Report) -> Option<Host> {
    let fields = &named.fields;
    let side = match fields.name("side").unwrap_or(&named.name) {
        "server" => Side::Server,
        "client" => Side::Client,
        other => {
            report.add(
                &named.name_at,
                format!("missing key \"side\": host \"{other}\" stands at the server's or the client's end; allowed: server, client"),
            );
            return None;
        }
    };
    let (personality, config) = tcp::configure(fields, ip)?;
    check(fields, &config, report);
    Some(Host {
        name: named.name.clone(),
        side,
        count: fields.small("count")?,
        personality,
        tcp: config,
        kernel_congestion_control: fields.text(KERNEL_CONTROL).map(str::to_owned),
    })
}

/// Settings that contradict each other.
fn check(fields: &Fields, config: &lasthop_tcp::Config, report: &mut Report) {
    if config.rto.max < config.rto.min {
        let message = format!("max {} is below min {}", config.rto.max, config.rto.min);
        report.add(fields.at("rto"), message);
    }
    if let ReceiveBuffer::Auto(tuning) = config.receive_buffer
        && !(tuning.min <= tuning.default && tuning.default <= tuning.max)
    {
        report.add(fields.at("receive_buffer"), "min, default and max must not fall");
    }
    if let Some(name) = fields.text(KERNEL_CONTROL)
        && !(name.len() <= LONGEST_CONTROL
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'))
    {
        let message = format!(
            "{name:?} cannot be a congestion control of the kernel; allowed: up to {LONGEST_CONTROL} \
             letters, digits, _ and -"
        );
        report.add(fields.at(KERNEL_CONTROL), message);
    }
    if let Some(table) = fields.table("receive_buffer")
        && table
            .number("adv_win_scale")
            .is_some_and(|scale| scale.fract() != 0.0)
    {
        report.add(table.at("adv_win_scale"), "the scale is a whole number");
    }
    if fields.get("ack_counting_limit").is_some()
        && !matches!(config.ack_counting, AckCounting::PerByte { .. })
    {
        report.add(
            fields.at("ack_counting_limit"),
            "only ack_counting = \"per-byte\" has a limit",
        );
    }
    if let Some(table) = fields.table("delayed_ack") {
        let bounds = (table.time("min"), table.time("max"));
        if table.time("timeout").is_some() && bounds != (None, None) {
            report.add(&table.at, "either `timeout`, or `min` and `max`");
        } else if let lasthop_tcp::DelayedAck::Linux { min, max } = config.delayed_ack
            && max < min
        {
            report.add(&table.at, format!("max {max} is below min {min}"));
        }
    }
}
