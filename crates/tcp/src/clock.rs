//! The clock behind timestamp options.

use lasthop_units::Time;

/// The timestamp option's clock: milliseconds, as Linux uses, never 0.
#[inline(never)]
pub(crate) const fn timestamp(now: Time) -> u32 {
    (now.as_ns() / 1_000_000) as u32 + 1
}
