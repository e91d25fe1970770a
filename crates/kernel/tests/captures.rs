//! Captures of what the engine carries besides TCP over IPv4.

#![allow(clippy::unwrap_used)]

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;

use lasthop_kernel::{Options, run_cell};
use lasthop_record::CellRecord;
use support::{SCENARIO, load_text, may_run};

/// A directory that goes with the test.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("lasthop-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        // Nothing depends on it.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn captured(text: &str, sets: &[(&str, &str)], directory: &Path) -> CellRecord {
    let options = Options {
        captures: Some(directory.to_owned()),
        attempts: 1,
        ..Options::default()
    };
    run_cell(&load_text(text, sets).variants[0], 1, &options).unwrap()
}

/// The lines tshark prints; `None`, with a word, where it is not installed.
fn tshark(capture: &Path, arguments: &[&str]) -> Option<Vec<String>> {
    let output = Command::new("tshark")
        .arg("-r")
        .arg(capture)
        .args(arguments)
        .output();
    let Ok(output) = output else {
        eprintln!("skipped: tshark is not installed");
        return None;
    };
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8(output.stdout).unwrap();
    Some(text.lines().map(str::to_owned).collect())
}

const WRONG: &str = "_ws.malformed || _ws.short || tcp.checksum.status == 0 || udp.checksum.status == 0";
const CHECK: [&str; 4] = ["-o", "tcp.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE"];

#[test]
fn ipv6_is_captured_as_it_was_on_the_wire() {
    if !may_run() {
        return;
    }
    let directory = Directory::new("ipv6");
    let record = captured(SCENARIO, &[("ip", "ipv6")], &directory.0);
    for name in ["server", "client", "client-stack"] {
        let capture = directory.0.join(format!("{name}.pcapng"));
        let Some(lines) = tshark(&capture, &["-Y", "ipv6 && tcp", "-T", "fields", "-e", "tcp.len"]) else {
            return;
        };
        let payload: u64 = lines.iter().map(|length| length.parse::<u64>().unwrap()).sum();
        let downlink = payload - 100;
        assert_eq!(
            downlink, record.flows[0].bytes,
            "the file; the request has 100 bytes"
        );
        let arguments = [CHECK.as_slice(), &["-Y", WRONG]].concat();
        assert_eq!(tshark(&capture, &arguments), Some(Vec::new()));
    }
}

#[test]
fn datagrams_are_captured_and_times_never_go_back() {
    if !may_run() {
        return;
    }
    let text = SCENARIO.replace(
        "type = \"bulk\"\nbytes = \"$bytes\"",
        "type = \"udp\"\nrate = \"8 Mbit/s\"\npayload = \"1000 B\"",
    );
    let text = text.replace("duration = \"20 s\"", "duration = \"500 ms\"");
    let text = text.replace(
        "bytes = { default = \"300 kB\", help = \"Size of the download.\" }\n",
        "",
    );
    let directory = Directory::new("udp");
    let record = captured(&text, &[], &directory.0);
    let client = directory.0.join("client.pcapng");
    let fields = [
        "-Y",
        "udp",
        "-T",
        "fields",
        "-e",
        "frame.time_relative",
        "-e",
        "udp.length",
    ];
    let Some(lines) = tshark(&client, &fields) else {
        return;
    };
    let times: Vec<f64> = lines
        .iter()
        .map(|line| line.split('\t').next().unwrap().parse().unwrap())
        .collect();
    assert!(times.is_sorted());
    assert!(lines.iter().all(|line| line.ends_with("\t1008")));
    // What arrives while the run ends may miss the count of its program.
    let delivered = record.flows[0].delivered_bytes.unwrap() / 1000;
    assert!(
        delivered > 100 && lines.len() as u64 >= delivered,
        "{} of {delivered}",
        lines.len()
    );
}
