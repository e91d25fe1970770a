//! Runs one flow over the ns-2 oracle's dumbbell and prints its trace and result.
//!
//! `cargo run --example dumbbell -- personality=ns-2 sender=reno window=64 loss=20,21 dur=20 trace=out/trace`
#![allow(clippy::print_stdout)]

#[path = "../tests/common/mod.rs"]
mod common;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use common::{Event, Losses, Setup, run};
use lasthop_tcp::{DelayedAck, Personality, ReceiveBuffer, apply_sender};
use lasthop_units::{Span, Time};

fn losses(text: Option<&String>) -> Losses {
    let Some(text) = text else {
        return Losses::default();
    };
    if let Ok(probability) = text.parse::<f64>()
        && text.contains('.')
    {
        return Losses {
            list: Vec::new(),
            probability,
        };
    }
    Losses {
        list: text.split(',').filter_map(|n| n.parse().ok()).collect(),
        probability: 0.0,
    }
}

fn main() {
    let options: BTreeMap<String, String> = std::env::args()
        .skip(1)
        .filter_map(|arg| arg.split_once('=').map(|(k, v)| (k.to_owned(), v.to_owned())))
        .collect();
    let get = |key: &str, default: &str| options.get(key).map_or_else(|| default.to_owned(), String::clone);
    let mut config = Personality::by_name(&get("personality", "ns-2"))
        .expect("personality")
        .config;
    assert!(
        apply_sender(&mut config, &get("sender", "sack")),
        "unknown sender"
    );
    let mut receiver = config.clone();
    if let Ok(window) = get("window", "10000").parse::<u64>() {
        receiver.receive_buffer = ReceiveBuffer::Fixed {
            bytes: window * u64::from(config.smss),
        };
    }
    if get("delack", "0") == "1" {
        receiver.delayed_ack = DelayedAck::Fixed {
            timeout: Span::from_ms(100),
        };
    }
    if let Some(phase) = options.get("phase") {
        config.rto.tick_phase = Span::from_us(phase.parse().expect("phase in us"));
    }
    let seconds: u64 = get("dur", "20").parse().expect("dur");
    let trace_max: u64 = get("tracemax", "5").parse().expect("tracemax");
    let smss = u64::from(config.smss);
    let outcome = run(Setup {
        sender: config,
        receiver,
        seconds,
        queue: get("qlim", "100").parse().expect("qlim"),
        down: losses(options.get("loss")),
        up: losses(options.get("revloss")),
        seed: get("seed", "1").parse().expect("seed"),
        bytes: get("xferpkts", "1000000000").parse::<u64>().expect("xferpkts") * smss,
        isn: 1000,
        trace_until: Time::ZERO + Span::from_secs(trace_max),
    });
    if let Some(path) = options.get("trace") {
        let mut text = String::from("time,event,value\n");
        for (time, event) in &outcome.trace {
            let _ = match event {
                Event::Send(packet) => writeln!(text, "{:.6},send,{packet}", time.as_secs_f64()),
                Event::Ack(packet) => writeln!(text, "{:.6},ack,{packet}", time.as_secs_f64()),
                Event::Cwnd(cwnd) => writeln!(text, "{:.6},cwnd_,{cwnd:.3}", time.as_secs_f64()),
            };
        }
        std::fs::write(path, text).expect("trace written");
    }
    let acked = outcome.server.acked_bytes();
    let stats = outcome.server.stats();
    println!(
        "goodput {} data {} rexmit {} timeouts {} cuts {} qdrops {} acked {} events {}",
        acked * 8 / seconds,
        stats.data_packets,
        stats.retransmissions,
        stats.timeouts,
        stats.cwnd_cuts,
        outcome.queue_drops,
        acked / smss,
        outcome.events
    );
}
