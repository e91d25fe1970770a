//! Network namespaces, devices and a hand-made TCP peer for the tests. Nothing
//! here has a name in the system: a namespace lives as long as the descriptor
//! that holds it, so a killed test leaves nothing.
#![allow(dead_code, reason = "each test binary uses a part of it")]

pub mod client;
pub mod device;
pub mod netns;

use std::io::Write;

/// Whether the test cannot run here; says why where the test's output capture
/// does not reach.
pub fn skipped(test: &str) -> bool {
    // SAFETY: the call has no preconditions.
    let root = unsafe { libc::geteuid() } == 0;
    let map = std::fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    if root && !map.split_whitespace().eq(["0", "0", "4294967295"]) {
        return skip(test, "needs root outside user namespaces");
    }
    if root && let Err(error) = std::fs::metadata("/sys/kernel/btf/vmlinux") {
        return skip(test, &format!("no BTF: {error}"));
    }
    if root && let Err(error) = netns::Namespace::try_new() {
        return skip(test, &format!("no network namespaces: {error}"));
    }
    if root && let Err(error) = std::fs::metadata("/dev/net/tun") {
        return skip(test, &format!("no TUN: {error}"));
    }
    !root && skip(test, "needs root")
}

/// Says that a test is skipped.
pub fn skip(test: &str, reason: &str) -> bool {
    // One write, so that tests side by side do not mix their words.
    let _ = std::io::stderr().write_all(format!("SKIPPED: {test}: {reason}\n").as_bytes());
    true
}
