//! Round-trip time estimation and the retransmission timeout (RFC 6298).

use lasthop_units::{Span, Time};

use crate::config::{RtoConfig, RttEstimator};

/// Estimator state. `srtt` and `var` are scaled by 8 and 4; their unit is the
/// clock tick for [`RttEstimator::Ticks`] and the nanosecond otherwise.
#[derive(Clone, Debug)]
pub(crate) struct Rto {
    srtt: i64,
    var: i64,
    /// Linux: the variance term that enters the timeout, and its maximum of this round trip.
    rttvar: i64,
    var_max: i64,
    round_end: u64,
    /// Before back-off, floor and ceiling (except where the estimator applies the floor).
    base: Span,
    backoff: u32,
    /// The timeout that follows from all this.
    current: Span,
    measured: bool,
    smallest: Span,
    /// Eight times the average in nanoseconds, beside what the timeout uses.
    smooth: u64,
}

impl Rto {
    pub(crate) fn new(config: &RtoConfig) -> Self {
        let mut rto = Self {
            srtt: 0,
            var: 0,
            rttvar: 0,
            var_max: 0,
            round_end: 0,
            base: config.initial,
            backoff: 1,
            current: config.initial,
            measured: false,
            smallest: Span::MAX,
            smooth: 0,
        };
        rto.update(config);
        rto
    }

    /// Recomputes the timeout after a change of what it depends on.
    fn update(&mut self, config: &RtoConfig) {
        let base = if self.base < config.min {
            config.min
        } else {
            self.base
        };
        let timeout = base.saturating_mul(u64::from(self.backoff));
        let timeout = if timeout > config.max { config.max } else { timeout };
        let least = config.tick * 2;
        self.current = if timeout < least { least } else { timeout };
    }

    /// Smoothed round-trip time; `None` before the first measurement.
    pub(crate) fn srtt(&self, config: &RtoConfig) -> Option<Span> {
        self.measured.then(|| {
            let scaled = Span::from_ns(self.srtt.max(0) as u64);
            if config.estimator == RttEstimator::Ticks {
                config.tick * (scaled.as_ns() >> 3)
            } else {
                scaled / 8
            }
        })
    }

    /// Smoothed round-trip time, zero before the first measurement, exact to the
    /// nanosecond whatever the estimator's clock.
    pub(crate) const fn srtt_estimate(&self) -> Span {
        Span::from_ns(self.smooth >> 3)
    }

    /// Smallest round-trip time measured; [`Span::MAX`] before the first.
    pub(crate) const fn smallest(&self) -> Span {
        self.smallest
    }

    /// The timeout, back-off included.
    pub(crate) const fn timeout(&self) -> Span {
        self.current
    }

    /// When a timer started `now` goes off.
    pub(crate) fn expiry(&self, config: &RtoConfig, now: Time) -> Time {
        let due = now + self.current;
        let beat = config.heartbeat.as_ns();
        if beat == 0 {
            due
        } else {
            Time::from_ns(due.as_ns().div_ceil(beat).saturating_mul(beat))
        }
    }

    /// Doubles the timeout (RFC 6298 5.5).
    pub(crate) fn back_off(&mut self, config: &RtoConfig) {
        if self.backoff < config.max_backoff && self.current < config.max {
            self.backoff = self.backoff.saturating_mul(2);
        }
        if config.estimator == RttEstimator::Ticks && self.backoff > 8 {
            // Jacobson: after this much back-off the old average is worth nothing.
            self.var += self.srtt >> 3;
            self.srtt = 0;
        }
        self.update(config);
    }

    pub(crate) fn reset_backoff(&mut self, config: &RtoConfig) {
        if self.backoff != 1 {
            self.backoff = 1;
            self.update(config);
        }
    }

    /// A first measurement is missing and the handshake's SYN was sent again
    /// (RFC 6298 5.7): data starts with a timeout of 3 s.
    pub(crate) fn after_lost_syn(&mut self, config: &RtoConfig) {
        if !self.measured {
            self.base = Span::from_secs(3);
            self.update(config);
        }
    }

    /// Takes a measurement of a segment sent at `sent`, acknowledged `now`.
    /// `una` and `next` are the sender's offsets, which delimit round trips.
    pub(crate) fn measure(&mut self, config: &RtoConfig, sent: Time, now: Time, una: u64, next: u64) {
        let rtt = now.since(sent);
        if rtt < self.smallest {
            self.smallest = rtt;
        }
        self.smooth = if self.measured {
            self.smooth - (self.smooth >> 3) + rtt.as_ns()
        } else {
            rtt.as_ns() << 3
        };
        match config.estimator {
            RttEstimator::Rfc6298 => self.rfc6298(config, rtt),
            RttEstimator::Linux => self.linux(config, rtt, una, next),
            RttEstimator::Ticks => self.ticks(config, sent, now),
        }
        self.measured = true;
        self.update(config);
    }

