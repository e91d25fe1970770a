//! Veno (Fu and Liew 2003): Vegas' backlog decides whether a loss is congestion
//! (halve) or the radio (give up a fifth), and growth slows down once queued.

use lasthop_units::{Span, Time};

use super::vegas::Round;
use super::{Ack, CongestionConfig, CongestionControl, Loss, Window, reno};

/// Veno's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Veno {
    /// Segments of backlog from which losses count as congestion.
    pub beta: u32,
}

impl Default for Veno {
    fn default() -> Self {
        Self { beta: 3 }
    }
}

impl Veno {
    /// A controller for one connection.
    pub fn build(&self) -> Box<dyn CongestionControl> {
        Box::new(Controller {
            config: *self,
            round: Round::new(),
            backlog: None,
        })
    }
}

#[derive(Clone, Copy, Debug)]
struct Controller {
    config: Veno,
    round: Round,
    /// Milli-segments in the queue in the last round judged.
    backlog: Option<u64>,
}

impl Controller {
    fn queued(&self) -> bool {
        self.backlog
            .is_none_or(|backlog| backlog >= u64::from(self.config.beta) * 1000)
    }
}

impl CongestionControl for Controller {
    fn config(&self) -> CongestionConfig {
        CongestionConfig::Veno(self.config)
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.round.sample(ack.rtt);
        if self.round.is_over(ack) {
            if self.round.trustworthy() {
                // The measured round trip divides here, not the base (equation 2).
                self.backlog = Some(self.round.backlog(window.segments(), self.round.smallest));
            }
            self.round.restart(ack);
        }
        if !ack.may_grow {
            return;
        }
        if window.in_slow_start() {
            window.slow_start(ack.credit_bytes);
        } else if self.backlog.is_some() && self.queued() {
            window.avoid(ack.credit_bytes / 2);
        } else {
            window.avoid(ack.credit_bytes);
        }
    }

    fn ssthresh_after_loss(&mut self, window: &Window, loss: &Loss) -> u64 {
        if self.queued() {
            return reno::half(window, loss);
        }
        let smss = u64::from(window.smss());
        (window.bytes().min(loss.window_bytes) * 4 / (5 * smss)).max(2) * smss
    }

    fn ssthresh_after_timeout(&mut self, window: &Window, loss: &Loss) -> u64 {
        reno::half(window, loss)
    }

    fn on_after_idle(&mut self, _window: &mut Window, _now: Time, _idle: Span) {
        self.round = Round::new();
        self.backlog = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::tests::{loss, rounds};

    #[test]
    fn a_loss_without_queue_costs_a_fifth() {
        let mut control = Veno::default().build();
        let mut window = Window::new(1000, 20);
        window.set_ssthresh(20_000);
        rounds(&mut *control, &mut window, 5, |_| Span::from_ms(100));
        let cwnd = window.segments();
        assert_eq!(
            control.ssthresh_after_loss(&window, &loss(&window)),
            cwnd * 4 / 5 * 1000
        );
    }

    #[test]
    fn a_loss_with_a_queue_costs_half() {
        let mut control = Veno::default().build();
        let mut window = Window::new(1000, 20);
        window.set_ssthresh(20_000);
        rounds(&mut *control, &mut window, 1, |_| Span::from_ms(100));
        rounds(&mut *control, &mut window, 3, |_| Span::from_ms(150));
        let cwnd = window.segments();
        assert_eq!(
            control.ssthresh_after_loss(&window, &loss(&window)),
            cwnd / 2 * 1000
        );
    }
}
