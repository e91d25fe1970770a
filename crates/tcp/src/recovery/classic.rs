//! Tahoe, Reno and `NewReno`: duplicate ACKs, window inflation, go-back-N after
//! a timeout (RFC 5681, RFC 6582). With [`Reduction::Ns2`] every step is that
//! of ns-2 2.35 (`tcp.cc`, `tcp-reno.cc`, `tcp-newreno.cc`).

use crate::config::{Recovery, Reduction};
use crate::congestion::Window;
use crate::sender::{Context, Sender};

use super::Repair;

/// What last cut the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cut {
    None,
    DuplicateAcks,
    /// Recovery that duplicate ACKs began is over.
    Left,
    Timeout,
}

/// State of the classic algorithms.
#[derive(Clone, Debug)]
pub(crate) struct Classic {
    kind: Recovery,
    /// Highest offset sent when the last loss was noticed.
    recover: u64,
    /// Bytes that duplicate ACKs let the window exceed cwnd by.
    inflation: u64,
    last_cut: Cut,
    had_partial_ack: bool,
}

impl Classic {
    pub(crate) const fn new(kind: Recovery) -> Self {
        Self {
            kind,
            recover: 1,
            inflation: 0,
            last_cut: Cut::None,
            had_partial_ack: false,
        }
    }

    pub(crate) const fn inflation(&self) -> u64 {
        self.inflation
    }

    pub(crate) fn in_recovery(&self) -> bool {
        self.last_cut == Cut::DuplicateAcks && !matches!(self.kind, Recovery::Tahoe)
    }
}

impl Sender {
    fn classic(&mut self) -> &mut Classic {
        match &mut self.repair {
            Repair::Classic(classic) => classic,
            // Callers have matched the variant; any other value behaves like a fresh state.
            other => {
                *other = Repair::Classic(Box::new(Classic::new(Recovery::NewReno)));
                match other {
                    Repair::Classic(classic) => classic,
                    _ => unreachable!("assigned above"),
                }
            }
        }
    }

    pub(crate) fn classic_ack(&mut self, cx: &mut Context<'_>, ack: u64, advanced: bool, duplicate: bool) {
        let exact = cx.config.reduction == Reduction::Ns2;
        let threshold = cx.config.dup_ack_threshold;
        if advanced {
            self.classic_new_ack(cx, ack, exact);
        } else if duplicate {
            self.dup_acks += 1;
            self.cc.on_duplicate_ack(&mut self.window, cx.now);
            if self.dup_acks == threshold {
                self.classic_loss(cx, exact);
            } else if self.dup_acks > threshold {
                let smss = u64::from(self.smss);
                let classic = self.classic();
                if classic.in_recovery() {
                    classic.inflation += smss;
                }
            } else if cx.config.limited_transmit {
                self.extra_now = true;
            }
        }
        // ns-2 sends at the end of each ACK: Tahoe always, Reno and NewReno unless
        // they wait for the third duplicate, NewReno at most two segments then.
        let kind = self.classic().kind;
        self.burst = if kind == Recovery::Tahoe || self.dup_acks == 0 {
            u32::MAX
        } else if self.dup_acks < threshold {
            0
        } else if kind == Recovery::NewReno && exact {
            2
        } else {
            u32::MAX
        };
    }

    fn classic_new_ack(&mut self, cx: &mut Context<'_>, ack: u64, exact: bool) {
        let smss = u64::from(self.smss);
        let flight_before = self.in_flight();
        let classic = self.classic();
        let kind = classic.kind;
        if kind == Recovery::NewReno && classic.in_recovery() && ack < classic.recover {
            self.classic_partial_ack(cx, ack);
            return;
        }
        let left_recovery = classic.in_recovery();
        classic.inflation = 0;
        classic.had_partial_ack = false;
        if classic.last_cut == Cut::DuplicateAcks && kind != Recovery::Tahoe {
            classic.last_cut = Cut::Left;
        }
        let (acked, rtt) = self.advance(cx, ack);
        if left_recovery && !exact {
            // RFC 6582 step 3, first choice: no burst after recovery.
            let flight = self.max - self.una;
            let cwnd = self.window.ssthresh().min(flight.max(smss) + smss);
            self.window.set_bytes(cwnd);
            self.cc.on_exit_recovery(&mut self.window, cx.now);
            self.grow(cx, acked, acked, rtt, false, flight_before);
        } else {
            if left_recovery {
                self.cc.on_exit_recovery(&mut self.window, cx.now);
            }
            self.grow(cx, acked, acked, rtt, true, flight_before);
        }
    }

