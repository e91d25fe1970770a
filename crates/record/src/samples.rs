//! Samples of senders, kept as the columns they become.
//!
//! A run sampled at every ACK writes more samples than anything else. Rows that
//! are turned into columns at the end would touch all that memory twice.

use lasthop_units::{Span, Time};

use crate::table::{Column, ColumnData, Table};

/// The sender's state at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampleRow {
    /// Flow number.
    pub flow: u32,
    /// When.
    pub t: Time,
    /// Congestion window in bytes, with its fraction.
    pub cwnd_bytes: f64,
    /// Slow start threshold in bytes; infinite when not set.
    pub ssthresh_bytes: f64,
    /// Window the receiver announced.
    pub rwnd_bytes: u64,
    /// Smoothed round-trip time in seconds; NaN before the first sample.
    pub srtt_s: f64,
    /// Retransmission timeout in seconds.
    pub rto_s: f64,
    /// `FlightSize`.
    pub in_flight_bytes: u64,
    /// First unacknowledged byte of the stream.
    pub snd_una_bytes: u64,
    /// Next byte of the stream to send.
    pub snd_nxt_bytes: u64,
}

/// All samples of a cell, column by column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples {
    flow: Vec<u32>,
    t: Vec<f64>,
    cwnd: Vec<f64>,
    ssthresh: Vec<f64>,
    rwnd: Vec<u64>,
    srtt: Vec<f64>,
    rto: Vec<f64>,
    in_flight: Vec<u64>,
    snd_una: Vec<u64>,
    snd_nxt: Vec<u64>,
}

impl Samples {
    /// Adds a sample.
    #[inline]
    pub fn push(&mut self, row: SampleRow) {
        if self.flow.len() == self.flow.capacity() {
            self.grow();
        }
        self.flow.push(row.flow);
        self.t.push(row.t.as_secs_f64());
        self.cwnd.push(row.cwnd_bytes);
        self.ssthresh.push(row.ssthresh_bytes);
        self.rwnd.push(row.rwnd_bytes);
        self.srtt.push(row.srtt_s);
        self.rto.push(row.rto_s);
        self.in_flight.push(row.in_flight_bytes);
        self.snd_una.push(row.snd_una_bytes);
        self.snd_nxt.push(row.snd_nxt_bytes);
    }

    /// All columns grow at once, so that one comparison per sample is enough.
    #[cold]
    fn grow(&mut self) {
        let more = self.flow.len().max(256);
        self.flow.reserve_exact(more);
        for column in [
            &mut self.t,
            &mut self.cwnd,
            &mut self.ssthresh,
            &mut self.srtt,
            &mut self.rto,
        ] {
            column.reserve_exact(more);
        }
        for column in [
            &mut self.rwnd,
            &mut self.in_flight,
            &mut self.snd_una,
            &mut self.snd_nxt,
        ] {
            column.reserve_exact(more);
        }
    }

    /// How many samples there are.
    pub const fn len(&self) -> usize {
        self.flow.len()
    }

    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.flow.is_empty()
    }

    /// The samples in the order they were taken. Times come back from the
    /// column's seconds, exact to the nanosecond in runs of up to a month.
    pub fn iter(&self) -> impl Iterator<Item = SampleRow> {
        (0..self.len()).map(|row| SampleRow {
            flow: self.flow[row],
            t: Time::ZERO + Span::from_ns((self.t[row] * 1e9).round() as u64),
            cwnd_bytes: self.cwnd[row],
            ssthresh_bytes: self.ssthresh[row],
            rwnd_bytes: self.rwnd[row],
            srtt_s: self.srtt[row],
            rto_s: self.rto[row],
            in_flight_bytes: self.in_flight[row],
            snd_una_bytes: self.snd_una[row],
            snd_nxt_bytes: self.snd_nxt[row],
        })
    }

    /// The table `samples`.
    pub(crate) fn into_table(self) -> Table {
        let column = |name, data| Column { name, data };
        Table {
            name: "samples",
            columns: vec![
                column("flow", ColumnData::U32(self.flow)),
                column("t_s", ColumnData::F64(self.t)),
                column("cwnd_bytes", ColumnData::F64(self.cwnd)),
                column("ssthresh_bytes", ColumnData::F64(self.ssthresh)),
                column("rwnd_bytes", ColumnData::U64(self.rwnd)),
                column("srtt_s", ColumnData::F64(self.srtt)),
                column("rto_s", ColumnData::F64(self.rto)),
                column("in_flight_bytes", ColumnData::U64(self.in_flight)),
                column("snd_una_bytes", ColumnData::U64(self.snd_una)),
                column("snd_nxt_bytes", ColumnData::U64(self.snd_nxt)),
            ],
        }
    }
}

impl FromIterator<SampleRow> for Samples {
    fn from_iter<I: IntoIterator<Item = SampleRow>>(rows: I) -> Self {
        let mut samples = Self::default();
        for row in rows {
            samples.push(row);
        }
        samples
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_come_back_as_they_were_pushed() {
        let row = |number: u64| SampleRow {
            flow: number as u32,
            t: Time::from_ns(number * 1_234_567_891),
            cwnd_bytes: 1.5,
            ssthresh_bytes: f64::INFINITY,
            rwnd_bytes: number,
            srtt_s: 0.1,
            rto_s: 0.2,
            in_flight_bytes: 3,
            snd_una_bytes: number * 1000,
            snd_nxt_bytes: number * 1000 + 3,
        };
        let rows: Vec<SampleRow> = (0..1000).map(row).collect();
        let samples: Samples = rows.iter().copied().collect();
        assert_eq!(samples.len(), 1000);
        assert!(samples.iter().eq(rows));
        assert_eq!(samples.into_table().rows(), 1000);
    }
}
