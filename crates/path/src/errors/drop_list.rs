//! Losses by number, to stage a case.

/// Loses the listed packets, each once.
#[derive(Clone, Debug)]
pub(crate) struct DropList {
    /// The numbers still to come, ascending.
    packets: Vec<u64>,
    next: usize,
    seen: u64,
}

impl DropList {
    pub(crate) fn new(packets: &[u64]) -> Self {
        let mut packets = packets.to_vec();
        packets.sort_unstable();
        packets.dedup();
        // Counting starts at 1, so 0 would block the entries behind it.
        packets.retain(|&number| number > 0);
        Self {
            packets,
            next: 0,
            seen: 0,
        }
    }

    /// Counts one data packet; whether it is on the list.
    pub(crate) fn judge(&mut self) -> bool {
        self.seen += 1;
        let listed = self.packets.get(self.next) == Some(&self.seen);
        self.next += usize::from(listed);
        listed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loses_exactly_the_listed_packets() {
        let mut list = DropList::new(&[5, 2, 2, 0, 3]);
        let lost: Vec<u64> = (1..=8).filter(|_| list.judge()).collect();
        assert_eq!(lost, [2, 3, 5]);
    }
}
