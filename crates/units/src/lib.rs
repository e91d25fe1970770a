//! Quantities of the simulation: time in integer nanoseconds, rates in bit/s,
//! sizes in bytes, how people spell them, and seeded random streams.
//!
//! Nothing here reads a clock. Engines hand `now` in; state never holds floats.

mod direction;
mod random;
mod rate;
mod spelling;
mod time;

pub use direction::Direction;
pub use random::Stream;
pub use rate::BitRate;
pub use spelling::{Quantity, SpellingError, parse_bytes, parse_rate, parse_span};
pub use time::{Span, Time};
