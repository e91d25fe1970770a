//! What this machine can run, by trying it.

use crate::netns::last;
use crate::object::{DIVACK, PER_ACK};
use crate::{Divack, DivackSettings, Error, Filter, Hook, Trace};

/// Something lasthop can use, and whether it is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Feature {
    /// Its name.
    pub name: &'static str,
    /// Whether it works here.
    pub available: bool,
    /// What it is for, or what is missing and what to do about it.
    pub reason: String,
}

impl Feature {
    fn of(name: &'static str, purpose: &str, tried: Result<(), Error>) -> Self {
        match tried {
            Ok(()) => Self {
                name,
                available: true,
                reason: purpose.to_owned(),
            },
            Err(error) => Self {
                name,
                available: false,
                reason: error.to_string(),
            },
        }
    }
}

/// Tries every BPF feature without touching the machine: programs are loaded
/// and dropped again, attached only to the loopback of a namespace made for it,
/// and no congestion control is registered.
pub fn probe() -> Vec<Feature> {
    vec![
        Feature::of("btf", "programs adapt to this kernel", btf()),
        Feature::of(
            "divack",
            "ACKs can be divided in the kernel",
            DIVACK.open().and_then(|open| DIVACK.load(open)).map(drop),
        ),
        Feature::of("tcx", "divack goes away with its process", on_loopback(Hook::Tcx)),
        Feature::of(
            "clsact",
            "divack on kernels before 6.6",
            on_loopback(Hook::Clsact),
        ),
        Feature::of(
            "per-ack",
            "a sender that counts ACKs",
            PER_ACK.open().and_then(|open| PER_ACK.load(open)).map(drop),
        ),
        Feature::of(
            "tcp-trace",
            "the kernel's TCP state at every segment",
            Trace::start(&Filter::default()).map(drop),
        ),
    ]
}

fn btf() -> Result<(), Error> {
    let file = std::fs::metadata("/sys/kernel/btf/vmlinux");
    file.map(drop).map_err(|reason| Error::System {
        what: "the kernel has no BTF (CONFIG_DEBUG_INFO_BTF) at /sys/kernel/btf/vmlinux",
        reason,
    })
}

/// Attaches divack in a fresh network namespace, which ends with its thread.
fn on_loopback(hook: Hook) -> Result<(), Error> {
    const LOOPBACK: u32 = 1;
    std::thread::spawn(move || {
        // SAFETY: only this thread's namespace changes, and the thread ends here.
        if unsafe { libc::unshare(libc::CLONE_NEWNET) } != 0 {
            return Err(last("making a network namespace (needs root)"));
        }
        Divack::attach_by(hook, None, LOOPBACK, DivackSettings::default()).map(drop)
    })
    .join()
    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
