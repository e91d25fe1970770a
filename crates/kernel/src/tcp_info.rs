//! What the kernel tells about a TCP socket (`struct tcp_info` of `linux/tcp.h`).

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use lasthop_units::Span;
use nix::libc;

/// `tcpi_snd_ssthresh` that was never set (`TCP_INFINITE_SSTHRESH`).
const INFINITE_SSTHRESH: u32 = 0x7fff_ffff;

/// The leading fields of `struct tcp_info`, in the kernel's order.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Raw {
    state: u8,
    ca_state: u8,
    retransmits: u8,
    probes: u8,
    backoff: u8,
    options: u8,
    wscale: u8,
    rate_flags: u8,
    rto: u32,
    ato: u32,
    snd_mss: u32,
    rcv_mss: u32,
    unacked: u32,
    sacked: u32,
    lost: u32,
    retrans: u32,
    fackets: u32,
    times: [u32; 4],
    pmtu: u32,
    rcv_ssthresh: u32,
    rtt: u32,
    rttvar: u32,
    snd_ssthresh: u32,
    snd_cwnd: u32,
    advmss: u32,
    reordering: u32,
    rcv_rtt: u32,
    rcv_space: u32,
    total_retrans: u32,
    pacing_rate: u64,
    max_pacing_rate: u64,
    bytes_acked: u64,
    bytes_received: u64,
    segs_out: u32,
    segs_in: u32,
    notsent_bytes: u32,
    min_rtt: u32,
    data_segs_in: u32,
    data_segs_out: u32,
    delivery_rate: u64,
    busy_time: u64,
    rwnd_limited: u64,
    sndbuf_limited: u64,
    delivered: u32,
    delivered_ce: u32,
    bytes_sent: u64,
    bytes_retrans: u64,
    dsack_dups: u32,
    reord_seen: u32,
    rcv_ooopack: u32,
    snd_wnd: u32,
    rcv_wnd: u32,
    rehash: u32,
    total_rto: u16,
    total_rto_recoveries: u16,
    total_rto_time: u32,
}

/// A TCP socket's state at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpInfo {
    /// Congestion window in bytes.
    pub cwnd_bytes: u64,
    /// Slow-start threshold; `None` when never set.
    pub ssthresh_bytes: Option<u64>,
    /// Window the peer offers.
    pub rwnd_bytes: u64,
    /// Smoothed round-trip time; `None` before the first measurement.
    pub srtt: Option<Span>,
    /// Retransmission timeout.
    pub rto: Span,
    /// Segments thought to be in the network, in bytes.
    pub in_flight_bytes: u64,
    /// Stream bytes the peer acknowledged.
    pub acked_bytes: u64,
    /// Stream bytes sent so far, each counted once.
    pub sent_bytes: u64,
    /// Segments with payload sent.
    pub data_segments: u64,
    /// Segments retransmitted.
    pub retransmissions: u64,
    /// Retransmission timeouts; `None` where the kernel does not say (before 6.7).
    pub timeouts: Option<u64>,
    /// Congestion state: 0 Open, 1 Disorder, 2 CWR, 3 Recovery, 4 Loss.
    pub congestion_state: u8,
}

impl TcpInfo {
    /// Asks the kernel.
    ///
    /// # Errors
    /// When the descriptor is not a TCP socket.
    pub fn of(socket: BorrowedFd<'_>) -> io::Result<Self> {
        let mut raw = Raw::default();
        let mut length = size_of::<Raw>() as libc::socklen_t;
        // SAFETY: the buffer is as long as stated and any bytes are a valid `Raw`.
        let result = unsafe {
            libc::getsockopt(
                socket.as_raw_fd(),
                libc::IPPROTO_TCP,
                libc::TCP_INFO,
                (&raw mut raw).cast(),
                &raw mut length,
            )
        };
        if result != 0 {
            return Err(io::Error::last_os_error());
        }
        let tells_timeouts = length as usize >= std::mem::offset_of!(Raw, total_rto_recoveries);
        Ok(Self::from_raw(&raw, tells_timeouts))
    }

    fn from_raw(raw: &Raw, tells_timeouts: bool) -> Self {
        let segments = |count: u32| u64::from(count) * u64::from(raw.snd_mss);
        let out = (raw.unacked + raw.retrans).saturating_sub(raw.sacked + raw.lost);
        // The SYN of an active opener counts as an acknowledged byte.
        let sent_bytes = raw.bytes_sent.saturating_sub(raw.bytes_retrans);
        Self {
            cwnd_bytes: segments(raw.snd_cwnd),
            ssthresh_bytes: (raw.snd_ssthresh < INFINITE_SSTHRESH).then(|| segments(raw.snd_ssthresh)),
            rwnd_bytes: raw.snd_wnd.into(),
            srtt: (raw.rtt > 0).then(|| Span::from_us(raw.rtt.into())),
            rto: Span::from_us(raw.rto.into()),
            in_flight_bytes: segments(out),
            acked_bytes: raw.bytes_acked.min(sent_bytes),
            sent_bytes,
            data_segments: raw.data_segs_out.into(),
            retransmissions: raw.total_retrans.into(),
            timeouts: tells_timeouts.then(|| raw.total_rto.into()),
            congestion_state: raw.ca_state,
        }
    }
}
