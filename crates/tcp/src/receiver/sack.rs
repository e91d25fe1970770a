//! Which SACK blocks a receiver reports (RFC 2018 section 4, RFC 2883).

use crate::segment::SackBlocks;
use crate::seq::Seq;

/// The blocks reported lately, most recent first. Like Linux and ns-2 it
/// remembers only a few; older blocks are forgotten, not reported again.
#[derive(Debug, Default)]
pub(crate) struct SackHistory {
    blocks: [(u64, u64); SackBlocks::MAX],
    len: u8,
    duplicate: Option<(u64, u64)>,
}

impl SackHistory {
    pub(super) const fn is_empty(&self) -> bool {
        self.len == 0 && self.duplicate.is_none()
    }

    /// Data arrived out of order and is now part of `range`.
    pub(super) fn arrived(&mut self, range: (u64, u64)) {
        let mut kept = 0;
        let mut blocks = [range; SackBlocks::MAX];
        for &block in &self.blocks[..self.len as usize] {
            let covered = range.0 <= block.0 && block.1 <= range.1;
            if !covered && kept + 1 < SackBlocks::MAX {
                kept += 1;
                blocks[kept] = block;
            }
        }
        self.blocks = blocks;
        self.len = kept as u8 + 1;
    }

    /// Data arrived that was there already.
    pub(super) fn duplicate(&mut self, start: u64, end: u64) {
        self.duplicate = Some((start, end));
    }

    /// Everything below `next` is in order.
    pub(super) fn acknowledged(&mut self, next: u64) {
        let mut kept = 0;
        for index in 0..self.len as usize {
            let block = self.blocks[index];
            if block.1 > next {
                self.blocks[kept] = (block.0.max(next), block.1);
                kept += 1;
            }
        }
        self.len = kept as u8;
    }

    /// The blocks to send, at most `most`; a duplicate is reported once.
    pub(super) fn blocks(&mut self, irs: Seq, most: usize) -> SackBlocks {
        let mut out = SackBlocks::default();
        let wire = |(start, end): (u64, u64)| (irs.add(start as u32), irs.add(end as u32));
        if let Some(duplicate) = self.duplicate.take() {
            let (left, right) = wire(duplicate);
            out.push(left, right);
        }
        for &block in &self.blocks[..self.len as usize] {
            if out.len() >= most {
                break;
            }
            let (left, right) = wire(block);
            out.push(left, right);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_block_comes_first_and_swallows_what_it_covers() {
        let mut history = SackHistory::default();
        history.arrived((10, 20));
        history.arrived((30, 40));
        history.arrived((10, 25));
        let blocks = history.blocks(Seq(0), 4);
        assert_eq!(blocks.as_slice(), [(Seq(10), Seq(25)), (Seq(30), Seq(40))]);
    }

    #[test]
    fn a_duplicate_is_reported_once_before_the_others() {
        let mut history = SackHistory::default();
        history.arrived((10, 20));
        history.duplicate(1, 5);
        assert_eq!(
            history.blocks(Seq(0), 3).as_slice(),
            [(Seq(1), Seq(5)), (Seq(10), Seq(20))]
        );
        assert_eq!(history.blocks(Seq(0), 3).as_slice(), [(Seq(10), Seq(20))]);
    }
}
