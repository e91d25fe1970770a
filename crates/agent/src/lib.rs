//! Agents: packet filters that stand at a place on the path (client, access
//! point, home agent, gateway), see TCP packets in both directions, timers and
//! link events, and may pass, hold, drop, change or create packets.
//!
//! An agent is generic over [`Packet`], so one text runs on simulated segments
//! and on real IPv4 and IPv6 frames. It never reads a clock.

mod bpf_form;
mod config;
mod describe;
mod divacks;
mod flow_table;
mod frame;
mod packet;
mod traits;

pub use bpf_form::NoBpfForm;
pub use config::{AgentConfig, Mechanism};
pub use describe::{Description, Parameter, ParameterKind, PlaceKind, SettingError, Value};
pub use divacks::{BPF_MAX_COUNT as DIVACKS_BPF_MAX_COUNT, Divacks, DivacksConfig, DivacksMode};
pub use flow_table::FlowTable;
pub use frame::{Frame, FrameError};
pub use packet::{FlowKey, Packet, TcpView};
pub use traits::{Agent, Counter, LinkEvent, Note, Outbox};
