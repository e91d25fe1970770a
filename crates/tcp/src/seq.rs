//! 32-bit sequence numbers with wrap-around (RFC 9293 section 3.4).

use std::fmt;

/// A TCP sequence number. Ordering is modulo 2^32, so it is only meaningful
/// between numbers less than 2^31 apart; hence no `Ord`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Seq(pub u32);

impl Seq {
    /// `self + bytes`, wrapping.
    #[must_use]
    pub const fn add(self, bytes: u32) -> Self {
        Self(self.0.wrapping_add(bytes))
    }

    /// `self - bytes`, wrapping.
    #[must_use]
    pub const fn sub(self, bytes: u32) -> Self {
        Self(self.0.wrapping_sub(bytes))
    }

    /// The signed distance from `earlier` to `self`.
    pub const fn since(self, earlier: Self) -> i32 {
        self.0.wrapping_sub(earlier.0).cast_signed()
    }

    /// Whether `self` lies before `other`.
    pub const fn before(self, other: Self) -> bool {
        self.since(other) < 0
    }

    /// Whether `self` lies after `other`.
    pub const fn after(self, other: Self) -> bool {
        self.since(other) > 0
    }

    /// Whether `self` lies before `other` or equals it.
    pub const fn at_or_before(self, other: Self) -> bool {
        self.since(other) <= 0
    }

    /// The later of the two.
    #[must_use]
    pub const fn max(self, other: Self) -> Self {
        if self.before(other) { other } else { self }
    }

    /// The earlier of the two.
    #[must_use]
    pub const fn min(self, other: Self) -> Self {
        if self.before(other) { self } else { other }
    }
}

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::Seq;

    #[test]
    fn order_survives_the_wrap() {
        let last = Seq(u32::MAX - 3);
        let wrapped = last.add(10);
        assert_eq!(wrapped, Seq(6));
        assert!(last.before(wrapped) && wrapped.after(last));
        assert_eq!(wrapped.since(last), 10);
        assert_eq!(last.max(wrapped), wrapped);
        assert_eq!(wrapped.sub(10), last);
    }
}
