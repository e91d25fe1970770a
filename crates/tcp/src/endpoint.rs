//! One end of a TCP connection: the driver's interface, and the order in which
//! a segment's parts are dealt with (RFC 9293 section 3.10).

use std::sync::Arc;

use lasthop_units::Time;

use crate::config::Config;
use crate::receiver::Receiver;
use crate::segment::{Flags, Segment};
use crate::sender::{Context, Sender};
use crate::state::{Role, State};
use crate::stats::{Metrics, Stats};

/// One end of a TCP connection.
///
/// A driver hands in segments ([`Self::on_segment`]), the passing of time
/// ([`Self::on_deadline`]) and the application's wishes, and after each of them
/// takes out segments with [`Self::poll_transmit`] until there are none, and
/// reads [`Self::next_deadline`]. Payload bytes never pass through here; the
/// driver finds them by stream offset.
///
/// ```
/// use std::sync::Arc;
/// use lasthop_tcp::{Endpoint, Personality, Role};
/// use lasthop_units::Time;
///
/// let config = Arc::new(Personality::by_name("linux-6").unwrap().config);
/// let mut client = Endpoint::new(Arc::clone(&config), Role::Active, 1);
/// let mut server = Endpoint::new(config, Role::Passive, 7);
/// let now = Time::ZERO;
/// client.connect(now);
/// client.send(now, 5000);
/// loop {
///     let mut quiet = true;
///     while let Some(segment) = client.poll_transmit(now) {
///         server.on_segment(now, &segment);
///         quiet = false;
///     }
///     while let Some(segment) = server.poll_transmit(now) {
///         client.on_segment(now, &segment);
///         quiet = false;
///     }
///     if quiet {
///         break;
///     }
/// }
/// assert_eq!(server.received_bytes(), 5000);
/// ```
#[derive(Debug)]
pub struct Endpoint {
    pub(crate) config: Arc<Config>,
    pub(crate) role: Role,
    pub(crate) state: State,
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    pub(crate) stats: Stats,
    deadline: Time,
    /// Nothing has happened since there was nothing left to send.
    pub(crate) quiet: bool,
    /// A SYN or SYN-ACK is to be sent.
    pub(crate) syn_due: bool,
    pub(crate) timestamps: bool,
    pub(crate) sack: bool,
    pub(crate) gave_up: bool,
    pub(crate) was_reset: bool,
}

impl Endpoint {
    /// An endpoint with `isn` as its initial sequence number. A passive one
    /// listens at once; an active one waits for [`Self::connect`].
    pub fn new(config: Arc<Config>, role: Role, isn: u32) -> Self {
        let sender = Sender::new(&config, isn);
        let receiver = Receiver::new(&config);
        Self {
            config,
            role,
            state: if role == Role::Active {
                State::Closed
            } else {
                State::Listen
            },
            sender,
            receiver,
            stats: Stats::default(),
            deadline: Time::MAX,
            quiet: false,
            syn_due: false,
            timestamps: false,
            sack: false,
            gave_up: false,
            was_reset: false,
        }
    }

    /// Opens the connection; only an active endpoint does, and only once.
    pub fn connect(&mut self, _now: Time) {
        if self.role == Role::Active && self.state == State::Closed && self.sender.max == 0 && !self.gave_up {
            self.state = State::SynSent;
            self.syn_due = true;
            self.timestamps = self.config.timestamps;
            self.refresh();
        }
    }

    /// The application appends `bytes` bytes to its stream; before the
    /// handshake is over they wait. Ignored after [`Self::close`].
    pub fn send(&mut self, _now: Time, bytes: u64) {
        if !self.sender.fin_queued {
            self.sender.queue(bytes);
            self.quiet = false;
        }
    }

    /// The application is done sending: a FIN follows the queued bytes.
    pub fn close(&mut self, _now: Time) {
        match self.state {
            State::Closed | State::TimeWait => {}
            State::Listen | State::SynSent if self.sender.end == 1 => self.shut(),
            _ => {
                self.sender.fin_queued = true;
                self.sender.burst = u32::MAX;
            }
        }
        self.refresh();
    }

