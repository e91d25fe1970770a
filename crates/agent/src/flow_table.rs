//! What an agent remembers of each connection, bounded: when the table is full
//! the connection unused for longest is forgotten.

use std::collections::BTreeMap;

use crate::FlowKey;

/// No neighbour in the order of use.
const NONE: u32 = u32::MAX;

#[derive(Debug)]
struct Entry<S> {
    key: FlowKey,
    state: S,
    newer: u32,
    older: u32,
}

/// State per connection with an exact least-recently-used bound. The connection
/// used last is found without a search, which is most packets of a transfer.
#[derive(Debug)]
pub struct FlowTable<S> {
    limit: usize,
    index: BTreeMap<FlowKey, u32>,
    entries: Vec<Entry<S>>,
    newest: u32,
    oldest: u32,
}

impl<S: Default> FlowTable<S> {
    /// A table of at most `limit` connections (at least one).
    pub fn new(limit: usize) -> Self {
        Self {
            limit: limit.clamp(1, NONE as usize),
            index: BTreeMap::new(),
            entries: Vec::new(),
            newest: NONE,
            oldest: NONE,
        }
    }

    /// How many connections are remembered.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether no connection is remembered.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The state of `key`, which becomes the most recently used; a new one when
    /// there is none, in the place of the least recently used when full.
    pub fn entry(&mut self, key: FlowKey) -> &mut S {
        let at = if self.newest != NONE && self.entries[self.newest as usize].key == key {
            self.newest
        } else if let Some(&at) = self.index.get(&key) {
            self.unlink(at);
            self.link_newest(at);
            at
        } else {
            self.insert(key)
        };
        &mut self.entries[at as usize].state
    }

    fn insert(&mut self, key: FlowKey) -> u32 {
        let entry = Entry {
            key,
            state: S::default(),
            newer: NONE,
            older: NONE,
        };
        let at = if self.entries.len() < self.limit {
            self.entries.push(entry);
            self.entries.len() as u32 - 1
        } else {
            let at = self.oldest;
            self.unlink(at);
            self.index.remove(&self.entries[at as usize].key);
            self.entries[at as usize] = entry;
            at
        };
        self.index.insert(key, at);
        self.link_newest(at);
        at
    }

    fn unlink(&mut self, at: u32) {
        let Entry { newer, older, .. } = self.entries[at as usize];
        match newer {
            NONE => self.newest = older,
            _ => self.entries[newer as usize].older = older,
        }
        match older {
            NONE => self.oldest = newer,
            _ => self.entries[older as usize].newer = newer,
        }
    }

    fn link_newest(&mut self, at: u32) {
        let previous = self.newest;
        self.entries[at as usize].newer = NONE;
        self.entries[at as usize].older = previous;
        match previous {
            NONE => self.oldest = at,
            _ => self.entries[previous as usize].newer = at,
        }
        self.newest = at;
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use proptest::prelude::*;

    use super::*;

    fn key(port: u16) -> FlowKey {
        let address = IpAddr::V4(Ipv4Addr::LOCALHOST);
        FlowKey {
            source: address,
            source_port: port,
            destination: address,
            destination_port: 80,
        }
    }

    #[test]
    fn the_connection_unused_for_longest_is_forgotten() {
        let mut table = FlowTable::<u32>::new(2);
        *table.entry(key(1)) = 10;
        *table.entry(key(2)) = 20;
        assert_eq!(*table.entry(key(1)), 10);
        *table.entry(key(3)) = 30;
        assert_eq!(*table.entry(key(1)), 10);
        assert_eq!(*table.entry(key(2)), 0, "2 made room for 3");
        assert_eq!(table.len(), 2);
    }

    proptest! {
        #[test]
        fn it_agrees_with_a_list_kept_in_order_of_use(uses in prop::collection::vec(0u16..9, 0..200), limit in 1usize..7) {
            let mut table = FlowTable::<u32>::new(limit);
            let mut list: Vec<(u16, u32)> = Vec::new();
            for (count, port) in uses.into_iter().enumerate() {
                let expected = match list.iter().position(|(p, _)| *p == port) {
                    Some(at) => list.remove(at).1,
                    None => 0,
                };
                list.push((port, count as u32));
                if list.len() > limit {
                    list.remove(0);
                }
                let state = table.entry(key(port));
                prop_assert_eq!(*state, expected);
                *state = count as u32;
                prop_assert_eq!(table.len(), list.len());
            }
        }
    }
}
