//! A real IPv4 or IPv6 packet, as a TUN device hands it over.

mod checksum;
mod segment;

use std::cell::OnceCell;
use std::net::IpAddr;

use etherparse::{IpNumber, IpSlice, Ipv6ExtensionSlice, TcpOptionElement, TcpSlice, UdpHeaderSlice};
use lasthop_tcp::{Flags, Seq, Timestamps};

pub use segment::FrameError;

use crate::{FlowKey, Packet, TcpView};

/// Offsets into the TCP header (RFC 9293 section 3.1).
const ACK_AT: usize = 8;
const WINDOW_AT: usize = 14;
const CHECKSUM_AT: usize = 16;

/// An IP packet in its bytes.
///
/// Headers are parsed at the first question and remembered. What is not a whole
/// TCP or UDP packet has neither [`Packet::flow`] nor [`Packet::tcp`], so agents
/// let it pass untouched: other protocols, fragments, malformed packets, and
/// packets under an authentication header, whose change would be noticed.
#[derive(Clone, Debug)]
pub struct Frame {
    bytes: Vec<u8>,
    checksum_pending: bool,
    parsed: OnceCell<Parsed>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Parsed {
    flow: Option<FlowKey>,
    /// Where the TCP header starts, and what it says.
    tcp: Option<(usize, TcpView)>,
    is_data: bool,
}

impl Frame {
    /// A packet with all its checksums in place. Any bytes are accepted.
    pub fn new(bytes: Vec<u8>) -> Self {
        Self {
            bytes,
            checksum_pending: false,
            parsed: OnceCell::new(),
        }
    }

    /// A packet whose TCP checksum the device will finish (checksum offload):
    /// its field holds the sum of the pseudo-header alone, which no change of
    /// acknowledgement number or window alters.
    pub fn with_pending_checksum(bytes: Vec<u8>) -> Self {
        Self {
            checksum_pending: true,
            ..Self::new(bytes)
        }
    }

    /// The packet's bytes, starting with the IP header.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Gives the bytes back.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    fn parsed(&self) -> &Parsed {
        self.parsed.get_or_init(|| parse(&self.bytes).unwrap_or_default())
    }

    /// Overwrites `N` bytes of the TCP header, starting at an even offset.
    fn patch<const N: usize>(&mut self, tcp_at: usize, field_at: usize, new: [u8; N]) {
        let field = tcp_at + field_at;
        let sum_at = tcp_at + CHECKSUM_AT;
        let Some(old) = self
            .bytes
            .get(field..field + N)
            .and_then(|old| <[u8; N]>::try_from(old).ok())
        else {
            return;
        };
        self.bytes[field..field + N].copy_from_slice(&new);
        if !self.checksum_pending {
            let sum = u16::from_be_bytes([self.bytes[sum_at], self.bytes[sum_at + 1]]);
            let sum = checksum::update(sum, &old, &new);
            self.bytes[sum_at..sum_at + 2].copy_from_slice(&sum.to_be_bytes());
        }
    }
}

impl PartialEq for Frame {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes && self.checksum_pending == other.checksum_pending
    }
}

impl Eq for Frame {}

impl Packet for Frame {
    fn wire_bytes(&self) -> u32 {
        self.bytes.len() as u32
    }

    fn is_data(&self) -> bool {
        self.parsed().is_data
    }

    fn flow(&self) -> Option<FlowKey> {
        self.parsed().flow
    }

    fn tcp(&self) -> Option<TcpView> {
        self.parsed().tcp.map(|(_, view)| view)
    }

    fn set_ack(&mut self, ack: Seq) {
        if let Some((at, view)) = self.parsed().tcp {
            self.patch(at, ACK_AT, ack.0.to_be_bytes());
            self.remember(at, TcpView { ack, ..view });
        }
    }

    fn set_window(&mut self, window: u16) {
        if let Some((at, view)) = self.parsed().tcp {
            self.patch(at, WINDOW_AT, window.to_be_bytes());
            self.remember(at, TcpView { window, ..view });
        }
    }
}

