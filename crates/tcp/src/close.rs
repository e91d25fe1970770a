//! Closing (RFC 9293 section 3.6).

use lasthop_units::Time;

use crate::endpoint::Endpoint;
use crate::state::State;

impl Endpoint {
    /// Own FIN has just been sent for the first time, or again.
    pub(crate) fn on_fin_sent(&mut self) {
        self.state = match self.state {
            State::Established => State::FinWait1,
            State::CloseWait => State::LastAck,
            other => other,
        };
    }

    /// The peer has acknowledged our FIN.
    pub(crate) fn on_own_fin_acked(&mut self, now: Time) {
        match self.state {
            State::FinWait1 => self.state = State::FinWait2,
            State::Closing => self.enter_time_wait(now),
            State::LastAck => self.shut(),
            _ => {}
        }
    }

    /// The peer's FIN is in order: it will send no more.
    pub(crate) fn on_peer_finished(&mut self, now: Time) {
        match self.state {
            State::Established | State::SynReceived => self.state = State::CloseWait,
            State::FinWait1 => self.state = State::Closing,
            State::FinWait2 => self.enter_time_wait(now),
            _ => {}
        }
    }

    fn enter_time_wait(&mut self, now: Time) {
        self.state = State::TimeWait;
        self.sender.arm_time_wait(now + self.config.time_wait);
    }
}
