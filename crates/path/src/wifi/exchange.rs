//! The next exchange on the medium: who sends, what comes of it, how long
//! everyone has to wait afterwards.

use lasthop_units::{Span, Time};

use super::snr::FrameLoss;
use super::station::{Frame, Station};
use super::{AttemptOutcome, Protection, Timing};

/// The exchange that comes next, or is going on.
#[derive(Clone, Debug)]
pub(super) struct Exchange {
    /// When the first sender begins; [`Time::MAX`] when nobody has anything to send.
    pub(super) start: Time,
    /// One slot later: who begins before has not noticed the first (aSlotTime
    /// is the time it takes to notice and to turn around, 9.3.7).
    pub(super) noticed: Time,
    /// When the last bit is on the air: the medium acts on the outcome then.
    pub(super) end: Time,
    /// Until when carrier sense, physical or virtual, holds everyone back.
    pub(super) reserved: Time,
    /// From when everyone without a special rule counts down again.
    pub(super) access_from: Time,
    /// Who sends.
    pub(super) sendings: Vec<Sending>,
    /// A receiver that could not understand the frame waits longer.
    pub(super) confused: Option<(u32, Time)>,
}

/// One sender's part in an exchange.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sending {
    pub(super) from: u32,
    pub(super) to: u32,
    /// Place of the frame in the sender's queue.
    pub(super) index: usize,
    pub(super) begin: Time,
    pub(super) airtime: Span,
    pub(super) outcome: AttemptOutcome,
    /// Whether a failure counts against the long retry limit.
    pub(super) long: bool,
    /// From when the sender counts down again.
    pub(super) resume: Time,
    /// The frame was taken out of the queue meanwhile.
    pub(super) gone: bool,
}

/// What of the configuration exchanges depend on.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    pub(super) timing: Timing,
    pub(super) protection: Protection,
    pub(super) rts_threshold: u32,
    /// Loss probabilities of frames sent by the access point and by stations.
    pub(super) loss: [FrameLoss; 2],
}

impl Exchange {
    pub(super) fn none() -> Self {
        Self {
            start: Time::MAX,
            noticed: Time::MAX,
            end: Time::MAX,
            reserved: Time::ZERO,
            access_from: Time::ZERO,
            sendings: Vec::new(),
            confused: None,
        }
    }

    /// Forgets the exchange, keeping memory.
    pub(super) fn clear(&mut self) {
        self.start = Time::MAX;
        self.noticed = Time::MAX;
        self.end = Time::MAX;
        self.sendings.clear();
        self.confused = None;
    }

    /// Whether others notice at `now` that the exchange has begun.
    pub(super) fn under_way(&self, now: Time) -> bool {
        now >= self.noticed
    }
}

impl Rules {
    fn uses_rts<P>(&self, frame: &Frame<P>) -> bool {
        self.protection == Protection::RtsCts && frame.bytes > self.rts_threshold
    }

    /// Time from the first bit of the exchange to the first bit of the data frame.
    fn prefix<P>(&self, frame: &Frame<P>) -> Span {
        let timing = &self.timing;
        if self.uses_rts(frame) {
            timing.rts + timing.sifs + timing.cts + timing.sifs
        } else if self.protection == Protection::CtsToSelf {
            timing.cts + timing.sifs
        } else {
            Span::ZERO
        }
    }

    /// Fills in what comes of `exchange`, whose senders are known.
    pub(super) fn resolve<P>(&mut self, exchange: &mut Exchange, stations: &[Station<P>]) {
        if exchange.sendings.len() == 1 {
            self.alone(exchange, stations);
        } else {
            self.collision(exchange, stations);
        }
    }

