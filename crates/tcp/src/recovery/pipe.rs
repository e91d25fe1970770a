//! SACK as ns-2 2.35 does it (`tcp-sack1.cc`): a counter of packets in the
//! pipe, every hole below the highest `SACKed` packet is resent once.

use crate::congestion::Window;
use crate::ranges::RangeSet;
use crate::segment::Segment;
use crate::sender::{Context, Sender};

use super::{Repair, Send};

/// State of ns-2's SACK sender.
#[derive(Debug)]
pub(crate) struct Pipe {
    sacked: RangeSet,
    /// Everything below has been resent in this recovery.
    resent_below: u64,
    /// Segments thought to be in the network.
    count: i64,
    fast: bool,
    after_timeout: bool,
    /// Highest offset sent when the last loss was noticed; 1 once recovered.
    recover: u64,
}

impl Pipe {
    pub(crate) fn new() -> Self {
        Self {
            sacked: RangeSet::default(),
            resent_below: 0,
            count: 0,
            fast: false,
            after_timeout: false,
            recover: 1,
        }
    }

    pub(crate) const fn in_recovery(&self) -> bool {
        self.fast
    }

    pub(crate) const fn is_quiet(&self) -> bool {
        !self.fast
    }

    pub(crate) const fn sacked_bytes(&self) -> u64 {
        self.sacked.total()
    }

    fn clear(&mut self) {
        self.sacked.clear();
        self.resent_below = 0;
    }

    /// What to send next; `edge` is the right edge of the peer's window.
    pub(crate) fn choose(&mut self, una: u64, nxt: u64, smss: u32, window: &Window, edge: u64) -> Send {
        if !self.fast {
            return Send::new_if(nxt, smss, una + window.bytes());
        }
        if self.count >= window.segments().cast_signed() {
            return Send::Nothing;
        }
        match self.sacked.next_hole(self.resent_below.max(una)) {
            Some((start, end)) if start < edge => Send::Again {
                start,
                end: end.min(start + u64::from(smss)),
            },
            Some(_) => Send::Nothing,
            None => Send::new_if(nxt, smss, edge),
        }
    }

    pub(crate) fn sent(&mut self, start: u64, end: u64) {
        if self.fast {
            self.count += 1;
            if start >= self.resent_below && self.sacked.last().is_some_and(|(_, top)| start < top) {
                self.resent_below = end;
            }
        }
    }
}

impl Sender {
    fn pipe(&mut self) -> Option<&mut Pipe> {
        match &mut self.repair {
            Repair::Pipe(pipe) => Some(pipe),
            _ => None,
        }
    }

    /// Adds the segment's SACK blocks; returns whether they told anything new.
    fn take_sack(&mut self, segment: &Segment) -> bool {
        let una = self.una;
        let max = self.max;
        let isn = self.isn;
        let Some(pipe) = self.pipe() else { return false };
        let mut fresh = 0;
        for &(left, right) in segment.sack.as_slice() {
            let offset = |seq: crate::Seq| {
                una.checked_add_signed(i64::from(seq.since(isn.add(una as u32))))
                    .unwrap_or(0)
            };
            let (left, right) = (offset(left).max(una), offset(right).min(max));
            fresh += pipe.sacked.insert(left, right);
        }
        fresh > 0
    }

    pub(crate) fn pipe_ack(&mut self, cx: &mut Context<'_>, ack: u64, advanced: bool, segment: &Segment) {
        let fast = self.pipe().is_some_and(|pipe| pipe.fast);
        if fast {
            self.pipe_ack_in_recovery(cx, ack, advanced, segment);
            self.burst = u32::MAX;
            return;
        }
        if advanced {
            self.pipe_new_ack(cx, ack);
            return;
        }
        if ack == self.una && self.max > self.una && !self.pipe().is_some_and(|pipe| pipe.after_timeout) {
            self.pipe_duplicate(cx, segment);
        }
        self.burst = if self.dup_acks == 0 { u32::MAX } else { 0 };
    }

    /// An ACK of new data outside recovery.
    #[inline]
    pub(crate) fn pipe_new_ack(&mut self, cx: &mut Context<'_>, ack: u64) {
        let flight_before = self.max - self.una;
        let (acked, rtt) = self.advance(cx, ack);
        self.grow(cx, acked, acked, rtt, true, flight_before);
        if let Some(pipe) = self.pipe()
            && (pipe.after_timeout || !pipe.sacked.is_empty() || pipe.resent_below > 0)
        {
            pipe.after_timeout = false;
            pipe.clear();
        }
        self.burst = u32::MAX;
    }

    /// A duplicate ACK outside recovery counts if it SACKs something new.
    fn pipe_duplicate(&mut self, cx: &mut Context<'_>, segment: &Segment) {
        if !self.take_sack(segment) {
            return;
        }
        self.dup_acks += 1;
        self.cc.on_duplicate_ack(&mut self.window, cx.now);
        if self.dup_acks == cx.config.dup_ack_threshold {
            self.pipe_loss(cx);
        } else if self.dup_acks < cx.config.dup_ack_threshold && cx.config.limited_transmit {
            self.extra_now = true;
        }
    }

    fn pipe_loss(&mut self, cx: &mut Context<'_>) {
        let (una, max) = (self.una, self.max);
        let smss = u64::from(self.smss);
        let outstanding = (max - una).div_ceil(smss).cast_signed();
        let Some(pipe) = self.pipe() else { return };
        if una <= pipe.recover && una != 1 {
            return;
        }
        pipe.recover = max;
        // One less than is out for each duplicate; the resent segment is not
        // counted, so `sent` is made good here.
        pipe.count = outstanding - i64::from(cx.config.dup_ack_threshold) - 1;
        pipe.fast = true;
        pipe.resent_below = pipe.resent_below.max(una + smss);
        cx.stats.fast_retransmits += 1;
        self.arm_retransmit(cx);
        self.stop_timing();
        self.reduce(cx, false);
        self.resend_now = Some(una);
    }

    fn pipe_ack_in_recovery(&mut self, cx: &mut Context<'_>, ack: u64, advanced: bool, segment: &Segment) {
        let flight_before = self.in_flight();
        let Some(pipe) = self.pipe() else { return };
        pipe.count -= 1;
        if advanced && ack >= pipe.recover {
            pipe.recover = 1;
            pipe.fast = false;
            pipe.after_timeout = false;
            pipe.clear();
            let (acked, rtt) = self.advance(cx, ack);
            self.cc.on_exit_recovery(&mut self.window, cx.now);
            self.grow(cx, acked, acked, rtt, false, flight_before);
        } else if advanced {
            // What left the network with the resent segment: itself and its original.
            pipe.count -= 1;
            pipe.sacked.remove_below(ack);
            self.una = ack;
            self.nxt = self.nxt.max(ack);
            self.take_sack(segment);
            self.rearm(cx);
            self.rto.reset_backoff(&cx.config.rto);
        } else if self.take_sack(segment) && self.dup_acks > 0 {
            self.dup_acks += 1;
        }
    }

    pub(crate) fn pipe_timeout(&mut self, cx: &mut Context<'_>) {
        let max = self.max;
        if let Some(pipe) = self.pipe() {
            pipe.fast = false;
            pipe.after_timeout = true;
            pipe.recover = max;
            pipe.clear();
        }
        self.dup_acks = 0;
        self.reduce(cx, true);
        self.cc.on_timeout(&mut self.window, cx.now);
        self.back_off(cx);
        self.nxt = self.una;
        self.resend_now = Some(self.una);
    }
}
