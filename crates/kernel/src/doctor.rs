//! What this machine and this user can run.

use std::fs;

/// Whether the process holds a capability, by its number in `linux/capability.h`.
pub(crate) fn has_capability(number: u32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    status
        .lines()
        .find_map(|line| line.strip_prefix("CapEff:"))
        .and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok())
        .is_some_and(|bits| bits & (1 << number) != 0)
}
