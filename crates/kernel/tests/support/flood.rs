//! Five times what a wire carries, and the memory this process takes for it.
//! One test per program: memory belongs to the process.

use std::fs;

use lasthop_kernel::{Options, Session, run_cell};
use lasthop_record::CellRecord;
use lasthop_scenario::spec::Variant;
use lasthop_scenario::{LoadOptions, load};
use lasthop_units::Span;

/// A connection, whose samples are taken, in a flood of datagrams.
const SCENARIO: &str = r#"
name = "flood"
title = "Five times what the wire carries"
duration = "4 s"

[hosts.server]
personality = "linux-6"

[hosts.client]
personality = "linux-6"

[[path]]
name = "wire"
type = "wired"
rate = "20 Mbit/s"
delay = "10 ms"
queue = "100 packets"

[[workloads]]
type = "udp"
rate = "100 Mbit/s"
payload = "1400 B"

[[workloads]]
type = "bulk"
bytes = "unlimited"

[record]
samples = "every-ack"
"#;

/// Bytes of the largest packet of the flood.
pub const DATAGRAM_BYTES: u64 = 1428;

/// A flood's record and the bytes by which the process grew for it, at most;
/// `None` where hosts cannot be built.
pub fn flood(log_packets: bool) -> Option<(CellRecord, u64)> {
    let plan =
        load(SCENARIO, "flood.toml", &LoadOptions::default()).unwrap_or_else(|errors| panic!("{errors:?}"));
    let mut variant = plan.variants[0].clone();
    variant.world.record.packets = log_packets;
    if let Err(reason) = Session::open(&variant.world, 1, &Options::default()) {
        eprintln!("skipped: {reason}");
        return None;
    }
    // A short run shows what any run takes: threads, the samples' ring buffer.
    let mut short = variant.clone();
    short.world.duration = Span::from_ms(500);
    play(&short);
    let before = highest_memory();
    let record = play(&variant);
    Some((record, highest_memory().saturating_sub(before)))
}

fn play(variant: &Variant) -> CellRecord {
    let options = Options {
        attempts: 1,
        ..Options::default()
    };
    run_cell(variant, 1, &options).expect("a run")
}

/// The most memory the process had so far, in bytes.
fn highest_memory() -> u64 {
    let text = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM"));
    let kilobytes = line.and_then(|line| line.trim_matches([':', ' ', '\t', 'k', 'B']).parse::<u64>().ok());
    kilobytes.expect("the kernel's account of this process") << 10
}
