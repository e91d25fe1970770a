//! What a medium reports.

use lasthop_units::Span;

use super::FrameClass;
use crate::DropReason;
use crate::names::named;

/// Something that happened on the medium.
#[derive(Clone, Debug, PartialEq)]
pub enum MediumEvent<P> {
    /// A packet reached the other radio.
    Delivered {
        /// The station that sent it; 0 is the access point.
        from: u32,
        /// The station it reached.
        to: u32,
        /// The packet.
        packet: P,
    },
    /// A packet was given up.
    Dropped {
        /// The station that had it; 0 is the access point.
        from: u32,
        /// The station it was for.
        to: u32,
        /// Why.
        reason: DropReason,
        /// The packet.
        packet: P,
    },
    /// One transmission ended; only with [`crate::Medium::log_attempts`].
    Attempt(MacAttempt),
}

/// One transmission of a frame, for the `mac` record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MacAttempt {
    /// Who sent: 0 is the access point.
    pub station: u32,
    /// To whom.
    pub to: u32,
    /// 1 for the first transmission of the frame.
    pub attempt: u32,
    /// How it ended.
    pub outcome: AttemptOutcome,
    /// From the first bit of the exchange (an RTS, or the frame) to the last
    /// bit of its last frame.
    pub airtime: Span,
    /// From the moment the frame became the first of its queue to the end of
    /// this transmission: the MAC delay so far.
    pub delay: Span,
    /// Bytes of the MPDU: packet, LLC/SNAP and MAC header, FCS.
    pub frame_bytes: u32,
}

/// How a transmission ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AttemptOutcome {
    /// The MAC ACK came back.
    Success,
    /// Another station began in the same slot.
    Collision,
    /// RTS, CTS or the frame was spoilt: the receiver does not have it.
    Error,
    /// The frame arrived and its MAC ACK was spoilt.
    AckError,
    /// A radio was, or went, down.
    LinkDown,
}

named!(AttemptOutcome {
    Success => "success",
    Collision => "collision",
    Error => "error",
    AckError => "ack-error",
    LinkDown => "link-down",
});

/// What one station did with the medium so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StationAirtime {
    /// Airtime of successful exchanges of data packets: from the first bit
    /// (protection included) to the last bit of the MAC ACK, gaps included.
    pub data: Span,
    /// The same for packets that only acknowledge.
    pub acks: Span,
    /// The same for other packets.
    pub other: Span,
    /// Airtime of its transmissions that collided.
    pub collided: Span,
    /// Airtime of its transmissions that were spoilt or found no receiver.
    pub spoilt: Span,
    /// Transmissions.
    pub attempts: u64,
    /// Transmissions that were not the first of their frame.
    pub retries: u64,
    /// Successful exchanges.
    pub successes: u64,
    /// Transmissions that collided.
    pub collisions: u64,
    /// Transmissions spoilt by errors, the MAC ACK included.
    pub errors: u64,
    /// Frames given up at the retry limit.
    pub retry_drops: u64,
    /// Packets refused because the queue was full.
    pub queue_drops: u64,
}

impl StationAirtime {
    /// Counts one transmission's outcome and airtime.
    pub(super) fn add(&mut self, outcome: AttemptOutcome, class: FrameClass, airtime: Span) {
        match outcome {
            AttemptOutcome::Success => {
                self.successes += 1;
                match class {
                    FrameClass::Data => self.data += airtime,
                    FrameClass::Ack => self.acks += airtime,
                    FrameClass::Other => self.other += airtime,
                }
            }
            AttemptOutcome::Collision => {
                self.collisions += 1;
                self.collided += airtime;
            }
            AttemptOutcome::Error | AttemptOutcome::AckError => {
                self.errors += 1;
                self.spoilt += airtime;
            }
            AttemptOutcome::LinkDown => self.spoilt += airtime,
        }
    }

    /// Airtime of successful exchanges with packets of `class`.
    pub const fn of_class(&self, class: FrameClass) -> Span {
        match class {
            FrameClass::Data => self.data,
            FrameClass::Ack => self.acks,
            FrameClass::Other => self.other,
        }
    }
}
