//! lasthop's BPF programs and what loads them.
//!
//! | program | hook | what it does |
//! |---|---|---|
//! | [`Divack`] | an interface's egress | the receiver's half: divides ACKs (Ciminieri 2013) |
//! | [`PerAck`] | `struct_ops` | the sender's half: a congestion control that counts ACKs |
//! | [`Trace`] | BTF tracepoints | the kernel's TCP state at every segment |
//!
//! The objects are compiled ahead (`build-objects.sh`) and embedded; the running
//! kernel's BTF adapts them (CO-RE), so users need neither clang nor headers.
//! Everything is held by file descriptors of this process and nothing is pinned:
//! a process that dies leaves nothing behind. All of it needs root;
//! [`probe`] says what is missing.

mod divack;
mod error;
mod loaded;
mod netns;
mod object;
mod per_ack;
mod probe;
mod trace;

pub use divack::{Counters, Divack, DivackSettings, FlowTally, Hook, MAX_COUNT};
pub use error::Error;
pub use loaded::{LoadedProgram, abandoned};
pub use netns::inode as netns_inode;
pub use object::{ProgramCost, verified_instructions};
pub use per_ack::{Growth, PerAck};
pub use probe::{Feature, probe};
pub use trace::{Filter, Sample, SampleKind, Trace};

/// Handles move between threads: an engine makes them on one and holds them on
/// another.
const _: () = {
    const fn moves<T: Send>() {}
    moves::<Divack>();
    moves::<PerAck>();
    moves::<Trace>();
};
