//! The Internet checksum after a change of part of the data, without reading
//! the rest (RFC 1624).

/// The checksum `sum` of data in which `old` was replaced by `new`; both have
/// the same even length and stood at an even offset. A wrong sum stays wrong.
pub(super) fn update(sum: u16, old: &[u8], new: &[u8]) -> u16 {
    // Equation 3: HC' = ~(~HC + ~m + m').
    let words = |bytes: &[u8], invert: u16| -> u32 {
        bytes
            .chunks_exact(2)
            .map(|word| u32::from(u16::from_be_bytes([word[0], word[1]]) ^ invert))
            .sum()
    };
    let mut total = u32::from(!sum) + words(old, 0xffff) + words(new, 0);
    while total > 0xffff {
        total = (total & 0xffff) + (total >> 16);
    }
    !(total as u16)
}

#[cfg(test)]
mod tests {
    use super::update;

    /// The worked example of RFC 1624 section 4, where the older equation of
    /// RFC 1141 gives 0xffff.
    #[test]
    fn the_example_of_the_rfc() {
        assert_eq!(
            update(0xdd2f, &0x5555u16.to_be_bytes(), &0x3285u16.to_be_bytes()),
            0x0000
        );
    }
}
