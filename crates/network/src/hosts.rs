//! What the hosts at the ends of the path are told.

use lasthop_units::{Direction, Time};

use crate::network::{Network, Routed};

/// What happens next.
#[derive(Clone, Debug)]
pub enum Event<P> {
    /// A packet reached the host at the end of its direction.
    Delivered {
        /// When.
        at: Time,
        /// Which way it travelled.
        direction: Direction,
        /// The packet.
        packet: P,
    },
    /// An alarm the driver set has come up.
    Alarm {
        /// When.
        at: Time,
        /// Its index.
        index: usize,
    },
    /// A frame left a Wi-Fi transmitter's queue for good, delivered or dropped.
    Departed {
        /// When.
        at: Time,
        /// Which way it travelled.
        direction: Direction,
        /// Its route.
        route: u32,
    },
}

impl<P> Event<P> {
    /// When it happens.
    pub const fn at(&self) -> Time {
        match self {
            Self::Delivered { at, .. } | Self::Alarm { at, .. } | Self::Departed { at, .. } => *at,
        }
    }
}

/// The hosts at the ends of the path. They are told of one event after the other,
/// and answer by sending packets and setting alarms.
pub trait Hosts<P: Routed, O> {
    /// `packet` reached the host at the end of its direction.
    fn delivered(
        &mut self,
        network: &mut Network<P>,
        at: Time,
        direction: Direction,
        packet: P,
        observer: &mut O,
    );

    /// The alarm with this index has come up.
    fn alarm(&mut self, network: &mut Network<P>, at: Time, index: usize, observer: &mut O);

    /// A frame of `route` left a Wi-Fi transmitter's queue for good.
    fn departed(
        &mut self,
        network: &mut Network<P>,
        at: Time,
        direction: Direction,
        route: u32,
        observer: &mut O,
    );
}

/// Keeps the event for whoever asked for it.
pub(crate) struct Told<P>(pub(crate) Option<Event<P>>);

impl<P: Routed, O> Hosts<P, O> for Told<P> {
    fn delivered(&mut self, _: &mut Network<P>, at: Time, direction: Direction, packet: P, _: &mut O) {
        self.0 = Some(Event::Delivered {
            at,
            direction,
            packet,
        });
    }

    fn alarm(&mut self, _: &mut Network<P>, at: Time, index: usize, _: &mut O) {
        self.0 = Some(Event::Alarm { at, index });
    }

    fn departed(&mut self, _: &mut Network<P>, at: Time, direction: Direction, route: u32, _: &mut O) {
        self.0 = Some(Event::Departed { at, direction, route });
    }
}
