//! What the Linux stack cannot play.

use thiserror::Error;

/// Why a scenario cannot run on the kernel engine, in one sentence.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the kernel engine cannot play this scenario: {reason}")]
pub struct Refusal {
    /// The reason.
    pub reason: String,
}
