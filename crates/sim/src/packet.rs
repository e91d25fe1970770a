//! A simulated packet: headers and lengths, no bytes.

use std::net::{IpAddr, Ipv4Addr};

use lasthop_agent::{FlowKey, Packet, TcpView};
use lasthop_network::Routed;
use lasthop_tcp::{Flags, Segment, Seq};
use lasthop_units::Direction;

/// A TCP segment, or a datagram (a segment without any flag), on its route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SimPacket {
    /// The flow, which is also the route.
    pub flow: u32,
    /// Bytes of the IP packet.
    pub wire_bytes: u32,
    /// Which end sent it first.
    pub direction: Direction,
    /// The segment; a datagram's number is in `segment.seq`.
    pub segment: Segment,
}

/// Bytes of IPv4 and UDP headers.
pub(crate) const UDP_HEADER_BYTES: u32 = 28;

impl SimPacket {
    /// A datagram with its number.
    pub(crate) fn datagram(flow: u32, direction: Direction, number: u64, payload_bytes: u32) -> Self {
        let segment = Segment { seq: Seq(number as u32), payload_bytes, ..Segment::default() };
        Self { flow, wire_bytes: payload_bytes + UDP_HEADER_BYTES, direction, segment }
    }

    /// Whether it is a datagram.
    pub(crate) fn is_datagram(&self) -> bool {
        self.segment.flags == Flags::NONE
    }
}

impl Routed for SimPacket {
    fn route(&self) -> u32 {
        self.flow
    }
}

impl Packet for SimPacket {
    fn wire_bytes(&self) -> u32 {
        self.wire_bytes
    }

    fn is_data(&self) -> bool {
        self.segment.payload_bytes > 0
    }

    fn flow(&self) -> Option<FlowKey> {
        let client = Ipv4Addr::from(0x0a01_0000 + (self.flow >> 14));
        let client_port = 49_152 + (self.flow & 0x3fff) as u16;
        let from_server = FlowKey {
            source: IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)),
            source_port: 80,
            destination: IpAddr::V4(client),
            destination_port: client_port,
        };
        Some(match self.direction {
            Direction::Downlink => from_server,
            Direction::Uplink => from_server.reverse(),
        })
    }

    fn tcp(&self) -> Option<TcpView> {
        let segment = &self.segment;
        (!self.is_datagram()).then(|| TcpView {
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
