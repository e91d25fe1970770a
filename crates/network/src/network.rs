//! The network at work: packets go in at hosts and come out at hosts.

use std::collections::VecDeque;

use lasthop_agent::{Agent, Counter, LinkEvent, Outbox, Packet};
use lasthop_path::{FrameClass, Link, Medium, MediumEvent, PacketInfo, QueuedFrames, StationAirtime};
use lasthop_units::{Direction, Time};

use crate::Observer;
use crate::assembly::{RadioChange, Route};
use crate::hops::Step;
use crate::queue::{Alarms, EventQueue, Source};
use crate::ring::{Ring, Travelling};

/// A packet that knows which route it belongs to.
pub trait Routed: Packet {
    /// Index into the routes the network was built with.
    fn route(&self) -> u32;
}

/// What happens next.
#[derive(Clone, Debug)]
pub enum Event<P> {
    /// A packet reached the host at the end of its direction.
    Delivered {
        /// When.
        at: Time,
        /// Which way it travelled.
        direction: Direction,
        /// The packet.
        packet: P,
    },
    /// An alarm the driver set has come up.
    Alarm {
        /// When.
        at: Time,
        /// Its index.
        index: usize,
    },
    /// A frame left a Wi-Fi transmitter's queue for good, delivered or dropped.
    Departed {
        /// When.
        at: Time,
        /// Which way it travelled.
        direction: Direction,
        /// Its route.
        route: u32,
    },
}

impl<P> Event<P> {
    /// When it happens.
    pub const fn at(&self) -> Time {
        match self {
            Self::Delivered { at, .. } | Self::Alarm { at, .. } | Self::Departed { at, .. } => *at,
        }
    }
}

/// A frame on the medium.
#[derive(Clone, Debug)]
pub(crate) struct OnAir<P> {
    pub(crate) direction: Direction,
    pub(crate) packet: P,
}

/// The agents and who listens to which radio.
pub(crate) struct AgentSeat<P> {
    pub(crate) agent: Box<dyn Agent<P>>,
    /// Its position in the downlink steps.
    pub(crate) position: usize,
    /// Station whose radio it hears of; `None` hears of all.
    pub(crate) station: Option<u32>,
}

/// Numbers of event sources: links, then the medium, radio changes, agents,
/// the driver's alarms.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sources {
    pub(crate) medium: u32,
    pub(crate) radio: u32,
    pub(crate) agents: u32,
    pub(crate) alarms: u32,
}

/// The assembled path. See the crate's documentation.
pub struct Network<P: Routed> {
    /// What packets of each direction meet, in the order of travel.
    pub(crate) steps: [Vec<Step>; 2],
    pub(crate) routes: Vec<Route>,
    pub(crate) links: Vec<Link>,
    /// Where each link's packets go on: the step after it, and their direction.
    pub(crate) link_next: Vec<(u32, Direction)>,
    pub(crate) rings: Vec<Ring<P>>,
    pub(crate) medium: Option<Medium<OnAir<P>>>,
    /// The step after the medium, per direction.
    pub(crate) after_wifi: [usize; 2],
    pub(crate) wifi_element: usize,
    pub(crate) agents: Vec<AgentSeat<P>>,
    pub(crate) radio_changes: Vec<RadioChange>,
    pub(crate) next_radio_change: usize,
    pub(crate) queue: EventQueue,
    pub(crate) medium_alarm: Alarms,
    pub(crate) agent_alarms: Alarms,
    pub(crate) driver_alarms: Alarms,
    pub(crate) sources: Sources,
    pub(crate) pending: VecDeque<Event<P>>,
    pub(crate) report_departures: bool,
    pub(crate) medium_events: Vec<MediumEvent<OnAir<P>>>,
    pub(crate) outbox: Outbox<P>,
    /// Per route, pure ACKs that left agents less those that entered.
    pub(crate) acks_created: Vec<i64>,
}

impl<P: Routed> Network<P> {
    /// A host sends `packet`: downlink packets start at the server's end,
    /// uplink packets at the client's.
    #[inline]
    pub fn inject(&mut self, now: Time, direction: Direction, packet: P, observer: &mut impl Observer<P>) {
        self.carry(now, direction, 0, packet, observer);
    }

