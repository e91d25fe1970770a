//! The event queue: one entry per source, not one per packet.
//!
//! A source is whatever can have a next event: the head of a link, the medium,
//! an agent's or an endpoint's timer. Events are totally ordered by (time,
//! number given at scheduling); the order is a contract, because two runs of a
//! cell must be byte-identical.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use lasthop_units::Time;

/// Who an event belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Source(pub u32);

/// Bits of a key below the time: 40 for the number, 24 for the source.
const SOURCE_BITS: u32 = 24;
/// The most sources a queue can tell apart.
pub(crate) const MAX_SOURCES: usize = 1 << SOURCE_BITS;

/// When an event is due, its place among events of the same time, and its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key(u128);

impl Key {
    fn new(time: Time, number: u64, source: Source) -> Self {
        let low = (number << SOURCE_BITS) | u64::from(source.0);
        Self(u128::from(time.as_ns()) << 64 | u128::from(low))
    }

    pub(crate) const fn time(self) -> Time {
        Time::from_ns((self.0 >> 64) as u64)
    }

    /// Whether the event comes first. The times differ nearly always.
    #[inline]
    fn precedes(self, other: Self) -> bool {
        let (own, others) = (self.time(), other.time());
        own < others || (own == others && self < other)
    }

    pub(crate) const fn number(self) -> u64 {
        self.0 as u64 >> SOURCE_BITS
    }

    pub(crate) const fn source(self) -> Source {
        Source(self.0 as u32 & ((1 << SOURCE_BITS) - 1))
    }
}

/// How many events are kept sorted.
const NEAR: usize = 16;

/// The next few events sorted, the others in a binary heap.
///
/// Few sources are busy at a time: the rings, whose next events are close, while
/// thousands of timers wait far ahead. An event of a ring is put in its place
/// among the next few without touching the timers.
#[derive(Debug, Default)]
pub(crate) struct EventQueue {
    /// The earliest events, latest first; none is later than any in `far`, and
    /// it is empty only if `far` is.
    near: Vec<Key>,
    far: BinaryHeap<Reverse<Key>>,
    next_number: u64,
}

impl EventQueue {
    /// The number the next scheduled event gets.
    #[inline]
    pub(crate) fn number(&mut self) -> u64 {
        self.next_number += 1;
        self.next_number
    }

    /// Schedules an event of `source` under a number drawn earlier.
    pub(crate) fn push(&mut self, time: Time, number: u64, source: Source) {
        let key = Key::new(time, number, source);
        if self.is_far(key) {
            self.put_behind(key);
            return;
        }
        self.near.push(key);
        self.settle(key);
        if self.near.len() > NEAR {
            let latest = self.near.remove(0);
            self.far.push(Reverse(latest));
        }
    }

    /// The earliest event.
    #[inline]
    pub(crate) fn peek(&self) -> Option<Key> {
        self.near.last().copied()
    }

    /// Removes the earliest event.
    #[inline]
    pub(crate) fn pop(&mut self) {
        self.near.pop();
        if self.near.is_empty() {
            self.fetch(Key(u128::MAX), NEAR / 2);
        }
    }

    /// Moves events before `bound` nearer until `most` are near.
    #[inline(never)]
    fn fetch(&mut self, bound: Key, most: usize) {
        while self.near.len() < most && self.is_far(bound) {
            if let Some(Reverse(key)) = self.far.pop() {
                self.near.insert(0, key);
            }
        }
    }

    /// Schedules an event that is later than the first of the far ones. Those
    /// before it are fetched, so that a busy source stays among the near ones.
    #[inline(never)]
    fn put_behind(&mut self, key: Key) {
        self.fetch(key, NEAR);
        if self.near.len() < NEAR {
            self.near.insert(0, key);
        } else {
            self.far.push(Reverse(key));
        }
    }

    /// Replaces the earliest event by a later one.
    #[inline]
    pub(crate) fn replace(&mut self, time: Time, number: u64, source: Source) {
        let key = Key::new(time, number, source);
        if self.is_far(key) {
            self.near.pop();
            self.put_behind(key);
        } else {
            self.settle(key);
        }
    }

