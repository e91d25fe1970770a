//! The usual case: an established connection on which everything arrives in
//! order and nothing waits to be repaired.
//!
//! Almost every segment of a run is of this kind. What is done here is what the
//! general path does with such a segment, without the questions whose answer is
//! known; and no segment is kept in memory, so that a driver's own form of a
//! packet turns into action without a copy.

use lasthop_units::Time;

use crate::endpoint::Endpoint;
use crate::segment::{Flags, Segment};
use crate::sender::Context;
use crate::state::State;

impl Endpoint {
    /// Deals with a segment if it is of the usual kind; false when nothing was
    /// done and [`Self::on_other`] is to be called.
    #[allow(
        clippy::inline_always,
        reason = "the segment stays in registers only where both ends are seen"
    )]
    #[inline(always)]
    pub fn on_usual(&mut self, now: Time, segment: &Segment) -> bool {
        const CONTROL: u8 = Flags::SYN.bits() | Flags::RST.bits() | Flags::ACK.bits() | Flags::FIN.bits();
        if self.state != State::Established
            || segment.flags.bits() & CONTROL != Flags::ACK.bits()
            || !segment.sack.is_empty()
            || !self.receiver.is_usual(segment)
        {
            return false;
        }
        let Some(ack) = self.sender.usual_ack(segment) else {
            return false;
        };
        self.receiver.take_timestamp(now, segment);
        if ack > self.sender.una {
            let mut cx = Context {
                config: &self.config,
                stats: &mut self.stats,
                now,
            };
            self.sender.on_usual_ack(&mut cx, ack, segment);
        }
        if segment.payload_bytes > 0 {
            self.receiver.on_usual_text(&self.config, now, segment);
        }
        self.refresh();
        true
    }

    /// The next segment if it is of the usual kind: new data, or an ACK without
    /// blocks. When there is none, [`Self::poll_transmit`] may still have one.
    #[allow(
        clippy::inline_always,
        reason = "the segment stays in registers only where both ends are seen"
    )]
    #[inline(always)]
    pub fn poll_usual(&mut self, now: Time) -> Option<Segment> {
        if self.quiet || self.state != State::Established || self.syn_due {
            return None;
        }
        let mut cx = Context {
            config: &self.config,
            stats: &mut self.stats,
            now,
        };
        if let Some((start, more)) = self.sender.express(&mut cx) {
            let segment = Segment {
                seq: self.sender.seq(start),
                payload_bytes: self.sender.smss,
                ..self.acknowledgement(now)
            };
            // Blocks do not fit beside a full payload; they follow on an ACK of their own.
            if !self.receiver.has_sack_blocks() {
                self.receiver.ack_sent(&self.config);
            }
            self.refresh();
            self.quiet = !more && !self.receiver.wants_ack();
            return Some(segment);
        }
        if self.receiver.wants_ack() && self.sender.is_idle() && !self.receiver.has_sack_blocks() {
            let segment = Segment {
                seq: self.sender.seq(self.sender.max),
                ..self.acknowledgement(now)
            };
            self.receiver.ack_sent(&self.config);
            self.stats.acks_sent += 1;
            self.refresh();
            self.quiet = true;
            return Some(segment);
        }
        None
    }
}
