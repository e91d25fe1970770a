//! Whatever the network does to segments, every byte arrives once and in order,
//! and the sender keeps its promises on the way.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use lasthop_tcp::{
    AckCounting, Config, DelayedAck, Endpoint, Personality, ReceiveBuffer, Role, SENDERS, Segment, State,
    apply_sender,
};
use lasthop_units::{Span, Stream, Time};
use proptest::prelude::*;

/// What the network does.
#[derive(Clone, Debug)]
struct Trouble {
    seed: u64,
    loss: f64,
    duplication: f64,
    delay_ms: u64,
    jitter_ms: u64,
    /// Nothing passes in this span of milliseconds.
    blackout_ms: (u64, u64),
}

struct Net {
    ends: [Endpoint; 2],
    heap: BinaryHeap<Reverse<(Time, u64, usize, usize)>>,
    packets: Vec<Segment>,
    stream: Stream,
    trouble: Trouble,
    order: u64,
    /// Highest payload end sent by each side, relative to its first data byte.
    now: Time,
}

impl Net {
    fn new(server: Config, client: Config, isns: (u32, u32), trouble: Trouble) -> Self {
        let ends = [
            Endpoint::new(Arc::new(server), Role::Passive, isns.0),
            Endpoint::new(Arc::new(client), Role::Active, isns.1),
        ];
        Self {
            ends,
            heap: BinaryHeap::new(),
            packets: Vec::new(),
            stream: Stream::new(trouble.seed, "network"),
            trouble,
            order: 0,
            now: Time::ZERO,
        }
    }

    fn flush(&mut self, side: usize) {
        let now = self.now;
        while let Some(segment) = self.ends[side].poll_transmit(now) {
            self.check_sender(side, &segment);
            let lost = self.stream.chance(self.trouble.loss);
            let twice = self.stream.chance(self.trouble.duplication);
            let ms = now.as_ns() / 1_000_000;
            let dark = (self.trouble.blackout_ms.0..self.trouble.blackout_ms.1).contains(&ms);
            if lost || dark {
                continue;
            }
            for _ in 0..=u8::from(twice) {
                let jitter = self.stream.below(self.trouble.jitter_ms as u32 * 1000 + 1);
                let delay = Span::from_ms(self.trouble.delay_ms) + Span::from_us(u64::from(jitter));
                self.order += 1;
                self.packets.push(segment);
                self.heap.push(Reverse((
                    now + delay,
                    self.order,
                    1 - side,
                    self.packets.len() - 1,
                )));
            }
        }
        self.check_timer(side);
    }

    /// Limits that hold for every segment sent.
    fn check_sender(&self, side: usize, segment: &Segment) {
        let end = &self.ends[side];
        let metrics = end.metrics();
        let smss = f64::from(end.config().smss);
        assert!(metrics.cwnd_bytes >= smss.min(1.0), "cwnd below a segment");
        assert!(segment.payload_bytes <= end.config().smss);
        if segment.payload_bytes > 0 {
            let used = metrics.snd_nxt_bytes - metrics.snd_una_bytes;
            // The peer's window may have shrunk only by rounding; data sent never leaves it.
            assert!(
                used <= 2 * 14_000_000,
                "more in flight than any window announced: {used}"
            );
        }
    }

    /// A timer runs whenever data is outstanding.
    fn check_timer(&self, side: usize) {
        let end = &self.ends[side];
        let metrics = end.metrics();
        if metrics.snd_nxt_bytes > metrics.snd_una_bytes && !end.is_closed() {
            assert!(
                end.next_deadline() < Time::MAX,
                "data outstanding without a timer: {metrics:?}"
            );
        }
    }

