//! The network at work: packets go in at hosts and come out at hosts.

use std::collections::VecDeque;
use std::num::NonZeroU32;

use lasthop_agent::{Agent, Counter, Outbox, Packet};
use lasthop_path::{DropReason, Link, Medium, MediumEvent, PacketInfo};
use lasthop_units::{Direction, Time};

use crate::assembly::{RadioChange, Route};
use crate::hops::{Chain, Journey, Step, Then, Wire};
use crate::hosts::{Event, Hosts, Told};
use crate::observer::{Crossing, Observer};
use crate::queue::{Alarms, EventQueue, Source};
use crate::ring::{Ring, Travelling};

/// A packet that knows which route it belongs to.
pub trait Routed: Packet {
    /// Index into the routes the network was built with.
    fn route(&self) -> u32;
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
    /// What lies beside it, on the server's side and on the client's; `None`
    /// where another agent of the place stands, or the stack of its host.
    pub(crate) sides: [Option<Crossing>; 2],
}

/// Numbers of event sources: rings, then the medium, radio changes, agents,
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
    pub(crate) journeys: [Journey; 2],
    /// The wires of all journeys.
    pub(crate) wires: Vec<Wire>,
    pub(crate) routes: Vec<Route>,
    pub(crate) links: Vec<Link>,
    /// A ring for each wire and direction, then those links have come to need.
    pub(crate) rings: Vec<Ring<P>>,
    /// The ring of each link that has one of its own.
    pub(crate) own_rings: Vec<Option<NonZeroU32>>,
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

/// The instance of an agent that a route's packets meet.
fn instance(routes: &[Route], route: u32, first_instance: u32, at_host: Option<u32>) -> Option<usize> {
    let route = &routes[route as usize];
    let offset = match at_host.map(|group| group as usize) {
        None => 0,
        Some(group) if group == route.client_group => route.client_in_group,
        Some(group) if group == route.server_group => route.server_in_group,
        Some(_) => return None,
    };
    Some((first_instance + offset) as usize)
}

impl<P: Routed> Network<P> {
    /// A host sends `packet`: downlink packets start at the server's end,
    /// uplink packets at the client's.
    #[expect(clippy::inline_always, reason = "a call of its own costs a tenth of the step")]
    #[inline(always)]
    pub fn inject(&mut self, now: Time, direction: Direction, packet: P, observer: &mut impl Observer<P>) {
        match self.journeys[direction.index()].step(0) {
            Step::Wires(chain) => self.pass(now, direction, chain, packet, observer),
            _ => self.carry(now, direction, 0, packet, observer),
        }
    }

    /// Sets the driver's alarm `index` to come up at `deadline` or before; alarms
    /// are lazy, so check the deadline again when one comes up.
    #[inline]
    pub fn arm(&mut self, index: usize, deadline: Time) {
        self.driver_alarms.arm(&mut self.queue, index, deadline);
    }

    /// When the next event is due; [`Time::MAX`] when there is none.
    pub fn next_deadline(&self) -> Time {
        match self.pending.front() {
            Some(event) => event.at(),
            None => self.queue.peek().map_or(Time::MAX, crate::queue::Key::time),
        }
    }

    /// The next event due at or before `until`.
    pub fn next(&mut self, until: Time, observer: &mut impl Observer<P>) -> Option<Event<P>> {
        let mut told = Told(None);
        self.step(until, &mut told, observer)?;
        told.0
    }

    /// Tells the hosts of the next event due at or before `until`; returns when it is.
    #[inline]
    pub fn step<O: Observer<P>>(
        &mut self,
        until: Time,
        hosts: &mut impl Hosts<P, O>,
        observer: &mut O,
    ) -> Option<Time> {
        loop {
            if !self.pending.is_empty() {
                return self.tell_pending(hosts, observer);
            }
            let key = self.queue.peek()?;
            let now = key.time();
            if now > until {
                return None;
            }
            let source = key.source();
            if source.0 < self.sources.medium {
                let ring = self.rings.get_mut(source.0 as usize)?;
                let (then, direction) = (ring.then, ring.direction);
                let Some(packet) = ring.take(key.number()) else {
                    // A packet that overtook this one had its own entry.
                    self.queue.pop();
                    continue;
                };
                match ring.head() {
                    Some((at, number)) => self.queue.replace(at, number, source),
                    None => self.queue.pop(),
                }
                match then {
                    Then::Arrives => {
                        hosts.delivered(self, now, direction, packet, observer);
                        return Some(now);
                    }
                    Then::Passes(chain) => self.pass(now, direction, chain, packet, observer),
                    Then::Meets(step) => self.carry(now, direction, step as usize, packet, observer),
                }
                continue;
            }
            self.queue.pop();
            if let Some(index) = self.timed_event(source, now, observer) {
                hosts.alarm(self, now, index, observer);
                return Some(now);
            }
        }
    }

    /// Tells the hosts of what waited for nothing but to be told.
    #[inline(never)]
    fn tell_pending<O>(&mut self, hosts: &mut impl Hosts<P, O>, observer: &mut O) -> Option<Time> {
        let event = self.pending.pop_front()?;
        let at = event.at();
        match event {
            Event::Delivered {
                direction, packet, ..
            } => {
                hosts.delivered(self, at, direction, packet, observer);
            }
            Event::Alarm { index, .. } => hosts.alarm(self, at, index, observer),
            Event::Departed { direction, route, .. } => hosts.departed(self, at, direction, route, observer),
        }
        Some(at)
    }

