//! Captures as pcapng (draft-ietf-opsawg-pcapng), readable by Wireshark,
//! tshark and tcptrace: one file, one interface, times in nanoseconds since the
//! run began.

use std::io::{self, Write};

use lasthop_units::Time;

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const ENHANCED_PACKET: u32 = 6;
/// `LINKTYPE_RAW`: packets begin with their IP header, of either version.
const LINKTYPE_RAW: u16 = 101;
/// Options `shb_userappl`, `if_name` and `if_tsresol`.
const USER_APPLICATION: u16 = 4;
const INTERFACE_NAME: u16 = 2;
const RESOLUTION: u16 = 9;
/// Times count units of 10^-9 s.
const NANOSECONDS: u8 = 9;

/// Bytes kept of each packet: all headers and the beginning of the payload.
pub const SNAP_BYTES: usize = 256;

/// Writes one capture; every packet is one call of [`Write::write_all`].
#[derive(Debug)]
pub struct CaptureWriter<W> {
    out: W,
    block: Vec<u8>,
}

impl<W: Write> CaptureWriter<W> {
    /// A capture of the interface called `name`.
    ///
    /// # Errors
    /// When the output fails.
    pub fn new(out: W, name: &str) -> io::Result<Self> {
        let mut writer = Self {
            out,
            block: Vec::with_capacity(32 + SNAP_BYTES),
        };
        writer.section_header()?;
        writer.interface(name)?;
        Ok(writer)
    }

    /// Adds a packet of `original_bytes`, of which `bytes` are the first ones
    /// or all; no more than [`SNAP_BYTES`] of them are kept.
    ///
    /// # Errors
    /// When the output fails.
    pub fn packet(&mut self, t: Time, bytes: &[u8], original_bytes: u32) -> io::Result<()> {
        let kept = &bytes[..bytes.len().min(SNAP_BYTES)];
        let t = t.as_ns();
        self.begin(ENHANCED_PACKET);
        self.u32(0);
        self.u32((t >> 32) as u32);
        self.u32(t as u32);
        self.u32(kept.len() as u32);
        self.u32(original_bytes);
        self.padded(kept);
        self.end()
    }

    /// Hands everything written on.
    ///
    /// # Errors
    /// When the output fails.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    fn section_header(&mut self) -> io::Result<()> {
        self.begin(SECTION_HEADER);
        // The byte order, version 1.0, and a section of unstated length.
        self.u32(0x1a2b_3c4d);
        self.u16(1);
        self.u16(0);
        self.block.extend_from_slice(&(-1_i64).to_le_bytes());
        self.option(USER_APPLICATION, b"lasthop");
        self.option(0, &[]);
        self.end()
    }

    fn interface(&mut self, name: &str) -> io::Result<()> {
        self.begin(INTERFACE);
        self.u16(LINKTYPE_RAW);
        self.u16(0);
        self.u32(SNAP_BYTES as u32);
        self.option(INTERFACE_NAME, name.as_bytes());
        self.option(RESOLUTION, &[NANOSECONDS]);
        self.option(0, &[]);
        self.end()
    }

    fn begin(&mut self, kind: u32) {
        self.block.clear();
        self.u32(kind);
        // The length, known at the end.
        self.u32(0);
    }

    fn end(&mut self) -> io::Result<()> {
        let total = self.block.len() as u32 + 4;
        self.u32(total);
        self.block[4..8].copy_from_slice(&total.to_le_bytes());
        self.out.write_all(&self.block)
    }

    fn u16(&mut self, value: u16) {
        self.block.extend_from_slice(&value.to_le_bytes());
    }

    fn u32(&mut self, value: u32) {
        self.block.extend_from_slice(&value.to_le_bytes());
    }

    fn padded(&mut self, bytes: &[u8]) {
        self.block.extend_from_slice(bytes);
        self.block.resize(self.block.len().next_multiple_of(4), 0);
    }

    fn option(&mut self, code: u16, value: &[u8]) {
        self.u16(code);
        self.u16(value.len() as u16);
        self.padded(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each block's type and body.
    fn blocks(mut bytes: &[u8]) -> Vec<(u32, &[u8])> {
        let word = |bytes: &[u8], at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        let mut blocks = Vec::new();
        while !bytes.is_empty() {
            let total = word(bytes, 4) as usize;
            assert_eq!(total % 4, 0, "blocks are aligned");
            assert_eq!(word(bytes, total - 4) as usize, total, "framed by their length");
            blocks.push((word(bytes, 0), &bytes[8..total - 4]));
            bytes = &bytes[total..];
        }
        blocks
    }

    #[test]
    fn a_packet_keeps_its_time_to_the_nanosecond_and_its_whole_length() {
        let mut capture = CaptureWriter::new(Vec::new(), "client").unwrap();
        let t = Time::from_ns(5_000_000_000_000_000_001);
        capture.packet(t, &[0x45; 1500], 1500).unwrap();
        capture.packet(t, &[0x45; 41], 41).unwrap();
        let blocks = blocks(&capture.out);
        let kinds: Vec<u32> = blocks.iter().map(|(kind, _)| *kind).collect();
        assert_eq!(
            kinds,
            [SECTION_HEADER, INTERFACE, ENHANCED_PACKET, ENHANCED_PACKET]
        );
        let fields = |body: &[u8]| -> Vec<u32> {
            let words = body[..20].chunks(4);
            words
                .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
                .collect()
        };
        let [_, high, low, kept, original] = fields(blocks[2].1)[..] else {
            panic!("five words")
        };
        assert_eq!(u64::from(high) << 32 | u64::from(low), t.as_ns());
        assert_eq!((kept as usize, original), (SNAP_BYTES, 1500));
        assert_eq!(fields(blocks[3].1)[3..], [41, 41]);
        assert_eq!(blocks[3].1.len(), 20 + 44);
    }
}
