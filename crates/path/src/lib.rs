//! Path elements: what a packet meets between two hosts.
//!
//! [`Link`] is one direction of a wire: rate, delay, jitter, a drop-tail queue
//! and error models. [`Medium`] is one half-duplex 802.11 channel under the
//! distributed coordination function (DCF), shared by an access point and its
//! stations, with hard layer-2 handovers.
//!
//! Everything here is sans-IO: `now` comes in, delivery times and a next
//! deadline come out. Randomness comes from named streams of a seed, so a
//! change elsewhere in a scenario never shifts the losses drawn here.

mod config;
mod drop_reason;
mod errors;
mod link;
mod names;
mod queue;
mod wifi;

pub use config::{Jitter, LinkConfig, PacketInfo, QueueLimit, WiredConfig};
pub use drop_reason::DropReason;
pub use errors::ErrorModel;
pub use link::Link;
pub use wifi::{
    AttemptOutcome, FrameClass, FrameErrors, MacAttempt, Medium, MediumEvent, Protection, QueuedFrames,
    RadioConfig, Standard, StationAirtime, Timing, WifiConfig, WifiError,
};
