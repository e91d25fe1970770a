//! The medium: who sends next, and what comes of it.
//!
//! Work is done per exchange, not per slot. Each radio that counts down is
//! ready at (end of its DIFS or EIFS) + counter × slot; the earliest of these
//! instants starts the next exchange, radios ready within the same slot
//! collide, and for all others the slots that passed are subtracted at once
//! when the exchange ends (freezing, IEEE 802.11-2012, 9.3.4.3).

use lasthop_units::{Span, Time};

use super::exchange::{Exchange, Rules, Sending};
use super::snr::FrameLoss;
use super::station::{Frame, Power, Station};
use super::{
    AttemptOutcome, FrameClass, MacAttempt, MediumEvent, QueuedFrames, StationAirtime, Timing, WifiConfig,
};
use crate::DropReason;

/// One 802.11 channel; station 0 is the access point, 1..=N are stations.
///
/// ```
/// use lasthop_path::{FrameClass, Medium, MediumEvent, Standard, WifiConfig};
/// use lasthop_units::Time;
///
/// let mut medium = Medium::new(&WifiConfig::new(Standard::G), 1, 1, "wlan");
/// medium.enqueue(Time::ZERO, 0, 1, FrameClass::Data, 1500, "hello").map_err(|(reason, _)| reason)?;
/// // The frame takes 254 us, SIFS 10 us, the MAC ACK 34 us.
/// assert_eq!(medium.next_deadline(), Time::from_ns(298_000));
/// let mut events = Vec::new();
/// medium.on_timer(medium.next_deadline(), &mut events);
/// assert_eq!(events, [MediumEvent::Delivered { from: 0, to: 1, packet: "hello" }]);
/// # Ok::<(), lasthop_path::DropReason>(())
/// ```
#[derive(Clone, Debug)]
pub struct Medium<P> {
    pub(super) rules: Rules,
    window: (u32, u32),
    pub(super) stations: Vec<Station<P>>,
    /// Radios with something to send or a counter above zero, ascending by the
    /// time they joined.
    active: Vec<u32>,
    /// How many radios are off: while none is, every first frame may be sent.
    pub(super) radios_off: u32,
    pub(super) exchange: Exchange,
    /// Counts exchanges, and so the idle periods between them.
    pub(super) idle_period: u64,
    /// Until when carrier sense held everyone back last time.
    reserved: Time,
    /// From when everyone without a special rule counts down.
    pub(super) access_from: Time,
    deadline: Time,
    airtime: Vec<StationAirtime>,
    busy: Span,
    log: bool,
}

impl<P> Medium<P> {
    /// An idle medium with `stations` stations besides the access point, all
    /// radios on. `purpose` names its random streams, for example `"wlan"`; it
    /// must be unique within the run. See [`WifiConfig::check`] for what the
    /// configuration must fulfil.
    pub fn new(config: &WifiConfig, stations: u32, seed: u64, purpose: &str) -> Self {
        let timing = Timing::new(config);
        let window = config.contention_window();
        let radios = [config.access_point, config.stations];
        let radio = |number: u32| radios[usize::from(number != 0)];
        Self {
            rules: Rules {
                protection: config.protection,
                rts_threshold: config.rts_threshold,
                loss: radios.map(|radio| FrameLoss::new(radio.errors, &timing)),
                timing,
            },
            window,
            stations: (0..=stations)
                .map(|number| Station::new(radio(number), window.0, seed, purpose, number))
                .collect(),
            active: Vec::new(),
            radios_off: 0,
            exchange: Exchange::none(),
            idle_period: 0,
            reserved: Time::ZERO,
            access_from: Time::ZERO,
            deadline: Time::MAX,
            airtime: vec![StationAirtime::default(); stations as usize + 1],
            busy: Span::ZERO,
            log: false,
        }
    }

    /// Whether every transmission is reported as a [`MediumEvent::Attempt`]; off at first.
    pub fn log_attempts(&mut self, on: bool) {
        self.log = on;
    }

    /// Gives one radio retry limits of its own (dot11ShortRetryLimit and
    /// dot11LongRetryLimit, at least 1); it must exist.
    pub fn set_retry_limits(&mut self, station: u32, short: u32, long: u32) {
        if let Some(station) = self.stations.get_mut(station as usize) {
            station.radio.short_retry_limit = short.max(1);
            station.radio.long_retry_limit = long.max(1);
        }
    }

