//! However a run ends, nothing of it stays. Needs root; skipped elsewhere.
//! `LASTHOP_CYCLES` sets how many runs are killed (5 by default).

#[path = "support/traces.rs"]
mod traces;

use std::collections::BTreeMap;
use std::fs;
use std::process::Child;
use std::thread;
use std::time::{Duration, Instant};

use lasthop_kernel::{Options, Session, clean, run_cell};
use lasthop_scenario::spec::Variant;
use lasthop_scenario::{LoadOptions, load};
use lasthop_units::Stream;
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;

use traces::Runs;

/// Every kind of thing a run may hold: a sender that counts ACKs, divided ACKs
/// and samples in BPF, a transfer, programs of which one is in the background.
const SCENARIO: &str = r#"
name = "leftovers"
title = "Two hosts on a wire"
duration = "60 s"

[hosts.server]
personality = "linux-6"
sender = "sack"
congestion_control = "reno"
ack_counting = "per-ack"

[hosts.client]
personality = "linux-6"

[[path]]
name = "wire"
type = "wired"
rate = "10 Mbit/s"
delay = "10 ms"

[[agents]]
type = "divacks"
at = "client"
count = 4

[[workloads]]
type = "bulk"
bytes = "unlimited"

[[workloads]]
type = "command"
run = "curl -s -o /dev/null http://server/bytes/1000000000 & sleep 1000 & sleep 999"
serve = true

[record]
samples = "every-ack"
packets = true
"#;

/// Runs are killed at most this long after their process was started: every
/// second one while it comes up, the others while it works.
const LONGEST_LIFE_MS: [u32; 2] = [200, 1_500];

fn variant() -> Variant {
    let plan = load(SCENARIO, "leftovers.toml", &LoadOptions::default())
        .unwrap_or_else(|errors| panic!("{errors:?}"));
    plan.variants[0].clone()
}

fn options() -> Options {
    Options {
        ebpf: true,
        ..Options::default()
    }
}

fn may_run() -> bool {
    match Session::open(&variant().world, 1, &options()) {
        Ok(_) => true,
        Err(reason) => {
            eprintln!("skipped: {reason}");
            false
        }
    }
}

/// Not a test: what the tests below start and kill.
#[test]
#[ignore = "runs until it is killed"]
fn a_run_until_killed() {
    run_cell(&variant(), 1, &options()).unwrap();
}

/// Not a test: a run that comes to its own end, and then a process that goes on.
#[test]
#[ignore = "goes on until it is killed"]
fn a_process_after_its_run() {
    let mut variant = variant();
    variant.world.duration = lasthop_units::Span::from_ms(500);
    run_cell(&variant, 1, &options()).unwrap();
    thread::sleep(Duration::from_mins(1));
}

/// Waits until a run's programs have been started and its transfer is under way.
fn wait_until_under_way(runs: &Runs, run: &Child) {
    let started = until(|| {
        // The run, its warden, the shell, its two programs in the background and one in front.
        runs.processes().len() >= 6
    });
    assert!(started, "the programs of run {} were not seen", run.id());
    thread::sleep(Duration::from_millis(200));
}

/// Whether `condition` comes true within ten seconds.
fn until(condition: impl Fn() -> bool) -> bool {
    (0..500).any(|_| {
        thread::sleep(Duration::from_millis(20));
        condition()
    })
}

#[test]
fn killed_runs_leave_nothing() {
    if !may_run() {
        return;
    }
    let cycles: u32 = std::env::var("LASTHOP_CYCLES")
        .ok()
        .and_then(|count| count.parse().ok())
        .unwrap_or(5);
    let mut moment = Stream::new(u64::from(std::process::id()), "moment of death");
    let (mut slowest, mut kinds) = (Duration::ZERO, BTreeMap::new());
    for cycle in 0..cycles {
        let mut runs = Runs::new();
        let mut run = runs.start("a_run_until_killed");
        let life = Duration::from_millis(moment.below(LONGEST_LIFE_MS[cycle as usize % 2]).into());
        thread::sleep(life);
        runs.stop(&run);
        *kinds.entry(runs.seen()).or_insert(0_u32) += 1;
        run.kill().unwrap();
        run.wait().unwrap();
        clean().unwrap();
        let cleaned = Instant::now();
        let left = runs.remain_at_last();
        slowest = slowest.max(cleaned.elapsed());
        assert!(
            left.is_empty(),
            "run {cycle}, killed after {life:?}, left {left:?}"
        );
    }
    eprintln!(
        "{cycles} runs, all gone {slowest:.0?} after clean at most; \
         [BPF programs, namespaces] when killed: {kinds:?}"
    );
}

#[test]
fn a_run_killed_together_with_its_warden_leaves_nothing_after_clean() {
    if !may_run() {
        return;
    }
    let mut runs = Runs::new();
    let mut run = runs.start("a_run_until_killed");
    wait_until_under_way(&runs, &run);
    runs.stop(&run);
    if runs.seen()[1] == 0 {
        eprintln!("skipped: namespaces without a process are found since Linux 6.18");
        run.kill().unwrap();
        run.wait().unwrap();
        return;
    }
    for pid in runs.processes() {
        // Some end with the warden.
        let _ = kill(Pid::from_raw(pid.cast_signed()), Signal::SIGKILL);
    }
    run.wait().unwrap();
    let left = runs.remains();
    assert!(
        left.iter().any(|trace| trace.starts_with("directory")),
        "{left:?}"
    );
    let cleaned = clean().unwrap();
    assert!(cleaned.runs.contains(&format!("{}-0", run.id())), "{cleaned:?}");
    assert_eq!(runs.remain_at_last(), [].into());
}

#[test]
fn a_run_that_is_told_to_end_cleans_up_at_once() {
    if !may_run() {
        return;
    }
    for signal in [Signal::SIGTERM, Signal::SIGINT] {
        let mut runs = Runs::new();
        let mut run = runs.start("a_run_until_killed");
        wait_until_under_way(&runs, &run);
        killpg(Pid::from_raw(run.id().cast_signed()), signal).unwrap();
        run.wait().unwrap();
        // Nobody calls `clean` here.
        let left = runs.remain_at_last();
        assert!(left.is_empty(), "after {signal} there are still {left:?}");
    }
}

#[test]
fn a_run_that_ends_by_itself_leaves_nothing_in_its_process() {
    if !may_run() {
        return;
    }
    let mut runs = Runs::new();
    let mut process = runs.start("a_process_after_its_run");
    let begun = until(|| runs.processes().len() >= 6);
    assert!(begun, "no program of the run was seen");
    runs.stop(&process);
    assert!(runs.seen()[0] > 0, "no BPF program was seen");
    kill(Pid::from_raw(process.id().cast_signed()), Signal::SIGCONT).unwrap();
    // All that is left is the process, which goes on.
    let own = format!("process {}", process.id());
    let alone = until(|| runs.remains().into_iter().eq([own.clone()]));
    assert!(alone, "{:?}", runs.remains());
    assert!(!fs::exists(format!("/run/lasthop/{}-0", process.id())).unwrap());
    process.kill().unwrap();
    process.wait().unwrap();
}
