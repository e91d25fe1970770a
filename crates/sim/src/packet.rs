//! A simulated packet: headers and lengths, no bytes.

use std::borrow::Cow;
use std::net::{Ipv4Addr, Ipv6Addr};

use lasthop_agent::{FlowKey, Frame, Packet, TcpView};
use lasthop_network::{Logged, Routed};
use lasthop_tcp::{Flags, IpVersion, SackBlocks, Segment, Seq, Timestamps};
use lasthop_units::Direction;

/// A TCP segment, or a datagram (a segment without any flag), on its route.
///
/// Packets are moved from queue to queue, so what few of them carry (SYN
/// options, SACK blocks) is kept apart: a packet is 40 bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimPacket {
    /// The flow, which is also the route.
    pub flow: u32,
    /// Bytes of the IP packet.
    pub wire_bytes: u32,
    seq: Seq,
    ack: Seq,
    payload_bytes: u32,
    window: u16,
    flags: Flags,
    marks: u8,
    timestamps: Timestamps,
    options: Option<Box<RareOptions>>,
}

/// Options most segments do without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RareOptions {
    window_scale: Option<u8>,
    mss: Option<u16>,
    sack_permitted: bool,
    sack: SackBlocks,
}

/// In `marks`: sent by the client's side.
const UPLINK: u8 = 1;
/// In `marks`: the timestamp option is present.
const TIMESTAMPS: u8 = 2;

/// In `marks`: an IPv6 packet.
const IPV6: u8 = 4;

/// A prefix of nobody's (RFC 4193), "lasth" in ASCII.
const UNIQUE_LOCAL: u128 = 0xfd6c_6173_7468 << 80;

/// Bytes of a UDP header (RFC 768).
const UDP_HEADER_BYTES: u32 = 8;

/// Bytes of an IP packet with a datagram of `payload_bytes`.
pub(crate) const fn datagram_bytes(ip: IpVersion, payload_bytes: u32) -> u32 {
    ip.header_bytes() + UDP_HEADER_BYTES + payload_bytes
}

impl SimPacket {
    /// A segment on its way in `direction`.
    #[inline]
    pub(crate) fn new(
        flow: u32,
        direction: Direction,
        ip: IpVersion,
        wire_bytes: u32,
        segment: &Segment,
    ) -> Self {
        let mut marks = if direction == Direction::Uplink { UPLINK } else { 0 };
        if ip == IpVersion::V6 {
            marks |= IPV6;
        }
        let timestamps = match segment.timestamps {
            Some(timestamps) => {
                marks |= TIMESTAMPS;
                timestamps
            }
            None => Timestamps { value: 0, echo: 0 },
        };
        let rare = !segment.sack.is_empty() || segment.flags.has(Flags::SYN);
        Self {
            flow,
            wire_bytes,
            seq: segment.seq,
            ack: segment.ack,
            payload_bytes: segment.payload_bytes,
            window: segment.window,
            flags: segment.flags,
            marks,
            timestamps,
            options: rare.then(|| Box::new(RareOptions::of(segment))),
        }
    }

    /// A datagram with its number.
    pub(crate) fn datagram(
        flow: u32,
        direction: Direction,
        ip: IpVersion,
        number: u64,
        payload_bytes: u32,
    ) -> Self {
        let segment = Segment {
            seq: Seq(number as u32),
            payload_bytes,
            ..Segment::default()
        };
        let wire_bytes = datagram_bytes(ip, payload_bytes);
        Self::new(flow, direction, ip, wire_bytes, &segment)
    }

    /// The segment, if it has no option but timestamps.
    #[inline]
    pub(crate) fn plain_segment(&self) -> Option<Segment> {
        self.options.is_none().then(|| self.without_options())
    }

    #[inline]
    fn without_options(&self) -> Segment {
        Segment {
            seq: self.seq,
            ack: self.ack,
            payload_bytes: self.payload_bytes,
            window: self.window,
            flags: self.flags,
            timestamps: (self.marks & TIMESTAMPS != 0).then_some(self.timestamps),
            ..Segment::default()
        }
    }

    /// The segment; a datagram's number is in `seq`.
    #[inline]
    pub fn segment(&self) -> Segment {
        let segment = self.without_options();
        match &self.options {
            None => segment,
            Some(options) => Segment {
                window_scale: options.window_scale,
                mss: options.mss,
                sack_permitted: options.sack_permitted,
                sack: options.sack,
                ..segment
            },
        }
    }

