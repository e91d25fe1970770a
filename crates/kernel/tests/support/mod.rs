//! A world of two hosts, and whether this user may build it.

use lasthop_kernel::{Options, Session};
use lasthop_scenario::{LoadOptions, Plan, load};

/// The scenario of the tests: a server and a client on one wire.
pub const SCENARIO: &str = r#"
name = "two-hosts"
title = "A server and a client on a wire"
duration = "20 s"
ip = "$ip"

[parameters]
ip = { default = "ipv4", help = "The network layer." }
counting = { default = "per-segment", help = "What an ACK is worth." }
count = { default = 0, help = "Divided ACKs." }
bytes = { default = "300 kB", help = "Size of the download." }
loss = { default = 0.0, min = 0.0, max = 1.0, help = "Share of lost packets." }

[hosts.server]
personality = "linux-6"
sender = "sack"
ack_counting = "$counting"

[hosts.client]
personality = "linux-6"
delayed_ack = "off"

[[path]]
name = "wire"
type = "wired"
rate = "20 Mbit/s"
delay = "20 ms"
queue = "1000 packets"
errors = [{ type = "per-packet", probability = "$loss" }]

[[agents]]
type = "divacks"
at = "client"
count = "$count"

[[workloads]]
type = "bulk"
bytes = "$bytes"

[record]
samples = "every-ack"
packets = true
"#;

/// The scenario with parameters set.
pub fn plan(sets: &[(&str, &str)]) -> Plan {
    load_text(SCENARIO, sets)
}

/// Another scenario with parameters set.
pub fn load_text(text: &str, sets: &[(&str, &str)]) -> Plan {
    let sets = sets
        .iter()
        .map(|&(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    load(
        text,
        "two-hosts.toml",
        &LoadOptions {
            sets,
            ..LoadOptions::default()
        },
    )
    .unwrap_or_else(|errors| panic!("{errors:?}"))
}

/// Whether hosts can be built; says so when not.
pub fn may_run() -> bool {
    match Session::open(&plan(&[]).variants[0].world, 1, &Options::default()) {
        Ok(_) => true,
        Err(reason) => {
            eprintln!("skipped: {reason}");
            false
        }
    }
}
