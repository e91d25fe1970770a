//! Why a packet did not reach the far end of an element.

use crate::names::named;

/// Why a packet was dropped; the `verdict` of the packet record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
#[error("{}", self.name())]
pub enum DropReason {
    /// The queue it should have joined was full.
    QueueFull,
    /// An error model of the link spoilt it.
    Error,
    /// The 802.11 retry limit was reached without a MAC ACK.
    RetryLimit,
    /// The radio was down.
    LinkDown,
    /// An agent removed it.
    Agent,
}

named!(DropReason {
    QueueFull => "queue-full",
    Error => "error",
    RetryLimit => "retry-limit",
    LinkDown => "link-down",
    Agent => "agent",
});
