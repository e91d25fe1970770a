//! What the network tells whoever records a run.

use lasthop_agent::Note;
use lasthop_path::{DropReason, MacAttempt};
use lasthop_scenario::spec::Side;
use lasthop_units::{Direction, Time};

/// Where packets go in to the agents at a place and come out of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crossing {
    /// Between a host of this side and the path: the host's interface.
    Interface(Side),
    /// Beside the agents before an element.
    Element {
        /// Index of the element.
        element: usize,
        /// Which side of the agents.
        side: Side,
    },
}

/// Hears of everything that does not show in deliveries. Times may lie ahead of
/// the current event, because a chain of wires is evaluated in one go; sort by
/// time before showing them.
pub trait Observer<P> {
    /// `packet` was dropped at the path element with index `element`.
    fn dropped(&mut self, at: Time, element: usize, direction: Direction, reason: DropReason, packet: &P);

    /// An attempt at the medium ended.
    fn attempt(&mut self, _at: Time, _attempt: &MacAttempt) {}

    /// An agent noted something.
    fn noted(&mut self, _at: Time, _note: Note) {}

    /// A packet went in to the agents at a place or came out of them: what a
    /// sniffer there sees.
    fn crossed(&mut self, _at: Time, _crossing: Crossing, _direction: Direction, _packet: &P) {}

    /// A radio went down or came up.
    fn radio(&mut self, _at: Time, _station: u32, _up: bool) {}
}

/// Records nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl<P> Observer<P> for Silent {
    fn dropped(&mut self, _: Time, _: usize, _: Direction, _: DropReason, _: &P) {}
}
