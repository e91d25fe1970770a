//! Every setting of an endpoint, sender and receiver side alike.
//!
//! A [`Config`] usually starts as a copy of a [`crate::Personality`]'s and has
//! single fields overridden. It is shared by all endpoints of a host.

use lasthop_units::Span;

use crate::congestion::CongestionConfig;
use crate::names::named_enum;

/// All settings of an endpoint.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    // Segments and options.
    /// Payload bytes of a full segment, timestamp option already taken off
    /// (1448 on Ethernet with timestamps).
    pub smss: u32,
    /// The network layer below.
    pub ip_version: IpVersion,
    /// Header bytes counted on the wire whatever the options (ns-2 counts 40);
    /// `None` counts IP, TCP and its options as they are.
    pub header_bytes: Option<u32>,
    /// Offer and accept timestamps (RFC 7323).
    pub timestamps: bool,
    /// Offer and accept selective acknowledgements (RFC 2018).
    pub sack: bool,
    /// Report duplicates in the first SACK block (RFC 2883).
    pub dsack: bool,
    /// Offer and accept window scaling (RFC 7323); the shift follows from the
    /// largest receive buffer.
    pub window_scaling: bool,

    // Congestion window.
    /// Congestion control and its parameters.
    pub congestion: CongestionConfig,
    /// Congestion window after the handshake, in segments.
    pub initial_window_segments: u32,
    /// Slow-start threshold after the handshake.
    pub initial_ssthresh: InitialSsthresh,
    /// What an ACK is worth to the growth of the congestion window.
    pub ack_counting: AckCounting,
    /// Grow only while the congestion window is what limits the flow (Linux,
    /// RFC 7661); otherwise every ACK counts.
    pub cwnd_limited_growth: bool,
    /// What an idle period does to the congestion window.
    pub idle_restart: IdleRestart,
    /// Upper bound of the congestion window in segments (`snd_cwnd_clamp`); `None` is none.
    pub max_cwnd_segments: Option<u32>,

    // Loss recovery.
    /// Which algorithm repairs losses.
    pub recovery: Recovery,
    /// How the window comes down in recovery.
    pub reduction: Reduction,
    /// How losses are told from reordering.
    pub loss_detection: LossDetection,
    /// Duplicate ACKs that start fast retransmit (RFC 5681: 3).
    pub dup_ack_threshold: u32,
    /// Send new data on the first duplicate ACKs (RFC 3042).
    pub limited_transmit: bool,
    /// Tail loss probe (RFC 8985 section 7).
    pub tail_loss_probe: bool,
    /// Detect spurious timeouts by F-RTO (RFC 5682).
    pub frto: bool,
    /// Undo reductions that timestamps (RFC 4015) or DSACKs (RFC 3708) show to
    /// have been needless.
    pub undo: bool,

    // Timers.
    /// Retransmission timeout.
    pub rto: RtoConfig,
    /// Nagle's algorithm (RFC 9293 section 3.7.4).
    pub nagle: bool,
    /// How long a closed connection lingers in TIME-WAIT.
    pub time_wait: Span,

    // Receiver.
    /// When data is acknowledged.
    pub delayed_ack: DelayedAck,
    /// Segments acknowledged at once at the start of a connection, and again
    /// after disorder (Linux's quick-ACK mode); 0 switches it off.
    pub quick_ack_segments: u32,
    /// Size of the receive buffer and the window announced from it.
    pub receive_buffer: ReceiveBuffer,
    /// The application reads data as soon as it is in order; otherwise it calls
    /// [`crate::Endpoint::consume`].
    pub auto_read: bool,
}

/// The slow-start threshold a connection begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitialSsthresh {
    /// None: slow start lasts until the first loss (RFC 5681).
    Unlimited,
    /// The window the peer announces in the handshake (ns-2's `window_`).
    PeerWindow,
    /// This many segments.
    Segments(u32),
}

named_enum! {
    /// The version of the Internet Protocol.
    pub enum IpVersion {
        /// 20 bytes of header (RFC 791).
        V4 = "ipv4",
        /// 40 bytes of header (RFC 8200).
        V6 = "ipv6",
    }
}

impl IpVersion {
    /// Bytes of a header without options.
    pub const fn header_bytes(self) -> u32 {
        match self {
            Self::V4 => 20,
            Self::V6 => 40,
        }
    }
}

named_enum! {
    /// What one ACK is worth to the growth of the congestion window.
    pub enum AckCountingKind {
        /// Every ACK of new data counts as one segment, however little it acknowledges.
        PerAck = "per-ack",
        /// Whole segments acknowledged are counted (Linux since 3.x).
        PerSegment = "per-segment",
        /// Every ACK that completes at least one segment counts as one (Linux 2.6).
        PerAckOfSegment = "per-ack-of-segment",
        /// Bytes acknowledged are counted, at most a limit per ACK (RFC 3465).
        PerByte = "per-byte",
    }
}

