//! Captures as pcapng, from the packet rows of a host: what a sniffer there
//! would have written. Wireshark, tshark and tcptrace read them.

use std::io::{self, Write};

use etherparse::{IpNumber, Ipv4Header, TcpHeader, TcpOptionElement};
use lasthop_tcp::Flags;
use lasthop_units::Direction;
use thiserror::Error;

use crate::{PacketRow, Place, Verdict};

/// The host whose packets a capture shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CapturePoint {
    /// The server's interface.
    Server,
    /// The client's interface.
    Client,
}

/// Why a capture could not be written.
#[derive(Debug, Error)]
pub enum CaptureError {
    /// The output failed.
    #[error("cannot write the capture: {0}")]
    Io(#[from] io::Error),
    /// A packet does not fit an IPv4 header.
    #[error("a packet of {bytes} bytes does not fit an IPv4 packet")]
    TooLong {
        /// Its payload.
        bytes: u32,
    },
}

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const ENHANCED_PACKET: u32 = 6;
/// `LINKTYPE_RAW`: packets begin with the IP header.
const LINKTYPE_RAW: u16 = 101;
/// Both scale factors announced in the SYNs of a capture; windows are written
/// shifted by this, so readers show them in bytes to within 2^7.
const WINDOW_SCALE: u8 = 7;

fn block(kind: u32, body: &[u8]) -> Vec<u8> {
    let padded = body.len().div_ceil(4) * 4;
    let total = (padded + 12) as u32;
    let mut out = Vec::with_capacity(total as usize);
    out.extend_from_slice(&kind.to_le_bytes());
    out.extend_from_slice(&total.to_le_bytes());
    out.extend_from_slice(body);
    out.resize(8 + padded, 0);
    out.extend_from_slice(&total.to_le_bytes());
    out
}

fn section_header() -> Vec<u8> {
    let mut body = Vec::new();
    body.extend_from_slice(&0x1a2b_3c4d_u32.to_le_bytes());
    body.extend_from_slice(&1_u16.to_le_bytes());
    body.extend_from_slice(&0_u16.to_le_bytes());
    body.extend_from_slice(&(-1_i64).to_le_bytes());
    block(SECTION_HEADER, &body)
}

fn interface(snap_bytes: u32) -> Vec<u8> {
    let mut body = Vec::new();
    body.extend_from_slice(&LINKTYPE_RAW.to_le_bytes());
    body.extend_from_slice(&0_u16.to_le_bytes());
    body.extend_from_slice(&snap_bytes.to_le_bytes());
    // if_tsresol = 9: timestamps in nanoseconds.
    body.extend_from_slice(&9_u16.to_le_bytes());
    body.extend_from_slice(&1_u16.to_le_bytes());
    body.extend_from_slice(&[9, 0, 0, 0]);
    body.extend_from_slice(&0_u32.to_le_bytes());
    block(INTERFACE, &body)
}

fn address(host: Place, flow: u32) -> [u8; 4] {
    match host {
        Place::Client => [10, 1, (flow >> 8) as u8, (flow & 0xff) as u8],
        _ => [10, 0, 0, 1],
    }
}

fn headers(row: &PacketRow) -> Result<Vec<u8>, CaptureError> {
    let client_port = 49_152 + (row.flow % 16_384) as u16;
    let (source, destination, source_port, destination_port) = match row.direction {
        Direction::Downlink => (Place::Server, Place::Client, 80, client_port),
        Direction::Uplink => (Place::Client, Place::Server, client_port, 80),
    };
    let syn = row.flags.has(Flags::SYN);
    // Initial sequence numbers of 0: the SYN sits before stream offset 0.
    let seq = (row.seq_bytes as u32).wrapping_add(u32::from(!syn));
    let mut tcp = TcpHeader::new(source_port, destination_port, seq, 0);
    tcp.acknowledgment_number = (row.ack_bytes as u32).wrapping_add(1);
    tcp.ack = row.flags.has(Flags::ACK);
    tcp.syn = syn;
    tcp.fin = row.flags.has(Flags::FIN);
    tcp.rst = row.flags.has(Flags::RST);
    tcp.psh = row.flags.has(Flags::PSH);
    if !tcp.ack {
        tcp.acknowledgment_number = 0;
    }
    if syn {
        tcp.window_size = row.window_bytes.min(65_535) as u16;
        // A fixed pair of options always fits.
        let _ = tcp.set_options(&[TcpOptionElement::WindowScale(WINDOW_SCALE)]);
    } else {
        tcp.window_size = (row.window_bytes >> WINDOW_SCALE).min(65_535) as u16;
    }
    let payload_bytes = row.length_bytes;
    let transport = tcp.header_len() as u32 + payload_bytes;
    let too_long = |_| CaptureError::TooLong { bytes: payload_bytes };
    let length = u16::try_from(transport).map_err(|_| CaptureError::TooLong { bytes: payload_bytes })?;
    let ip = Ipv4Header::new(
        length,
        64,
        IpNumber::TCP,
        address(source, row.flow),
        address(destination, row.flow),
    )
    .map_err(too_long)?;
    let payload = vec![0_u8; payload_bytes as usize];
    tcp.checksum = tcp
        .calc_checksum_ipv4(&ip, &payload)
        .map_err(|_| CaptureError::TooLong { bytes: payload_bytes })?;
    let mut out = Vec::with_capacity(64 + payload.len());
    ip.write(&mut out)?;
    tcp.write(&mut out)?;
    out.extend_from_slice(&payload);
    Ok(out)
}

/// Writes the packets sent or received at `point`, in order of time. Payload
/// bytes are zero: the simulator moves lengths, not contents.
///
/// # Errors
/// When the output fails or a packet is longer than IPv4 allows.
pub fn write_pcapng(
    rows: &[PacketRow],
    point: CapturePoint,
    out: &mut impl Write,
) -> Result<(), CaptureError> {
    let here = match point {
        CapturePoint::Server => Place::Server,
        CapturePoint::Client => Place::Client,
    };
    out.write_all(&section_header())?;
    out.write_all(&interface(262_144))?;
    for row in rows {
        let seen = matches!(row.verdict, Verdict::Sent | Verdict::Received);
        // Datagrams carry no TCP flags and stay out of a TCP capture.
        if row.place != here || !seen || row.flags == Flags::NONE {
            continue;
        }
        let packet = headers(row)?;
        let mut body = Vec::with_capacity(20 + packet.len());
        let t = row.t.as_ns();
        body.extend_from_slice(&0_u32.to_le_bytes());
        body.extend_from_slice(&((t >> 32) as u32).to_le_bytes());
        body.extend_from_slice(&(t as u32).to_le_bytes());
        body.extend_from_slice(&(packet.len() as u32).to_le_bytes());
        body.extend_from_slice(&(packet.len() as u32).to_le_bytes());
        body.extend_from_slice(&packet);
        out.write_all(&block(ENHANCED_PACKET, &body))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_units::Time;

    fn row(flags: Flags, length_bytes: u32) -> PacketRow {
        PacketRow {
            flow: 0,
            t: Time::from_ns(1_000_000_001),
            place: Place::Server,
            direction: Direction::Downlink,
            seq_bytes: 0,
            ack_bytes: 0,
            length_bytes,
            wire_bytes: 40 + length_bytes,
            window_bytes: 65_535,
            flags,
            retransmission: false,
            verdict: Verdict::Sent,
        }
    }

    #[test]
    fn every_block_is_framed_by_its_length() {
        let mut bytes = Vec::new();
        let rows = [row(Flags::SYN, 0), row(Flags::ACK, 1000)];
        write_pcapng(&rows, CapturePoint::Server, &mut bytes).unwrap();
        let mut offset = 0;
        let mut kinds = Vec::new();
        while offset < bytes.len() {
            let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
            let total = word(offset + 4) as usize;
            assert_eq!(word(offset + total - 4) as usize, total);
            kinds.push(word(offset));
            offset += total;
        }
        assert_eq!(
            kinds,
            [SECTION_HEADER, INTERFACE, ENHANCED_PACKET, ENHANCED_PACKET]
        );
    }

    #[test]
    fn the_packet_parses_back() {
        let bytes = headers(&row(Flags::ACK | Flags::PSH, 1000)).unwrap();
        let parsed = etherparse::SlicedPacket::from_ip(&bytes).unwrap();
        let Some(etherparse::TransportSlice::Tcp(tcp)) = parsed.transport else {
            panic!("not TCP")
        };
        assert_eq!(tcp.sequence_number(), 1);
        assert_eq!(tcp.payload().len(), 1000);
        assert_eq!(tcp.window_size(), 511);
    }
}
