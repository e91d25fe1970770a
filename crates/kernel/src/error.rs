//! What can go wrong when hosts are built, driven and given work.

use std::io;

use thiserror::Error;

/// A failure of the kernel engine. Each says what was attempted.
#[derive(Debug, Error)]
pub enum Error {
    /// A system call failed.
    #[error("cannot {attempt}: {source}")]
    System {
        /// What was attempted, as it reads after "cannot".
        attempt: String,
        /// The system's answer.
        source: io::Error,
    },
    /// This machine, or this user, lacks something the run needs.
    #[error("{0}")]
    Unavailable(String),
    /// The scenario asks for something the Linux stack cannot play.
    #[error(transparent)]
    Refused(#[from] crate::Refusal),
    /// Nobody waits for the run any more.
    #[error("the run was stopped")]
    Stopped,
    /// A worker thread of the engine panicked.
    #[error("the {0} thread stopped unexpectedly")]
    Panicked(&'static str),
}

impl Error {
    /// A failed system call; `attempt` reads after "cannot".
    pub(crate) fn system(attempt: impl Into<String>, source: impl Into<io::Error>) -> Self {
        Self::System {
            attempt: attempt.into(),
            source: source.into(),
        }
    }
}

/// Turns a failed system call into an [`Error`] that says what was attempted.
pub(crate) trait Attempt<T> {
    /// `attempt` reads after "cannot".
    fn attempt(self, attempt: impl FnOnce() -> String) -> Result<T, Error>;
}

impl<T, E: Into<io::Error>> Attempt<T> for Result<T, E> {
    fn attempt(self, attempt: impl FnOnce() -> String) -> Result<T, Error> {
        self.map_err(|source| Error::system(attempt(), source))
    }
}
