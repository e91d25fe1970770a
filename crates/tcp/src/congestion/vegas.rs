//! Vegas; being written.

use super::{Ack, CongestionConfig, CongestionControl, Loss, Window, reno};

/// Parameters of Vegas.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Vegas;

impl Vegas {
    /// A controller for one connection.
    pub fn build(&self) -> Box<dyn CongestionControl> {
        Box::new(*self)
    }
}

impl CongestionControl for Vegas {
    fn config(&self) -> CongestionConfig {
        CongestionConfig::Vegas(*self)
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
