//! The sender's timer: retransmission, tail loss probe, reordering, persist.

use lasthop_units::{Span, Time};

use crate::config::Reduction;
use crate::recovery::Repair;

use super::{Context, Sender};

/// What the sender's timer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Timer {
    /// Not running.
    Off,
    /// Retransmission timeout.
    Retransmit,
    /// Tail loss probe (RFC 8985 section 7).
    TailProbe,
    /// RACK waits for reordered segments until here (RFC 8985 section 6.2).
    Reorder,
    /// Zero-window probe (RFC 9293 section 3.8.6.1).
    Persist,
    /// The connection is in TIME-WAIT until here.
    TimeWait,
}

impl Sender {
    /// Starts the retransmission timer from now.
    pub(crate) fn arm_retransmit(&mut self, cx: &Context<'_>) {
        self.timer = Timer::Retransmit;
        self.deadline = self.rto.expiry(&cx.config.rto, cx.now);
    }

    /// An ACK of new data restarts the timer, or stops it when nothing is left
    /// (RFC 6298 5.2, 5.3).
    pub(crate) fn rearm(&mut self, cx: &Context<'_>) {
        if self.max > self.una {
            self.arm_retransmit(cx);
        } else {
            self.timer = Timer::Off;
            self.deadline = Time::MAX;
        }
    }

    /// A segment went out: makes sure a timer runs.
    pub(crate) fn after_send(&mut self, cx: &mut Context<'_>, again: bool) {
        if matches!(self.timer, Timer::Off | Timer::Persist) {
            self.arm_retransmit(cx);
        }
        if let Repair::Board(board) = &self.repair
            && (self.timer == Timer::TailProbe || (self.timer == Timer::Retransmit && !again))
            && board.probe_wanted()
        {
            self.arm_tail_probe(cx);
        }
    }

    /// Starts the tail loss probe timer if it is due before the timeout.
    pub(crate) fn arm_tail_probe(&mut self, cx: &Context<'_>) {
        let srtt = self.rto.srtt_estimate();
        let retransmit = self.rto.expiry(&cx.config.rto, cx.now);
        if srtt == Span::ZERO {
            return;
        }
        // Linux: 2 SRTT, plus the worst delayed ACK when one segment is out.
        let slack = if self.in_flight() <= u64::from(self.smss) {
            Span::from_ms(200)
        } else {
            Span::from_ms(2)
        };
        let probe = cx.now + srtt * 2 + slack;
        self.timer = Timer::TailProbe;
        self.deadline = probe.min(retransmit);
    }

    /// TIME-WAIT begins, or begins anew.
    pub(crate) fn arm_time_wait(&mut self, until: Time) {
        self.timer = Timer::TimeWait;
        self.deadline = until;
    }

    /// Starts or stops the persist timer as the peer's window demands.
    #[inline]
    pub(crate) fn update_persist(&mut self, cx: &Context<'_>) {
        if self.timer == Timer::Persist {
            self.end_persist(cx);
        }
    }

    #[inline(never)]
    fn end_persist(&mut self, cx: &Context<'_>) {
        if self.edge > self.nxt && self.peer_window > 0 {
            self.timer = Timer::Off;
            self.deadline = Time::MAX;
            self.retries = 0;
            self.rto.reset_backoff(&cx.config.rto);
        }
    }

    /// Nothing could be sent: if only the peer's window is in the way, the
    /// persist timer must run.
    pub(crate) fn guard_against_stall(&mut self, cx: &mut Context<'_>) {
        if self.timer == Timer::Off && self.una >= 1 && self.blocked_by_window() {
            self.timer = Timer::Persist;
            self.deadline = self.rto.expiry(&cx.config.rto, cx.now);
        }
    }

    /// The timer went off. Returns false when the connection is to be given up.
    pub(crate) fn on_timer(&mut self, cx: &mut Context<'_>) -> bool {
        match self.timer {
            Timer::Off => {
                self.deadline = Time::MAX;
                true
            }
            Timer::TimeWait => false,
            Timer::Persist => {
                // Probes go on for as long as the peer answers (RFC 9293 section 3.8.6.1).
                self.rto.back_off(&cx.config.rto);
                // What little the window allows goes at last (RFC 9293 section 3.8.6.2.1,
                // Linux `tcp_write_wakeup`); an empty probe only where it allows nothing.
                if self.edge > self.nxt && self.end > self.nxt && cx.config.reduction != Reduction::Ns2 {
                    self.resend_now = Some(self.nxt);
                } else {
                    self.probe_now = true;
                }
                cx.stats.window_probes += 1;
                self.deadline = self.rto.expiry(&cx.config.rto, cx.now);
                true
            }
            Timer::TailProbe => {
                self.on_tail_probe(cx);
                true
            }
            Timer::Reorder => {
                self.on_reorder_timer(cx);
                true
            }
            Timer::Retransmit => self.on_timeout(cx),
        }
    }

    fn on_timeout(&mut self, cx: &mut Context<'_>) -> bool {
        self.retries = self.retries.saturating_add(1);
        let most = if self.una == 0 {
            cx.config.rto.max_syn_retries
        } else {
            cx.config.rto.max_retries
        };
        if self.retries > most {
            return false;
        }
        cx.stats.timeouts += 1;
        self.resend_now = None;
        self.extra_now = false;
        if self.una == 0 {
            self.syn_losses += 1;
            if cx.config.reduction == Reduction::Ns2 {
                self.cut(cx, 2 * u64::from(self.smss));
            }
            self.timed = None;
            self.rto.back_off(&cx.config.rto);
            return true;
        }
        match &self.repair {
            Repair::Classic(_) => self.classic_timeout(cx),
            Repair::Pipe(_) => self.pipe_timeout(cx),
            Repair::Board(_) => self.board_timeout(cx),
        }
        self.burst = u32::MAX;
        true
    }

    /// Back-off, timer, and no measurement across the retransmission.
    pub(crate) fn back_off(&mut self, cx: &mut Context<'_>) {
        self.rto.back_off(&cx.config.rto);
        self.arm_retransmit(cx);
        self.timed = None;
    }
}
