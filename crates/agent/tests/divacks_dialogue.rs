//! Divacks as conversations: what the client's stack sends and what leaves.

mod common;

use common::{Client, ack, clients, data, numbers};
use lasthop_agent::{AgentConfig, DivacksConfig, DivacksMode};
use lasthop_tcp::{Flags, SackBlocks, Segment, Seq, Timestamps};
use lasthop_units::Span;

const SMSS: u32 = 1448;

fn brute_force(count: u32) -> DivacksConfig {
    DivacksConfig {
        count,
        ..DivacksConfig::default()
    }
}

fn controlled(count: u32, max_count: u64) -> DivacksConfig {
    DivacksConfig {
        mode: DivacksMode::Controlled,
        max_count,
        ..brute_force(count)
    }
}

/// Holds the conversation on simulated segments and on IPv4 and IPv6 frames.
fn on_every_wire(config: DivacksConfig, conversation: impl Fn(&mut Conversation)) {
    for (wire, client) in clients(&AgentConfig::Divacks(config)) {
        conversation(&mut Conversation { wire, client });
    }
}

struct Conversation {
    wire: &'static str,
    client: Box<dyn Client>,
}

impl Conversation {
    /// The client opens connection 0 to a server whose first data byte is `first`.
    fn opens(&mut self, first: u32) {
        let syn = Segment {
            flags: Flags::SYN,
            ..ack(0)
        };
        self.passes(syn);
        let syn_ack = Segment {
            seq: Seq(first).sub(1),
            flags: Flags::SYN | Flags::ACK,
            ..data(0, 0)
        };
        self.client.receives(0, syn_ack);
        self.passes(ack(first));
    }

    /// A data segment arrives and the client answers with an ACK at once.
    fn acknowledges(&mut self, seq: u32, payload_bytes: u32, expected: &[u32]) {
        self.client.receives(0, data(seq, payload_bytes));
        self.sends(ack(seq.wrapping_add(payload_bytes)), expected);
    }

    fn sends(&mut self, segment: Segment, expected: &[u32]) {
        assert_eq!(numbers(&self.client.sends(0, segment)), expected, "{}", self.wire);
    }

    fn passes(&mut self, segment: Segment) {
        assert_eq!(self.client.sends(0, segment), [segment], "{}", self.wire);
    }
}

/// The example of Ciminieri 2013, section 6.3.1.3.
#[test]
fn the_example_of_the_source() {
    on_every_wire(brute_force(3), |it| {
        it.opens(1900);
        it.acknowledges(1900, 100, &[1997, 1998, 1999, 2000]);
        assert_eq!(it.client.counter("divided_acks"), 3);
        assert_eq!(it.client.counter("divisions"), 1);
    });
}

#[test]
fn a_count_of_zero_switches_it_off() {
    on_every_wire(brute_force(0), |it| {
        it.opens(1);
        it.acknowledges(1, SMSS, &[1 + SMSS]);
        assert_eq!(it.client.counter("divided_acks"), 0);
    });
}

#[test]
fn the_largest_count_acknowledges_every_byte_of_a_full_segment_by_itself() {
    on_every_wire(brute_force(SMSS - 1), |it| {
        it.opens(1);
        let each: Vec<u32> = (2..=1 + SMSS).collect();
        it.acknowledges(1, SMSS, &each);
    });
}

#[test]
fn fewer_new_bytes_than_divacks_are_divided_as_far_as_they_go() {
    on_every_wire(brute_force(12), |it| {
        it.opens(1);
        it.acknowledges(1, 4, &[2, 3, 4, 5]);
        it.acknowledges(5, 1, &[6]);
        it.acknowledges(6, 2, &[7, 8]);
        it.acknowledges(8, 13, &[9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21]);
    });
}

#[test]
fn duplicates_window_updates_and_old_acks_pass_as_they_are() {
    on_every_wire(brute_force(3), |it| {
        it.opens(1);
        it.acknowledges(1, SMSS, &[1446, 1447, 1448, 1449]);
        it.client.receives(0, data(1 + 2 * SMSS, SMSS));
        it.passes(ack(1449));
        it.passes(Segment {
            window: 2000,
            ..ack(1449)
        });
        it.passes(ack(1000));
        it.passes(ack(1448));
        assert_eq!(it.client.counter("divided_acks"), 3);
    });
}