    #[inline]
    fn is_far(&self, key: Key) -> bool {
        self.far.peek().is_some_and(|first| first.0 < key)
    }

    /// Puts `key` in its place among the near events; the last of them is free.
    #[inline]
    fn settle(&mut self, key: Key) {
        let Some(mut hole) = self.near.len().checked_sub(1) else {
            return;
        };
        let near = &mut self.near[..=hole];
        while hole > 0 && near[hole - 1].precedes(key) {
            near[hole] = near[hole - 1];
            hole -= 1;
        }
        near[hole] = key;
    }
}

/// Deadlines that move: each source has at most one live entry, re-armed lazily.
/// An entry that comes up early is put back at the deadline then in force.
#[derive(Debug, Default)]
pub(crate) struct Alarms {
    scheduled: Vec<Time>,
    first: u32,
}

impl Alarms {
    /// Alarms for `count` sources from `first` on.
    pub(crate) fn new(first: u32, count: usize) -> Self {
        Self {
            scheduled: vec![Time::MAX; count],
            first,
        }
    }

    /// Makes sure an entry of alarm `index` comes up at `deadline` or before.
    #[inline]
    pub(crate) fn arm(&mut self, queue: &mut EventQueue, index: usize, deadline: Time) {
        if deadline < self.scheduled[index] {
            self.scheduled[index] = deadline;
            let number = queue.number();
            queue.push(deadline, number, Source(self.first + index as u32));
        }
    }

    /// Takes note that an entry came up; false when a newer entry replaced it.
    pub(crate) fn came_up(&mut self, index: usize, at: Time) -> bool {
        if self.scheduled[index] == at {
            self.scheduled[index] = Time::MAX;
            true
        } else {
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn events_come_out_in_the_order_of_time_then_number(
            times in prop::collection::vec(0_u64..50, 1..200)
        ) {
            let mut queue = EventQueue::default();
            for (index, &time) in times.iter().enumerate() {
                let number = queue.number();
                queue.push(Time::from_ns(time), number, Source(index as u32));
            }
            let mut order: Vec<(u64, usize)> = times.iter().copied().zip(0..).collect();
            order.sort_unstable();
            for (time, index) in order {
                let key = queue.peek().unwrap();
                prop_assert_eq!((key.time().as_ns(), key.source().0 as usize), (time, index));
                queue.pop();
            }
            prop_assert!(queue.peek().is_none());
        }

        #[test]
        fn replacing_equals_popping_and_pushing(
            times in prop::collection::vec(0_u64..1000, 2..50),
            steps in prop::collection::vec(1_u64..100, 0..200),
        ) {
            let (mut one, mut two) = (EventQueue::default(), EventQueue::default());
            for (index, &time) in times.iter().enumerate() {
                for queue in [&mut one, &mut two] {
                    let number = queue.number();
                    queue.push(Time::from_ns(time), number, Source(index as u32));
                }
            }
            for step in steps {
                let key = one.peek().unwrap();
                prop_assert_eq!(Some(key), two.peek());
                let later = Time::from_ns(key.time().as_ns() + step);
                let number = one.number();
                one.replace(later, number, key.source());
                two.pop();
                let number = two.number();
                two.push(later, number, key.source());
            }
        }
    }

    #[test]
    fn an_alarm_moved_forward_leaves_its_old_entry_stale() {
        let mut queue = EventQueue::default();
        let mut alarms = Alarms::new(0, 1);
        alarms.arm(&mut queue, 0, Time::from_ns(10));
        alarms.arm(&mut queue, 0, Time::from_ns(20));
        alarms.arm(&mut queue, 0, Time::from_ns(5));
        assert_eq!(queue.peek().map(Key::time), Some(Time::from_ns(5)));
        assert!(alarms.came_up(0, Time::from_ns(5)));
        queue.pop();
        assert!(!alarms.came_up(0, Time::from_ns(10)));
    }
}