    /// An ACK of some but not all that was outstanding at the loss: the next
    /// segment is missing too (RFC 6582 section 3.2).
    fn classic_partial_ack(&mut self, cx: &mut Context<'_>, ack: u64) {
        let smss = u64::from(self.smss);
        let acked = ack - self.una;
        let dup_acks = self.dup_acks;
        let classic = self.classic();
        let first = !std::mem::replace(&mut classic.had_partial_ack, true);
        if classic.inflation > acked {
            classic.inflation -= acked.saturating_sub(smss);
        } else {
            let excess = acked - classic.inflation;
            classic.inflation = smss;
            let cwnd = self
                .window
                .fixed()
                .saturating_sub(excess << Window::FRACTION_BITS);
            self.window.set_fixed(cwnd);
        }
        self.una = ack;
        self.nxt = self.nxt.max(ack);
        self.dup_acks = dup_acks;
        self.drop_timing_covered_by(cx, ack);
        if first {
            // Only the first partial ACK restarts the timer ("impatient").
            self.rearm(cx);
        }
        self.resend_now = Some(ack);
        self.grow(cx, acked, acked, None, false, acked);
    }

    /// The third duplicate ACK.
    fn classic_loss(&mut self, cx: &mut Context<'_>, exact: bool) {
        let una = self.una;
        let max = self.max;
        let smss = u64::from(self.smss);
        let classic = self.classic();
        let again_allowed = classic.kind == Recovery::Reno && classic.last_cut == Cut::DuplicateAcks && exact;
        if una <= classic.recover && una != 1 && !again_allowed {
            // Duplicates of what a timeout sent again, not a new loss.
            return;
        }
        classic.recover = max;
        classic.last_cut = Cut::DuplicateAcks;
        let kind = classic.kind;
        if kind != Recovery::Tahoe {
            classic.inflation = u64::from(cx.config.dup_ack_threshold) * smss;
        }
        cx.stats.fast_retransmits += 1;
        self.reduce(cx, false);
        self.arm_retransmit(cx);
        self.stop_timing();
        if kind == Recovery::Tahoe {
            self.window.set_bytes(smss);
            self.nxt = una;
        } else {
            self.resend_now = Some(una);
        }
    }

    /// Threshold after a loss, and cwnd down to it. ns-2 halves cwnd exactly and
    /// cuts the threshold to whole segments.
    pub(crate) fn reduce(&mut self, cx: &mut Context<'_>, timeout: bool) {
        let loss = self.loss(cx);
        self.cc.on_enter_recovery(&self.window, &loss);
        let half = self.window.fixed().min(self.peer_window << Window::FRACTION_BITS) / 2;
        let ssthresh = if timeout {
            self.cc.ssthresh_after_timeout(&self.window, &loss)
        } else {
            self.cc.ssthresh_after_loss(&self.window, &loss)
        };
        self.cut(cx, ssthresh);
        let exact_half = cx.config.reduction == Reduction::Ns2
            && matches!(cx.config.congestion, crate::CongestionConfig::Reno(_));
        if timeout {
            self.window.set_bytes(u64::from(self.smss));
        } else if exact_half {
            self.window.set_fixed(half);
        } else {
            self.window.set_bytes(ssthresh);
        }
    }

    pub(crate) fn classic_timeout(&mut self, cx: &mut Context<'_>) {
        let max = self.max;
        let classic = self.classic();
        classic.inflation = 0;
        classic.recover = max;
        classic.last_cut = Cut::Timeout;
        classic.had_partial_ack = false;
        if classic.kind != Recovery::Tahoe || cx.config.reduction != Reduction::Ns2 {
            self.dup_acks = 0;
        }
        self.reduce(cx, true);
        self.cc.on_timeout(&mut self.window, cx.now);
        self.back_off(cx);
        self.nxt = self.una;
        self.resend_now = Some(self.una);
    }
}
