//! One end of a TCP connection.

use std::sync::Arc;

use lasthop_units::{Span, Time};

use crate::config::Config;
use crate::segment::Segment;
use crate::stats::{Metrics, Stats};

/// Who opens the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Sends the first SYN.
    Active,
    /// Waits for it.
    Passive,
}

/// Connection states (RFC 9293 section 3.3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// No connection, or no longer.
    Closed,
    /// Waiting for a SYN.
    Listen,
    /// SYN sent.
    SynSent,
    /// SYN received, SYN-ACK sent.
    SynReceived,
    /// Open.
    Established,
    /// Own FIN sent, not acknowledged.
    FinWait1,
    /// Own FIN acknowledged.
    FinWait2,
    /// The peer's FIN received.
    CloseWait,
    /// Both FINs sent, own one not acknowledged.
    Closing,
    /// Both FINs sent, the peer's first.
    LastAck,
    /// Waiting for stray segments to die.
    TimeWait,
}

/// One end of a TCP connection.
#[derive(Debug)]
pub struct Endpoint {
    config: Arc<Config>,
    state: State,
    stats: Stats,
    deadline: Time,
}

#[allow(missing_docs, unused_variables, clippy::unused_self, clippy::needless_pass_by_value)]
impl Endpoint {
    pub fn new(config: Arc<Config>, role: Role, isn: u32) -> Self {
        let state = if role == Role::Active { State::Closed } else { State::Listen };
        Self { config, state, stats: Stats::default(), deadline: Time::MAX }
    }
    pub fn connect(&mut self, now: Time) {}
    pub fn send(&mut self, now: Time, bytes: u64) {}
    pub fn close(&mut self, now: Time) {}
    pub fn on_segment(&mut self, now: Time, segment: &Segment) {}
    pub const fn next_deadline(&self) -> Time {
        self.deadline
    }
    pub fn on_deadline(&mut self, now: Time) {}
    pub fn poll_transmit(&mut self, now: Time) -> Option<Segment> {
        None
    }
    pub fn consume(&mut self, now: Time, bytes: u64) {}
    pub fn readable_bytes(&self) -> u64 {
        0
    }
    pub fn received_bytes(&self) -> u64 {
        0
    }
    pub fn acked_bytes(&self) -> u64 {
        0
    }
    pub fn state(&self) -> State {
        self.state
    }
    pub fn peer_closed(&self) -> bool {
        false
    }
    pub fn is_established(&self) -> bool {
        self.state == State::Established
    }
    pub fn is_closed(&self) -> bool {
        self.state == State::Closed
    }
    pub fn metrics(&self) -> Metrics {
        Metrics {
            cwnd_bytes: 0.0,
            ssthresh_bytes: None,
            rwnd_bytes: 0,
            srtt: None,
            rto: Span::ZERO,
            in_flight_bytes: 0,
            snd_una_bytes: 0,
            snd_nxt_bytes: 0,
            state: self.state,
        }
    }
    pub fn stats(&self) -> &Stats {
        &self.stats
    }
    pub fn wire_bytes(&self, segment: &Segment) -> u32 {
        self.config.header_bytes.map_or_else(|| segment.ipv4_bytes(), |h| h + segment.payload_bytes)
    }
}
