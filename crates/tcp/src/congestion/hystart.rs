//! `HyStart`: leaving slow start before the queue overflows (Ha and Rhee 2011;
//! the two detectors of Linux `tcp_cubic.c`).

use lasthop_units::{Span, Time};

use super::{Ack, Window};

/// Segments below which slow start is never left.
const LOW_WINDOW: u64 = 16;
/// Delay samples that make a round's minimum trustworthy.
const SAMPLES: u32 = 8;
/// ACKs this close together belong to one train.
const TRAIN_GAP: Span = Span::from_ms(2);
/// What the time in which a burst leaves adds to a round trip (Linux `hystart_ack_delay`,
/// below 2 Gbit/s).
const BURST: Span = Span::from_ms(1);
const LEAST_RISE: Span = Span::from_ms(4);
const MOST_RISE: Span = Span::from_ms(16);

/// Detector state of one slow start.
#[derive(Clone, Copy, Debug)]
pub(super) struct HyStart {
    round_end: u64,
    round_start: Time,
    last_ack: Time,
    smallest: Span,
    samples: u32,
    found: bool,
}

impl HyStart {
    pub(super) const fn new() -> Self {
        Self {
            round_end: 0,
            round_start: Time::ZERO,
            last_ack: Time::ZERO,
            smallest: Span::MAX,
            samples: 0,
            found: false,
        }
    }

    /// One ACK in slow start; true when it is time to leave. `shortest` is the
    /// shortest round trip of data.
    pub(super) fn should_leave(&mut self, window: &Window, ack: &Ack, shortest: Span) -> bool {
        if ack.acked_offset > self.round_end {
            self.round_end = ack.next_offset;
            self.round_start = ack.now;
            self.last_ack = ack.now;
            self.smallest = Span::MAX;
            self.samples = 0;
        }
        if self.found || window.segments() < LOW_WINDOW {
            return false;
        }
        self.found = self.by_train(ack, shortest) || self.by_delay(ack, shortest);
        self.found
    }

    /// Back-to-back ACKs for more than half a round trip: the pipe is full.
    fn by_train(&mut self, ack: &Ack, shortest: Span) -> bool {
        if ack.now.since(self.last_ack) > TRAIN_GAP {
            return false;
        }
        self.last_ack = ack.now;
        ack.now.since(self.round_start) > (shortest + BURST) / 2
    }

    /// The round trips of this round are longer than the shortest ever: a queue builds.
    fn by_delay(&mut self, ack: &Ack, shortest: Span) -> bool {
        let Some(rtt) = ack.rtt else { return false };
        self.smallest = self.smallest.min(rtt);
        if self.samples < SAMPLES {
            self.samples += 1;
            return false;
        }
        let rise = (shortest / 8).max(LEAST_RISE).min(MOST_RISE);
        self.smallest > shortest + rise
    }
}
