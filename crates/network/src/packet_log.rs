//! Packets as rows of the record, their numbers as stream offsets.

use std::borrow::Cow;

use lasthop_path::DropReason;
use lasthop_record::{Log, PacketRow, Place, Verdict};
use lasthop_tcp::{Flags, Seq};
use lasthop_units::{Direction, Time};

use crate::Routed;

/// A packet that can be written down. Its route is its flow.
pub trait Logged: Routed {
    /// The scale its SYN announces.
    fn window_scale(&self) -> Option<u8>;
    /// A datagram's offset in its stream and its payload bytes; `None` when it
    /// is none with payload. Only asked of what is not TCP.
    fn datagram(&self) -> Option<(u64, u32)>;
    /// Its bytes from the IP header on, the first ones or all, and how many
    /// there are.
    fn captured(&self) -> (Cow<'_, [u8]>, u32);
}

/// Where one direction of a flow's stream stands.
#[derive(Clone, Copy, Debug, Default)]
struct Stream {
    /// Sequence number of the first payload byte, once the SYN was sent.
    first: Option<Seq>,
    /// Highest stream offset sent.
    highest: u64,
    /// Highest stream offset this end acknowledged, by the packets seen.
    acked: u64,
    /// The scale announced in this end's SYN.
    scale: Option<u8>,
}

/// The 64-bit stream offset nearest to `reference` whose low bits are `offset`.
fn unwrap(reference: u64, offset: u32) -> u64 {
    let distance = offset.wrapping_sub(reference as u32).cast_signed();
    reference.saturating_add_signed(i64::from(distance))
}

/// Reads packets of many flows at one vantage point each way: what leaves a
/// host and what becomes of it.
#[derive(Clone, Debug)]
pub struct PacketReader {
    streams: Vec<[Stream; 2]>,
}

impl PacketReader {
    /// A reader of flows 0 to `flows`.
    pub fn new(flows: usize) -> Self {
        Self {
            streams: vec![[Stream::default(); 2]; flows],
        }
    }

    /// The packet as a row; `None` when it belongs to no flow or is neither TCP
    /// nor a datagram with payload. What is sent must be read before what
    /// becomes of it, and once only.
    pub fn read<P: Logged>(
        &mut self,
        t: Time,
        place: Place,
        direction: Direction,
        packet: &P,
        verdict: Verdict,
    ) -> Option<PacketRow> {
        let flow = packet.route();
        let streams = self.streams.get_mut(flow as usize)?;
        let row = PacketRow {
            flow,
            t,
            place,
            direction,
            seq_bytes: 0,
            ack_bytes: 0,
            length_bytes: 0,
            wire_bytes: packet.wire_bytes(),
            window_bytes: 0,
            flags: Flags::NONE,
            retransmission: false,
            verdict,
        };
        if packet.tcp().is_some() {
            return Some(tcp_row(streams, row, packet));
        }
        packet.datagram().map(|(seq_bytes, length_bytes)| PacketRow {
            seq_bytes,
            length_bytes,
            ..row
        })
    }
}

fn tcp_row<P: Logged>(streams: &mut [Stream; 2], row: PacketRow, packet: &P) -> PacketRow {
    let Some(tcp) = packet.tcp() else { return row };
    let peer = streams[row.direction.reverse().index()];
    let own = &mut streams[row.direction.index()];
    let sent = row.verdict == Verdict::Sent;
    // A SYN sits one before offset 0; it is written as offset 0.
    let syn = tcp.flags.has(Flags::SYN);
    let seq = tcp.seq.add(u32::from(syn));
    if syn && sent {
        own.first = Some(seq);
        own.scale = packet.window_scale();
    }
    let offset = |first: Option<Seq>, number: Seq| first.map_or(0, |first| number.0.wrapping_sub(first.0));
    let seq_bytes = unwrap(own.highest, offset(own.first, seq));
    let end = seq_bytes + u64::from(tcp.payload_bytes);
    let retransmission = tcp.payload_bytes > 0 && end <= own.highest && sent;
    if sent {
        own.highest = own.highest.max(end);
    }
    let mut ack_bytes = 0;
    if tcp.flags.has(Flags::ACK) {
        ack_bytes = unwrap(own.acked, offset(peer.first, tcp.ack));
        own.acked = own.acked.max(ack_bytes);
    }
    let shift = match (own.scale, peer.scale) {
        (Some(own), Some(_)) if !syn => own,
        _ => 0,
    };
    PacketRow {
        seq_bytes,
        ack_bytes,
        length_bytes: tcp.payload_bytes,
        window_bytes: u32::from(tcp.window) << shift,
        flags: tcp.flags,
        retransmission,
        ..row
    }
}

/// The packets a run writes down: what left and reached hosts, and drops.
#[derive(Clone, Debug)]
pub struct PacketLog {
    /// The rows.
    pub rows: Log<PacketRow>,
    reader: PacketReader,
}

impl PacketLog {
    /// A log of the packets of flows 0 to `flows`.
    pub fn new(rows: Log<PacketRow>, flows: usize) -> Self {
        Self {
            rows,
            reader: PacketReader::new(flows),
        }
    }

    /// A packet left its host.
    pub fn left_host<P: Logged>(&mut self, now: Time, direction: Direction, packet: &P) {
        self.write(now, Place::sender(direction), direction, packet, Verdict::Sent);
    }

    /// A packet reached its host.
    pub fn received<P: Logged>(&mut self, now: Time, direction: Direction, packet: &P) {
        let place = Place::sender(direction.reverse());
        self.write(now, place, direction, packet, Verdict::Received);
    }

    /// A packet was dropped at the path element with index `element`.
    pub fn dropped<P: Logged>(
        &mut self,
        at: Time,
        element: usize,
        direction: Direction,
        reason: DropReason,
        packet: &P,
    ) {
        let place = Place::Element(element as u16);
        self.write(at, place, direction, packet, Verdict::Dropped(reason.name()));
    }

    fn write<P: Logged>(
        &mut self,
        t: Time,
        place: Place,
        direction: Direction,
        packet: &P,
        verdict: Verdict,
    ) {
        let row = self.reader.read(t, place, direction, packet, verdict);
        if let Some(row) = row {
            self.rows.push(row);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::unwrap;

    #[test]
    fn offsets_unwrap_towards_the_reference() {
        assert_eq!(unwrap(0, 1000), 1000);
        assert_eq!(unwrap(5_000_000_000, 705_032_704 + 1448), 5_000_001_448);
        assert_eq!(unwrap(4_294_967_290, 10), 4_294_967_306);
        assert_eq!(unwrap(4_294_967_300, 4_294_967_290), 4_294_967_290);
        assert_eq!(unwrap(0, u32::MAX), 0);
    }
}
