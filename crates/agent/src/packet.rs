//! What an agent sees of a packet, simulated or real.

use std::net::IpAddr;

use lasthop_tcp::{Flags, Seq, Timestamps};

/// Names one direction of a connection: the packet's own source and destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowKey {
    /// Source address.
    pub source: IpAddr,
    /// Source port.
    pub source_port: u16,
    /// Destination address.
    pub destination: IpAddr,
    /// Destination port.
    pub destination_port: u16,
}

impl FlowKey {
    /// The key of packets travelling the other way.
    #[must_use]
    pub const fn reverse(self) -> Self {
        Self {
            source: self.destination,
            source_port: self.destination_port,
            destination: self.source,
            destination_port: self.source_port,
        }
    }
}

/// The TCP header fields agents decide on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpView {
    /// Sequence number.
    pub seq: Seq,
    /// Acknowledgement number; valid with [`Flags::ACK`].
    pub ack: Seq,
    /// Flags.
    pub flags: Flags,
    /// Window field before scaling.
    pub window: u16,
    /// Payload bytes.
    pub payload_bytes: u32,
    /// Timestamp option.
    pub timestamps: Option<Timestamps>,
    /// Whether SACK blocks are present.
    pub has_sack: bool,
}

impl TcpView {
    /// Whether the packet is an acknowledgement and nothing else.
    pub const fn is_pure_ack(&self) -> bool {
        self.payload_bytes == 0 && self.flags.bits() & 0x17 == Flags::ACK.bits()
    }

    /// The sequence number after this packet's payload, SYN and FIN.
    pub const fn end(&self) -> Seq {
        self.seq
            .add(self.payload_bytes + self.flags.has(Flags::SYN) as u32 + self.flags.has(Flags::FIN) as u32)
    }
}

/// A packet on the path. Changing a field leaves a valid packet (real frames
/// update their checksum).
pub trait Packet: Clone + Send {
    /// Bytes of the IP packet.
    fn wire_bytes(&self) -> u32;
    /// Whether it carries transport payload (the packets a drop list counts).
    fn is_data(&self) -> bool;
    /// Whose packet it is; `None` when it is neither TCP nor UDP.
    fn flow(&self) -> Option<FlowKey>;
    /// The TCP header; `None` for anything else.
    fn tcp(&self) -> Option<TcpView>;
    /// Replaces the acknowledgement number.
    fn set_ack(&mut self, ack: Seq);
    /// Replaces the window field.
    fn set_window(&mut self, window: u16);
}
