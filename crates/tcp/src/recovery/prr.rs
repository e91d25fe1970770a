//! How cwnd comes down to the threshold in recovery.

use crate::config::Reduction;
use crate::congestion::Window;

/// Progress of a reduction.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Progress {
    /// Bytes in flight when recovery began.
    flight_at_start: u64,
    /// Bytes delivered and sent since.
    delivered: u64,
    sent: u64,
    /// Rate halving: ACKs not yet paid for with a segment.
    acks: u32,
}

impl Progress {
    pub(super) const fn new(flight: u64) -> Self {
        Self {
            flight_at_start: flight,
            delivered: 0,
            sent: 0,
            acks: 0,
        }
    }

    pub(super) fn note_sent(&mut self, bytes: u64) {
        self.sent += bytes;
    }

    /// One ACK in recovery: sets cwnd. `in_flight` is what is out after this
    /// ACK; `safe` says that it advanced and told of no further loss.
    pub(super) fn on_ack(
        &mut self,
        how: Reduction,
        window: &mut Window,
        in_flight: u64,
        delivered: u64,
        safe: bool,
    ) {
        let ssthresh = window.ssthresh();
        let smss = u64::from(window.smss());
        match how {
            Reduction::Ns2 | Reduction::AtOnce => {}
            Reduction::RateHalving => {
                self.acks += 1;
                if self.acks >= 2 {
                    self.acks -= 2;
                    window.set_bytes(
                        window
                            .bytes()
                            .saturating_sub(smss)
                            .max(ssthresh.min(window.bytes())),
                    );
                }
                let most = in_flight + smss;
                if window.bytes() > most {
                    window.set_bytes(most);
                }
            }
            Reduction::Prr => self.proportional(window, in_flight, delivered, safe),
        }
    }

    /// RFC 9937 section 6.2, as Linux `tcp_cwnd_reduction`: the slow-start reduction
    /// bound where an ACK is safe, the conservative one otherwise.
    fn proportional(&mut self, window: &mut Window, in_flight: u64, delivered: u64, safe: bool) {
        if delivered == 0 && self.flight_at_start > 0 {
            return;
        }
        let ssthresh = window.ssthresh();
        let smss = u64::from(window.smss());
        self.delivered += delivered;
        let may_send = if in_flight > ssthresh {
            let due = (u128::from(self.delivered) * u128::from(ssthresh))
                .div_ceil(u128::from(self.flight_at_start.max(1))) as u64;
            due.saturating_sub(self.sent)
        } else {
            let owed = self.delivered.saturating_sub(self.sent).max(delivered);
            let bound = if safe { owed + smss } else { owed };
            bound.min(ssthresh - in_flight)
        };
        // The fast retransmission itself always goes out.
        let may_send = if self.sent == 0 {
            may_send.max(smss)
        } else {
            may_send
        };
        window.set_bytes(in_flight + may_send);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prr_sends_one_segment_for_two_delivered_when_halving() {
        let mut window = Window::new(1000, 20);
        window.set_ssthresh(10_000);
        let mut progress = Progress::new(20_000);
        let mut in_flight = 20_000;
        let mut sent = 0;
        for _ in 0..10 {
            in_flight -= 1000;
            progress.on_ack(Reduction::Prr, &mut window, in_flight, 1000, true);
            while in_flight + 1000 <= window.bytes() {
                in_flight += 1000;
                sent += 1;
                progress.note_sent(1000);
            }
        }
        assert_eq!(sent, 5);
    }

    #[test]
    fn rate_halving_takes_a_segment_for_every_second_ack() {
        let mut window = Window::new(1000, 20);
        window.set_ssthresh(10_000);
        let mut progress = Progress::new(20_000);
        for _ in 0..8 {
            progress.on_ack(Reduction::RateHalving, &mut window, 30_000, 1000, true);
        }
        assert_eq!(window.bytes(), 16_000);
    }
}
