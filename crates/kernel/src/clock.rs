//! The wall clock as a run sees it, and what a thread may do to be on time.

use std::fs;
use std::time::Duration;

use lasthop_units::{Span, Time};
use nix::libc;
use nix::time::{ClockId, clock_gettime};

/// `CLOCK_MONOTONIC` counted from the start of a run. BPF timestamps
/// (`bpf_ktime_get_ns`) are on the same clock.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start_ns: u64,
}

fn monotonic_ns() -> u64 {
    // The clock exists on every Linux; zero would only stop time.
    clock_gettime(ClockId::CLOCK_MONOTONIC)
        .map_or(0, |t| t.tv_sec() as u64 * 1_000_000_000 + t.tv_nsec() as u64)
}

impl Clock {
    /// A clock that reads zero now.
    pub fn start() -> Self {
        Self {
            start_ns: monotonic_ns(),
        }
    }

    /// Time since the start.
    pub fn now(&self) -> Time {
        Time::from_ns(monotonic_ns().saturating_sub(self.start_ns))
    }

    /// A reading of `CLOCK_MONOTONIC` in nanoseconds on this clock.
    pub fn at_monotonic(&self, ns: u64) -> Time {
        Time::from_ns(ns.saturating_sub(self.start_ns))
    }

    /// Sleeps until `time`.
    pub fn sleep_until(&self, time: Time) {
        let left = time.since(self.now());
        if left > Span::ZERO {
            std::thread::sleep(Duration::from_nanos(left.as_ns()));
        }
    }
}

/// What the calling thread was allowed to do for its timing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Privileges {
    /// It runs before every ordinary thread (`SCHED_FIFO`).
    pub realtime: bool,
    /// The process's memory stays resident.
    pub memory_locked: bool,
}

/// Makes the calling thread as punctual as it may be.
pub fn be_punctual() -> Privileges {
    let parameters = libc::sched_param { sched_priority: 10 };
    // SAFETY: plain system calls; the parameter struct outlives the call.
    let (realtime, memory_locked) = unsafe {
        libc::prctl(libc::PR_SET_TIMERSLACK, 1);
        let realtime = libc::sched_setscheduler(
            0,
            libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK,
            &raw const parameters,
        ) == 0;
        // With a limit in force, locking would make later allocations fail.
        let locked = memory_lock_is_unlimited()
            && libc::mlockall(libc::MCL_CURRENT | libc::MCL_FUTURE | libc::MCL_ONFAULT) == 0;
        (realtime, locked)
    };
    Privileges {
        realtime,
        memory_locked,
    }
}

/// Undoes the process-wide part of [`be_punctual`].
pub fn release_memory() {
    // SAFETY: takes no pointers.
    unsafe { libc::munlockall() };
}

fn memory_lock_is_unlimited() -> bool {
    const CAP_IPC_LOCK: u32 = 14;
    in_first_user_namespace() && crate::doctor::has_capability(CAP_IPC_LOCK)
}

/// Whether root here is root of the machine.
pub(crate) fn in_first_user_namespace() -> bool {
    fs::read_to_string("/proc/self/uid_map")
        .is_ok_and(|map| map.split_whitespace().eq(["0", "0", "4294967295"]))
}

/// Time the hypervisor took from this machine's processors so far, all of them
/// together; zero where the kernel does not say.
pub fn stolen() -> Span {
    let Ok(stat) = fs::read_to_string("/proc/stat") else {
        return Span::ZERO;
    };
    let ticks: u64 = stat
        .lines()
        .next()
        .and_then(|line| line.split_whitespace().nth(8))
        .and_then(|field| field.parse().ok())
        .unwrap_or(0);
    Span::from_ms(ticks * 10)
}
