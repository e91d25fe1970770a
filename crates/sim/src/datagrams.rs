//! A source of datagrams: at a constant rate, or as many as the first element takes.

use lasthop_tcp::IpVersion;
use lasthop_units::{BitRate, Span, Time};

use crate::packet::{SimPacket, datagram_bytes};

/// Frames a saturating source keeps in its transmitter's queue: never empty
/// when one leaves.
pub(crate) const BACKLOG_FRAMES: usize = 4;
/// How soon a saturating source tries again after its radio refused frames.
pub(crate) const RETRY: Span = Span::from_ms(1);

/// How a source decides when to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    /// One datagram every interval.
    Every(Span),
    /// Keep the Wi-Fi transmitter's queue filled.
    Backlog,
}

/// The state of one datagram flow.
#[derive(Clone, Debug)]
pub(crate) struct Datagrams {
    pub(crate) pace: Pace,
    pub(crate) ip: IpVersion,
    pub(crate) payload_bytes: u32,
    pub(crate) sent: u64,
    pub(crate) received: u64,
    pub(crate) received_bytes: u64,
    pub(crate) next: Time,
}

impl Datagrams {
    /// A source of `payload_bytes` datagrams; without a rate it saturates: the
    /// first wire when there is one with a rate, the medium otherwise.
    pub(crate) fn new(
        ip: IpVersion,
        payload_bytes: u32,
        rate: Option<BitRate>,
        first_wire: Option<BitRate>,
    ) -> Self {
        let on_wire = datagram_bytes(ip, payload_bytes);
        let pace = match (rate, first_wire) {
            (Some(rate), _) => Pace::Every(rate.tx_time(u64::from(payload_bytes))),
            (None, Some(wire)) => Pace::Every(wire.tx_time(u64::from(on_wire))),
            (None, None) => Pace::Backlog,
        };
        Self {
            pace,
            ip,
            payload_bytes,
            sent: 0,
            received: 0,
            received_bytes: 0,
            next: Time::ZERO,
        }
    }

    /// One of its datagrams has arrived.
    pub(crate) fn take(&mut self, packet: &SimPacket) {
        self.received += 1;
        self.received_bytes += u64::from(packet.payload_bytes());
    }
}
