//! Bursts and packets: what the stack hands over as one large TCP segment is
//! cut into the packets a real link would carry, and packets that leave for a
//! host together may be joined again.
//!
//! The header is `struct virtio_net_hdr` (virtio 1.2, section 5.1.6).

use crate::checksum::{fold, pseudo_header, sum};
use crate::tun::{MAX_PIECES, VNET_HEADER_BYTES};

const NEEDS_CSUM: u8 = 1;
const GSO_NONE: u8 = 0;
const GSO_TCP4: u8 = 1;
const GSO_TCP6: u8 = 4;
const GSO_ECN: u8 = 0x80;

const TCP: u8 = 6;
const FIN: u8 = 0x01;
const PSH: u8 = 0x08;
const ACK: u8 = 0x10;
const CWR: u8 = 0x80;
/// Where TCP's checksum field lies in its header.
const TCP_CHECKSUM: usize = 16;

/// Where the parts of a TCP packet begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layout {
    tcp: usize,
    payload: usize,
    total: usize,
}

impl Layout {
    /// The layout of an unfragmented TCP packet without IPv6 extension headers.
    fn of(packet: &[u8]) -> Option<Self> {
        let (tcp, total) = match packet.first()? >> 4 {
            4 if packet.len() >= 20 => {
                let fragment = u16::from_be_bytes([packet[6], packet[7]]) & 0x3fff;
                if packet[9] != TCP || fragment != 0 {
                    return None;
                }
                let total = u16::from_be_bytes([packet[2], packet[3]]);
                (usize::from(packet[0] & 0x0f) * 4, usize::from(total))
            }
            6 if packet.len() >= 40 && packet[6] == TCP => {
                (40, 40 + usize::from(u16::from_be_bytes([packet[4], packet[5]])))
            }
            _ => return None,
        };
        let offset = usize::from(packet.get(tcp + 12)? >> 4) * 4;
        let payload = tcp + offset;
        // A burst beyond 64 KiB carries length 0; the buffer's length decides then.
        let total = if total <= tcp { packet.len() } else { total };
        (tcp >= 20 && offset >= 20 && payload <= total && total <= packet.len()).then_some(Self {
            tcp,
            payload,
            total,
        })
    }
}

fn sequence(packet: &[u8], layout: Layout) -> u32 {
    let at = layout.tcp + 4;
    u32::from_be_bytes([packet[at], packet[at + 1], packet[at + 2], packet[at + 3]])
}

/// Writes the IP length, and for IPv4 the header checksum.
fn set_ip_length(packet: &mut [u8], tcp: usize, length: usize) {
    if packet[0] >> 4 == 4 {
        packet[2..4].copy_from_slice(&(length as u16).to_be_bytes());
        packet[10..12].fill(0);
        let checksum = !fold(sum(&packet[..tcp], 0));
        packet[10..12].copy_from_slice(&checksum.to_be_bytes());
    } else {
        packet[4..6].copy_from_slice(&((length - 40) as u16).to_be_bytes());
    }
}

/// Cuts what was read from a device (header included) into finished packets.
/// Anything malformed gives none.
pub(crate) fn split(read: &[u8], mut emit: impl FnMut(Vec<u8>)) {
    let Some((header, packet)) = read.split_at_checked(VNET_HEADER_BYTES) else {
        return;
    };
    let word = |at: usize| usize::from(u16::from_ne_bytes([header[at], header[at + 1]]));
    match header[1] & !GSO_ECN {
        GSO_NONE => {
            let mut packet = packet.to_vec();
            if header[0] & NEEDS_CSUM != 0 && !finish_checksum(&mut packet, word(6), word(8)) {
                return;
            }
            emit(packet);
        }
        GSO_TCP4 | GSO_TCP6 if word(4) > 0 => {
            if let Some(layout) = Layout::of(packet) {
                cut(packet, layout, word(4), emit);
            }
        }
        _ => {}
    }
}

/// Completes a checksum of which only the pseudo header is summed yet.
fn finish_checksum(packet: &mut [u8], start: usize, offset: usize) -> bool {
    let field = start + offset;
    if field + 2 > packet.len() {
        return false;
    }
    let mut checksum = !fold(sum(&packet[start..], 0));
    // UDP spells a computed zero as all ones (RFC 768).
    if checksum == 0 && offset == 6 {
        checksum = 0xffff;
    }
    packet[field..field + 2].copy_from_slice(&checksum.to_be_bytes());
    true
}

