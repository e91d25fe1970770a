//! Whole runs on the real stack. They need root (or a user namespace) and are
//! skipped, with the reason, where hosts cannot be built.

mod support;

use std::collections::BTreeMap;

use lasthop_kernel::{Error, HttpServer, Options, Program, Session, run_cell};
use lasthop_record::{CellRecord, Place, Verdict};
use support::{may_run, plan};

fn total(record: &CellRecord, name: &str) -> f64 {
    let totals: BTreeMap<_, _> = record.totals.iter().copied().collect();
    totals[name]
}

/// A patient run: these tests judge what happens, not when.
fn options() -> Options {
    Options {
        attempts: 1,
        ..Options::default()
    }
}

#[test]
fn a_download_arrives_whole_over_a_lossy_path() {
    if !may_run() {
        return;
    }
    let plan = plan(&[("loss", "0.03")]);
    let record = run_cell(&plan.variants[0], 1, &options()).unwrap();
    let flow = &record.flows[0];
    assert_eq!(flow.delivered_bytes, Some(300_000));
    assert!(flow.end.is_some());
    assert!(flow.retransmissions > Some(0));
    assert!(total(&record, "drops_error") > 0.0);
    let last = record
        .packets
        .iter()
        .filter(|row| row.verdict == Verdict::Received);
    let delivered = last
        .filter(|row| row.place == Place::Client)
        .map(|row| row.seq_bytes + u64::from(row.length_bytes));
    assert_eq!(delivered.max(), Some(300_000));
}

#[test]
fn ipv6_takes_the_same_path() {
    if !may_run() {
        return;
    }
    let record = run_cell(&plan(&[("ip", "ipv6")]).variants[0], 1, &options()).unwrap();
    assert_eq!(record.flows[0].delivered_bytes, Some(300_000));
    // 1500 bytes less 72 bytes of headers: IPv6 segments are 20 bytes shorter.
    let longest = record.packets.iter().map(|row| row.length_bytes).max();
    assert_eq!(longest, Some(1428));
}

#[test]
fn divided_acks_multiply_in_user_space_as_in_ebpf() {
    if !may_run() {
        return;
    }
    let plan = plan(&[("count", "3")]);
    for ebpf in [false, true] {
        let record = match run_cell(&plan.variants[0], 1, &Options { ebpf, ..options() }) {
            Ok(record) => record,
            Err(reason) => {
                eprintln!("skipped with ebpf = {ebpf}: {reason}");
                continue;
            }
        };
        let flow = &record.flows[0];
        assert_eq!(flow.delivered_bytes, Some(300_000));
        // Every immediate ACK of new data is preceded by three divided ones.
        let share = flow.divided_acks as f64 / flow.acks_sent.unwrap() as f64;
        assert!((2.5..=3.0).contains(&share), "ebpf = {ebpf}: {share}");
    }
}

#[test]
fn only_a_sender_that_counts_acks_is_moved_by_divided_ones() {
    if !may_run() {
        return;
    }
    // The window, in segments, when the first ten segments are acknowledged.
    let window = |counting: &str, count: &str| {
        let plan = plan(&[("counting", counting), ("count", count)]);
        let record = run_cell(&plan.variants[0], 1, &options())?;
        let first_flight = record.samples.iter().filter(|row| row.snd_una_bytes <= 14_480);
        Ok::<_, Error>(
            first_flight
                .map(|row| row.cwnd_bytes as u64 / 1448)
                .max()
                .unwrap_or(0),
        )
    };
    assert_eq!(window("per-segment", "0").unwrap(), 20);
    assert_eq!(window("per-segment", "3").unwrap(), 20);
    match window("per-ack", "3") {
        Ok(moved) => assert_eq!(moved, 50),
        Err(reason) => eprintln!("skipped: {reason}"),
    }
}

#[test]
fn curl_fetches_a_file_by_the_servers_name() {
    if !may_run() {
        return;
    }
    let world = plan(&[]).variants[0].world.clone();
    let session = Session::open(&world, 1, &Options::default()).unwrap();
    let _server = HttpServer::start(&session, "server", 80, None).unwrap();
    let command = [
        "curl",
        "-s",
        "-o",
        "/dev/null",
        "-w",
        "%{http_code} %{size_download}",
        "http://server/bytes/200000",
    ];
    let program = Program {
        command: command.map(Into::into).to_vec(),
        variables: Vec::new(),
        terminal: false,
    };
    match session.spawn("client", program) {
        Ok(child) => {
            let output = child.wait_with_output().unwrap();
            assert_eq!(String::from_utf8_lossy(&output.stdout), "200 200000");
        }
        Err(reason) => eprintln!("skipped: {reason}"),
    }
}

