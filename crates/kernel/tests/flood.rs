//! More than the path carries, with every packet written down: memory holds the
//! configured queue and the log, no more. Needs root; skipped elsewhere.

use std::fs;
use std::mem::size_of;

use lasthop_kernel::{Options, Session, run_cell};
use lasthop_record::{PacketRow, Verdict};
use lasthop_scenario::{LoadOptions, load};

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

[record]
packets = true
"#;

/// Bytes of a line of `/proc/self/status` given in kilobytes.
fn status(name: &str) -> Option<usize> {
    let text = fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kilobytes: usize = line.trim_matches([':', ' ', '\t', 'k', 'B']).parse().ok()?;
    Some(kilobytes << 10)
}

#[test]
fn a_flood_grows_memory_by_the_queue_and_the_log_alone() {
    let plan =
        load(SCENARIO, "flood.toml", &LoadOptions::default()).unwrap_or_else(|errors| panic!("{errors:?}"));
    let variant = &plan.variants[0];
    if let Err(reason) = Session::open(&variant.world, 1, &Options::default()) {
        eprintln!("skipped: {reason}");
        return;
    }
    let mut quiet = variant.clone();
    quiet.world.duration = lasthop_units::Span::from_ms(200);
    let options = Options {
        attempts: 1,
        ..Options::default()
    };
    // A short run shows what any run takes: threads, the samples' ring buffer.
    run_cell(&quiet, 1, &options).unwrap();
    let before = status("VmHWM").unwrap();
    let record = run_cell(variant, 1, &options).unwrap();
    let grown = status("VmHWM").unwrap().saturating_sub(before);
    let count = |verdict: &dyn Fn(&Verdict) -> bool| {
        record.packets.iter().filter(|row| verdict(&row.verdict)).count() as u64
    };
    let sent = count(&|verdict| *verdict == Verdict::Sent);
    let received = count(&|verdict| *verdict == Verdict::Received);
    let dropped = count(&|verdict| matches!(verdict, Verdict::Dropped(_)));
    assert!(sent > 3 * received, "no flood: {sent} sent, {received} received");
    // What was neither received nor dropped still stood in the queue or travelled.
    let under_way = 20_000_000 / 8 / 100 / 1428 + 1;
    assert!(
        sent - received - dropped <= 100 + under_way,
        "{sent} sent, {received} received, {dropped} dropped"
    );
    // A growing vector is copied: old and new stand side by side. 12 MB are for
    // buffers; what the wire could not carry comes to three times as much.
    let log = record.packets.len() * size_of::<PacketRow>();
    assert!(
        grown < 4 * log + (12 << 20),
        "{grown} bytes for {} rows",
        record.packets.len()
    );
    let excess = dropped * 1428;
    assert!(excess > 24 << 20, "{excess} bytes were too many for the wire");
}
