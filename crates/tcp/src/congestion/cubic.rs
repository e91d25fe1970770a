//! CUBIC (RFC 9438): growth as a cubic function of the time since the last loss.

use lasthop_units::{Span, Time};

use super::hystart::HyStart;
use super::{Ack, CongestionConfig, CongestionControl, Loss, Window};

/// CUBIC's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cubic {
    /// Multiplicative decrease in thousandths (RFC 9438 section 4.6: 0.7).
    pub beta_permille: u32,
    /// C in thousandths of a segment per cubic second (RFC 9438 section 5: 0.4).
    pub c_permille: u32,
    /// Give up bandwidth after two losses in a row below the same maximum (section 4.7).
    pub fast_convergence: bool,
    /// Never grow slower than Reno would (section 4.3).
    pub reno_friendly: bool,
    /// Leave slow start by `HyStart`.
    pub hystart: bool,
}

impl Default for Cubic {
    fn default() -> Self {
        Self {
            beta_permille: 700,
            c_permille: 400,
            fast_convergence: true,
            reno_friendly: true,
            hystart: true,
        }
    }
}

impl Cubic {
    /// A controller for one connection.
    pub fn build(&self) -> Box<dyn CongestionControl> {
        Box::new(Controller {
            config: *self,
            epoch: None,
            maximum: 0,
            origin: 0,
            k: Span::ZERO,
            estimate: 0,
            target: 0,
            computed: Time::ZERO,
            before: None,
            hystart: HyStart::new(),
        })
    }
}

/// Windows are in segments, fixed point with 16 fraction bits.
#[derive(Clone, Copy, Debug)]
struct Controller {
    config: Cubic,
    /// Start of the current congestion avoidance stage.
    epoch: Option<Time>,
    /// Window before the last reduction (`W_max`), 0 when none.
    maximum: u64,
    /// Plateau of the current stage.
    origin: u64,
    /// Time from the epoch to the plateau.
    k: Span,
    /// What Reno's window would be (`W_est`).
    estimate: u64,
    target: u64,
    computed: Time,
    /// `maximum` and `epoch` before the last reduction, for undo.
    before: Option<(u64, Option<Time>)>,
    hystart: HyStart,
}

/// How long delays say nothing after a recovery.
const CALM: Span = Span::from_secs(1);

const FRACTION_BITS: u32 = Window::FRACTION_BITS;

fn in_segments(window: &Window) -> u64 {
    window.fixed() / u64::from(window.smss())
}

