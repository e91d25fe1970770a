//! How the engine plays a scenario.

use std::path::PathBuf;

use lasthop_units::Span;

use crate::driver::{Punctuality, Settings};

/// Choices that are the engine's, not the scenario's.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Agents that have a BPF form run in it instead of on the path, unless
    /// the scenario says `via`.
    pub ebpf: bool,
    /// Sender samples come from tracepoints where the kernel allows.
    pub trace: bool,
    /// Timing of the path thread.
    pub driver: Settings,
    /// The stack hands over whole bursts.
    pub offload: bool,
    /// Downloads are made by `curl` from a file server, not by the engine's
    /// own programs.
    pub curl: bool,
    /// Where what command workloads print is kept, as `<workload>-<flow>.out`
    /// and `.err`; `None` keeps none of it.
    pub outputs: Option<PathBuf>,
    /// Where captures are written, as `NAME.pcapng`; `None` takes none.
    pub captures: Option<PathBuf>,
    /// A run whose p99 lateness exceeds this is invalid.
    pub lateness_bound: Span,
    /// Invalid runs are repeated until this many were tried.
    pub attempts: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            ebpf: false,
            trace: true,
            driver: Settings::default(),
            offload: true,
            curl: false,
            outputs: None,
            captures: None,
            lateness_bound: Punctuality::BOUND,
            attempts: 3,
        }
    }
}
