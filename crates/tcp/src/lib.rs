//! TCP as a state machine: segments and `now` go in, segments and a next
//! deadline come out. No clock, no socket, no thread.

mod clock;
mod close;
pub mod config;
pub mod congestion;
mod endpoint;
mod handshake;
mod names;
mod output;
mod personality;
mod ranges;
mod receiver;
mod recovery;
mod rto;
mod segment;
mod sender;
mod sender_name;
mod seq;
mod state;
mod stats;
mod usual;

pub use config::{
    AckCounting, AckCountingKind, AutoTuning, Config, DelayedAck, DelayedAckKind, IdleRestart,
    InitialSsthresh, IpVersion, LossDetection, ReceiveBuffer, Recovery, Reduction, RightSizing, RtoConfig,
    RttEstimator,
};
pub use congestion::CongestionConfig;
pub use endpoint::Endpoint;
pub use personality::Personality;
pub use segment::{Flags, SackBlocks, Segment, Timestamps};
pub use sender_name::{SENDERS, apply_sender};
pub use seq::Seq;
pub use state::{Role, State};
pub use stats::{Metrics, Stats};
