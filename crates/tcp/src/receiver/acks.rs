//! When received data is acknowledged.

use lasthop_units::{Span, Time};

use crate::config::{Config, DelayedAck, LossDetection};

/// Delayed and quick acknowledgement.
#[derive(Debug)]
pub(crate) struct AckPolicy {
    wanted: bool,
    /// When the delayed ACK goes out; `Time::MAX` when none waits.
    due: Time,
    /// Segments that have arrived since the last ACK.
    pending: u32,
    /// The offset acknowledged last.
    pub(super) last_sent: u64,
    /// Segments still to be acknowledged at once.
    quick: u32,
    /// Linux's adaptive delay.
    adaptive: Span,
    last_data: Time,
}

impl AckPolicy {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            wanted: false,
            due: Time::MAX,
            pending: 0,
            last_sent: 0,
            quick: config.quick_ack_segments,
            adaptive: Span::ZERO,
            last_data: Time::ZERO,
        }
    }

    pub(super) const fn wanted(&self) -> bool {
        self.wanted
    }

    pub(super) const fn deadline(&self) -> Time {
        self.due
    }

    /// The window has grown: at least the next segment is acknowledged at once.
    pub(super) const fn quick_once(&mut self, config: &Config) {
        if config.quick_ack_segments > 0 {
            // Linux: `icsk_ack.quick |= 1`.
            self.quick |= 1;
        }
    }

    pub(super) fn now(&mut self) {
        self.wanted = true;
    }

    /// In-order data of `len` bytes arrived; `full` is what a full segment of
    /// the peer's holds.
    pub(super) fn on_in_order(&mut self, config: &Config, now: Time, len: u64, next: u64, full: u32) {
        self.pending += 1;
        match config.delayed_ack {
            DelayedAck::Off => self.wanted = true,
            DelayedAck::Fixed { timeout } => {
                if self.pending >= 2 || self.quick > 0 {
                    self.wanted = true;
                } else {
                    self.due = now + timeout;
                }
            }
            DelayedAck::Linux { min, max } => {
                self.adapt(now, min, max);
                if next - self.last_sent > u64::from(full) || self.quick > 0 || len == 0 {
                    self.wanted = true;
                } else if self.due == Time::MAX {
                    self.due = now + self.adaptive.max(min).min(max);
                }
            }
        }
        self.last_data = now;
    }

    /// Out-of-order, duplicate or hole-filling data arrived.
    pub(super) fn on_disorder(&mut self, config: &Config, now: Time, duplicate: bool) {
        self.pending += 1;
        self.wanted = true;
        self.last_data = now;
        // Since 4.18 only duplicates make Linux acknowledge what follows at once too
        // (`tcp_data_queue`).
        if duplicate || config.loss_detection != LossDetection::Rack {
            self.quick = config.quick_ack_segments;
        }
    }

    /// Data from before the window arrived: Linux takes it that its ACK was lost, and
    /// acknowledges what follows at once (`tcp_send_dupack`).
    pub(super) fn on_duplicate(&mut self, config: &Config) {
        if config.loss_detection == LossDetection::Rack {
            self.quick = config.quick_ack_segments;
        }
    }

    /// Linux `tcp_event_data_recv`: follows half the gaps between segments.
    fn adapt(&mut self, now: Time, min: Span, max: Span) {
        if self.adaptive == Span::ZERO {
            self.adaptive = min;
            return;
        }
        let gap = now.since(self.last_data);
        if gap <= min / 2 {
            self.adaptive = self.adaptive / 2 + min / 2;
        } else if gap < self.adaptive {
            self.adaptive = (self.adaptive / 2 + gap).min(max);
        }
    }

    pub(super) fn sent(&mut self, config: &Config, next: u64) {
        if self.quick > 0 && config.quick_ack_segments > 0 {
            self.quick = self.quick.saturating_sub(self.pending);
        }
        self.wanted = false;
        self.due = Time::MAX;
        self.pending = 0;
        self.last_sent = next;
    }

    pub(super) fn cancel(&mut self) {
        self.due = Time::MAX;
    }

    pub(super) fn on_deadline(&mut self, now: Time) {
        if now >= self.due {
            self.due = Time::MAX;
            self.wanted = true;
        }
    }
}
