//! What the network tells, as rows of the record: whatever the packets are,
//! every engine writes these alike.

use lasthop_agent::Note;
use lasthop_path::{DropReason, MacAttempt, StationAirtime};
use lasthop_record::{EventRow, Log, MacRow, StationRow};
use lasthop_units::Time;

/// Columns of `runs` that count drops.
const DROP_TOTALS: [(&str, DropReason); 5] = [
    ("drops_queue", DropReason::QueueFull),
    ("drops_error", DropReason::Error),
    ("drops_retry_limit", DropReason::RetryLimit),
    ("drops_link_down", DropReason::LinkDown),
    ("drops_agent", DropReason::Agent),
];

/// Attempts at the medium, events, and drops by reason.
#[derive(Clone, Debug)]
pub struct PathLog {
    /// Attempts at the medium.
    pub mac: Log<MacRow>,
    /// What happened.
    pub events: Log<EventRow>,
    drops: [u64; DROP_TOTALS.len()],
}

impl PathLog {
    /// A log of at most `limit` attempts and as many events.
    pub const fn new(limit: usize) -> Self {
        Self {
            mac: Log::limited(limit),
            events: Log::limited(limit),
            drops: [0; DROP_TOTALS.len()],
        }
    }

    /// Counts a dropped packet.
    pub fn dropped(&mut self, reason: DropReason) {
        let counts = DROP_TOTALS.iter().zip(&mut self.drops);
        for (_, count) in counts.filter(|((_, known), _)| *known == reason) {
            *count += 1;
        }
    }

    /// An attempt at the medium ended.
    pub fn attempt(&mut self, at: Time, attempt: &MacAttempt) {
        self.mac.push(MacRow {
            t: at - attempt.airtime,
            station: attempt.station,
            attempt: attempt.attempt,
            outcome: attempt.outcome.name(),
            airtime_s: attempt.airtime.as_secs_f64(),
            delay_s: attempt.delay.as_secs_f64(),
            frame_bytes: attempt.frame_bytes,
        });
    }

    /// An agent noted something.
    pub fn noted(&mut self, at: Time, note: Note) {
        self.event(at, -1, note.kind, note.value);
    }

    /// A radio went down or came up.
    pub fn radio(&mut self, at: Time, station: u32, up: bool) {
        let kind = if up { "radio-up" } else { "radio-down" };
        self.event(at, -1, kind, f64::from(station));
    }

    /// Something happened to `flow`; -1 when to none in particular.
    pub fn event(&mut self, t: Time, flow: i64, kind: &'static str, value: f64) {
        self.events.push(EventRow { t, flow, kind, value });
    }

    /// Dropped packets by reason, as columns of `runs`.
    pub fn drop_totals(&self) -> impl Iterator<Item = (&'static str, u64)> {
        DROP_TOTALS
            .iter()
            .zip(self.drops)
            .map(|((name, _), count)| (*name, count))
    }
}

/// The totals of every transmitter on the medium.
pub fn station_rows(airtime: &[StationAirtime]) -> Vec<StationRow> {
    let row = |(station, airtime): (usize, &StationAirtime)| StationRow {
        station: station as u32,
        data_airtime_s: airtime.data.as_secs_f64(),
        ack_airtime_s: airtime.acks.as_secs_f64(),
        collision_airtime_s: airtime.collided.as_secs_f64(),
        error_airtime_s: airtime.spoilt.as_secs_f64(),
        delivered: airtime.successes,
        attempts: airtime.attempts,
        collisions: airtime.collisions,
        retries: airtime.retries,
        retry_drops: airtime.retry_drops,
        queue_drops: airtime.queue_drops,
    };
    airtime.iter().enumerate().map(row).collect()
}
