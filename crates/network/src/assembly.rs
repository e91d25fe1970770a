//! From a world to a network.

use std::collections::VecDeque;

use lasthop_agent::Outbox;
use lasthop_path::{Link, Medium, QueuedFrames};
use lasthop_scenario::spec::{ElementKind, Place, Scope, Side, World};
use lasthop_units::{Direction, Time};
use thiserror::Error;

use crate::Crossing;
use crate::hops::{Hop, Journey, Layout, journeys, lay_out};
use crate::network::{AgentSeat, Network, Routed, Sources};
use crate::queue::{Alarms, EventQueue, MAX_SOURCES};
use crate::ring::Ring;

/// The two hosts a route joins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// Index of the server-side host group.
    pub server_group: usize,
    /// Which host of that group.
    pub server_in_group: u32,
    /// Index of the client-side host group.
    pub client_group: usize,
    /// Which host of that group.
    pub client_in_group: u32,
    /// The client's station on a Wi-Fi medium, from 1; see [`Route::station_of`].
    pub station: u32,
}

impl Route {
    /// The station number of a client: clients are counted over all client
    /// groups in the order of `world.hosts`, the access point is 0.
    pub fn station_of(world: &World, group: usize, in_group: u32) -> u32 {
        let before: u32 = world.hosts[..group]
            .iter()
            .filter(|host| host.side == Side::Client)
            .map(|host| host.count)
            .sum();
        1 + before + in_group
    }
}

/// Why a world cannot be assembled.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AssemblyError {
    /// More event sources than the queue tells apart.
    #[error("{needed} links, agents and timers are more than the {allowed} a run can hold")]
    TooLarge {
        /// How many there would be.
        needed: usize,
        /// How many there may be.
        allowed: usize,
    },
}

/// A radio going down or up at a set time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RadioChange {
    pub(crate) at: Time,
    pub(crate) station: u32,
    pub(crate) up: bool,
    pub(crate) queued: QueuedFrames,
}

fn radio_changes(world: &World) -> Vec<RadioChange> {
    let mut changes = Vec::new();
    for handover in &world.handovers {
        for (group, host) in world.hosts.iter().enumerate() {
            if host.side != Side::Client || handover.host.is_some_and(|meant| meant != group) {
                continue;
            }
            for in_group in 0..host.count {
                if handover.station.is_some_and(|meant| meant != in_group) {
                    continue;
                }
                let station = Route::station_of(world, group, in_group);
                let down = Time::ZERO + handover.at;
                let queued = handover.queued;
                changes.push(RadioChange {
                    at: down,
                    station,
                    up: false,
                    queued,
                });
                changes.push(RadioChange {
                    at: down + handover.lasts,
                    station,
                    up: true,
                    queued,
                });
            }
        }
    }
    changes.sort_by_key(|change| change.at);
    changes
}

impl<P: Routed + 'static> Network<P> {
    /// Assembles the path of `world` for `routes`, with `alarms` alarms for the
    /// driver. Random streams are named after elements and directions, so that
    /// they do not depend on what else a variant changes.
    ///
    /// # Errors
    /// When the world is larger than an event queue holds.
    pub fn new(world: &World, routes: Vec<Route>, alarms: usize, seed: u64) -> Result<Self, AssemblyError> {
        let count = routes.len() as u32;
        let layout = lay_out(world, count);
        let sources = Sources {
            medium: layout.rings(),
            radio: layout.rings() + 1,
            agents: layout.rings() + 2,
            alarms: layout.rings() + 2 + layout.agent_instances,
        };
        let needed = sources.alarms as usize + alarms;
        if needed > MAX_SOURCES {
            return Err(AssemblyError::TooLarge {
                needed,
                allowed: MAX_SOURCES,
            });
        }
        let links = build_links(world, &layout, count, seed);
        let (journeys, wires) = journeys(&layout, count, |link| links[link as usize].can_reorder());
        let rings = build_rings(&layout, &journeys);
        let wifi = layout
            .hops
            .iter()
            .position(|hop| matches!(hop, Hop::Wifi { .. }))
            .unwrap_or(0);
        let wifi_element = match layout.hops.get(wifi) {
            Some(Hop::Wifi { element }) => *element,
            _ => 0,
        };
        let agents = seat_agents(world, &layout);
        let mut network = Self {
            after_wifi: [wifi + 1, layout.hops.len() - wifi.min(layout.hops.len())],
            wifi_element,
            journeys,
            wires,
            rings,
            own_rings: vec![None; links.len()],
            links,
            medium: build_medium(world, seed),
            agent_alarms: Alarms::new(sources.agents, agents.len()),
            medium_alarm: Alarms::new(sources.medium, 1),
            driver_alarms: Alarms::new(sources.alarms, alarms),
            agents,
            radio_changes: radio_changes(world),
            next_radio_change: 0,
            acks_created: vec![0; routes.len()],
            routes,
            queue: EventQueue::default(),
            sources,
            pending: VecDeque::new(),
            report_departures: false,
            medium_events: Vec::new(),
            outbox: Outbox::default(),
        };
        network.schedule_radio_change();
        Ok(network)
    }
}

