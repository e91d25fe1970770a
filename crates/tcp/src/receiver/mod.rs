//! The receiving half: reassembly, selective acknowledgement, and (in the
//! submodules) when to acknowledge and what window to announce.

mod acks;
mod sack;
mod tuning;
mod window;

use lasthop_units::{Span, Time};

use crate::config::{Config, Reduction};
use crate::ranges::RangeSet;
use crate::segment::{Segment, Timestamps};
use crate::seq::Seq;

use acks::AckPolicy;
use sack::SackHistory;
use window::ReceiveWindow;

/// Receiver state. Offsets count sequence numbers from the peer's SYN = 0, so
/// the first data byte is 1.
#[derive(Debug)]
pub(crate) struct Receiver {
    irs: Seq,
    /// Next offset expected.
    next: u64,
    /// Next offset the application will read.
    read: u64,
    /// Where the peer's FIN stands, once seen.
    fin_at: Option<u64>,
    fin_received: bool,
    out_of_order: RangeSet,
    /// Apart, because most connections never have anything to report.
    history: Option<Box<SackHistory>>,
    acks: AckPolicy,
    window: ReceiveWindow,
    /// The window field announced last, as long as no other follows from the buffer.
    announced: Option<u16>,
    ts_recent: u32,
    ts_recent_at: Time,
    pub(crate) duplicate_bytes: u64,
    unscaled: bool,
    dsack: bool,
}

/// What a segment's text did.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Arrival {
    /// The peer's FIN is now in order.
    pub(crate) finished: bool,
}

