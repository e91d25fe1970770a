//! Turns what happens into the rows of the record.

use lasthop_agent::Note;
use lasthop_network::Observer;
use lasthop_path::{DropReason, MacAttempt};
use lasthop_record::{CellRecord, EventRow, MacRow, PacketRow, Place, SampleRow, Verdict};
use lasthop_scenario::spec::{Record, Sampling};
use lasthop_tcp::{Endpoint, Flags, Segment};
use lasthop_units::{Direction, Span, Time};

use crate::packet::SimPacket;

/// What it takes to write a segment's numbers as stream offsets.
#[derive(Clone, Copy, Debug, Default)]
struct Stream {
    isn: u32,
    /// Highest stream offset sent so far.
    highest: u64,
    /// Highest stream offset acknowledged so far, by the packets seen.
    acked: u64,
    /// The scale announced in this end's SYN.
    scale: Option<u8>,
    /// Whether agents stand at this end's host.
    guarded: bool,
}

/// The 64-bit stream offset nearest to `reference` whose low bits are `offset`.
fn unwrap(reference: u64, offset: u32) -> u64 {
    let distance = offset.wrapping_sub(reference as u32) as i32;
    reference.saturating_add_signed(i64::from(distance))
}

/// Collects the record of one cell.
#[derive(Debug)]
pub(crate) struct Recorder {
    pub(crate) record: CellRecord,
    packets: bool,
    /// Time between samples of one flow; `None` samples nothing.
    interval: Option<Span>,
    next_sample: Vec<Time>,
    streams: Vec<[Stream; 2]>,
    /// Drops by reason, for the totals.
    pub(crate) drops: Vec<(DropReason, u64)>,
}

impl Recorder {
    pub(crate) fn new(settings: &Record, elements: Vec<String>, flows: usize) -> Self {
        let interval = match settings.samples {
            Sampling::Off => None,
            Sampling::EveryAck => Some(Span::ZERO),
            Sampling::Every(interval) => Some(interval),
        };
        Self {
            record: CellRecord {
                elements,
                ..CellRecord::default()
            },
            packets: settings.packets,
            interval,
            next_sample: vec![Time::ZERO; flows],
            streams: vec![[Stream::default(); 2]; if settings.packets { flows } else { 0 }],
            drops: Vec::new(),
        }
    }

    /// Tells where the streams of a flow begin.
    pub(crate) fn streams_begin(&mut self, flow: usize, isn: [u32; 2]) {
        if let Some(streams) = self.streams.get_mut(flow) {
            for (stream, isn) in streams.iter_mut().zip(isn) {
                stream.isn = isn;
            }
        }
    }

    /// Samples a sender after an ACK, when a sample is due.
    #[inline]
    pub(crate) fn sample(&mut self, now: Time, flow: u32, sender: &Endpoint) {
        let Some(interval) = self.interval else { return };
        if now < self.next_sample[flow as usize] {
            return;
        }
        self.next_sample[flow as usize] = now + interval;
        let metrics = sender.metrics();
        self.record.samples.push(SampleRow {
            flow,
            t: now,
            cwnd_bytes: metrics.cwnd_bytes,
            ssthresh_bytes: metrics.ssthresh_bytes.map_or(f64::INFINITY, |bytes| bytes as f64),
            rwnd_bytes: metrics.rwnd_bytes,
            srtt_s: metrics.srtt.map_or(f64::NAN, Span::as_secs_f64),
            rto_s: metrics.rto.as_secs_f64(),
            in_flight_bytes: metrics.in_flight_bytes,
            snd_una_bytes: metrics.snd_una_bytes,
            snd_nxt_bytes: metrics.snd_nxt_bytes,
        });
    }

    /// Tells which flows' packets meet agents before they leave their host, by direction.
    pub(crate) fn agents_stand_at(&mut self, flow: usize, hosts: [bool; 2]) {
        if let Some(streams) = self.streams.get_mut(flow) {
            for (stream, guarded) in streams.iter_mut().zip(hosts) {
                stream.guarded = guarded;
            }
        }
    }

    /// A host's stack sent a packet. With agents at the host, what leaves it is
    /// what they let go of.
    #[inline]
    pub(crate) fn sent(&mut self, now: Time, direction: Direction, packet: &SimPacket) {
        if self.packets && !self.streams[packet.flow as usize][direction.index()].guarded {
            self.leaves(now, direction, packet);
        }
    }

