//! What the record shows of agents at a host.

#![allow(clippy::unwrap_used)]

#[allow(dead_code)]
mod support;

use lasthop_agent::{AgentConfig, DivacksConfig};
use lasthop_record::{Place, Verdict};
use lasthop_scenario::spec::{AgentAt, Place as At};
use lasthop_units::Direction;
use support::Dumbbell;

/// ACKs seen leaving the client and arriving at the server, and those divided.
fn acks(count: u32) -> (usize, usize, u64) {
    let mut variant = Dumbbell {
        bytes: Some(30_000),
        ..Dumbbell::default()
    }
    .variant();
    if count > 0 {
        let divacks = DivacksConfig {
            count,
            ..DivacksConfig::default()
        };
        variant.world.agents = vec![AgentAt {
            place: At::Host(1),
            agent: AgentConfig::Divacks(divacks),
            via: None,
        }];
    }
    let record = lasthop_sim::run_cell(&variant, 1).unwrap();
    let seen = |place, verdict| {
        let here = |row: &&lasthop_record::PacketRow| row.place == place && row.verdict == verdict;
        let ack = |row: &&lasthop_record::PacketRow| row.direction == Direction::Uplink;
        record.packets.iter().filter(here).filter(ack).count()
    };
    let sent = seen(Place::Client, Verdict::Sent);
    (
        sent,
        seen(Place::Server, Verdict::Received),
        record.flows[0].divided_acks,
    )
}

#[test]
fn a_sniffer_at_the_client_sees_divided_acks() {
    let (plain, _, none) = acks(0);
    let (sent, received, divided) = acks(4);
    assert_eq!(none, 0);
    assert!(divided > 0);
    assert_eq!(sent, received);
    assert_eq!(sent as u64, plain as u64 + divided);
}
