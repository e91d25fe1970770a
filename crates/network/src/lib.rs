//! The path of a scenario, assembled: which elements and agents a packet
//! passes, in which order, and when.
//!
//! [`Network`] is generic over the packet and knows no clock: the simulator
//! drives it from event to event, the kernel engine with the wall clock. Both
//! move their packets through the same elements and agents.

mod air;
mod assembly;
mod captures;
mod hops;
mod hosts;
mod network;
mod observer;
mod packet_log;
mod path_log;
mod planned;
mod queue;
mod ring;
mod watch;

pub use assembly::{AssemblyError, Route};
pub use captures::Captures;
pub use hosts::{Event, Hosts};
pub use network::{Network, Routed};
pub use observer::{Crossing, Observer, Silent};
pub use packet_log::{Logged, PacketLog, PacketReader};
pub use path_log::{PathLog, station_rows};
pub use planned::{PlannedFlow, planned_flows};
pub use watch::Watch;
