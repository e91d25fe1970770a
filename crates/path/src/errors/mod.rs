//! Error models of a link, one file each.
//!
//! A model draws the same number of random values for every packet that
//! reaches the link, also for one its queue then refuses. So two runs that
//! send their n-th packet at different times still see the same fate for it
//! (common random numbers).

mod drop_list;
mod gilbert_elliott;
mod per_bit;
mod per_packet;

use crate::PacketInfo;
use drop_list::DropList;
use gilbert_elliott::GilbertElliott;
use per_bit::PerBit;
use per_packet::PerPacket;

pub(crate) use per_bit::loss_probability;

/// How a link loses packets. A lost packet has used its place in the queue,
/// its time on the wire and the delay.
#[derive(Clone, Debug, PartialEq)]
pub enum ErrorModel {
    /// Each packet independently.
    PerPacket {
        /// Probability that a packet is lost.
        probability: f64,
    },
    /// Each bit independently; a packet with one wrong bit is lost.
    PerBit {
        /// Probability that a bit is wrong.
        rate: f64,
    },
    /// Losses in bursts: a two-state Markov chain that moves once per packet
    /// (Gilbert 1960, Elliott 1963). It starts in the good state.
    GilbertElliott {
        /// Probability to turn bad, per packet in the good state.
        p_good_to_bad: f64,
        /// Probability to turn good, per packet in the bad state.
        p_bad_to_good: f64,
        /// Loss probability in the good state (0 in Gilbert's model).
        loss_good: f64,
        /// Loss probability in the bad state (1 in the simplest model).
        loss_bad: f64,
    },
    /// The listed data packets, each once. Packets are counted from 1 as they
    /// leave the queue; retransmissions count, packets without payload do not.
    DropList {
        /// The packets to lose, in any order.
        packets: Vec<u64>,
    },
}

impl ErrorModel {
    /// The names of the models, in the order they are listed.
    pub const NAMES: &'static [&'static str] = &["per-packet", "per-bit", "gilbert-elliott", "drop-list"];

    /// The spelling used in scenarios.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::PerPacket { .. } => "per-packet",
            Self::PerBit { .. } => "per-bit",
            Self::GilbertElliott { .. } => "gilbert-elliott",
            Self::DropList { .. } => "drop-list",
        }
    }
}

/// A model at work.
#[derive(Clone, Debug)]
pub(crate) enum ErrorState {
    PerPacket(PerPacket),
    PerBit(PerBit),
    GilbertElliott(GilbertElliott),
    DropList(DropList),
}

impl ErrorState {
    /// The model at work on the link `purpose`, as its `index`-th model.
    pub(crate) fn new(model: &ErrorModel, seed: u64, purpose: &str, index: usize) -> Self {
        let purpose = format!("{purpose}/errors/{index}");
        match model {
            ErrorModel::PerPacket { probability } => {
                Self::PerPacket(PerPacket::new(*probability, seed, &purpose))
            }
            ErrorModel::PerBit { rate } => Self::PerBit(PerBit::new(*rate, seed, &purpose)),
            ErrorModel::GilbertElliott {
                p_good_to_bad,
                p_bad_to_good,
                loss_good,
                loss_bad,
            } => Self::GilbertElliott(GilbertElliott::new(
                [*p_good_to_bad, *p_bad_to_good],
                [*loss_good, *loss_bad],
                seed,
                &purpose,
            )),
            ErrorModel::DropList { packets } => Self::DropList(DropList::new(packets)),
        }
    }

    /// Whether the packet is lost. Call once per packet that reaches the link;
    /// `admitted` tells whether the queue took it.
    pub(crate) fn judge(&mut self, packet: PacketInfo, admitted: bool) -> bool {
        match self {
            Self::PerPacket(model) => model.judge(),
            Self::PerBit(model) => model.judge(packet.wire_bytes),
            Self::GilbertElliott(model) => model.judge(),
            Self::DropList(model) => admitted && packet.is_data && model.judge(),
        }
    }
}
