//! Private network namespaces, held by a file descriptor alone.
//!
//! Nothing is mounted and nothing has a name in the file system: the kernel
//! removes a namespace when the last descriptor and the last process in it are
//! gone, so a killed run leaves none behind.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::thread;

use nix::sched::{CloneFlags, setns, unshare};

use crate::Error;
use crate::error::Attempt;

/// A network namespace that lives as long as this value or a process inside it.
#[derive(Debug)]
pub struct Namespace {
    file: File,
}

impl Namespace {
    /// A new, empty network namespace.
    ///
    /// # Errors
    /// When the caller may not create one: it needs `CAP_SYS_ADMIN`, as root
    /// or as the root of a user namespace.
    pub fn create() -> Result<Self, Error> {
        // A thread of its own: namespaces belong to threads, and the caller's stays put.
        on_own_thread(|| {
            unshare(CloneFlags::CLONE_NEWNET).attempt(|| "create a network namespace".into())?;
            let file =
                File::open("/proc/thread-self/ns/net").attempt(|| "open the new network namespace".into())?;
            Ok(Self { file })
        })
    }

    /// Runs `work` inside the namespace, on a thread of its own. Sockets and
    /// devices opened there stay in the namespace wherever they are used.
    ///
    /// # Errors
    /// When the namespace cannot be entered, or what `work` returns.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
        on_own_thread(|| {
            self.enter()?;
            work()
        })
    }

    /// Another descriptor of the same namespace.
    pub(crate) fn duplicate(&self) -> io::Result<OwnedFd> {
        self.file.as_fd().try_clone_to_owned()
    }

    /// Moves the calling thread into the namespace for good.
    ///
    /// # Errors
    /// When the caller lacks `CAP_SYS_ADMIN`.
    pub fn enter(&self) -> Result<(), Error> {
        setns(&self.file, CloneFlags::CLONE_NEWNET).attempt(|| "enter a host's network namespace".into())
    }
}

impl AsFd for Namespace {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl AsRawFd for Namespace {
    fn as_raw_fd(&self) -> RawFd {
        self.file.as_raw_fd()
    }
}

fn on_own_thread<T: Send>(work: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
    thread::scope(|scope| {
        scope
            .spawn(work)
            .join()
            .unwrap_or(Err(Error::Panicked("namespace")))
    })
}