    fn leaves(&mut self, now: Time, direction: Direction, packet: &SimPacket) {
        if self.packets {
            let place = match direction {
                Direction::Downlink => Place::Server,
                Direction::Uplink => Place::Client,
            };
            self.note_scale(direction, packet);
            self.packet(now, place, direction, packet, Verdict::Sent);
        }
    }

    /// A packet reached its host.
    #[inline]
    pub(crate) fn received(&mut self, now: Time, direction: Direction, packet: &SimPacket) {
        if self.packets {
            let place = match direction {
                Direction::Downlink => Place::Client,
                Direction::Uplink => Place::Server,
            };
            self.packet(now, place, direction, packet, Verdict::Received);
        }
    }

    pub(crate) fn event(&mut self, now: Time, flow: i64, kind: &'static str, value: f64) {
        self.record.events.push(EventRow {
            t: now,
            flow,
            kind,
            value,
        });
    }

    fn note_scale(&mut self, direction: Direction, packet: &SimPacket) {
        let segment = packet.segment();
        if segment.flags.has(Flags::SYN) {
            let stream = &mut self.streams[packet.flow as usize][direction.index()];
            stream.scale = segment.window_scale;
        }
    }

    fn window_bytes(&self, direction: Direction, flow: u32, segment: &Segment) -> u32 {
        let streams = &self.streams[flow as usize];
        let own = streams[direction.index()].scale;
        let peer = streams[direction.reverse().index()].scale;
        let shift = match (own, peer) {
            (Some(own), Some(_)) if !segment.flags.has(Flags::SYN) => own,
            _ => 0,
        };
        u32::from(segment.window) << shift
    }

    fn packet(
        &mut self,
        now: Time,
        place: Place,
        direction: Direction,
        packet: &SimPacket,
        verdict: Verdict,
    ) {
        let segment = &packet.segment();
        let flow = packet.flow;
        let row = PacketRow {
            flow,
            t: now,
            place,
            direction,
            seq_bytes: 0,
            ack_bytes: 0,
            length_bytes: segment.payload_bytes,
            wire_bytes: packet.wire_bytes,
            window_bytes: 0,
            flags: segment.flags,
            retransmission: false,
            verdict,
        };
        let row = if packet.is_datagram() {
            let seq_bytes = u64::from(segment.seq.0) * u64::from(segment.payload_bytes);
            PacketRow { seq_bytes, ..row }
        } else {
            self.tcp_row(row, direction, segment)
        };
        self.record.packets.push(row);
    }

    fn tcp_row(&mut self, row: PacketRow, direction: Direction, segment: &Segment) -> PacketRow {
        let window_bytes = self.window_bytes(direction, row.flow, segment);
        let streams = &mut self.streams[row.flow as usize];
        let peer_isn = streams[direction.reverse().index()].isn;
        let syn = u32::from(segment.flags.has(Flags::SYN));
        let own = &mut streams[direction.index()];
        // A SYN sits one before offset 0; it is written as offset 0.
        let seq_bytes = unwrap(
            own.highest,
            segment
                .seq
                .0
                .wrapping_add(syn)
                .wrapping_sub(own.isn.wrapping_add(1)),
        );
        let end = seq_bytes + u64::from(segment.payload_bytes);
        let retransmission = segment.payload_bytes > 0 && end <= own.highest && row.verdict == Verdict::Sent;
        own.highest = own.highest.max(end);
        let mut ack_bytes = 0;
        if segment.flags.has(Flags::ACK) {
            ack_bytes = unwrap(own.acked, segment.ack.0.wrapping_sub(peer_isn.wrapping_add(1)));
            own.acked = own.acked.max(ack_bytes);
        }
        PacketRow {
            seq_bytes,
            ack_bytes,
            window_bytes,
            retransmission,
            ..row
        }
    }
}

impl Observer<SimPacket> for Recorder {
    fn dropped(
        &mut self,
        at: Time,
        element: usize,
        direction: Direction,
        reason: DropReason,
        packet: &SimPacket,
    ) {
        match self.drops.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, count)) => *count += 1,
            None => self.drops.push((reason, 1)),
        }
        if self.packets {
            let verdict = Verdict::Dropped(reason.name());
            self.packet(at, Place::Element(element as u16), direction, packet, verdict);
        }
    }

    fn attempt(&mut self, at: Time, attempt: &MacAttempt) {
        self.record.mac.push(MacRow {
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

    fn left_host(&mut self, at: Time, direction: Direction, packet: &SimPacket) {
        self.leaves(at, direction, packet);
    }

    fn radio(&mut self, at: Time, station: u32, up: bool) {
        let kind = if up { "radio-up" } else { "radio-down" };
        self.event(at, -1, kind, f64::from(station));
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
