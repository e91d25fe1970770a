//! The receive buffer and the window announced from it.

use lasthop_units::Time;

use crate::config::{Config, ReceiveBuffer, RightSizing};
use crate::segment::Segment;

use super::tuning::Tuning;

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
    /// What the share is reckoned in: `smss`, and in Linux 6 the options too (`advmss`).
    announced_mss: u32,
    /// Largest segment the peer sent (Linux `rcv_mss`).
    full_segment: u32,
    /// Bytes held beyond a hole, and where they end.
    held: u64,
    top: u64,
    /// Apart, because a fixed buffer does without.
    tuning: Option<Box<Tuning>>,
}

impl ReceiveWindow {
    pub(super) fn new(config: &Config) -> Self {
        let largest = match config.receive_buffer {
            // Linux 6 reckons with memory that is all payload (`tcp_select_initial_window`).
            ReceiveBuffer::Auto(tuning) if tuning.right_sizing == RightSizing::Extrapolating => tuning.max,
            buffer => buffer.largest_window(),
        };
        let mut scale = 0;
        if config.window_scaling {
            while scale < 14 && (largest >> scale) > 65_535 {
                scale += 1;
            }
        }
        let (capacity, tuning) = match config.receive_buffer {
            ReceiveBuffer::Fixed { bytes } => (bytes, None),
            ReceiveBuffer::Auto(settings) => (
                settings.window_of(settings.default),
                Some(Box::new(Tuning::new(settings))),
            ),
        };
        Self {
            scale,
            edge: 0,
            capacity,
            share: u64::MAX,
            clamped: false,
            smss: config.smss,
            announced_mss: config.smss,
            full_segment: 536,
            held: 0,
            top: 0,
            tuning,
        }
    }

