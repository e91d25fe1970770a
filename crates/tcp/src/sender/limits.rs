//! Whether cwnd is what limits the flow, and what idleness does to it
//! (RFC 2861, RFC 7661; Linux `tcp_cwnd_validate`).

use lasthop_units::{Span, Time};

use crate::config::IdleRestart;

use super::{Context, Sender};

/// How much of cwnd was used lately.
#[derive(Debug, Default)]
pub(super) struct Usage {
    /// Whether cwnd was full in the current or the last round trip.
    limited: bool,
    /// The most bytes in flight in that time.
    most: u64,
    /// The round trip ends when this offset is acknowledged.
    round_end: u64,
    /// Since when cwnd has not been full, and the most used since.
    unused_since: Time,
    unused_most: u64,
}

impl Sender {
    /// New data went out: remembers how much of cwnd is in use.
    pub(super) fn note_usage(&mut self, cx: &mut Context<'_>, flight: u64) {
        if !cx.config.cwnd_limited_growth && cx.config.idle_restart != IdleRestart::Decay {
            return;
        }
        let limited = flight + u64::from(self.smss) > self.window.bytes();
        let usage = &mut self.usage;
        if self.una >= usage.round_end || limited || (!usage.limited && flight > usage.most) {
            usage.limited = limited;
            usage.most = flight;
            usage.round_end = self.nxt;
        }
        if limited {
            usage.unused_most = 0;
            usage.unused_since = cx.now;
        } else {
            usage.unused_most = usage.unused_most.max(flight);
            if cx.config.idle_restart == IdleRestart::Decay
                && cx.now.since(usage.unused_since) >= self.rto.timeout()
            {
                self.decay_unused(cx);
            }
        }
    }

    /// The congestion control has just judged the window by an ACK: what was
    /// not used counts from here (Linux `snd_cwnd_stamp`, set by `tcp_cong_avoid`).
    pub(super) const fn note_judged(&mut self, now: Time) {
        self.usage.unused_since = now;
    }

    /// Half of what was not used for one RTO goes (RFC 2861).
    fn decay_unused(&mut self, cx: &mut Context<'_>) {
        let used = self.usage.unused_most.max(self.initial_window(cx.config));
        let cwnd = self.window.bytes();
        if used < cwnd && !self.in_recovery() {
            self.keep_three_quarters();
            self.window.set_bytes(u64::midpoint(cwnd, used));
        }
        self.usage.unused_most = 0;
        self.usage.unused_since = cx.now;
    }

    fn keep_three_quarters(&mut self) {
        let ssthresh = self.window.ssthresh();
        if ssthresh != crate::congestion::Window::NO_SSTHRESH {
            let kept = self.window.bytes() - self.window.bytes() / 4;
            self.window.set_ssthresh(ssthresh.max(kept));
        }
    }

    /// Whether an ACK may grow the window.
    pub(crate) fn growth_allowed(&self, cx: &Context<'_>) -> bool {
        if !cx.config.cwnd_limited_growth {
            return true;
        }
        if self.window.in_slow_start() {
            // Linux: slow start may go to twice what was used.
            return self.window.bytes() < 2 * self.usage.most;
        }
        self.usage.limited
    }

    /// New data is about to be sent with nothing in flight: applies the idle rule.
    pub(super) fn restart_after_idle(&mut self, cx: &mut Context<'_>) {
        let idle = cx.now.since(self.last_sent);
        let rto = self.rto.timeout();
        if cx.config.idle_restart == IdleRestart::Off || idle < rto || self.last_sent == Time::ZERO {
            return;
        }
        let cwnd = self.window.bytes();
        let restart = self.initial_window(cx.config).min(cwnd);
        let target = match cx.config.idle_restart {
            IdleRestart::Off => return,
            IdleRestart::OneSegment => u64::from(self.smss),
            IdleRestart::InitialWindow => restart,
            IdleRestart::Decay => {
                self.keep_three_quarters();
                halved_per(cwnd, idle, rto).max(restart)
            }
        };
        if target < cwnd {
            self.window.set_bytes(target);
        }
        self.usage.unused_since = cx.now;
        self.cc.on_after_idle(&mut self.window, cx.now, idle);
    }
}

fn halved_per(cwnd: u64, idle: Span, rto: Span) -> u64 {
    let periods = idle.as_ns() / rto.as_ns().max(1);
    cwnd.checked_shr(periods.min(63) as u32).unwrap_or(0)
}
