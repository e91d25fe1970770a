//! Westwood; being written.

use super::{Ack, CongestionConfig, CongestionControl, Loss, Window, reno};

/// Parameters of Westwood.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Westwood;

impl Westwood {
    /// A controller for one connection.
    pub fn build(&self) -> Box<dyn CongestionControl> {
        Box::new(*self)
    }
}

impl CongestionControl for Westwood {
    fn config(&self) -> CongestionConfig {
        CongestionConfig::Westwood(*self)
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if ack.may_grow {
            reno::grow(window, ack.credit_bytes);
        }
    }

    fn ssthresh_after_loss(&mut self, window: &Window, loss: &Loss) -> u64 {
        reno::half(window, loss)
    }
}