#[test]
fn what_the_kernel_cannot_play_is_refused_in_one_sentence() {
    let mut variant = plan(&[]).variants[0].clone();
    variant.world.hosts[0].tcp.recovery = lasthop_tcp::Recovery::Tahoe;
    let refusal = run_cell(&variant, 1, &options()).unwrap_err().to_string();
    assert!(refusal.contains("tahoe") && !refusal.contains('\n'), "{refusal}");
}

#[test]
fn a_command_runs_in_its_host_and_its_exit_and_output_are_kept() {
    if !may_run() {
        return;
    }
    let command = |run: &str| {
        let workload = format!("type = \"command\"\nname = \"fetch\"\nrun = '{run}'");
        let text = support::SCENARIO.replace("type = \"bulk\"\nbytes = \"$bytes\"", &workload);
        let text = text.replace(
            "bytes = { default = \"300 kB\", help = \"Size of the download.\" }\n",
            "",
        );
        let options = lasthop_scenario::LoadOptions::default();
        lasthop_scenario::load(&text, "command.toml", &options).unwrap_or_else(|errors| panic!("{errors:?}"))
    };
    let outputs = std::env::temp_dir().join(format!("lasthop-outputs-{}", std::process::id()));
    std::fs::create_dir_all(&outputs).unwrap();
    let options = Options {
        outputs: Some(outputs.clone()),
        ..options()
    };
    let plan =
        command("curl -sS -o /dev/null -w \"%{size_download}\" http://server/bytes/200000; echo done >&2");
    let record = run_cell(&plan.variants[0], 1, &options).unwrap();
    let exits = |record: &CellRecord| {
        record
            .events
            .iter()
            .filter(|event| event.kind == "exit")
            .map(|event| event.value)
            .collect::<Vec<_>>()
    };
    assert_eq!(exits(&record), [0.0]);
    assert!(record.flows[0].end.is_some());
    assert_eq!(
        std::fs::read_to_string(outputs.join("fetch-0.out")).unwrap(),
        "200000"
    );
    assert_eq!(
        std::fs::read_to_string(outputs.join("fetch-0.err")).unwrap(),
        "done\n"
    );
    let record = run_cell(&command("exit 3").variants[0], 1, &options).unwrap();
    assert_eq!(exits(&record), [3.0]);
    assert!(record.events.iter().any(|event| event.kind == "failed"));
    std::fs::remove_dir_all(&outputs).unwrap();
    // The simulator has no programs.
    let refusal = lasthop_sim::run_cell(&plan.variants[0], 1)
        .unwrap_err()
        .to_string();
    assert!(refusal.contains("kernel engine"), "{refusal}");
}

#[test]
fn a_saturating_sender_is_refused_with_a_reason() {
    let text = support::SCENARIO
        .replace(
            "type = \"bulk\"\nbytes = \"$bytes\"",
            "type = \"udp\"\nrate = \"saturate\"\npayload = \"1000 B\"",
        )
        .replace(
            "bytes = { default = \"300 kB\", help = \"Size of the download.\" }\n",
            "",
        );
    let options = lasthop_scenario::LoadOptions::default();
    let plan =
        lasthop_scenario::load(&text, "udp.toml", &options).unwrap_or_else(|errors| panic!("{errors}"));
    let refusal = lasthop_kernel::capability(&plan.variants[0].world)
        .unwrap_err()
        .to_string();
    assert!(
        refusal.contains("workload \"udp\" saturates the path"),
        "{refusal}"
    );
}

#[test]
fn a_run_that_nobody_waits_for_is_given_up() {
    if !may_run() {
        return;
    }
    let stop = std::sync::atomic::AtomicBool::new(false);
    let plan = plan(&[("bytes", "1000 GB")]);
    std::thread::scope(|scope| {
        let run = scope.spawn(|| lasthop_kernel::run_cell_until(&plan.variants[0], 1, &options(), &stop));
        std::thread::sleep(std::time::Duration::from_millis(200));
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(matches!(run.join().unwrap(), Err(Error::Stopped)));
    });
}
