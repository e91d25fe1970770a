//! Turns real packets into the rows of the record and into counts per flow.

use lasthop_agent::{Note, Packet, TcpView};
use lasthop_network::Observer;
use lasthop_path::{DropReason, MacAttempt};
use lasthop_record::{EventRow, MacRow, PacketRow, Place, Verdict};
use lasthop_tcp::Flags;
use lasthop_units::{Direction, Time};

use crate::routed::RoutedFrame;

/// Where one direction of a flow's stream stands.
#[derive(Clone, Copy, Debug, Default)]
struct Stream {
    /// Sequence number of the first payload byte, once a SYN was seen.
    first: Option<u32>,
    /// Highest stream offset sent.
    highest: u64,
    /// Highest stream offset this end acknowledged.
    acked: u64,
    /// The scale announced in this end's SYN.
    scale: Option<u8>,
}

/// What was counted of one flow's packets, indexed by the direction of travel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FlowCounts {
    /// Segments with payload that left their host.
    pub(crate) data_packets: [u64; 2],
    /// Of these, segments whose payload was sent before.
    pub(crate) retransmissions: [u64; 2],
    /// ACKs without payload that left their host.
    pub(crate) acks_sent: [u64; 2],
    /// ACKs that reached the other host and acknowledged nothing new.
    pub(crate) duplicate_acks: [u64; 2],
    /// Highest acknowledgement that reached the other host.
    highest_ack: [u64; 2],
    /// Payload bytes of datagrams that reached their host.
    pub(crate) datagram_bytes: [u64; 2],
}

/// Everything the path writes down.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    keep_packets: bool,
    flows: usize,
    streams: Vec<[Stream; 2]>,
    pub(crate) counts: Vec<FlowCounts>,
    pub(crate) packets: Vec<PacketRow>,
    pub(crate) mac: Vec<MacRow>,
    pub(crate) events: Vec<EventRow>,
    pub(crate) drops: Vec<(DropReason, u64)>,
    /// Packets not written down because the log was full.
    pub(crate) unlogged: u64,
}

/// Rows of a log beyond which packets are only counted: 2 GB at most.
const MAX_ROWS: usize = 20_000_000;

/// The 64-bit stream offset nearest to `reference` whose low bits are `offset`.
fn unwrap(reference: u64, offset: u32) -> u64 {
    let distance = offset.wrapping_sub(reference as u32).cast_signed();
    reference.saturating_add_signed(i64::from(distance))
}

impl Recorder {
    pub(crate) fn new(keep_packets: bool, flows: usize) -> Self {
        Self {
            keep_packets,
            flows,
            streams: vec![[Stream::default(); 2]; flows],
            counts: vec![FlowCounts::default(); flows],
            ..Self::default()
        }
    }

    /// A packet left its host.
    pub(crate) fn sent(&mut self, now: Time, direction: Direction, packet: &RoutedFrame) {
        let place = match direction {
            Direction::Downlink => Place::Server,
            Direction::Uplink => Place::Client,
        };
        let Some(row) = self.row(now, place, direction, packet, Verdict::Sent) else {
            return;
        };
        let counts = &mut self.counts[row.flow as usize];
        let index = direction.index();
        if row.length_bytes > 0 {
            counts.data_packets[index] += 1;
            counts.retransmissions[index] += u64::from(row.retransmission);
        } else if row.flags == Flags::ACK {
            counts.acks_sent[index] += 1;
        }
        self.keep(row);
    }

    /// A packet reached its host.
    pub(crate) fn received(&mut self, now: Time, direction: Direction, packet: &RoutedFrame) {
        let place = match direction {
            Direction::Downlink => Place::Client,
            Direction::Uplink => Place::Server,
        };
        let Some(row) = self.row(now, place, direction, packet, Verdict::Received) else {
            return;
        };
        let counts = &mut self.counts[row.flow as usize];
        let index = direction.index();
        if row.flags == Flags::NONE {
            counts.datagram_bytes[index] += u64::from(row.length_bytes);
        } else if row.length_bytes == 0 && row.flags == Flags::ACK {
            if row.ack_bytes > counts.highest_ack[index] {
                counts.highest_ack[index] = row.ack_bytes;
            } else {
                counts.duplicate_acks[index] += 1;
            }
        }
        self.keep(row);
    }