    fn rfc6298(&mut self, config: &RtoConfig, rtt: Span) {
        let rtt = rtt.round_up_to(config.tick).as_ns().cast_signed();
        if self.measured {
            let error = rtt - (self.srtt >> 3);
            self.srtt += error;
            self.var += error.abs() - (self.var >> 2);
        } else {
            self.srtt = rtt << 3;
            self.var = rtt << 1;
        }
        let spread = self.var.max(config.tick.as_ns().cast_signed());
        self.base = Span::from_ns(((self.srtt >> 3) + spread).max(1) as u64);
    }

    /// Linux `tcp_rtt_estimator`: the variance may fall only once a round trip,
    /// and drops hardly weigh in (`m >>= 3`), so that falling round-trip times
    /// do not raise the timeout.
    fn linux(&mut self, config: &RtoConfig, rtt: Span, una: u64, next: u64) {
        let floor = config.min.as_ns().cast_signed();
        let rtt = rtt.as_ns().max(1).cast_signed();
        if self.measured {
            let mut error = rtt - (self.srtt >> 3);
            self.srtt += error;
            if error < 0 {
                error = -error - (self.var >> 2);
                if error > 0 {
                    error >>= 3;
                }
            } else {
                error -= self.var >> 2;
            }
            self.var += error;
            if self.var > self.var_max {
                self.var_max = self.var;
                self.rttvar = self.rttvar.max(self.var_max);
            }
            if una > self.round_end {
                if self.var_max < self.rttvar {
                    self.rttvar -= (self.rttvar - self.var_max) >> 2;
                }
                self.round_end = next;
                self.var_max = floor;
            }
        } else {
            self.srtt = rtt << 3;
            self.var = rtt << 1;
            self.rttvar = self.var.max(floor);
            self.var_max = self.rttvar;
            self.round_end = next;
        }
        self.base = Span::from_ns(((self.srtt >> 3) + self.rttvar) as u64);
    }

    /// ns-2's `rtt_update`: whole ticks of a clock whose ticks do not start with
    /// the segment.
    fn ticks(&mut self, config: &RtoConfig, sent: Time, now: Time) {
        let tick = config.tick.as_ns().max(1);
        let phase = (sent.as_ns() + config.tick_phase.as_ns()) % tick;
        let rtt = ((now.since(sent).as_ns() + phase) / tick).max(1).cast_signed();
        if self.srtt == 0 {
            self.srtt = rtt << 3;
            self.var = rtt << 1;
        } else {
            let error = rtt - (self.srtt >> 3);
            self.srtt = (self.srtt + error).max(1);
            self.var = (self.var + error.abs() - (self.var >> 2)).max(1);
        }
        let ticks = ((self.var << 3) + self.srtt) >> 3;
        self.base = config.tick * ticks as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Personality;

    fn config(name: &str) -> RtoConfig {
        Personality::by_name(name)
            .expect("a known personality")
            .config
            .rto
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_ms(ms)
    }

    #[test]
    fn the_first_measurement_gives_three_times_the_rtt() {
        let config = config("freebsd-14");
        let mut rto = Rto::new(&config);
        assert_eq!(rto.timeout(), Span::from_secs(1));
        rto.measure(&config, at(0), at(100), 0, 0);
        assert_eq!(rto.timeout(), Span::from_ms(300));
        assert_eq!(rto.srtt(&config), Some(Span::from_ms(100)));
    }

    #[test]
    fn linux_adds_at_least_200_ms_to_the_rtt() {
        let config = config("linux-6");
        let mut rto = Rto::new(&config);
        for round in 0..40 {
            rto.measure(&config, at(0), at(100), round * 10, round * 10 + 5);
        }
        assert_eq!(rto.timeout(), Span::from_ms(300));
    }

    #[test]
    fn back_off_doubles_up_to_the_ceiling() {
        let config = config("linux-6");
        let mut rto = Rto::new(&config);
        for expected in [1, 2, 4, 8, 16, 32, 64, 120, 120] {
            assert_eq!(rto.timeout(), Span::from_secs(expected));
            rto.back_off(&config);
        }
        rto.reset_backoff(&config);
        assert_eq!(rto.timeout(), Span::from_secs(1));
    }

    #[test]
    fn a_heartbeat_only_delays() {
        let mut config = config("freebsd-14");
        config.heartbeat = Span::from_ms(500);
        let rto = Rto::new(&config);
        assert_eq!(rto.expiry(&config, at(10)), at(1500));
    }
}
