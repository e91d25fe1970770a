//! The medium inside a whole world.

#![allow(clippy::unwrap_used)]

#[allow(dead_code)]
mod support;

use lasthop_path::Standard;
use lasthop_units::Span;

fn goodput_bps(standard: Standard, stations: u32) -> f64 {
    let variant = support::saturated_cell(standard, stations, 1470, Span::from_secs(5));
    let record = lasthop_sim::run_cell(&variant, 1).unwrap();
    record
        .flows
        .iter()
        .map(lasthop_record::FlowRow::goodput_bps)
        .sum()
}

/// UDP saturation as ns-3 3.37 measured it, in bit/s: standard, stations, goodput.
const NS3: [(Standard, u32, f64); 6] = [
    (Standard::G, 1, 29_675_184.0),
    (Standard::G, 2, 29_931_552.0),
    (Standard::A, 1, 29_858_640.0),
    (Standard::A, 2, 30_223_200.0),
    (Standard::B, 1, 6_051_696.0),
    (Standard::B, 2, 6_357_456.0),
];

#[test]
fn saturated_stations_get_what_ns3_gives_them() {
    for (standard, stations, expected) in NS3 {
        let ours = goodput_bps(standard, stations);
        let ratio = ours / expected;
        assert!(
            (0.97..1.03).contains(&ratio),
            "{standard:?} with {stations}: {ours} against {expected}"
        );
    }
}

#[test]
fn saturated_stations_share_the_medium_evenly() {
    let variant = support::saturated_cell(Standard::G, 5, 1470, Span::from_secs(60));
    let record = lasthop_sim::run_cell(&variant, 1).unwrap();
    let rates: Vec<f64> = record
        .flows
        .iter()
        .map(lasthop_record::FlowRow::goodput_bps)
        .collect();
    let mean = rates.iter().sum::<f64>() / 5.0;
    assert!(
        rates.iter().all(|rate| (rate / mean - 1.0).abs() < 0.05),
        "{rates:?}"
    );
}
