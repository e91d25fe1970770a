//! ACKs, timeouts and probes on the scoreboard.

use lasthop_units::{Span, Time};

use crate::config::Reduction;
use crate::segment::Segment;
use crate::sender::{Context, Sender, Timer};

use super::Repair;
use super::board::{Board, Phase, Probe};
use super::prr::Progress;
use super::undo::Undo;

/// What one ACK delivered.
#[derive(Clone, Copy, Debug, Default)]
struct Delivery {
    bytes: u64,
    newly_sacked: u64,
    /// When the first and the last segment delivered now and sent only once were
    /// sent: cumulatively acknowledged ones, and `SACKed` ones.
    acked: Option<(Time, Time)>,
    sacked: Option<(Time, Time)>,
    /// A segment sent more than once is among those acknowledged.
    resent: bool,
    /// Data sent before any retransmission of it, delivered now.
    original: bool,
    duplicate_reported: bool,
    /// Highest offset `SACKed` before this ACK: what arrives below it was reordered.
    top: u64,
}

impl Delivery {
    /// The round-trip times this ACK shows, for the retransmission timeout and for
    /// the congestion control (Linux `tcp_clean_rtx_queue`): of the first and of
    /// the last segment delivered. With `by_sack` SACKs count too.
    fn round_trips(&self, now: Time, by_sack: bool) -> (Option<Span>, Option<Span>) {
        let acked = self.acked.filter(|_| !self.resent || !by_sack);
        let sacked = self.sacked.filter(|_| by_sack);
        let first = acked.or(sacked).map(|(first, _)| now.since(first));
        let last = if by_sack {
            sacked.or(acked).map(|(_, last)| now.since(last))
        } else {
            first
        };
        (first, last)
    }
}

/// Adds the time a segment was sent to the first and last so far.
fn note(times: &mut Option<(Time, Time)>, sent: Time) {
    *times = Some((times.map_or(sent, |(first, _)| first), sent));
}

impl Board {
    /// Takes segments wholly acknowledged off the board.
    fn take_ack(
        &mut self,
        now: Time,
        una: u64,
        ack: u64,
        recover: u64,
        smallest: Span,
        delivery: &mut Delivery,
    ) {
        let sacked_before = self.sacked.total();
        while let Some(segment) = self.segments.front() {
            if segment.end > ack {
                break;
            }
            if segment.sacked {
                self.sacked_segments -= 1;
            } else {
                self.rack
                    .delivered(now, segment.at, segment.end, segment.resends > 0, smallest);
                if segment.resends == 0 {
                    note(&mut delivery.acked, segment.at);
                    delivery.original |= segment.end <= recover;
                    if segment.end < delivery.top {
                        self.rack.reordering = true;
                    }
                }
            }
            delivery.resent |= segment.resends > 0;
            self.segments.pop_front();
        }
        if sacked_before > 0 {
            self.sacked.remove_below(ack);
        }
        if !self.to_resend.is_empty() {
            self.to_resend.remove_below(ack);
        }
        delivery.bytes += (ack - una).saturating_sub(sacked_before - self.sacked.total());
    }

    /// Takes the SACK blocks of an ACK.
    #[allow(clippy::too_many_arguments)]
    fn take_sacks(
        &mut self,
        now: Time,
        una: u64,
        nxt: u64,
        ack: u64,
        blocks: &[(u64, u64)],
        smallest: Span,
        delivery: &mut Delivery,
    ) {
        let top = delivery.top;
        for (index, &(start, end)) in blocks.iter().enumerate() {
            let inside = blocks
                .get(index + 1)
                .is_some_and(|next| next.0 <= start && end <= next.1);
            if index == 0 && (end <= ack || inside) {
                delivery.duplicate_reported = true;
                continue;
            }
            let (start, end) = (start.max(una), end.min(nxt));
            if start >= end {
                continue;
            }
            let Self {
                sacked,
                segments,
                rack,
                sacked_segments,
                to_resend,
                recover,
                ..
            } = self;
            let added = sacked.insert_with(start, end, |from, to| {
                to_resend.remove(from, to);
                let first = segments.partition_point(|segment| segment.end <= from);
                for segment in segments.range_mut(first..) {
                    if segment.end > end {
                        break;
                    }
                    if segment.sacked {
                        continue;
                    }
                    segment.sacked = true;
                    *sacked_segments += 1;
                    rack.delivered(now, segment.at, segment.end, segment.resends > 0, smallest);
                    if segment.resends == 0 {
                        note(&mut delivery.sacked, segment.at);
                        delivery.original |= segment.end <= *recover;
                        if segment.end < top {
                            rack.reordering = true;
                        }
                    }
                    if segment.end >= to {
                        break;
                    }
                }
            });
            delivery.newly_sacked += added;
            delivery.bytes += added;
        }
    }
}