/// The links of each wire, those of its downlink first.
fn build_links(world: &World, layout: &Layout, routes: u32, seed: u64) -> Vec<Link> {
    let mut links = Vec::with_capacity(layout.links as usize);
    for hop in &layout.hops {
        let Hop::Wire { element, stride, .. } = *hop else {
            continue;
        };
        let element = &world.path[element];
        let ElementKind::Wired(config) = &element.kind else {
            continue;
        };
        for direction in Direction::BOTH {
            let link = match direction {
                Direction::Downlink => &config.downlink,
                Direction::Uplink => &config.uplink,
            };
            for instance in 0..instances(stride, routes) {
                let purpose = match element.scope {
                    Scope::Shared => format!("{}/{}", element.name, direction.name()),
                    Scope::PerFlow => format!("{}/{instance}/{}", element.name, direction.name()),
                };
                links.push(Link::new(link, seed, &purpose));
            }
        }
    }
    links
}

/// How many links a wire is in one direction, by the distance between neighbouring routes'.
const fn instances(stride: u32, routes: u32) -> u32 {
    if stride == 0 { 1 } else { routes }
}

/// A ring for each wire and direction, which the instances of the wire share.
fn build_rings<P>(layout: &Layout, journeys: &[Journey; 2]) -> Vec<Ring<P>> {
    let mut rings = Vec::with_capacity(2 * layout.wires as usize);
    for (position, hop) in layout.hops.iter().enumerate() {
        if !matches!(hop, Hop::Wire { .. }) {
            continue;
        }
        for direction in Direction::BOTH {
            let next = match direction {
                Direction::Downlink => position + 1,
                Direction::Uplink => layout.hops.len() - position,
            };
            let then = journeys[direction.index()].then(next as u32);
            rings.push(Ring::new(then, direction));
        }
    }
    rings
}

fn build_medium<P>(world: &World, seed: u64) -> Option<Medium<P>> {
    let clients = world.hosts.iter().filter(|host| host.side == Side::Client);
    let stations: u32 = clients.map(|host| host.count).sum();
    world.path.iter().find_map(|element| match &element.kind {
        ElementKind::Wifi(config) => Some(Medium::new(config, stations, seed, &element.name)),
        _ => None,
    })
}

fn seat_agents<P: Routed + 'static>(world: &World, layout: &Layout) -> Vec<AgentSeat<P>> {
    let mut seats = Vec::new();
    for (position, kind) in layout.hops.iter().enumerate() {
        let Hop::Agent { listed, .. } = kind else { continue };
        let listed = &world.agents[*listed];
        let sides = sides(world, layout, position, listed.place);
        let mut seat = |station| {
            seats.push(AgentSeat {
                agent: listed.agent.build(),
                position,
                station,
                sides,
            });
        };
        match listed.place {
            Place::Before(_) => seat(None),
            Place::Host(group) => {
                for in_group in 0..world.hosts[group].count {
                    let at_client = world.hosts[group].side == Side::Client;
                    seat(at_client.then(|| Route::station_of(world, group, in_group)));
                }
            }
        }
    }
    seats
}

/// What lies on either side of the agent of this position and place.
fn sides(world: &World, layout: &Layout, position: usize, place: Place) -> [Option<Crossing>; 2] {
    let stands = |hop: &Hop| matches!(hop, Hop::Agent { listed, .. } if world.agents[*listed].place == place);
    let first = !layout.hops[..position].iter().any(stands);
    let last = !layout.hops[position + 1..].iter().any(stands);
    let on = |side: Side| match place {
        Place::Before(element) => Some(Crossing::Element { element, side }),
        // The other side is that of the host's stack.
        Place::Host(group) => {
            (world.hosts[group].side != side).then_some(Crossing::Interface(world.hosts[group].side))
        }
    };
    [
        first.then(|| on(Side::Server)).flatten(),
        last.then(|| on(Side::Client)).flatten(),
    ]
}
