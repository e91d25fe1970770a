//! A client with an agent in front of it, on simulated segments and on frames.
#![allow(dead_code, reason = "each test file uses its own part")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use lasthop_agent::{Agent, AgentConfig, FlowKey, Frame, Outbox, Packet, TcpView};
use lasthop_tcp::{Flags, Segment, Seq};
use lasthop_units::{Direction, Span, Time};

/// A simulated packet: a segment and whose it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Simulated {
    pub flow: FlowKey,
    pub segment: Segment,
}

impl Packet for Simulated {
    fn wire_bytes(&self) -> u32 {
        self.segment.ipv4_bytes()
    }
    fn is_data(&self) -> bool {
        self.segment.payload_bytes > 0
    }
    fn flow(&self) -> Option<FlowKey> {
        Some(self.flow)
    }
    fn tcp(&self) -> Option<TcpView> {
        let segment = &self.segment;
        Some(TcpView {
            seq: segment.seq,
            ack: segment.ack,
            flags: segment.flags,
            window: segment.window,
            payload_bytes: segment.payload_bytes,
            timestamps: segment.timestamps,
            has_sack: !segment.sack.is_empty(),
        })
    }
    fn set_ack(&mut self, ack: Seq) {
        self.segment.ack = ack;
    }
    fn set_window(&mut self, window: u16) {
        self.segment.window = window;
    }
}

/// A packet the tests can make and look into.
pub trait TestPacket: Packet + PartialEq + std::fmt::Debug + 'static {
    fn carrying(flow: FlowKey, segment: Segment) -> Self;
    fn carried(&self) -> Segment;
}

impl TestPacket for Simulated {
    fn carrying(flow: FlowKey, segment: Segment) -> Self {
        Self { flow, segment }
    }
    fn carried(&self) -> Segment {
        self.segment
    }
}

impl TestPacket for Frame {
    fn carrying(flow: FlowKey, segment: Segment) -> Self {
        let payload = vec![0x5a; segment.payload_bytes as usize];
        Self::from_segment(flow, &segment, &payload).unwrap()
    }
    fn carried(&self) -> Segment {
        assert!(checksum_is_right(self.bytes()), "checksum of {self:?}");
        self.segment().unwrap()
    }
}

/// Sums the whole packet again.
pub fn checksum_is_right(bytes: &[u8]) -> bool {
    let ip = etherparse::IpSlice::from_slice(bytes).unwrap();
    let tcp = etherparse::TcpSlice::from_slice(ip.payload().payload).unwrap();
    let sum = match &ip {
        etherparse::IpSlice::Ipv4(v4) => {
            tcp.calc_checksum_ipv4(v4.header().source(), v4.header().destination())
        }
        etherparse::IpSlice::Ipv6(v6) => {
            tcp.calc_checksum_ipv6(v6.header().source(), v6.header().destination())
        }
    };
    sum.unwrap() == tcp.checksum()
}

/// The client's packets of its connection `number`.
pub fn flow_v4(number: u16) -> FlowKey {
    FlowKey {
        source: IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)),
        source_port: 40_000 + number,
        destination: IpAddr::V4(Ipv4Addr::new(198, 51, 100, 7)),
        destination_port: 80,
    }
}

/// The same over IPv6.
pub fn flow_v6(number: u16) -> FlowKey {
    FlowKey {
        source: IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1)),
        destination: IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0xffff, 0, 0, 0, 0xdead, 7)),
        ..flow_v4(number)
    }
}

/// A client whose packets, both ways, pass an agent.
pub trait Client {
    /// Lets time pass.
    fn wait(&mut self, span: Span);
    /// A packet of the server arrives; it must reach the client as it is.
    fn receives(&mut self, connection: u16, segment: Segment);
    /// The client sends a packet; what leaves instead.
    fn sends(&mut self, connection: u16, segment: Segment) -> Vec<Segment>;
    /// A count of the agent.
    fn counter(&self, name: &str) -> u64;
}

pub struct Behind<P> {
    agent: Box<dyn Agent<P>>,
    flow: fn(u16) -> FlowKey,
    now: Time,
}

impl<P: TestPacket> Client for Behind<P> {
    fn wait(&mut self, span: Span) {
        self.now += span;
    }

    fn receives(&mut self, connection: u16, segment: Segment) {
        let packet = P::carrying((self.flow)(connection).reverse(), segment);
        let mut out = Outbox::default();
        self.agent
            .on_packet(self.now, Direction::Downlink, packet.clone(), &mut out);
        assert_eq!(out.packets, [(Direction::Downlink, packet)]);
    }

    fn sends(&mut self, connection: u16, segment: Segment) -> Vec<Segment> {
        let packet = P::carrying((self.flow)(connection), segment);
        let mut out = Outbox::default();
        self.agent
            .on_packet(self.now, Direction::Uplink, packet.clone(), &mut out);
        assert!(out.dropped.is_empty());
        assert_eq!(
            out.packets.last(),
            Some(&(Direction::Uplink, packet)),
            "the original leaves last"
        );
        for (direction, packet) in &out.packets {
            assert_eq!(
                (*direction, packet.flow()),
                (Direction::Uplink, Some((self.flow)(connection)))
            );
        }
        out.packets.iter().map(|(_, packet)| packet.carried()).collect()
    }

    fn counter(&self, name: &str) -> u64 {
        self.agent
            .counters()
            .iter()
            .find(|counter| counter.name == name)
            .unwrap()
            .value
    }
}

/// One client on simulated packets, one on IPv4 and one on IPv6 frames.
pub fn clients(config: &AgentConfig) -> Vec<(&'static str, Box<dyn Client>)> {
    fn behind<P: TestPacket>(config: &AgentConfig, flow: fn(u16) -> FlowKey) -> Box<dyn Client> {
        Box::new(Behind::<P> {
            agent: config.build(),
            flow,
            now: Time::ZERO,
        })
    }
    vec![
        ("simulated", behind::<Simulated>(config, flow_v4)),
        ("IPv4", behind::<Frame>(config, flow_v4)),
        ("IPv6", behind::<Frame>(config, flow_v6)),
    ]
}

pub fn ack(number: u32) -> Segment {
    Segment {
        seq: Seq(1),
        ack: Seq(number),
        flags: Flags::ACK,
        window: 1000,
        ..Segment::default()
    }
}

pub fn data(seq: u32, payload_bytes: u32) -> Segment {
    Segment {
        seq: Seq(seq),
        payload_bytes,
        flags: Flags::ACK | Flags::PSH,
        ..Segment::default()
    }
}

pub fn numbers(segments: &[Segment]) -> Vec<u32> {
    segments.iter().map(|segment| segment.ack.0).collect()
}
