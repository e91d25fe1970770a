//! What can go wrong between a program and the kernel.

/// Why a BPF program is not running.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The kernel or libbpf refused an object.
    #[error("the kernel refused the BPF object `{object}`: {reason}{}", hint(reason, log))]
    Load {
        /// Which object.
        object: &'static str,
        /// The kernel's answer.
        reason: libbpf_rs::Error,
        /// What libbpf and the verifier said, possibly empty.
        log: String,
    },
    /// A loaded program could not be attached.
    #[error("cannot attach `{program}`: {reason}")]
    Attach {
        /// Which program.
        program: &'static str,
        /// The kernel's answer.
        reason: libbpf_rs::Error,
    },
    /// An embedded object lacks something its loader needs: source and loader
    /// disagree.
    #[error("the BPF object `{object}` has no {what} of the expected size; rebuild it with build-objects.sh")]
    Mismatch {
        /// Which object.
        object: &'static str,
        /// What is missing.
        what: &'static str,
    },
    /// Reading or writing a map failed.
    #[error("cannot access the BPF map `{map}`: {reason}")]
    Map {
        /// Which map.
        map: &'static str,
        /// The kernel's answer.
        reason: libbpf_rs::Error,
    },
    /// A network namespace could not be entered, or its interface not be read.
    #[error("{what}: {reason}")]
    System {
        /// What was tried.
        what: &'static str,
        /// The system's answer.
        reason: std::io::Error,
    },
}

/// What to do about the commonest refusal. The verifier's own, which is no
/// matter of privilege, comes with its log.
fn hint(reason: &libbpf_rs::Error, log: &str) -> &'static str {
    let unprivileged = reason.kind() == libbpf_rs::ErrorKind::PermissionDenied;
    if unprivileged && !log.contains("BEGIN PROG LOAD LOG") {
        " (BPF programs need root, and not only that of a user namespace)"
    } else {
        ""
    }
}