#[test]
fn a_keepalive_probe_passes_as_it_is() {
    on_every_wire(brute_force(3), |it| {
        it.opens(1);
        it.acknowledges(1, SMSS, &[1446, 1447, 1448, 1449]);
        it.passes(Segment {
            seq: Seq(0),
            ..ack(1449)
        });
    });
}

#[test]
fn packets_that_say_more_than_an_ack_are_never_divided() {
    for flags in [
        Flags::FIN | Flags::ACK,
        Flags::RST | Flags::ACK,
        Flags::SYN | Flags::ACK,
    ] {
        on_every_wire(brute_force(3), |it| {
            it.opens(1);
            it.client.receives(0, data(1, SMSS));
            it.passes(Segment { flags, ..ack(1449) });
        });
    }
    on_every_wire(brute_force(3), |it| {
        it.opens(1);
        it.client.receives(0, data(1, SMSS));
        it.passes(Segment {
            payload_bytes: 100,
            ..ack(1449)
        });
        // What the data packet acknowledged is no longer new.
        it.passes(ack(1449));
        it.acknowledges(1449, 3, &[1450, 1451, 1452]);
    });
}

#[test]
fn a_connection_met_in_its_middle_is_divided_from_its_second_ack_on() {
    on_every_wire(brute_force(2), |it| {
        it.acknowledges(5000, SMSS, &[6448]);
        it.acknowledges(6448, SMSS, &[7894, 7895, 7896]);
    });
}

#[test]
fn an_ack_far_beyond_any_window_belongs_to_a_connection_not_yet_met() {
    on_every_wire(brute_force(2), |it| {
        it.acknowledges(5000, SMSS, &[6448]);
        it.acknowledges(0x6000_0000, SMSS, &[0x6000_0000 + SMSS]);
        it.acknowledges(0x6000_0000 + SMSS, 3, &[0x6000_05a9, 0x6000_05aa, 0x6000_05ab]);
    });
}

#[test]
fn a_new_connection_with_the_same_ports_starts_afresh() {
    on_every_wire(controlled(4, 6), |it| {
        it.opens(1000);
        it.acknowledges(1000, 100, &[1096, 1097, 1098, 1099, 1100]);
        it.acknowledges(1100, 100, &[1198, 1199, 1200]);
        it.acknowledges(1200, 100, &[1300]);
        it.opens(500);
        it.acknowledges(500, 100, &[596, 597, 598, 599, 600]);
    });
}

#[test]
fn a_reset_ends_the_connection() {
    on_every_wire(brute_force(2), |it| {
        it.opens(1);
        it.acknowledges(1, 100, &[99, 100, 101]);
        it.passes(Segment {
            flags: Flags::RST,
            ..ack(0)
        });
        it.acknowledges(101, 100, &[201]);
    });
}

#[test]
fn controlled_stops_exactly_at_its_limit() {
    on_every_wire(controlled(12, 30), |it| {
        it.opens(1);
        let mut sent = 0;
        for segment in 0..10 {
            let seq = 1 + segment * SMSS;
            it.client.receives(0, data(seq, SMSS));
            sent += it.client.sends(0, ack(seq + SMSS)).len() - 1;
        }
        assert_eq!(sent, 30);
        assert_eq!(it.client.counter("divided_acks"), 30);
        assert_eq!(it.client.counter("divisions"), 3);
    });
}

#[test]
fn the_limit_counts_each_connection_by_itself() {
    for (_, mut client) in clients(&AgentConfig::Divacks(controlled(5, 5))) {
        for connection in 0..3 {
            client.sends(connection, ack(1));
            client.receives(connection, data(1, SMSS));
            assert_eq!(client.sends(connection, ack(1 + SMSS)).len(), 6);
        }
        for connection in 0..3 {
            client.receives(connection, data(1 + SMSS, SMSS));
            assert_eq!(client.sends(connection, ack(1 + 2 * SMSS)).len(), 1);
        }
    }
}