impl Frame {
    fn remember(&mut self, at: usize, view: TcpView) {
        if let Some(parsed) = self.parsed.get_mut() {
            parsed.tcp = Some((at, view));
        }
    }
}

/// The packet's TCP part and where it starts in `bytes`; `None` when the packet
/// is malformed, fragmented, authenticated or not TCP.
fn tcp_slice(bytes: &[u8]) -> Option<(usize, IpSlice<'_>, TcpSlice<'_>)> {
    let ip = transport(bytes)?;
    let payload = ip.payload();
    if payload.ip_number != IpNumber::TCP {
        return None;
    }
    let tcp = TcpSlice::from_slice(payload.payload).ok()?;
    let at = payload.payload.as_ptr().addr() - bytes.as_ptr().addr();
    Some((at, ip, tcp))
}

/// The packet's headers up to its whole, unprotected transport part.
fn transport(bytes: &[u8]) -> Option<IpSlice<'_>> {
    let ip = IpSlice::from_slice(bytes).ok()?;
    let authenticated = match &ip {
        IpSlice::Ipv4(v4) => v4.extensions().auth.is_some(),
        IpSlice::Ipv6(v6) => v6
            .extensions()
            .clone()
            .into_iter()
            .any(|extension| matches!(extension, Ipv6ExtensionSlice::Authentication(_))),
    };
    (!authenticated && !ip.is_fragmenting_payload()).then_some(ip)
}

fn parse(bytes: &[u8]) -> Option<Parsed> {
    if let Some((at, ip, tcp)) = tcp_slice(bytes) {
        let flow = flow_key(&ip, tcp.source_port(), tcp.destination_port());
        let view = view(&tcp);
        return Some(Parsed {
            flow: Some(flow),
            tcp: Some((at, view)),
            is_data: view.payload_bytes > 0,
        });
    }
    let ip = transport(bytes)?;
    let payload = ip.payload();
    if payload.ip_number != IpNumber::UDP {
        return None;
    }
    let udp = UdpHeaderSlice::from_slice(payload.payload).ok()?;
    let flow = flow_key(&ip, udp.source_port(), udp.destination_port());
    Some(Parsed {
        flow: Some(flow),
        tcp: None,
        is_data: payload.payload.len() > udp.slice().len(),
    })
}

fn flow_key(ip: &IpSlice<'_>, source_port: u16, destination_port: u16) -> FlowKey {
    let source: IpAddr = ip.source_addr();
    FlowKey {
        source,
        source_port,
        destination: ip.destination_addr(),
        destination_port,
    }
}

fn view(tcp: &TcpSlice<'_>) -> TcpView {
    let mut timestamps = None;
    let mut has_sack = false;
    // A broken option ends the list; what came before it still counts.
    for option in tcp.options_iterator().map_while(Result::ok) {
        match option {
            TcpOptionElement::Timestamp(value, echo) => timestamps = Some(Timestamps { value, echo }),
            TcpOptionElement::SelectiveAcknowledgement(..) => has_sack = true,
            _ => {}
        }
    }
    TcpView {
        seq: Seq(tcp.sequence_number()),
        ack: Seq(tcp.acknowledgment_number()),
        flags: flags(tcp),
        window: tcp.window_size(),
        payload_bytes: tcp.payload().len() as u32,
        timestamps,
        has_sack,
    }
}

fn flags(tcp: &TcpSlice<'_>) -> Flags {
    [
        (tcp.fin(), Flags::FIN),
        (tcp.syn(), Flags::SYN),
        (tcp.rst(), Flags::RST),
        (tcp.psh(), Flags::PSH),
        (tcp.ack(), Flags::ACK),
    ]
    .into_iter()
    .filter(|(set, _)| *set)
    .fold(Flags::NONE, |flags, (_, flag)| flags | flag)
}