impl Receiver {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            irs: Seq(0),
            next: 0,
            read: 1,
            fin_at: None,
            fin_received: false,
            out_of_order: RangeSet::default(),
            history: None,
            acks: AckPolicy::new(config),
            window: ReceiveWindow::new(config),
            announced: None,
            ts_recent: 0,
            ts_recent_at: Time::ZERO,
            duplicate_bytes: 0,
            unscaled: false,
            dsack: config.dsack && config.sack,
        }
    }

    /// The peer's SYN arrived.
    pub(crate) fn open(&mut self, now: Time, syn: &Segment, smss: u32) {
        self.irs = syn.seq;
        self.announced = None;
        self.next = 1;
        let options = if syn.timestamps.is_some() { 12 } else { 0 };
        self.window.open(self.next, smss, options);
        if let Some(timestamps) = syn.timestamps {
            self.ts_recent = timestamps.value;
            self.ts_recent_at = now;
        }
    }

    /// The window scale to offer.
    pub(crate) const fn own_scale(&self) -> u8 {
        self.window.scale
    }

    /// Scaling was not agreed on.
    pub(crate) fn without_scale(&mut self) {
        self.window.scale = 0;
        self.announced = None;
        self.unscaled = true;
    }

    /// Whether the peer offered scaling too.
    pub(crate) const fn scaling_agreed(&self) -> bool {
        !self.unscaled
    }

    /// A segment outside the window: RFC 9293 answers it with an ACK. ns-2's sink
    /// takes a copy of the last packet in order for that packet, and may delay.
    #[cold]
    pub(crate) fn refuse(&mut self, config: &Config, now: Time, segment: &Segment) {
        let len = u64::from(segment.payload_bytes);
        let end = self.offset_of(segment.seq).map(|start| start + len);
        let is_last = len > 0 && end == Some(self.next) && self.out_of_order.is_empty();
        if is_last && config.reduction == Reduction::Ns2 {
            self.acks
                .on_in_order(config, now, len, self.next, self.window.expected_segment());
        } else {
            self.acks.now();
        }
        if len > 0
            && let Some(end) = end
            && end <= self.next
        {
            self.duplicate_bytes += len;
            self.acks.on_duplicate(config);
            if self.dsack {
                self.history().duplicate(end - len, end);
            }
        }
    }

    /// The acknowledgement number to send.
    pub(crate) const fn ack_number(&self) -> Seq {
        self.irs.add(self.next as u32)
    }

    /// Payload bytes received in order.
    pub(crate) const fn received_bytes(&self) -> u64 {
        self.next
            .saturating_sub(1)
            .saturating_sub(self.fin_received as u64)
    }

    /// Payload bytes the application has not read.
    pub(crate) const fn readable_bytes(&self) -> u64 {
        self.received_bytes() + 1 - self.read
    }

    pub(crate) const fn fin_received(&self) -> bool {
        self.fin_received
    }

    pub(crate) const fn ts_recent(&self) -> u32 {
        self.ts_recent
    }

    /// The offset of a wire sequence number near the next expected one; `None`
    /// when it lies before the SYN.
    fn offset_of(&self, seq: Seq) -> Option<u64> {
        let distance = i64::from(seq.since(self.ack_number()));
        self.next.checked_add_signed(distance)
    }

    /// RFC 9293 section 3.10.7.4, first step: whether any part of the segment
    /// lies in the window.
    pub(crate) fn acceptable(&self, segment: &Segment) -> bool {
        if segment.seq == self.ack_number() && (segment.payload_bytes == 0 || self.next < self.window.edge())
        {
            return true;
        }
        let Some(start) = self.offset_of(segment.seq) else {
            return false;
        };
        let end = start + u64::from(segment.sequence_len());
        let edge = self.window.edge();
        if start == end {
            start >= self.next && (start < edge || start == self.next)
        } else {
            end > self.next && start < edge
        }
    }

    /// Whether the segment starts exactly at the next expected byte.
    pub(crate) fn is_next(&self, segment: &Segment) -> bool {
        segment.seq == self.ack_number()
    }

    const fn is_before_recent(&self, timestamps: Timestamps) -> bool {
        timestamps.value.wrapping_sub(self.ts_recent).cast_signed() < 0
    }

    /// PAWS (RFC 7323 section 5): whether the timestamp is older than the last accepted.
    pub(crate) fn is_old_by_timestamp(&self, now: Time, timestamps: Timestamps) -> bool {
        const STALE: Span = Span::from_secs(24 * 24 * 3600);
        self.is_before_recent(timestamps) && now.since(self.ts_recent_at) < STALE
    }

    /// Takes the timestamp to echo (RFC 7323 section 4.3).
    pub(crate) fn take_timestamp(&mut self, now: Time, segment: &Segment) {
        if let Some(timestamps) = segment.timestamps
            && segment.seq.at_or_before(self.irs.add(self.acks.last_sent as u32))
            && timestamps.value.wrapping_sub(self.ts_recent).cast_signed() >= 0
        {
            self.ts_recent = timestamps.value;
            self.ts_recent_at = now;
        }
    }

    /// Whether the segment is the next in order, fits, and fills no hole. Any
    /// timestamp is a recent one.
    #[expect(clippy::inline_always, reason = "the segment stays in registers")]
    #[inline(always)]
    pub(crate) fn is_usual(&self, segment: &Segment) -> bool {
        let in_step = self.is_next(segment)
            && segment
                .timestamps
                .is_none_or(|timestamps| !self.is_before_recent(timestamps));
        in_step && (segment.payload_bytes == 0 || self.takes_in_order(segment))
    }

    /// Whether the text of the next segment in order can simply be appended.
    #[inline]
    fn takes_in_order(&self, segment: &Segment) -> bool {
        self.out_of_order.is_empty()
            && self.fin_at.is_none()
            && self.next + u64::from(segment.payload_bytes) <= self.window.edge()
    }

    /// Takes the payload of a segment that [`Self::is_usual`].
    #[expect(clippy::inline_always, reason = "the segment stays in registers")]
    #[inline(always)]
    pub(crate) fn on_usual_text(&mut self, config: &Config, now: Time, segment: &Segment) {
        let len = u64::from(segment.payload_bytes);
        self.next += len;
        if config.auto_read {
            self.read = self.next;
        }
        if !(config.auto_read && self.window.is_settled(segment.payload_bytes)) {
            self.announced = None;
            self.adapt_window(config, now, &{ *segment });
        }
        self.acks
            .on_in_order(config, now, len, self.next, self.window.expected_segment());
    }

    /// In-order data arrived at a window that may change by it.
    #[inline(never)]
    fn adapt_window(&mut self, config: &Config, now: Time, segment: &Segment) {
        if self.window.on_data(config, now, segment, self.next, self.read) {
            self.acks.quick_once(config);
        }
    }

    /// Takes the segment's payload and FIN.
    pub(crate) fn on_text(&mut self, config: &Config, now: Time, segment: &Segment) -> Arrival {
        if self.is_next(segment) && !segment.flags.has(crate::Flags::FIN) && self.takes_in_order(segment) {
            self.on_usual_text(config, now, segment);
            return Arrival::default();
        }
        self.on_text_slow(config, now, segment)
    }

    #[cold]
    fn on_text_slow(&mut self, config: &Config, now: Time, segment: &Segment) -> Arrival {
        let Some(start) = self.offset_of(segment.seq) else {
            self.acks.now();
            return Arrival::default();
        };
        self.announced = None;
        let len = u64::from(segment.payload_bytes);
        let has_fin = segment.flags.has(crate::Flags::FIN);
        let end = (start + len).min(self.window.edge());
        if has_fin && end == start + len && self.fin_at.is_none_or(|at| at == end) {
            self.fin_at = Some(end);
        }
        let end = self.fin_at.map_or(end, |at| end.min(at));
        let before = self.next;
        let was_disordered = !self.out_of_order.is_empty();
        let duplicate = end <= self.next || self.out_of_order.contains_range(start.max(self.next), end);
        if len > 0 && duplicate {
            self.duplicate_bytes += len;
            if self.dsack {
                self.history().duplicate(start, start + len);
            }
        }
        if start <= self.next && end > self.next {
            self.next = end;
            if let Some((_, right)) = self.out_of_order.range_at(self.next) {
                self.next = right;
            }
            // A range that only touches the new edge is in order now as well.
            if let Some((left, right)) = self.out_of_order.first()
                && left <= self.next
            {
                self.next = self.next.max(right);
            }
            self.out_of_order.remove_below(self.next);
        } else if start > self.next && end > start {
            self.out_of_order.insert(start, end);
            if let Some(range) = self.out_of_order.range_at(start) {
                self.history().arrived(range);
            }
        }
        if let Some(history) = &mut self.history {
            history.acknowledged(self.next);
        }
        let advanced = self.next - before;
        let mut finished = false;
        if self.fin_at == Some(self.next) && !self.fin_received {
            self.fin_received = true;
            self.next += 1;
            finished = true;
        }
        if config.auto_read {
            self.read = self.received_bytes() + 1;
        }
        let held = self.out_of_order.total();
        let top = self.out_of_order.last().map_or(0, |(_, end)| end);
        self.window
            .on_disorder(self.next, held, top, advanced == 0 && held > 0);
        if len > 0 {
            let _ = self.window.on_data(config, now, segment, self.next, self.read);
        }
        let in_order = advanced > 0 && !was_disordered && !duplicate;
        if in_order && !finished {
            self.acks
                .on_in_order(config, now, advanced, self.next, self.window.expected_segment());
        } else if len > 0 || has_fin {
            self.acks.on_disorder(config, now, duplicate);
        }
        Arrival { finished }
    }

    /// The application reads `bytes`.
    pub(crate) fn consume(&mut self, now: Time, bytes: u64) {
        self.announced = None;
        self.read += bytes.min(self.readable_bytes());
        self.window.on_read(now, self.next, self.read);
        if self.window.is_worth_telling(self.next, self.read) {
            self.acks.now();
        }
    }

    /// The window field of the next segment; moves the announced edge.
    #[inline]
    pub(crate) fn announce(&mut self, is_syn: bool) -> u16 {
        if is_syn {
            self.announced = None;
            return self.window.announce(self.next, self.read, true);
        }
        if let Some(field) = self.announced {
            self.window.announce_again(self.next, field);
            return field;
        }
        let field = self.window.announce(self.next, self.read, false);
        self.announced = Some(field);
        field
    }

    /// The SACK blocks of the next segment.
    pub(crate) fn sack_blocks(&mut self, most: usize) -> crate::SackBlocks {
        let history = self.history.as_mut();
        history.map_or_else(crate::SackBlocks::default, |history| {
            history.blocks(self.irs, most)
        })
    }

    pub(crate) fn has_sack_blocks(&self) -> bool {
        self.history.as_ref().is_some_and(|history| !history.is_empty())
    }

    fn history(&mut self) -> &mut SackHistory {
        self.history.get_or_insert_default()
    }

    /// An acknowledgement has gone out.
    pub(crate) fn ack_sent(&mut self, config: &Config) {
        self.acks.sent(config, self.next);
    }

    /// An acknowledgement must go out at once.
    pub(crate) fn ack_now(&mut self) {
        self.acks.now();
    }

    /// The connection is over: no delayed ACK waits any more.
    pub(crate) fn ack_not_due(&mut self) {
        self.acks.cancel();
    }

    pub(crate) const fn wants_ack(&self) -> bool {
        self.acks.wanted()
    }

    pub(crate) const fn deadline(&self) -> Time {
        self.acks.deadline()
    }

    pub(crate) fn on_deadline(&mut self, now: Time) {
        self.acks.on_deadline(now);
    }
}
