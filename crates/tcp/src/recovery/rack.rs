//! RACK: a segment is lost when one sent sufficiently later has arrived
//! (RFC 8985 section 6).

use lasthop_units::{Span, Time};

/// RACK's state.
#[derive(Clone, Debug)]
pub(super) struct Rack {
    /// Send time and end of the most recently sent segment that was delivered.
    pub(super) sent: Time,
    pub(super) end: u64,
    /// Its round-trip time.
    rtt: Span,
    /// Reordering has been seen on this connection.
    pub(super) reordering: bool,
    /// Quarters of the smallest round-trip time to wait for reordered segments;
    /// grows with DSACKs.
    quarters: u32,
    /// DSACKs widen the wait once per round trip.
    widened_until: u64,
}

impl Rack {
    pub(super) const fn new() -> Self {
        Self {
            sent: Time::ZERO,
            end: 0,
            rtt: Span::ZERO,
            reordering: false,
            quarters: 1,
            widened_until: 0,
        }
    }

    /// A segment was delivered. Retransmissions acknowledged faster than a
    /// round trip were not what is acknowledged (step 2).
    pub(super) fn delivered(&mut self, now: Time, sent: Time, end: u64, resent: bool, smallest_rtt: Span) {
        let rtt = now.since(sent);
        if resent && smallest_rtt != Span::MAX && rtt < smallest_rtt {
            return;
        }
        if sent > self.sent || (sent == self.sent && end > self.end) {
            self.sent = sent;
            self.end = end;
            self.rtt = rtt;
        }
    }

    /// A DSACK arrived: reordering lasts longer than was waited (step 4).
    pub(super) fn widen(&mut self, una: u64, next: u64) {
        if una >= self.widened_until {
            self.quarters = (self.quarters + 1).min(16);
            self.widened_until = next;
        }
    }

    /// Whether the segment (sent, end) was sent before the one delivered last.
    pub(super) fn precedes(&self, sent: Time, end: u64) -> bool {
        sent < self.sent || (sent == self.sent && end < self.end)
    }

    /// How long to wait for reordered segments (step 4).
    pub(super) fn window(&self, eager: bool, smallest_rtt: Span, srtt: Span) -> Span {
        if !self.reordering && eager {
            return Span::ZERO;
        }
        if smallest_rtt == Span::MAX {
            return Span::ZERO;
        }
        let wait = smallest_rtt * u64::from(self.quarters) / 4;
        if srtt != Span::ZERO && wait > srtt {
            srtt
        } else {
            wait
        }
    }

    /// When a segment sent at `sent` counts as lost.
    pub(super) fn lost_at(&self, sent: Time, window: Span) -> Time {
        sent + self.rtt + window
    }
}