    /// Sets the driver's alarm `index` to come up at `deadline` or before; alarms
    /// are lazy, so check the deadline again when one comes up.
    #[inline]
    pub fn arm(&mut self, index: usize, deadline: Time) {
        if deadline < Time::MAX {
            self.driver_alarms.arm(&mut self.queue, index, deadline);
        }
    }

    /// When the next event is due; [`Time::MAX`] when there is none.
    pub fn next_deadline(&self) -> Time {
        match self.pending.front() {
            Some(event) => event.at(),
            None => self.queue.peek().map_or(Time::MAX, crate::queue::Key::time),
        }
    }

    /// The next event due at or before `until`.
    #[inline]
    pub fn next(&mut self, until: Time, observer: &mut impl Observer<P>) -> Option<Event<P>> {
        loop {
            if let Some(event) = self.pending.pop_front() {
                return Some(event);
            }
            let key = self.queue.peek()?;
            let now = key.time();
            if now > until {
                return None;
            }
            let source = key.source();
            if source.0 < self.sources.medium {
                if let Some(event) = self.link_event(source, now, key.number(), observer) {
                    return Some(event);
                }
                continue;
            }
            self.queue.pop();
            if source.0 >= self.sources.alarms {
                let index = (source.0 - self.sources.alarms) as usize;
                if self.driver_alarms.came_up(index, now) {
                    return Some(Event::Alarm { at: now, index });
                }
            } else if source.0 >= self.sources.agents {
                self.agent_event((source.0 - self.sources.agents) as usize, now, observer);
            } else if source.0 == self.sources.radio {
                self.radio_event(now, observer);
            } else {
                self.medium_event(now, observer);
            }
        }
    }

    /// The head of a link's ring is due: deliver it or carry it on.
    #[inline]
    fn link_event(
        &mut self,
        source: Source,
        now: Time,
        number: u64,
        observer: &mut impl Observer<P>,
    ) -> Option<Event<P>> {
        let link = source.0 as usize;
        let ring = &mut self.rings[link];
        if ring.head() != Some((now, number)) {
            // A packet that overtook this one had its own entry.
            self.queue.pop();
            return None;
        }
        let travelling = ring.pop()?;
        match ring.head() {
            Some((at, number)) => self.queue.replace(at, number, source),
            None => self.queue.pop(),
        }
        let (next, direction) = self.link_next[link];
        if next as usize >= self.steps[0].len() {
            return Some(Event::Delivered { at: now, direction, packet: travelling.packet });
        }
        self.carry(now, direction, next as usize, travelling.packet, observer);
        None
    }

    /// Takes a packet from step to step until it has to wait or has arrived.
    #[inline]
    fn carry(
        &mut self,
        mut now: Time,
        direction: Direction,
        first: usize,
        packet: P,
        observer: &mut impl Observer<P>,
    ) {
        let info = PacketInfo { wire_bytes: packet.wire_bytes(), is_data: packet.is_data() };
        let route = packet.route();
        let mut index = first;
        while let Some(step) = self.steps[direction.index()].get(index) {
            match *step {
                Step::Wire { link, stride, chained, element } => {
                    let link = (link + stride * route) as usize;
                    match self.links[link].transit(now, info) {
                        Ok(at) if chained => now = at,
                        Ok(at) => return self.travel(link, at, packet),
                        Err(reason) => {
                            return observer.dropped(now, element as usize, direction, reason, &packet);
                        }
                    }
                }
                Step::Wifi { .. } => return self.enqueue(now, direction, packet, observer),
                Step::Agent { first_instance, at_host } => {
                    if let Some(instance) = self.instance(route, first_instance, at_host) {
                        return self.meet_agent(now, instance, direction, packet, observer);
                    }
                }
            }
            index += 1;
        }
        self.pending.push_back(Event::Delivered { at: now, direction, packet });
    }

    #[inline]
    fn travel(&mut self, link: usize, at: Time, packet: P) {
        let number = self.queue.number();
        if self.rings[link].push(Travelling { at, number, packet }) {
            self.queue.push(at, number, Source(link as u32));
        }
    }

