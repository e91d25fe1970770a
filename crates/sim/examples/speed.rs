//! Wall time of the dumbbell, for profiling: `speed FLOWS RATE_BPS QUEUE SECONDS [PERSONALITY] [SENDER] [every-ack]`.

#![allow(clippy::unwrap_used)]

#[path = "../tests/support/mod.rs"]
mod support;

use std::io::Write;
use std::time::Instant;

use lasthop_record::Table;
use lasthop_scenario::spec::{Record, Sampling};
use lasthop_units::Span;
use support::Dumbbell;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let number = |index: usize, default: u64| {
        arguments
            .get(index)
            .and_then(|text| text.parse().ok())
            .unwrap_or(default)
    };
    let samples = match arguments.get(7).map(String::as_str) {
        Some("every-ack") => Sampling::EveryAck,
        _ => Sampling::Every(Span::from_ms(50)),
    };
    let dumbbell = Dumbbell {
        flows: number(1, 1) as u32,
        rate_bps: number(2, 10_000_000),
        queue_packets: number(3, 100) as u32,
        duration: Span::from_secs(number(4, 1000)),
        window_segments: 10_000,
        personality: Box::leak(
            arguments
                .get(5)
                .cloned()
                .unwrap_or("ns-2".into())
                .into_boxed_str(),
        ),
        sender: Box::leak(
            arguments
                .get(6)
                .cloned()
                .unwrap_or("sack".into())
                .into_boxed_str(),
        ),
        record: Record {
            samples,
            packets: false,
            mac: false,
        },
        ..Dumbbell::default()
    };
    let variant = dumbbell.variant();
    let start = Instant::now();
    let record = lasthop_sim::run_cell(&variant, 1).unwrap();
    let packets: u64 = record
        .flows
        .iter()
        .map(|flow| flow.data_packets.unwrap_or(0) + flow.acks_sent.unwrap_or(0))
        .sum();
    let acked: u64 = record.flows.iter().filter_map(|flow| flow.acked_bytes).sum();
    let totals = record.totals.clone();
    let tables = record.into_tables();
    let wall = start.elapsed().as_secs_f64();
    let samples = tables
        .iter()
        .find(|table| table.name == "samples")
        .map_or(0, Table::rows);
    let _ = writeln!(
        std::io::stdout(),
        "{wall:.3} s, {packets} packets, {:.1} ns per packet, {:.3} Mbit/s, {samples} samples, {totals:?}",
        wall * 1e9 / packets as f64,
        acked as f64 * 8e-6 / number(4, 1000) as f64,
    );
}
