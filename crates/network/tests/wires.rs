//! Packets over wires: what a chain evaluated in one go delivers must be what
//! the same wires deliver one event at a time.

#![allow(clippy::unwrap_used)]

use lasthop_agent::{AgentConfig, DivacksConfig, FlowKey, Packet, TcpView};
use lasthop_network::{Event, Network, Route, Routed, Silent};
use lasthop_path::{ErrorModel, LinkConfig, QueueLimit, WiredConfig};
use lasthop_scenario::spec::{
    AgentAt, Element, ElementKind, Host, Place, Record, Sampling, Scope, Side, World,
};
use lasthop_tcp::{Personality, Seq};
use lasthop_units::{BitRate, Direction, Span, Time};
use proptest::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq)]
struct Parcel {
    route: u32,
    number: usize,
    bytes: u32,
}

impl Packet for Parcel {
    fn wire_bytes(&self) -> u32 {
        self.bytes
    }
    fn is_data(&self) -> bool {
        true
    }
    fn flow(&self) -> Option<FlowKey> {
        None
    }
    fn tcp(&self) -> Option<TcpView> {
        None
    }
    fn set_ack(&mut self, _: Seq) {}
    fn set_window(&mut self, _: u16) {}
}

impl Routed for Parcel {
    fn route(&self) -> u32 {
        self.route
    }
}

fn wire(name: &str, scope: Scope, rate_bps: u64, queue: QueueLimit, loss: f64) -> Element {
    let link = LinkConfig {
        rate: Some(BitRate::from_bps(rate_bps)),
        delay: Span::from_ms(3),
        queue,
        errors: vec![ErrorModel::PerPacket { probability: loss }],
        ..LinkConfig::default()
    };
    let kind = ElementKind::Wired(WiredConfig {
        downlink: link.clone(),
        uplink: link,
    });
    Element {
        name: name.to_owned(),
        scope,
        kind,
    }
}

/// Access, bottleneck, exit; with `broken`, agents that do nothing stand
/// between them, so that no two wires can be passed in one evaluation.
fn world(broken: bool, clients: u32) -> World {
    let tcp = Personality::by_name("ns-2").unwrap().config;
    let host = |name: &str, side, count| Host {
        name: name.to_owned(),
        side,
        count,
        personality: "ns-2".to_owned(),
        tcp: tcp.clone(),
        kernel_congestion_control: None,
    };
    let nothing = |element| AgentAt {
        place: Place::Before(element),
        agent: AgentConfig::Divacks(DivacksConfig {
            count: 0,
            ..DivacksConfig::default()
        }),
        via: None,
    };
    World {
        duration: Span::from_secs(10),
        hosts: vec![
            host("server", Side::Server, 1),
            host("client", Side::Client, clients),
        ],
        path: vec![
            wire("access", Scope::PerFlow, 20_000_000, QueueLimit::Unlimited, 0.02),
            wire(
                "bottleneck",
                Scope::Shared,
                3_000_000,
                QueueLimit::Packets(5),
                0.05,
            ),
            wire("exit", Scope::PerFlow, 2_000_000, QueueLimit::Bytes(9_000), 0.01),
        ],
        agents: if broken {
            vec![nothing(1), nothing(2)]
        } else {
            Vec::new()
        },
        workloads: Vec::new(),
        handovers: Vec::new(),
        record: Record {
            samples: Sampling::Off,
            packets: false,
            mac: false,
        },
    }
}

fn routes(clients: u32) -> Vec<Route> {
    (0..clients)
        .map(|client| Route {
            server_group: 0,
            server_in_group: 0,
            client_group: 1,
            client_in_group: client,
            station: client + 1,
        })
        .collect()
}

type Sent = (u64, u32, u32, bool);
type Delivery = (Time, Direction, Parcel);

fn deliveries(world: &World, clients: u32, sent: &[Sent]) -> Vec<Delivery> {
    let mut network = Network::new(world, routes(clients), sent.len(), 7).unwrap();
    let mut at = Time::ZERO;
    for (number, (gap_us, ..)) in sent.iter().enumerate() {
        at += Span::from_us(*gap_us + 1);
        network.arm(number, at);
    }
    let mut delivered = Vec::new();
    while let Some(event) = network.next(Time::MAX, &mut Silent) {
        match event {
            Event::Alarm { at, index } => {
                let (_, route, bytes, down) = sent[index];
                let direction = if down {
                    Direction::Downlink
                } else {
                    Direction::Uplink
                };
                let parcel = Parcel {
                    route: route % clients,
                    number: index,
                    bytes,
                };
                network.inject(at, direction, parcel, &mut Silent);
            }
            Event::Delivered {
                at,
                direction,
                packet,
            } => delivered.push((at, direction, packet)),
            Event::Departed { .. } => {}
        }
    }
    delivered.sort_by_key(|(at, _, parcel)| (*at, parcel.number));
    delivered
}

proptest! {
    #[test]
    fn a_chain_delivers_what_its_wires_deliver_one_by_one(
        clients in 1_u32..4,
        sent in prop::collection::vec((0_u64..5_000, 0_u32..4, 40_u32..1500, any::<bool>()), 1..150),
    ) {
        let chained = deliveries(&world(false, clients), clients, &sent);
        let single = deliveries(&world(true, clients), clients, &sent);
        prop_assert!(!chained.is_empty() || sent.len() < 20);
        prop_assert_eq!(chained, single);
    }

    #[test]
    fn each_direction_of_a_route_keeps_its_order(
        sent in prop::collection::vec((0_u64..3_000, 0_u32..3, 40_u32..1500, any::<bool>()), 1..150),
    ) {
        for route in 0..3 {
            for direction in Direction::BOTH {
                let numbers: Vec<usize> = deliveries(&world(false, 3), 3, &sent)
                    .into_iter()
                    .filter(|(_, way, parcel)| *way == direction && parcel.route == route)
                    .map(|(_, _, parcel)| parcel.number)
                    .collect();
                prop_assert!(numbers.is_sorted());
            }
        }
    }
}
