//! The rows an engine writes while a cell runs.

use lasthop_tcp::Flags;
use lasthop_units::{Direction, Time};

use crate::failure::FlowFailure;
use crate::samples::Samples;
use crate::table::{
    Table, bool_column, category_column, f64_column, i64_column, known_column, u32_column, u64_column,
};

/// Totals of one flow. A count is `None` when the engine had no way to know it:
/// nobody saw the sender decide, or the packets belong to a program of the user's.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowRow {
    /// Flow number within the cell, from 0.
    pub flow: u32,
    /// Workload it belongs to.
    pub workload: String,
    /// Host group of its client.
    pub host: String,
    /// Client number over all client groups, from 0.
    pub client: u32,
    /// Payload bytes the application asked to move; 0 when unbounded.
    pub bytes: u64,
    /// Payload bytes acknowledged to the sender (UDP: received).
    pub acked_bytes: Option<u64>,
    /// Payload bytes handed to the receiving application in order.
    pub delivered_bytes: Option<u64>,
    /// When the flow started.
    pub start: Time,
    /// When its last byte was delivered; `None` when unfinished.
    pub end: Option<Time>,
    /// The end of the run, for goodput of unfinished flows.
    pub run_end: Time,
    /// Segments with payload sent, retransmissions included.
    pub data_packets: Option<u64>,
    /// Segments with payload sent again.
    pub retransmissions: Option<u64>,
    /// Recoveries entered by duplicate ACKs, SACK or RACK.
    pub fast_retransmits: Option<u64>,
    /// Retransmission timeouts.
    pub timeouts: Option<u64>,
    /// Reductions of cwnd.
    pub cwnd_cuts: Option<u64>,
    /// Timeouts or recoveries found spurious and undone.
    pub undone: Option<u64>,
    /// Duplicate ACKs the sender received.
    pub duplicate_acks: Option<u64>,
    /// ACKs without payload the receiver's stack sent.
    pub acks_sent: Option<u64>,
    /// Further ACKs that agents made by dividing them.
    pub divided_acks: u64,
}

impl Default for FlowRow {
    /// A flow that has done nothing, and of which that is known.
    fn default() -> Self {
        Self {
            flow: 0,
            workload: String::new(),
            host: String::new(),
            client: 0,
            bytes: 0,
            acked_bytes: Some(0),
            delivered_bytes: Some(0),
            start: Time::ZERO,
            end: None,
            run_end: Time::ZERO,
            data_packets: Some(0),
            retransmissions: Some(0),
            fast_retransmits: Some(0),
            timeouts: Some(0),
            cwnd_cuts: Some(0),
            undone: Some(0),
            duplicate_acks: Some(0),
            acks_sent: Some(0),
            divided_acks: 0,
        }
    }
}

impl FlowRow {
    /// Seconds from start to end; NaN when unfinished.
    pub fn transfer_time_s(&self) -> f64 {
        self.end
            .map_or(f64::NAN, |end| end.since(self.start).as_secs_f64())
    }

    /// Acknowledged payload over the time from start to end (or end of run), in
    /// bit/s; NaN when unknown.
    pub fn goodput_bps(&self) -> f64 {
        let Some(acked_bytes) = self.acked_bytes else {
            return f64::NAN;
        };
        let seconds = self.end.unwrap_or(self.run_end).since(self.start).as_secs_f64();
        if seconds > 0.0 {
            acked_bytes as f64 * 8.0 / seconds
        } else {
            0.0
        }
    }
}

/// Where a packet was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// At the server host.
    Server,
    /// At the client host.
    Client,
    /// At the path element with this index.
    Element(u16),
}

impl Place {
    /// Where packets of this direction come from.
    pub const fn sender(direction: Direction) -> Self {
        match direction {
            Direction::Downlink => Self::Server,
            Direction::Uplink => Self::Client,
        }
    }
}

/// What became of a packet at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It left this host.
    Sent,
    /// It arrived at this host.
    Received,
    /// It was dropped, for the named reason.
    Dropped(&'static str),
}

