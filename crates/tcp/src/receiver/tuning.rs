//! How large the receive buffer is: Linux's dynamic right-sizing, of old and of today.

use lasthop_units::{Span, Time};

use crate::config::{AutoTuning, RightSizing};
use crate::segment::Segment;

/// Linux `TCP_INIT_CWND`: what a sender is taken to send in its first round trip.
const FIRST_FLIGHT: u64 = 10;
/// Linux `TCP_RMEM_TO_WIN_SCALE`: fraction bits of the share that payload has in memory.
const RATIO_BITS: u32 = 8;
/// Bytes a segment's memory has beside its payload: 52 of headers, 64 of head
/// room and the 320 of `skb_shared_info`, in one block of a power of two ...
const BLOCK_OVERHEAD: u64 = 52 + 64 + 320;
/// ... and the 256 of `sk_buff` itself.
const DESCRIPTOR: u64 = 256;

/// State of dynamic right-sizing (Linux `tcp_rcv_space_adjust`).
#[derive(Debug)]
pub(super) struct Tuning {
    pub(super) settings: AutoTuning,
    /// Bytes of memory the buffer has (`sk_rcvbuf`).
    memory: u64,
    /// Payload's share of that memory (`scaling_ratio`), as measured by now.
    ratio: u64,
    /// What the application read in the round trip before, in bytes.
    space: u64,
    /// Where the current round trip of reading began.
    read_from: u64,
    since: Time,
    /// The receiver's estimate of the round-trip time; zero when unknown.
    rtt: Span,
    /// The timestamp measured last: one measurement for each.
    echo: u32,
    /// Without timestamps: a window's worth of data takes one round trip.
    mark: u64,
    marked_at: Time,
}

impl Tuning {
    pub(super) const fn new(settings: AutoTuning) -> Self {
        Self {
            settings,
            memory: settings.default,
            ratio: 1 << (RATIO_BITS - 1),
            space: 0,
            read_from: 1,
            since: Time::ZERO,
            rtt: Span::ZERO,
            echo: 0,
            mark: 0,
            marked_at: Time::ZERO,
        }
    }

    pub(super) fn extrapolates(&self) -> bool {
        self.settings.right_sizing == RightSizing::Extrapolating
    }

    /// The handshake is done; `capacity` is the window of the buffer it begins with.
    pub(super) fn open(&mut self, capacity: u64, share: u64, smss: u32) {
        self.space = if self.extrapolates() {
            share.min(FIRST_FLIGHT * u64::from(smss))
        } else {
            capacity
        };
    }

    /// A segment larger than any before: its share in its memory goes for all
    /// (Linux `tcp_measure_rcv_mss`). Returns the window the buffer stands for now.
    pub(super) fn measure_overhead(&mut self, payload: u32) -> Option<u64> {
        if !self.extrapolates() {
            return None;
        }
        let payload = u64::from(payload);
        let memory = (payload + BLOCK_OVERHEAD).next_power_of_two() + DESCRIPTOR;
        self.ratio = ((payload << RATIO_BITS) / memory).max(1);
        let window = self.window();
        self.space = self.space.min(window);
        Some(window)
    }

    /// The window that all of the memory stands for.
    fn window(&self) -> u64 {
        (self.memory * self.ratio) >> RATIO_BITS
    }

    /// The application has read up to `read` and the buffer holds data up to
    /// `top`, in order up to `next`. Returns the new window if the buffer grows.
    pub(super) fn on_read(&mut self, now: Time, next: u64, read: u64, top: u64, smss: u32) -> Option<u64> {
        if self.rtt == Span::ZERO || now.since(self.since) < self.rtt {
            if self.since == Time::ZERO {
                self.since = now;
                self.read_from = read;
            }
            return None;
        }
        let copied = read - self.read_from;
        let window = if self.extrapolates() {
            // What waits unread was not read in this round trip either.
            let copied = copied.saturating_sub(next - read);
            if copied > self.space {
                self.extrapolate(copied, next, top)
            } else {
                None
            }
        } else if copied > self.space / 2 {
            Some(self.double(copied, smss))
        } else {
            None
        };
        self.since = now;
        self.read_from = read;
        window
    }