    fn instance(&self, route: u32, first_instance: u32, at_host: Option<u32>) -> Option<usize> {
        let route = &self.routes[route as usize];
        let offset = match at_host.map(|group| group as usize) {
            None => 0,
            Some(group) if group == route.client_group => route.client_in_group,
            Some(group) if group == route.server_group => route.server_in_group,
            Some(_) => return None,
        };
        Some((first_instance + offset) as usize)
    }

    fn meet_agent(
        &mut self,
        now: Time,
        instance: usize,
        direction: Direction,
        packet: P,
        observer: &mut impl Observer<P>,
    ) {
        self.count_ack(&packet, -1);
        let mut outbox = std::mem::take(&mut self.outbox);
        self.agents[instance].agent.on_packet(now, direction, packet, &mut outbox);
        self.empty(now, instance, outbox, observer);
    }

    /// Sends on what an agent let go of, and re-arms its timer.
    fn empty(&mut self, now: Time, instance: usize, mut outbox: Outbox<P>, observer: &mut impl Observer<P>) {
        let position = self.agents[instance].position;
        for note in outbox.notes.drain(..) {
            observer.noted(now, note);
        }
        for packet in outbox.dropped.drain(..) {
            let element = self.element_near(position);
            observer.dropped(now, element, Direction::Downlink, lasthop_path::DropReason::Agent, &packet);
        }
        let mut packets = std::mem::take(&mut outbox.packets);
        self.outbox = outbox;
        for (direction, packet) in packets.drain(..) {
            self.count_ack(&packet, 1);
            let next = match direction {
                Direction::Downlink => position + 1,
                Direction::Uplink => self.steps[1].len() - position,
            };
            self.carry(now, direction, next, packet, observer);
        }
        self.outbox.packets = packets;
        if let Some(deadline) = self.agents[instance].agent.next_deadline() {
            self.agent_alarms.arm(&mut self.queue, instance, deadline);
        }
    }

    fn count_ack(&mut self, packet: &P, change: i64) {
        if packet.tcp().is_some_and(|tcp| tcp.is_pure_ack()) {
            self.acks_created[packet.route() as usize] += change;
        }
    }

    /// The path element next to a position, for the record.
    fn element_near(&self, position: usize) -> usize {
        let steps = &self.steps[0];
        let elements = steps[position..].iter().chain(steps[..position].iter().rev());
        let element = |step: &Step| match step {
            Step::Wire { element, .. } | Step::Wifi { element } => Some(*element as usize),
            Step::Agent { .. } => None,
        };
        elements.filter_map(element).next().unwrap_or(0)
    }

    fn agent_event(&mut self, instance: usize, now: Time, observer: &mut impl Observer<P>) {
        if !self.agent_alarms.came_up(instance, now) {
            return;
        }
        let seat = &mut self.agents[instance];
        match seat.agent.next_deadline() {
            Some(deadline) if deadline <= now => {
                let mut outbox = std::mem::take(&mut self.outbox);
                seat.agent.on_timer(now, &mut outbox);
                self.empty(now, instance, outbox, observer);
            }
            Some(deadline) => self.agent_alarms.arm(&mut self.queue, instance, deadline),
            None => {}
        }
    }

    fn enqueue(
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
        let class = if packet.is_data() { FrameClass::Data } else { FrameClass::Ack };
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

    fn medium_event(&mut self, now: Time, observer: &mut impl Observer<P>) {
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
    fn settle(
        &mut self,
        now: Time,
        mut events: Vec<MediumEvent<OnAir<P>>>,
        observer: &mut impl Observer<P>,
    ) {
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
                MediumEvent::Dropped { packet: on_air, reason, .. } => {
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

    fn radio_event(&mut self, now: Time, observer: &mut impl Observer<P>) {
        let Some(change) = self.radio_changes.get(self.next_radio_change).copied() else { return };
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

    /// The counters of every agent, in the order met by a downlink packet.
    pub fn agent_counters(&self) -> Vec<Vec<Counter>> {
        self.agents.iter().map(|seat| seat.agent.counters()).collect()
    }

    /// Per route, how many pure ACKs agents have added to those they were given.
    pub fn acks_created(&self) -> &[i64] {
        &self.acks_created
    }

    /// Packets travelling on wires at the moment.
    pub fn travelling(&self) -> usize {
        self.rings.iter().map(Ring::len).sum()
    }
}
