//! Congestion control: how large the congestion window is.
//!
//! Loss recovery (which segment to resend, and when) is the sender's; a
//! congestion control only decides how the window grows on ACKs and what it
//! comes down to. Adding one: a file here with its parameters, its source and
//! its tests, and one line in [`congestion_controls`].

mod cubic;
mod hystart;
mod reno;
mod vegas;
mod veno;
mod westwood;
mod window;

pub use cubic::Cubic;
pub use reno::Reno;
pub use vegas::Vegas;
pub use veno::Veno;
pub use westwood::Westwood;
pub use window::Window;

use lasthop_units::{Span, Time};

/// What an ACK of new data tells a congestion control.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// When it arrived.
    pub now: Time,
    /// Payload bytes it newly acknowledges, cumulatively or selectively.
    pub delivered_bytes: u64,
    /// What it is worth to the growth of the window in bytes, by the sender's
    /// ACK counting.
    pub credit_bytes: u64,
    /// Whether the window may grow: not in recovery, and limited by it where
    /// that matters.
    pub may_grow: bool,
    /// A round-trip time measured by this ACK.
    pub rtt: Option<Span>,
    /// Smoothed round-trip time; zero before the first measurement.
    pub srtt: Span,
    /// Smallest round-trip time so far; [`Span::MAX`] before the first measurement.
    pub smallest_rtt: Span,
    /// Bytes in flight before this ACK.
    pub in_flight_bytes: u64,
    /// Stream offset acknowledged, after this ACK.
    pub acked_offset: u64,
    /// Stream offset of the next new byte to send.
    pub next_offset: u64,
}

/// What a congestion control may look at when a loss cuts its window.
#[derive(Clone, Copy, Debug)]
pub struct Loss {
    /// When it was noticed.
    pub now: Time,
    /// Bytes in flight.
    pub in_flight_bytes: u64,
    /// cwnd or the peer's window, whichever is smaller.
    pub window_bytes: u64,
    /// Smoothed round-trip time; zero before the first measurement.
    pub srtt: Span,
    /// Smallest round-trip time so far; [`Span::MAX`] before the first measurement.
    pub smallest_rtt: Span,
}

/// A congestion control. State is integer; `Window` holds cwnd in fixed point.
pub trait CongestionControl: std::fmt::Debug + Send {
    /// Its configuration, which is also its factory.
    fn config(&self) -> CongestionConfig;

    /// An ACK of new data arrived, in recovery too; grow only if `ack.may_grow`.
    fn on_ack(&mut self, window: &mut Window, ack: &Ack);

    /// A duplicate ACK arrived outside recovery.
    fn on_duplicate_ack(&mut self, _window: &mut Window, _now: Time) {}

    /// The slow-start threshold in bytes after the loss now noticed; the sender
    /// then brings cwnd down to it.
    fn ssthresh_after_loss(&mut self, window: &Window, loss: &Loss) -> u64;

    /// The same for a retransmission timeout.
    fn ssthresh_after_timeout(&mut self, window: &Window, loss: &Loss) -> u64 {
        self.ssthresh_after_loss(window, loss)
    }

    /// Recovery begins; cwnd and ssthresh are still those before the loss.
    fn on_enter_recovery(&mut self, _window: &Window, _loss: &Loss) {}

    /// Recovery is over.
    fn on_exit_recovery(&mut self, _window: &mut Window, _now: Time) {}

    /// A retransmission timeout happened; cwnd is one segment.
    fn on_timeout(&mut self, _window: &mut Window, _now: Time) {}

    /// Sending resumes after an idle period.
    fn on_after_idle(&mut self, _window: &mut Window, _now: Time, _idle: Span) {}

    /// The last reduction was needless; the sender has put cwnd and ssthresh back.
    fn on_undo(&mut self, _window: &mut Window) {}
}

macro_rules! congestion_controls {
    ($($(#[$meta:meta])* $variant:ident = $name:literal, $constructor:ident, $summary:literal;)+) => {
        /// A congestion control by choice and parameters; its own factory.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum CongestionConfig { $($(#[$meta])* $variant($variant)),+ }

        impl CongestionConfig {
            $(
                #[doc = concat!("`", $name, "` with its usual parameters.")]
                pub fn $constructor() -> Self { Self::$variant($variant::default()) }
            )+

            /// The congestion control of that name with its usual parameters.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$constructor()),)+ _ => None }
            }

            /// Every name.
            pub fn names() -> impl Iterator<Item = &'static str> {
                [$($name),+].into_iter()
            }

            /// The spelling used in scenarios.
            pub const fn name(&self) -> &'static str {
                match self { $(Self::$variant(_) => $name),+ }
            }

            /// One line for people.
            pub const fn summary(&self) -> &'static str {
                match self { $(Self::$variant(_) => $summary),+ }
            }

            /// A controller for one connection.
            pub fn build(&self) -> Box<dyn CongestionControl> {
                match self { $(Self::$variant(config) => config.build()),+ }
            }
        }
    };
}

congestion_controls! {
    /// RFC 5681.
    Reno = "reno", reno, "Slow start, then one segment per round trip; halves on loss (RFC 5681)";
    /// RFC 9438.
    Cubic = "cubic", cubic, "Cubic growth around the last maximum, with HyStart (RFC 9438)";
    /// Brakmo and Peterson.
    Vegas = "vegas", vegas, "Keeps a few segments queued, by round-trip time (Brakmo and Peterson 1995)";
    /// Mascolo et al.
    Westwood = "westwood", westwood, "Sets the threshold from the measured rate of ACKs (Westwood+)";
    /// Fu and Liew.
    Veno = "veno", veno, "Tells random from congestive loss by the backlog (Fu and Liew 2003)";
}
