//! A real packet on its route, and how a packet finds its route.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::net::IpAddr;

use lasthop_agent::{FlowKey, Frame, Packet, TcpView};
use lasthop_network::{Logged, Route, Routed};
use lasthop_tcp::Seq;
use lasthop_units::Direction;

/// A frame that knows its route.
#[derive(Clone, Debug)]
pub struct RoutedFrame {
    /// The packet.
    pub frame: Frame,
    /// Index into the network's routes.
    pub route: u32,
}

impl Routed for RoutedFrame {
    fn route(&self) -> u32 {
        self.route
    }
}

impl Logged for RoutedFrame {
    fn window_scale(&self) -> Option<u8> {
        self.frame.segment().and_then(|segment| segment.window_scale)
    }

    fn datagram(&self) -> Option<(u64, u32)> {
        // Headers of IPv4 or IPv6, and of UDP.
        let headers = if self.frame.bytes().first().is_some_and(|first| first >> 4 == 4) {
            28
        } else {
            48
        };
        self.is_data()
            .then(|| (0, self.wire_bytes().saturating_sub(headers)))
    }

    fn captured(&self) -> (Cow<'_, [u8]>, u32) {
        (Cow::Borrowed(self.frame.bytes()), self.wire_bytes())
    }
}

impl Packet for RoutedFrame {
    fn wire_bytes(&self) -> u32 {
        self.frame.wire_bytes()
    }

    fn is_data(&self) -> bool {
        self.frame.is_data()
    }

    fn flow(&self) -> Option<FlowKey> {
        self.frame.flow()
    }

    fn tcp(&self) -> Option<TcpView> {
        self.frame.tcp()
    }

    fn set_ack(&mut self, ack: Seq) {
        self.frame.set_ack(ack);
    }

    fn set_window(&mut self, window: u16) {
        self.frame.set_window(window);
    }
}

/// The first port of the built-in workloads; flow `n` uses this plus `n`.
pub(crate) const FIRST_PORT: u16 = 20_000;
/// The most flows a run can tell apart by port.
pub(crate) const MAX_FLOWS: usize = 10_000;

/// Where one host stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Standing {
    /// Packets from this host travel this way.
    pub(crate) sends: Direction,
    /// Index of its group.
    pub(crate) group: usize,
    /// Its number within the group.
    pub(crate) in_group: u32,
}

/// The routes of a run: one per flow of a workload, then one for the rest of
/// the traffic between each server and each client.
#[derive(Clone, Debug, Default)]
pub(crate) struct Routes {
    /// What the network is built from.
    pub(crate) list: Vec<Route>,
    flows: usize,
    standings: Vec<Standing>,
    by_address: BTreeMap<IpAddr, usize>,
    by_pair: BTreeMap<(usize, usize), u32>,
    /// Server's and client's host index of each route.
    ends: Vec<[usize; 2]>,
}

/// Where a packet goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Way {
    pub(crate) route: u32,
    pub(crate) direction: Direction,
}

impl Routes {
    /// `hosts` are all hosts with their addresses, `flows` the workloads' routes.
    pub(crate) fn new(
        hosts: &[(Standing, Vec<IpAddr>)],
        flows: Vec<Route>,
        station_of: impl Fn(&Standing) -> u32,
    ) -> Self {
        let mut own = Self {
            flows: flows.len(),
            ..Self::default()
        };
        for (index, (standing, addresses)) in hosts.iter().enumerate() {
            own.standings.push(*standing);
            own.by_address
                .extend(addresses.iter().map(|address| (*address, index)));
        }
        let find = |group: usize, in_group: u32| {
            let meant = |(standing, _): &(Standing, Vec<IpAddr>)| {
                standing.group == group && standing.in_group == in_group
            };
            hosts.iter().position(meant).unwrap_or(0)
        };
        for route in flows {
            own.ends.push([
                find(route.server_group, route.server_in_group),
                find(route.client_group, route.client_in_group),
            ]);
            own.list.push(route);
        }
        for (server, (from, _)) in hosts.iter().enumerate() {
            for (client, (to, _)) in hosts.iter().enumerate() {
                if from.sends != Direction::Downlink || to.sends != Direction::Uplink {
                    continue;
                }
                own.by_pair.insert((server, client), own.list.len() as u32);
                own.ends.push([server, client]);
                own.list.push(Route {
                    server_group: from.group,
                    server_in_group: from.in_group,
                    client_group: to.group,
                    client_in_group: to.in_group,
                    station: station_of(to),
                });
            }
        }
        own
    }

    /// Host where packets of this route and direction arrive.
    pub(crate) fn destination(&self, route: u32, direction: Direction) -> usize {
        self.ends
            .get(route as usize)
            .map_or(0, |ends| ends[direction.reverse().index()])
    }

    /// The way of a packet that left host `from`; `None` when no path leads
    /// there (another host of the same side, or an unknown address).
    pub(crate) fn way(&self, from: usize, frame: &Frame) -> Option<Way> {
        let to = *self.by_address.get(&destination_address(frame.bytes())?)?;
        let direction = self.standings.get(from)?.sends;
        let pair = match direction {
            Direction::Downlink => (from, to),
            Direction::Uplink => (to, from),
        };
        let by_port = frame.flow().and_then(|key| {
            let flow = |port: u16| port.checked_sub(FIRST_PORT).map(u32::from);
            [key.destination_port, key.source_port]
                .into_iter()
                .filter_map(flow)
                .find(|&flow| (flow as usize) < self.flows && self.ends[flow as usize] == [pair.0, pair.1])
        });
        let route = match by_port {
            Some(route) => route,
            None => *self.by_pair.get(&pair)?,
        };
        Some(Way { route, direction })
    }
}

fn destination_address(packet: &[u8]) -> Option<IpAddr> {
    match packet.first()? >> 4 {
        4 => <[u8; 4]>::try_from(packet.get(16..20)?).ok().map(IpAddr::from),
        6 => <[u8; 16]>::try_from(packet.get(24..40)?).ok().map(IpAddr::from),
        _ => None,
    }
}