    /// Runs until nothing happens any more or `until`.
    fn run(&mut self, until: Time) {
        self.flush(0);
        self.flush(1);
        loop {
            let timer = self.ends[0].next_deadline().min(self.ends[1].next_deadline());
            let packet = self.heap.peek().map_or(Time::MAX, |Reverse((at, ..))| *at);
            let next = timer.min(packet);
            if next > until || next == Time::MAX {
                return;
            }
            self.now = next.max(self.now);
            if packet <= timer {
                let Some(Reverse((_, _, side, index))) = self.heap.pop() else {
                    return;
                };
                let segment = self.packets[index];
                let before = self.ends[side].received_bytes();
                self.ends[side].on_segment(self.now, &segment);
                assert!(
                    self.ends[side].received_bytes() >= before,
                    "received data was taken back"
                );
                self.flush(side);
            } else {
                for side in 0..2 {
                    if self.ends[side].next_deadline() <= self.now {
                        self.ends[side].on_deadline(self.now);
                        self.flush(side);
                    }
                }
            }
        }
    }
}

fn config(personality: &str, sender: &str, counting: AckCounting) -> Config {
    let mut config = Personality::by_name(personality)
        .expect("a known personality")
        .config;
    assert!(apply_sender(&mut config, sender));
    config.ack_counting = counting;
    // Give up late enough for any pattern drawn here.
    config.rto.max_retries = 60;
    config.rto.max_syn_retries = 60;
    config.rto.max = Span::from_secs(4);
    if let ReceiveBuffer::Fixed { bytes } = &mut config.receive_buffer {
        *bytes = 64_000;
    }
    config
}

const COUNTINGS: [AckCounting; 4] = [
    AckCounting::PerAck,
    AckCounting::PerSegment,
    AckCounting::PerAckOfSegment,
    AckCounting::PerByte { limit_segments: 2 },
];

fn trouble() -> impl Strategy<Value = Trouble> {
    (
        any::<u64>(),
        0.0..0.35_f64,
        0.0..0.2_f64,
        1_u64..120,
        0_u64..80,
        0_u64..3000,
        0_u64..2500,
    )
        .prop_map(
            |(seed, loss, duplication, delay_ms, jitter_ms, from, lasts)| Trouble {
                seed,
                loss,
                duplication,
                delay_ms,
                jitter_ms,
                blackout_ms: (from, from + lasts),
            },
        )
}

