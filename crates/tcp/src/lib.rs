//! TCP as a state machine: segments and `now` go in, segments and a next
//! deadline come out. No clock, no socket, no thread.

mod segment;
mod seq;

pub use segment::{Flags, SackBlocks, Segment, Timestamps};
pub use seq::Seq;
