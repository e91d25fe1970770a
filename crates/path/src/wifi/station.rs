//! One radio: its queue, its backoff counter, its retries.

use std::collections::VecDeque;

use lasthop_units::{Span, Stream, Time};

use super::{FrameClass, QueuedFrames, RadioConfig, Timing};

/// A queued packet with its frame.
#[derive(Clone, Debug)]
pub(super) struct Frame<P> {
    pub(super) to: u32,
    pub(super) class: FrameClass,
    /// MPDU bytes.
    pub(super) bytes: u32,
    /// Air time of the data frame alone.
    pub(super) air: Span,
    pub(super) enqueued: Time,
    /// Transmissions so far.
    pub(super) attempts: u32,
    /// Failures that count against the short and the long retry limit.
    pub(super) short_failures: u32,
    pub(super) long_failures: u32,
    /// `None` once the receiver has it and only the MAC ACK is missing: the
    /// retry bit and sequence number let it discard what comes again (9.3.2.10).
    pub(super) packet: Option<P>,
}

impl<P> Frame<P> {
    pub(super) fn new(
        now: Time,
        to: u32,
        class: FrameClass,
        wire_bytes: u32,
        packet: P,
        timing: &Timing,
    ) -> Self {
        let bytes = Timing::frame_bytes(wire_bytes);
        Self {
            to,
            class,
            bytes,
            air: timing.data(bytes),
            enqueued: now,
            attempts: 0,
            short_failures: 0,
            long_failures: 0,
            packet: Some(packet),
        }
    }
}

/// Whether a radio is on, and if not, what its going did to queued frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Power {
    On,
    Off(QueuedFrames),
}

/// One radio.
#[derive(Clone, Debug)]
pub(super) struct Station<P> {
    pub(super) queue: VecDeque<Frame<P>>,
    pub(super) radio: RadioConfig,
    pub(super) power: Power,
    /// Backoff slots left, as of the moment the medium last became idle.
    pub(super) counter: u32,
    /// Current contention window: counters are drawn from 0..=window.
    pub(super) window: u32,
    /// It cannot send earlier: its first frame arrived then.
    pub(super) not_before: Time,
    /// When the last frame before the current one was done with.
    pub(super) last_done: Time,
    /// Whether it is on the medium's list of radios that count down or send.
    pub(super) active: bool,
    /// Draw that decides whether the next transmission is spoilt.
    pub(super) luck: f64,
    /// From when it may count down, if that differs from everyone else's in
    /// the idle period of this number.
    special: (u64, Time),
    backoffs: Stream,
    lucks: Stream,
}

impl<P> Station<P> {
    pub(super) fn new(radio: RadioConfig, window: u32, seed: u64, purpose: &str, number: u32) -> Self {
        let mut lucks = Stream::new(seed, &format!("{purpose}/errors/{number}"));
        Self {
            queue: VecDeque::new(),
            radio,
            power: Power::On,
            counter: 0,
            window,
            not_before: Time::ZERO,
            last_done: Time::ZERO,
            active: false,
            luck: lucks.unit(),
            special: (u64::MAX, Time::ZERO),
            backoffs: Stream::new(seed, &format!("{purpose}/backoff/{number}")),
            lucks,
        }
    }

    /// Draws a backoff from the current window.
    pub(super) fn draw_backoff(&mut self) {
        self.counter = self.backoffs.below(self.window + 1);
    }

    /// Draws the fate of the next transmission.
    pub(super) fn draw_luck(&mut self) {
        self.luck = self.lucks.unit();
    }

    /// From when it counts down in idle period `idle_period`, in which others do from
    /// `common`.
    #[inline]
    pub(super) fn resume(&self, idle_period: u64, common: Time) -> Time {
        if self.special.0 == idle_period {
            self.special.1
        } else {
            common
        }
    }

    /// Makes it count down from `resume` in idle period `idle_period`.
    pub(super) fn set_resume(&mut self, idle_period: u64, resume: Time) {
        self.special = (idle_period, resume);
    }

    /// Doubles the contention window after a failure (9.3.3).
    pub(super) fn widen(&mut self, max: u32) {
        self.window = (2 * self.window + 1).min(max);
    }

    /// Whether frames from (`own`) or for this radio may be sent at all.
    pub(super) fn sendable(&self, own: bool) -> bool {
        match self.power {
            Power::On => true,
            Power::Off(QueuedFrames::Retry) => !own,
            Power::Off(_) => false,
        }
    }
}