    /// An entry that is not a ring's came up; the driver's alarm, if it is one.
    fn timed_event(&mut self, source: Source, now: Time, observer: &mut impl Observer<P>) -> Option<usize> {
        if source.0 >= self.sources.alarms {
            let index = (source.0 - self.sources.alarms) as usize;
            return self.driver_alarms.came_up(index, now).then_some(index);
        }
        if source.0 >= self.sources.agents {
            self.agent_event((source.0 - self.sources.agents) as usize, now, observer);
        } else if source.0 == self.sources.radio {
            self.radio_event(now, observer);
        } else {
            self.medium_event(now, observer);
        }
        None
    }

    /// Takes a packet from step to step until it has to wait or has arrived.
    #[inline(never)]
    pub(crate) fn carry(
        &mut self,
        at: Time,
        direction: Direction,
        first: usize,
        packet: P,
        observer: &mut impl Observer<P>,
    ) {
        let mut index = first;
        loop {
            match self.journeys[direction.index()].step(index) {
                Step::Wires(chain) => return self.pass(at, direction, chain, packet, observer),
                Step::Wifi { .. } => return self.enqueue(at, direction, packet, observer),
                Step::Agent {
                    first_instance,
                    at_host,
                } => {
                    if let Some(instance) = instance(&self.routes, packet.route(), first_instance, at_host) {
                        return self.meet_agent(at, instance, direction, packet, observer);
                    }
                }
                Step::Host => {
                    return self.pending.push_back(Event::Delivered {
                        at,
                        direction,
                        packet,
                    });
                }
            }
            index += 1;
        }
    }

    /// Sends a packet over the wires of `chain`.
    #[expect(clippy::inline_always, reason = "a call of its own costs a tenth of the step")]
    #[inline(always)]
    fn pass(
        &mut self,
        mut at: Time,
        direction: Direction,
        chain: Chain,
        packet: P,
        observer: &mut impl Observer<P>,
    ) {
        let info = PacketInfo {
            wire_bytes: packet.wire_bytes(),
            is_data: packet.is_data(),
        };
        let route = packet.route();
        let mut link = 0;
        for wire in &self.wires[chain.first as usize..chain.end as usize] {
            link = wire.link + wire.stride * route;
            match self.links[link as usize].transit(at, info) {
                Ok(arrival) => at = arrival,
                Err(reason) => {
                    observer.dropped(at, wire.element as usize, direction, reason, &packet);
                    return;
                }
            }
        }
        let number = self.queue.number();
        let travelling = Travelling { at, number, packet };
        let ring = &mut self.rings[chain.ring as usize];
        if !ring.has_place_last(at) {
            self.travel_out_of_turn(link, chain.ring, travelling);
        } else if ring.push_last(travelling) {
            self.queue.push(at, number, Source(chain.ring));
        }
    }

    #[inline(never)]
    fn travel_out_of_turn(&mut self, link: u32, shared: u32, travelling: Travelling<P>) {
        if let Err(travelling) = self.rings[shared as usize].slip_in(travelling) {
            let (at, number) = (travelling.at, travelling.number);
            let own = self.own_ring(link, shared);
            if self.rings[own as usize].push(travelling) {
                self.queue.push(at, number, Source(own));
            }
        }
    }

    /// The ring of a link's own. Few links of thousands ever need one.
    fn own_ring(&mut self, link: u32, shared: u32) -> u32 {
        let next = self.rings.len() as u32;
        let Some(own) = self.own_rings[link as usize].or(NonZeroU32::new(next)) else {
            return shared;
        };
        if own.get() == next {
            let (then, direction) = (
                self.rings[shared as usize].then,
                self.rings[shared as usize].direction,
            );
            self.rings.push(Ring::new(then, direction));
            self.own_rings[link as usize] = Some(own);
        }
        own.get()
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
        if let Some(crossing) = self.agents[instance].sides[direction.index()] {
            observer.crossed(now, crossing, direction, &packet);
        }
        let mut outbox = std::mem::take(&mut self.outbox);
        self.agents[instance]
            .agent
            .on_packet(now, direction, packet, &mut outbox);
        self.empty(now, instance, outbox, observer);
    }

    /// Sends on what an agent let go of, and re-arms its timer.
    pub(crate) fn empty(
        &mut self,
        now: Time,
        instance: usize,
        mut outbox: Outbox<P>,
        observer: &mut impl Observer<P>,
    ) {
        let position = self.agents[instance].position;
        for note in outbox.notes.drain(..) {
            observer.noted(now, note);
        }
        for packet in outbox.dropped.drain(..) {
            let element = self.element_near(position);
            observer.dropped(now, element, Direction::Downlink, DropReason::Agent, &packet);
        }
        let mut packets = std::mem::take(&mut outbox.packets);
        self.outbox = outbox;
        for (direction, packet) in packets.drain(..) {
            self.count_ack(&packet, 1);
            if let Some(crossing) = self.agents[instance].sides[direction.reverse().index()] {
                observer.crossed(now, crossing, direction, &packet);
            }
            let next = match direction {
                Direction::Downlink => position + 1,
                Direction::Uplink => self.journeys[0].len() - position,
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
        let downlink = &self.journeys[0];
        let element = |index| match downlink.step(index) {
            Step::Wires(chain) => Some(self.wires[chain.first as usize].element as usize),
            Step::Wifi { element } => Some(element as usize),
            Step::Agent { .. } | Step::Host => None,
        };
        let mut near = (position..downlink.len()).chain((0..position).rev());
        near.find_map(element).unwrap_or(0)
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
