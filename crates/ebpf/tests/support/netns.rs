//! Nameless network namespaces.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::process::Command;

/// A network namespace that ends with this value.
pub struct Namespace {
    file: File,
}

impl Namespace {
    /// A namespace with loopback up.
    pub fn new() -> Self {
        let namespace = Self::try_new().expect("a network namespace");
        namespace.ip("link set lo up");
        namespace
    }

    /// As [`Namespace::new`], where it may fail.
    pub fn try_new() -> io::Result<Self> {
        std::thread::spawn(|| {
            // SAFETY: only this thread's namespace changes, and the thread ends here.
            if unsafe { libc::unshare(libc::CLONE_NEWNET) } != 0 {
                return Err(io::Error::last_os_error());
            }
            Ok(Self {
                file: File::open("/proc/thread-self/ns/net")?,
            })
        })
        .join()
        .expect("no panic")
    }

    /// Its descriptor.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Runs `work` inside. Sockets and devices opened there stay there.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        std::thread::scope(|scope| {
            scope
                .spawn(|| {
                    // SAFETY: only this thread's namespace changes.
                    let entered = unsafe { libc::setns(self.file.as_raw_fd(), libc::CLONE_NEWNET) };
                    assert_eq!(entered, 0, "setns: {}", io::Error::last_os_error());
                    work()
                })
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    /// Runs `ip` with these arguments inside.
    pub fn ip(&self, arguments: &str) {
        self.run(|| {
            let output = Command::new("ip")
                .args(arguments.split_whitespace())
                .output()
                .expect("ip (iproute2)");
            assert!(
                output.status.success(),
                "ip {arguments}: {}",
                String::from_utf8_lossy(&output.stderr)
            );
        });
    }

    /// A path by which another process can open it.
    pub fn path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.file.as_raw_fd())
    }

    /// An interface's index.
    pub fn ifindex(&self, name: &str) -> u32 {
        self.run(|| {
            let name = std::ffi::CString::new(name).expect("no NUL");
            // SAFETY: the name is NUL-terminated.
            let index = unsafe { libc::if_nametoindex(name.as_ptr()) };
            assert_ne!(index, 0, "no interface {name:?}");
            index
        })
    }
}

/// Two namespaces joined by a veth pair named `eth`, with addresses
/// 10.0.0.1 and .2, `fd00::1` and `fd00::2`. Its ends compute checksums in full.
pub fn pair() -> (Namespace, Namespace) {
    let (server, client) = (Namespace::new(), Namespace::new());
    server.ip(&format!(
        "link add eth type veth peer name eth netns {}",
        client.path()
    ));
    for (namespace, host) in [(&server, 1), (&client, 2)] {
        namespace.ip(&format!("addr add 10.0.0.{host}/24 dev eth"));
        namespace.ip(&format!("addr add fd00::{host}/64 dev eth nodad"));
        namespace.run(|| super::device::checksum_offload_off("eth"));
        namespace.ip("link set eth up");
    }
    (server, client)
}