    /// A segment arrived.
    pub fn on_segment(&mut self, now: Time, segment: &Segment) {
        if !self.on_usual(now, segment) {
            self.on_other(now, segment);
        }
    }

    /// Deals with a segment for which [`Self::on_usual`] did nothing.
    #[inline(never)]
    pub fn on_other(&mut self, now: Time, segment: &Segment) {
        match self.state {
            State::Closed => {}
            State::Listen => self.on_listen(now, segment),
            State::SynSent => self.on_syn_sent(now, segment),
            _ => self.on_synchronized(now, segment),
        }
        self.refresh();
    }

    /// When [`Self::on_deadline`] is to be called next; `Time::MAX` for never.
    /// May move either way after any other call; being called early is harmless.
    pub const fn next_deadline(&self) -> Time {
        self.deadline
    }

    /// Time has passed.
    pub fn on_deadline(&mut self, now: Time) {
        if now < self.deadline {
            return;
        }
        self.receiver.on_deadline(now);
        if now >= self.sender.deadline {
            let mut cx = Context {
                config: &self.config,
                stats: &mut self.stats,
                now,
            };
            let alive = self.sender.on_timer(&mut cx);
            if !alive {
                self.gave_up = self.state != State::TimeWait;
                self.shut();
            } else if self.sender.una == 0 {
                self.syn_due = true;
                self.sender.deadline = Time::MAX;
            }
        }
        self.refresh();
    }

    /// The next segment to put on the wire, if any. Call until `None`.
    #[inline]
    pub fn poll_transmit(&mut self, now: Time) -> Option<Segment> {
        if self.quiet { None } else { self.poll_any(now) }
    }

    #[inline(never)]
    fn poll_any(&mut self, now: Time) -> Option<Segment> {
        let usual = self.poll_usual(now);
        if usual.is_some() {
            return usual;
        }
        let segment = self.next_segment(now);
        self.refresh();
        // An ACK of its own is what comes last.
        self.quiet = segment.is_none_or(|segment| segment.is_pure_ack() && !self.sender.has_errand());
        segment
    }

    fn next_segment(&mut self, now: Time) -> Option<Segment> {
        if self.syn_due {
            return Some(self.syn(now));
        }
        let mut cx = Context {
            config: &self.config,
            stats: &mut self.stats,
            now,
        };
        if self.state.may_send() {
            if self.sender.has_something()
                && let Some(chunk) = self.sender.next_chunk(&mut cx)
            {
                return Some(self.data_segment(now, chunk));
            }
            if std::mem::take(&mut self.sender.probe_now) {
                return Some(self.probe(now));
            }
        }
        self.sender.guard_against_stall(&mut cx);
        if self.receiver.wants_ack() && self.state.is_synchronized() {
            return Some(self.pure_ack(now));
        }
        None
    }

    /// The application reads `bytes` bytes; needed only without `auto_read`.
    pub fn consume(&mut self, now: Time, bytes: u64) {
        self.receiver.consume(now, bytes);
        self.refresh();
    }

    /// Bytes received in order that the application has not read.
    pub fn readable_bytes(&self) -> u64 {
        self.receiver.readable_bytes()
    }

    /// Bytes received in order since the start of the stream.
    pub fn received_bytes(&self) -> u64 {
        self.receiver.received_bytes()
    }

    /// Own payload bytes the peer has acknowledged.
    pub fn acked_bytes(&self) -> u64 {
        self.sender.acked_bytes()
    }

    /// Bytes the application has handed over so far.
    pub fn queued_bytes(&self) -> u64 {
        self.sender.end - 1
    }

    /// Connection state.
    pub const fn state(&self) -> State {
        self.state
    }

    /// Whether the peer has closed its stream and all of it has arrived.
    pub const fn peer_closed(&self) -> bool {
        self.receiver.fin_received()
    }

    /// Whether data flows both ways.
    pub fn is_established(&self) -> bool {
        self.state == State::Established
    }

    /// Whether there is no connection (any more).
    pub fn is_closed(&self) -> bool {
        self.state == State::Closed
    }

    /// Whether the connection was given up after too many timeouts.
    pub const fn gave_up(&self) -> bool {
        self.gave_up
    }

