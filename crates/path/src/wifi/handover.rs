//! Radios that go off and on: hard layer-2 handovers.

use lasthop_units::Time;

use super::station::{Power, Station};
use super::{AttemptOutcome, Medium, MediumEvent, QueuedFrames};
use crate::DropReason;

impl<P> Medium<P> {
    /// Switches a radio off or on; `queued` says what becomes of frames from
    /// and for it when it goes off. Switching it to what it is does nothing,
    /// nor does naming a radio that does not exist.
    ///
    /// An exchange under way occupies the medium as long as it would have, but
    /// a frame from or for the radio is lost and counts as a failed attempt.
    pub fn set_radio(
        &mut self,
        now: Time,
        station: u32,
        up: bool,
        queued: QueuedFrames,
        out: &mut Vec<MediumEvent<P>>,
    ) {
        let Some(radio) = self.stations.get(station as usize) else {
            return;
        };
        if up != (radio.power != Power::On) {
            return;
        }
        if up {
            self.switch_on(now, station);
        } else {
            self.switch_off(now, station, queued, out);
        }
    }

    /// Whether a radio is on; one that does not exist is not.
    pub fn is_up(&self, station: u32) -> bool {
        self.stations
            .get(station as usize)
            .is_some_and(|radio| radio.power == Power::On)
    }

    fn switch_on(&mut self, now: Time, number: u32) {
        let idle_before: Vec<bool> = self.radios().map(|radio| self.head(radio).is_none()).collect();
        self.stations[number as usize].power = Power::On;
        self.radios_off -= 1;
        // A radio that comes back must first find the medium idle for DIFS.
        let heard = self.access_from.max(now + self.timing().difs);
        self.stations[number as usize].set_resume(self.idle_period, heard);
        for radio in self.radios() {
            if idle_before[radio as usize] && self.head(radio).is_some() {
                self.wake(now, radio);
            }
        }
        if !self.exchange.under_way(now) {
            self.plan();
        }
    }

    fn switch_off(&mut self, now: Time, number: u32, queued: QueuedFrames, out: &mut Vec<MediumEvent<P>>) {
        self.stations[number as usize].power = Power::Off(queued);
        self.radios_off += 1;
        let under_way = self.exchange.under_way(now);
        if under_way {
            self.break_exchange(number);
        }
        if queued == QueuedFrames::Drop {
            for radio in self.radios() {
                self.flush(radio, number, out);
            }
        }
        if !under_way {
            self.plan();
        }
    }

    fn radios(&self) -> std::ops::Range<u32> {
        0..self.stations.len() as u32
    }

    /// Frames on the air from or for the radio are lost.
    fn break_exchange(&mut self, number: u32) {
        let late = self.exchange.end + self.timing().ack_timeout + self.timing().difs;
        for sending in &mut self.exchange.sendings {
            let concerned = sending.from == number || sending.to == number;
            if concerned && sending.outcome != AttemptOutcome::Collision {
                sending.outcome = AttemptOutcome::LinkDown;
                sending.resume = late;
            }
        }
    }

    /// Drops what `radio` has queued from or for the radio `number`.
    fn flush(&mut self, radio: u32, number: u32, out: &mut Vec<MediumEvent<P>>) {
        let Station { queue, .. } = &mut self.stations[radio as usize];
        let sending = self
            .exchange
            .sendings
            .iter_mut()
            .find(|sending| sending.from == radio);
        let mut sent = sending.map(|sending| (sending.index, sending));
        let frames = std::mem::take(queue);
        for (place, frame) in frames.into_iter().enumerate() {
            let to = frame.to;
            if radio != number && to != number {
                queue.push_back(frame);
                continue;
            }
            if let Some((index, sending)) = &mut sent {
                // The exchange knows its frame by its place.
                sending.gone |= place == *index;
                sending.index -= usize::from(place < *index);
            }
            if let Some(packet) = frame.packet {
                let reason = DropReason::LinkDown;
                out.push(MediumEvent::Dropped {
                    from: radio,
                    to,
                    reason,
                    packet,
                });
            }
        }
    }
}
