//! Turns what happens into the rows of the record.

use lasthop_agent::Note;
use lasthop_network::{Crossing, Observer, PathLog, Watch};
use lasthop_path::{DropReason, MacAttempt};
use lasthop_record::{SampleRow, Samples};
use lasthop_scenario::spec::Sampling;
use lasthop_tcp::Endpoint;
use lasthop_units::{Direction, Span, Time};

use crate::packet::SimPacket;

/// A simulated run is as long as its scenario says, so its logs need no bound.
pub(crate) const NO_LIMIT: usize = usize::MAX;

/// Collects the record of one cell.
#[derive(Debug)]
pub(crate) struct Recorder {
    pub(crate) samples: Samples,
    pub(crate) path: PathLog,
    /// `None` when nobody looks at packets.
    pub(crate) watch: Option<Box<Watch>>,
    /// Time between samples of one flow; `None` samples nothing.
    interval: Option<Span>,
    next_sample: Vec<Time>,
}

impl Recorder {
    pub(crate) fn new(sampling: Sampling, watch: Option<Watch>, flows: usize) -> Self {
        let interval = match sampling {
            Sampling::Off => None,
            Sampling::EveryAck => Some(Span::ZERO),
            Sampling::Every(interval) => Some(interval),
        };
        Self {
            samples: Samples::default(),
            path: PathLog::new(NO_LIMIT),
            watch: watch.map(Box::new),
            interval,
            next_sample: vec![Time::ZERO; flows],
        }
    }

    /// Samples a sender after an ACK, when a sample is due.
    #[inline]
    pub(crate) fn sample(&mut self, now: Time, flow: u32, sender: &Endpoint) {
        let Some(interval) = self.interval else { return };
        if now < self.next_sample[flow as usize] {
            return;
        }
        self.next_sample[flow as usize] = now + interval;
        let metrics = sender.metrics();
        self.samples.push(SampleRow {
            flow,
            t: now,
            cwnd_bytes: metrics.cwnd_bytes,
            ssthresh_bytes: metrics.ssthresh_bytes.map_or(f64::INFINITY, |bytes| bytes as f64),
            rwnd_bytes: metrics.rwnd_bytes,
            srtt_s: metrics.srtt.map_or(f64::NAN, Span::as_secs_f64),
            rto_s: metrics.rto.as_secs_f64(),
            in_flight_bytes: metrics.in_flight_bytes,
            snd_una_bytes: metrics.snd_una_bytes,
            snd_nxt_bytes: metrics.snd_nxt_bytes,
        });
    }

    /// A host's stack sent a packet.
    #[inline]
    pub(crate) fn sent(&mut self, now: Time, direction: Direction, packet: &SimPacket) {
        if let Some(watch) = &mut self.watch {
            watch.sent(now, direction, packet);
        }
    }

    /// A packet reached its host.
    #[inline]
    pub(crate) fn received(&mut self, now: Time, direction: Direction, packet: &SimPacket) {
        if let Some(watch) = &mut self.watch {
            watch.received(now, direction, packet);
        }
    }
}

impl Observer<SimPacket> for Recorder {
    fn dropped(
        &mut self,
        at: Time,
        element: usize,
        direction: Direction,
        reason: DropReason,
        packet: &SimPacket,
    ) {
        self.path.dropped(reason);
        if let Some(watch) = &mut self.watch {
            watch.dropped(at, element, direction, reason, packet);
        }
    }

    fn attempt(&mut self, at: Time, attempt: &MacAttempt) {
        self.path.attempt(at, attempt);
    }

    fn noted(&mut self, at: Time, note: Note) {
        self.path.noted(at, note);
    }

    fn crossed(&mut self, at: Time, crossing: Crossing, direction: Direction, packet: &SimPacket) {
        if let Some(watch) = &mut self.watch {
            watch.crossed(at, crossing, direction, packet);
        }
    }

    fn radio(&mut self, at: Time, station: u32, up: bool) {
        self.path.radio(at, station, up);
    }
}
