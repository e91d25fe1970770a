//! What this machine and this user can run, by trying it.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use nix::unistd::geteuid;

use crate::capability::available_controls;
use crate::clock::be_punctual;
use crate::error::Attempt;
use crate::user_namespace::become_root_in;
use crate::{Error, Namespace, Tun, connections};

/// Numbers of capabilities in `linux/capability.h`.
pub(crate) const CAP_NET_ADMIN: u32 = 12;
pub(crate) const CAP_SYS_ADMIN: u32 = 21;

/// One line of the doctor's table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What was looked at.
    pub name: String,
    /// Whether it is as it should be.
    pub available: bool,
    /// What was found.
    pub detail: String,
    /// What to do about a lack; empty when there is none.
    pub remedy: String,
}

impl Finding {
    fn new(name: &str, available: bool, detail: impl Into<String>, remedy: &str) -> Self {
        let remedy = if available {
            String::new()
        } else {
            remedy.to_owned()
        };
        Self {
            name: name.to_owned(),
            available,
            detail: detail.into(),
            remedy,
        }
    }
}

/// Looks at everything the kernel engine uses; takes about a second.
pub fn doctor() -> Vec<Finding> {
    let mut findings = vec![
        kernel(),
        root(),
        namespaces(),
        user_namespaces(),
        tun(),
        connections(),
    ];
    findings.push(congestion_controls());
    findings.extend(lasthop_ebpf::probe().into_iter().map(|feature| {
        let remedy = "run as root on Linux 6.6 or later with BTF; everything else works without";
        Finding::new(
            &format!("bpf: {}", feature.name),
            feature.available,
            feature.reason,
            remedy,
        )
    }));
    findings.push(timing());
    findings.push(stalls());
    findings
}

fn kernel() -> Finding {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let release = release.trim();
    let major = release
        .split('.')
        .next()
        .and_then(|number| number.parse().ok())
        .unwrap_or(0);
    Finding::new(
        "kernel",
        major >= 6,
        format!("Linux {release}"),
        "use Linux 6 or later: the engine plays the stack linux-6",
    )
}

fn root() -> Finding {
    let first = crate::clock::in_first_user_namespace();
    let root = geteuid().is_root() && first && has_capability(CAP_SYS_ADMIN);
    let detail = match (root, first) {
        (true, _) => "yes",
        (false, true) => "no",
        (false, false) => "of a user namespace only",
    };
    Finding::new(
        "root",
        root,
        detail,
        "not needed where user namespaces work, except for BPF and real-time scheduling",
    )
}

fn namespaces() -> Finding {
    match Namespace::create() {
        Ok(_) => Finding::new("network namespaces", true, "can be created", ""),
        Err(error) => Finding::new(
            "network namespaces",
            false,
            error.to_string(),
            "run as root, or let lasthop use user namespaces",
        ),
    }
}

fn user_namespaces() -> Finding {
    let mut command = Command::new("/proc/self/exe");
    // Anything that starts will do; only whether it may start matters.
    command
        .args(["--version"])
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null());
    become_root_in(&mut command);
    let outcome = command.spawn().and_then(|mut child| child.wait());
    match outcome {
        Ok(_) => Finding::new("user namespaces", true, "normal users can run scenarios", ""),
        Err(error) => Finding::new(
            "user namespaces",
            false,
            error.to_string(),
            "raise sysctl user.max_user_namespaces, allow kernel.unprivileged_userns_clone, or run as root",
        ),
    }
}

/// What to do about everything that needs a network namespace where there is none.
const NO_NAMESPACE: &str = "make network namespaces possible";

fn tun() -> Finding {
    let remedy = "load the module tun and make /dev/net/tun accessible";
    if !fs::exists("/dev/net/tun").unwrap_or(false) {
        return Finding::new("tun", false, "/dev/net/tun is missing", remedy);
    }
    inside("tun", "with segmentation offload", remedy, || {
        Tun::open(true).map(drop)
    })
}

fn connections() -> Finding {
    inside(
        "ending connections",
        "connections end with their run",
        "use a kernel with CONFIG_INET_DIAG_DESTROY; without it a run's open connections hold its \
         namespaces for minutes after its end",
        || connections::can_destroy().attempt(|| "destroy sockets".into()),
    )
}

/// Tries something in a network namespace of its own.
fn inside(name: &str, found: &str, remedy: &str, work: impl FnOnce() -> Result<(), Error> + Send) -> Finding {
    match Namespace::create() {
        Err(error) => Finding::new(name, false, error.to_string(), NO_NAMESPACE),
        Ok(namespace) => match namespace.run(work) {
            Ok(()) => Finding::new(name, true, found, ""),
            Err(error) => Finding::new(name, false, error.to_string(), remedy),
        },
    }
}

fn congestion_controls() -> Finding {
    let known = available_controls();
    let complete = ["reno", "cubic"]
        .iter()
        .all(|name| known.iter().any(|known| known == name));
    Finding::new(
        "congestion controls",
        complete,
        known.join(", "),
        "load the modules tcp_cubic and others wanted",
    )
}

/// How late sleeps end, as the path thread sleeps.
fn timing() -> Finding {
    let measure = || {
        let privileges = be_punctual();
        let mut late: Vec<Duration> = (0..100).map(|_| oversleep(Duration::from_millis(2))).collect();
        late.sort_unstable();
        (privileges, late[50], late[98], late[99])
    };
    let awake = crate::wakefulness::Wakefulness::request();
    // A thread of its own: scheduling stays as it was for the caller.
    let Ok((privileges, p50, p99, max)) = std::thread::spawn(measure).join() else {
        return Finding::new("timing", false, "could not be measured", "");
    };
    crate::clock::release_memory();
    let realtime = if privileges.realtime {
        "real-time"
    } else {
        "ordinary"
    };
    let processors = match awake {
        Some(_) => "processors kept awake",
        None => "processors may doze",
    };
    Finding::new(
        "timing",
        p99 <= Duration::from_millis(2),
        format!(
            "{realtime} scheduling, {processors}, sleeps late by p50 {p50:.0?}, p99 {p99:.0?}, at most {max:.0?}"
        ),
        "quiet the machine, or give the virtual machine processors of its own",
    )
}

fn oversleep(time: Duration) -> Duration {
    let begin = Instant::now();
    std::thread::sleep(time);
    begin.elapsed().saturating_sub(time)
}

/// Gaps in a loop that does nothing but look at the clock: time taken by
/// other programs or the hypervisor.
fn stalls() -> Finding {
    let (begin, mut last) = (Instant::now(), Instant::now());
    let (mut gaps, mut longest) = (0_u32, Duration::ZERO);
    while begin.elapsed() < Duration::from_millis(200) {
        let now = Instant::now();
        let gap = now - last;
        last = now;
        longest = longest.max(gap);
        gaps += u32::from(gap > Duration::from_millis(1));
    }
    Finding::new(
        "stalls",
        gaps <= 5,
        format!("{gaps} longer than 1 ms within 0.2 s, the longest {longest:.0?}"),
        "other programs or other virtual machines use these processors; expect repeated runs",
    )
}

/// Whether the process holds a capability, by its number.
pub(crate) fn has_capability(number: u32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    status
        .lines()
        .find_map(|line| line.strip_prefix("CapEff:"))
        .and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok())
        .is_some_and(|bits| bits & (1 << number) != 0)
}
