//! Segments as frames and frames as segments.

use std::net::IpAddr;

use etherparse::err::packet::BuildWriteError;
use etherparse::{IpHeaders, PacketBuilder, PacketBuilderStep, TcpHeader, TcpOptionElement};
use lasthop_tcp::{Flags, SackBlocks, Segment, Seq, Timestamps};

use super::{Frame, flags, tcp_slice};
use crate::FlowKey;

/// Hops a built packet may take; the value Linux starts with.
const HOP_LIMIT: u8 = 64;

/// Why a segment cannot be written as a packet.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The flow's addresses belong to different versions of IP.
    #[error("{0} and {1} are addresses of different IP versions")]
    MixedVersions(IpAddr, IpAddr),
    /// The bytes given are not as many as the segment says it carries.
    #[error("the segment carries {expected} B of payload, not {given} B")]
    PayloadLength {
        /// What the segment says.
        expected: u32,
        /// What was given.
        given: usize,
    },
    /// The options do not fit into a TCP header.
    #[error("the TCP options take {0} B; a header holds 40 B")]
    OptionsTooLong(u32),
    /// The packet would exceed what its length field can say.
    #[error("the packet is too long")]
    TooLong(#[source] BuildWriteError),
}

impl Frame {
    /// The packet that carries `segment` and its `payload` from the flow's
    /// source to its destination. Options stand as Linux lays them out; IPv4
    /// packets are not to be fragmented and have identification 0 (RFC 6864).
    ///
    /// # Errors
    /// The addresses are of different versions, the payload is not the
    /// segment's, or something does not fit.
    pub fn from_segment(flow: FlowKey, segment: &Segment, payload: &[u8]) -> Result<Self, FrameError> {
        if segment.payload_bytes as usize != payload.len() {
            return Err(FrameError::PayloadLength {
                expected: segment.payload_bytes,
                given: payload.len(),
            });
        }
        let builder = ip(flow)?.tcp_header(header(flow, segment)?);
        let mut bytes = Vec::with_capacity(builder.size(payload.len()));
        builder.write(&mut bytes, payload).map_err(FrameError::TooLong)?;
        Ok(Self::new(bytes))
    }

    /// The UDP packet that carries `payload` from the flow's source to its destination.
    ///
    /// # Errors
    /// The addresses are of different versions, or the payload does not fit.
    pub fn from_datagram(flow: FlowKey, payload: &[u8]) -> Result<Self, FrameError> {
        let builder = ip(flow)?.udp(flow.source_port, flow.destination_port);
        let mut bytes = Vec::with_capacity(builder.size(payload.len()));
        builder.write(&mut bytes, payload).map_err(FrameError::TooLong)?;
        Ok(Self::new(bytes))
    }

    /// The packet's TCP header as a segment; `None` when it is not TCP. Options
    /// other than those of [`Segment`] are left out.
    pub fn segment(&self) -> Option<Segment> {
        let (_, _, tcp) = tcp_slice(self.bytes())?;
        let mut segment = Segment {
            seq: Seq(tcp.sequence_number()),
            ack: Seq(tcp.acknowledgment_number()),
            payload_bytes: tcp.payload().len() as u32,
            window: tcp.window_size(),
            flags: flags(&tcp),
            ..Segment::default()
        };
        for option in tcp.options_iterator().map_while(Result::ok) {
            match option {
                TcpOptionElement::Noop => {}
                TcpOptionElement::MaximumSegmentSize(mss) => segment.mss = Some(mss),
                TcpOptionElement::WindowScale(shift) => segment.window_scale = Some(shift),
                TcpOptionElement::SelectiveAcknowledgementPermitted => segment.sack_permitted = true,
                TcpOptionElement::Timestamp(value, echo) => {
                    segment.timestamps = Some(Timestamps { value, echo });
                }
                TcpOptionElement::SelectiveAcknowledgement(first, rest) => {
                    segment.sack = SackBlocks::default();
                    for (left, right) in std::iter::once(first).chain(rest.into_iter().flatten()) {
                        segment.sack.push(Seq(left), Seq(right));
                    }
                }
            }
        }
        Some(segment)
    }

    /// The TCP payload; empty when there is none or the packet is not TCP.
    pub fn payload(&self) -> &[u8] {
        tcp_slice(self.bytes()).map_or(&[], |(_, _, tcp)| tcp.payload())
    }
}

fn ip(flow: FlowKey) -> Result<PacketBuilderStep<IpHeaders>, FrameError> {
    match (flow.source, flow.destination) {
        (IpAddr::V4(from), IpAddr::V4(to)) => Ok(PacketBuilder::ipv4(from.octets(), to.octets(), HOP_LIMIT)),
        (IpAddr::V6(from), IpAddr::V6(to)) => Ok(PacketBuilder::ipv6(from.octets(), to.octets(), HOP_LIMIT)),
        (from, to) => Err(FrameError::MixedVersions(from, to)),
    }
}

fn header(flow: FlowKey, segment: &Segment) -> Result<TcpHeader, FrameError> {
    let mut header = TcpHeader::new(
        flow.source_port,
        flow.destination_port,
        segment.seq.0,
        segment.window,
    );
    header.acknowledgment_number = segment.ack.0;
    header.fin = segment.flags.has(Flags::FIN);
    header.syn = segment.flags.has(Flags::SYN);
    header.rst = segment.flags.has(Flags::RST);
    header.psh = segment.flags.has(Flags::PSH);
    header.ack = segment.flags.has(Flags::ACK);
    header
        .set_options(&options(segment))
        .map_err(|_| FrameError::OptionsTooLong(segment.options_bytes()))?;
    Ok(header)
}

/// The segment's options, aligned as Linux does; the sizes are those of
/// [`Segment::options_bytes`].
fn options(segment: &Segment) -> Vec<TcpOptionElement> {
    use TcpOptionElement::{
        MaximumSegmentSize, Noop, SelectiveAcknowledgement, SelectiveAcknowledgementPermitted, Timestamp,
        WindowScale,
    };
    let mut options = Vec::new();
    if let Some(mss) = segment.mss {
        options.push(MaximumSegmentSize(mss));
    }
    match (segment.sack_permitted, segment.timestamps) {
        (true, Some(Timestamps { value, echo })) => {
            options.extend([SelectiveAcknowledgementPermitted, Timestamp(value, echo)]);
        }
        (false, Some(Timestamps { value, echo })) => options.extend([Noop, Noop, Timestamp(value, echo)]),
        (true, None) => options.extend([Noop, Noop, SelectiveAcknowledgementPermitted]),
        (false, None) => {}
    }
    if let Some(shift) = segment.window_scale {
        options.extend([Noop, WindowScale(shift)]);
    }
    if let [first, rest @ ..] = segment.sack.as_slice() {
        let edges = |(left, right): (Seq, Seq)| (left.0, right.0);
        let mut others = [None; 3];
        for (other, block) in others.iter_mut().zip(rest) {
            *other = Some(edges(*block));
        }
        options.extend([Noop, Noop, SelectiveAcknowledgement(edges(*first), others)]);
    }
    options
}
