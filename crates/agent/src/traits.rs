//! The agent's side of the contract with whoever drives it.

use lasthop_units::{Direction, Time};

use crate::Packet;

/// What the link below an agent tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkEvent {
    /// The radio lost its association: a hard layer-2 handover begins.
    Down,
    /// The radio is associated again.
    Up,
    /// A handover is foreseen after the given lead (a layer-2 trigger).
    GoingDown,
}

/// Something an agent did, for the `events` record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Note {
    /// What happened, in the mechanism's own term.
    pub kind: &'static str,
    /// A number that goes with it (pieces sent, bytes held); its meaning is the kind's.
    pub value: f64,
}

/// A named count an agent keeps, for results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter {
    /// Its name with its unit, for example `divided_acks`.
    pub name: &'static str,
    /// Its value.
    pub value: u64,
}

/// Where an agent puts the packets it lets go of, in order.
#[derive(Debug)]
pub struct Outbox<P> {
    /// Packets to carry on, each with its direction.
    pub packets: Vec<(Direction, P)>,
    /// Packets the agent removed, for the record.
    pub dropped: Vec<P>,
    /// Things worth recording.
    pub notes: Vec<Note>,
}

impl<P> Default for Outbox<P> {
    fn default() -> Self {
        Self {
            packets: Vec::new(),
            dropped: Vec::new(),
            notes: Vec::new(),
        }
    }
}

impl<P> Outbox<P> {
    /// Lets a packet go in `direction`.
    pub fn send(&mut self, direction: Direction, packet: P) {
        self.packets.push((direction, packet));
    }

    /// Removes a packet from the path.
    pub fn drop(&mut self, packet: P) {
        self.dropped.push(packet);
    }

    /// Records something.
    pub fn note(&mut self, kind: &'static str, value: f64) {
        self.notes.push(Note { kind, value });
    }

    /// Empties the box, keeping its memory.
    pub fn clear(&mut self) {
        self.packets.clear();
        self.dropped.clear();
        self.notes.clear();
    }
}

/// A packet filter at a place. Everything it lets through or creates goes into
/// the outbox; what it does not put there it holds.
pub trait Agent<P: Packet>: Send {
    /// A packet reached the agent's place travelling in `direction`.
    fn on_packet(&mut self, now: Time, direction: Direction, packet: P, out: &mut Outbox<P>);

    /// The deadline last returned by [`Agent::next_deadline`] has come.
    fn on_timer(&mut self, _now: Time, _out: &mut Outbox<P>) {}

    /// The link next to the agent changed.
    fn on_event(&mut self, _now: Time, _event: LinkEvent, _out: &mut Outbox<P>) {}

    /// When the agent next needs [`Agent::on_timer`].
    fn next_deadline(&self) -> Option<Time> {
        None
    }

    /// The counts kept so far.
    fn counters(&self) -> Vec<Counter> {
        Vec::new()
    }
}
