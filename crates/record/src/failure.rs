//! What went wrong with a flow, in words; only real programs fail.

/// A flow whose program failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowFailure {
    /// The flow.
    pub flow: u32,
    /// What happened, in one sentence.
    pub reason: String,
    /// How a program of the user's ended: its exit code, or 128 and the signal's number.
    pub exit_code: Option<i32>,
    /// The last lines it wrote to its standard error.
    pub last_lines: String,
}
