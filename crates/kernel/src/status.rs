//! What the path looks like at a moment, for a status line.

use std::collections::BTreeSet;

use lasthop_units::{Direction, Time};

use crate::path::WorldPath;

/// What the path looks like at the moment, for a status line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// Since the run began.
    pub now: Time,
    /// IP bytes delivered so far, downlink and uplink.
    pub delivered_bytes: [u64; 2],
    /// Packets dropped so far, for every reason.
    pub dropped: u64,
    /// Packets travelling on wires.
    pub travelling: usize,
    /// Frames queued for the first station at the access point.
    pub queued: usize,
    /// Stations whose radio is down.
    pub radios_down: Vec<u32>,
}

impl Status {
    /// The path as it is at `now`.
    pub(crate) fn of(path: &WorldPath, now: Time) -> Self {
        let mut radios_down = BTreeSet::new();
        for event in path.recorder.path.events.rows() {
            match event.kind {
                "radio-down" => radios_down.insert(event.value as u32),
                "radio-up" => radios_down.remove(&(event.value as u32)),
                _ => false,
            };
        }
        Self {
            now,
            delivered_bytes: path.delivered_bytes,
            dropped: path.recorder.path.drop_totals().map(|(_, count)| count).sum(),
            travelling: path.network.travelling(),
            queued: path.network.wifi_queue_len(0, Direction::Downlink),
            radios_down: radios_down.into_iter().collect(),
        }
    }
}
