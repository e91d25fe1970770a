//! What holds for divacks whatever the client sends, and that simulated
//! segments and real frames are divided alike.

mod common;

use std::collections::BTreeMap;

use common::{ack, clients, data};
use lasthop_agent::{AgentConfig, DivacksConfig, DivacksMode};
use lasthop_tcp::{Flags, SackBlocks, Segment, Seq, Timestamps};
use lasthop_units::Span;
use proptest::prelude::*;

/// A step of a client's life on one of three connections.
#[derive(Clone, Debug)]
enum Step {
    Data {
        connection: u16,
        bytes: u32,
    },
    /// An ACK `advance` bytes from the last new one.
    Ack {
        connection: u16,
        advance: i32,
        window: u16,
        timestamps: bool,
        sack: u8,
        payload_bytes: u32,
    },
    Special {
        connection: u16,
        flags: Flags,
        advance: i32,
    },
    Wait {
        us: u64,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let connection = 0u16..3;
    let advance = prop_oneof![Just(0), 1..20i32, 1..6000i32, -3000..0i32];
    prop_oneof![
        4 => (connection.clone(), 1..3000u32).prop_map(|(connection, bytes)| Step::Data { connection, bytes }),
        8 => (
            connection.clone(), advance.clone(), any::<u16>(), any::<bool>(), 0..4u8,
            prop_oneof![4 => Just(0), 1 => 1..500u32],
        ).prop_map(|(connection, advance, window, timestamps, sack, payload_bytes)| {
            Step::Ack { connection, advance, window, timestamps, sack, payload_bytes }
        }),
        1 => (connection, any::<u8>(), advance).prop_map(|(connection, bits, advance)| {
            Step::Special { connection, flags: Flags::from_bits(bits), advance }
        }),
        1 => (0..3000u64).prop_map(|us| Step::Wait { us }),
    ]
}

fn config() -> impl Strategy<Value = DivacksConfig> {
    (
        prop_oneof![0..16u32, 0..1448u32],
        any::<bool>(),
        0..60u64,
        any::<bool>(),
    )
        .prop_map(
            |(count, controlled, max_count, divide_delayed_acks)| DivacksConfig {
                count,
                mode: if controlled {
                    DivacksMode::Controlled
                } else {
                    DivacksMode::BruteForce
                },
                max_count,
                divide_delayed_acks,
                ..DivacksConfig::default()
            },
        )
}

/// What the rules need to know of a connection, in unwrapped stream offsets.
#[derive(Default)]
struct Seen {
    highest: Option<i64>,
    data_us: Option<u64>,
    divided: u64,
}

/// The steps as packets: what the client sends with its number in the stream.
struct Script {
    origin: u32,
    now_us: u64,
    cursor: [i64; 3],
}

enum Act {
    Wait(Span),
    Receive(u16, Segment),
    Send(u16, Segment, i64),
}

impl Script {
    fn act(&mut self, step: &Step) -> Act {
        match *step {
            Step::Wait { us } => {
                self.now_us += us;
                Act::Wait(Span::from_us(us))
            }
            Step::Data { connection, bytes } => Act::Receive(connection, data(self.number(0), bytes)),
            Step::Ack {
                connection,
                advance,
                window,
                timestamps,
                sack,
                payload_bytes,
            } => {
                let at = self.advance(connection, advance);
                let mut blocks = SackBlocks::default();
                for block in 0..u32::from(sack.min(3)) {
                    blocks.push(Seq(block * 5000), Seq(block * 5000 + 1448));
                }
                let timestamps = timestamps.then_some(Timestamps {
                    value: 9,
                    echo: u32::from(window),
                });
                let segment = Segment {
                    window,
                    timestamps,
                    sack: blocks,
                    payload_bytes,
                    ..ack(self.number(at))
                };
                Act::Send(connection, segment, at)
            }
            Step::Special {
                connection,
                flags,
                advance,
            } => {
                let at = self.advance(connection, advance);
                Act::Send(
                    connection,
                    Segment {
                        flags,
                        ..ack(self.number(at))
                    },
                    at,
                )
            }
        }
    }

    fn advance(&mut self, connection: u16, by: i32) -> i64 {
        let cursor = &mut self.cursor[connection as usize];
        let at = *cursor + i64::from(by);
        *cursor = (*cursor).max(at);
        at
    }

    fn number(&self, offset: i64) -> u32 {
        self.origin.wrapping_add(offset as u32)
    }
}

/// The rules, written a second time over offsets that never wrap.
fn expected_pieces(config: &DivacksConfig, seen: &mut Seen, now_us: u64, segment: &Segment, at: i64) -> i64 {
    if segment.flags.has(Flags::SYN) || segment.flags.has(Flags::RST) {
        *seen = Seen::default();
    }
    if segment.flags.has(Flags::RST) || !segment.flags.has(Flags::ACK) {
        return 0;
    }
    let Some(highest) = seen.highest else {
        seen.highest = Some(at);
        return 0;
    };
    if at <= highest {
        return 0;
    }
    seen.highest = Some(at);
    let pure = segment.is_pure_ack();
    let at_once = config.divide_delayed_acks || seen.data_us.is_some_and(|data| now_us - data <= 1000);
    if !pure || !at_once {
        return 0;
    }
    let wished = i64::from(config.count).min(at - highest - 1);
    let allowed = match config.mode {
        DivacksMode::BruteForce => i64::MAX,
        DivacksMode::Controlled => (config.max_count - seen.divided).cast_signed(),
    };
    let pieces = wished.min(allowed);
    seen.divided += pieces as u64;
    pieces
}

proptest! {
    #[test]
    fn divacks_keep_their_rules_on_every_wire(
        config in config(),
        origin in prop_oneof![any::<u32>(), (u32::MAX - 5000)..=u32::MAX],
        steps in prop::collection::vec(step(), 1..60),
    ) {
        let mut all_series = Vec::new();
        for (wire, mut client) in clients(&AgentConfig::Divacks(config)) {
            let mut script = Script { origin, now_us: 0, cursor: [0; 3] };
            let mut seen: BTreeMap<u16, Seen> = BTreeMap::new();
            let mut series = Vec::new();
            let mut divided = 0;
            for step in &steps {
                let (connection, segment, at) = match script.act(step) {
                    Act::Wait(span) => {
                        client.wait(span);
                        continue;
                    }
                    Act::Receive(connection, segment) => {
                        client.receives(connection, segment);
                        seen.entry(connection).or_default().data_us = Some(script.now_us);
                        continue;
                    }
                    Act::Send(connection, segment, at) => (connection, segment, at),
                };
                let seen = seen.entry(connection).or_default();
                let highest_before = seen.highest;
                let sent = client.sends(connection, segment);
                let pieces = expected_pieces(&config, seen, script.now_us, &segment, at);
                prop_assert_eq!(sent.len(), pieces as usize + 1, "{}: {:?}", wire, step);
                for (copy, offset) in sent.iter().zip(at - pieces..) {
                    prop_assert_eq!(*copy, Segment { ack: Seq(script.number(offset)), ..segment });
                    prop_assert!(pieces == 0 || highest_before.is_some_and(|highest| offset > highest));
                }
                divided += pieces as u64;
                series.push(sent);
            }
            prop_assert_eq!(client.counter("divided_acks"), divided);
            all_series.push(series);
        }
        prop_assert_eq!(&all_series[0], &all_series[1], "simulated and IPv4");
        prop_assert_eq!(&all_series[0], &all_series[2], "simulated and IPv6");
    }
}
