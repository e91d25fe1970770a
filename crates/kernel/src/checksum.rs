//! The Internet checksum (RFC 1071).

/// The unfolded one's-complement sum of `bytes` taken as big-endian words.
pub(crate) fn sum(bytes: &[u8], initial: u64) -> u64 {
    let mut total = initial;
    let mut chunks = bytes.chunks_exact(4);
    for chunk in &mut chunks {
        // One's-complement addition may take two words at a time (RFC 1071, section 2 (C)).
        total += u64::from(u32::from_be_bytes([chunk[0], chunk[1], chunk[2], chunk[3]]));
    }
    let mut last = [0; 4];
    let rest = chunks.remainder();
    last[..rest.len()].copy_from_slice(rest);
    total + u64::from(u32::from_be_bytes(last))
}

/// Folds a sum to sixteen bits, without the final complement.
pub(crate) fn fold(mut total: u64) -> u16 {
    while total > 0xffff {
        total = (total & 0xffff) + (total >> 16);
    }
    total as u16
}

/// The sum of the pseudo header of an IPv4 or IPv6 packet whose upper layer
/// has `length` bytes. `packet` starts with the IP header.
pub(crate) fn pseudo_header(packet: &[u8], protocol: u8, length: u32) -> u64 {
    let addresses = if packet[0] >> 4 == 4 {
        &packet[12..20]
    } else {
        &packet[8..40]
    };
    sum(addresses, u64::from(protocol) + u64::from(length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_rfc_1071() {
        let bytes = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(fold(sum(&bytes, 0)), 0xddf2);
    }

    #[test]
    fn an_odd_last_byte_is_padded_with_zero() {
        assert_eq!(
            fold(sum(&[0x12, 0x34, 0x56], 0)),
            fold(sum(&[0x12, 0x34, 0x56, 0x00], 0))
        );
    }
}