    /// Data beyond a hole arrived: it needs room beside what is being read.
    pub(super) fn on_disorder(&mut self, next: u64, top: u64) -> Option<u64> {
        if self.extrapolates() {
            self.extrapolate(self.space, next, top)
        } else {
            None
        }
    }

    /// Room for what the next round trip can bring when the sender doubles.
    fn double(&mut self, copied: u64, smss: u32) -> u64 {
        let window = 2 * copied + self.settings.headroom_segments() * u64::from(smss);
        let wanted = self.settings.memory_for(window).min(self.settings.max);
        self.space = 2 * copied;
        self.settings.window_of(wanted)
    }

    /// Linux `tcp_rcvbuf_grow`: twice what was read, as the measurement is a
    /// round trip old, and as much again as the sender's growth calls for.
    fn extrapolate(&mut self, copied: u64, next: u64, top: u64) -> Option<u64> {
        let before = self.space.max(1);
        self.space = copied;
        let window = 2 * copied;
        let growth = u128::from(window) * u128::from(copied.saturating_sub(before)) / u128::from(before);
        let window =
            window + (2 * growth).min(u128::from(self.settings.max)) as u64 + top.saturating_sub(next);
        let memory = ((window << RATIO_BITS) / self.ratio).min(self.settings.max);
        (memory > self.memory).then(|| {
            self.memory = memory;
            self.window()
        })
    }

    /// Estimates the round-trip time from the receiver's side: by the echo of
    /// its own timestamps, or by the time a window's worth of data takes.
    pub(super) fn measure(
        &mut self,
        now: Time,
        segment: &Segment,
        next: u64,
        window: u64,
        full_segment: u32,
    ) {
        if segment.timestamps.is_some() && self.extrapolates() {
            self.measure_by_echo(now, segment, full_segment);
            return;
        }
        let sample = if let Some(timestamps) = segment.timestamps {
            let clock = crate::clock::timestamp(now);
            let passed = clock.wrapping_sub(timestamps.echo);
            if timestamps.echo == 0 || passed > 1 << 24 {
                return;
            }
            Span::from_ms(u64::from(passed.max(1)))
        } else {
            if next < self.mark {
                return;
            }
            let started = self.marked_at;
            let first = self.mark == 0;
            self.mark = next + window;
            self.marked_at = now;
            if first {
                return;
            }
            now.since(started)
        };
        let sample = sample.max(Span::from_us(1));
        // Linux `tcp_rcv_rtt_update`: timestamps are smoothed, windows give a minimum.
        if self.rtt == Span::ZERO || (segment.timestamps.is_none() && sample < self.rtt) {
            self.rtt = sample;
        } else if segment.timestamps.is_some() {
            self.smooth(sample);
        }
    }

    /// Linux 6 `tcp_rcv_rtt_measure_ts`: full segments only, once for each echo;
    /// a shorter time goes at once.
    fn measure_by_echo(&mut self, now: Time, segment: &Segment, full_segment: u32) {
        let Some(timestamps) = segment.timestamps else {
            return;
        };
        if timestamps.echo == self.echo || segment.payload_bytes < full_segment {
            return;
        }
        self.echo = timestamps.echo;
        let passed = crate::clock::timestamp(now).wrapping_sub(timestamps.echo);
        if passed == 0 || passed > 1 << 24 {
            return;
        }
        let sample = Span::from_ms(u64::from(passed));
        if self.rtt == Span::ZERO || sample < self.rtt {
            self.rtt = sample;
        } else {
            self.smooth(sample);
        }
    }

    fn smooth(&mut self, sample: Span) {
        self.rtt = Span::from_ns(self.rtt.as_ns() - self.rtt.as_ns() / 8 + sample.as_ns() / 8);
    }
}
