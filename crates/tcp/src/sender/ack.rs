//! What an acknowledgement does to the sender.

use lasthop_units::{Span, Time};

use crate::config::AckCounting;
use crate::congestion::Ack;
use crate::recovery::Repair;
use crate::segment::Segment;

use super::{Context, Sender};

impl Sender {
    /// An acceptable ACK arrived: `ack` lies within what has been sent.
    pub(crate) fn on_ack(&mut self, cx: &mut Context<'_>, ack: u64, segment: &Segment) {
        let advanced = ack > self.una;
        let window_changed = self.take_window(segment, ack);
        if window_changed && self.peer_window > 0 {
            self.burst = u32::MAX;
        }
        let duplicate = !advanced
            && ack == self.una
            && self.max > self.una
            && segment.payload_bytes == 0
            && !window_changed;
        if advanced {
            self.retries = 0;
        } else if duplicate {
            cx.stats.dup_acks_received += 1;
        }
        match &self.repair {
            Repair::Classic(_) => self.classic_ack(cx, ack, advanced, duplicate),
            Repair::Pipe(_) => self.pipe_ack(cx, ack, advanced, segment),
            Repair::Board(_) => self.board_ack(cx, ack, advanced, duplicate, segment),
        }
        self.update_persist(cx);
    }

    /// The offset acknowledged by a segment that brings new data or acknowledges
    /// some, and repeats the window; `None` when there is more to it.
    #[expect(clippy::inline_always, reason = "the segment stays in registers")]
    #[inline(always)]
    pub(crate) fn usual_ack(&self, segment: &Segment) -> Option<u64> {
        let distance = segment.ack.since(self.seq(self.una));
        let ack = self.una + u64::try_from(distance).ok()?;
        let tells = ack > self.una || segment.payload_bytes > 0;
        (tells && ack <= self.max && ack <= self.end && self.window_field == Some(segment.window))
            .then_some(ack)
    }

    /// [`Self::on_ack`] for an ACK of new data that [`Self::usual_ack`] let pass.
    #[expect(clippy::inline_always, reason = "the segment stays in registers")]
    #[inline(always)]
    pub(crate) fn on_usual_ack(&mut self, cx: &mut Context<'_>, ack: u64, segment: &Segment) {
        self.window_seq = segment.seq;
        self.edge = ack + self.peer_window;
        self.retries = 0;
        match &self.repair {
            Repair::Pipe(pipe) if pipe.is_quiet() => self.pipe_new_ack(cx, ack),
            _ => self.repair_by_ack(cx, ack, &{ *segment }),
        }
        self.update_persist(cx);
    }

    /// Hands an ACK of new data, which is all the segment brings, to the repair.
    #[inline(never)]
    fn repair_by_ack(&mut self, cx: &mut Context<'_>, ack: u64, segment: &Segment) {
        match &self.repair {
            Repair::Pipe(_) => self.pipe_ack(cx, ack, true, segment),
            Repair::Classic(_) => self.classic_ack(cx, ack, true, false),
            Repair::Board(_) => self.board_ack(cx, ack, true, false, segment),
        }
    }

    /// Moves `una`, takes the round-trip time, restarts the timer. Returns the
    /// bytes acknowledged and the measurement.
    #[inline]
    pub(crate) fn advance(&mut self, cx: &mut Context<'_>, ack: u64) -> (u64, Option<Span>) {
        let acked = ack - self.una;
        self.una = ack;
        if self.nxt < ack {
            self.nxt = ack;
        }
        let mut rtt = None;
        if let Some((end, sent)) = self.timed
            && ack >= end
        {
            self.timed = None;
            self.take_rtt(cx, sent);
            rtt = Some(cx.now.since(sent));
        }
        self.dup_acks = 0;
        self.rearm(cx);
        (acked, rtt)
    }

    /// A measurement: updates the timeout and ends its back-off.
    pub(crate) fn take_rtt(&mut self, cx: &mut Context<'_>, sent: Time) {
        self.rto.reset_backoff(&cx.config.rto);
        self.rto.measure(&cx.config.rto, sent, cx.now, self.una, self.max);
    }

    /// The segment being timed was sent again: its ACK will say nothing (Karn).
    pub(crate) fn stop_timing(&mut self) {
        self.timed = None;
    }

    /// Ends timing once `ack` covers the segment, without a measurement.
    pub(crate) fn drop_timing_covered_by(&mut self, cx: &Context<'_>, ack: u64) {
        if self.timed.is_some_and(|(end, _)| ack >= end) {
            self.timed = None;
            self.rto.reset_backoff(&cx.config.rto);
        }
    }

    /// What an ACK of `acked` bytes is worth to cwnd, in bytes.
    #[inline]
    pub(crate) fn credit(&mut self, cx: &Context<'_>, acked: u64) -> u64 {
        let smss = u64::from(self.smss);
        match cx.config.ack_counting {
            AckCounting::PerAck => smss,
            AckCounting::PerSegment => self.whole_segments(acked) * smss,
            AckCounting::PerAckOfSegment => self.whole_segments(acked).min(1) * smss,
            AckCounting::PerByte { limit_segments } => {
                if self.window.in_slow_start() {
                    acked.min(u64::from(limit_segments.max(1)) * smss)
                } else {
                    acked
                }
            }
        }
    }

    /// Whole segments completed by `acked` more bytes. A short segment at the
    /// end of the data counts as one.
    fn whole_segments(&mut self, acked: u64) -> u64 {
        let smss = u64::from(self.smss);
        self.partial_credit += acked;
        let mut whole = 0;
        if self.partial_credit >= smss {
            whole = if self.partial_credit < 2 * smss {
                1
            } else {
                self.partial_credit / smss
            };
            self.partial_credit -= whole * smss;
        }
        if self.partial_credit > 0 && self.una == self.max {
            self.partial_credit = 0;
            whole += 1;
        }
        whole
    }

    /// Tells the congestion control of an ACK of new data.
    #[inline]
    pub(crate) fn grow(
        &mut self,
        cx: &mut Context<'_>,
        acked: u64,
        delivered: u64,
        rtt: Option<Span>,
        may_grow: bool,
        in_flight_before: u64,
    ) {
        // Linux counts what an ACK delivers, so the ACK that ends a recovery is worth
        // the segment it was waiting for and not all that had been SACKed (`tcp_cong_control`).
        let counted = match cx.config.ack_counting {
            AckCounting::PerSegment => delivered,
            _ => acked,
        };
        let credit = self.credit(cx, counted);
        let ack = Ack {
            now: cx.now,
            delivered_bytes: delivered,
            credit_bytes: credit,
            may_grow: may_grow && acked > 0 && self.growth_allowed(cx),
            rtt,
            srtt: self.rto.srtt_estimate(),
            smallest_rtt: self.rto.smallest(),
            in_flight_bytes: in_flight_before,
            acked_offset: self.una,
            next_offset: self.max,
        };
        self.cc.on_ack(&mut self.window, &ack);
        if may_grow {
            self.note_judged(cx.now);
        }
        if let Some(most) = cx.config.max_cwnd_segments {
            let most = u64::from(most.max(1)) * u64::from(self.smss);
            if self.window.bytes() > most {
                self.window.set_bytes(most);
            }
        }
    }
}
