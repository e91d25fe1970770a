//! Worlds built by hand, for tests that need to see the whole run.

use lasthop_path::{ErrorModel, LinkConfig, QueueLimit, WiredConfig};
use lasthop_scenario::spec::{
    Element, ElementKind, Host, Record, Sampling, Scope, Side, Variant, Workload, WorkloadKind, World,
};
use lasthop_tcp::{Personality, apply_sender};
use lasthop_units::{BitRate, Direction, Span};

/// A full-duplex wire, the same both ways, losing nothing.
pub fn wire(name: &str, scope: Scope, rate_bps: u64, delay: Span, queue: QueueLimit) -> Element {
    let link = LinkConfig {
        rate: Some(BitRate::from_bps(rate_bps)),
        delay,
        queue,
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

/// The oracles' dumbbell: access links of 100 Mbit/s and 1 ms around a
/// bottleneck of 10 Mbit/s and 50 ms.
pub struct Dumbbell {
    pub personality: &'static str,
    pub sender: &'static str,
    pub flows: u32,
    pub queue_packets: u32,
    pub window_segments: u64,
    pub rate_bps: u64,
    pub errors: Vec<ErrorModel>,
    pub duration: Span,
    pub bytes: Option<u64>,
    pub record: Record,
}

impl Default for Dumbbell {
    fn default() -> Self {
        Self {
            personality: "ns-2",
            sender: "sack",
            flows: 1,
            queue_packets: 1000,
            window_segments: 64,
            rate_bps: 10_000_000,
            errors: Vec::new(),
            duration: Span::from_secs(20),
            bytes: None,
            record: Record {
                samples: Sampling::EveryAck,
                packets: true,
                mac: false,
            },
        }
    }
}

impl Dumbbell {
    pub fn variant(&self) -> Variant {
        let mut tcp = Personality::by_name(self.personality).unwrap().config;
        assert!(apply_sender(&mut tcp, self.sender));
        tcp.smss = 1000;
        let mut client_tcp = tcp.clone();
        client_tcp.receive_buffer = lasthop_tcp::ReceiveBuffer::Fixed {
            bytes: self.window_segments * 1000,
        };
        let host = |name: &str, side, tcp| Host {
            name: name.to_owned(),
            side,
            count: 1,
            personality: self.personality.to_owned(),
            tcp,
            kernel_congestion_control: None,
        };
        let access = || {
            let delay = Span::from_ms(1);
            wire(
                "access",
                Scope::PerFlow,
                100_000_000,
                delay,
                QueueLimit::Unlimited,
            )
        };
        let queue = QueueLimit::Packets(self.queue_packets);
        let mut bottleneck = wire(
            "bottleneck",
            Scope::Shared,
            self.rate_bps,
            Span::from_ms(50),
            queue,
        );
        if let ElementKind::Wired(config) = &mut bottleneck.kind {
            config.downlink.errors.clone_from(&self.errors);
            config.uplink.queue = QueueLimit::Unlimited;
        }
        let world = World {
            duration: self.duration,
            hosts: vec![
                host("server", Side::Server, tcp),
                host("client", Side::Client, client_tcp),
            ],
            path: vec![
                access(),
                bottleneck,
                Element {
                    name: "exit".to_owned(),
                    ..access()
                },
            ],
            agents: Vec::new(),
            workloads: vec![Workload {
                name: "bulk".to_owned(),
                server: 0,
                client: 1,
                direction: Direction::Downlink,
                flows: self.flows,
                start: Span::ZERO,
                stagger: Span::from_ms(10),
                kind: WorkloadKind::Bulk {
                    bytes: self.bytes,
                    lasts: None,
                    sender_opens: true,
                    request_bytes: 0,
                    close: true,
                },
            }],
            handovers: Vec::new(),
            record: self.record.clone(),
        };
        Variant {
            name: "base".to_owned(),
            parameters: Vec::new(),
            world,
        }
    }
}

/// One 802.11 cell whose stations all send or receive datagrams as fast as they can.
#[allow(dead_code)]
pub fn saturated_cell(
    standard: lasthop_path::Standard,
    stations: u32,
    payload_bytes: u32,
    duration: Span,
) -> Variant {
    let tcp = Personality::by_name("ns-2").unwrap().config;
    let host = |name: &str, side, count| Host {
        name: name.to_owned(),
        side,
        count,
        personality: "ns-2".to_owned(),
        tcp: tcp.clone(),
        kernel_congestion_control: None,
    };
    let wlan = Element {
        name: "wlan".to_owned(),
        scope: Scope::Shared,
        kind: ElementKind::Wifi(lasthop_path::WifiConfig::new(standard)),
    };
    let world = World {
        duration,
        hosts: vec![
            host("server", Side::Server, 1),
            host("client", Side::Client, stations),
        ],
        path: vec![
            wire(
                "wire",
                Scope::Shared,
                100_000_000,
                Span::from_ms(1),
                QueueLimit::Unlimited,
            ),
            wlan,
        ],
        agents: Vec::new(),
        workloads: vec![Workload {
            name: "udp".to_owned(),
            server: 0,
            client: 1,
            direction: Direction::Uplink,
            flows: 1,
            start: Span::ZERO,
            stagger: Span::ZERO,
            kind: WorkloadKind::Udp {
                rate: None,
                payload_bytes,
            },
        }],
        handovers: Vec::new(),
        record: Record {
            samples: Sampling::Off,
            packets: false,
            mac: false,
        },
    };
    Variant {
        name: "base".to_owned(),
        parameters: Vec::new(),
        world,
    }
}
