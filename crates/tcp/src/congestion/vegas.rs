//! Vegas (Brakmo and Peterson 1995): keeps between alpha and beta segments of
//! its own in the bottleneck's queue, as round-trip times tell.

use lasthop_units::{Span, Time};

use super::{Ack, CongestionConfig, CongestionControl, Loss, Window, reno};

/// Vegas' parameters, in segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vegas {
    /// Fewer queued than this: grow.
    pub alpha: u32,
    /// More queued than this: shrink.
    pub beta: u32,
    /// More queued than this ends slow start.
    pub gamma: u32,
}

impl Default for Vegas {
    fn default() -> Self {
        // Linux; the paper's 1 and 3 are ns-2's.
        Self {
            alpha: 2,
            beta: 4,
            gamma: 1,
        }
    }
}

impl Vegas {
    /// A controller for one connection.
    pub fn build(&self) -> Box<dyn CongestionControl> {
        Box::new(Controller {
            config: *self,
            round: Round::new(),
        })
    }
}

/// Round-trip times of the current round and the smallest of all.
#[derive(Clone, Copy, Debug)]
pub(super) struct Round {
    end: u64,
    /// Smallest of this round.
    pub(super) smallest: Span,
    /// Smallest ever: the path without queue.
    pub(super) base: Span,
    samples: u32,
}

impl Round {
    pub(super) const fn new() -> Self {
        Self {
            end: 0,
            smallest: Span::MAX,
            base: Span::MAX,
            samples: 0,
        }
    }

    pub(super) fn sample(&mut self, rtt: Option<Span>) {
        if let Some(rtt) = rtt {
            self.base = self.base.min(rtt);
            self.smallest = self.smallest.min(rtt);
            self.samples += 1;
        }
    }

    /// Whether enough was measured to judge (more than a delayed ACK's artefact).
    pub(super) const fn trustworthy(&self) -> bool {
        self.samples > 2
    }

    /// Whether this ACK ends the round.
    pub(super) const fn is_over(&self, ack: &Ack) -> bool {
        ack.acked_offset >= self.end
    }

    pub(super) fn restart(&mut self, ack: &Ack) {
        self.end = ack.next_offset;
        self.smallest = Span::MAX;
        self.samples = 0;
    }

    /// Milli-segments of this flow in the queue: cwnd (rtt - base) / `over`.
    pub(super) fn backlog(&self, segments: u64, over: Span) -> u64 {
        let queueing = self.smallest.saturating_sub(self.base).as_ns() / 1000;
        segments * 1000 * queueing / (over.as_ns() / 1000).max(1)
    }
}

#[derive(Clone, Copy, Debug)]
struct Controller {
    config: Vegas,
    round: Round,
}

impl Controller {
    fn once_per_round(&mut self, window: &mut Window) {
        let smss = u64::from(window.smss());
        let segments = window.segments();
        let backlog = self.round.backlog(segments, self.round.base);
        if window.in_slow_start() {
            if backlog > u64::from(self.config.gamma) * 1000 {
                let base = self.round.base.as_ns() / 1000;
                let target = segments * base / (self.round.smallest.as_ns() / 1000).max(1);
                window.set_bytes((target + 1).min(segments).max(2) * smss);
                let below = window.bytes().saturating_sub(smss).max(2 * smss);
                window.set_ssthresh(window.ssthresh().min(below));
            }
            return;
        }
        if backlog > u64::from(self.config.beta) * 1000 {
            window.set_bytes((segments - 1).max(2) * smss);
            let below = window.bytes().saturating_sub(smss).max(2 * smss);
            window.set_ssthresh(window.ssthresh().min(below));
        } else if backlog < u64::from(self.config.alpha) * 1000 {
            window.grow(smss);
        }
    }
}

impl CongestionControl for Controller {
    fn config(&self) -> CongestionConfig {
        CongestionConfig::Vegas(self.config)
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.round.sample(ack.rtt);
        if !ack.may_grow {
            return;
        }
        if self.round.is_over(ack) {
            let judged = self.round.trustworthy();
            let was_slow_start = window.in_slow_start();
            if judged {
                self.once_per_round(window);
            }
            self.round.restart(ack);
            if judged && !(was_slow_start && window.in_slow_start()) {
                return;
            }
            reno::grow(window, ack.credit_bytes);
        } else if window.in_slow_start() {
            window.slow_start(ack.credit_bytes);
        }
    }

    fn ssthresh_after_loss(&mut self, window: &Window, loss: &Loss) -> u64 {
        reno::half(window, loss)
    }

    fn on_exit_recovery(&mut self, _window: &mut Window, _now: Time) {
        // Round trips measured across a recovery say nothing about the queue.
        self.round = Round {
            base: self.round.base,
            ..Round::new()
        };
    }

    fn on_after_idle(&mut self, _window: &mut Window, _now: Time, _idle: Span) {
        self.round = Round {
            base: self.round.base,
            ..Round::new()
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::tests::rounds;

    #[test]
    fn grows_on_an_empty_queue_and_shrinks_on_a_long_one() {
        let mut control = Vegas::default().build();
        let mut window = Window::new(1000, 20);
        window.set_ssthresh(20_000);
        rounds(&mut *control, &mut window, 10, |_| Span::from_ms(100));
        let grown = window.segments();
        assert!((27..=31).contains(&grown), "{grown}");
        // 50 % more delay is about ten segments of backlog.
        rounds(&mut *control, &mut window, 10, |_| Span::from_ms(150));
        assert!(
            (grown - 11..=grown - 8).contains(&window.segments()),
            "{}",
            window.segments()
        );
    }

    #[test]
    fn holds_between_alpha_and_beta() {
        let mut control = Vegas::default().build();
        let mut window = Window::new(1000, 30);
        window.set_ssthresh(20_000);
        rounds(&mut *control, &mut window, 2, |_| Span::from_ms(100));
        let before = window.segments();
        rounds(&mut *control, &mut window, 10, |_| Span::from_ms(110));
        assert_eq!(window.segments(), before + 1);
    }
}
