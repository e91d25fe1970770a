//! Connection states.

/// Who opens the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Sends the first SYN.
    Active,
    /// Waits for it.
    Passive,
}

/// Connection states (RFC 9293 section 3.3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// No connection, or no longer.
    Closed,
    /// Waiting for a SYN.
    Listen,
    /// SYN sent.
    SynSent,
    /// SYN received, SYN-ACK sent.
    SynReceived,
    /// Open.
    Established,
    /// Own FIN sent, not acknowledged.
    FinWait1,
    /// Own FIN acknowledged.
    FinWait2,
    /// The peer's FIN received.
    CloseWait,
    /// Both FINs sent, own one not acknowledged.
    Closing,
    /// Both FINs sent, the peer's first.
    LastAck,
    /// Waiting for stray segments to die.
    TimeWait,
}

impl State {
    /// Whether data (or its retransmission) may still go out.
    pub(crate) const fn may_send(self) -> bool {
        matches!(
            self,
            Self::Established | Self::CloseWait | Self::FinWait1 | Self::Closing | Self::LastAck
        )
    }

    /// Whether the peer's data is still taken.
    pub(crate) const fn may_receive(self) -> bool {
        matches!(
            self,
            Self::Established | Self::FinWait1 | Self::FinWait2 | Self::SynReceived
        )
    }

    /// Whether both sides' sequence numbers are known.
    pub(crate) const fn is_synchronized(self) -> bool {
        !matches!(self, Self::Closed | Self::Listen | Self::SynSent)
    }
}
