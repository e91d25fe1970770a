//! Taking back a reduction that turns out to have been needless: by the
//! timestamps of the Eifel algorithm (RFC 3522, RFC 4015), by DSACKs
//! (RFC 3708), or by F-RTO (RFC 5682).

use crate::congestion::Window;
use crate::sender::{Context, Sender};

use super::Repair;

/// What to go back to, and what speaks for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Undo {
    window: Window,
    /// Timestamp clock at the first retransmission; 0 while there is none.
    pub(super) first_resent: u32,
    /// Retransmissions not yet reported as duplicates.
    pub(super) resent: u32,
    /// Whether anything was resent at all.
    pub(super) any_resent: bool,
}

impl Undo {
    pub(super) const fn new(window: Window) -> Self {
        Self {
            window,
            first_resent: 0,
            resent: 0,
            any_resent: false,
        }
    }

    /// Recovery begins while `resent` segments that the one before sent again are
    /// still out: they count, and so does the time of its first one (Linux
    /// `tcp_init_undo`, `retrans_stamp`).
    pub(super) fn after(before: Option<Self>, window: Window, resent: u32) -> Self {
        let fresh = Self::new(window);
        match before {
            Some(before) if resent > 0 => Self {
                first_resent: before.first_resent,
                resent,
                any_resent: true,
                ..fresh
            },
            _ => fresh,
        }
    }

    /// A segment was sent again at timestamp `clock`.
    pub(super) fn note_resent(&mut self, clock: u32) {
        if self.first_resent == 0 {
            self.first_resent = clock;
        }
        self.resent += 1;
        self.any_resent = true;
    }

    /// Whether an ACK that echoes `echo` was provoked before anything was resent.
    pub(super) const fn shown_by_echo(&self, echo: u32) -> bool {
        self.first_resent != 0 && echo != 0 && echo.wrapping_sub(self.first_resent).cast_signed() < 0
    }

    /// Whether every retransmission has been reported as a duplicate.
    pub(super) const fn shown_by_duplicates(&self) -> bool {
        self.any_resent && self.resent == 0
    }
}

impl Sender {
    /// Puts cwnd and threshold back and forgets the losses.
    pub(super) fn undo_reduction(&mut self, cx: &mut Context<'_>) {
        let Repair::Board(board) = &mut self.repair else {
            return;
        };
        let Some(undo) = board.take_undo() else { return };
        board.forget_losses();
        let cwnd = self.window.fixed().max(undo.window.fixed());
        self.window.set_fixed(cwnd);
        self.window.set_ssthresh(undo.window.ssthresh());
        self.cc.on_undo(&mut self.window);
        self.rto.reset_backoff(&cx.config.rto);
        cx.stats.spurious_cuts += 1;
    }
}
