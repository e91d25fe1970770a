//! A bound on the window a socket announces, held against the kernel's own idea.

use std::io;
use std::os::fd::{AsFd, AsRawFd};

use nix::libc;

/// The most a socket announces, in bytes (`TCP_WINDOW_CLAMP`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WindowClamp(pub(crate) u32);

impl WindowClamp {
    /// Sets the bound; a listening socket hands it on to those it accepts.
    pub(crate) fn apply(self, socket: &impl AsFd) -> io::Result<()> {
        let value = self.value();
        // SAFETY: the value outlives the call and its size is stated.
        let result = unsafe {
            libc::setsockopt(
                socket.as_fd().as_raw_fd(),
                libc::IPPROTO_TCP,
                libc::TCP_WINDOW_CLAMP,
                (&raw const value).cast(),
                size_of::<libc::c_int>() as libc::socklen_t,
            )
        };
        if result == 0 {
            Ok(())
        } else {
            Err(io::Error::last_os_error())
        }
    }

    /// Sets the bound again if the kernel has moved it, which it does whenever
    /// it learns how much memory a segment takes (`tcp_measure_rcv_mss`).
    pub(crate) fn hold(self, socket: &impl AsFd) -> io::Result<()> {
        if in_force(socket)? == self.value() {
            Ok(())
        } else {
            self.apply(socket)
        }
    }

    fn value(self) -> libc::c_int {
        self.0.min(i32::MAX as u32).cast_signed()
    }
}

fn in_force(socket: &impl AsFd) -> io::Result<libc::c_int> {
    let mut value: libc::c_int = 0;
    let mut size = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: value and size outlive the call, and the size is the value's.
    let result = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_WINDOW_CLAMP,
            (&raw mut value).cast(),
            &raw mut size,
        )
    };
    if result == 0 {
        Ok(value)
    } else {
        Err(io::Error::last_os_error())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn a_moved_bound_is_set_again() {
        let socket = TcpListener::bind("127.0.0.1:0").unwrap();
        let clamp = WindowClamp(100_000);
        clamp.apply(&socket).unwrap();
        assert_eq!(in_force(&socket).unwrap(), 100_000);
        WindowClamp(400_000).apply(&socket).unwrap();
        clamp.hold(&socket).unwrap();
        assert_eq!(in_force(&socket).unwrap(), 100_000);
    }
}