fn cut(burst: &[u8], layout: Layout, mss: usize, mut emit: impl FnMut(Vec<u8>)) {
    let Layout {
        tcp,
        payload: headers,
        total,
    } = layout;
    let first_sequence = sequence(burst, layout);
    let first_id = u16::from_be_bytes([burst[4], burst[5]]);
    let flags = burst[tcp + 13];
    let mut begin = headers;
    let mut index: u16 = 0;
    while begin < total {
        let end = total.min(begin + mss);
        let mut packet = Vec::with_capacity(headers + end - begin);
        packet.extend_from_slice(&burst[..headers]);
        packet.extend_from_slice(&burst[begin..end]);
        if packet[0] >> 4 == 4 {
            packet[4..6].copy_from_slice(&first_id.wrapping_add(index).to_be_bytes());
        }
        let length = packet.len();
        set_ip_length(&mut packet, tcp, length);
        let number = first_sequence.wrapping_add((begin - headers) as u32);
        packet[tcp + 4..tcp + 8].copy_from_slice(&number.to_be_bytes());
        let mut kept = flags;
        if begin > headers {
            kept &= !CWR;
        }
        if end < total {
            kept &= !(FIN | PSH);
        }
        packet[tcp + 13] = kept;
        let field = tcp + TCP_CHECKSUM;
        packet[field..field + 2].fill(0);
        let pseudo = pseudo_header(&packet, TCP, (length - tcp) as u32);
        let checksum = !fold(sum(&packet[tcp..], pseudo));
        packet[field..field + 2].copy_from_slice(&checksum.to_be_bytes());
        emit(packet);
        begin = end;
        index = index.wrapping_add(1);
    }
}

/// Packets that leave for one host at the same moment, joined where they
/// continue each other.
#[derive(Debug, Default)]
pub(crate) struct Burst {
    packets: Vec<Vec<u8>>,
    layout: Option<Layout>,
    mss: usize,
    bytes: usize,
    closed: bool,
}

impl Burst {
    pub(crate) fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Takes the packet if it continues the burst; hands it back otherwise.
    pub(crate) fn push(&mut self, packet: Vec<u8>) -> Result<(), Vec<u8>> {
        let layout = Layout::of(&packet)
            .filter(|layout| layout.total == packet.len() && layout.payload < layout.total);
        if self.packets.is_empty() {
            self.mss = layout.map_or(0, |layout| layout.total - layout.payload);
            self.bytes = packet.len();
            self.closed = layout.is_none_or(|layout| packet[layout.tcp + 13] != ACK);
            self.layout = layout;
            self.packets.push(packet);
            return Ok(());
        }
        let (Some(own), Some(other)) = (self.layout, layout) else {
            return Err(packet);
        };
        if self.closed || !self.continues(own, &packet, other) {
            return Err(packet);
        }
        let payload = other.total - other.payload;
        self.closed = payload < self.mss || packet[other.tcp + 13] & PSH != 0;
        self.bytes += payload;
        self.packets.push(packet);
        Ok(())
    }

    /// Whether `packet` follows with the same headers: addresses, ports, ACK,
    /// window and options, as the kernel's own receive offload demands.
    fn continues(&self, own: Layout, packet: &[u8], other: Layout) -> bool {
        let first = &self.packets[0];
        let payload = other.total - other.payload;
        let expected = sequence(first, own).wrapping_add((self.bytes - own.payload) as u32);
        let same = |range: std::ops::Range<usize>| first[range.clone()] == packet[range];
        let same_network = if first[0] >> 4 == 4 {
            same(0..2) && same(6..10) && same(12..own.tcp)
        } else {
            same(0..4) && same(6..40)
        };
        other.tcp == own.tcp
            && other.payload == own.payload
            && payload <= self.mss
            && self.bytes + payload <= 0xffff
            && self.packets.len() < MAX_PIECES
            && sequence(packet, other) == expected
            && packet[other.tcp + 13] & !PSH == ACK
            && same_network
            && same(own.tcp..own.tcp + 4)
            && same(own.tcp + 8..own.tcp + 13)
            && same(own.tcp + 14..own.tcp + 16)
            && same(own.tcp + 18..own.payload)
    }

