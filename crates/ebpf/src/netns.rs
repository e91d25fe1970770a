//! Doing something inside a network namespace.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use crate::Error;

/// Runs `work` in the namespace `netns` refers to, or in the caller's when
/// `None`. It runs on a thread of its own, because a namespace belongs to a
/// thread and a failed return to the old one could not be repaired.
pub(crate) fn within<T: Send>(
    netns: Option<BorrowedFd<'_>>,
    work: impl FnOnce() -> Result<T, Error> + Send,
) -> Result<T, Error> {
    let Some(netns) = netns else { return work() };
    std::thread::scope(|scope| {
        scope
            .spawn(|| {
                // SAFETY: the descriptor is open for the call's duration; only
                // this thread changes its namespace.
                if unsafe { libc::setns(netns.as_raw_fd(), libc::CLONE_NEWNET) } != 0 {
                    return Err(last("entering the network namespace"));
                }
                work()
            })
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// The number that names a network namespace in [`crate::Sample`] and
/// [`crate::Filter`]: the inode of its file.
///
/// # Errors
/// When the descriptor's metadata cannot be read.
pub fn inode(netns: BorrowedFd<'_>) -> io::Result<u32> {
    use std::os::unix::fs::MetadataExt;
    let file = std::fs::File::from(netns.try_clone_to_owned()?);
    // The kernel's `inum` has 32 bits.
    Ok(file.metadata()?.ino() as u32)
}

/// Bytes of link-layer header packets of this interface have where programs
/// see them: 14 on Ethernet, veth and loopback, 0 on a TUN device.
pub(crate) fn link_header_bytes(ifindex: u32) -> Result<u32, Error> {
    const ARPHRD_ETHER: u16 = 1;
    const ARPHRD_LOOPBACK: u16 = 772;
    let what = "reading the interface's link type";
    // SAFETY: an all-zero ifreq is a valid value of that plain C structure.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    // SAFETY: ifr_name has room for IF_NAMESIZE bytes, which the call needs.
    if unsafe { libc::if_indextoname(ifindex, request.ifr_name.as_mut_ptr()) }.is_null() {
        return Err(last(what));
    }
    let socket =
        std::net::UdpSocket::bind(("127.0.0.1", 0)).or_else(|_| std::net::UdpSocket::bind(("::", 0)));
    let socket = socket.map_err(|reason| Error::System { what, reason })?;
    // SAFETY: SIOCGIFHWADDR reads the name of the ifreq and writes its address.
    if unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCGIFHWADDR, &raw mut request) } != 0 {
        return Err(last(what));
    }
    // SAFETY: the successful call filled this member of the union.
    let kind = unsafe { request.ifr_ifru.ifru_hwaddr.sa_family };
    Ok(if kind == ARPHRD_ETHER || kind == ARPHRD_LOOPBACK {
        14
    } else {
        0
    })
}

/// The error of the call just made.
pub(crate) fn last(what: &'static str) -> Error {
    Error::System {
        what,
        reason: io::Error::last_os_error(),
    }
}
