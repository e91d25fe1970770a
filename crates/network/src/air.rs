//! Packets in the air: the medium's queues, its timer, radios going down and up.

use lasthop_agent::LinkEvent;
use lasthop_path::{FrameClass, MediumEvent, QueuedFrames, StationAirtime};
use lasthop_units::{Direction, Time};

use crate::hosts::Event;
use crate::network::{Network, OnAir, Routed};
use crate::observer::Observer;
use crate::queue::Source;

impl<P: Routed> Network<P> {
    pub(crate) fn enqueue(
        &mut self,
        now: Time,
        direction: Direction,
        packet: P,
        observer: &mut impl Observer<P>,
    ) {
        let Some(medium) = &mut self.medium else { return };
        let station = self.routes[packet.route() as usize].station;
        let (from, to) = match direction {
            Direction::Downlink => (0, station),
            Direction::Uplink => (station, 0),
        };
        let class = if packet.is_data() {
            FrameClass::Data
        } else {
            FrameClass::Ack
        };
        let wire_bytes = packet.wire_bytes();
        match medium.enqueue(now, from, to, class, wire_bytes, OnAir { direction, packet }) {
            Ok(()) => {
                let deadline = medium.next_deadline();
                self.medium_alarm.arm(&mut self.queue, 0, deadline);
            }
            Err((reason, on_air)) => {
                observer.dropped(now, self.wifi_element, direction, reason, &on_air.packet);
            }
        }
    }

    pub(crate) fn medium_event(&mut self, now: Time, observer: &mut impl Observer<P>) {
        if !self.medium_alarm.came_up(0, now) {
            return;
        }
        let Some(medium) = &mut self.medium else { return };
        if medium.next_deadline() <= now {
            let mut events = std::mem::take(&mut self.medium_events);
            medium.on_timer(now, &mut events);
            self.settle(now, events, observer);
        }
        self.rearm_medium();
    }

    fn rearm_medium(&mut self) {
        if let Some(medium) = &self.medium {
            let deadline = medium.next_deadline();
            if deadline < Time::MAX {
                self.medium_alarm.arm(&mut self.queue, 0, deadline);
            }
        }
    }

    /// Carries on the frames the medium delivered and reports those it gave up.
    fn settle(&mut self, now: Time, mut events: Vec<MediumEvent<OnAir<P>>>, observer: &mut impl Observer<P>) {
        let element = self.wifi_element;
        for event in events.drain(..) {
            match event {
                MediumEvent::Attempt(attempt) => observer.attempt(now, &attempt),
                MediumEvent::Delivered { packet: on_air, .. } => {
                    let OnAir { direction, packet } = on_air;
                    let route = packet.route();
                    let next = self.after_wifi[direction.index()];
                    self.carry(now, direction, next, packet, observer);
                    self.departed(now, direction, route);
                }
                MediumEvent::Dropped {
                    packet: on_air,
                    reason,
                    ..
                } => {
                    observer.dropped(now, element, on_air.direction, reason, &on_air.packet);
                    self.departed(now, on_air.direction, on_air.packet.route());
                }
            }
        }
        self.medium_events = events;
    }

    fn departed(&mut self, at: Time, direction: Direction, route: u32) {
        if self.report_departures {
            self.pending.push_back(Event::Departed { at, direction, route });
        }
    }

    pub(crate) fn radio_event(&mut self, now: Time, observer: &mut impl Observer<P>) {
        let Some(change) = self.radio_changes.get(self.next_radio_change).copied() else {
            return;
        };
        self.next_radio_change += 1;
        self.schedule_radio_change();
        self.set_radio(now, change.station, change.up, change.queued, observer);
    }

    pub(crate) fn schedule_radio_change(&mut self) {
        if let Some(change) = self.radio_changes.get(self.next_radio_change) {
            let number = self.queue.number();
            self.queue.push(change.at, number, Source(self.sources.radio));
        }
    }

    /// Takes a station's radio down or up: a hard layer-2 handover on command.
    pub fn set_radio(
        &mut self,
        now: Time,
        station: u32,
        up: bool,
        queued: QueuedFrames,
        observer: &mut impl Observer<P>,
    ) {
        let Some(medium) = &mut self.medium else { return };
        observer.radio(now, station, up);
        let mut events = std::mem::take(&mut self.medium_events);
        medium.set_radio(now, station, up, queued, &mut events);
        self.settle(now, events, observer);
        self.rearm_medium();
        let event = if up { LinkEvent::Up } else { LinkEvent::Down };
        for instance in 0..self.agents.len() {
            if self.agents[instance].station.is_none_or(|own| own == station) {
                let mut outbox = std::mem::take(&mut self.outbox);
                self.agents[instance].agent.on_event(now, event, &mut outbox);
                self.empty(now, instance, outbox, observer);
            }
        }
    }

    /// Whether frames leaving the medium are reported as [`Event::Departed`].
    pub fn report_departures(&mut self, on: bool) {
        self.report_departures = on;
    }

    /// Whether MAC attempts are reported to the observer.
    pub fn report_attempts(&mut self, on: bool) {
        if let Some(medium) = &mut self.medium {
            medium.log_attempts(on);
        }
    }

    /// Airtime and MAC totals per transmitter, the access point first.
    pub fn airtime(&self) -> &[StationAirtime] {
        self.medium.as_ref().map_or(&[], |medium| medium.airtime())
    }

    /// Frames waiting at the transmitter a packet of this route and direction would join.
    pub fn wifi_queue_len(&self, route: u32, direction: Direction) -> usize {
        let station = match direction {
            Direction::Downlink => 0,
            Direction::Uplink => self.routes[route as usize].station,
        };
        self.medium.as_ref().map_or(0, |medium| medium.queue_len(station))
    }
}
