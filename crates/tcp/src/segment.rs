//! One TCP segment as the state machines see it: the header, and how many
//! payload bytes follow. The bytes themselves stay with whoever drives the
//! endpoint, found by their sequence number.

use std::fmt;

use crate::Seq;

/// Header flags (RFC 9293 section 3.1), combined with `|`.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Flags(u8);

impl Flags {
    /// No flag.
    pub const NONE: Self = Self(0);
    /// FIN: the sender has no more data.
    pub const FIN: Self = Self(0x01);
    /// SYN: synchronise sequence numbers.
    pub const SYN: Self = Self(0x02);
    /// RST: reset the connection.
    pub const RST: Self = Self(0x04);
    /// PSH: push.
    pub const PSH: Self = Self(0x08);
    /// ACK: the acknowledgement field is valid.
    pub const ACK: Self = Self(0x10);

    /// The flags as they stand in the header's 14th byte.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Flags from the header's 14th byte; URG and ECN bits are not modelled and dropped.
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits & 0x1f)
    }

    /// Whether every flag of `other` is set.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl std::ops::BitOr for Flags {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl fmt::Debug for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Flags {
    /// In tcpdump's letters: `S` SYN, `F` FIN, `R` RST, `P` PSH, `.` ACK.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letters = [
            (Self::FIN, "F"),
            (Self::SYN, "S"),
            (Self::RST, "R"),
            (Self::PSH, "P"),
            (Self::ACK, "."),
        ];
        for (flag, letter) in letters {
            if self.has(flag) {
                f.write_str(letter)?;
            }
        }
        Ok(())
    }
}

/// The TCP timestamp option (RFC 7323).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Timestamps {
    /// The sender's clock.
    pub value: u32,
    /// The clock value being echoed.
    pub echo: u32,
}

/// Up to four SACK blocks (RFC 2018), most recent first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SackBlocks {
    blocks: [(Seq, Seq); Self::MAX],
    len: u8,
}

impl SackBlocks {
    /// The most blocks the option space holds.
    pub const MAX: usize = 4;

    /// Appends the block `[left, right)`; ignored when full.
    pub fn push(&mut self, left: Seq, right: Seq) {
        if (self.len as usize) < Self::MAX {
            self.blocks[self.len as usize] = (left, right);
            self.len += 1;
        }
    }

    /// The blocks as `(left, right)`, right exclusive.
    pub fn as_slice(&self) -> &[(Seq, Seq)] {
        &self.blocks[..self.len as usize]
    }

    /// Whether there is no block.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many blocks there are.
    pub const fn len(&self) -> usize {
        self.len as usize
    }
}

/// A TCP segment without its payload bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Segment {
    /// Sequence number of the first byte (or of the SYN).
    pub seq: Seq,
    /// Acknowledgement number; valid with [`Flags::ACK`].
    pub ack: Seq,
    /// Payload bytes.
    pub payload_bytes: u32,
    /// The window field as it stands in the header, before scaling.
    pub window: u16,
    /// Header flags.
    pub flags: Flags,
    /// Window scale option; SYN only.
    pub window_scale: Option<u8>,
    /// Maximum segment size option in bytes; SYN only.
    pub mss: Option<u16>,
    /// SACK-permitted option; SYN only.
    pub sack_permitted: bool,
    /// Timestamp option.
    pub timestamps: Option<Timestamps>,
    /// SACK option.
    pub sack: SackBlocks,
}

impl Segment {
    /// Sequence space taken: payload plus one each for SYN and FIN.
    pub const fn sequence_len(&self) -> u32 {
        self.payload_bytes + self.flags.has(Flags::SYN) as u32 + self.flags.has(Flags::FIN) as u32
    }

    /// The sequence number after this segment.
    pub const fn end(&self) -> Seq {
        self.seq.add(self.sequence_len())
    }

    /// Bytes of TCP options, padded to whole words the way Linux lays them out.
    pub const fn options_bytes(&self) -> u32 {
        let mut bytes = 0;
        if self.mss.is_some() {
            bytes += 4;
        }
        if self.window_scale.is_some() {
            bytes += 4;
        }
        if self.timestamps.is_some() {
            bytes += 12;
        } else if self.sack_permitted {
            bytes += 4;
        }
        if !self.sack.is_empty() {
            bytes += 4 + 8 * self.sack.len() as u32;
        }
        bytes
    }

    /// Bytes of TCP header, options and payload.
    pub const fn tcp_bytes(&self) -> u32 {
        20 + self.options_bytes() + self.payload_bytes
    }

    /// Bytes of the IPv4 packet that carries this segment.
    pub const fn ipv4_bytes(&self) -> u32 {
        20 + self.tcp_bytes()
    }

    /// Whether this is an acknowledgement and nothing else.
    pub const fn is_pure_ack(&self) -> bool {
        self.payload_bytes == 0 && self.flags.bits() & 0x17 == Flags::ACK.bits()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_on_the_wire_are_those_of_linux() {
        let timestamps = Some(Timestamps { value: 1, echo: 2 });
        let data = Segment {
            payload_bytes: 1448,
            timestamps,
            flags: Flags::ACK,
            ..Segment::default()
        };
        assert_eq!(data.ipv4_bytes(), 1500);
        let ack = Segment {
            timestamps,
            flags: Flags::ACK,
            ..Segment::default()
        };
        assert_eq!(ack.ipv4_bytes(), 52);
        let syn = Segment {
            flags: Flags::SYN,
            mss: Some(1460),
            sack_permitted: true,
            timestamps,
            window_scale: Some(7),
            ..Segment::default()
        };
        assert_eq!(syn.ipv4_bytes(), 60);
    }

    #[test]
    fn a_fin_takes_one_sequence_number() {
        let fin = Segment {
            seq: Seq(u32::MAX),
            flags: Flags::FIN | Flags::ACK,
            payload_bytes: 1,
            ..Segment::default()
        };
        assert_eq!(fin.end(), Seq(1));
        assert!(!fin.is_pure_ack());
    }
}
