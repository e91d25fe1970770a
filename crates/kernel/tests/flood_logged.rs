//! More than the path carries, with every packet written down: memory holds the
//! configured queue and the log, no more. Needs root; skipped elsewhere.

#[path = "support/flood.rs"]
mod support;

use std::mem::size_of;

use lasthop_record::{PacketRow, Verdict};
use support::{DATAGRAM_BYTES, flood};

/// Flows in the order of the scenario.
const DATAGRAMS: u32 = 0;

#[test]
fn a_flood_grows_memory_by_the_queue_and_the_log_alone() {
    let Some((record, grown)) = flood(true) else {
        return;
    };
    let count = |verdict: &dyn Fn(&Verdict) -> bool| {
        let rows = record.packets.iter().filter(|row| row.flow == DATAGRAMS);
        rows.filter(|row| verdict(&row.verdict)).count() as u64
    };
    let sent = count(&|verdict| *verdict == Verdict::Sent);
    let received = count(&|verdict| *verdict == Verdict::Received);
    let dropped = count(&|verdict| matches!(verdict, Verdict::Dropped(_)));
    assert!(sent > 3 * received, "no flood: {sent} sent, {received} received");
    // What was neither received nor dropped still stood in the queue or travelled.
    let under_way = 20_000_000 / 8 / 100 / DATAGRAM_BYTES + 1;
    assert!(
        sent - received - dropped <= 100 + under_way,
        "{sent} sent, {received} received, {dropped} dropped"
    );
    // A growing vector is copied: old and new stand side by side.
    let log = record.packets.len() * size_of::<PacketRow>() + 80 * record.samples.len();
    let bound = 4 * log as u64 + (4 << 20);
    let excess = dropped * DATAGRAM_BYTES;
    assert!(excess > bound, "only {excess} bytes were too many for the wire");
    assert!(grown < bound, "{grown} bytes for a log of {log}");
}
