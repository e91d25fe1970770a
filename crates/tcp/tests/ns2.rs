//! Held to ns-2 2.35: the same packets in the same order, the same cwnd after
//! every ACK, the same goodput.

mod common;

use common::{Event, Losses, Setup, run};
use lasthop_tcp::{Config, DelayedAck, Personality, ReceiveBuffer, apply_sender};
use lasthop_units::{Span, Time};

const DROPS: &str = include_str!("oracle/drops.txt");
const MORE: &str = include_str!("oracle/more.txt");

#[derive(Debug)]
struct Case {
    sender: String,
    drops: Vec<u64>,
    ack_drops: Vec<u64>,
    delayed_ack: bool,
    queue: usize,
    window: u64,
    packets: Vec<Event>,
    cwnd: Vec<f64>,
}

fn numbers(text: &str) -> Vec<u64> {
    text.split(',').filter_map(|n| n.parse().ok()).collect()
}

fn packet(token: &str) -> Event {
    let number = token[1..].parse().expect("a packet number");
    if token.starts_with('s') {
        Event::Send(number)
    } else {
        Event::Ack(number)
    }
}

fn cases(text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("case") => {
                let words: Vec<&str> = words.collect();
                cases.push(Case {
                    sender: words[0].to_owned(),
                    drops: numbers(words[1]),
                    ack_drops: numbers(words[2]),
                    delayed_ack: words[3] == "1",
                    queue: words[4].parse().expect("a queue"),
                    window: words[5].parse().expect("a window"),
                    packets: Vec::new(),
                    cwnd: Vec::new(),
                });
            }
            Some("packets") => cases.last_mut().expect("a case").packets = words.map(packet).collect(),
            Some("cwnd") => {
                cases.last_mut().expect("a case").cwnd = words.map(|n| n.parse().expect("a cwnd")).collect();
            }
            _ => {}
        }
    }
    cases
}

fn configs(sender: &str, window: u64, delayed_ack: bool) -> (Config, Config) {
    let mut config = Personality::by_name("ns-2").expect("the personality").config;
    assert!(apply_sender(&mut config, sender), "{sender}");
    let mut receiver = config.clone();
    receiver.receive_buffer = ReceiveBuffer::Fixed {
        bytes: window * u64::from(config.smss),
    };
    if delayed_ack {
        receiver.delayed_ack = DelayedAck::Fixed {
            timeout: Span::from_ms(100),
        };
    }
    (config, receiver)
}

fn setup(sender: &str, window: u64, delayed_ack: bool, queue: usize, seconds: u64) -> Setup {
    let (sender, receiver) = configs(sender, window, delayed_ack);
    Setup {
        sender,
        receiver,
        seconds,
        queue,
        down: Losses::default(),
        up: Losses::default(),
        seed: 1,
        bytes: u64::MAX / 4,
        isn: u32::MAX - 50_000,
        trace_until: Time::ZERO,
    }
}

fn replay(text: &str) {
    let cases = cases(text);
    assert!(cases.len() >= 8);
    for case in cases {
        let mut setup = setup(&case.sender, case.window, case.delayed_ack, case.queue, 6);
        setup.down.list.clone_from(&case.drops);
        setup.up.list.clone_from(&case.ack_drops);
        setup.trace_until = Time::ZERO + Span::from_secs(6);
        let trace = run(setup).trace;
        let label = format!(
            "{} drops {:?} acks {:?} window {}",
            case.sender, case.drops, case.ack_drops, case.window
        );
        let mut ours = trace.iter().filter(|(_, event)| !matches!(event, Event::Cwnd(_)));
        let mut before = Vec::new();
        for expected in &case.packets {
            let (at, event) = ours.next().expect("as many packets as ns-2");
            assert_eq!(event, expected, "{label} at {at}, after {before:?}");
            before.push(*event);
            if before.len() > 8 {
                before.remove(0);
            }
        }
        // Several changes at one instant are one change.
        let mut cwnd: Vec<(Time, f64)> = Vec::new();
        for &(at, event) in &trace {
            if let Event::Cwnd(value) = event {
                match cwnd.last_mut() {
                    Some(last) if last.0 == at => last.1 = value,
                    _ => cwnd.push((at, value)),
                }
            }
        }
        assert!(!case.cwnd.is_empty(), "{label}");
        for (index, expected) in case.cwnd.iter().enumerate() {
            let (at, value) = cwnd[index];
            assert!(
                (value - expected).abs() < 0.0011,
                "{label}: cwnd {value}, not {expected}, at {at}"
            );
        }
    }
}

#[test]
fn single_and_double_drops_are_repaired_packet_by_packet_as_in_ns2() {
    replay(DROPS);
}

#[test]
fn bursts_lost_retransmissions_lost_acks_and_full_queues_too() {
    replay(MORE);
}

#[test]
fn goodput_without_random_loss_is_that_of_ns2() {
    // dumbbell.csv: goodput in bit/s over 200 s.
    for (sender, queue, window, expected) in [
        ("tahoe", 1000, 64, 4_859_360),
        ("sack", 1000, 64, 4_859_360),
        ("tahoe", 50, 10_000, 8_503_560),
        ("reno", 50, 10_000, 8_848_520),
        ("newreno", 50, 10_000, 8_699_520),
        ("sack", 50, 10_000, 8_901_520),
        ("tahoe", 250, 10_000, 9_047_920),
        ("reno", 250, 10_000, 9_523_440),
        ("newreno", 250, 10_000, 9_523_440),
        ("sack", 250, 10_000, 9_523_440),
    ] {
        let outcome = run(setup(sender, window, false, queue, 200));
        let goodput = outcome.server.acked_bytes() * 8 / 200;
        let error = goodput.abs_diff(expected) as f64 / expected as f64;
        assert!(
            error < 0.005,
            "{sender} queue {queue}: {goodput}, ns-2 {expected}"
        );
    }
}

#[test]
fn goodput_under_random_loss_is_that_of_ns2_on_average() {
    // dumbbell.csv: mean over its seeds, 300 s each, buffer 100.
    for (sender, probability, expected) in [
        ("tahoe", 0.03, 388_208.0),
        ("reno", 0.03, 407_392.0),
        ("newreno", 0.03, 462_128.0),
        ("sack", 0.03, 453_664.0),
    ] {
        let mut sum = 0.0;
        for seed in 1..=30 {
            let mut setup = setup(sender, 10_000, false, 100, 300);
            setup.down.probability = probability;
            setup.seed = seed;
            sum += run(setup).server.acked_bytes() as f64 * 8.0 / 300.0;
        }
        let mean = sum / 30.0;
        assert!(
            (mean / expected - 1.0).abs() < 0.05,
            "{sender}: {mean}, ns-2 {expected}"
        );
    }
}
