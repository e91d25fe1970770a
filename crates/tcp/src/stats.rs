//! What an endpoint tells about itself.

use lasthop_units::Span;

use crate::state::State;

/// A sender's state at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Metrics {
    /// Congestion window in bytes, with its fraction.
    pub cwnd_bytes: f64,
    /// Slow-start threshold in bytes; `None` before the first loss.
    pub ssthresh_bytes: Option<u64>,
    /// The peer's announced window in bytes.
    pub rwnd_bytes: u64,
    /// Smoothed round-trip time; `None` before the first measurement.
    pub srtt: Option<Span>,
    /// Retransmission timeout, back-off included.
    pub rto: Span,
    /// Bytes sent and not known to have left the network.
    pub in_flight_bytes: u64,
    /// Stream offset of the first unacknowledged byte (first data byte = 0).
    pub snd_una_bytes: u64,
    /// Stream offset of the next new byte to send.
    pub snd_nxt_bytes: u64,
    /// Connection state.
    pub state: State,
}

/// Counters of one endpoint since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Segments sent that carry payload, retransmissions included.
    pub data_packets: u64,
    /// Segments sent again.
    pub retransmissions: u64,
    /// Times recovery was entered without a timeout.
    pub fast_retransmits: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Tail loss probes sent.
    pub tail_loss_probes: u64,
    /// Zero-window probes sent.
    pub window_probes: u64,
    /// Segments sent without payload that acknowledge something.
    pub acks_sent: u64,
    /// Duplicate ACKs received.
    pub dup_acks_received: u64,
    /// Times the congestion window was cut.
    pub cwnd_cuts: u64,
    /// Cuts undone because they were needless.
    pub spurious_cuts: u64,
    /// Payload bytes received more than once.
    pub duplicate_bytes_received: u64,
}
