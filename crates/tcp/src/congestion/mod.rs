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
    /// The window that is to be cut: cwnd, or where a stack does so the peer's
    /// window if that is smaller.
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

/// A connection's congestion control. Reno's work on an ACK is one addition and
/// is done in place; the others are reached by a pointer.
#[derive(Debug)]
pub(crate) enum Controller {
    Reno(Reno),
    Other(Box<dyn CongestionControl>),
}

impl Controller {
    pub(crate) fn new(config: &CongestionConfig) -> Self {
        match config {
            CongestionConfig::Reno(reno) => Self::Reno(*reno),
            other => Self::Other(other.build()),
        }
    }

    /// [`CongestionControl::on_ack`].
    #[inline]
    pub(crate) fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        match self {
            Self::Reno(reno) => reno.on_ack(window, ack),
            Self::Other(other) => other.on_ack(window, &{ *ack }),
        }
    }
}

impl std::ops::Deref for Controller {
    type Target = dyn CongestionControl;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Reno(reno) => reno,
            Self::Other(other) => other.as_ref(),
        }
    }
}

impl std::ops::DerefMut for Controller {
    fn deref_mut(&mut self) -> &mut Self::Target {
        match self {
            Self::Reno(reno) => reno,
            Self::Other(other) => other.as_mut(),
        }
    }
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

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// An ACK of `credit` bytes at `ms`, with an RTT of 100 ms.
    pub(crate) fn ack_at(ms: u64, credit: u64) -> Ack {
        let rtt = Span::from_ms(100);
        Ack {
            now: Time::ZERO + Span::from_ms(ms + 1),
            delivered_bytes: credit,
            credit_bytes: credit,
            may_grow: true,
            rtt: Some(rtt),
            srtt: rtt,
            smallest_rtt: rtt,
            in_flight_bytes: 0,
            acked_offset: 0,
            next_offset: 0,
        }
    }

    /// A loss noticed with the whole window in use.
    pub(crate) fn loss(window: &Window) -> Loss {
        Loss {
            now: Time::ZERO,
            in_flight_bytes: window.bytes(),
            window_bytes: window.bytes(),
            srtt: Span::from_ms(100),
            smallest_rtt: Span::from_ms(100),
        }
    }

    /// `count` round trips of a full window, every segment acknowledged alone.
    pub(crate) fn rounds(
        control: &mut dyn CongestionControl,
        window: &mut Window,
        count: u32,
        rtt: impl Fn(u32) -> Span,
    ) {
        thread_local!(static CLOCK: std::cell::Cell<(u64, u64, u64)> = const { std::cell::Cell::new((0, 0, u64::MAX)) });
        for round in 0..count {
            let segments = window.segments();
            let span = rtt(round);
            let (mut now, start, smallest) = CLOCK.get();
            let smallest = smallest.min(span.as_ns());
            for segment in 1..=segments {
                now += span.as_ns() / segments;
                control.on_ack(
                    window,
                    &Ack {
                        now: Time::from_ns(now),
                        delivered_bytes: 1000,
                        credit_bytes: 1000,
                        may_grow: true,
                        rtt: Some(span),
                        srtt: span,
                        smallest_rtt: Span::from_ns(smallest),
                        in_flight_bytes: segments * 1000,
                        acked_offset: start + segment * 1000,
                        next_offset: start + (segment + segments) * 1000,
                    },
                );
            }
            CLOCK.set((now, start + segments * 1000, smallest));
        }
    }

    #[test]
    fn every_name_builds_its_controller() {
        for name in CongestionConfig::names() {
            let config = CongestionConfig::from_name(name).expect("a listed name");
            assert_eq!(config.name(), name);
            assert_eq!(config.build().config(), config);
        }
        assert_eq!(CongestionConfig::from_name("bogus"), None);
    }

    #[test]
    fn no_controller_cuts_below_two_segments_or_grows_without_leave() {
        for name in CongestionConfig::names() {
            let mut control = CongestionConfig::from_name(name).expect("a listed name").build();
            let mut window = Window::new(1000, 2);
            assert!(
                control.ssthresh_after_loss(&window, &loss(&window)) >= 2000,
                "{name}"
            );
            control.on_ack(
                &mut window,
                &Ack {
                    may_grow: false,
                    ..ack_at(100, 1000)
                },
            );
            assert_eq!(window.bytes(), 2000, "{name}");
        }
    }
}
