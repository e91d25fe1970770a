//! The same agent as a BPF program and on the path: the same ACKs, of the same
//! flows, in about the same time. Needs root with BPF; skipped with the reason
//! where that is not.

mod support;

use lasthop_kernel::{Error, Options, run_cell};
use lasthop_record::{CellRecord, FlowRow};
use support::{load_text, may_run};

const SCENARIO: &str = r#"
name = "both-ways"
duration = "20 s"
ip = "$ip"

[parameters]
ip = { default = "ipv4", help = "The network layer." }
via = { default = "userspace", help = "Where divacks run." }
large = { default = "600 kB", help = "Size of the first download." }
small = { default = "60 kB", help = "Size of the second." }

[hosts.server]
personality = "linux-6"
congestion_control = "reno"
ack_counting = "per-ack"

[hosts.client]
personality = "linux-6"
delayed_ack = "off"

[[path]]
name = "wire"
type = "wired"
rate = "20 Mbit/s"
delay = "20 ms"
queue = "1000 packets"

[[agents]]
type = "divacks"
at = "client"
count = 4
via = "$via"

[[workloads]]
name = "large"
type = "bulk"
bytes = "$large"

[[workloads]]
name = "small"
type = "bulk"
bytes = "$small"
"#;

/// The same cell with the agent on the path and as a BPF program; `None` where
/// this user or this kernel may not.
fn both(ip: &str) -> Option<[CellRecord; 2]> {
    if !may_run() {
        return None;
    }
    let run = |via| {
        let plan = load_text(SCENARIO, &[("ip", ip), ("via", via)]);
        run_cell(&plan.variants[0], 1, &Options::default())
    };
    match (run("userspace"), run("ebpf")) {
        (Ok(userspace), Ok(ebpf)) => Some([userspace, ebpf]),
        (Err(reason @ Error::Unavailable(_)), _) | (_, Err(reason @ Error::Unavailable(_))) => {
            eprintln!("SKIPPED: {reason}");
            None
        }
        (Err(error), _) | (_, Err(error)) => panic!("{error}"),
    }
}

fn seconds(flow: &FlowRow) -> f64 {
    flow.end
        .expect("the download is finished")
        .since(flow.start)
        .as_secs_f64()
}

/// Whether the path carried its packets when they were due.
fn in_time(record: &CellRecord) -> bool {
    record.totals.contains(&("valid", 1.0))
}

fn apart(one: f64, other: f64) -> f64 {
    (one - other).abs() / one
}

fn agree(ip: &str) {
    let Some([userspace, ebpf]) = both(ip) else {
        return;
    };
    for (on_path, in_kernel) in userspace.flows.iter().zip(&ebpf.flows) {
        let name = &on_path.workload;
        // Every immediate ACK of new data is preceded by four, of whichever flow.
        for flow in [on_path, in_kernel] {
            let share = flow.divided_acks as f64 / flow.acks_sent.unwrap_or(0) as f64;
            assert!((3.3..=4.0).contains(&share), "{name}: {share}: {flow:?}");
        }
        let divided = apart(on_path.divided_acks as f64, in_kernel.divided_acks as f64);
        assert!(divided < 0.05, "{name}: {on_path:?} {in_kernel:?}");
    }
    let [large, small] = [0, 1].map(|flow| ebpf.flows[flow].divided_acks);
    assert!(large > 5 * small, "{large} and {small}: each flow has its own");
    if ![&userspace, &ebpf].into_iter().all(in_time) {
        eprintln!("SKIPPED: the times: this machine was late beyond the bound in every attempt");
        return;
    }
    let [on_path, in_kernel] = [&userspace, &ebpf].map(|record| seconds(&record.flows[0]));
    assert!(apart(on_path, in_kernel) < 0.05, "{on_path} s, {in_kernel} s");
}

#[test]
fn bpf_and_the_path_divide_alike_over_ipv4() {
    agree("ipv4");
}

#[test]
fn bpf_and_the_path_divide_alike_over_ipv6() {
    agree("ipv6");
}
