//! Packets on their way out of a link, in the order of their delivery.

use std::collections::VecDeque;

use lasthop_units::{Direction, Time};

use crate::hops::Then;

/// A packet with its delivery time and its number in the total order.
#[derive(Clone, Debug)]
pub(crate) struct Travelling<P> {
    pub(crate) at: Time,
    pub(crate) number: u64,
    pub(crate) packet: P,
}

/// How many packets one may overtake in a ring that links share: bursts of a few
/// flows overlap by so much, and moving a few packets costs less than an event
/// queue with an entry for each flow.
const NEAR_THE_END: usize = 24;

/// Packets on their way out of a link, or of all the instances of an element
/// in one direction, as long as each leaves after the one before it. The event
/// queue needs to know of the first only.
///
/// A thousand flows behind a bottleneck leave their own exits one after the
/// other just as they left the bottleneck; in a ring of all the exits they take
/// one entry of the event queue, not a thousand. A packet that would overtake
/// many goes to the ring of its own link instead.
#[derive(Clone, Debug)]
pub(crate) struct Ring<P> {
    packets: VecDeque<Travelling<P>>,
    /// When the last packet leaves, or left: then no later packet leaves earlier.
    last: Time,
    pub(crate) then: Then,
    pub(crate) direction: Direction,
}

impl<P> Ring<P> {
    /// An empty ring of packets for which `then` follows.
    pub(crate) const fn new(then: Then, direction: Direction) -> Self {
        Self {
            packets: VecDeque::new(),
            last: Time::ZERO,
            then,
            direction,
        }
    }

    /// Adds a packet that leaves after all others; true when it is the first.
    #[inline]
    pub(crate) fn push_last(&mut self, travelling: Travelling<P>) -> bool {
        let first = self.packets.is_empty();
        self.last = travelling.at;
        self.packets.push_back(travelling);
        first
    }

    /// Whether a packet that leaves at `at` would be the last.
    #[inline]
    pub(crate) fn has_place_last(&self, at: Time) -> bool {
        self.last <= at
    }

    /// Puts a packet into its place if that is near the end and not at the head;
    /// gives it back otherwise.
    pub(crate) fn slip_in(&mut self, travelling: Travelling<P>) -> Result<(), Travelling<P>> {
        let later = self.packets.iter().rev().take(NEAR_THE_END + 1);
        let passed = later.take_while(|other| other.at > travelling.at).count();
        let position = self.packets.len() - passed;
        if passed > NEAR_THE_END || position == 0 {
            return Err(travelling);
        }
        self.packets.insert(position, travelling);
        Ok(())
    }

    /// Adds a packet; true when it became the first.
    pub(crate) fn push(&mut self, travelling: Travelling<P>) -> bool {
        if self.has_place_last(travelling.at) {
            return self.push_last(travelling);
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

    /// Takes out the first packet if it has this number.
    #[inline]
    pub(crate) fn take(&mut self, number: u64) -> Option<P> {
        let first = self.packets.pop_front()?;
        if first.number != number {
            self.packets.push_front(first);
            return None;
        }
        Some(first.packet)
    }

    pub(crate) fn len(&self) -> usize {
        self.packets.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_slips_in_before_few_others_and_never_at_the_head() {
        let mut ring = Ring::new(Then::Arrives, Direction::Downlink);
        let travelling = |at, number| Travelling {
            at: Time::from_ns(at),
            number,
            packet: number,
        };
        for number in 0..40 {
            ring.push_last(travelling(10 * number, number));
        }
        assert!(ring.slip_in(travelling(385, 40)).is_ok());
        assert!(ring.slip_in(travelling(380, 41)).is_ok());
        assert!(ring.slip_in(travelling(100, 42)).is_err());
        let mut order = (0..39).chain([41, 40, 39]);
        assert!(order.all(|number| ring.take(number) == Some(number)));
        ring.push_last(travelling(500, 43));
        assert!(ring.slip_in(travelling(499, 44)).is_err());
    }

    #[test]
    fn a_packet_that_overtakes_is_put_in_its_place() {
        let mut ring = Ring::new(Then::Arrives, Direction::Downlink);
        let travelling = |at, number| Travelling {
            at: Time::from_ns(at),
            number,
            packet: number,
        };
        assert!(ring.push(travelling(10, 1)));
        assert!(!ring.push(travelling(30, 2)));
        assert!(!ring.push(travelling(20, 3)));
        assert!(ring.push(travelling(5, 4)));
        assert!(ring.has_place_last(Time::from_ns(30)));
        assert!(!ring.has_place_last(Time::from_ns(29)));
        assert_eq!(ring.take(1), None);
        let order: Vec<Option<u64>> = [4, 1, 3, 2].map(|number| ring.take(number)).to_vec();
        assert_eq!(order, [Some(4), Some(1), Some(3), Some(2)]);
    }
}