    /// Several senders: nobody understands anything. Whoever only listened
    /// waits EIFS. A sender waits for its answer in vain, then DIFS.
    fn collision<P>(&self, exchange: &mut Exchange, stations: &[Station<P>]) {
        let timing = &self.timing;
        let mut end = Time::ZERO;
        for sending in &mut exchange.sendings {
            let frame = &stations[sending.from as usize].queue[sending.index];
            let timeout = if self.uses_rts(frame) {
                sending.airtime = timing.rts;
                timing.cts_timeout
            } else {
                sending.airtime = self.prefix(frame) + frame.air;
                timing.ack_timeout
            };
            sending.outcome = AttemptOutcome::Collision;
            let last_bit = sending.begin + sending.airtime;
            sending.resume = last_bit + timeout;
            end = end.max(last_bit);
        }
        for sending in &mut exchange.sendings {
            sending.resume = sending.resume.max(end) + timing.difs;
        }
        exchange.end = end;
        exchange.reserved = end;
        exchange.access_from = end + timing.eifs;
    }

    /// One sender: its luck decides, one draw for all frames of the exchange.
    fn alone<P>(&mut self, exchange: &mut Exchange, stations: &[Station<P>]) {
        let sending = exchange.sendings[0];
        let sender = &stations[sending.from as usize];
        let frame = &sender.queue[sending.index];
        let prefix = self.prefix(frame);
        let uses_rts = self.uses_rts(frame);
        let deaf = !matches!(stations[sending.to as usize].power, super::station::Power::On);
        let sent = usize::from(sending.from != 0);
        let answered = usize::from(sending.to != 0);
        let (rts, cts) = if uses_rts {
            (self.loss[sent].rts, self.loss[answered].cts)
        } else {
            (0.0, 0.0)
        };
        let (data, ack) = (self.loss[sent].data(frame.bytes), self.loss[answered].ack);
        let timing = &self.timing;
        let full = prefix + frame.air + timing.sifs + timing.ack;
        let nav_end = sending.begin + full;

        // Each stage is reached with the probability left by those before.
        let mut left = sender.luck;
        let mut spoilt = |probability: f64| {
            let hit = left < probability;
            left = (left - probability) / (1.0 - probability);
            hit
        };
        let failure = if deaf {
            AttemptOutcome::LinkDown
        } else {
            AttemptOutcome::Error
        };
        let mut fate = Fate {
            airtime: full,
            outcome: AttemptOutcome::Success,
            long: uses_rts,
            wait: timing.difs,
            reserved: nav_end,
        };
        let mut confused = false;
        if uses_rts && (deaf || spoilt(rts)) {
            // No CTS follows, so bystanders may reset their NAV (9.3.2.4).
            let nav_reset = timing.sifs * 2 + timing.cts + timing.slot * 2;
            fate = fate.cut(timing.rts, failure, timing.cts_timeout + timing.difs);
            fate.reserved = sending.begin + timing.rts + nav_reset;
            fate.long = false;
            confused = !deaf;
        } else if uses_rts && spoilt(cts) {
            fate = fate.cut(timing.rts + timing.sifs + timing.cts, failure, timing.eifs);
            fate.long = false;
        } else if deaf || spoilt(data) {
            fate = fate.cut(prefix + frame.air, failure, timing.ack_timeout + timing.difs);
            confused = !deaf;
        } else if spoilt(ack) {
            fate = fate.cut(full, AttemptOutcome::AckError, timing.eifs);
        }
        let end = sending.begin + fate.airtime;
        exchange.end = end;
        exchange.reserved = fate.reserved;
        exchange.access_from = fate.reserved + timing.difs;
        exchange.confused = confused.then(|| (sending.to, end + timing.eifs));
        exchange.sendings[0] = Sending {
            airtime: fate.airtime,
            outcome: fate.outcome,
            long: fate.long,
            resume: end + fate.wait,
            ..sending
        };
    }
}

/// How an exchange with one sender goes.
#[derive(Clone, Copy)]
struct Fate {
    airtime: Span,
    outcome: AttemptOutcome,
    long: bool,
    /// From the last bit until the sender counts down again.
    wait: Span,
    reserved: Time,
}

impl Fate {
    fn cut(self, airtime: Span, outcome: AttemptOutcome, wait: Span) -> Self {
        Self {
            airtime,
            outcome,
            wait,
            ..self
        }
    }
}
