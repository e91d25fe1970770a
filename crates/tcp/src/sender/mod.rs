//! The sending half: what is in flight, what may be sent, and when to give up
//! waiting. How losses are repaired is in [`crate::recovery`].

mod ack;
mod limits;
mod output;
mod timer;

use lasthop_units::Time;

use crate::config::{AckCounting, Config, InitialSsthresh, Recovery, Reduction};
use crate::congestion::{Controller, Loss, Window};
use crate::recovery::{Board, Classic, Pipe, Repair};
use crate::rto::Rto;
use crate::segment::Segment;
use crate::seq::Seq;
use crate::stats::Stats;

use limits::Usage;
pub(crate) use timer::Timer;

/// What every step of the sender may look at.
pub(crate) struct Context<'a> {
    pub(crate) config: &'a Config,
    pub(crate) stats: &'a mut Stats,
    pub(crate) now: Time,
}

/// A segment's place in the stream, ready to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chunk {
    pub(crate) start: u64,
    pub(crate) payload: u32,
    pub(crate) fin: bool,
}

/// Sender state. Offsets count sequence numbers from the SYN = 0, so the first
/// data byte is 1 and a FIN stands at `end`.
#[derive(Debug)]
pub(crate) struct Sender {
    pub(crate) isn: Seq,
    /// Oldest unacknowledged offset.
    pub(crate) una: u64,
    /// Next offset to send; go-back-N recovery moves it back.
    pub(crate) nxt: u64,
    /// Highest offset sent.
    pub(crate) max: u64,
    /// End of the data the application has handed over.
    pub(crate) end: u64,
    pub(crate) fin_queued: bool,
    pub(crate) smss: u32,
    pub(crate) window: Window,
    pub(crate) cc: Controller,
    pub(crate) repair: Repair,
    pub(crate) rto: Rto,
    pub(crate) timer: Timer,
    pub(crate) deadline: Time,
    /// Timeouts in a row.
    pub(crate) retries: u32,
    pub(crate) dup_acks: u32,
    /// The segment whose round trip is being timed: its end and send time.
    timed: Option<(u64, Time)>,
    /// Peer's window: right edge and size as announced last, scale, largest so far.
    pub(crate) edge: u64,
    pub(crate) peer_window: u64,
    pub(crate) peer_scale: u8,
    largest_window: u64,
    window_seq: Seq,
    /// The window field last seen after the handshake.
    window_field: Option<u16>,
    /// Offset to send at once, whatever the window.
    pub(crate) resend_now: Option<u64>,
    /// One new segment may be sent beyond cwnd (limited transmit).
    pub(crate) extra_now: bool,
    /// Segments that may still be sent on the last event (ns-2's bursts).
    pub(crate) burst: u32,
    /// A zero-window probe is due.
    pub(crate) probe_now: bool,
    /// End of the last segment sent short of full size.
    short_end: u64,
    /// Bytes acknowledged that no whole segment has been counted for.
    partial_credit: u64,
    last_sent: Time,
    usage: Usage,
    pub(crate) syn_losses: u32,
    ssthresh_from_peer: bool,
}

impl Sender {
    pub(crate) fn new(config: &Config, isn: u32) -> Self {
        let initial = if config.reduction == Reduction::Ns2 {
            1
        } else {
            config.initial_window_segments
        };
        let mut window = Window::new(config.smss, initial);
        if config.ack_counting == AckCounting::PerSegment {
            window = window.of_whole_segments();
        }
        if let InitialSsthresh::Segments(segments) = config.initial_ssthresh {
            window.set_ssthresh(u64::from(segments) * u64::from(config.smss));
        }
        Self {
            isn: Seq(isn),
            una: 0,
            nxt: 0,
            max: 0,
            end: 1,
            fin_queued: false,
            smss: config.smss.max(1),
            window,
            cc: Controller::new(&config.congestion),
            repair: Repair::Classic(Box::new(Classic::new(config.recovery))),
            rto: Rto::new(&config.rto),
            timer: Timer::Off,
            deadline: Time::MAX,
            retries: 0,
            dup_acks: 0,
            timed: None,
            edge: 0,
            peer_window: 0,
            peer_scale: 0,
            largest_window: 0,
            window_seq: Seq(0),
            window_field: None,
            resend_now: None,
            extra_now: false,
            burst: u32::MAX,
            probe_now: false,
            short_end: 0,
            partial_credit: 0,
            last_sent: Time::ZERO,
            usage: Usage::default(),
            syn_losses: 0,
            ssthresh_from_peer: config.initial_ssthresh == InitialSsthresh::PeerWindow,
        }
    }

    /// The wire sequence number of an offset.
    pub(crate) const fn seq(&self, offset: u64) -> Seq {
        self.isn.add(offset as u32)
    }

    /// The offset a wire number near `una` stands for; `None` before the SYN.
    pub(crate) fn offset_of(&self, seq: Seq) -> Option<u64> {
        self.una
            .checked_add_signed(i64::from(seq.since(self.seq(self.una))))
    }

    /// End of everything there is to send, FIN included.
    pub(crate) const fn limit(&self) -> u64 {
        self.end + self.fin_queued as u64
    }