impl Sender {
    fn board(&mut self) -> Option<&mut Board> {
        match &mut self.repair {
            Repair::Board(board) => Some(board),
            _ => None,
        }
    }

    pub(crate) fn board_ack(
        &mut self,
        cx: &mut Context<'_>,
        ack: u64,
        advanced: bool,
        duplicate: bool,
        segment: &Segment,
    ) {
        let smallest = self.rto.smallest();
        let (una, nxt) = (self.una, self.nxt);
        let isn = self.isn;
        let Repair::Board(board) = &mut self.repair else {
            return;
        };
        let flight_before = board.in_flight(una, nxt);
        let top = board.sacked.last().map_or(0, |(_, right)| right);
        let mut delivery = Delivery {
            top,
            ..Delivery::default()
        };
        if !segment.sack.is_empty() {
            let mut blocks = [(0, 0); 4];
            let mut count = 0;
            let base = isn.add(una as u32);
            for &(left, right) in segment.sack.as_slice() {
                let offset = |seq: crate::Seq| una.saturating_add_signed(i64::from(seq.since(base)));
                blocks[count] = (offset(left), offset(right));
                count += 1;
            }
            board.take_sacks(cx.now, una, nxt, ack, &blocks[..count], smallest, &mut delivery);
        }
        let mut acked = 0;
        let by_sack = board.times_sacks();
        if advanced {
            let recover = board.recover;
            board.take_ack(cx.now, una, ack, recover, smallest, &mut delivery);
            acked = ack - una;
            self.una = ack;
            self.dup_acks = 0;
        } else if duplicate {
            self.dup_acks += 1;
        }
        let (rtt, last_rtt) = delivery.round_trips(cx.now, by_sack);
        if advanced || rtt.is_some() {
            self.board_rtt(cx, segment, rtt);
        }
        if advanced {
            self.rearm(cx);
        }
        let Repair::Board(board) = &mut self.repair else {
            return;
        };
        if board.phase == Phase::Open
            && board.sacked.is_empty()
            && delivery.newly_sacked == 0
            && !delivery.duplicate_reported
            && board.probe.is_none()
        {
            // The common case: in-order data acknowledged.
            if advanced {
                if board.undo.is_some() && ack >= board.recover {
                    board.undo = None;
                }
                self.grow(cx, acked, delivery.bytes, last_rtt, true, flight_before);
                self.rearm_probe(cx);
            }
            return;
        }
        self.board_ack_slow(cx, acked, &delivery, segment, flight_before, last_rtt);
    }

    /// A measurement from segments sent once, else from timestamps (RFC 7323 section 4).
    fn board_rtt(&mut self, cx: &mut Context<'_>, segment: &Segment, rtt: Option<Span>) {
        if let Some(rtt) = rtt {
            let sent = cx.now - rtt;
            self.take_rtt(cx, sent);
        } else if let Some(timestamps) = segment.timestamps
            && timestamps.echo != 0
        {
            let passed = crate::clock::timestamp(cx.now).wrapping_sub(timestamps.echo);
            if passed < 1 << 24 {
                let sent = cx.now - Span::from_ms(u64::from(passed.max(1)));
                self.take_rtt(cx, sent);
            }
        }
        self.stop_timing();
    }