/// One packet at one place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PacketRow {
    /// Flow number.
    pub flow: u32,
    /// When.
    pub t: Time,
    /// Where.
    pub place: Place,
    /// Which way it travels.
    pub direction: Direction,
    /// Stream offset of its first payload byte (0 is the first byte after the SYN).
    pub seq_bytes: u64,
    /// Stream offset it acknowledges.
    pub ack_bytes: u64,
    /// Payload bytes.
    pub length_bytes: u32,
    /// Bytes of the IP packet.
    pub wire_bytes: u32,
    /// Announced window in bytes, after scaling.
    pub window_bytes: u32,
    /// TCP flags; none for UDP.
    pub flags: Flags,
    /// Whether its payload was sent before.
    pub retransmission: bool,
    /// What became of it.
    pub verdict: Verdict,
}

/// One attempt at the medium.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MacRow {
    /// When the attempt began.
    pub t: Time,
    /// Transmitter; 0 is the access point.
    pub station: u32,
    /// Attempt number of this frame, from 1.
    pub attempt: u32,
    /// How it ended.
    pub outcome: &'static str,
    /// Medium time it took, in seconds.
    pub airtime_s: f64,
    /// From the head of the queue to the end of the attempt, in seconds.
    pub delay_s: f64,
    /// Bytes of the frame.
    pub frame_bytes: u32,
}

/// Airtime and MAC totals of one transmitter over the run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StationRow {
    /// Transmitter; 0 is the access point.
    pub station: u32,
    /// Seconds of successful exchanges that carried payload.
    pub data_airtime_s: f64,
    /// Seconds of successful exchanges that carried transport ACKs.
    pub ack_airtime_s: f64,
    /// Seconds lost in collisions this transmitter took part in.
    pub collision_airtime_s: f64,
    /// Seconds lost in frames damaged by errors.
    pub error_airtime_s: f64,
    /// Frames delivered.
    pub delivered: u64,
    /// Attempts, first and further.
    pub attempts: u64,
    /// Attempts that collided.
    pub collisions: u64,
    /// Further attempts.
    pub retries: u64,
    /// Frames dropped at the retry limit.
    pub retry_drops: u64,
    /// Frames dropped at a full queue.
    pub queue_drops: u64,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq)]
pub struct EventRow {
    /// When.
    pub t: Time,
    /// Flow number; -1 when it concerns none in particular.
    pub flow: i64,
    /// What, in the mechanism's own term.
    pub kind: &'static str,
    /// A number that goes with it.
    pub value: f64,
}

/// Everything one cell wrote.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CellRecord {
    /// Names of the path's elements, indexed by [`Place::Element`].
    pub elements: Vec<String>,
    /// Totals per flow.
    pub flows: Vec<FlowRow>,
    /// Sender samples.
    pub samples: Samples,
    /// Packets.
    pub packets: Vec<PacketRow>,
    /// MAC attempts.
    pub mac: Vec<MacRow>,
    /// MAC totals.
    pub stations: Vec<StationRow>,
    /// Events.
    pub events: Vec<EventRow>,
    /// Totals of the run, by column name.
    pub totals: Vec<(&'static str, f64)>,
    /// Flows whose programs failed, in no table: they are told apart.
    pub failures: Vec<FlowFailure>,
}

impl CellRecord {
    /// The record as tables `flows`, `samples`, `packets`, `mac`, `stations`,
    /// `events` and `runs`, rows in the order of time.
    pub fn into_tables(mut self) -> Vec<Table> {
        // Stable sorts: equal times keep the order in which the engine wrote them.
        self.packets.sort_by_key(|row| row.t);
        self.events.sort_by_key(|row| row.t);
        vec![
            flows_table(&self.flows),
            self.samples.into_table(),
            packets_table(&self.packets, &self.elements),
            mac_table(&self.mac),
            stations_table(&self.stations),
            events_table(&self.events),
            runs_table(&self.totals),
        ]
    }
}

