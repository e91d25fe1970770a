//! Runs that are killed at random moments leave nothing behind.
//! `LASTHOP_CYCLES` sets how many (5 by default).

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use lasthop_kernel::{Options, Program, Session, clean};
use lasthop_scenario::{LoadOptions, load};
use lasthop_units::Stream;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

const SCENARIO: &str = r#"
name = "leftovers"
title = "Two hosts on a wire"
duration = "60 s"

[hosts.server]
personality = "linux-6"
sender = "sack"
ack_counting = "per-ack"

[hosts.client]
personality = "linux-6"

[[path]]
name = "wire"
type = "wired"
rate = "10 Mbit/s"
delay = "10 ms"

[[workloads]]
type = "bulk"
bytes = "unlimited"
"#;

fn may_run() -> bool {
    match Session::open(&world(), 1, &Options::default()) {
        Ok(_) => true,
        Err(reason) => {
            eprintln!("skipped: {reason}");
            false
        }
    }
}

fn world() -> lasthop_scenario::World {
    let plan = load(SCENARIO, "leftovers.toml", &LoadOptions::default())
        .unwrap_or_else(|errors| panic!("{errors:?}"));
    plan.variants[0].world.clone()
}

/// Not a test: what the cycles below start and kill.
#[test]
#[ignore = "runs until it is killed"]
fn a_run_until_killed() {
    let session = Session::open(&world(), 1, &Options::default()).unwrap();
    // A program that leaves another one in the background.
    let command = ["sh", "-c", "sleep 1000 & sleep 999"].map(Into::into).to_vec();
    let program = Program {
        command,
        variables: Vec::new(),
        terminal: false,
    };
    session.spawn("client", program).unwrap().wait().unwrap();
}

/// Everything a run could leave: namespaces of processes, programs of runs,
/// congestion controls, directories.
fn traces_of_runs() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
        let marked = environment
            .split(|&byte| byte == 0)
            .any(|word| word.starts_with(b"LASTHOP_RUN="));
        if marked {
            found.insert(format!("process {}", entry.path().display()));
        }
    }
    let controls =
        fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap_or_default();
    found.extend(
        controls
            .split_whitespace()
            .filter(|name| name.starts_with("lh_"))
            .map(str::to_owned),
    );
    for entry in fs::read_dir("/run/lasthop").into_iter().flatten().flatten() {
        found.insert(format!("directory {}", entry.path().display()));
    }
    found
}

#[test]
fn killed_runs_leave_nothing() {
    if !may_run() {
        return;
    }
    let before = traces_of_runs();
    let cycles: u32 = std::env::var("LASTHOP_CYCLES")
        .ok()
        .and_then(|count| count.parse().ok())
        .unwrap_or(5);
    let mut moment = Stream::new(u64::from(std::process::id()), "moment of death");
    for _ in 0..cycles {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "a_run_until_killed", "--ignored", "--nocapture"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        thread::sleep(Duration::from_millis(u64::from(moment.below(400))));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    // The kernel takes namespaces down in the background.
    for _ in 0..50 {
        clean().unwrap();
        clean().unwrap();
        if traces_of_runs().is_subset(&before) {
            return;
        }
        thread::sleep(Duration::from_millis(100));
    }
    let left: Vec<_> = traces_of_runs().difference(&before).cloned().collect();
    panic!("after {cycles} killed runs there are still {left:?}");
}

#[test]
fn a_run_that_is_told_to_end_cleans_up_at_once() {
    if !may_run() {
        return;
    }
    for signal in [Signal::SIGTERM, Signal::SIGINT] {
        let before = traces_of_runs();
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "a_run_until_killed", "--ignored", "--nocapture"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // A group of its own, as a shell gives it: Ctrl-C reaches all of it.
            .process_group(0)
            .spawn()
            .unwrap();
        let group = Pid::from_raw(child.id().cast_signed());
        let started = until(|| {
            traces_of_runs()
                .difference(&before)
                .any(|trace| trace.starts_with("process"))
        });
        assert!(started, "no program of the run was seen");
        killpg(group, signal).unwrap();
        child.wait().unwrap();
        // Nobody calls `clean` here.
        let gone = until(|| traces_of_runs().is_subset(&before));
        let left: Vec<_> = traces_of_runs().difference(&before).cloned().collect();
        assert!(gone, "after {signal} there are still {left:?}");
    }
}

/// Whether `condition` comes true within five seconds.
fn until(condition: impl Fn() -> bool) -> bool {
    (0..250).any(|_| {
        thread::sleep(Duration::from_millis(20));
        condition()
    })
}
