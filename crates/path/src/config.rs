//! What describes a wire.

use lasthop_units::{BitRate, Span};

use crate::ErrorModel;

/// A full-duplex wire: two independent directions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WiredConfig {
    /// From the server's side to the client's.
    pub downlink: LinkConfig,
    /// Back.
    pub uplink: LinkConfig,
}

/// One direction of a wire.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkConfig {
    /// Serialisation rate; `None` takes no time and never queues.
    pub rate: Option<BitRate>,
    /// Propagation delay.
    pub delay: Span,
    /// How the delay varies from packet to packet.
    pub jitter: Jitter,
    /// How much may wait, counting the packet in service.
    pub queue: QueueLimit,
    /// Error models, each judging every packet; one loss verdict is enough.
    pub errors: Vec<ErrorModel>,
}

/// How a link's delay varies. The delay never becomes negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Jitter {
    /// Every packet has the same delay.
    #[default]
    None,
    /// Uniform in delay ± `spread`.
    Uniform {
        /// Half the width of the distribution.
        spread: Span,
        /// Whether a packet may overtake earlier ones; otherwise it is
        /// delivered no earlier than the packet before it.
        reorder: bool,
    },
    /// Normal around the delay.
    Normal {
        /// The standard deviation.
        spread: Span,
        /// As for [`Jitter::Uniform`].
        reorder: bool,
    },
}

impl Jitter {
    /// The names of the kinds, in the order they are listed.
    pub const NAMES: &'static [&'static str] = &["none", "uniform", "normal"];

    /// The name of this kind.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Uniform { .. } => "uniform",
            Self::Normal { .. } => "normal",
        }
    }

    /// The kind of that name; `spread` and `reorder` are ignored by `none`.
    pub fn from_name(name: &str, spread: Span, reorder: bool) -> Option<Self> {
        match name {
            "none" => Some(Self::None),
            "uniform" => Some(Self::Uniform { spread, reorder }),
            "normal" => Some(Self::Normal { spread, reorder }),
            _ => None,
        }
    }
}

/// How much a drop-tail queue holds. The packet in service counts, so
/// `Packets(n)` holds n - 1 waiting packets and the one being sent, which is
/// also what a limit of n means to ns-2's `DropTail`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QueueLimit {
    /// At most this many packets.
    Packets(u32),
    /// At most this many bytes.
    Bytes(u64),
    /// No limit.
    #[default]
    Unlimited,
}

/// What a link must know of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketInfo {
    /// Bytes it takes on the wire, IP header included.
    pub wire_bytes: u32,
    /// Whether it carries payload; drop lists count only these.
    pub is_data: bool,
}
