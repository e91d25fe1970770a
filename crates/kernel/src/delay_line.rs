//! The simplest path: one wire between two hosts, for measurements of the
//! engine itself.

use std::collections::VecDeque;

use lasthop_agent::Frame;
use lasthop_path::{Link, PacketInfo, WiredConfig};
use lasthop_units::{Direction, Time};

use crate::driver::{Delivery, Forwarder};

/// Host 0 is the server, host 1 the client.
pub struct DelayLine {
    links: [Link; 2],
    on_the_way: [VecDeque<(Time, Frame)>; 2],
    dropped: [u64; 2],
}

impl DelayLine {
    /// A wire as described, its errors seeded with `seed`.
    pub fn new(wire: &WiredConfig, seed: u64) -> Self {
        Self {
            links: [
                Link::new(&wire.downlink, seed, "wire/downlink"),
                Link::new(&wire.uplink, seed, "wire/uplink"),
            ],
            on_the_way: [VecDeque::new(), VecDeque::new()],
            dropped: [0; 2],
        }
    }

    /// Packets dropped on the way from the server, and from the client.
    pub fn dropped(&self) -> [u64; 2] {
        self.dropped
    }
}

impl Forwarder for DelayLine {
    type Packet = Frame;

    fn inject(&mut self, now: Time, from: usize, packet: Frame) {
        let wire_bytes = packet.bytes().len() as u32;
        match self.links[from].transit(
            now,
            PacketInfo {
                wire_bytes,
                is_data: true,
            },
        ) {
            Ok(due) => self.on_the_way[from].push_back((due, packet)),
            Err(_) => self.dropped[from] += 1,
        }
    }

    fn next_deadline(&self) -> Time {
        let heads = self.on_the_way.iter().filter_map(|queue| queue.front());
        heads.map(|(due, _)| *due).min().unwrap_or(Time::MAX)
    }

    fn advance(&mut self, now: Time, out: &mut Vec<Delivery<Frame>>) {
        for direction in Direction::BOTH {
            let queue = &mut self.on_the_way[direction.index()];
            while queue.front().is_some_and(|(due, _)| *due <= now) {
                if let Some((due, packet)) = queue.pop_front() {
                    out.push(Delivery {
                        due,
                        host: direction.reverse().index(),
                        packet,
                    });
                }
            }
        }
    }
}
