//! What to send next.

use crate::config::IdleRestart;
use crate::recovery::{Repair, Send};

use super::{Chunk, Context, Sender, Timer};

impl Sender {
    /// Whether something out of the ordinary is to be sent.
    pub(crate) const fn has_errand(&self) -> bool {
        self.resend_now.is_some() | self.extra_now | self.probe_now
    }

    /// Whether surely nothing is to be sent but ACKs.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.nxt >= self.limit() && !self.has_errand() && self.repair.is_quiet()
    }

    /// Whether there is anything that may have to be sent.
    pub(crate) fn has_something(&self) -> bool {
        self.nxt < self.limit() || self.resend_now.is_some() || !self.repair.is_quiet()
    }

    /// The common case of [`Self::next_chunk`]: a full segment of new data, other
    /// data outstanding, nothing to repair. Tells where it starts and whether
    /// more may follow.
    #[inline]
    pub(crate) fn express(&mut self, cx: &mut Context<'_>) -> Option<(u64, bool)> {
        let smss = u64::from(self.smss);
        let start = self.nxt;
        let stop = start + smss;
        if self.una == start || start != self.max || self.burst != u32::MAX || self.has_errand() {
            return None;
        }
        let bound = match &self.repair {
            Repair::Classic(classic) => self.una + self.window.bytes() + classic.inflation(),
            Repair::Pipe(pipe) if pipe.is_quiet() => self.una + self.window.bytes(),
            Repair::Board(board) if board.is_plain() => self.una + self.window.bytes(),
            _ => return None,
        };
        // The last segment may carry PSH or FIN and is no common case.
        if stop > bound.min(self.edge).min(self.end - 1) {
            return None;
        }
        self.nxt = stop;
        self.max = stop;
        cx.stats.data_packets += 1;
        self.last_sent = cx.now;
        if let Repair::Board(board) = &mut self.repair {
            board.sent(cx.now, start, stop, false);
        } else if self.timed.is_none() {
            self.timed = Some((stop, cx.now));
        }
        if cx.config.cwnd_limited_growth || cx.config.idle_restart == IdleRestart::Decay {
            let flight = self.nxt - self.una;
            self.note_usage(cx, flight);
        }
        if self.timer != Timer::Retransmit || matches!(self.repair, Repair::Board(_)) {
            self.after_send(cx, false);
        }
        let cwnd_is_full = stop + smss > bound && stop + smss <= self.end;
        Some((start, !cwnd_is_full))
    }

    /// The next segment of the stream that may be sent now.
    pub(crate) fn next_chunk(&mut self, cx: &mut Context<'_>) -> Option<Chunk> {
        if let Some(start) = self.resend_now.take()
            && (start < self.max || start < self.limit())
        {
            return Some(self.emit(cx, start.max(self.una), u64::MAX));
        }
        if std::mem::take(&mut self.extra_now)
            && self.nxt + u64::from(self.smss)
                <= self.una + self.window.bytes() + u64::from(self.dup_acks) * u64::from(self.smss)
            && self.may_send_new(cx)
        {
            return Some(self.emit(cx, self.nxt, u64::MAX));
        }
        if self.burst == 0 || (self.nxt >= self.limit() && self.repair.is_quiet()) {
            return None;
        }
        let limit = self.limit();
        let choice = match &mut self.repair {
            Repair::Classic(classic) => {
                let window = self.window.bytes() + classic.inflation();
                Send::new_if(self.nxt, self.smss, self.una + window)
            }
            Repair::Pipe(pipe) => pipe.choose(self.una, self.nxt, self.smss, &self.window, self.edge),
            Repair::Board(board) => board.choose(self.una, self.nxt, limit, self.smss, &self.window),
        };
        match choice {
            Send::Nothing => None,
            Send::Again { start, end } => {
                self.use_burst();
                Some(self.emit(cx, start, end))
            }
            Send::New => {
                if !self.may_send_new(cx) {
                    return None;
                }
                if self.nxt == self.una && self.nxt == self.max {
                    self.restart_after_idle(cx);
                }
                self.use_burst();
                Some(self.emit(cx, self.nxt, u64::MAX))
            }
        }
    }

    fn use_burst(&mut self) {
        if self.burst != u32::MAX {
            self.burst -= 1;
        }
    }

    /// Whether the peer's window, Nagle and silly window avoidance let the
    /// segment at `nxt` go (RFC 9293 sections 3.7.4 and 3.8.6.2.1).
    fn may_send_new(&self, cx: &Context<'_>) -> bool {
        if self.nxt >= self.limit() {
            return false;
        }
        let smss = u64::from(self.smss);
        if self.nxt + smss <= self.edge && self.nxt + smss <= self.end {
            return true;
        }
        let data = self.end.saturating_sub(self.nxt);
        let usable = self.edge.saturating_sub(self.nxt);
        if data == 0 {
            // Only a FIN is left; it needs no window.
            return true;
        }
        if usable < data.min(smss) {
            // The window, not the data, makes this segment short: silly unless it is large.
            return usable > 0 && 2 * usable >= self.largest_window;
        }
        // All data fits: Nagle as Minshall amended it waits only while another
        // short segment is unacknowledged.
        !cx.config.nagle || self.fin_queued || self.short_end <= self.una || self.nxt < self.max
    }

    /// Books the segment at `start` as sent and describes it.
    fn emit(&mut self, cx: &mut Context<'_>, start: u64, bound: u64) -> Chunk {
        let smss = u64::from(self.smss);
        let mut stop = self.end.min(start + smss).min(bound);
        let again = start < self.max;
        if !again {
            stop = stop.min(self.edge.max(start));
        }
        let payload = stop.saturating_sub(start) as u32;
        let fin =
            self.fin_queued && start + u64::from(payload) == self.end && start + u64::from(payload) < bound;
        let end = start + u64::from(payload) + u64::from(fin);
        if payload > 0 {
            cx.stats.data_packets += 1;
        }
        if again {
            cx.stats.retransmissions += 1;
        }
        if start <= self.nxt && end > self.nxt {
            self.nxt = end;
        }
        if payload < self.smss && payload > 0 && !again {
            self.short_end = end;
        }
        match &mut self.repair {
            Repair::Board(board) => board.sent(cx.now, start, end, again),
            Repair::Pipe(pipe) => pipe.sent(start, end),
            Repair::Classic(_) => {}
        }
        if end > self.max {
            let nothing_outstanding = self.una == self.max;
            self.max = end;
            if self.timed.is_none() {
                self.timed = Some((end, cx.now));
            }
            if nothing_outstanding {
                self.arm_retransmit(cx);
            }
            let flight = self.in_flight();
            self.note_usage(cx, flight);
        }
        self.after_send(cx, again);
        self.last_sent = cx.now;
        Chunk { start, payload, fin }
    }

    /// Books a SYN, or the SYN-ACK that answers one, as sent. ns-2's sinks have
    /// no timer and leave it to the SYN's sender to try again; here they wait so
    /// long that it does.
    pub(crate) fn sent_syn(&mut self, cx: &mut Context<'_>, answers: bool) {
        if self.max == 0 {
            self.nxt = 1;
            self.max = 1;
            self.timed = Some((1, cx.now));
        } else {
            self.timed = None;
            cx.stats.retransmissions += 1;
        }
        self.last_sent = cx.now;
        self.arm_retransmit(cx);
        if answers && cx.config.reduction == crate::config::Reduction::Ns2 {
            self.deadline = cx.now + self.rto.timeout() * 2;
        }
    }

    /// Whether data or a FIN waits that the peer's window keeps back.
    pub(crate) fn blocked_by_window(&self) -> bool {
        self.nxt < self.limit() && self.una == self.max
    }
}
