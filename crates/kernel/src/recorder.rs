//! Turns real packets into the rows of the record and into counts per flow.

use lasthop_agent::Note;
use lasthop_network::{Crossing, Observer, PacketReader, PathLog, Watch};
use lasthop_path::{DropReason, MacAttempt};
use lasthop_record::{Place, Verdict};
use lasthop_tcp::Flags;
use lasthop_units::{Direction, Time};

use crate::routed::RoutedFrame;

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

impl FlowCounts {
    /// Payload bytes acknowledged by the pure ACKs that reached the data's
    /// sender; `acks` is their direction's index.
    pub(crate) fn acked_bytes(&self, acks: usize) -> u64 {
        self.highest_ack[acks]
    }
}

/// Everything the path writes down.
#[derive(Debug)]
pub(crate) struct Recorder {
    reader: PacketReader,
    pub(crate) counts: Vec<FlowCounts>,
    pub(crate) path: PathLog,
    /// `None` when nobody looks at packets.
    pub(crate) watch: Option<Watch>,
}

/// Rows of a log beyond which more are only counted: 2 GB at most.
pub(crate) const MAX_ROWS: usize = 20_000_000;

impl Recorder {
    pub(crate) fn new(watch: Option<Watch>, flows: usize) -> Self {
        Self {
            reader: PacketReader::new(flows),
            counts: vec![FlowCounts::default(); flows],
            path: PathLog::new(MAX_ROWS),
            watch,
        }
    }

    /// A host's stack sent a packet.
    pub(crate) fn sent(&mut self, now: Time, direction: Direction, packet: &RoutedFrame) {
        if let Some(watch) = &mut self.watch {
            watch.sent(now, direction, packet);
        }
        let place = Place::sender(direction);
        let row = self.reader.read(now, place, direction, packet, Verdict::Sent);
        let Some(row) = row else { return };
        let counts = &mut self.counts[row.flow as usize];
        let index = direction.index();
        if row.length_bytes > 0 {
            counts.data_packets[index] += 1;
            counts.retransmissions[index] += u64::from(row.retransmission);
        } else if row.flags == Flags::ACK {
            counts.acks_sent[index] += 1;
        }
    }

    /// A packet reached its host.
    pub(crate) fn received(&mut self, now: Time, direction: Direction, packet: &RoutedFrame) {
        if let Some(watch) = &mut self.watch {
            watch.received(now, direction, packet);
        }
        let place = Place::sender(direction.reverse());
        let row = self.reader.read(now, place, direction, packet, Verdict::Received);
        let Some(row) = row else { return };
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
        self.path.dropped(reason);
        if let Some(watch) = &mut self.watch {
            watch.dropped(at, element, direction, reason, packet);
        }
    }

    fn attempt(&mut self, at: Time, attempt: &MacAttempt) {
        self.path.attempt(at, attempt);
    }

    fn noted(&mut self, at: Time, note: Note) {
        self.path.noted(at, note);
    }

    fn crossed(&mut self, at: Time, crossing: Crossing, direction: Direction, packet: &RoutedFrame) {
        if let Some(watch) = &mut self.watch {
            watch.crossed(at, crossing, direction, packet);
        }
    }

    fn radio(&mut self, at: Time, station: u32, up: bool) {
        self.path.radio(at, station, up);
    }
}