#[test]
fn beyond_its_memory_the_connection_unused_for_longest_counts_as_new() {
    let config = DivacksConfig {
        max_flows: 2,
        ..brute_force(3)
    };
    for (_, mut client) in clients(&AgentConfig::Divacks(config)) {
        let exchange = |client: &mut Box<dyn Client>, connection, seq| {
            client.receives(connection, data(seq, SMSS));
            client.sends(connection, ack(seq + SMSS)).len()
        };
        assert_eq!(
            [0, 1].map(|connection| exchange(&mut client, connection, 1)),
            [1, 1]
        );
        assert_eq!(
            [0, 1].map(|connection| exchange(&mut client, connection, 1449)),
            [4, 4]
        );
        assert_eq!(exchange(&mut client, 2, 1), 1);
        assert_eq!(exchange(&mut client, 1, 2897), 4);
        assert_eq!(exchange(&mut client, 0, 2897), 1);
    }
}

#[test]
fn a_delayed_ack_goes_out_undivided_as_in_the_source() {
    on_every_wire(brute_force(3), |it| {
        it.opens(1);
        it.client.receives(0, data(1, SMSS));
        it.client.wait(Span::from_ms(40));
        it.passes(ack(1 + SMSS));
        it.acknowledges(1 + SMSS, SMSS, &[2894, 2895, 2896, 2897]);
    });
}

#[test]
fn an_ack_within_a_millisecond_of_the_data_was_sent_at_once() {
    on_every_wire(brute_force(1), |it| {
        it.opens(1);
        it.client.receives(0, data(1, SMSS));
        it.client.wait(Span::from_ms(1));
        it.sends(ack(1 + SMSS), &[SMSS, 1 + SMSS]);
        it.client.receives(0, data(1 + SMSS, SMSS));
        it.client.wait(Span::from_ns(1_000_001));
        it.passes(ack(1 + 2 * SMSS));
    });
}

#[test]
fn delayed_acks_are_divided_on_request() {
    let config = DivacksConfig {
        divide_delayed_acks: true,
        ..brute_force(3)
    };
    on_every_wire(config, |it| {
        it.opens(1);
        it.client.receives(0, data(1, SMSS));
        it.client.wait(Span::from_ms(40));
        it.sends(ack(1 + SMSS), &[1446, 1447, 1448, 1449]);
    });
}

#[test]
fn every_copy_keeps_the_options_and_the_window() {
    on_every_wire(brute_force(2), |it| {
        it.opens(1);
        it.client.receives(0, data(1, SMSS));
        let mut sack = SackBlocks::default();
        sack.push(Seq(2897), Seq(4345));
        sack.push(Seq(7241), Seq(8689));
        let timestamps = Some(Timestamps {
            value: 0x0102_0304,
            echo: 77,
        });
        let full = Segment {
            sack,
            timestamps,
            window: 0xfedc,
            ..ack(1449)
        };
        let copies = it.client.sends(0, full);
        assert_eq!(
            copies,
            [1447, 1448, 1449].map(|number| Segment {
                ack: Seq(number),
                ..full
            })
        );
    });
}

#[test]
fn numbers_wrap_around() {
    on_every_wire(brute_force(3), |it| {
        it.opens(u32::MAX - 9);
        it.acknowledges(u32::MAX - 9, 11, &[u32::MAX - 1, u32::MAX, 0, 1]);
        it.acknowledges(1, 3, &[2, 3, 4]);
        it.passes(ack(u32::MAX));
    });
}

#[test]
fn acks_of_the_other_side_are_not_the_clients_to_divide() {
    on_every_wire(brute_force(3), |it| {
        it.opens(1);
        it.client.receives(
            0,
            Segment {
                seq: Seq(1),
                ..ack(1000)
            },
        );
        it.client.receives(
            0,
            Segment {
                seq: Seq(1),
                ..ack(3000)
            },
        );
        assert_eq!(it.client.counter("divided_acks"), 0);
    });
}
