//! What an engine runs: one variant of a scenario with every name resolved,
//! every unit converted and every default filled in.

use lasthop_agent::{AgentConfig, PlaceKind};
use lasthop_path::{WifiConfig, WiredConfig};
use lasthop_tcp::Config;
use lasthop_units::{BitRate, Direction, Span};

/// A scenario expanded into its variants; a cell is one variant with one seed.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The scenario's name.
    pub name: String,
    /// One line for people.
    pub title: String,
    /// The variants in the order they are listed.
    pub variants: Vec<Variant>,
    /// The seeds each variant runs with.
    pub seeds: Vec<u64>,
}

/// One named combination of parameter values and the world they describe.
#[derive(Clone, Debug)]
pub struct Variant {
    /// Its name, unique within the plan.
    pub name: String,
    /// Every parameter with its value as spelt, in the scenario's order.
    pub parameters: Vec<(String, String)>,
    /// What to run.
    pub world: World,
}

/// Hosts, the path between them, agents on it, work to do.
#[derive(Clone, Debug)]
pub struct World {
    /// The run ends here at the latest.
    pub duration: Span,
    /// Host groups of both sides.
    pub hosts: Vec<Host>,
    /// The path from the server's side to the client's.
    pub path: Vec<Element>,
    /// Agents in the order they were listed; those at one place are met by a
    /// downlink packet in this order, by an uplink packet in reverse.
    pub agents: Vec<AgentAt>,
    /// What the hosts do.
    pub workloads: Vec<Workload>,
    /// When radios go down and up.
    pub handovers: Vec<Handover>,
    /// What to write down.
    pub record: Record,
}

/// A group of equal hosts.
#[derive(Clone, Debug)]
pub struct Host {
    /// The group's name.
    pub name: String,
    /// Which end of the path it stands at.
    pub side: Side,
    /// How many hosts it has; on a Wi-Fi path each client is a station.
    pub count: u32,
    /// The personality the settings started from.
    pub personality: String,
    /// How its TCP behaves.
    pub tcp: Config,
    /// A congestion control of the Linux kernel for its senders, by its name
    /// there, in place of `tcp.congestion`; only the kernel engine has those.
    pub kernel_congestion_control: Option<String>,
}

/// The two ends of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The wired end.
    Server,
    /// The end behind the last hop.
    Client,
}

/// One element of the path.
#[derive(Clone, Debug)]
pub struct Element {
    /// Its name, unique on the path.
    pub name: String,
    /// Whether flows share it.
    pub scope: Scope,
    /// What it is.
    pub kind: ElementKind,
}

/// Who shares an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All flows pass the same element.
    Shared,
    /// Every flow has one of its own (an access link).
    PerFlow,
}

/// The kinds of path element.
#[derive(Clone, Debug)]
pub enum ElementKind {
    /// A full-duplex wire.
    Wired(WiredConfig),
    /// One 802.11 medium; its access point is on the server's side.
    Wifi(WifiConfig),
    /// A named place for agents (home agent, gateway) that costs nothing.
    Node,
}

/// An agent at its place.
#[derive(Clone, Debug)]
pub struct AgentAt {
    /// Where it stands.
    pub place: Place,
    /// Which agent, with its parameters.
    pub agent: AgentConfig,
    /// Where it runs on the real stack; `None` leaves it to the engine. The
    /// simulator has only one way and does not look.
    pub via: Option<Via>,
}

impl AgentAt {
    /// The kind of place it stands at; `hosts` are its world's.
    pub fn place_kind(&self, hosts: &[Host]) -> PlaceKind {
        match self.place {
            Place::Before(_) => PlaceKind::Path,
            Place::Host(group) => match hosts.get(group).map(|host| host.side) {
                Some(Side::Client) => PlaceKind::Client,
                _ => PlaceKind::Server,
            },
        }
    }
}

/// The two ways an agent can run on the real stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Via {
    /// As a BPF program at its host's interface.
    Ebpf,
    /// On the path, as in the simulator.
    Userspace,
}

impl Via {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Ebpf, Self::Userspace];

    /// The name in scenario files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ebpf => "ebpf",
            Self::Userspace => "userspace",
        }
    }

    /// The way called `name`.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|via| via.name() == name)
    }
}

/// A place on the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// At every host of the group `World::hosts[index]`.
    Host(usize),
    /// On the server's side of `World::path[index]`, shared by all flows:
    /// the access point of a Wi-Fi element, or a node.
    Before(usize),
}

/// Work between two host groups.
#[derive(Clone, Debug)]
pub struct Workload {
    /// Its name, unique.
    pub name: String,
    /// Index of the server-side host group.
    pub server: usize,
    /// Index of the client-side host group.
    pub client: usize,
    /// Which way the bulk of the data goes.
    pub direction: Direction,
    /// Flows for each client of the group.
    pub flows: u32,
    /// When the first flow starts.
    pub start: Span,
    /// How much later each further flow starts.
    pub stagger: Span,
    /// What it does.
    pub kind: WorkloadKind,
}

/// The kinds of work.
#[derive(Clone, Debug)]
pub enum WorkloadKind {
    /// A TCP transfer of `bytes` bytes, or as much as fits when `None`, for at
    /// most `lasts`.
    Bulk {
        /// Bytes to move.
        bytes: Option<u64>,
        /// The sender's application stops after this time.
        lasts: Option<Span>,
        /// Whether the data's sender opens the connection (as ns-2's sources
        /// do); otherwise its receiver does (a download).
        sender_opens: bool,
        /// Bytes the opener sends first when it is the receiver (an HTTP request).
        request_bytes: u64,
        /// Whether the sender closes when done.
        close: bool,
    },
    /// `objects` requests on one connection, each answered by a response.
    Objects {
        /// Bytes of a request.
        request_bytes: u64,
        /// Bytes of each response, in order; repeated as needed.
        response_bytes: Vec<u64>,
        /// How many.
        objects: u32,
        /// Pause between the end of a response and the next request.
        think_time: Span,
    },
    /// Datagrams at a constant rate, or as many as the first element takes.
    Udp {
        /// Payload rate; `None` keeps the sender's queue full.
        rate: Option<BitRate>,
        /// Payload bytes of each datagram.
        payload_bytes: u32,
    },
    /// A program of the user's in one host of each flow; on the real stack only.
    Command {
        /// What its shell runs.
        run: String,
        /// Which end it runs at: the data's sender or its receiver.
        at: End,
        /// Whether a file server listens at port 80 of the other end.
        serve: bool,
    },
}

/// An end of a workload's flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Where the bulk of the data comes from.
    Sender,
    /// Where it goes.
    Receiver,
}

/// A hard layer-2 handover of one or all stations.
#[derive(Clone, Debug)]
pub struct Handover {
    /// Index of the element whose radio goes down.
    pub element: usize,
    /// Client host group whose stations are meant; `None` is all.
    pub host: Option<usize>,
    /// One station of the group, counted from 0; `None` is all of them.
    pub station: Option<u32>,
    /// When the radio goes down.
    pub at: Span,
    /// How long it stays down.
    pub lasts: Span,
    /// What happens to frames queued for the radio meanwhile.
    pub queued: lasthop_path::QueuedFrames,
}

/// What a run writes down besides its totals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// How often the sender's state is sampled.
    pub samples: Sampling,
    /// Whether every packet at both hosts, and every drop, is logged.
    pub packets: bool,
    /// Whether every MAC attempt is logged.
    pub mac: bool,
}

/// How often a sender's state is sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampling {
    /// Never.
    Off,
    /// After every ACK processed.
    EveryAck,
    /// At the first ACK after each interval.
    Every(Span),
}