    #[cold]
    fn board_ack_slow(
        &mut self,
        cx: &mut Context<'_>,
        acked: u64,
        delivery: &Delivery,
        segment: &Segment,
        flight_before: u64,
        last_rtt: Option<Span>,
    ) {
        let advanced = acked > 0;
        self.on_duplicate_report(cx, delivery);
        self.on_probe_ack(cx, delivery);
        let (una, smss) = (self.una, self.smss);
        let (smallest, srtt) = (self.rto.smallest(), self.rto.srtt_estimate());
        let echo = segment.timestamps.map_or(0, |timestamps| timestamps.echo);
        if self.needless(cx, advanced, delivery, echo) {
            self.undo_reduction(cx);
        }
        let Some(board) = self.board() else { return };
        let mut lost_since = false;
        if board.phase != Phase::Open && una >= board.recover {
            // What was sent in recovery and lost is another loss, with another
            // reduction, resent already or not (Linux `tcp_time_to_recover`).
            lost_since = board.counts_losses_anew() && (!board.is_quiet() || board.resent_in_flight(una) > 0);
            self.leave_recovery(cx);
        }
        let Some(board) = self.board() else { return };
        let (new_losses, again_at) = board.detect(cx.now, una, smss, smallest, srtt);
        if (new_losses || lost_since) && board.phase == Phase::Open {
            self.enter_recovery(cx);
        }
        let in_flight = self.in_flight();
        let Repair::Board(board) = &mut self.repair else {
            return;
        };
        let phase = board.phase;
        if phase == Phase::Recovery {
            let safe = advanced && !new_losses;
            board.progress.on_ack(
                cx.config.reduction,
                &mut self.window,
                in_flight,
                delivery.bytes,
                safe,
            );
        }
        if advanced || delivery.bytes > 0 {
            let may_grow = phase != Phase::Recovery;
            self.grow(cx, acked, delivery.bytes, last_rtt, may_grow, flight_before);
        }
        if again_at != Time::MAX {
            self.timer = Timer::Reorder;
            self.deadline = again_at.min(self.deadline);
        } else if self.timer == Timer::Reorder {
            self.rearm(cx);
        } else {
            self.rearm_probe(cx);
        }
    }

    fn rearm_probe(&mut self, cx: &Context<'_>) {
        if let Repair::Board(board) = &self.repair
            && self.max > self.una
            && board.probe_wanted()
            && self.timer == Timer::Retransmit
            && self.retries == 0
        {
            self.arm_tail_probe(cx);
        }
    }

    /// DSACKs count off retransmissions and widen RACK's patience.
    fn on_duplicate_report(&mut self, cx: &mut Context<'_>, delivery: &Delivery) {
        if !delivery.duplicate_reported {
            return;
        }
        let (una, nxt) = (self.una, self.nxt);
        let Some(board) = self.board() else { return };
        board.rack.reordering = true;
        board.rack.widen(una, nxt);
        if let Some(undo) = &mut board.undo {
            undo.resent = undo.resent.saturating_sub(1);
        }
        let _ = cx;
    }

    /// Whether this ACK shows that the last reduction was needless.
    fn needless(&mut self, cx: &Context<'_>, advanced: bool, delivery: &Delivery, echo: u32) -> bool {
        let Repair::Board(board) = &mut self.repair else {
            return false;
        };
        let frto = std::mem::take(&mut board.frto);
        if frto && delivery.bytes == 0 {
            board.frto = true;
        }
        let Some(undo) = &board.undo else { return false };
        // F-RTO on SACK (RFC 5682 section 3): data sent once, before the timeout,
        // arrives although only the first segment was resent.
        if frto && delivery.original && board.phase == Phase::Loss {
            return true;
        }
        cx.config.undo
            && ((advanced && board.phase != Phase::Open && undo.shown_by_echo(echo))
                || (delivery.duplicate_reported && undo.shown_by_duplicates()))
    }

    fn enter_recovery(&mut self, cx: &mut Context<'_>) {
        let window = self.window;
        let (una, max) = (self.una, self.max);
        let flight = max - una;
        let Some(board) = self.board() else { return };
        board.phase = Phase::Recovery;
        board.recover = max;
        let before = board.undo.take();
        board.undo = Some(Undo::after(before, window, board.resent_in_flight(una)));
        // Linux reduces in proportion to cwnd, however much is out (`prior_cwnd`).
        board.progress = Progress::new(if board.counts_losses_anew() {
            window.bytes()
        } else {
            flight
        });
        board.force = true;
        board.probe = None;
        cx.stats.fast_retransmits += 1;
        let loss = self.loss(cx);
        self.cc.on_enter_recovery(&self.window, &loss);
        let ssthresh = self.cc.ssthresh_after_loss(&self.window, &loss);
        self.cut(cx, ssthresh);
        if cx.config.reduction == Reduction::AtOnce {
            self.window.set_bytes(ssthresh);
        }
        self.arm_retransmit(cx);
    }

