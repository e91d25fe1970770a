//! The receive buffer and the window announced from it.

use lasthop_units::{Span, Time};

use crate::config::{AutoTuning, Config, ReceiveBuffer};
use crate::segment::Segment;

/// Buffer size, announced edge, and Linux's dynamic right-sizing.
#[derive(Debug)]
pub(crate) struct ReceiveWindow {
    /// Window scale offered; 0 when scaling is not agreed on.
    pub(super) scale: u8,
    /// Right edge announced; never moves back.
    edge: u64,
    /// Payload bytes the buffer can be announced as.
    capacity: u64,
    /// Linux `rcv_ssthresh`: the share of the buffer that the segments seen so
    /// far show to be safe; announced at most when `clamped`.
    share: u64,
    clamped: bool,
    smss: u32,
    /// Largest segment the peer sent (Linux `rcv_mss`).
    full_segment: u32,
    tuning: Option<Tuning>,
}

/// State of dynamic right-sizing (Linux `tcp_rcv_space_adjust`).
#[derive(Debug)]
struct Tuning {
    settings: AutoTuning,
    /// What the application read in the round trip before, in bytes.
    space: u64,
    /// Where the current round trip of reading began.
    read_from: u64,
    since: Time,
    /// The receiver's estimate of the round-trip time; zero when unknown.
    rtt: Span,
    /// Without timestamps: a window's worth of data takes one round trip.
    mark: u64,
    marked_at: Time,
}

impl ReceiveWindow {
    pub(super) fn new(config: &Config) -> Self {
        let largest = config.receive_buffer.largest_window();
        let mut scale = 0;
        if config.window_scaling {
            while scale < 14 && (largest >> scale) > 65_535 {
                scale += 1;
            }
        }
        let (capacity, tuning) = match config.receive_buffer {
            ReceiveBuffer::Fixed { bytes } => (bytes, None),
            ReceiveBuffer::Auto(settings) => {
                let tuning = Tuning {
                    settings,
                    space: 0,
                    read_from: 1,
                    since: Time::ZERO,
                    rtt: Span::ZERO,
                    mark: 0,
                    marked_at: Time::ZERO,
                };
                (settings.window_of(settings.default), Some(tuning))
            }
        };
        Self { scale, edge: 0, capacity, share: u64::MAX, clamped: false, smss: config.smss, full_segment: 536, tuning }
    }

    /// The handshake told the segment size; `next` is the first data byte.
    pub(super) fn open(&mut self, next: u64, smss: u32) {
        self.smss = smss;
        self.full_segment = self.full_segment.min(smss);
        self.edge = next;
        if let Some(tuning) = &mut self.tuning {
            tuning.space = self.capacity;
            self.clamped = tuning.settings.clamp;
            // Linux announces a few segments first; how many depends on the era.
            let initial = tuning.settings.initial_segments;
            self.share = self.capacity.min(u64::from(initial) * u64::from(smss));
        }
    }

    pub(super) const fn smss(&self) -> u32 {
        self.smss
    }

    pub(super) const fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Right edge announced so far.
    pub(super) const fn edge(&self) -> u64 {
        self.edge
    }

    /// Payload bytes in a full segment of the peer's, as far as seen.
    pub(super) const fn expected_segment(&self) -> u32 {
        self.full_segment
    }

    /// The most that is announced however much room there is.
    const fn limit(&self) -> u64 {
        if self.clamped { self.share } else { u64::MAX }
    }

    /// The window that could be announced.
    pub(super) fn offer(&self, next: u64, read: u64) -> u64 {
        let unread = next.saturating_sub(read);
        self.capacity.saturating_sub(unread).min(self.limit())
    }

    /// The window field for the next segment.
    pub(super) fn announce(&mut self, next: u64, read: u64, is_syn: bool) -> u16 {
        let scale = if is_syn { 0 } else { self.scale };
        let unit = 1_u64 << scale;
        let mut window = self.offer(next, read);
        // Sender-side silly windows start here: less than a segment is announced as none,
        // unless that is all there ever is.
        let unread = next.saturating_sub(read);
        if unread > 0 && window < u64::from(self.smss).min(self.capacity / 2) {
            window = 0;
        }
        // The announced edge never moves back (RFC 9293 section 3.8.6.2.1).
        window = window.max(self.edge.saturating_sub(next));
        let field = ((window + (unit - 1)) >> scale).min(65_535);
        self.edge = self.edge.max(next + (field << scale));
        field as u16
    }

    /// Data arrived: grows the announced share and measures the round trip.
    ///
    /// Returns whether the share grew. Linux then acknowledges at once, so that
    /// the sender hears of it (`tcp_grow_window` sets `icsk_ack.quick`).
    pub(super) fn on_data(
        &mut self, config: &Config, now: Time, segment: &Segment, next: u64, read: u64, ts_recent: u32,
    ) -> bool {
        if segment.payload_bytes > self.full_segment {
            self.full_segment = segment.payload_bytes.min(self.smss);
        }
        let limit = self.limit();
        let Some(tuning) = &mut self.tuning else { return false };
        // Linux lets only segments of 128 bytes and more count.
        let grows = self.share < self.capacity && segment.payload_bytes >= 128;
        if grows {
            self.share = (self.share + 2 * u64::from(segment.payload_bytes.min(self.smss))).min(self.capacity);
        }
        tuning.measure(now, segment, next, self.capacity.min(limit), ts_recent);
        if config.auto_read {
            self.on_read(config, now, next, read);
        }
        grows
    }

    /// The application has read up to `read`.
    pub(super) fn on_read(&mut self, config: &Config, now: Time, next: u64, read: u64) {
        let smss = u64::from(self.smss);
        let Some(tuning) = &mut self.tuning else { return };
        if tuning.rtt == Span::ZERO || now.since(tuning.since) < tuning.rtt {
            if tuning.since == Time::ZERO {
                tuning.since = now;
                tuning.read_from = read;
            }
            return;
        }
        let copied = read - tuning.read_from;
        if copied > tuning.space / 2 {
            // Room for what the next round trip can bring when the sender doubles.
            let window = 2 * copied + tuning.settings.headroom_segments() * smss;
            let wanted = tuning.settings.memory_for(window).min(tuning.settings.max);
            let capacity = tuning.settings.window_of(wanted);
            self.capacity = self.capacity.max(capacity);
            tuning.space = 2 * copied;
        }
        tuning.since = now;
        tuning.read_from = read;
        let _ = (config, next);
    }
}

impl Tuning {
    /// Estimates the round-trip time from the receiver's side: by the echo of
    /// its own timestamps, or by the time a window's worth of data takes.
    fn measure(&mut self, now: Time, segment: &Segment, next: u64, window: u64, _ts_recent: u32) {
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
            self.rtt = Span::from_ns(self.rtt.as_ns() - self.rtt.as_ns() / 8 + sample.as_ns() / 8);
        }
    }
}
