//! Which way a packet travels.

/// Along the path from the server's side to the client's, or back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// From the server's side towards the client: the last, wireless hop comes last.
    Downlink,
    /// From the client towards the server's side.
    Uplink,
}

impl Direction {
    /// Both directions, in the order results list them.
    pub const BOTH: [Self; 2] = [Self::Downlink, Self::Uplink];

    /// The other way.
    #[must_use]
    pub const fn reverse(self) -> Self {
        match self {
            Self::Downlink => Self::Uplink,
            Self::Uplink => Self::Downlink,
        }
    }

    /// The spelling used in scenarios and results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Downlink => "downlink",
            Self::Uplink => "uplink",
        }
    }

    /// 0 for the downlink, 1 for the uplink.
    pub const fn index(self) -> usize {
        self as usize
    }
}