    /// Payload bytes acknowledged.
    pub(crate) fn acked_bytes(&self) -> u64 {
        self.una.min(self.end).saturating_sub(1)
    }

    /// The handshake agreed on the segment size and options.
    pub(crate) fn negotiated(&mut self, config: &Config, smss: u32, sack: bool, peer_scale: u8) {
        self.smss = smss.max(1);
        self.window.rescale(self.smss);
        self.peer_scale = peer_scale;
        self.repair = match (config.recovery, sack, config.reduction) {
            (Recovery::Sack, true, Reduction::Ns2) => Repair::Pipe(Box::new(Pipe::new())),
            (Recovery::Sack, true, _) => Repair::Board(Box::new(Board::new(config))),
            (Recovery::Sack, false, _) => Repair::Classic(Box::new(Classic::new(Recovery::NewReno))),
            (recovery, ..) => Repair::Classic(Box::new(Classic::new(recovery))),
        };
    }

    /// Own SYN was acknowledged: the congestion window is the initial one.
    pub(crate) fn opened(&mut self, config: &Config) {
        self.window.set_bytes(self.initial_window(config));
        self.burst = u32::MAX;
        if self.syn_losses > 0 && config.reduction != Reduction::Ns2 {
            self.rto.after_lost_syn(&config.rto);
        }
    }

    /// The initial window in bytes; one segment when the SYN got lost (RFC 5681
    /// section 3.1; Linux only after the second loss).
    pub(crate) fn initial_window(&self, config: &Config) -> u64 {
        let tolerated = u32::from(config.rto.estimator == crate::config::RttEstimator::Linux);
        let segments = if self.syn_losses > tolerated {
            1
        } else {
            config.initial_window_segments
        };
        u64::from(segments.max(1)) * u64::from(self.smss)
    }

    /// Bytes sent that are not known to have left the network.
    pub(crate) fn in_flight(&self) -> u64 {
        match &self.repair {
            Repair::Board(board) => board.in_flight(self.una, self.nxt),
            Repair::Pipe(pipe) => (self.nxt - self.una).saturating_sub(pipe.sacked_bytes()),
            Repair::Classic(_) => self.nxt - self.una,
        }
    }

    /// cwnd or the peer's window, whichever is smaller, in bytes.
    pub(crate) fn effective_window(&self) -> u64 {
        self.window.bytes().min(self.peer_window)
    }

    /// Whether an acceptable data segment's ACK field says nothing new.
    pub(crate) fn is_stale_ack(&self, ack: u64, segment: &Segment) -> bool {
        ack == self.una
            && segment.payload_bytes > 0
            && self.window_field == Some(segment.window)
            && segment.sack.is_empty()
    }

    /// What the congestion control is told of a loss.
    pub(crate) fn loss(&self, cx: &Context<'_>) -> Loss {
        Loss {
            now: cx.now,
            in_flight_bytes: self.in_flight(),
            window_bytes: match cx.config.reduction {
                Reduction::Ns2 | Reduction::AtOnce => self.effective_window(),
                // `tcp_reno_ssthresh` and FreeBSD's `newreno_cong_signal` halve cwnd itself.
                Reduction::RateHalving | Reduction::Prr => self.window.bytes(),
            },
            srtt: self.rto.srtt_estimate(),
            smallest_rtt: self.rto.smallest(),
        }
    }

    /// Takes the peer's window if the segment is new enough (RFC 9293 section
    /// 3.10.7.4); returns whether the usable window changed.
    pub(crate) fn take_window(&mut self, segment: &Segment, ack: u64) -> bool {
        if self.window_field == Some(segment.window) && ack > self.una {
            self.window_seq = segment.seq;
            self.edge = ack + self.peer_window;
            return false;
        }
        self.take_new_window(segment, ack)
    }

    fn take_new_window(&mut self, segment: &Segment, ack: u64) -> bool {
        let is_syn = segment.flags.has(crate::Flags::SYN);
        let scale = if is_syn { 0 } else { self.peer_scale };
        let window = u64::from(segment.window) << scale;
        if ack < self.una || (ack == self.una && segment.seq.before(self.window_seq)) {
            return false;
        }
        self.window_seq = segment.seq;
        self.window_field = (!is_syn).then_some(segment.window);
        let edge = ack + window;
        let changed = window != self.peer_window;
        if edge == self.edge && !changed {
            return false;
        }
        self.edge = edge;
        self.peer_window = window;
        self.largest_window = self.largest_window.max(window);
        if self.ssthresh_from_peer {
            self.window.set_ssthresh(window.max(u64::from(self.smss)));
            self.ssthresh_from_peer = is_syn;
        }
        changed
    }

    /// The application hands over `bytes`.
    pub(crate) fn queue(&mut self, bytes: u64) {
        self.end += bytes;
        self.burst = u32::MAX;
    }

    /// Sets the threshold and counts the cut.
    pub(crate) fn cut(&mut self, cx: &mut Context<'_>, ssthresh: u64) {
        self.window.set_ssthresh(ssthresh);
        self.ssthresh_from_peer = false;
        cx.stats.cwnd_cuts += 1;
    }
}