    fn leave_recovery(&mut self, cx: &mut Context<'_>) {
        let Some(board) = self.board() else { return };
        let was = std::mem::replace(&mut board.phase, Phase::Open);
        board.frto = false;
        board.force = false;
        if was == Phase::Recovery {
            let ssthresh = self.window.ssthresh();
            if cx.config.reduction == Reduction::Prr || self.window.bytes() > ssthresh {
                self.window.set_bytes(ssthresh);
            }
        }
        self.cc.on_exit_recovery(&mut self.window, cx.now);
    }

    pub(crate) fn board_timeout(&mut self, cx: &mut Context<'_>) {
        let (una, nxt, max) = (self.una, self.nxt, self.max);
        let window = self.window;
        let Some(board) = self.board() else { return };
        if board.sacked.range_at(una).is_some() {
            board.renege();
        }
        let fresh = board.phase != Phase::Loss || una >= board.recover;
        let repairing = board.phase == Phase::Recovery;
        if fresh {
            board.undo = Some(match board.undo.take() {
                Some(undo) if repairing => undo,
                _ => Undo::new(window),
            });
        }
        board.frto = cx.config.frto && fresh && !repairing;
        board.phase = Phase::Loss;
        board.recover = max;
        board.probe = None;
        if fresh {
            let loss = self.loss(cx);
            self.cc.on_enter_recovery(&self.window, &loss);
            let ssthresh = self.cc.ssthresh_after_timeout(&self.window, &loss);
            self.cut(cx, ssthresh);
        }
        let smss = u64::from(self.smss);
        self.window.set_bytes(smss);
        if let Some(board) = self.board() {
            board.lose_all(una, nxt);
            board.force = true;
        }
        self.cc.on_timeout(&mut self.window, cx.now);
        self.back_off(cx);
    }

    /// The tail loss probe is due: new data if there is any, else the last segment again.
    pub(crate) fn on_tail_probe(&mut self, cx: &mut Context<'_>) {
        let (una, nxt) = (self.una, self.nxt);
        let new_data = nxt < self.limit() && nxt + u64::from(self.smss) <= self.edge;
        let Some(board) = self.board() else { return };
        let last = board.last_segment(una);
        let Some((start, end)) = last.filter(|_| board.probe.is_none()) else {
            self.arm_retransmit(cx);
            return;
        };
        cx.stats.tail_loss_probes += 1;
        if new_data {
            board.probe = Some(Probe {
                end: nxt,
                was_resend: false,
            });
            self.resend_now = Some(nxt);
        } else {
            board.probe = Some(Probe {
                end,
                was_resend: true,
            });
            self.resend_now = Some(start);
        }
        self.arm_retransmit(cx);
    }

    /// The probe's ACK arrived: if it was a retransmission and no duplicate is
    /// reported, it repaired a loss, which costs a reduction (RFC 8985 section 7.4).
    fn on_probe_ack(&mut self, cx: &mut Context<'_>, delivery: &Delivery) {
        let una = self.una;
        let Some(board) = self.board() else { return };
        let Some(probe) = board.probe else { return };
        if delivery.duplicate_reported {
            board.probe = None;
            return;
        }
        if una < probe.end {
            return;
        }
        board.probe = None;
        if probe.was_resend && board.phase == Phase::Open {
            let loss = self.loss(cx);
            let ssthresh = self.cc.ssthresh_after_loss(&self.window, &loss);
            self.cut(cx, ssthresh);
            self.window.set_bytes(ssthresh.min(self.window.bytes()));
        }
    }

    /// RACK has waited long enough for reordered segments.
    pub(crate) fn on_reorder_timer(&mut self, cx: &mut Context<'_>) {
        let (una, smss) = (self.una, self.smss);
        let (smallest, srtt) = (self.rto.smallest(), self.rto.srtt_estimate());
        self.arm_retransmit(cx);
        let Some(board) = self.board() else { return };
        let (new_losses, again_at) = board.detect(cx.now, una, smss, smallest, srtt);
        if new_losses && board.phase == Phase::Open {
            self.enter_recovery(cx);
            // Linux `tcp_rack_reo_timeout` reduces as for one segment delivered.
            let in_flight = self.in_flight();
            if let Repair::Board(board) = &mut self.repair {
                let one = u64::from(smss);
                board
                    .progress
                    .on_ack(cx.config.reduction, &mut self.window, in_flight, one, false);
            }
        }
        if again_at != Time::MAX {
            self.timer = Timer::Reorder;
            self.deadline = again_at.min(self.deadline);
        }
    }
}