    /// Payload bytes.
    #[inline]
    pub fn payload_bytes(&self) -> u32 {
        self.payload_bytes
    }

    /// Whether it is a datagram.
    pub(crate) fn is_datagram(&self) -> bool {
        self.flags == Flags::NONE
    }

    fn direction(&self) -> Direction {
        if self.marks & UPLINK == 0 {
            Direction::Downlink
        } else {
            Direction::Uplink
        }
    }
}

impl RareOptions {
    fn of(segment: &Segment) -> Self {
        Self {
            window_scale: segment.window_scale,
            mss: segment.mss,
            sack_permitted: segment.sack_permitted,
            sack: segment.sack,
        }
    }
}

impl Routed for SimPacket {
    fn route(&self) -> u32 {
        self.flow
    }
}

impl Logged for SimPacket {
    fn window_scale(&self) -> Option<u8> {
        self.options.as_ref().and_then(|options| options.window_scale)
    }

    fn datagram(&self) -> Option<(u64, u32)> {
        let offset = u64::from(self.seq.0) * u64::from(self.payload_bytes);
        Some((offset, self.payload_bytes))
    }

    fn captured(&self) -> (Cow<'_, [u8]>, u32) {
        // Every byte of a simulated payload is zero: lengths move, not contents.
        let payload = vec![0; self.payload_bytes as usize];
        let frame = match self.flow() {
            Some(flow) if self.is_datagram() => Frame::from_datagram(flow, &payload),
            Some(flow) => Frame::from_segment(flow, &self.segment(), &payload),
            None => return (Cow::Borrowed(&[]), self.wire_bytes),
        };
        match frame {
            Ok(frame) => {
                let original_bytes = frame.wire_bytes();
                (Cow::Owned(frame.into_bytes()), original_bytes)
            }
            // Longer than an IP packet can be: no capture could hold it.
            Err(_) => (Cow::Borrowed(&[]), self.wire_bytes),
        }
    }
}

impl Packet for SimPacket {
    fn wire_bytes(&self) -> u32 {
        self.wire_bytes
    }

    fn is_data(&self) -> bool {
        self.payload_bytes > 0
    }

    fn flow(&self) -> Option<FlowKey> {
        let client_number = 0x0a01_0000 + (self.flow >> 14);
        let (server, client) = if self.marks & IPV6 == 0 {
            let client = Ipv4Addr::from(client_number);
            (Ipv4Addr::new(10, 0, 0, 1).into(), client.into())
        } else {
            let client = Ipv6Addr::from(UNIQUE_LOCAL | u128::from(client_number));
            (Ipv6Addr::from(UNIQUE_LOCAL | 1).into(), client.into())
        };
        let client_port = 49_152 + (self.flow & 0x3fff) as u16;
        let from_server = FlowKey {
            source: server,
            source_port: 80,
            destination: client,
            destination_port: client_port,
        };
        Some(match self.direction() {
            Direction::Downlink => from_server,
            Direction::Uplink => from_server.reverse(),
        })
    }

    fn tcp(&self) -> Option<TcpView> {
        (!self.is_datagram()).then(|| TcpView {
            seq: self.seq,
            ack: self.ack,
            flags: self.flags,
            window: self.window,
            payload_bytes: self.payload_bytes,
            timestamps: (self.marks & TIMESTAMPS != 0).then_some(self.timestamps),
            has_sack: self
                .options
                .as_ref()
                .is_some_and(|options| !options.sack.is_empty()),
        })
    }

    fn set_ack(&mut self, ack: Seq) {
        self.ack = ack;
    }

    fn set_window(&mut self, window: u16) {
        self.window = window;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_small() {
        assert_eq!(size_of::<SimPacket>(), 40);
    }

    #[test]
    fn a_segment_comes_out_as_it_went_in() {
        let mut sack = SackBlocks::default();
        sack.push(Seq(5), Seq(9));
        let syn = Segment {
            seq: Seq(1),
            flags: Flags::SYN,
            window_scale: Some(7),
            mss: Some(1460),
            sack_permitted: true,
            timestamps: Some(Timestamps { value: 3, echo: 4 }),
            ..Segment::default()
        };
        let ack = Segment {
            ack: Seq(77),
            flags: Flags::ACK,
            window: 9,
            sack,
            ..Segment::default()
        };
        for segment in [syn, ack] {
            let packet = SimPacket::new(3, Direction::Uplink, IpVersion::V4, 60, &segment);
            assert_eq!(packet.segment(), segment);
        }
    }
}
