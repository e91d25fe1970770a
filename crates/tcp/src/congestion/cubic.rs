//! CUBIC (RFC 9438): growth as a cubic function of the time since the last loss,
//! in the arithmetic of Linux `tcp_cubic.c`.

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
            acked: 0,
            estimate: 0,
            computed_for: 0,
            computed: Time::ZERO,
            count: 0,
            shortest: Span::MAX,
            hystart: HyStart::new(),
        })
    }
}

/// Windows are in whole segments, as in Linux `tcp_cubic.c`.
#[derive(Clone, Copy, Debug)]
struct Controller {
    config: Cubic,
    /// Start of the current congestion avoidance stage.
    epoch: Option<Time>,
    /// Window before the last reduction (`W_max`), 0 when none is known.
    maximum: u64,
    /// Plateau of the current stage.
    origin: u64,
    /// Time from the epoch to the plateau.
    k: Span,
    /// Bytes credited since `estimate` last grew.
    acked: u64,
    /// What Reno's window would be (`W_est`).
    estimate: u64,
    /// Window and time `count` was computed for.
    computed_for: u64,
    computed: Time,
    /// Segments to be acknowledged for each segment of growth.
    count: u64,
    /// Shortest round trip of data since the connection began or timed out.
    shortest: Span,
    hystart: HyStart,
}

/// How long delays say nothing after a recovery.
const CALM: Span = Span::from_secs(1);
/// A count holds for this long as long as the window stays.
const COUNT_HOLDS: Span = Span::from_ns(1_000_000_000 / 32);
/// Without a known maximum the window grows by a segment for so many at most.
const MOST_WITHOUT_MAXIMUM: u64 = 20;

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
        self.acked = 0;
        self.estimate = cwnd;
        if cwnd < self.maximum {
            // K = cbrt((W_max - cwnd) / C) seconds, here in milliseconds.
            let gap = u128::from(self.maximum - cwnd) * 1_000_000_000 * 1000
                / u128::from(self.config.c_permille.max(1));
            self.k = Span::from_ms(cube_root(gap.min(u128::from(u64::MAX >> 1)) as u64));
            self.origin = self.maximum;
        } else {
            self.k = Span::ZERO;
            self.origin = cwnd;
        }
    }

    /// `W_cubic(t)` in whole segments.
    fn cubic(&self, t: Span) -> u64 {
        let (ahead, distance) = if t >= self.k {
            (true, t.saturating_sub(self.k))
        } else {
            (false, self.k.saturating_sub(t))
        };
        // 2^18 ms are four minutes; nothing grows on for that long.
        let ms = (distance.as_ns() / 1_000_000).min(1 << 18);
        let cube = u128::from(ms * ms * ms) * u128::from(self.config.c_permille);
        let change = (cube / 1_000_000_000_000) as u64;
        if ahead {
            self.origin + change
        } else {
            self.origin.saturating_sub(change)
        }
    }

    /// Segments to be acknowledged for a segment of growth (Linux `bictcp_update`).
    fn update(&mut self, cwnd: u64, ack: &Ack, smss: u64) {
        self.acked += ack.credit_bytes;
        let holds = cwnd == self.computed_for && ack.now.since(self.computed) <= COUNT_HOLDS;
        if holds && self.count > 0 {
            return;
        }
        self.computed_for = cwnd;
        self.computed = ack.now;
        let epoch = if let Some(epoch) = self.epoch {
            epoch
        } else {
            self.begin(ack.now, cwnd);
            self.acked = ack.credit_bytes;
            ack.now
        };
        // The window a round trip from now, by the shortest one: a queue does not hasten it.
        let ahead = if self.shortest == Span::MAX {
            Span::ZERO
        } else {
            self.shortest
        };
        let target = self.cubic(ack.now.since(epoch) + ahead);
        self.count = if target > cwnd {
            cwnd / (target - cwnd)
        } else {
            100 * cwnd
        };
        if self.maximum == 0 {
            self.count = self.count.min(MOST_WITHOUT_MAXIMUM);
        }
        if self.config.reno_friendly {
            self.count = self.count.min(self.friendly(cwnd, smss));
        }
        self.count = self.count.max(2);
    }

    /// Follows Reno's window, which grows by alpha = 3 (1 - beta) / (1 + beta)
    /// segments a round trip (RFC 9438 section 4.3; alpha stays so beyond the last
    /// maximum, unlike there). Returns the count that would catch up with it in one.
    fn friendly(&mut self, cwnd: u64, smss: u64) -> u64 {
        let beta = u64::from(self.config.beta_permille.min(999));
        // 1 / alpha in eighths, rounded down.
        let eighths = 8 * (1000 + beta) / 3 / (1000 - beta);
        let round = (((cwnd * eighths) >> 3) * smss).max(1);
        while self.acked > round {
            self.acked -= round;
            self.estimate += 1;
        }
        match self.estimate.checked_sub(cwnd) {
            Some(behind) if behind > 0 => cwnd / behind,
            _ => u64::MAX,
        }
    }

    fn avoid(&mut self, window: &mut Window, ack: &Ack) {
        let cwnd = window.segments().max(1);
        self.update(cwnd, ack, u64::from(window.smss()));
        // What was acknowledged while the count was high counts when it comes down.
        window.count(ack.credit_bytes, self.count * u64::from(window.smss()));
    }
}

