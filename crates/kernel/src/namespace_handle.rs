//! Names of namespaces that nothing refers to but connections of dead programs.
//!
//! Such a namespace has no path. Since Linux 6.18 its file system (nsfs) gives
//! out file handles, by which root finds it again as long as it exists.

use std::fmt::{Display, Write};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::str::FromStr;

use nix::libc;

/// Bytes a handle may have (`MAX_HANDLE_SZ`).
const MAX_BYTES: usize = 128;
/// `FD_NSFS_ROOT` in `linux/fcntl.h`: handles of namespaces need no mount point.
const NSFS_ROOT: libc::c_int = -10003;

/// `struct file_handle`.
#[repr(C)]
struct Raw {
    bytes: libc::c_uint,
    kind: libc::c_int,
    value: [u8; MAX_BYTES],
}

/// A namespace's file handle, never used again for another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamespaceHandle {
    kind: i32,
    value: Vec<u8>,
}

impl NamespaceHandle {
    /// The handle of an open namespace.
    ///
    /// # Errors
    /// Before Linux 6.18.
    pub fn of(namespace: BorrowedFd<'_>) -> io::Result<Self> {
        let mut raw = Raw {
            bytes: MAX_BYTES as libc::c_uint,
            kind: 0,
            value: [0; MAX_BYTES],
        };
        let mut mount: libc::c_int = 0;
        // SAFETY: the structure has room for as many bytes as it says.
        let failed = unsafe {
            libc::syscall(
                libc::SYS_name_to_handle_at,
                namespace.as_raw_fd(),
                c"".as_ptr(),
                &raw mut raw,
                &raw mut mount,
                libc::AT_EMPTY_PATH,
            )
        };
        if failed != 0 {
            return Err(io::Error::last_os_error());
        }
        let value = raw.value.get(..raw.bytes as usize).unwrap_or_default();
        Ok(Self {
            kind: raw.kind,
            value: value.to_vec(),
        })
    }

    /// Opens the namespace.
    ///
    /// # Errors
    /// When it is gone (`ESTALE`), or this user may not see it.
    pub fn open(&self) -> io::Result<OwnedFd> {
        let mut raw = Raw {
            bytes: self.value.len() as libc::c_uint,
            kind: self.kind,
            value: [0; MAX_BYTES],
        };
        raw.value
            .get_mut(..self.value.len())
            .ok_or(io::ErrorKind::InvalidInput)?
            .copy_from_slice(&self.value);
        // SAFETY: the structure is valid for the call; the new descriptor is
        // nobody else's.
        unsafe {
            let fd = libc::syscall(
                libc::SYS_open_by_handle_at,
                NSFS_ROOT,
                &raw const raw,
                libc::O_RDONLY | libc::O_CLOEXEC,
            );
            if fd < 0 {
                return Err(io::Error::last_os_error());
            }
            Ok(OwnedFd::from_raw_fd(fd as libc::c_int))
        }
    }
}

/// `type:hexadecimal bytes`.
impl Display for NamespaceHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:", self.kind)?;
        self.value.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for NamespaceHandle {
    type Err = io::Error;

    fn from_str(text: &str) -> io::Result<Self> {
        let (kind, digits) = text.split_once(':').ok_or(io::ErrorKind::InvalidData)?;
        let byte = |at: usize| {
            let pair = digits.get(at..at + 2)?;
            u8::from_str_radix(pair, 16).ok()
        };
        let value: Option<Vec<u8>> = (0..digits.len()).step_by(2).map(byte).collect();
        Ok(Self {
            kind: kind.parse().map_err(io::Error::other)?,
            value: value
                .filter(|value| value.len() <= MAX_BYTES)
                .ok_or(io::ErrorKind::InvalidData)?,
        })
    }
}

/// One line for each namespace that has a handle.
pub(crate) fn listed<'a>(namespaces: impl Iterator<Item = BorrowedFd<'a>>) -> String {
    let mut text = String::new();
    for handle in namespaces.filter_map(|namespace| NamespaceHandle::of(namespace).ok()) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{handle}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Namespace;
    use std::fs;
    use std::os::fd::AsFd;

    #[test]
    fn the_text_of_a_handle_gives_the_handle() {
        let handle = NamespaceHandle {
            kind: 241,
            value: vec![0, 1, 0xfe, 0xff],
        };
        assert_eq!(handle.to_string(), "241:0001feff");
        assert_eq!("241:0001feff".parse::<NamespaceHandle>().unwrap(), handle);
        for broken in ["", "241", "x:00", "241:0", "241:0g", "241:é"] {
            assert!(broken.parse::<NamespaceHandle>().is_err(), "{broken}");
        }
    }

    #[test]
    fn a_namespace_is_found_by_its_handle_while_it_exists() {
        let Ok(namespace) = Namespace::create() else {
            eprintln!("skipped: no network namespace can be made");
            return;
        };
        let Ok(handle) = NamespaceHandle::of(namespace.as_fd()) else {
            eprintln!("skipped: namespaces have no handles before Linux 6.18");
            return;
        };
        let found = match handle.open() {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                eprintln!("skipped: {error}");
                return;
            }
            found => found.unwrap(),
        };
        let link = |fd: BorrowedFd| fs::read_link(format!("/proc/self/fd/{}", fd.as_raw_fd())).unwrap();
        assert_eq!(link(found.as_fd()), link(namespace.as_fd()));
        drop((found, namespace));
        // The kernel takes it down in the background.
        let gone = (0..500).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            handle.open().is_err()
        });
        assert!(gone, "{handle} can still be opened");
    }
}