/// The whole cube root.
fn cube_root(value: u64) -> u64 {
    let mut low = 0_u64;
    let mut high = 2_642_245; // cbrt(2^64)
    while low < high {
        let middle = (low + high).div_ceil(2);
        if middle * middle * middle <= value {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    low
}

impl Controller {
    fn begin(&mut self, now: Time, cwnd: u64) {
        self.epoch = Some(now);
        self.estimate = cwnd;
        if cwnd < self.maximum {
            // K = cbrt((W_max - cwnd) / C) seconds, here in milliseconds.
            let gap = (u128::from(self.maximum - cwnd) * 1_000_000_000 * 1000
                / u128::from(self.config.c_permille.max(1)))
                >> FRACTION_BITS;
            self.k = Span::from_ms(cube_root(gap.min(u128::from(u64::MAX >> 1)) as u64));
            self.origin = self.maximum;
        } else {
            self.k = Span::ZERO;
            self.origin = cwnd;
        }
        self.computed = Time::ZERO;
    }

    /// `W_cubic(t)` in segments, fixed point.
    fn cubic(&self, t: Span) -> u64 {
        let (ahead, distance) = if t >= self.k {
            (true, t.saturating_sub(self.k))
        } else {
            (false, self.k.saturating_sub(t))
        };
        // 2^18 ms are four minutes; nothing grows on for that long.
        let ms = (distance.as_ns() / 1_000_000).min(1 << 18);
        let cube = (ms * ms * ms) >> 10;
        let c = (u64::from(self.config.c_permille) << FRACTION_BITS) / 1000;
        let change = cube * c.min(1 << 18) / (1_000_000_000 >> 10);
        if ahead {
            self.origin + change
        } else {
            self.origin.saturating_sub(change)
        }
    }

    fn avoid(&mut self, window: &mut Window, ack: &Ack) {
        let cwnd = in_segments(window);
        let epoch = if let Some(epoch) = self.epoch {
            epoch
        } else {
            self.begin(ack.now, cwnd);
            ack.now
        };
        if ack.now.since(self.computed) >= Span::from_ms(1) {
            let t = ack.now.since(epoch);
            self.target = self.cubic(t + ack.srtt).clamp(cwnd, cwnd + cwnd / 2);
            self.computed = ack.now;
        }
        let credit = ack.credit_bytes;
        // No loss has shown yet what the path holds: at least 5 % more each round trip
        // (Linux `bictcp_update`). Below twenty segments Reno's one segment is more.
        let least = if self.maximum == 0 && cwnd >= 20 << FRACTION_BITS {
            cwnd / 20
        } else {
            0
        };
        let smss = u64::from(window.smss());
        if self.config.reno_friendly {
            // alpha = 3 (1 - beta) / (1 + beta), and 1 once past the last maximum.
            let beta = u64::from(self.config.beta_permille);
            let alpha = if self.estimate >= self.maximum {
                1000
            } else {
                3000 * (1000 - beta) / (1000 + beta)
            };
            let whole = (credit << FRACTION_BITS) / smss;
            self.estimate += whole * alpha / 1000 * (1 << FRACTION_BITS) / cwnd.max(1);
            let now_cubic = self.target.min(cwnd + cwnd / 2);
            if self.estimate > cwnd && self.estimate > now_cubic && least == 0 {
                window.set_fixed(self.estimate * smss);
                return;
            }
        }
        let distance = self.target.saturating_sub(cwnd).max(least);
        // (target - cwnd) / cwnd for each segment acknowledged.
        window.grow_fixed(distance * credit / (cwnd >> FRACTION_BITS).max(1));
    }
}

impl CongestionControl for Controller {
    fn config(&self) -> CongestionConfig {
        CongestionConfig::Cubic(self.config)
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        // Delays are watched in recovery too (Linux `cubictcp_acked`), except in the
        // first second after one.
        let watches = self.config.hystart && window.in_slow_start() && ack.rtt.is_some();
        if watches
            && self.epoch.is_none_or(|epoch| ack.now.since(epoch) >= CALM)
            && self.hystart.should_leave(window, ack)
        {
            window.set_ssthresh(window.bytes());
        }
        if !ack.may_grow {
            return;
        }
        if window.in_slow_start() {
            let left = window.slow_start(ack.credit_bytes);
            if left > 0 {
                self.avoid(
                    window,
                    &Ack {
                        credit_bytes: left,
                        ..*ack
                    },
                );
            }
            return;
        }
        self.avoid(window, ack);
    }

    fn ssthresh_after_loss(&mut self, window: &Window, _loss: &Loss) -> u64 {
        let cwnd = in_segments(window);
        self.before = Some((self.maximum, self.epoch));
        self.epoch = None;
        self.maximum = if self.config.fast_convergence && cwnd < self.maximum {
            cwnd * u64::from(1000 + self.config.beta_permille) / 2000
        } else {
            cwnd
        };
        let smss = u64::from(window.smss());
        let reduced = window.bytes() * u64::from(self.config.beta_permille) / 1000;
        (reduced / smss).max(2) * smss
    }

    fn on_timeout(&mut self, _window: &mut Window, _now: Time) {
        self.epoch = None;
        self.hystart = HyStart::new();
    }

    fn on_after_idle(&mut self, _window: &mut Window, _now: Time, idle: Span) {
        // Time without data does not count (RFC 9438 section 5.8).
        if let Some(epoch) = &mut self.epoch {
            *epoch += idle;
        }
    }

    fn on_undo(&mut self, _window: &mut Window) {
        if let Some((maximum, epoch)) = self.before.take() {
            self.maximum = maximum;
            self.epoch = epoch;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::tests::{ack_at, loss};

    #[test]
    fn cube_roots() {
        for value in [0, 1, 7, 8, 26, 27, 1_000_000, u64::MAX] {
            let root = cube_root(value);
            assert!(u128::from(root).pow(3) <= u128::from(value));
            assert!(u128::from(root + 1).pow(3) > u128::from(value));
        }
    }

    #[test]
    fn the_old_maximum_is_reached_after_k() {
        // 100 segments, beta 0.7: K = cbrt(30 / 0.4) = 4.217 s (RFC 9438 equation 2).
        let config = Cubic {
            reno_friendly: false,
            ..Cubic::default()
        };
        let mut control = config.build();
        let mut window = Window::new(1000, 100);
        let ssthresh = control.ssthresh_after_loss(&window, &loss(&window));
        assert_eq!(ssthresh, 70_000);
        window.set_ssthresh(ssthresh);
        window.set_bytes(ssthresh);
        let mut ms = 0;
        while ms < 4_217 {
            for _ in 0..window.segments() {
                control.on_ack(&mut window, &ack_at(ms, 1000));
            }
            ms += 100;
        }
        assert!((98_500..=101_500).contains(&window.bytes()), "{}", window.bytes());
    }

    #[test]
    fn without_a_known_maximum_it_grows_by_a_twentieth_each_round_trip() {
        let mut control = Cubic::default().build();
        let mut window = Window::new(1000, 100);
        window.set_ssthresh(100_000);
        for _ in 0..100 {
            control.on_ack(&mut window, &ack_at(100, 1000));
        }
        assert!(
            (104_900..=105_100).contains(&window.bytes()),
            "{}",
            window.bytes()
        );
    }

    #[test]
    fn an_undo_restores_the_maximum() {
        let mut control = Cubic::default().build();
        let window = Window::new(1000, 100);
        let first = control.ssthresh_after_loss(&window, &loss(&window));
        control.on_undo(&mut Window::new(1000, 100));
        assert_eq!(control.ssthresh_after_loss(&window, &loss(&window)), first);
    }
}
