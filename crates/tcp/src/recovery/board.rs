//! The scoreboard: every segment sent and not acknowledged, which of them the
//! receiver has, which are lost, which have been resent (RFC 6675, RFC 8985).
//!
//! In-order traffic costs one push and one pop per segment. Everything else is
//! kept as ranges, so the cost of a loss does not depend on the window.

use std::collections::VecDeque;

use lasthop_units::{Span, Time};

use crate::config::{Config, LossDetection};
use crate::congestion::Window;
use crate::ranges::RangeSet;

use super::Send;
use super::prr::Progress;
use super::rack::Rack;
use super::undo::Undo;

/// What Linux adds to the wait for reordered segments (`TCP_TIMEOUT_MIN`, two ticks of
/// 1000 Hz).
const TIMER_MINIMUM: Span = Span::from_ms(2);

/// One segment in flight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    /// Where it ends; it starts where the one before ends.
    pub(super) end: u64,
    /// When it was sent last.
    pub(super) at: Time,
    pub(super) sacked: bool,
    pub(super) resends: u16,
}

/// Where the sender stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// No loss known.
    Open,
    /// Fast recovery.
    Recovery,
    /// After a retransmission timeout.
    Loss,
}

/// A tail loss probe waiting for its ACK.
#[derive(Clone, Copy, Debug)]
pub(super) struct Probe {
    pub(super) end: u64,
    pub(super) was_resend: bool,
}

/// The scoreboard and the state of recovery on it.
#[derive(Debug)]
pub(crate) struct Board {
    pub(super) segments: VecDeque<Sent>,
    pub(super) sacked: RangeSet,
    pub(super) sacked_segments: u32,
    /// Lost and not resent since.
    pub(super) to_resend: RangeSet,
    /// Resent segments in the order sent: time, start.
    resent: VecDeque<(Time, u64)>,
    /// First transmissions below this offset have been judged lost or not.
    judged: u64,
    pub(super) rack: Rack,
    pub(super) phase: Phase,
    pub(super) recover: u64,
    pub(super) progress: Progress,
    pub(super) undo: Option<Undo>,
    pub(super) frto: bool,
    pub(super) probe: Option<Probe>,
    use_rack: bool,
    use_fack: bool,
    use_probe: bool,
    limited_transmit: bool,
    threshold: u32,
    /// The first retransmission of a recovery ignores cwnd.
    pub(super) force: bool,
}

