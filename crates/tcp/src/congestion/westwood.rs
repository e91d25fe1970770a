//! Westwood+ (Grieco and Mascolo 2004): after a loss the window is what the
//! measured rate of ACKs fills in the shortest round trip, not half.

use lasthop_units::{Span, Time};

use super::{Ack, CongestionConfig, CongestionControl, Loss, Window, reno};

/// Westwood+'s parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Westwood {
    /// Shortest time over which a bandwidth sample is taken.
    pub least_sample: Span,
}

impl Default for Westwood {
    fn default() -> Self {
        Self {
            least_sample: Span::from_ms(50),
        }
    }
}

impl Westwood {
    /// A controller for one connection.
    pub fn build(&self) -> Box<dyn CongestionControl> {
        Box::new(Controller {
            config: *self,
            delivered: 0,
            since: None,
            filtered: 0,
            bandwidth: 0,
            smallest: Span::MAX,
        })
    }
}

#[derive(Clone, Copy, Debug)]
struct Controller {
    config: Westwood,
    /// Bytes acknowledged in the current sample.
    delivered: u64,
    since: Option<Time>,
    /// Bandwidth in bytes per second after one and two low-pass stages.
    filtered: u64,
    bandwidth: u64,
    smallest: Span,
}

impl Controller {
    fn sample(&mut self, now: Time, srtt: Span) {
        let since = *self.since.get_or_insert(now);
        let passed = now.since(since);
        if srtt == Span::ZERO || passed < srtt.max(self.config.least_sample) {
            return;
        }
        let rate = (u128::from(self.delivered) * 1_000_000_000 / u128::from(passed.as_ns().max(1))) as u64;
        if self.bandwidth == 0 && self.filtered == 0 {
            self.filtered = rate;
            self.bandwidth = rate;
        } else {
            self.filtered = (7 * self.filtered + rate) / 8;
            self.bandwidth = (7 * self.bandwidth + self.filtered) / 8;
        }
        self.delivered = 0;
        self.since = Some(now);
    }

    fn bandwidth_delay_product(&self, window: &Window) -> u64 {
        let smss = u64::from(window.smss());
        if self.smallest == Span::MAX {
            return 2 * smss;
        }
        let bytes = (u128::from(self.bandwidth) * u128::from(self.smallest.as_ns()) / 1_000_000_000) as u64;
        (bytes / smss).max(2) * smss
    }
}

impl CongestionControl for Controller {
    fn config(&self) -> CongestionConfig {
        CongestionConfig::Westwood(self.config)
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.delivered += ack.delivered_bytes;
        self.smallest = self.smallest.min(ack.smallest_rtt);
        self.sample(ack.now, ack.srtt);
        if ack.may_grow {
            reno::grow(window, ack.credit_bytes);
        }
    }

    fn ssthresh_after_loss(&mut self, window: &Window, loss: &Loss) -> u64 {
        self.sample(loss.now, loss.srtt);
        self.bandwidth_delay_product(window)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::tests::{loss, rounds};

    #[test]
    fn the_threshold_after_a_loss_is_the_bandwidth_delay_product() {
        let mut control = Westwood::default().build();
        let mut window = Window::new(1000, 40);
        window.set_ssthresh(1000);
        // 40 segments and more each 100 ms; the path alone takes 50 ms.
        rounds(&mut *control, &mut window, 1, |_| Span::from_ms(50));
        rounds(&mut *control, &mut window, 60, |_| Span::from_ms(100));
        let rate = window.bytes() * 10;
        let ssthresh = control.ssthresh_after_loss(&window, &loss(&window));
        assert!(
            ssthresh < window.bytes() * 3 / 5 && ssthresh > rate / 20 * 4 / 5,
            "{ssthresh} of {rate}"
        );
    }
}
