//! The first process of a run's process namespace: it waits until the program
//! that forked it is dead, and then ends what that could not end itself.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use nix::libc;
use nix::sched::{CloneFlags, unshare};

use crate::error::Attempt;
use crate::{Error, connections};

/// What a warden looks after.
#[derive(Debug, Default)]
pub(crate) struct Charge {
    /// Files and then directories to be removed.
    pub(crate) leftovers: Vec<CString>,
    /// Network namespaces whose connections are to be ended. The warden holds
    /// them open as long as it lives.
    pub(crate) namespaces: Vec<RawFd>,
    /// The run's lock, which the warden holds on to until its work is done.
    pub(crate) lock: Option<RawFd>,
}

/// A waiting warden. Dropping it ends it, and with it every process of its
/// namespace; its work is then left to the caller.
#[derive(Debug)]
pub(crate) struct Warden {
    pid: libc::pid_t,
}

impl Warden {
    /// Forks the warden; the calling thread's further children join its namespace.
    ///
    /// # Errors
    /// When a process namespace cannot be made.
    pub(crate) fn start(charge: &Charge) -> Result<Self, Error> {
        unshare(CloneFlags::CLONE_NEWPID).attempt(|| "create a process namespace".into())?;
        let watched = own_process().attempt(|| "watch over the own process".into())?;
        // Sorted, for the warden closes what lies between.
        let mut kept: Vec<RawFd> = charge.namespaces.clone();
        kept.extend(charge.lock);
        kept.push(watched.as_raw_fd());
        kept.sort_unstable();
        // SAFETY: the child makes system calls only and never returns. The raw
        // call skips the fork handlers of libraries that know nothing of this.
        let pid = unsafe { libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) };
        match pid {
            0 => guard(watched.as_raw_fd(), &kept, charge),
            -1 => Err(Error::system(
                "start the keeper process",
                io::Error::last_os_error(),
            )),
            pid => Ok(Self {
                pid: pid as libc::pid_t,
            }),
        }
    }
}

impl Drop for Warden {
    fn drop(&mut self) {
        // SAFETY: the pid is our own child's, not yet waited for.
        unsafe {
            libc::kill(self.pid, libc::SIGKILL);
            libc::waitpid(self.pid, std::ptr::null_mut(), 0);
        }
    }
}

/// A descriptor that becomes readable when this process is dead and has closed
/// its own.
fn own_process() -> io::Result<OwnedFd> {
    // SAFETY: takes no pointers; the new descriptor is nobody else's.
    unsafe {
        let fd = libc::syscall(libc::SYS_pidfd_open, libc::getpid(), 0);
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(OwnedFd::from_raw_fd(fd as RawFd))
    }
}

/// The warden's whole life. System calls only, on descriptors and memory it
/// was forked with: another thread may have held any lock at that moment.
fn guard(watched: RawFd, kept: &[RawFd], charge: &Charge) -> ! {
    detach(kept);
    wait_for(watched);
    end_programs();
    for pass in 0..PASSES {
        if pass > 0 {
            pause();
        }
        end_connections(&charge.namespaces);
    }
    // SAFETY: the paths are valid C strings of this process.
    unsafe {
        for path in &charge.leftovers {
            libc::unlink(path.as_ptr());
            libc::rmdir(path.as_ptr());
        }
        libc::_exit(0)
    }
}

/// How often, 10 ms apart, connections are ended: a program that is killed in
/// the middle of a system call may still open one.
const PASSES: u32 = 3;

/// Out of reach of what is meant for the run's process group, and of every
/// descriptor but those `kept`.
fn detach(kept: &[RawFd]) {
    // SAFETY: system calls only, on memory of this stack.
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&raw mut all);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const all, std::ptr::null_mut());
        // Orphans of the programs become ours and need no burial.
        libc::signal(libc::SIGCHLD, libc::SIG_IGN);
        libc::setsid();
        let mut from: libc::c_uint = 0;
        for &fd in kept {
            let fd = fd as libc::c_uint;
            if from < fd {
                libc::syscall(libc::SYS_close_range, from, fd - 1, 0);
            }
            from = fd + 1;
        }
        libc::syscall(libc::SYS_close_range, from, u32::MAX, 0);
    }
}

fn wait_for(watched: RawFd) {
    let mut fd = libc::pollfd {
        fd: watched,
        events: libc::POLLIN,
        revents: 0,
    };
    // SAFETY: one descriptor, valid for the call.
    unsafe { while libc::poll(&raw mut fd, 1, -1) < 0 && *libc::__errno_location() == libc::EINTR {} }
}

/// Kills every other process of the namespace. Their ends are not waited for:
/// a connection that is destroyed does no more harm, open or not.
fn end_programs() {
    // SAFETY: takes no pointers. As the first process of its namespace the
    // warden reaches only processes in there.
    unsafe {
        libc::kill(-1, libc::SIGKILL);
    }
}

fn end_connections(namespaces: &[RawFd]) {
    for &namespace in namespaces {
        // SAFETY: the descriptor was kept open.
        let entered = unsafe { libc::setns(namespace, libc::CLONE_NEWNET) } == 0;
        if entered {
            // Where the kernel cannot, time does it.
            let _ = connections::destroy();
        }
    }
}

fn pause() {
    let time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 10_000_000,
    };
    // SAFETY: the time is valid for the call.
    unsafe {
        libc::nanosleep(&raw const time, std::ptr::null_mut());
    }
}