/// What one ACK is worth to the growth of the congestion window; the property
/// of a sender that divided ACKs live or die by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckCounting {
    /// Every ACK that advances `SND.UNA` counts as one segment.
    PerAck,
    /// Whole segments acknowledged are counted; parts of one count with the
    /// ACK that completes it.
    PerSegment,
    /// Every ACK that completes at least one whole segment counts as one
    /// segment, however many it acknowledges.
    PerAckOfSegment,
    /// Bytes acknowledged are counted, in slow start at most `limit_segments`
    /// segments' worth per ACK (RFC 3465's L).
    PerByte {
        /// RFC 3465's L in segments.
        limit_segments: u32,
    },
}

impl AckCounting {
    /// The counting rule of that name; per byte starts with L = 2 (RFC 3465 section 2.3).
    pub fn from_name(name: &str) -> Option<Self> {
        AckCountingKind::from_name(name).map(|kind| match kind {
            AckCountingKind::PerAck => Self::PerAck,
            AckCountingKind::PerSegment => Self::PerSegment,
            AckCountingKind::PerAckOfSegment => Self::PerAckOfSegment,
            AckCountingKind::PerByte => Self::PerByte { limit_segments: 2 },
        })
    }

    /// The rule without its parameter.
    pub const fn kind(self) -> AckCountingKind {
        match self {
            Self::PerAck => AckCountingKind::PerAck,
            Self::PerSegment => AckCountingKind::PerSegment,
            Self::PerAckOfSegment => AckCountingKind::PerAckOfSegment,
            Self::PerByte { .. } => AckCountingKind::PerByte,
        }
    }

    /// The spelling used in scenarios.
    pub const fn name(self) -> &'static str {
        self.kind().name()
    }

    /// Every name.
    pub fn names() -> impl Iterator<Item = &'static str> {
        AckCountingKind::names()
    }
}

named_enum! {
    /// What a pause of more than one RTO does to the congestion window.
    pub enum IdleRestart {
        /// Nothing.
        Off = "off",
        /// Back to one segment (ns-2's `slow_start_restart_`).
        OneSegment = "one-segment",
        /// Back to the initial window (RFC 5681 section 4.1).
        InitialWindow = "initial-window",
        /// Halved for every RTO of pause, never below the initial window
        /// (RFC 2861; Linux's `tcp_slow_start_after_idle`).
        Decay = "decay",
    }
}

named_enum! {
    /// The algorithm that repairs losses.
    pub enum Recovery {
        /// Fast retransmit, then slow start from one segment.
        Tahoe = "tahoe",
        /// Fast retransmit and fast recovery (RFC 2581).
        Reno = "reno",
        /// Fast recovery that partial ACKs continue (RFC 6582).
        NewReno = "newreno",
        /// Selective acknowledgements (RFC 6675).
        Sack = "sack",
    }
}

named_enum! {
    /// How the congestion window comes down to the new threshold in recovery.
    pub enum Reduction {
        /// As ns-2 2.35 does it: window inflation by duplicate ACKs in Reno and
        /// `NewReno`, a counted pipe in SACK.
        Ns2 = "ns-2",
        /// At once (RFC 5681, RFC 6675).
        AtOnce = "at-once",
        /// One segment for every second ACK (Linux before 3.2).
        RateHalving = "rate-halving",
        /// In proportion to what the receiver gets (RFC 6937).
        Prr = "prr",
    }
}

named_enum! {
    /// How a loss is told from reordering.
    pub enum LossDetection {
        /// Duplicate ACKs, or selectively acknowledged segments above the hole (RFC 6675).
        DupAcks = "dup-acks",
        /// Distance below the highest segment acknowledged selectively, until reordering is seen
        /// (forward acknowledgement, Mathis and Mahdavi 1996; Linux before 4.15).
        Fack = "fack",
        /// Time since a segment sent later was delivered (RFC 8985).
        Rack = "rack",
    }
}

/// The retransmission timeout (RFC 6298) as a stack does it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RtoConfig {
    /// Before the first measurement.
    pub initial: Span,
    /// Floor.
    pub min: Span,
    /// Ceiling, back-off included.
    pub max: Span,
    /// How round-trip times become a timeout.
    pub estimator: RttEstimator,
    /// The clock round-trip times are measured with; zero is exact.
    pub tick: Span,
    /// Where that clock's ticks lie; matters to [`RttEstimator::Ticks`] only. ns-2
    /// draws it at random for each run.
    pub tick_phase: Span,
    /// The timer goes off only at multiples of this (BSD's 500 ms heartbeat); zero is exact.
    pub heartbeat: Span,
    /// Largest back-off factor; 2^n after n timeouts until then.
    pub max_backoff: u32,
    /// Consecutive timeouts of one segment before the connection is given up.
    pub max_retries: u32,
    /// Timeouts of a SYN or SYN-ACK before the connection is given up.
    pub max_syn_retries: u32,
}

named_enum! {
    /// How round-trip times become a timeout.
    pub enum RttEstimator {
        /// SRTT + max(G, 4 RTTVAR), then the floor (RFC 6298).
        Rfc6298 = "rfc-6298",
        /// Linux's `tcp_rtt_estimator`: the floor bounds the variance term, which
        /// falls once per round trip only.
        Linux = "linux",
        /// Whole clock ticks in scaled integers (ns-2, Jacobson's code).
        Ticks = "ticks",
    }
}

