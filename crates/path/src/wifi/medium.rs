//! The medium: who sends next, and what comes of it.

use lasthop_units::Time;

use super::{FrameClass, MediumEvent, QueuedFrames, StationAirtime, WifiConfig};
use crate::DropReason;

/// One 802.11 channel; station 0 is the access point, 1..=N are stations.
#[derive(Debug)]
pub struct Medium<P> {
    deadline: Time,
    airtime: Vec<StationAirtime>,
    log: bool,
    held: Vec<P>,
}

impl<P> Medium<P> {
    /// An idle medium.
    pub fn new(_config: &WifiConfig, stations: u32, _seed: u64, _purpose: &str) -> Self {
        let airtime = vec![StationAirtime::default(); stations as usize + 1];
        Self { deadline: Time::MAX, airtime, log: false, held: Vec::new() }
    }

    /// Whether every transmission is reported as a [`MediumEvent::Attempt`]; off at first.
    pub fn log_attempts(&mut self, on: bool) {
        self.log = on;
    }

    /// Queues a packet of `wire_bytes` IP bytes at `from`, which is 0 for the
    /// access point.
    ///
    /// # Errors
    /// The packet comes back with the reason when the queue is full or the radio down.
    pub fn enqueue(
        &mut self,
        _now: Time,
        _from: u32,
        _to: u32,
        _class: FrameClass,
        _wire_bytes: u32,
        packet: P,
    ) -> Result<(), (DropReason, P)> {
        self.held.push(packet);
        Ok(())
    }

    /// When [`Medium::on_timer`] is next due; [`Time::MAX`] when nothing is queued.
    #[inline]
    pub fn next_deadline(&self) -> Time {
        self.deadline
    }

    /// The deadline has come: appends what happened to `out`.
    pub fn on_timer(&mut self, _now: Time, _out: &mut Vec<MediumEvent<P>>) {}

    /// Switches a radio off or on; `queued` matters when it goes off.
    pub fn set_radio(
        &mut self,
        _now: Time,
        _station: u32,
        _up: bool,
        _queued: QueuedFrames,
        _out: &mut Vec<MediumEvent<P>>,
    ) {
    }

    /// Frames queued at a station.
    pub fn queue_len(&self, _station: u32) -> usize {
        self.held.len()
    }

    /// What each station did with the medium so far, the access point first.
    pub fn airtime(&self) -> &[StationAirtime] {
        &self.airtime
    }
}