impl CongestionControl for Controller {
    fn config(&self) -> CongestionConfig {
        CongestionConfig::Cubic(self.config)
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        // Delays are watched in recovery too (Linux `cubictcp_acked`), except in the
        // first second after one.
        if let Some(rtt) = ack.rtt
            && self.epoch.is_none_or(|epoch| ack.now.since(epoch) >= CALM)
        {
            self.shortest = self.shortest.min(rtt);
            if self.config.hystart
                && window.in_slow_start()
                && self.hystart.should_leave(window, ack, self.shortest)
            {
                window.set_ssthresh(window.bytes());
            }
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
        let cwnd = window.segments();
        self.epoch = None;
        self.count = 0;
        let beta = u64::from(self.config.beta_permille);
        self.maximum = if self.config.fast_convergence && cwnd < self.maximum {
            cwnd * (1000 + beta) / 2000
        } else {
            cwnd
        };
        (cwnd * beta / 1000).max(2) * u64::from(window.smss())
    }

    fn on_timeout(&mut self, _window: &mut Window, _now: Time) {
        // Nothing of what was learnt about the path is trusted after a timeout
        // (Linux `cubictcp_state`).
        self.epoch = None;
        self.maximum = 0;
        self.count = 0;
        self.shortest = Span::MAX;
        self.hystart = HyStart::new();
    }

    fn on_after_idle(&mut self, _window: &mut Window, _now: Time, idle: Span) {
        // Time without data does not count (RFC 9438 section 5.8).
        if let Some(epoch) = &mut self.epoch {
            *epoch += idle;
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
    fn a_timeout_forgets_the_maximum() {
        let mut control = Cubic::default().build();
        let mut window = Window::new(1000, 100);
        let ssthresh = control.ssthresh_after_timeout(&window, &loss(&window));
        control.on_timeout(&mut window, Time::ZERO);
        window.set_ssthresh(ssthresh);
        window.set_bytes(ssthresh);
        for _ in 0..70 {
            control.on_ack(&mut window, &ack_at(100, 1000));
        }
        // With a maximum of 100 ahead the growth of one round trip would be far more.
        assert_eq!(window.segments(), 73);
    }

    #[test]
    fn where_round_trips_are_short_it_keeps_up_with_reno() {
        // 40 round trips of 5 ms from 28 segments: alpha = 0.53 gives 21 more, of which
        // it may lag a few behind; the cubic would be at 31.
        let mut control = Cubic::default().build();
        let mut window = Window::new(1000, 40);
        let ssthresh = control.ssthresh_after_loss(&window, &loss(&window));
        window.set_ssthresh(ssthresh);
        window.set_bytes(ssthresh);
        for round in 0..40 {
            for _ in 0..window.segments() {
                control.on_ack(&mut window, &ack_at(5 * round, 1000));
            }
        }
        assert!((43..=49).contains(&window.segments()), "{}", window.segments());
    }
}