fn transfer(
    personality: &str,
    sender: &str,
    counting: AckCounting,
    trouble: Trouble,
    down: u64,
    up: u64,
    isns: (u32, u32),
) {
    let server = config(personality, sender, counting);
    let client = config(personality, "newreno", AckCounting::PerSegment);
    let label = format!(
        "{personality}/{sender}/{} {trouble:?} {down} {up} {isns:?}",
        counting.name()
    );
    let mut net = Net::new(server, client, isns, trouble);
    net.ends[1].connect(Time::ZERO);
    net.ends[1].send(Time::ZERO, up);
    net.ends[1].close(Time::ZERO);
    net.ends[0].send(Time::ZERO, down);
    net.ends[0].close(Time::ZERO);
    net.run(Time::ZERO + Span::from_secs(3600));
    let [server, client] = &net.ends;
    assert_eq!(
        client.received_bytes(),
        down,
        "download of {label}: {:?}",
        server.metrics()
    );
    assert_eq!(
        server.received_bytes(),
        up,
        "upload of {label}: {:?}",
        client.metrics()
    );
    assert!(
        client.peer_closed() && server.peer_closed(),
        "{label}: {:?} {:?}",
        server.state(),
        client.state()
    );
    for end in [server, client] {
        assert!(
            matches!(end.state(), State::Closed),
            "{label}: left in {:?}",
            end.state()
        );
        assert!(!end.gave_up() && !end.was_reset(), "{label}");
    }
    assert_eq!(server.acked_bytes(), down);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_byte_arrives_once_and_in_order(
        trouble in trouble(), down in 1_u64..400_000, up in 1_u64..30_000,
        isns in (any::<u32>(), any::<u32>()),
    ) {
        for personality in Personality::names() {
            for (index, sender) in SENDERS.iter().enumerate() {
                let counting = COUNTINGS[(index + trouble.seed as usize) % COUNTINGS.len()];
                transfer(personality, sender, counting, trouble.clone(), down, up, isns);
            }
        }
    }

    #[test]
    fn sequence_numbers_wrap(trouble in trouble(), back in 0_u32..200_000) {
        for personality in Personality::names() {
            let isns = (0_u32.wrapping_sub(back), 0_u32.wrapping_sub(back / 3));
            transfer(personality, "sack", AckCounting::PerSegment, trouble.clone(), 300_000, 1000, isns);
        }
    }

    #[test]
    fn a_slow_reader_stops_the_sender_but_loses_nothing(trouble in trouble(), sip in 100_u64..5000) {
        for personality in Personality::names() {
            let server = config(personality, "sack", AckCounting::PerSegment);
            let mut client = server.clone();
            client.auto_read = false;
            client.receive_buffer = ReceiveBuffer::Fixed { bytes: 20_000 };
            client.delayed_ack = DelayedAck::from_name("fixed").expect("a name");
            let mut net = Net::new(server, client, (1, 2), trouble.clone());
            net.ends[1].connect(Time::ZERO);
            net.ends[0].send(Time::ZERO, 120_000);
            let mut read = 0;
            for step in 1..40_000_u64 {
                net.run(Time::ZERO + Span::from_ms(step * 200));
                net.now = Time::ZERO + Span::from_ms(step * 200);
                let ready = net.ends[1].readable_bytes();
                prop_assert!(ready <= 20_000 + 1024, "buffer overrun: {ready}");
                let now = net.now;
                net.ends[1].consume(now, sip.min(ready));
                read += sip.min(ready);
                net.flush(1);
                if read == 120_000 {
                    break;
                }
            }
            prop_assert_eq!(read, 120_000, "{} {:?}", personality, net.ends[0].metrics());
        }
    }

    #[test]
    fn arbitrary_segments_do_no_harm(
        words in prop::collection::vec((any::<u32>(), any::<u32>(), 0_u32..3000, any::<u16>(), 0_u8..32,
            any::<u32>(), any::<u32>(), any::<bool>()), 1..60),
        near in any::<bool>(),
    ) {
        for personality in Personality::names() {
            let config = config(personality, "sack", AckCounting::PerSegment);
            let mut net = Net::new(config.clone(), config, (1000, 5000), Trouble {
                seed: 1, loss: 0.0, duplication: 0.0, delay_ms: 10, jitter_ms: 0, blackout_ms: (0, 0) });
            net.ends[1].connect(Time::ZERO);
            net.ends[0].send(Time::ZERO, 50_000);
            net.run(Time::ZERO + Span::from_ms(45));
            let mut now = net.now;
            for &(seq, ack, len, window, flags, left, right, option) in &words {
                let place = |word: u32, base: u32| if near { base.wrapping_add(word % 80_000).wrapping_sub(9_000) } else { word };
                let mut segment = Segment {
                    seq: lasthop_tcp::Seq(place(seq, 5001)),
                    ack: lasthop_tcp::Seq(place(ack, 1001)),
                    payload_bytes: len,
                    window,
                    flags: lasthop_tcp::Flags::from_bits(flags),
                    ..Segment::default()
                };
                if option {
                    segment.timestamps = Some(lasthop_tcp::Timestamps { value: left, echo: right });
                    segment.sack.push(lasthop_tcp::Seq(place(left, 1001)), lasthop_tcp::Seq(place(right, 1001)));
                    segment.sack.push(lasthop_tcp::Seq(place(right, 1001)), lasthop_tcp::Seq(place(left, 1001)));
                }
                now += Span::from_ms(3);
                net.ends[0].on_segment(now, &segment);
                for _ in 0..200 {
                    if net.ends[0].poll_transmit(now).is_none() { break; }
                }
                net.check_timer(0);
                let due = net.ends[0].next_deadline();
                if due < Time::MAX && option {
                    now = now.max(due);
                    net.ends[0].on_deadline(now);
                }
            }
        }
    }
}
