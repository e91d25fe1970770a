//! Packets on their way out of a link, in the order of their delivery.

use std::collections::VecDeque;

use lasthop_units::Time;

/// A packet with its delivery time and its number in the total order.
#[derive(Clone, Debug)]
pub(crate) struct Travelling<P> {
    pub(crate) at: Time,
    pub(crate) number: u64,
    pub(crate) packet: P,
}

/// The packets of one link. A wire delivers in order, so the event queue needs
/// to know of the first only.
#[derive(Clone, Debug)]
pub(crate) struct Ring<P> {
    packets: VecDeque<Travelling<P>>,
}

impl<P> Default for Ring<P> {
    fn default() -> Self {
        Self { packets: VecDeque::new() }
    }
}

impl<P> Ring<P> {
    /// Adds a packet; true when it became the first.
    #[inline]
    pub(crate) fn push(&mut self, travelling: Travelling<P>) -> bool {
        let in_order = self.packets.back().is_none_or(|last| last.at <= travelling.at);
        if in_order {
            self.packets.push_back(travelling);
            return self.packets.len() == 1;
        }
        let position = self.packets.partition_point(|other| other.at <= travelling.at);
        self.packets.insert(position, travelling);
        position == 0
    }

    /// Time and number of the first packet.
    #[inline]
    pub(crate) fn head(&self) -> Option<(Time, u64)> {
        self.packets.front().map(|first| (first.at, first.number))
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Travelling<P>> {
        self.packets.pop_front()
    }

    pub(crate) fn len(&self) -> usize {
        self.packets.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_that_overtakes_is_put_in_its_place() {
        let mut ring = Ring::default();
        let travelling = |at, number| Travelling { at: Time::from_ns(at), number, packet: number };
        assert!(ring.push(travelling(10, 1)));
        assert!(!ring.push(travelling(30, 2)));
        assert!(!ring.push(travelling(20, 3)));
        assert!(ring.push(travelling(5, 4)));
        let order: Vec<u64> = std::iter::from_fn(|| ring.pop()).map(|t| t.packet).collect();
        assert_eq!(order, [4, 1, 3, 2]);
    }
}
