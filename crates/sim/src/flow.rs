//! A flow: two endpoints with the programs on them, or a source of datagrams.

use std::sync::Arc;

use lasthop_network::{PlannedFlow, Route, planned_flows};
use lasthop_scenario::spec::{ElementKind, Workload, WorkloadKind, World};
use lasthop_tcp::{Config, Endpoint, Role};
use lasthop_units::{BitRate, Direction, Stream, Time};

use crate::application::Application;
use crate::datagrams::Datagrams;

/// A TCP flow.
#[derive(Debug)]
pub(crate) struct TcpFlow {
    /// The endpoints, indexed by the direction in which they send.
    pub(crate) ends: [Endpoint; 2],
    pub(crate) application: Application,
}

/// What moves the data.
#[derive(Debug)]
pub(crate) enum Transport {
    Tcp(Box<TcpFlow>),
    Datagrams(Box<Datagrams>),
}

/// One flow of a workload.
///
/// What every packet needs stands first, in one cache line: among thousands of
/// flows the next packet is never that of the last.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Flow {
    pub(crate) transport: Transport,
    /// Which way the bulk of the data goes.
    pub(crate) direction: Direction,
    pub(crate) started: bool,
    pub(crate) end: Option<Time>,
    pub(crate) start: Time,
    pub(crate) workload: usize,
    pub(crate) route: Route,
}

impl Flow {
    /// Whether the run must go on for it.
    pub(crate) fn unfinished(&self) -> bool {
        match &self.transport {
            Transport::Datagrams(_) => true,
            Transport::Tcp(tcp) => !tcp.application.bounded || self.end.is_none(),
        }
    }
}

/// Rate of the first wire a packet of `direction` meets, if that is what it meets first.
fn first_wire_rate(world: &World, direction: Direction) -> Option<BitRate> {
    let carries = |kind: &&ElementKind| !matches!(kind, ElementKind::Node);
    let mut kinds = world.path.iter().map(|element| &element.kind);
    let first = match direction {
        Direction::Downlink => kinds.find(carries),
        Direction::Uplink => kinds.rfind(carries),
    };
    match first? {
        ElementKind::Wired(config) => match direction {
            Direction::Downlink => config.downlink.rate,
            Direction::Uplink => config.uplink.rate,
        },
        _ => None,
    }
}

fn transport(world: &World, configs: &[Arc<Config>], workload: &Workload, isn: &mut Stream) -> Transport {
    let ip = configs[workload.server].ip_version;
    if let WorkloadKind::Udp { rate, payload_bytes } = workload.kind {
        let wire = first_wire_rate(world, workload.direction);
        return Transport::Datagrams(Box::new(Datagrams::new(ip, payload_bytes, rate, wire)));
    }
    let Some(application) = Application::new(&workload.kind) else {
        return Transport::Datagrams(Box::new(Datagrams::new(ip, 0, None, None)));
    };
    let sender = workload.direction;
    let opener = if application.sender_opens {
        sender
    } else {
        sender.reverse()
    };
    let isn = [isn.bits() as u32, isn.bits() as u32];
    let end = |direction: Direction, group: usize| {
        let role = if direction == opener {
            Role::Active
        } else {
            Role::Passive
        };
        Endpoint::new(Arc::clone(&configs[group]), role, isn[direction.index()])
    };
    Transport::Tcp(Box::new(TcpFlow {
        ends: [
            end(Direction::Downlink, workload.server),
            end(Direction::Uplink, workload.client),
        ],
        application,
    }))
}

/// All flows of `world`, with initial sequence numbers drawn in their order.
pub(crate) fn flows(world: &World, seed: u64) -> Vec<Flow> {
    let mut isn = Stream::new(seed, "initial sequence numbers");
    let configs: Vec<_> = world
        .hosts
        .iter()
        .map(|host| Arc::new(host.tcp.clone()))
        .collect();
    let flow = |planned: PlannedFlow| Flow {
        workload: planned.workload,
        route: planned.route,
        direction: planned.direction,
        start: planned.start,
        started: false,
        end: None,
        transport: transport(world, &configs, &world.workloads[planned.workload], &mut isn),
    };
    planned_flows(world).into_iter().map(flow).collect()
}