    pub(crate) fn event(&mut self, t: Time, flow: i64, kind: &'static str, value: f64) {
        self.events.push(EventRow { t, flow, kind, value });
    }

    fn keep(&mut self, row: PacketRow) {
        if !self.keep_packets {
            return;
        }
        if self.packets.len() < MAX_ROWS {
            self.packets.push(row);
        } else {
            self.unlogged += 1;
        }
    }

    /// The packet as a row; `None` when it belongs to no flow.
    fn row(
        &mut self,
        t: Time,
        place: Place,
        direction: Direction,
        packet: &RoutedFrame,
        verdict: Verdict,
    ) -> Option<PacketRow> {
        if packet.route as usize >= self.flows {
            return None;
        }
        let row = PacketRow {
            flow: packet.route,
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
        match packet.tcp() {
            Some(tcp) => Some(self.tcp_row(row, &tcp, packet)),
            // IPv4 or IPv6 and UDP headers.
            None => packet.is_data().then(|| PacketRow {
                length_bytes: packet
                    .wire_bytes()
                    .saturating_sub(if packet.frame.bytes()[0] >> 4 == 4 { 28 } else { 48 }),
                ..row
            }),
        }
    }

    fn tcp_row(&mut self, row: PacketRow, tcp: &TcpView, packet: &RoutedFrame) -> PacketRow {
        let streams = &mut self.streams[row.flow as usize];
        let syn = tcp.flags.has(Flags::SYN);
        let peer = streams[row.direction.reverse().index()];
        let own = &mut streams[row.direction.index()];
        if syn && row.verdict == Verdict::Sent {
            own.first = Some(tcp.seq.0.wrapping_add(1));
            own.scale = packet.frame.segment().and_then(|segment| segment.window_scale);
        }
        let offset = |first: Option<u32>, number: u32| number.wrapping_sub(first.unwrap_or(number));
        // A SYN sits one before offset 0; it is written as offset 0.
        let seq = tcp.seq.0.wrapping_add(u32::from(syn));
        let seq_bytes = unwrap(own.highest, offset(own.first, seq));
        let end = seq_bytes + u64::from(tcp.payload_bytes);
        let sent = row.verdict == Verdict::Sent;
        let retransmission = tcp.payload_bytes > 0 && end <= own.highest && sent;
        if sent {
            own.highest = own.highest.max(end);
        }
        let mut ack_bytes = 0;
        if tcp.flags.has(Flags::ACK) {
            ack_bytes = unwrap(own.acked, offset(peer.first, tcp.ack.0));
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
}

impl Observer<RoutedFrame> for Recorder {
    fn dropped(
        &mut self,
        at: Time,
        element: usize,
        direction: Direction,
        reason: DropReason,
        packet: &RoutedFrame,
    ) {
        match self.drops.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, count)) => *count += 1,
            None => self.drops.push((reason, 1)),
        }
        if self.keep_packets {
            let place = Place::Element(element as u16);
            let verdict = Verdict::Dropped(reason.name());
            if let Some(row) = self.row(at, place, direction, packet, verdict) {
                self.keep(row);
            }
        }
    }

    fn attempt(&mut self, at: Time, attempt: &MacAttempt) {
        self.mac.push(MacRow {
            t: at - attempt.airtime,
            station: attempt.station,
            attempt: attempt.attempt,
            outcome: attempt.outcome.name(),
            airtime_s: attempt.airtime.as_secs_f64(),
            delay_s: attempt.delay.as_secs_f64(),
            frame_bytes: attempt.frame_bytes,
        });
    }

    fn noted(&mut self, at: Time, note: Note) {
        self.event(at, -1, note.kind, note.value);
    }

    fn radio(&mut self, at: Time, station: u32, up: bool) {
        self.event(
            at,
            -1,
            if up { "radio-up" } else { "radio-down" },
            f64::from(station),
        );
    }
}
