//! Drop-tail queues that store departures, not packets.

use std::collections::VecDeque;

use lasthop_units::Time;

use crate::QueueLimit;

/// Which packets of a FIFO are still in it, as far as the limit needs to know.
#[derive(Clone, Debug)]
pub(crate) enum Queue {
    /// No limit, nothing to remember.
    Unlimited,
    /// Departures of the packets inside, and of some that have left: those are
    /// forgotten when their room is needed.
    Packets {
        limit: usize,
        departures: VecDeque<Time>,
    },
    /// Departures and sizes of the packets inside, and the sum of their sizes.
    Bytes {
        limit: u64,
        inside: u64,
        departures: VecDeque<(Time, u32)>,
    },
}

impl Queue {
    pub(crate) fn new(limit: QueueLimit) -> Self {
        match limit {
            QueueLimit::Unlimited => Self::Unlimited,
            QueueLimit::Packets(limit) => Self::Packets {
                limit: limit as usize,
                departures: VecDeque::new(),
            },
            QueueLimit::Bytes(limit) => Self::Bytes {
                limit,
                inside: 0,
                departures: VecDeque::new(),
            },
        }
    }

    /// Takes in a packet of `bytes` bytes that would depart at `departure`, if it
    /// finds room at `now`. A packet that departs at `now` is still inside for one
    /// that arrives in that instant, as in ns-2, where arrivals of a full pipe and
    /// departures coincide.
    #[inline]
    pub(crate) fn admit(&mut self, now: Time, departure: Time, bytes: u32) -> bool {
        match self {
            Self::Unlimited => true,
            Self::Packets { limit, departures } => {
                forget_departed(departures, now);
                let room = departures.len() < *limit;
                if room {
                    departures.push_back(departure);
                }
                room
            }
            Self::Bytes {
                limit,
                inside,
                departures,
            } => {
                while let Some(&(left, size)) = departures.front()
                    && left < now
                {
                    departures.pop_front();
                    *inside -= u64::from(size);
                }
                let room = *inside + u64::from(bytes) <= *limit;
                if room {
                    *inside += u64::from(bytes);
                    departures.push_back((departure, bytes));
                }
                room
            }
        }
    }

    /// [`Self::admit`] where it can be told without looking who has left: there is
    /// room even if nobody has. False says nothing, and changes nothing.
    #[inline]
    pub(crate) fn admit_at_once(&mut self, departure: Time) -> bool {
        match self {
            Self::Packets { limit, departures } => {
                let room = departures.len() < (*limit).min(departures.capacity());
                if room {
                    departures.push_back(departure);
                }
                room
            }
            Self::Unlimited | Self::Bytes { .. } => false,
        }
    }

    /// Packets inside at `now`; `None` when the queue has no limit and keeps no count.
    pub(crate) fn packets(&self, now: Time) -> Option<usize> {
        match self {
            Self::Unlimited => None,
            Self::Packets { departures, .. } => {
                Some(departures.len() - departures.partition_point(|&left| left < now))
            }
            Self::Bytes { departures, .. } => {
                Some(departures.len() - departures.partition_point(|&(left, _)| left < now))
            }
        }
    }
}

/// Removes what departed before `now`.
fn forget_departed(departures: &mut VecDeque<Time>, now: Time) {
    while departures.front().is_some_and(|&left| left < now) {
        departures.pop_front();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Whoever asks the short way first gets the answers of the long way.
        #[test]
        fn room_is_the_same_whether_departures_are_forgotten_early_or_late(
            limit in 1_u32..12,
            arrivals in prop::collection::vec((0_u64..8, 1_u64..6), 1..200),
        ) {
            let (mut lazy, mut eager) = (Queue::new(QueueLimit::Packets(limit)), Queue::new(QueueLimit::Packets(limit)));
            let (mut now, mut idle_at) = (0, 0);
            for (gap, service) in arrivals {
                now += gap;
                let at = Time::from_ns(now);
                let departure = Time::from_ns(idle_at.max(now) + service);
                let admitted = lazy.admit_at_once(departure) || lazy.admit(at, departure, 40);
                prop_assert_eq!(admitted, eager.admit(at, departure, 40));
                prop_assert_eq!(lazy.packets(at), eager.packets(at));
                if admitted {
                    idle_at = departure.as_ns();
                }
            }
        }
    }
}