    /// The handshake told the segment size; `next` is the first data byte and
    /// `options` the bytes of options in each segment.
    pub(super) fn open(&mut self, next: u64, smss: u32, options: u32) {
        self.smss = smss;
        self.announced_mss = smss;
        self.full_segment = self.full_segment.min(smss);
        self.edge = next;
        if let Some(tuning) = &mut self.tuning {
            self.clamped = tuning.settings.clamp;
            if tuning.extrapolates() {
                self.announced_mss += options;
            }
            // Linux announces a few segments first; how many depends on the era.
            let initial = tuning.settings.initial_segments;
            self.share = self
                .capacity
                .min(u64::from(initial) * u64::from(self.announced_mss));
            tuning.open(self.capacity, self.share, smss);
        }
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

    /// Room left in the buffer. Old stacks count only what waits in order.
    fn room(&self, next: u64, read: u64) -> u64 {
        self.capacity
            .saturating_sub(next.saturating_sub(read) + self.held)
    }

    /// The window that could be announced.
    pub(super) fn offer(&self, next: u64, read: u64) -> u64 {
        self.room(next, read).min(self.limit())
    }

    /// Whether reading made so much room that the peer must hear of it.
    pub(super) fn is_worth_telling(&self, next: u64, read: u64) -> bool {
        let offer = self.offer(next, read);
        let announced = self.edge.saturating_sub(next);
        if self.extrapolates() {
            // Linux `tcp_cleanup_rbuf`: twice as much, when less than half is announced.
            return 2 * announced <= self.capacity
                && offer >= (2 * announced).max(1)
                && !self.is_silly(next, read);
        }
        // Silly window avoidance (RFC 9293 section 3.8.6.2.2): two segments or
        // half the buffer.
        let worth = (2 * u64::from(self.smss)).min(self.capacity / 2).max(1);
        offer.saturating_sub(announced) >= worth
    }

    /// Whether so little room is left that none is announced.
    fn is_silly(&self, next: u64, read: u64) -> bool {
        let room = self.room(next, read);
        if self.extrapolates() {
            // Linux `__tcp_select_window`: less than a segment or a sixteenth of the buffer.
            return room < self.capacity / 2 && room < (self.capacity / 16).max(u64::from(self.full_segment));
        }
        // Less than a segment, unless that is all there ever is.
        next > read && room.min(self.limit()) < u64::from(self.smss).min(self.capacity / 2)
    }

    fn extrapolates(&self) -> bool {
        self.tuning.as_ref().is_some_and(|tuning| tuning.extrapolates())
    }

    /// The window field for the next segment.
    pub(super) fn announce(&mut self, next: u64, read: u64, is_syn: bool) -> u16 {
        let scale = if is_syn { 0 } else { self.scale };
        let unit = 1_u64 << scale;
        // Sender-side silly windows start here.
        let window = if self.is_silly(next, read) {
            0
        } else {
            self.offer(next, read)
        };
        // The announced edge never moves back (RFC 9293 section 3.8.6.2.1).
        let window = window.max(self.edge.saturating_sub(next));
        let field = ((window + (unit - 1)) >> scale).min(65_535);
        self.edge = self.edge.max(next + (field << scale));
        field as u16
    }

    /// The window field announced last is announced again, now that data has been
    /// taken in order up to `next`.
    #[inline]
    pub(super) fn announce_again(&mut self, next: u64, field: u16) {
        self.edge = self.edge.max(next + (u64::from(field) << self.scale));
    }

    /// Whether a segment of that size changes nothing here: not the window either,
    /// when it is read at once.
    #[inline]
    pub(super) const fn is_settled(&self, payload_bytes: u32) -> bool {
        self.tuning.is_none() && payload_bytes <= self.full_segment
    }

    /// Data arrived: grows the announced share and measures the round trip.
    ///
    /// Returns whether the share grew. Linux then acknowledges at once, so that
    /// the sender hears of it (`tcp_grow_window` sets `icsk_ack.quick`).
    pub(super) fn on_data(
        &mut self,
        config: &Config,
        now: Time,
        segment: &Segment,
        next: u64,
        read: u64,
    ) -> bool {
        if segment.payload_bytes > self.full_segment {
            self.full_segment = segment.payload_bytes.min(self.smss);
            let measured = self
                .tuning
                .as_mut()
                .and_then(|tuning| tuning.measure_overhead(self.full_segment));
            self.capacity = measured.unwrap_or(self.capacity);
        }
        let limit = self.limit();
        let Some(tuning) = &mut self.tuning else {
            return false;
        };
        // What lies in the buffer is no room, and this segment does when Linux looks
        // (`tcp_grow_window`); old stacks looked at the buffer's size alone.
        let most = if tuning.extrapolates() {
            let waiting = next.saturating_sub(read).max(u64::from(segment.payload_bytes));
            self.capacity.saturating_sub(waiting + self.held)
        } else {
            self.capacity
        };
        // Linux lets only segments of 128 bytes and more count.
        let grows = self.share < most && segment.payload_bytes >= 128;
        if grows {
            let step = if segment.payload_bytes >= self.smss {
                self.announced_mss
            } else {
                segment.payload_bytes
            };
            self.share = (self.share + 2 * u64::from(step)).min(most);
        }
        tuning.measure(now, segment, next, self.capacity.min(limit), self.full_segment);
        if config.auto_read {
            self.on_read(now, next, read);
        }
        grows
    }

    /// The buffer holds `held` bytes beyond a hole, up to `top`; `more` of them came just now.
    pub(super) fn on_disorder(&mut self, next: u64, held: u64, top: u64, more: bool) {
        let Some(tuning) = &mut self.tuning else { return };
        if !tuning.extrapolates() {
            return;
        }
        (self.held, self.top) = (held, top);
        if more && let Some(window) = tuning.on_disorder(next, top) {
            self.capacity = self.capacity.max(window);
        }
    }

    /// The application has read up to `read`.
    pub(super) fn on_read(&mut self, now: Time, next: u64, read: u64) {
        let Some(tuning) = &mut self.tuning else { return };
        if let Some(window) = tuning.on_read(now, next, read, self.top, self.smss) {
            self.capacity = self.capacity.max(window);
        }
    }
}
