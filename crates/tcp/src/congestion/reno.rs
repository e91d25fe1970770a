//! Reno's window (RFC 5681): exponential, then linear; halved by a loss.

use super::{Ack, CongestionConfig, CongestionControl, Loss, Window};

/// Reno has no parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reno;

impl Reno {
    /// A controller for one connection.
    pub fn build(&self) -> Box<dyn CongestionControl> {
        Box::new(*self)
    }
}

impl CongestionControl for Reno {
    fn config(&self) -> CongestionConfig {
        CongestionConfig::Reno(*self)
    }

    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if ack.may_grow {
            grow(window, ack.credit_bytes);
        }
    }

    fn ssthresh_after_loss(&mut self, window: &Window, loss: &Loss) -> u64 {
        half(window, loss)
    }
}

/// Slow start up to the threshold, avoidance with what is left of the credit.
#[inline]
pub(super) fn grow(window: &mut Window, credit: u64) {
    let left = if window.in_slow_start() {
        window.slow_start(credit)
    } else {
        credit
    };
    window.avoid(left);
}

/// Half the window in use in whole segments, at least two (RFC 5681 equation 4).
pub(super) fn half(window: &Window, loss: &Loss) -> u64 {
    let smss = u64::from(window.smss());
    (window.bytes().min(loss.window_bytes) / (2 * smss)).max(2) * smss
}