named_enum! {
    /// When data is acknowledged, without parameters.
    pub enum DelayedAckKind {
        /// Every segment at once.
        Off = "off",
        /// Every second segment or after a fixed time.
        Fixed = "fixed",
        /// Every second segment or after a time adapted to the sender's pace (Linux).
        Linux = "linux",
    }
}

/// When in-order data is acknowledged. Out-of-order data, and data that fills
/// a hole, is acknowledged at once in every case (RFC 5681 section 4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DelayedAck {
    /// Every segment at once.
    Off,
    /// Every second full segment, or after `timeout`.
    Fixed {
        /// Longest delay (RFC 9293: at most 500 ms).
        timeout: Span,
    },
    /// As Linux: every second full segment, or after a timeout that follows the
    /// gaps between segments within these bounds.
    Linux {
        /// `TCP_ATO_MIN`, 40 ms.
        min: Span,
        /// `TCP_DELACK_MAX`, 200 ms.
        max: Span,
    },
}

impl DelayedAck {
    /// The choice of that name with its usual times: 100 ms (FreeBSD, ns-2), 40 to 200 ms (Linux).
    pub fn from_name(name: &str) -> Option<Self> {
        DelayedAckKind::from_name(name).map(|kind| match kind {
            DelayedAckKind::Off => Self::Off,
            DelayedAckKind::Fixed => Self::Fixed {
                timeout: Span::from_ms(100),
            },
            DelayedAckKind::Linux => Self::Linux {
                min: Span::from_ms(40),
                max: Span::from_ms(200),
            },
        })
    }

    /// The spelling used in scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Off => DelayedAckKind::Off.name(),
            Self::Fixed { .. } => DelayedAckKind::Fixed.name(),
            Self::Linux { .. } => DelayedAckKind::Linux.name(),
        }
    }

    /// Every name.
    pub fn names() -> impl Iterator<Item = &'static str> {
        DelayedAckKind::names()
    }
}

/// The receive buffer and the window announced from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiveBuffer {
    /// All of `bytes` is announced from the first ACK on, less what the
    /// application has not read.
    Fixed {
        /// Payload bytes the buffer holds.
        bytes: u64,
    },
    /// Linux's dynamic right-sizing: starts at `default` and follows twice what
    /// the application reads in a round trip, up to `max` (`tcp_rmem`).
    Auto(AutoTuning),
}

/// Linux's receive buffer auto-tuning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AutoTuning {
    /// `tcp_rmem[0]`, in bytes of memory.
    pub min: u64,
    /// `tcp_rmem[1]`.
    pub default: u64,
    /// `tcp_rmem[2]`.
    pub max: u64,
    /// `tcp_adv_win_scale`: 1/2^n of the buffer is kept for overhead (if
    /// negative, all but 1/2^-n).
    pub adv_win_scale: i8,
    /// Announce at most a slowly growing share of the window (`rcv_ssthresh`),
    /// not the whole buffer.
    pub clamp: bool,
    /// Segments announced before the first data when `clamp` is set: 4 in Linux
    /// 2.6, 44 (64240 bytes) today.
    pub initial_segments: u32,
    /// How the buffer follows what the application reads.
    pub right_sizing: RightSizing,
}

named_enum! {
    /// How a tuned buffer follows what the application reads in a round trip.
    pub enum RightSizing {
        /// Twice what was read, judged against half the window there is, with a
        /// fixed share of the memory for overhead (Linux before 4.x).
        Doubling = "doubling",
        /// What the sender would send if it went on growing as it did, judged from
        /// ten segments on, with the overhead measured (`tcp_rcvbuf_grow` and
        /// `scaling_ratio` of Linux 6).
        Extrapolating = "extrapolating",
    }
}

impl AutoTuning {
    /// Segments of head start given on top of twice a round trip's data
    /// (`tcp_rcv_space_adjust` since Linux 3.x; before that there were none).
    pub(crate) const fn headroom_segments(&self) -> u64 {
        if self.initial_segments > 4 { 16 } else { 0 }
    }

    /// Payload bytes a buffer of `memory` bytes is announced as.
    pub const fn window_of(&self, memory: u64) -> u64 {
        if self.adv_win_scale > 0 {
            memory - (memory >> self.adv_win_scale.unsigned_abs())
        } else {
            memory >> self.adv_win_scale.unsigned_abs()
        }
    }

    /// Memory needed to announce `window` payload bytes.
    pub const fn memory_for(&self, window: u64) -> u64 {
        if self.adv_win_scale > 0 {
            let shift = self.adv_win_scale.unsigned_abs();
            (window << shift) / ((1 << shift) - 1)
        } else {
            window << self.adv_win_scale.unsigned_abs()
        }
    }
}

impl ReceiveBuffer {
    /// The largest window this buffer can come to announce.
    pub const fn largest_window(&self) -> u64 {
        match self {
            Self::Fixed { bytes } => *bytes,
            Self::Auto(tuning) => tuning.window_of(tuning.max),
        }
    }
}
