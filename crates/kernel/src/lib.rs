//! The wall-clock engine: the hosts of a scenario become network namespaces
//! with the real Linux stack and real programs in them, and their packets pass
//! the same path elements and agents as in the simulator, in real time.
//!
//! Everything belongs to the process: namespaces and devices are descriptors,
//! programs live in a process namespace. When the process ends, however it
//! ends, the kernel removes it all. Nothing outside the namespaces is touched.

mod capability;
mod checksum;
pub mod clean;
mod clock;
mod command;
mod connections;
mod control;
mod conversation;
mod delay_line;
mod doctor;
mod driver;
mod engine;
mod error;
mod fetch;
mod flow_totals;
mod handover;
mod host;
mod http;
mod in_kernel;
mod keeper;
mod lateness;
mod namespace;
mod namespace_handle;
mod netlink;
mod offload;
mod options;
mod output;
mod path;
mod recorder;
mod routed;
mod run_dir;
mod sampler;
mod session;
mod shell;
mod spool;
mod stack;
mod status;
mod tcp_info;
mod tun;
mod user_namespace;
mod wakefulness;
mod warden;
mod window_clamp;
mod workload;

pub use capability::capability;
pub use clean::{Cleaned, clean};
pub use clock::Clock;
pub use delay_line::DelayLine;
pub use doctor::{Finding, doctor};
pub use driver::{Commander, Delivery, Driver, Forwarder, Punctuality, Settings, Wire};
pub use engine::{run_cell, run_cell_until};
pub use error::Error;
pub use handover::handover;
pub use host::{Addresses, Host, HostSettings};
pub use http::HttpServer;
pub use in_kernel::{Placement, placements};
pub use keeper::{Keeper, Program};
pub use lateness::{Lateness, LatenessSummary};
pub use namespace::Namespace;
pub use namespace_handle::NamespaceHandle;
pub use netlink::RouteSettings;
pub use options::Options;
pub use run_dir::RunDir;
pub use session::Session;
pub use shell::shell;
pub use stack::{Control, Refusal, Stack};
pub use status::Status;
pub use tcp_info::TcpInfo;
pub use tun::Tun;
pub use user_namespace::ensure_privileges;
