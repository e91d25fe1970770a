//! What one data packet costs the two endpoints together: sent, received,
//! acknowledged, the ACK processed. In order, at a steady pace, no network.
//!
//! `cargo run --release --example packet_cost -- [packets] [personality] [sender]`
#![allow(clippy::print_stdout)]

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use lasthop_tcp::{Endpoint, Personality, ReceiveBuffer, Role, Segment, apply_sender};
use lasthop_units::{Span, Time};

/// Nanoseconds per data packet for `packets` packets over a pipe of 100 packets.
fn cost(personality: &str, sender: &str, packets: u64, loss_every: u64) -> (f64, u64) {
    let mut config = Personality::by_name(personality)
        .expect("a known personality")
        .config;
    assert!(apply_sender(&mut config, sender));
    let mut receiver = config.clone();
    receiver.receive_buffer = ReceiveBuffer::Fixed {
        bytes: 100 * u64::from(config.smss),
    };
    let total = packets * u64::from(config.smss);
    let mut server = Endpoint::new(Arc::new(config), Role::Active, 1);
    let mut client = Endpoint::new(Arc::new(receiver), Role::Passive, 2);
    let pace = Span::from_us(832);
    let delay = pace * 50;
    let mut down: VecDeque<(Time, Segment)> = VecDeque::new();
    let mut up: VecDeque<(Time, Segment)> = VecDeque::new();
    let mut now = Time::ZERO;
    let mut free = Time::ZERO;
    let mut carried = 0;
    server.connect(now);
    server.send(now, total);
    let begin = Instant::now();
    loop {
        while let Some(segment) = server.poll_transmit(now) {
            carried += 1;
            free = free.max(now) + pace;
            if loss_every == 0 || carried % loss_every != 0 {
                down.push_back((free + delay, segment));
            }
        }
        let data = down.front().map_or(Time::MAX, |&(at, _)| at);
        let ack = up.front().map_or(Time::MAX, |&(at, _)| at);
        let timer = server.next_deadline();
        let delayed = client.next_deadline();
        let next = data.min(ack).min(timer).min(delayed);
        if server.acked_bytes() == total {
            break;
        }
        now = next;
        if next == data {
            let Some((_, segment)) = down.pop_front() else {
                break;
            };
            client.on_segment(now, &segment);
        } else if next == ack {
            let Some((_, segment)) = up.pop_front() else { break };
            server.on_segment(now, &segment);
            continue;
        } else {
            server.on_deadline(now);
            client.on_deadline(now);
        }
        while let Some(segment) = client.poll_transmit(now) {
            up.push_back((now + delay, segment));
        }
    }
    let spent = begin.elapsed();
    (
        spent.as_nanos() as f64 / server.stats().data_packets as f64,
        server.stats().retransmissions,
    )
}

fn main() {
    let packets = std::env::args()
        .nth(1)
        .and_then(|n| n.parse().ok())
        .unwrap_or(1_000_000);
    let only: Vec<String> = std::env::args().skip(2).collect();
    println!(
        "endpoint {} bytes, segment {} bytes",
        size_of::<Endpoint>(),
        size_of::<Segment>()
    );
    for (personality, sender, loss) in [
        ("ns-2", "sack", 0),
        ("ns-2", "newreno", 0),
        ("linux-6", "sack", 0),
        ("linux-6", "cubic", 0),
        ("linux-2.6", "sack", 0),
        ("freebsd-14", "cubic", 0),
        ("ns-2", "sack", 100),
        ("linux-6", "cubic", 100),
    ] {
        if only.first().is_some_and(|name| name != personality)
            || only.get(1).is_some_and(|name| name != sender)
        {
            continue;
        }
        let best = (0..3)
            .map(|_| cost(personality, sender, packets, loss))
            .fold((f64::MAX, 0), |best, run| if run.0 < best.0 { run } else { best });
        println!(
            "{personality:>10} {sender:<8} loss 1/{loss:<4} {:6.1} ns per data packet, {} resent",
            best.0, best.1
        );
    }
}
