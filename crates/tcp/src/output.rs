//! Putting segments together.

use lasthop_units::Time;

use crate::endpoint::Endpoint;
use crate::segment::{Flags, Segment, Timestamps};
use crate::sender::Chunk;

impl Endpoint {
    #[inline]
    fn timestamps(&self, now: Time) -> Option<Timestamps> {
        self.timestamps.then(|| Timestamps {
            value: crate::clock::timestamp(now),
            echo: self.receiver.ts_recent(),
        })
    }

    /// The fields every segment of a connection carries, for a segment at 0.
    #[inline]
    pub(crate) fn acknowledgement(&mut self, now: Time) -> Segment {
        Segment {
            ack: self.receiver.ack_number(),
            window: self.receiver.announce(false),
            flags: Flags::ACK,
            timestamps: self.timestamps(now),
            ..Segment::default()
        }
    }

    pub(crate) fn data_segment(&mut self, now: Time, chunk: Chunk) -> Segment {
        let mut flags = Flags::ACK;
        let end = chunk.start + u64::from(chunk.payload);
        if chunk.payload > 0 && end == self.sender.end {
            flags = flags | Flags::PSH;
        }
        if chunk.fin {
            flags = flags | Flags::FIN;
            self.on_fin_sent();
        }
        let segment = Segment {
            seq: self.sender.seq(chunk.start),
            payload_bytes: chunk.payload,
            flags,
            ..self.acknowledgement(now)
        };
        // SACK blocks do not fit beside a full payload; they follow on an ACK of their own.
        if !self.receiver.has_sack_blocks() {
            self.receiver.ack_sent(&self.config);
        }
        segment
    }

    pub(crate) fn pure_ack(&mut self, now: Time) -> Segment {
        let segment = self.bare(now, self.sender.max);
        self.receiver.ack_sent(&self.config);
        self.stats.acks_sent += 1;
        segment
    }

    /// A zero-window probe: an old sequence number provokes an ACK that tells
    /// the window (as Linux and most BSDs do it; no data is risked).
    pub(crate) fn probe(&mut self, now: Time) -> Segment {
        self.bare(now, self.sender.una.saturating_sub(1))
    }

    fn bare(&mut self, now: Time, at: u64) -> Segment {
        let mut segment = Segment {
            seq: self.sender.seq(at),
            ..self.acknowledgement(now)
        };
        let most = match (self.config.header_bytes, segment.timestamps) {
            (None, None) => 4,
            _ => 3,
        };
        if self.sack && self.receiver.has_sack_blocks() {
            segment.sack = self.receiver.sack_blocks(most);
        }
        segment
    }
}
