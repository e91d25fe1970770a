//! How losses are repaired.
//!
//! Three families: go-back-N with duplicate ACKs ([`classic`]: Tahoe, Reno,
//! `NewReno`), ns-2's SACK with its counted pipe ([`pipe`]), and a scoreboard of
//! every segment ([`board`]: RFC 6675, RACK-TLP, PRR) as of today's stacks.

mod board;
mod board_ack;
mod classic;
mod pipe;
mod prr;
mod rack;
mod undo;

pub(crate) use board::Board;
pub(crate) use classic::Classic;
pub(crate) use pipe::Pipe;

use crate::sender::Sender;

/// The repair algorithm of a connection with its state.
#[derive(Debug)]
pub(crate) enum Repair {
    Classic(Box<Classic>),
    Pipe(Box<Pipe>),
    Board(Box<Board>),
}

impl Repair {
    /// Whether there is surely nothing to send again.
    pub(crate) fn is_quiet(&self) -> bool {
        match self {
            Self::Classic(_) => true,
            Self::Pipe(pipe) => pipe.is_quiet(),
            Self::Board(board) => board.is_quiet(),
        }
    }
}

/// What a repair algorithm wants sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Send {
    /// Nothing.
    Nothing,
    /// The segment at `start`, which ends at `end` at the latest.
    Again { start: u64, end: u64 },
    /// The next new segment.
    New,
}

impl Send {
    /// New data if a full segment at `nxt` ends within `bound`.
    pub(crate) const fn new_if(nxt: u64, smss: u32, bound: u64) -> Self {
        if nxt + smss as u64 <= bound {
            Self::New
        } else {
            Self::Nothing
        }
    }
}

impl Sender {
    /// Whether the sender is repairing a loss.
    pub(crate) fn in_recovery(&self) -> bool {
        match &self.repair {
            Repair::Classic(classic) => classic.in_recovery(),
            Repair::Pipe(pipe) => pipe.in_recovery(),
            Repair::Board(board) => board.in_recovery(),
        }
    }
}
