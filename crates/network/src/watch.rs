//! Who looks at every packet: the log of packets and the captures. Runs that
//! want neither pay for one comparison: nothing here is inlined into the way
//! of a packet.

use lasthop_path::DropReason;
use lasthop_scenario::spec::{AgentAt, Place, Side, World};
use lasthop_units::{Direction, Time};

use crate::Route;
use crate::captures::Captures;
use crate::observer::Crossing;
use crate::packet_log::{Logged, PacketLog};

/// The log and the captures of a run.
#[derive(Debug)]
pub struct Watch {
    /// The log, if packets are written down.
    pub log: Option<PacketLog>,
    /// The captures, if there are any.
    pub captures: Option<Captures>,
    /// Per route and direction, whether agents stand at the sending host.
    guarded: Vec<[bool; 2]>,
}

impl Watch {
    /// Watches packets on these routes of `world`; `None` when nobody looks.
    pub fn new(
        world: &World,
        routes: &[Route],
        log: Option<PacketLog>,
        captures: Option<Captures>,
    ) -> Option<Self> {
        let guarded = |route: &Route| {
            [route.server_group, route.client_group].map(|group| {
                let stands = |agent: &AgentAt| agent.place == Place::Host(group);
                world.agents.iter().any(stands)
            })
        };
        (log.is_some() || captures.is_some()).then(|| Self {
            log,
            captures,
            guarded: routes.iter().map(guarded).collect(),
        })
    }

    fn guarded(&self, route: u32, sends: Direction) -> bool {
        let guarded = self.guarded.get(route as usize);
        guarded.is_some_and(|ends| ends[sends.index()])
    }

    /// A host's stack sent a packet. With agents at the host, what leaves it is
    /// what they let go of.
    #[cold]
    #[inline(never)]
    pub fn sent<P: Logged>(&mut self, now: Time, direction: Direction, packet: &P) {
        let guarded = self.guarded(packet.route(), direction);
        if let Some(captures) = &mut self.captures {
            captures.sent(now, direction, packet, guarded);
        }
        if let Some(log) = self.log.as_mut().filter(|_| !guarded) {
            log.left_host(now, direction, packet);
        }
    }

    /// A host's stack got a packet.
    #[cold]
    #[inline(never)]
    pub fn received<P: Logged>(&mut self, now: Time, direction: Direction, packet: &P) {
        let guarded = self.guarded(packet.route(), direction.reverse());
        if let Some(captures) = &mut self.captures {
            captures.received(now, direction, packet, guarded);
        }
        if let Some(log) = &mut self.log {
            log.received(now, direction, packet);
        }
    }

    /// A packet went in to agents or came out of them.
    #[cold]
    #[inline(never)]
    pub fn crossed<P: Logged>(&mut self, at: Time, crossing: Crossing, direction: Direction, packet: &P) {
        if let Some(captures) = &mut self.captures {
            captures.crossed(at, crossing, packet);
        }
        let leaves = match direction {
            Direction::Downlink => crossing == Crossing::Interface(Side::Server),
            Direction::Uplink => crossing == Crossing::Interface(Side::Client),
        };
        if let Some(log) = self.log.as_mut().filter(|_| leaves) {
            log.left_host(at, direction, packet);
        }
    }

    /// A packet was dropped at the path element with index `element`.
    #[cold]
    #[inline(never)]
    pub fn dropped<P: Logged>(
        &mut self,
        at: Time,
        element: usize,
        direction: Direction,
        reason: DropReason,
        packet: &P,
    ) {
        if let Some(log) = &mut self.log {
            log.dropped(at, element, direction, reason, packet);
        }
    }
}
