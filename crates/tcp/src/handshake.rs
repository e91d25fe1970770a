//! Opening: SYN, SYN-ACK and what they negotiate (RFC 9293 section 3.5,
//! RFC 7323, RFC 2018).

use lasthop_units::Time;

use crate::endpoint::Endpoint;
use crate::segment::{Flags, Segment, Timestamps};
use crate::sender::{Context, Sender};
use crate::state::{Role, State};

/// Bytes the timestamp option takes from every segment's payload.
const TIMESTAMP_BYTES: u32 = 12;

impl Sender {
    /// Own SYN is acknowledged: the handshake's round trip counts, data may flow.
    pub(crate) fn syn_acked(&mut self, cx: &mut Context<'_>) {
        self.advance(cx, 1);
        self.retries = 0;
        self.opened(cx.config);
        if cx.config.rto.estimator != crate::config::RttEstimator::Ticks {
            // RFC 6298 5.7: a new connection does not inherit the SYN's back-off.
            self.rto.reset_backoff(&cx.config.rto);
        }
    }
}

impl Endpoint {
    pub(crate) fn on_listen(&mut self, now: Time, segment: &Segment) {
        if !segment.flags.has(Flags::SYN) || segment.flags.has(Flags::ACK) || segment.flags.has(Flags::RST) {
            return;
        }
        self.negotiate(now, segment);
        self.state = State::SynReceived;
        self.syn_due = true;
    }

    pub(crate) fn on_syn_sent(&mut self, now: Time, segment: &Segment) {
        let acks_syn =
            segment.flags.has(Flags::ACK) && segment.ack == self.sender.seq(1) && self.sender.max > 0;
        if segment.flags.has(Flags::RST) {
            if acks_syn {
                self.was_reset = true;
                self.shut();
            }
            return;
        }
        if !segment.flags.has(Flags::SYN) || (segment.flags.has(Flags::ACK) && !acks_syn) {
            return;
        }
        self.negotiate(now, segment);
        if acks_syn {
            self.state = State::Established;
            self.syn_due = false;
            let mut cx = Context {
                config: &self.config,
                stats: &mut self.stats,
                now,
            };
            self.sender.take_window(segment, 1);
            self.sender.syn_acked(&mut cx);
            self.receiver.ack_now();
        } else {
            // Simultaneous open (RFC 9293 figure 7).
            self.state = State::SynReceived;
            self.syn_due = true;
        }
    }

    /// Takes the peer's SYN and settles options.
    fn negotiate(&mut self, now: Time, syn: &Segment) {
        self.timestamps = self.config.timestamps && syn.timestamps.is_some();
        self.sack = self.config.sack && syn.sack_permitted;
        let own = self.config.smss;
        let announced = syn.mss.map_or(536, u32::from);
        let overhead = if self.timestamps { TIMESTAMP_BYTES } else { 0 };
        let smss = own.min(announced.saturating_sub(overhead)).max(1);
        let peer_scale = if self.config.window_scaling {
            syn.window_scale
        } else {
            None
        };
        if peer_scale.is_none() {
            self.receiver.without_scale();
        }
        self.sender
            .negotiated(&self.config, smss, self.sack, peer_scale.unwrap_or(0).min(14));
        self.receiver.open(now, syn, smss);
        self.sender.take_window(syn, 0);
    }

    /// The SYN or SYN-ACK that is due.
    pub(crate) fn syn(&mut self, now: Time) -> Segment {
        self.syn_due = false;
        let answers = self.state == State::SynReceived;
        let mut cx = Context {
            config: &self.config,
            stats: &mut self.stats,
            now,
        };
        self.sender.sent_syn(&mut cx, answers);
        let overhead = if self.config.timestamps {
            TIMESTAMP_BYTES
        } else {
            0
        };
        let window = self.receiver.announce(true);
        let mut segment = Segment {
            seq: self.sender.seq(0),
            flags: Flags::SYN,
            window,
            mss: Some((self.config.smss + overhead).min(65_535) as u16),
            ..Segment::default()
        };
        let offer_scale = self.config.window_scaling && (!answers || self.receiver.scaling_agreed());
        if offer_scale {
            segment.window_scale = Some(self.receiver.own_scale());
        }
        segment.sack_permitted = if answers { self.sack } else { self.config.sack };
        if self.timestamps {
            let echo = if answers { self.receiver.ts_recent() } else { 0 };
            segment.timestamps = Some(Timestamps {
                value: crate::clock::timestamp(now),
                echo,
            });
        }
        if answers {
            segment.flags = Flags::SYN | Flags::ACK;
            segment.ack = self.receiver.ack_number();
            self.receiver.ack_sent(&self.config);
        }
        segment
    }

    /// A SYN, RST or a segment without ACK on a synchronized connection, or
    /// anything in TIME-WAIT.
    #[cold]
    pub(crate) fn on_unusual(&mut self, now: Time, segment: &Segment) {
        if segment.flags.has(Flags::RST) {
            // RFC 5961 section 3: only the exact next number resets.
            if self.receiver.is_next(segment) {
                self.was_reset = true;
                self.shut();
            } else if self.receiver.acceptable(segment) {
                self.receiver.ack_now();
            }
            return;
        }
        if segment.flags.has(Flags::SYN) {
            if self.state == State::SynReceived
                && self.role == Role::Passive
                && !segment.flags.has(Flags::ACK)
            {
                self.syn_due = true;
            } else if self.state == State::SynReceived
                && segment.flags.has(Flags::ACK)
                && segment.ack == self.sender.seq(1)
            {
                // Simultaneous open: the peer's SYN-ACK acknowledges our SYN.
                self.state = State::Established;
                let mut cx = Context {
                    config: &self.config,
                    stats: &mut self.stats,
                    now,
                };
                self.sender.take_window(segment, 1);
                self.sender.syn_acked(&mut cx);
                self.receiver.ack_now();
            } else {
                self.receiver.ack_now();
            }
            return;
        }
        if self.state == State::TimeWait && (segment.flags.has(Flags::FIN) || segment.payload_bytes > 0) {
            self.receiver.ack_now();
            self.sender.arm_time_wait(now + self.config.time_wait);
        }
    }
}