    /// Queues a packet of `wire_bytes` IP bytes at `from` for `to`; 0 is the
    /// access point. `now` must not decrease from call to call and not lie
    /// beyond [`Medium::next_deadline`].
    ///
    /// # Errors
    /// The packet comes back with [`DropReason::QueueFull`], or with
    /// [`DropReason::LinkDown`] when one of the radios is off and drops, or
    /// does not exist.
    pub fn enqueue(
        &mut self,
        now: Time,
        from: u32,
        to: u32,
        class: FrameClass,
        wire_bytes: u32,
        packet: P,
    ) -> Result<(), (DropReason, P)> {
        let count = self.stations.len() as u32;
        if from >= count || to >= count || from == to || self.drops(from) || self.drops(to) {
            return Err((DropReason::LinkDown, packet));
        }
        let sendable = self.may_send(from, to);
        let waiting = sendable && self.head(from).is_some();
        let station = &mut self.stations[from as usize];
        if station.queue.len() >= station.radio.queue_packets as usize {
            self.airtime[from as usize].queue_drops += 1;
            return Err((DropReason::QueueFull, packet));
        }
        let frame = Frame::new(now, to, class, wire_bytes, packet, &self.rules.timing);
        station.queue.push_back(frame);
        if sendable && !waiting {
            self.wake(now, from);
        }
        Ok(())
    }

    /// When [`Medium::on_timer`] is next due; [`Time::MAX`] when nothing can be sent.
    #[inline]
    pub fn next_deadline(&self) -> Time {
        self.deadline
    }

    /// Appends what happened up to `now` to `out`. Packets are handed over
    /// when their exchange ends, which is one SIFS and MAC ACK after their
    /// last bit.
    pub fn on_timer(&mut self, now: Time, out: &mut Vec<MediumEvent<P>>) {
        while self.deadline <= now {
            self.finish(out);
        }
    }

    /// Frames queued at a radio, counting the one being sent; 0 for one that
    /// does not exist.
    pub fn queue_len(&self, station: u32) -> usize {
        self.stations
            .get(station as usize)
            .map_or(0, |station| station.queue.len())
    }

    /// What each radio did with the medium so far, the access point first.
    pub fn airtime(&self) -> &[StationAirtime] {
        &self.airtime
    }

    /// How long the medium was busy until the last exchange ended, gaps of one
    /// SIFS within exchanges included. What is not busy is idle.
    pub fn busy(&self) -> Span {
        self.busy
    }

    /// The durations of frames and gaps.
    pub fn timing(&self) -> &Timing {
        &self.rules.timing
    }

    fn drops(&self, station: u32) -> bool {
        self.stations[station as usize].power == Power::Off(QueuedFrames::Drop)
    }

    /// Whether frames from `from` to `to` may be sent.
    fn may_send(&self, from: u32, to: u32) -> bool {
        self.radios_off == 0
            || (self.stations[from as usize].sendable(true) && self.stations[to as usize].sendable(false))
    }

    /// Place in the queue of the frame a radio sends next. While a radio is
    /// off, frames for it are passed over.
    pub(super) fn head(&self, from: u32) -> Option<usize> {
        let queue = &self.stations[from as usize].queue;
        if self.radios_off == 0 {
            return (!queue.is_empty()).then_some(0);
        }
        queue.iter().position(|frame| self.may_send(from, frame.to))
    }

    /// A radio that had nothing to send has a frame now (9.3.4.2): it sends at
    /// once if the medium has been idle for DIFS and its last backoff is over;
    /// if the medium is busy it backs off.
    pub(super) fn wake(&mut self, now: Time, number: u32) {
        let (idle_period, slot) = (self.idle_period, self.rules.timing.slot);
        let station = &mut self.stations[number as usize];
        station.not_before = now;
        let resume = station.resume(idle_period, self.access_from);
        if !station.active {
            station.active = true;
            self.active.push(number);
        }
        if self.exchange.under_way(now) {
            station.counter -= slots(resume, self.exchange.start, slot).min(station.counter);
            if station.counter == 0 {
                station.draw_backoff();
            }
            // Nothing counts down before the exchange ends.
            station.set_resume(idle_period, Time::MAX);
            return;
        }
        if station.counter == 0 && idle_period > 0 && now <= self.reserved {
            station.draw_backoff();
        }
        let ready = now.max(resume + slot * u64::from(station.counter));
        if ready < self.exchange.noticed {
            self.plan();
        }
    }

    /// Finds the next exchange from the counters as they stand.
    pub(super) fn plan(&mut self) {
        let slot = self.rules.timing.slot;
        let ready = |station: &Station<P>| {
            let resume = station.resume(self.idle_period, self.access_from);
            station.not_before.max(resume + slot * u64::from(station.counter))
        };
        let mut exchange = std::mem::replace(&mut self.exchange, Exchange::none());
        exchange.clear();
        for &number in &self.active {
            let begin = ready(&self.stations[number as usize]);
            if begin < exchange.noticed
                && let Some(index) = self.head(number)
            {
                if begin < exchange.start {
                    exchange.start = begin;
                    exchange.noticed = begin + slot;
                    exchange.sendings.retain(|other| other.begin < begin + slot);
                }
                let to = self.stations[number as usize].queue[index].to;
                exchange.sendings.push(Sending {
                    from: number,
                    to,
                    index,
                    begin,
                    airtime: Span::ZERO,
                    outcome: AttemptOutcome::Success,
                    long: false,
                    resume: Time::ZERO,
                    gone: false,
                });
            }
        }
        if !exchange.sendings.is_empty() {
            self.rules.resolve(&mut exchange, &self.stations);
        }
        self.deadline = exchange.end;
        self.exchange = exchange;
    }

