//! More than the path carries, nothing written down but samples: memory holds
//! the configured queue, no more. Needs root; skipped elsewhere.

#[path = "support/flood.rs"]
mod support;

use support::{DATAGRAM_BYTES, flood};

#[test]
fn a_flood_grows_memory_by_the_queue_alone() {
    let Some((record, grown)) = flood(false) else {
        return;
    };
    let total = |name: &str| {
        let found = record.totals.iter().find(|(known, _)| *known == name);
        found.map_or(0.0, |(_, value)| *value) as u64
    };
    assert!(!record.samples.is_empty());
    // The samples, each 80 bytes and copied when their columns grow, and room
    // for what the allocator keeps.
    let bound = 4 * 80 * record.samples.len() as u64 + (4 << 20);
    let excess = total("drops_queue") * DATAGRAM_BYTES;
    assert!(
        excess > 2 * bound,
        "only {excess} bytes were too many for the wire"
    );
    assert!(grown < bound, "{grown} bytes");
}
