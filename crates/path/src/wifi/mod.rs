//! 802.11 DCF on one half-duplex medium.

mod config;
mod events;
mod exchange;
mod handover;
mod medium;
mod snr;
mod standard;
mod station;
mod timing;

pub use config::{FrameClass, FrameErrors, Protection, QueuedFrames, RadioConfig, WifiConfig, WifiError};
pub use events::{AttemptOutcome, MacAttempt, MediumEvent, StationAirtime};
pub use medium::Medium;
pub use standard::Standard;
pub use timing::Timing;