    /// Hands the burst to `write` as one header and its pieces, and empties it.
    pub(crate) fn flush<T>(&mut self, write: impl FnOnce(&[u8; VNET_HEADER_BYTES], &[&[u8]]) -> T) -> T {
        let mut header = [0; VNET_HEADER_BYTES];
        if let (Some(layout), true) = (self.layout, self.packets.len() > 1) {
            let push = self.packets.last().map_or(0, |last| last[layout.tcp + 13] & PSH);
            let first = &mut self.packets[0];
            set_ip_length(first, layout.tcp, self.bytes);
            first[layout.tcp + 13] |= push;
            let length = (self.bytes - layout.tcp) as u32;
            let pseudo = fold(pseudo_header(first, TCP, length));
            let field = layout.tcp + TCP_CHECKSUM;
            first[field..field + 2].copy_from_slice(&pseudo.to_be_bytes());
            header[0] = NEEDS_CSUM;
            header[1] = if first[0] >> 4 == 4 { GSO_TCP4 } else { GSO_TCP6 };
            header[2..4].copy_from_slice(&(layout.payload as u16).to_ne_bytes());
            header[4..6].copy_from_slice(&(self.mss as u16).to_ne_bytes());
            header[6..8].copy_from_slice(&(layout.tcp as u16).to_ne_bytes());
            header[8..10].copy_from_slice(&(TCP_CHECKSUM as u16).to_ne_bytes());
        }
        let headers = self.layout.map_or(0, |layout| layout.payload);
        let mut pieces: [&[u8]; MAX_PIECES] = [&[]; MAX_PIECES];
        for (index, (slot, packet)) in pieces.iter_mut().zip(&self.packets).enumerate() {
            *slot = if index == 0 { packet } else { &packet[headers..] };
        }
        let result = write(&header, &pieces[..self.packets.len()]);
        self.packets.clear();
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn burst_of(version: u8, payload: &[u8], flags: u8) -> Vec<u8> {
        let tcp = if version == 4 { 20 } else { 40 };
        let mut packet = vec![0; tcp + 20];
        packet[0] = if version == 4 { 0x45 } else { 0x60 };
        packet[if version == 4 { 9 } else { 6 }] = TCP;
        packet[tcp - 1] = 9;
        packet[tcp + 1] = 80;
        packet[tcp + 7] = 200;
        packet[tcp + 12] = 0x50;
        packet[tcp + 13] = flags;
        packet.extend_from_slice(payload);
        let length = packet.len();
        set_ip_length(&mut packet, tcp, length);
        packet
    }

    fn read_with(gso: u8, mss: u16, packet: &[u8]) -> Vec<u8> {
        let mut read = vec![0; VNET_HEADER_BYTES];
        read[1] = gso;
        read[4..6].copy_from_slice(&mss.to_ne_bytes());
        read.extend_from_slice(packet);
        read
    }

    fn checksum_holds(packet: &[u8]) -> bool {
        let layout = Layout::of(packet).unwrap();
        let pseudo = pseudo_header(packet, TCP, (packet.len() - layout.tcp) as u32);
        fold(sum(&packet[layout.tcp..], pseudo)) == 0xffff
            && (packet[0] >> 4 == 6 || fold(sum(&packet[..layout.tcp], 0)) == 0xffff)
    }

    proptest! {
        #[test]
        fn a_burst_cut_and_joined_again_is_the_same_burst(
            version in prop_oneof![Just(4_u8), Just(6)],
            payload in prop::collection::vec(any::<u8>(), 1..9000),
            mss in 200_u16..1461,
            push in any::<bool>(),
        ) {
            let flags = if push { ACK | PSH } else { ACK };
            let whole = burst_of(version, &payload, flags);
            let gso = if version == 4 { GSO_TCP4 } else { GSO_TCP6 };
            let mut packets = Vec::new();
            split(&read_with(gso, mss, &whole), |packet| packets.push(packet));
            prop_assert_eq!(packets.len(), payload.len().div_ceil(usize::from(mss)));
            prop_assert!(packets.iter().all(|packet| checksum_holds(packet)));
            let mut burst = Burst::default();
            for packet in packets {
                prop_assert!(burst.push(packet).is_ok());
            }
            let (header, joined) = burst.flush(|header, pieces| (*header, pieces.concat()));
            let mut again = Vec::new();
            let mut read = header.to_vec();
            read.extend_from_slice(&joined);
            if header[1] == GSO_NONE {
                again.push(joined);
            } else {
                split(&read, |packet| again.push(packet));
            }
            let tcp = if version == 4 { 20 } else { 40 };
            let carried: Vec<u8> =
                again.iter().flat_map(|packet| packet[tcp + 20..].to_vec()).collect();
            prop_assert_eq!(carried, payload);
            prop_assert!(again.iter().all(|packet| checksum_holds(packet)));
        }

        #[test]
        fn nothing_read_can_crash_the_cutter(read in prop::collection::vec(any::<u8>(), 0..200)) {
            split(&read, |packet| { let _ = Burst::default().push(packet); });
        }
    }

    #[test]
    fn the_last_packet_alone_carries_fin_and_push() {
        let whole = burst_of(4, &[7; 2500], ACK | PSH | FIN | CWR);
        let mut flags = Vec::new();
        split(&read_with(GSO_TCP4, 1000, &whole), |packet| {
            flags.push(packet[33]);
        });
        assert_eq!(flags, [ACK | CWR, ACK, ACK | PSH | FIN]);
    }

    #[test]
    fn a_gap_in_the_sequence_ends_a_burst() {
        let mut burst = Burst::default();
        assert!(burst.push(burst_of(4, &[1; 100], ACK)).is_ok());
        assert!(burst.push(burst_of(4, &[1; 100], ACK)).is_err());
    }

    #[test]
    fn acknowledgements_are_never_joined() {
        let mut burst = Burst::default();
        assert!(burst.push(burst_of(4, &[], ACK)).is_ok());
        assert!(burst.push(burst_of(4, &[], ACK)).is_err());
    }
}