    /// Whether the peer reset the connection.
    pub const fn was_reset(&self) -> bool {
        self.was_reset
    }

    /// The settings.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The sender's state.
    pub fn metrics(&self) -> Metrics {
        let sender = &self.sender;
        let ssthresh = sender.window.ssthresh();
        let offset = |at: u64| at.min(sender.end).saturating_sub(1);
        Metrics {
            cwnd_bytes: sender.window.bytes_f64(),
            ssthresh_bytes: (ssthresh != crate::congestion::Window::NO_SSTHRESH).then_some(ssthresh),
            rwnd_bytes: sender.peer_window,
            srtt: sender.rto.srtt(&self.config.rto),
            rto: sender.rto.timeout(),
            in_flight_bytes: sender.in_flight(),
            snd_una_bytes: offset(sender.una),
            snd_nxt_bytes: offset(sender.max),
            state: self.state,
        }
    }

    /// Counters.
    pub const fn stats(&self) -> &Stats {
        &self.stats
    }

    /// Bytes of the IP packet that carries `segment` as this stack counts them.
    /// ns-2 counts 40 header bytes and 8 for each SACK block.
    #[inline]
    pub fn wire_bytes(&self, segment: &Segment) -> u32 {
        match self.config.header_bytes {
            None => self.config.ip_version.header_bytes() + segment.tcp_bytes(),
            Some(header) => header + segment.payload_bytes + 8 * segment.sack.len() as u32,
        }
    }

    /// The connection is over.
    pub(crate) fn shut(&mut self) {
        self.state = State::Closed;
        self.syn_due = false;
        self.sender.deadline = Time::MAX;
        self.sender.timer = crate::sender::Timer::Off;
        self.receiver.ack_not_due();
    }

    /// Keeps the cached deadline and counters in step with both halves.
    #[inline]
    pub(crate) fn refresh(&mut self) {
        self.quiet = false;
        self.deadline = self.sender.deadline.min(self.receiver.deadline());
    }

    fn on_synchronized(&mut self, now: Time, segment: &Segment) {
        if segment.flags.bits() & (Flags::SYN.bits() | Flags::RST.bits() | Flags::ACK.bits())
            != Flags::ACK.bits()
            || (self.state == State::TimeWait)
        {
            self.on_unusual(now, segment);
            return;
        }
        if !self.receiver.acceptable(segment) {
            self.receiver.refuse(&self.config, now, segment);
            return;
        }
        if let Some(timestamps) = segment.timestamps {
            if self.timestamps && self.receiver.is_old_by_timestamp(now, timestamps) {
                self.receiver.ack_now();
                return;
            }
            self.receiver.take_timestamp(now, segment);
        }
        if !self.on_ack_field(now, segment) {
            return;
        }
        if segment.payload_bytes > 0 || segment.flags.has(Flags::FIN) {
            if self.state.may_receive() {
                let arrival = self.receiver.on_text(&self.config, now, segment);
                if arrival.finished {
                    self.on_peer_finished(now);
                }
            } else {
                self.receiver.ack_now();
            }
        }
    }

    /// Deals with the acknowledgement field; false when the segment goes no further.
    fn on_ack_field(&mut self, now: Time, segment: &Segment) -> bool {
        let Some(ack) = self.sender.offset_of(segment.ack) else {
            return true;
        };
        if self.sender.is_stale_ack(ack, segment) && self.state == State::Established {
            return true;
        }
        if ack > self.sender.max {
            self.receiver.ack_now();
            return false;
        }
        if self.state == State::SynReceived {
            if ack == 0 {
                return false;
            }
            self.state = State::Established;
            let mut cx = Context {
                config: &self.config,
                stats: &mut self.stats,
                now,
            };
            self.sender.take_window(segment, ack);
            self.sender.syn_acked(&mut cx);
            if ack == 1 {
                return true;
            }
        }
        let mut cx = Context {
            config: &self.config,
            stats: &mut self.stats,
            now,
        };
        self.sender.on_ack(&mut cx, ack, segment);
        if self.sender.fin_queued && self.sender.una == self.sender.limit() {
            self.on_own_fin_acked(now);
        }
        true
    }
}