fn flows_table(rows: &[FlowRow]) -> Table {
    Table {
        name: "flows",
        columns: vec![
            u32_column("flow", rows, |r| r.flow),
            category_column("workload", rows, |r| r.workload.clone()),
            category_column("host", rows, |r| r.host.clone()),
            u32_column("client", rows, |r| r.client),
            u64_column("bytes", rows, |r| r.bytes),
            known_column("acked_bytes", rows, |r| r.acked_bytes),
            known_column("delivered_bytes", rows, |r| r.delivered_bytes),
            f64_column("start_s", rows, |r| r.start.as_secs_f64()),
            f64_column("end_s", rows, |r| r.end.map_or(f64::NAN, Time::as_secs_f64)),
            f64_column("transfer_time_s", rows, FlowRow::transfer_time_s),
            f64_column("goodput_bps", rows, FlowRow::goodput_bps),
            known_column("data_packets", rows, |r| r.data_packets),
            known_column("retransmissions", rows, |r| r.retransmissions),
            known_column("fast_retransmits", rows, |r| r.fast_retransmits),
            known_column("timeouts", rows, |r| r.timeouts),
            known_column("cwnd_cuts", rows, |r| r.cwnd_cuts),
            known_column("undone", rows, |r| r.undone),
            known_column("duplicate_acks", rows, |r| r.duplicate_acks),
            known_column("acks_sent", rows, |r| r.acks_sent),
            u64_column("divided_acks", rows, |r| r.divided_acks),
        ],
    }
}

fn packets_table(rows: &[PacketRow], elements: &[String]) -> Table {
    let place = |row: &PacketRow| match row.place {
        Place::Server => "server",
        Place::Client => "client",
        Place::Element(index) => elements.get(usize::from(index)).map_or("path", String::as_str),
    };
    let verdict = |row: &PacketRow| match row.verdict {
        Verdict::Sent => "sent",
        Verdict::Received => "received",
        Verdict::Dropped(reason) => reason,
    };
    let flags: Vec<String> = (0..32).map(|bits| Flags::from_bits(bits).to_string()).collect();
    Table {
        name: "packets",
        columns: vec![
            u32_column("flow", rows, |r| r.flow),
            f64_column("t_s", rows, |r| r.t.as_secs_f64()),
            category_column("place", rows, place),
            category_column("direction", rows, |r| r.direction.name()),
            u64_column("seq_bytes", rows, |r| r.seq_bytes),
            u64_column("ack_bytes", rows, |r| r.ack_bytes),
            u32_column("length_bytes", rows, |r| r.length_bytes),
            u32_column("wire_bytes", rows, |r| r.wire_bytes),
            u32_column("window_bytes", rows, |r| r.window_bytes),
            category_column("flags", rows, |r| flags[usize::from(r.flags.bits())].as_str()),
            bool_column("retransmission", rows, |r| r.retransmission),
            category_column("verdict", rows, verdict),
        ],
    }
}

fn mac_table(rows: &[MacRow]) -> Table {
    Table {
        name: "mac",
        columns: vec![
            f64_column("t_s", rows, |r| r.t.as_secs_f64()),
            u32_column("station", rows, |r| r.station),
            u32_column("attempt", rows, |r| r.attempt),
            category_column("outcome", rows, |r| r.outcome),
            f64_column("airtime_s", rows, |r| r.airtime_s),
            f64_column("delay_s", rows, |r| r.delay_s),
            u32_column("frame_bytes", rows, |r| r.frame_bytes),
        ],
    }
}

fn stations_table(rows: &[StationRow]) -> Table {
    Table {
        name: "stations",
        columns: vec![
            u32_column("station", rows, |r| r.station),
            f64_column("data_airtime_s", rows, |r| r.data_airtime_s),
            f64_column("ack_airtime_s", rows, |r| r.ack_airtime_s),
            f64_column("collision_airtime_s", rows, |r| r.collision_airtime_s),
            f64_column("error_airtime_s", rows, |r| r.error_airtime_s),
            u64_column("delivered", rows, |r| r.delivered),
            u64_column("attempts", rows, |r| r.attempts),
            u64_column("collisions", rows, |r| r.collisions),
            u64_column("retries", rows, |r| r.retries),
            u64_column("retry_drops", rows, |r| r.retry_drops),
            u64_column("queue_drops", rows, |r| r.queue_drops),
        ],
    }
}

fn events_table(rows: &[EventRow]) -> Table {
    Table {
        name: "events",
        columns: vec![
            f64_column("t_s", rows, |r| r.t.as_secs_f64()),
            i64_column("flow", rows, |r| r.flow),
            category_column("kind", rows, |r| r.kind),
            f64_column("value", rows, |r| r.value),
        ],
    }
}

fn runs_table(totals: &[(&'static str, f64)]) -> Table {
    Table {
        name: "runs",
        columns: totals
            .iter()
            .map(|&(name, value)| f64_column(name, &[value], |v| *v))
            .collect(),
    }
}