impl Board {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            segments: VecDeque::new(),
            sacked: RangeSet::default(),
            sacked_segments: 0,
            to_resend: RangeSet::default(),
            resent: VecDeque::new(),
            judged: 0,
            rack: Rack::new(),
            phase: Phase::Open,
            recover: 0,
            progress: Progress::default(),
            undo: None,
            frto: false,
            probe: None,
            use_rack: config.loss_detection == LossDetection::Rack,
            use_fack: config.loss_detection == LossDetection::Fack,
            use_probe: config.tail_loss_probe,
            limited_transmit: config.limited_transmit,
            threshold: config.dup_ack_threshold,
            force: false,
        }
    }

    pub(crate) fn in_recovery(&self) -> bool {
        self.phase != Phase::Open
    }

    /// Whether SACKs measure round trips too (Linux since 3.12).
    pub(super) const fn times_sacks(&self) -> bool {
        self.use_rack
    }

    /// Whether losses beyond the recovery point reduce the window again (Linux 6;
    /// the older personalities repair them within the same recovery).
    pub(super) const fn counts_losses_anew(&self) -> bool {
        self.use_rack
    }

    pub(crate) fn is_quiet(&self) -> bool {
        self.to_resend.is_empty()
    }

    /// Whether nothing is `SACKed`, lost or being repaired.
    pub(crate) fn is_plain(&self) -> bool {
        self.phase == Phase::Open && self.sacked.is_empty() && self.to_resend.is_empty()
    }

    /// RFC 6675's pipe: sent, not `SACKed`, not lost (or resent since).
    pub(crate) fn in_flight(&self, una: u64, nxt: u64) -> u64 {
        (nxt - una).saturating_sub(self.sacked.total() + self.to_resend.total())
    }

    /// Whether a tail loss probe may be scheduled (RFC 8985 section 7.2).
    pub(crate) fn probe_wanted(&self) -> bool {
        self.use_probe && self.phase == Phase::Open && self.sacked.is_empty() && self.probe.is_none()
    }

    pub(crate) fn choose(&mut self, una: u64, nxt: u64, limit: u64, smss: u32, window: &Window) -> Send {
        let mut flight = self.in_flight(una, nxt);
        if let Some((start, end)) = self.to_resend.first() {
            let segment_end = self
                .segment_at(start)
                .map_or(end, |(_, segment)| segment.end.min(end));
            if self.force || flight + (segment_end - start) <= window.bytes() {
                self.force = false;
                return Send::Again {
                    start,
                    end: segment_end,
                };
            }
            return Send::Nothing;
        }
        if nxt >= limit {
            return Send::Nothing;
        }
        if !self.limited_transmit && self.phase == Phase::Open {
            flight += self.sacked.total();
        }
        let len = u64::from(smss).min(limit - nxt);
        if flight + len <= window.bytes() {
            Send::New
        } else {
            Send::Nothing
        }
    }

    /// The segment that contains `offset`, with its index.
    pub(super) fn segment_at(&self, offset: u64) -> Option<(usize, &Sent)> {
        let index = self.segments.partition_point(|segment| segment.end <= offset);
        self.segments.get(index).map(|segment| (index, segment))
    }

    /// Books `[start, end)` as sent.
    pub(crate) fn sent(&mut self, now: Time, start: u64, end: u64, again: bool) {
        if !again {
            self.segments.push_back(Sent {
                end,
                at: now,
                sacked: false,
                resends: 0,
            });
            if self.phase == Phase::Recovery {
                self.progress.note_sent(end - start);
            }
            return;
        }
        self.to_resend.remove(start, end);
        let index = self.segments.partition_point(|segment| segment.end <= start);
        if let Some(segment) = self.segments.get_mut(index) {
            segment.at = now;
            segment.resends = segment.resends.saturating_add(1);
        }
        self.resent.push_back((now, start));
        if self.phase == Phase::Recovery {
            self.progress.note_sent(end - start);
        }
        if let Some(undo) = &mut self.undo {
            undo.note_resent(crate::clock::timestamp(now));
        }
    }

    /// Marks `[start, end)` lost unless the receiver has it.
    pub(super) fn lose(&mut self, start: u64, end: u64) {
        let mut at = start;
        while at < end {
            if let Some((_, right)) = self.sacked.range_at(at) {
                at = right;
                continue;
            }
            let stop = self.sacked.next_hole(at).map_or(end, |(_, next)| next.min(end));
            self.to_resend.insert(at, stop);
            at = stop;
        }
    }

    /// Everything not `SACKed` is lost; nothing counts as resent any more.
    pub(super) fn lose_all(&mut self, una: u64, nxt: u64) {
        self.resent.clear();
        self.to_resend.clear();
        self.lose(una, nxt);
        self.judged = nxt;
    }

    /// Losses were imagined: nothing is to be resent.
    pub(super) fn forget_losses(&mut self) {
        self.to_resend.clear();
        self.phase = Phase::Open;
        self.frto = false;
        self.force = false;
        if self.use_rack {
            // What was judged by too short a wait is judged again by a longer one.
            self.rack.reordering = true;
            self.judged = 0;
        }
    }

    pub(super) fn take_undo(&mut self) -> Option<Undo> {
        self.undo.take()
    }

    /// Looks for losses after SACKs or ACKs; returns whether there are new ones
    /// and, for RACK, when to look again.
    pub(super) fn detect(
        &mut self,
        now: Time,
        una: u64,
        smss: u32,
        smallest: Span,
        srtt: Span,
    ) -> (bool, Time) {
        let before = self.to_resend.total();
        let again_at = if self.use_rack {
            self.detect_by_time(now, una, smallest, srtt)
        } else {
            let bound = if self.use_fack && !self.rack.reordering {
                self.bound_by_distance()
            } else {
                self.bound_by_count(una, smss)
            };
            self.lose_below(una, bound);
            Time::MAX
        };
        (self.to_resend.total() > before, again_at)
    }

    /// RFC 6675 `IsLost`: as many `SACKed` segments above as the threshold says.
    fn bound_by_count(&self, una: u64, smss: u32) -> u64 {
        if self.sacked_segments < self.threshold {
            return una;
        }
        // The lowest of the highest `threshold` SACKed segments bounds the losses.
        let mut wanted = u64::from(self.threshold) * u64::from(smss);
        let mut bound = una;
        for (start, end) in self.sacked.iter_down() {
            if end - start >= wanted {
                return end - wanted;
            }
            wanted -= end - start;
            bound = start;
        }
        bound
    }

    /// Forward acknowledgement: all but `threshold` of the segments up to the
    /// highest `SACKed` one are lost, however many above them are `SACKed` (Linux
    /// `fackets_out`).
    fn bound_by_distance(&self) -> u64 {
        let Some((_, top)) = self.sacked.last() else {
            return 0;
        };
        let forward = self.segments.partition_point(|segment| segment.end <= top);
        let lost = forward.saturating_sub(self.threshold as usize);
        lost.checked_sub(1).map_or(0, |last| self.segments[last].end)
    }

    /// Judges first transmissions below `bound`.
    fn lose_below(&mut self, una: u64, bound: u64) {
        let from = self.judged.max(una);
        if bound > from {
            self.lose(from, bound);
            self.judged = bound;
        }
    }

    /// When the last segment below `end` was sent that has neither been `SACKed` nor
    /// resent, if it is the last at all.
    fn last_hole_below(&self, end: u64) -> Option<Time> {
        let top = end.checked_sub(1)?;
        let stop = self.sacked.range_at(top).map_or(end, |(start, _)| start);
        let (_, segment) = self.segment_at(stop.checked_sub(1)?)?;
        (segment.resends == 0 && !segment.sacked).then_some(segment.at)
    }

    fn detect_by_time(&mut self, now: Time, una: u64, smallest: Span, srtt: Span) -> Time {
        let eager = self.phase != Phase::Open || self.sacked_segments >= self.threshold;
        let wait = self.rack.window(eager, smallest, srtt);
        let mut again_at = Time::MAX;
        let mut index = self
            .segments
            .partition_point(|segment| segment.end <= self.judged.max(una));
        while let Some(&segment) = self.segments.get(index) {
            if segment.resends == 0 && !segment.sacked {
                if !self.rack.precedes(segment.at, segment.end) {
                    break;
                }
                if self.rack.lost_at(segment.at, wait) > now {
                    // All that may be lost by then are judged together (Linux
                    // `tcp_rack_detect_loss` waits for the last).
                    let last = self.last_hole_below(self.rack.end).unwrap_or(segment.at);
                    again_at = self.rack.lost_at(last.max(segment.at), wait) + TIMER_MINIMUM;
                    break;
                }
                let start = if index == 0 {
                    una
                } else {
                    self.segments[index - 1].end
                };
                self.lose(start.max(una), segment.end);
            }
            self.judged = segment.end;
            index += 1;
        }
        while let Some(&(at, start)) = self.resent.front() {
            let current = self.segment_at(start).map(|(_, segment)| *segment);
            let Some(segment) =
                current.filter(|segment| segment.at == at && !segment.sacked && segment.end > una)
            else {
                self.resent.pop_front();
                continue;
            };
            if !self.rack.precedes(at, segment.end) {
                break;
            }
            let lost_at = self.rack.lost_at(at, wait);
            if lost_at > now {
                again_at = again_at.min(lost_at);
                break;
            }
            self.resent.pop_front();
            self.lose(start.max(una), segment.end);
        }
        again_at
    }

    /// Segments above `una` resent and not known to have arrived (Linux `retrans_out`).
    pub(super) fn resent_in_flight(&self, una: u64) -> u32 {
        let waiting = self.resent.iter().filter(|&&(at, start)| {
            start >= una
                && self
                    .segment_at(start)
                    .is_some_and(|(_, segment)| segment.at == at && !segment.sacked)
        });
        waiting.count() as u32
    }

    /// The last segment in flight, for a tail loss probe.
    pub(super) fn last_segment(&self, una: u64) -> Option<(u64, u64)> {
        let last = self.segments.back()?;
        let start = self
            .segments
            .len()
            .checked_sub(2)
            .map_or(una, |index| self.segments[index].end);
        Some((start.max(una), last.end))
    }

    /// The receiver dropped what it had `SACKed` (RFC 2018 section 8).
    pub(super) fn renege(&mut self) {
        self.sacked.clear();
        self.sacked_segments = 0;
        for segment in &mut self.segments {
            segment.sacked = false;
        }
    }
}