    /// The exchange has ended: freezes counters, deals with each sender's
    /// frame, and plans the next exchange.
    fn finish(&mut self, out: &mut Vec<MediumEvent<P>>) {
        let end = self.exchange.end;
        self.freeze();
        self.busy += end.since(self.exchange.start);
        self.idle_period += 1;
        self.reserved = self.exchange.reserved;
        self.access_from = self.exchange.access_from;
        if let Some((receiver, resume)) = self.exchange.confused {
            self.stations[receiver as usize].set_resume(self.idle_period, resume);
        }
        let sendings = std::mem::take(&mut self.exchange.sendings);
        for sending in &sendings {
            self.conclude(end, sending, out);
        }
        self.exchange.sendings = sendings;
        self.retire();
        self.plan();
    }

    /// Subtracts from each counter the slots that passed before the exchange.
    fn freeze(&mut self) {
        let (start, slot) = (self.exchange.start, self.rules.timing.slot);
        let common = slots(self.access_from, start, slot);
        for &number in &self.active {
            let station = &mut self.stations[number as usize];
            let resume = station.resume(self.idle_period, self.access_from);
            let passed = if resume == self.access_from {
                common
            } else {
                slots(resume, start, slot)
            };
            station.counter -= passed.min(station.counter);
        }
    }

    /// Takes radios off the list that have counted down and have nothing to send.
    fn retire(&mut self) {
        let mut kept = 0;
        for place in 0..self.active.len() {
            let number = self.active[place];
            if self.stations[number as usize].counter == 0 && self.head(number).is_none() {
                self.stations[number as usize].active = false;
            } else {
                self.active[kept] = number;
                kept += 1;
            }
        }
        self.active.truncate(kept);
    }

    /// Deals with one sender's frame after its transmission (9.3.4.4).
    fn conclude(&mut self, end: Time, sending: &Sending, out: &mut Vec<MediumEvent<P>>) {
        let &Sending {
            from,
            to,
            index,
            airtime,
            outcome,
            ..
        } = sending;
        let station = &mut self.stations[from as usize];
        station.set_resume(self.idle_period, sending.resume);
        station.draw_luck();
        let account = &mut self.airtime[from as usize];
        if sending.gone {
            account.attempts += 1;
            account.spoilt += airtime;
            station.window = self.window.0;
            station.draw_backoff();
            return;
        }
        let frame = &mut station.queue[index];
        frame.attempts += 1;
        account.attempts += 1;
        account.retries += u64::from(frame.attempts > 1);
        account.add(outcome, frame.class, airtime);
        if self.log {
            out.push(MediumEvent::Attempt(MacAttempt {
                station: from,
                to,
                attempt: frame.attempts,
                outcome,
                airtime,
                delay: end.since(frame.enqueued.max(station.last_done)),
                frame_bytes: frame.bytes,
            }));
        }
        if matches!(outcome, AttemptOutcome::Success | AttemptOutcome::AckError)
            && let Some(packet) = frame.packet.take()
        {
            out.push(MediumEvent::Delivered { from, to, packet });
        }
        let done = if outcome == AttemptOutcome::Success {
            true
        } else if sending.long {
            frame.long_failures += 1;
            // The CTS that came reset the short count.
            frame.short_failures = 0;
            frame.long_failures >= station.radio.long_retry_limit
        } else {
            frame.short_failures += 1;
            frame.short_failures >= station.radio.short_retry_limit
        };
        if done {
            let packet = station.queue.remove(index).and_then(|frame| frame.packet);
            if outcome != AttemptOutcome::Success {
                account.retry_drops += 1;
            }
            if let Some(packet) = packet {
                let reason = DropReason::RetryLimit;
                out.push(MediumEvent::Dropped {
                    from,
                    to,
                    reason,
                    packet,
                });
            }
            station.last_done = end;
            station.window = self.window.0;
        } else {
            station.widen(self.window.1);
        }
        station.draw_backoff();
    }
}

/// Whole slots from `resume` to `start`; 0 when `resume` lies behind `start`.
fn slots(resume: Time, start: Time, slot: Span) -> u32 {
    u32::try_from(start.since(resume).as_ns() / slot.as_ns()).unwrap_or(u32::MAX)
}
